// The ECP5's way to the pin of the configuration flash's clock, after configuration.

// It has no contents, and its name is the vendor's.
// verilator lint_off UNUSEDSIGNAL
(* blackbox *)
module USRMCLK (
  input logic USRMCLKI,
  input logic USRMCLKTS
);
endmodule : USRMCLK
// verilator lint_on UNUSEDSIGNAL
