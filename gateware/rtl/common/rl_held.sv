// A word that another clock domain looks at while it holds: nothing but wires. What says that it holds crosses
// with rl_sync, later than the word has come to rest.
//
// gateware/cdc takes a word that crosses without this for a mistake, and gives this one a constraint: it has to
// arrive before what says so, within two periods of the reader's clock.
module rl_held #(
  parameter int unsigned Width = 1
) (
  input  logic [Width-1:0] word_i,
  output logic [Width-1:0] word_o
);
  assign word_o = word_i;
endmodule
