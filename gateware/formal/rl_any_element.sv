// Stands in for rl_collective_element where results do not matter: anything may come out.
module rl_collective_element
  import rl_collective_pkg::*;
#(
  parameter int unsigned Bits = 64
) (
  input  logic             clk_i,
  input  logic             step_i,
  input  op_e              op_i,
  input  datatype_e        datatype_i,
  input  logic [Bits-1:0]  left_i,
  input  logic [Bits-1:0]  right_i,
  output logic [Bits-1:0]  result_o
);
  (* anyseq *) logic [Bits-1:0] any;
  assign result_o = any;
endmodule
