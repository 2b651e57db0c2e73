// Stands in for rl_ascon_rounds: any permutation, which need not even be one. What a proof shows with it holds for
// Ascon's, since nothing but the data depends on what comes out here.
module rl_ascon_rounds
  import rl_ascon_pkg::*;
#(
  parameter int unsigned PerCycle = 1
) (
  input  logic [3:0] round_i,
  input  state_t     state_i,
  output state_t     state_o
);
  (* anyseq *) state_t any;
  // There is no round 15. A net that is nothing but `any` would be another one wherever it is looked at.
  assign state_o = round_i == '1 ? state_i : any;
endmodule
