// A cell of the ECP5 as far as this bench needs it: without delays.
// D0 while the clock is high, then D1.
module ODDRX1F (
  input  logic SCLK,
  input  logic D0,
  input  logic D1,
  output logic Q
);
  logic high_q, low_q;
  always_ff @(posedge SCLK) {high_q, low_q} <= {D0, D1};
  assign Q = SCLK ? high_q : low_q;
endmodule : ODDRX1F
