// A cell of the ECP5 as far as this bench needs it: without delays.
// What there was at a rising edge, and at the falling one after it, at the next rising edge.
module IDDRX1F (
  input  logic SCLK,
  input  logic D,
  output logic Q0,
  output logic Q1
);
  logic rise_q, fall_q;
  always_ff @(posedge SCLK) begin
    rise_q <= D;
    Q0 <= rise_q;
    Q1 <= fall_q;
  end
  always_ff @(negedge SCLK) fall_q <= D;
endmodule : IDDRX1F
