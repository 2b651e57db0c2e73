// The compression function of BLAKE3 as a ring of one round.
//
// Eight compressions are under way, one in each stage, and each goes round seven times. Where the
// ring closes, the slot that passes can begin another compression, with its own last value as the
// chaining value or with the initial one. So eight chunks side by side take 7 cycles per block.
//
// The words of a message do not travel with the state. Where a word is used it goes into a small
// memory, from which its place in the next round's order reads it, and a block is read from the
// buffer outside in four parts, each when it is needed (`take_o`).
module rl_blake3
  import rl_blake3_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        step_i,   // All slots move on by a stage.
  input  logic        turn0_i,  // With step_i: the slot at the ring's end is through. It can begin
  input  logic        enter_i,  // another compression.
  input  entry_t      entry_i,  // `first` with turn0_i only.
  input  logic [15:0] keep_i,   // counting(0, entry_i.top).

  output logic [3:0]  take_o,   // With step_i: reads this group of words of its block.
  input  block_t      block_i,  // Each group's words: those of the oldest block it has not taken.

  output value_t      value_o   // A cycle after turn0_i: the result of the slot that is through.
);
  block_t words;

  rl_blake3_message u_message (
    .clk_i,
    .rst_ni,
    .step_i,
    .enter_i,
    .top_i(entry_i.top),
    .keep_i,
    .take_o,
    .block_i,
    .words_o(words)
  );

  block_t [Stages-1:0] state_q, state_d;

  // Stage 0 uses group 0; stages 1, 3 and 5 groups 1 to 3; the others none.
  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    assign state_d[s] = stage(state_q[s], s, members(words, s < 6 ? (s + 1) / 2 : 0));
  end

  // What is through enters again, if only as an empty slot: then it does not matter with what.
  block_t next;
  always_comb begin
    next = state_d[Stages-1];
    if (turn0_i) begin
      next[7:0]  = next[7:0] ^ next[15:8];
      next[11:8] = Iv[3:0];
      next[12]   = entry_i.counter;
      next[13]   = '0;
      next[14]   = 32'(entry_i.top) + 1;
      next[15]   = 32'(entry_i.flags);
    end
  end

  always_ff @(posedge clk_i) begin
    value_o <= next[7:0];
    if (step_i) begin
      state_q[0] <= next;
      if (entry_i.first) state_q[0][7:0] <= Iv;
      for (int unsigned s = 1; s < Stages; s++) state_q[s] <= state_d[s-1];
    end
  end
endmodule
