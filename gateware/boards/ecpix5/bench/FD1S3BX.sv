// A cell of the ECP5 as far as this bench needs it: without delays.
module FD1S3BX (
  input  logic CK,
  input  logic D,
  input  logic PD,
  output logic Q
);
  always_ff @(posedge CK or posedge PD) begin
    if (PD) Q <= 1'b1;
    else Q <= D;
  end
endmodule : FD1S3BX
