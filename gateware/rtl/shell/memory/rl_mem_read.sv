// Reads of DDR whose bytes leave as frames: those that the owner asks for, which wait here, and those
// of the firmware, which go first. For each, the command goes to the memory's side and the frame's
// head, ready to be sent, to rl_tx; both keep the order.
//
// A read sees all writes that came before it: it starts when as many frames are in memory as were
// stored when its turn came.
//
// Command and head come from a template in a RAM that the firmware writes, five words of 64 bits each:
// one for the owner's reads, one for its own fetches. To the owner's, hardware adds what the read says,
// where the template has zeros:
//
//   word  [63:62]  [61:48]   [47:40]         [39:32]   [31:0]
//   0     0        length    to_cpu, slot    address of DDR
//   1     the frame's first 8 bytes: destination, source
//   2     source, EtherType, version, kind
//   3     length             epoch                     seq
//   4     address field
module rl_mem_read
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Bulk = 32'(BulkStandard), // Most bytes of a read.
  parameter int unsigned Reads = 512 // Reads of the owner that can wait; a power of two.
) (
  input  logic           clk_net_i,
  input  logic           rst_net_ni,

  input  rx_beat_t          rx_beat_i,
  input  logic           hosts_i,           // Where a payload word's frame has its address: rl_analyzer
  input  logic           last_page_i,       // has the comment.
  output logic           divert_o,          // With rx_beat_i.done: control takes this read,
  output divert_reason_e           divert_reason_o,      // since it is to be refused.
  input  logic           flush_i,           // The claim is over: forget what waits.
  output logic           idle_o,            // Nothing waits, nothing is under way.

  // The templates, written by the firmware: word of 32 bits, the first byte the most significant. The
  // owner's is changed only while no read waits or is under way, the firmware's only before fw_valid_i.
  input  logic           head_we_i,
  input  logic [8:0]     head_addr_i,
  input  logic [31:0]    head_wdata_i,
  // Fetches of the firmware.
  input  logic           fw_valid_i,        // Until it is taken.
  output logic           fw_ready_o,

  // Writes before a read.
  input  logic           mem_write_busy_i,      // One has ended and is not counted yet.
  input  logic [7:0]     stored_i,
  input  logic [7:0]     written_i,         // Of those stored, the ones that are in memory.

  // To the memory's side.
  output logic           command_valid_o,
  input  logic           command_ready_i,
  output mem_read_command_t command_o,
  // To rl_tx: four words for each frame, not for what the firmware keeps to itself. There is room for those
  // of 16 frames.
  output logic           head_valid_o,
  output logic [63:0]    head_o,
  input  logic           fetched_i,         // A fetch is over: its frame has left, or the firmware has it.

  // Events.
  output logic           read_o,
  output logic [13:0]    read_bytes_o,      // With read_o.
  output logic           drop_queue_o
);
  typedef struct packed {
    logic [31:0] seq;
    addr_t       addr;
    logic [13:0] length;
  } waiting_t;

  typedef enum logic [1:0] {
    Idle = 2'd0,
    Wait = 2'd1,  // For the writes before it.
    Send = 2'd2   // Its command and the words of its head.
  } state_e;
  state_e state_q;
  logic ours_q;   // The firmware's.

  // -- the owner's reads: judged with the payload's word, before the frame's end
  logic [31:0] length;
  logic [13:0] length_q;
  logic length_bad_q, hosts_q, last_page_q;
  logic [16:0] end_q;         // Of the range, from the start of the address's page.
  logic in_memory;
  assign length = {<<8{rx_beat_i.data[31:0]}};
  always_ff @(posedge clk_net_i) begin
    if (rx_beat_i.payload) begin
      hosts_q <= hosts_i;
      last_page_q <= last_page_i;
      length_q <= length[13:0];
      length_bad_q <= length == 0 || length[31:14] != 0 || length[13:0] > 14'(Bulk);
      end_q <= {1'b0, rx_beat_i.head.addr[15:0]} + {3'b0, length[13:0]};
    end
  end
  // The page it starts in is a host's, and the next one if it ends there.
  assign in_memory = hosts_q && (!last_page_q || !end_q[16] || end_q[15:0] == 0);

  logic asked, take, queue_ready;
  assign asked = rx_beat_i.done && rx_beat_i.route == RouteRead;
  always_comb begin
    divert_o = asked;
    divert_reason_o = DivertMalformed;
    if (rx_beat_i.head.length == 16'(ReadBytes)) begin
      if (length_bad_q) divert_reason_o = DivertLength;
      else if (!in_memory) divert_reason_o = DivertAddress;
      else divert_o = 1'b0;
    end
  end
  assign take = asked && !divert_o;

  logic waits, next, flush_q;
  waiting_t waiting;      // The first of them. It stays while its words are sent.
  logic [$clog2(Reads):0] unused_count;
  logic [2:0] quiet_q;    // Nothing waits: what is on its way through the queue's memory would show.
  rl_fifo #(
    .Width($bits(waiting_t)),
    .Depth(Reads)
  ) u_reads (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni && !(flush_q && state_q != Send)),
    .wvalid_i(take),
    .wready_o(queue_ready),
    .wdata_i({rx_beat_i.head.seq, rx_beat_i.head.addr[AddrW-1:0], length_q}),
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
  logic [2:0] at_q;       // The template's word that is read; that before it comes out of its memory.
  logic [4:0] flights_q;
  logic go, keep_q;
  assign go = beyond[7] == 1'b0 && command_ready_i && !flights_q[4];
  assign next = state_q == Send && at_q == 3'd5;
  assign fw_ready_o = next && ours_q;
  assign idle_o = state_q == Idle && quiet_q == '1 && flights_q == 0 && !fw_valid_i;

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      state_q <= Idle;
      flights_q <= '0;
      quiet_q <= '0;
      flush_q <= 1'b0;
      command_valid_o <= 1'b0;
      head_valid_o <= 1'b0;
      read_o <= 1'b0;
      drop_queue_o <= 1'b0;
    end else begin
      unique case (state_q)
        Idle: if (!mem_write_busy_i && (fw_valid_i || (waits && !flush_q))) state_q <= Wait;
        Wait: begin
          if (flush_q && !ours_q) state_q <= Idle;
          else if (go) state_q <= Send;
        end
        Send: if (next) state_q <= Idle;
        default: state_q <= Idle;
      endcase
      // What has begun is finished first: its data will come.
      flush_q <= flush_i || (flush_q && state_q == Send);
      command_valid_o <= state_q == Send && at_q == 3'd1;
      head_valid_o <= state_q == Send && at_q != 3'd1 && !keep_q;
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
    end else if (state_q == Send || go) begin
      at_q <= at_q + 1'b1;
    end
    read_bytes_o <= waiting.length;
  end

  // -- its command and its head: the template's word, and what a read adds to it, which is 0 elsewhere
  localparam int unsigned ToCpuBit = 47, SlotBit = 46, LengthLsb = 48;
  logic [63:0] template_read, template_word_q, template_q, word;
  logic [13:0] length_add_q;
  logic [31:0] seq_add_q;
  addr_t addr_add_q;
  for (genvar half = 0; half < 2; half++) begin : gen_template
    // The rest of the slot, whose addresses it has, is not there.
    rl_lutram #(
      .Width(32),
      .Depth(16)
    ) u_ram (
      .clk_i(clk_net_i),
      .we_i(head_we_i && head_addr_i[0] == (half == 0) && head_addr_i[8:5] == 0),
      .waddr_i(head_addr_i[4:1]),
      .wdata_i(head_wdata_i),
      .raddr_i({ours_q, at_q}),
      .rdata_o(template_read[32*half+:32])
    );
  end
  always_ff @(posedge clk_net_i) begin
    template_word_q <= template_read;
    template_q <= template_word_q;
    if (at_q == 3'd1) keep_q <= template_word_q[ToCpuBit];
    if (ours_q || !(at_q inside {3'd1, 3'd4})) length_add_q <= '0;
    else length_add_q <= waiting.length;
    if (ours_q || at_q != 3'd4) seq_add_q <= '0;
    else seq_add_q <= waiting.seq;
    if (ours_q || !(at_q inside {3'd1, 3'd5})) addr_add_q <= '0;
    else addr_add_q <= waiting.addr;
  end
  assign word = template_q | {2'd0, length_add_q, 8'd0, addr_add_q} | {32'd0, seq_add_q};
  assign head_o = {<<8{word}};
  assign command_o = '{
          addr: word[AddrW-1:0],
          about: '{to_cpu: word[ToCpuBit], slot: word[SlotBit], length: word[LengthLsb+:14]}
      };

`ifndef SYNTHESIS
  FirmwareHolds_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    fw_valid_i && !fw_ready_o |=> fw_valid_i && !(head_we_i && head_addr_i[4]));
  OwnersIsUnused_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    head_we_i && head_addr_i[8:4] == 0 |-> state_q == Idle || ours_q);
  CommandHasRoom_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) command_valid_o |-> command_ready_i);
  FetchIsSound_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni)
    command_valid_o |-> command_o.about.length != 0 && command_o.about.length <= 14'(Bulk));
  FetchedWasUnderWay_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) fetched_i |-> flights_q != 0);
  WritesAreFew_A :
  assert property (@(posedge clk_net_i) disable iff (!rst_net_ni) stored_i - written_i < 8'd128);
`endif

  logic unused;
  assign unused = ^{rx_beat_i.word, rx_beat_i.first, rx_beat_i.abort, rx_beat_i.head, rx_beat_i.data, beyond,
                    unused_count};
endmodule
