// The port layer: what lies between the MACs of a card and the services behind them.

// No module uses all of it.
// verilator lint_off UNUSEDPARAM
package rl_port_pkg;
  import rl_wire_pkg::*;

  // Bytes of an Ethernet head: two addresses and the EtherType.
  localparam int unsigned HeadBytes = 14;
  typedef struct packed {
    mac_addr_t   dst;
    mac_addr_t   src;
    logic [15:0] ether_type;
  } ethernet_head_t;

  // Whether an EtherType belongs to a family of ours: no role may send it, and none gets it.
  function automatic logic is_ours(logic [15:0] ether_type);
    is_ours = 1'b0;
    for (int unsigned i = 0; i < EtherTypeCount; i++) is_ours |= ether_type == EtherTypes[i];
  endfunction

  // Bit 40 of an address, the first on the wire: it names a group.
  localparam int unsigned GroupBit = 40;

  // What a port beside port 0 is.
  typedef struct packed {
    logic      stream;  // It belongs to a stream of the role; else it is closed.
    mac_addr_t mac;
  } port_config_t;

  // What a port counts of the frames that come in, each for one cycle.
  typedef struct packed {
    logic        frame;     // A frame has ended,
    logic [13:0] bytes;     // of so many bytes. If it was dropped, one of these tells why:
    logic        check;     // its check sequence was wrong,
    logic        truncated; // it is shorter than Ethernet's head,
    logic        foreign;   // it is for somebody else, or the service is not there,
    logic        full;      // or there was no room for it, or it is too long for any.
  } port_event_t;
endpackage : rl_port_pkg
// verilator lint_on UNUSEDPARAM
