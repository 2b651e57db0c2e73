// A cell of the ECP5 as far as this bench needs it: without delays.
module DELAYG #(
  parameter DEL_MODE = "",
  parameter logic [6:0] DEL_VALUE = '0
) (
  input  logic A,
  output logic Z
);
  assign Z = A;
endmodule : DELAYG
