// Which counters have been taken lately, of each session: the newest, and of the 1024 up to it a bit each.
//
// What a counter is worth is there a cycle after it was asked for. To take one costs two cycles, and one more for each
// 64 that it is ahead, 18 at most; until then nothing may be asked.
module rl_auth_window #(
  parameter int unsigned Slots = 2,
  localparam int unsigned SlotW = $clog2(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             clear_i,       // A new session: nothing was taken.
  input  logic [SlotW-1:0] clear_slot_i,

  input  logic [SlotW-1:0] slot_i,
  input  logic [63:0]      counter_i,
  output logic             fresh_o,       // A cycle later: it was not taken, and is not so old that nobody knows.

  input  logic             take_i,        // A frame with this counter had the right tag, and was fresh.
  input  logic [SlotW-1:0] take_slot_i,
  input  logic [63:0]      take_counter_i,
  output logic             busy_o
);
  localparam int unsigned Words = 16;
  localparam int unsigned WordW = $clog2(Words);

  logic [Slots-1:0][63:0] newest_q;
  logic [63:0] bits;

  // -- what a counter is worth
  logic zero_q, ahead_q, old_q, seen_q;
  logic [53:0] behind;  // In windows.
  logic [9:0] unused_behind;
  assign {behind, unused_behind} = newest_q[slot_i] - counter_i;
  always_ff @(posedge clk_i) begin
    zero_q <= counter_i == 0;
    ahead_q <= counter_i > newest_q[slot_i];
    old_q <= behind != 0;
    seen_q <= bits[counter_i[5:0]];
  end
  assign fresh_o = !zero_q && (ahead_q || !(old_q || seen_q));

  // -- one is taken: bits of the counters between the newest so far and this one are cleared, word by word
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Span = 2'd1,
    Walk = 2'd2
  } state_e;
  state_e state_q;
  logic [SlotW-1:0] slot_q;
  logic [63:0] counter_q, first;
  logic [57:0] span;
  logic ahead, moves_q, all_q, begins_q, ends;
  logic [WordW-1:0] word_q;
  logic [WordW:0] left_q;  // Words after this one.
  logic [5:0] from_q;      // The bit with which the first one begins.
  logic [63:0] lost, kept;
  assign first = newest_q[slot_q] + 1'b1;
  assign span = counter_q[63:6] - first[63:6];
  assign ahead = counter_q > newest_q[slot_q];
  assign ends = left_q == 0;
  assign busy_o = state_q != Idle;
  always_comb begin
    lost = {64{moves_q}};
    if (begins_q && !all_q) lost &= {64{1'b1}} << from_q;
    if (ends && !all_q) lost &= {64{1'b1}} >> ~counter_q[5:0];
    kept = bits & ~lost;
    if (ends) kept[counter_q[5:0]] = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        slot_q <= take_slot_i;
        counter_q <= take_counter_i;
      end
      Span: begin
        moves_q <= ahead;
        begins_q <= 1'b1;
        from_q <= first[5:0];
        all_q <= span > 58'(Words);
        if (!ahead) left_q <= '0;
        else left_q <= span > 58'(Words) ? (WordW + 1)'(Words) : span[WordW:0];
        // If it is so far ahead that all words are cleared, the last one is this counter's as well.
        word_q <= ahead && span <= 58'(Words) ? first[WordW+5:6] : counter_q[WordW+5:6];
      end
      default: begin
        begins_q <= 1'b0;
        word_q <= word_q + 1'b1;
        left_q <= left_q - 1'b1;
      end
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      newest_q <= '0;
    end else begin
      unique case (state_q)
        Idle: if (take_i) state_q <= Span;
        Span: state_q <= Walk;
        default: if (ends) state_q <= Idle;
      endcase
      if (state_q == Walk && ends && moves_q) newest_q[slot_q] <= counter_q;
      if (clear_i) begin
        newest_q[clear_slot_i] <= '0;
        // What was taken was of the session before.
        if (state_q == Idle ? take_slot_i == clear_slot_i : slot_q == clear_slot_i) state_q <= Idle;
      end
    end
  end

  logic walks;
  assign walks = state_q == Walk;
  rl_lutram #(
    .Width(64),
    .Depth(Slots * Words)
  ) u_bits (
    .clk_i,
    .we_i(walks),
    .waddr_i({slot_q, word_q}),
    .wdata_i(kept),
    .raddr_i(walks ? {slot_q, word_q} : {slot_i, counter_i[WordW+5:6]}),
    .rdata_o(bits)
  );

`ifndef SYNTHESIS
  TakenOneByOne_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) take_i |-> !busy_o);
`endif
endmodule
