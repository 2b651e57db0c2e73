// Stand in for what tells rl_analyzer what a frame is and whose addresses it has: they say anything, at any time.
module rl_kind_class
  import rl_shell_pkg::*;
(
  input  logic        clk_net_i,
  input  logic        valid_i,
  input  logic [15:0] ether_type_i,
  input  logic [7:0]  kind_i,
  output kind_class_t class_o
);
  (* anyseq *) kind_class_t any;
  assign class_o = any;
endmodule

module rl_rx_filter
  import rl_wire_pkg::*;
  import rl_shell_pkg::*;
(
  input  logic      clk_net_i,
  input  mac_addr_t dst_i,
  input  mac_addr_t src_i,
  input  filter_t   filter_i,
  input  logic      listening_i,
  output logic      settled_o,
  output logic      own_o,
  output logic      group_o,
  output logic      listens_o,
  output logic      stranger_o,
  output logic      owner_o
);
  (* anyseq *) logic [5:0] any;
  assign {settled_o, own_o, group_o, listens_o, stranger_o, owner_o} = any;
endmodule
