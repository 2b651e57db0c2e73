// A cell of the ECP5 as far as this bench needs it: it stands still, so that all runs are alike.
module OSCG #(
  parameter DIV = 128
) (
  output logic OSC
);
  assign OSC = 1'b0;
endmodule : OSCG
