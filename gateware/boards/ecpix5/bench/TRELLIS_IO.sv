// A cell of the ECP5 as far as this bench needs it.
module TRELLIS_IO #(
  parameter DIR = ""
) (
  inout  wire  B,
  input  logic I,
  input  logic T,
  output logic O
);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule : TRELLIS_IO
