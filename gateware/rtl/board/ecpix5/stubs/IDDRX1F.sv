// Two bits a cycle from a pin: a cell of the ECP5, as the synthesis tools know it.

// It has no contents, and its name is the vendor's.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
module IDDRX1F (
  input  logic SCLK,
  input  logic D,
  output logic Q0,
  output logic Q1
);
endmodule : IDDRX1F
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
