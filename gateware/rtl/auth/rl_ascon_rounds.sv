// Some rounds of Ascon's permutation, without a register.
module rl_ascon_rounds
  import rl_ascon_pkg::*;
#(
  parameter int unsigned PerCycle = 1
) (
  input  logic [3:0] round_i,  // The number of the first of them.
  input  state_t     state_i,
  output state_t     state_o
);
  state_t [PerCycle:0] states;
  assign states[0] = state_i;
  for (genvar i = 0; i < PerCycle; i++) begin : gen_round
    assign states[i+1] = round(states[i], round_i + 4'(i));
  end
  assign state_o = states[PerCycle];
endmodule
