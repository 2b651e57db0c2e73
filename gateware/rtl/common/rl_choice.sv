// One of four words, each bit by a table of six inputs where a device has such. It is a module of its own so that
// gateware/synth/flow.py can say so to Yosys, which makes cascades of smaller tables out of large shifters.
module rl_choice #(
  parameter int unsigned Width = 8
) (
  input  logic [1:0]            which_i,
  input  logic [3:0][Width-1:0] from_i,
  output logic [Width-1:0]      data_o
);
  assign data_o = from_i[which_i];
endmodule
