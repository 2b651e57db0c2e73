// A delay at a pin: a cell of the ECP5, as the synthesis tools know it.

// It has no contents, and its name is the vendor's.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
module DELAYG #(
  parameter DEL_MODE = "USER_DEFINED",
  parameter DEL_VALUE = 0  // Of 25 ps.
) (
  input  logic A,
  output logic Z
);
endmodule : DELAYG
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
