// Two bits a cycle to a pin: a cell of the ECP5, as the synthesis tools know it.

// It has no contents, and its name is the vendor's.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
module ODDRX1F (
  input  logic SCLK,
  input  logic D0,
  input  logic D1,
  output logic Q
);
endmodule : ODDRX1F
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
