// The device's oscillator: a cell of the ECP5, as the synthesis tools know it.

// It has no contents, and its name is the vendor's.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNDRIVEN
(* blackbox *)
module OSCG #(
  parameter DIV = 128  // Of 310 MHz.
) (
  output logic OSC
);
endmodule : OSCG
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDPARAM
