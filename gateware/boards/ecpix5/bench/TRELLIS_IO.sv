// A cell of the ECP5 as far as this bench needs it: MDIO is not used, so the pin stays unconnected.
module TRELLIS_IO #(
  parameter DIR = ""
) (
  input  logic B,
  input  logic I,
  input  logic T,
  output logic O
);
  assign O = B;
endmodule : TRELLIS_IO
