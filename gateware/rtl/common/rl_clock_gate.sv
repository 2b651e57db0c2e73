// A clock that rests while nothing needs it. In simulation what stands behind it then costs nothing; a
// device gets the clock as it is. So nothing may depend on its rest: a block behind it must be one that
// may as well run on.
module rl_clock_gate (
  input  logic clk_i,
  input  logic enable_i, // Of clk_i's domain: whether the next edge passes.
  output logic clk_o
);
`ifdef SYNTHESIS
  logic unused;
  assign unused = enable_i;
  assign clk_o = clk_i;
`else
  // A latch, so that an enable that changes behind an edge does not cut that one short.
  logic enable_q;
  always_latch if (!clk_i) enable_q = enable_i;
  assign clk_o = clk_i && enable_q;
`endif
endmodule
