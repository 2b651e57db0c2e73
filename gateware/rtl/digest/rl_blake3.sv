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
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       step_i,   // All slots move on by a stage.
  input  logic       enter_i,  // With step_i: the slot at the ring's end begins a compression.
  input  entry_t     entry_i,

  output logic [3:0] take_o,   // With step_i: reads this group of words of its block.
  input  block_t     block_i,  // Each group's words: those of the oldest block it has not taken.

  output value_t     value_o   // Of the slot at the ring's end, after its seventh time round.
);
  block_t words;

  rl_blake3_message u_message (
    .clk_i,
    .rst_ni,
    .step_i,
    .enter_i,
    .top_i  (entry_i.top),
    .take_o,
    .block_i,
    .words_o(words)
  );

  block_t [Stages-1:0] state_q, state_d;

  // Stage 0 uses group 0; stages 1, 3 and 5 groups 1 to 3; the others none.
  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    assign state_d[s] = stage(state_q[s], s, members(words, s < 6 ? (s + 1) / 2 : 0));
  end

  block_t round, start;
  assign round   = state_d[Stages-1];
  assign value_o = round[7:0] ^ round[15:8];
  always_comb begin
    start[7:0]  = entry_i.first ? Iv : value_o;
    start[11:8] = Iv[3:0];
    start[12]   = entry_i.counter;
    start[13]   = '0;
    start[14]   = 32'(entry_i.top) + 1;
    start[15]   = 32'(entry_i.flags);
  end

  always_ff @(posedge clk_i) begin
    if (step_i) begin
      state_q[0] <= enter_i ? start : round;
      for (int unsigned s = 1; s < Stages; s++) state_q[s] <= state_d[s-1];
    end
  end
endmodule
