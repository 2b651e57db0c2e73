// The receiver's side of a window of numbers: the first one missing, and which of the 256 beyond it
// are there. Numbers wrap; those up to 2^31 behind the first missing one count as there.
//
// Bit n % 256 of a ring in distributed RAM stands for number n, which is one of next + 1 to next + 256.
// When the gap at `next` closes, it moves on one number a cycle; meanwhile nothing can be inserted.
module rl_window (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        reset_i,     // Forget everything: 1 is the first number to come.

  input  logic        insert_i,    // Take note of a number, if ready_o.
  input  logic [31:0] seq_i,
  output logic        ready_o,
  output logic        done_o,      // Two cycles later: what it was.
  output logic [1:0]  arrival_o,   // 0 new, 1 there already, 2 beyond the window.
  output logic        in_order_o,  // It was the first missing one.

  output logic [31:0] next_o,
  output logic        contiguous_o, // None is there beyond the first missing one.
  input  logic [2:0]  bits_addr_i,
  output logic [31:0] bits_o       // Bits 32 bits_addr_i and on of the ring, in the same cycle.
);
  typedef enum logic [1:0] {
    Empty   = 2'd0, // The ring is being emptied.
    Idle    = 2'd1,
    Judge   = 2'd2,
    Advance = 2'd3  // The number next_o is there.
  } state_e;
  state_e state_q;

  logic [31:0] ahead_q;   // Of the number inserted, from next_o.
  logic [7:0] pos_q;      // In the ring: of the number inserted; when advancing, of the one after next_o.
  logic [8:0] count_q;  // Bits set in the ring, a cycle late.
  logic more_q, less_q;

  // -- the ring; its second copy is for reading from outside
  logic [31:0] word, word_d, mark;
  logic is_there, write;
  assign mark = 32'd1 << pos_q[4:0];
  assign is_there = word[pos_q[4:0]];
  assign word_d = state_q == Empty ? '0 : word ^ mark;
  rl_lutram #(
    .Width(32),
    .Depth(8)
  ) u_ring (
    .clk_i,
    .we_i(write),
    .waddr_i(pos_q[7:5]),
    .wdata_i(word_d),
    .raddr_i(pos_q[7:5]),
    .rdata_o(word)
  );
  rl_lutram #(
    .Width(32),
    .Depth(8)
  ) u_ring_outside (
    .clk_i,
    .we_i(write),
    .waddr_i(pos_q[7:5]),
    .wdata_i(word_d),
    .raddr_i(bits_addr_i),
    .rdata_o(bits_o)
  );

  // -- the judgement
  logic closes, behind, beyond, mark_new, mark_passed;
  assign closes = ahead_q == 0;
  assign behind = ahead_q[31];
  assign beyond = !behind && (ahead_q[30:9] != 0 || (ahead_q[8] && ahead_q[7:0] != 0));
  assign mark_new = state_q == Judge && !closes && !behind && !beyond && !is_there;
  assign mark_passed = state_q == Advance && is_there;
  assign write = state_q == Empty || mark_new || mark_passed;

  assign ready_o = state_q == Idle && !reset_i;
  assign contiguous_o = count_q == 0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Empty;
      pos_q <= '0;
      next_o <= 32'd1;
      count_q <= '0;
      {more_q, less_q} <= '0;
      done_o <= 1'b0;
    end else begin
      done_o <= state_q == Judge;
      {more_q, less_q} <= {mark_new, mark_passed};
      count_q <= count_q + 9'(more_q) - 9'(less_q);
      unique case (state_q)
        Empty: begin
          pos_q <= pos_q + 8'd32;
          if (pos_q[7:5] == '1) state_q <= Idle;
        end
        Idle: begin
          pos_q <= seq_i[7:0];
          if (insert_i) state_q <= Judge;
        end
        Judge: begin
          pos_q <= pos_q + 1'b1;
          state_q <= closes ? Advance : Idle;
        end
        Advance: begin
          pos_q <= pos_q + 1'b1;
          next_o <= next_o + 1'b1;
          if (!is_there) state_q <= Idle;
        end
        default: state_q <= Empty;
      endcase
      if (reset_i) begin
        state_q <= Empty;
        pos_q <= '0;
        next_o <= 32'd1;
        count_q <= '0;
        {more_q, less_q} <= '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    ahead_q <= seq_i - next_o;
    in_order_o <= closes;
    if (beyond) arrival_o <= 2'd2;
    else arrival_o <= {1'b0, behind || (!closes && is_there)};
  end

`ifndef SYNTHESIS
  InsertIsReady_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) insert_i |-> ready_o);
  RingHoldsCount_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) count_q <= 9'd256);
`endif
endmodule
