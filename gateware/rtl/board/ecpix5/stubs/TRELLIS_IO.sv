// A pin that both ends drive: a cell of the ECP5, as the synthesis tools know it.

// It has no contents, and its name is the vendor's.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
// verilator lint_off UNDRIVEN
(* blackbox *)
module TRELLIS_IO #(
  parameter DIR = "INPUT"
) (
  inout  wire  B,
  input  logic I,
  input  logic T,
  output logic O
);
endmodule : TRELLIS_IO
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
