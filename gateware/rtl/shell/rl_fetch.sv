// Reads of DDR whose bytes leave as frames: those that the owner asks for, which wait here, and those
// of the firmware, which go first. For each, the command goes to the memory's side and the frame's
// head, ready to be sent, to rl_tx; both keep the order.
//
// A read sees all writes that came before it: it starts when as many frames are in memory as were
// stored when its turn came.
module rl_fetch
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard), // Most bytes of a read.
  parameter int unsigned Reads = 512 // Reads of the owner that can wait; a power of two.
) (
  input  logic           clk_net_i,
  input  logic           rst_net_ni,

  input  lane_t          lane_i,
  output logic           divert_o,          // With lane_i.done: control takes this read,
  output why_e           divert_why_o,      // since it is to be refused.
  input  mac_addr_t      mac_i,
  input  session_t       session_i,
  input  logic           flush_i,           // The claim is over: forget what waits.
  output logic           idle_o,            // Nothing waits, nothing is under way.

  // Fetches of the firmware.
  input  logic           fw_valid_i,
  output logic           fw_ready_o,
  input  fetch_t         fw_i,              // Holds until it is taken.

  // Writes before a read.
  input  logic           store_busy_i,      // One has ended and is not counted yet.
  input  logic [7:0]     stored_i,
  input  logic [7:0]     written_i,         // Of those stored, the ones that are in memory.

  // To the memory's side.
  output logic           command_valid_o,
  input  logic           command_ready_i,
  output fetch_command_t command_o,
  // To rl_tx: four words for each frame, not for what the firmware keeps to itself.
  output logic           head_valid_o,
  input  logic           head_ready_i,
  output logic [63:0]    head_o,
  input  logic           fetched_i,         // A fetch is over: its frame has left, or the firmware has it.

  // Events.
  output logic           read_o,
  output logic [13:0]    read_bytes_o,      // With read_o.
  output logic           drop_queue_o
);
  localparam int unsigned PrivateW = $clog2(RolePrivate);
  if (RolePrivate != 64'd1 << PrivateW) begin : gen_check
    $fatal(0, "rl_fetch: RolePrivate must be a power of two (%m)");
  end

  typedef struct packed {
    logic [31:0] seq;
    addr_t       addr;
    logic [13:0] length;
  } waiting_t;

  typedef enum logic [1:0] {
    Idle = 2'd0,
    Wait = 2'd1,  // For the writes before it.
    Head = 2'd2   // The words of its head.
  } state_e;
  state_e state_q;
  logic ours_q;   // The firmware's.

  // -- the owner's reads: judged with the payload's word, before the frame's end
  logic [31:0] length;
  logic [13:0] length_q;
  logic length_bad_q, outside_q;
  logic [AddrW-16:0] pages_q; // From the address's page of 64 KiB to the end of memory.
  logic [16:0] end_q;         // Of the range, from the start of the address's page.
  logic in_memory;
  assign length = {<<8{lane_i.data[31:0]}};
  always_ff @(posedge clk_net_i) begin
    if (lane_i.payload) begin
      length_q <= length[13:0];
      length_bad_q <= length == 0 || length[31:14] != 0 || length[13:0] > 14'(Bulk);
      outside_q <= lane_i.head.addr[63:AddrW] != 0 || lane_i.head.addr[AddrW-1:PrivateW] == 0;
      pages_q <= {1'b0, session_i.memory[AddrW-1:16]} - {1'b0, lane_i.head.addr[AddrW-1:16]};
      end_q <= {1'b0, lane_i.head.addr[15:0]} + {3'b0, length[13:0]};
    end
  end
  // The page it starts in lies in memory, and the next one if it ends there.
  always_comb begin
    in_memory = !outside_q && !pages_q[AddrW-16];
    if (pages_q[AddrW-17:1] == 0) in_memory &= pages_q[0] && (!end_q[16] || end_q[15:0] == 0);
  end

  logic asked, take, queue_ready;
  assign asked = lane_i.done && lane_i.route == RouteRead;
  always_comb begin
    divert_o = asked;
    divert_why_o = WhyMalformed;
    if (lane_i.head.length == 16'(ReadBytes)) begin
      if (length_bad_q) divert_why_o = WhyLength;
      else if (!in_memory) divert_why_o = WhyAddress;
      else divert_o = 1'b0;
    end
  end
  assign take = asked && !divert_o;

  logic waits, next;
  waiting_t
      waiting, host_q;  // The first of them; the one in turn, for the memory is slow to show it.
  logic [$clog2(Reads):0] unused_count;
  logic [2:0] quiet_q;    // Nothing waits: what is on its way through the queue's memory would show.
  rl_fifo #(
    .Width($bits(waiting_t)),
    .Depth(Reads)
  ) u_reads (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni && !flush_i),
    .wvalid_i(take),
    .wready_o(queue_ready),
    .wdata_i({lane_i.head.seq, lane_i.head.addr[AddrW-1:0], length_q}),
    .rvalid_o(waits),
    .rready_i(next && !ours_q),
    .rdata_o(waiting),
    .count_o(unused_count)
  );

  // -- writes before
  logic [7:0] ticket_q, beyond;
  // Far fewer than 128 frames are between the two counts.
  assign beyond = written_i - ticket_q;

  // -- one after the other
  logic [1:0] at_q;
  logic [4:0] flights_q;
  logic go, last;
  assign go = beyond[7] == 1'b0 && command_ready_i && !flights_q[4];
  assign last = at_q == 2'd3 || (ours_q && fw_i.to_cpu);
  assign next = state_q == Head && head_ready_i && last;
  assign fw_ready_o = next && ours_q;
  assign command_valid_o = state_q == Wait && go && !(flush_i && !ours_q);
  assign head_valid_o = state_q == Head && !(ours_q && fw_i.to_cpu);
  assign idle_o = state_q == Idle && quiet_q == '1 && flights_q == 0 && !fw_valid_i;

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      flights_q <= '0;
      quiet_q <= '0;
      read_o <= 1'b0;
      drop_queue_o <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: if (!store_busy_i && (fw_valid_i || (waits && !flush_i))) state_q <= Wait;
        Wait: begin
          if (flush_i && !ours_q) state_q <= Idle;
          else if (go) state_q <= Head;
        end
        Head: if (next) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      flights_q <= flights_q + 5'(command_valid_o) - 5'(fetched_i);
      quiet_q <= {quiet_q[1:0], !take && !waits};
      read_o <= next && !ours_q;
      drop_queue_o <= take && !queue_ready;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (state_q == Idle) begin
      ticket_q <= stored_i;
      ours_q <= fw_valid_i;
      at_q <= '0;
      host_q <= waiting;
    end else if (state_q == Head && head_ready_i) begin
      at_q <= at_q + 1'b1;
    end
    read_bytes_o <= host_q.length;
  end

  // -- its command and its head
  logic [13:0] bytes;
  logic [63:0] head;
  assign bytes = ours_q ? fw_i.length : host_q.length;
  always_comb begin
    command_o.addr = ours_q ? fw_i.addr : host_q.addr;
    command_o.about = '{to_cpu: ours_q && fw_i.to_cpu, slot: fw_i.flags[0], length: bytes};
    unique case (at_q)
      2'd0: head = {ours_q ? fw_i.dst : session_i.owner, mac_i[47:32]};
      2'd1: begin
        head = {mac_i[31:0], EtherTypeInputConfirm, Version, 4'd0, KindInputConfirmReadData};
        if (ours_q) head[31:0] = {fw_i.ether_type, Version, fw_i.flags, fw_i.kind};
      end
      2'd2: begin
        head = {2'd0, bytes, session_i.epoch, host_q.seq};
        if (ours_q) head[47:0] = {fw_i.epoch, fw_i.seq};
      end
      default: head = ours_q ? fw_i.head_addr : 64'(host_q.addr);
    endcase
  end
  assign head_o = {<<8{head}};

`ifndef SYNTHESIS
  FirmwareHolds_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    fw_valid_i && !fw_ready_o |=> fw_valid_i && $stable(
      fw_i
  ));
  FetchIsSound_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    command_valid_o |-> bytes != 0 && bytes <= 14'(Bulk));
  FetchedWasUnderWay_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) fetched_i |-> flights_q != 0);
  WritesAreFew_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) stored_i - written_i < 8'd128);
`endif

  logic unused;
  assign unused = ^{lane_i.word, lane_i.first, lane_i.abort, lane_i.head, lane_i.data, session_i, beyond,
                    unused_count};
endmodule
