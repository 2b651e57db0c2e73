// What goes with a frame's words through the transport. What frames hold is rl_bridge_pkg's.
package rl_bridge_node_pkg;
  typedef logic [3:0] node_kind_t;  // The low bits of a kind: all that is numbered is below 16.
  typedef struct packed {
    node_kind_t  kind;    // A numbered one, where the segment carries a payload.
    logic        last;    // FlagLast.
    logic [15:0] length;  // Payload bytes; of 0 there is one word, which means nothing.
    logic [15:0] id;
    logic [63:0] addr;
    logic [31:0] count;
    logic [15:0] tag;
  } head_t;
endpackage : rl_bridge_node_pkg
