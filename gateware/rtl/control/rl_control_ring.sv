// Frames for the firmware, as they came, in a ring that the processor reads.
//
// Each frame's words are recorded tentatively, and kept if it turns out to be for control: its route
// says so, the block that it was for diverts it, or that block has taken it and leaves the answer to
// the firmware. The header's words come before the route is known, so there is always room for one
// header; `room_o` tells of room for a whole frame.
module rl_control_ring
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
#(
  parameter int unsigned Words = 1024, // 64-bit words, a power of two, 512 or more.
  parameter int unsigned Frames = 32,  // Frames inside, a power of two.
  localparam int unsigned RingW = $clog2(Words)
) (
  input  logic           clk_net_i,
  input  logic           rst_net_ni,

  input  rx_beat_t          rx_beat_i,
  input  divert_reason_e           reason_i,
  input  logic           divert_i,     // With rx_beat_i.done: its block does not take this read or launch,
  input  divert_reason_e           divert_reason_i, // for this reason.
  input  logic           note_i,       // With rx_beat_i.done: its block takes this launch: DivertAccepted.
  input  logic           taken_i,      // With rx_beat_i.done: rl_discovery answers this one.
  output logic           room_o,

  // The first frame, in bytes from the ring's start, until the firmware is done with it.
  output logic           head_valid_o,
  output logic [RingW+2:0] head_offset_o,
  output divert_reason_e           head_reason_o,
  input  logic           pop_i,

  input  logic [RingW:0] addr_i,       // In words of 32 bits.
  input  logic           asked_i,      // A cycle later, with the same address.
  output logic [31:0]    data_o,       // Again a cycle later, else 0. The first byte is the most significant.

  output logic           barrier_busy_o, // One that may change the session is inside,
  output logic           control_busy_o  // or any. Two cycles after its rx_beat_i.done at the latest.
);
  // Of a longer frame the rest is not recorded: no control frame that is well formed is longer, and
  // its length says that it is not.
  localparam int unsigned FrameWords = 192;
  localparam int unsigned HeaderWords = 4;
  if (FrameWords * 8 < int'(HeaderEnd) + int'(MissingBytes) + int'(MissingRanges) * ChunkRangeBytes)
  begin : gen_check_frame
    $fatal(0, "rl_control_ring: the longest control frame must fit (%m)");
  end
  // Room is counted in 256 words.
  if (Words < 512 || FrameWords + HeaderWords > 256) begin : gen_check
    $fatal(0, "rl_control_ring: Words must be at least 512 (%m)");
  end

  localparam int unsigned ReasonW = $clog2(DivertAccepted + 1);  // It is the last.

  typedef struct packed {
    logic [RingW:0]  next;   // Where the next frame begins.
    logic [ReasonW-1:0] reason;
  } entry_t;

  // -- recording
  logic [RingW:0] wptr_q, wptr_next, base_q, rptr_q;
  logic [7:0] words_q;  // Of the present frame, so far.
  logic record;
  // The present frame's kind may change the session. What is recorded has an EtherType and a kind
  // that exist, and these differ in their low bits.
  logic changes_q;
  logic [RingW:0] used;
  entry_t entry, head;
  logic entry_ready, pop;
  logic [$clog2(Frames):0] unused_count;

  // What the other blocks say of a frame comes late in the cycle.
  logic word_q, first_q, header_q, wanted_q, commit_d, commit, barrier, rollback;
  logic [63:0] data_q;
  logic [ReasonW-1:0] reason_q;
  assign commit_d = rx_beat_i.done && (rx_beat_i.route == RouteControl ? !taken_i : divert_i || note_i);
  always_ff @(posedge clk_net_i) begin
    word_q <= rst_net_ni && rx_beat_i.word;
    first_q <= rx_beat_i.first;
    header_q <= !rx_beat_i.payload;
    wanted_q <= rx_beat_i.route inside {RouteControl, RouteRead, RouteLaunch};
    data_q <= rx_beat_i.data;
    commit <= rst_net_ni && commit_d;
    barrier <= rst_net_ni && commit_d && (changes_q || (divert_i && rx_beat_i.route == RouteLaunch));
    rollback <= rst_net_ni && (rx_beat_i.abort || (rx_beat_i.done && !commit_d));
    reason_q <= ReasonW'(note_i ? DivertAccepted : divert_i ? divert_reason_i : reason_i);
  end
  assign record = word_q && (header_q || (wanted_q && words_q != 8'(FrameWords)));
  assign wptr_next = wptr_q + (RingW + 1)'(record);
  assign used = base_q - rptr_q;

  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      wptr_q <= '0;
      base_q <= '0;
      room_o <= 1'b0;
    end else begin
      wptr_q <= rollback ? base_q : wptr_next;
      if (commit) base_q <= wptr_next;
      room_o <= entry_ready && used[RingW:8] < (RingW - 7)'(Words / 256 - 1);
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (word_q) words_q <= first_q ? 8'd1 : words_q + 8'(record);
  end

  // -- frames
  always_ff @(posedge clk_net_i) begin
    changes_q <= is_barrier(rx_beat_i.head.ether_type[7:0], rx_beat_i.head.kind[3:0]);
  end
  assign entry.next = wptr_next;
  assign entry.reason = reason_q;

  rl_fifo #(
    .Width($bits(entry_t)),
    .Depth(Frames)
  ) u_frames (
    .clk_i(clk_net_i),
    .rst_ni(rst_net_ni),
    .wvalid_i(commit),
    .wready_o(entry_ready),
    .wdata_i(entry),
    .rvalid_o(head_valid_o),
    .rready_i(pop_i),
    .rdata_o(head),
    .count_o(unused_count)
  );
  assign pop = pop_i && head_valid_o;
  assign head_offset_o = {rptr_q[RingW-1:0], 3'b000};
  assign head_reason_o = divert_reason_e'(8'(head.reason));
  assign control_busy_o = head_valid_o;

  // The newest frame that may change the session is unfinished until the ring is emptied beyond it.
  logic [RingW:0] barrier_q;
  always_ff @(posedge clk_net_i) begin
    if (!rst_net_ni) begin
      rptr_q <= '0;
      barrier_busy_o <= 1'b0;
    end else begin
      if (pop) rptr_q <= head.next;
      if (pop && head.next == barrier_q) barrier_busy_o <= 1'b0;
      if (barrier) barrier_busy_o <= 1'b1;
    end
  end
  always_ff @(posedge clk_net_i) begin
    if (barrier) barrier_q <= wptr_next;
  end

  // -- reading; the half that was not asked for, or neither, is 0
  logic [63:0] word;
  logic [31:0] even_q, odd_q, half;
  rl_ram #(
    .Width(64),
    .Depth(Words)
  ) u_ram (
    .clk_wr_i(clk_net_i),
    .we_i(record),
    .waddr_i(wptr_q[RingW-1:0]),
    .wdata_i(data_q),
    .clk_rd_i(clk_net_i),
    .re_i(1'b1),
    .raddr_i(addr_i[RingW:1]),
    .rdata_o(word)
  );
  always_ff @(posedge clk_net_i) begin
    even_q <= asked_i && !addr_i[0] ? word[31:0] : '0;
    odd_q <= asked_i && addr_i[0] ? word[63:32] : '0;
  end
  assign half = even_q | odd_q;
  assign data_o = {<<8{half}};

`ifndef SYNTHESIS
  always_ff @(posedge clk_net_i) if (rst_net_ni && commit) CommitHasRoom_A : assert (entry_ready);
  always_ff @(posedge clk_net_i)
    if (rst_net_ni && record)
      NoOverrun_A : assert ((wptr_q - rptr_q) < (RingW + 1)'(Words));
  always_ff @(posedge clk_net_i) if (rst_net_ni && pop_i) PopHasAFrame_A : assert (head_valid_o);
`endif

  // The rest of the head is in the frame.
  logic unused_rx_beat;
  assign unused_rx_beat = ^{used[7:0], rx_beat_i.head.dst, rx_beat_i.head.ether_type[15:8], rx_beat_i.head.kind[7:4],
                         rx_beat_i.head.src, rx_beat_i.head.flags, rx_beat_i.head.length,
                         rx_beat_i.head.epoch, rx_beat_i.head.seq, rx_beat_i.head.addr};
endmodule
