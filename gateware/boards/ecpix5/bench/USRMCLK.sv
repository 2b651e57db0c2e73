// A cell of the ECP5 as far as this bench needs it: the bench takes the clock in front of it.
module USRMCLK (
  input logic USRMCLKI,
  input logic USRMCLKTS
);
endmodule : USRMCLK
