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

  // MAC control, IEEE 802.3 annex 31: what a station says to the next one on its cable, such as an order to be silent.
  // No role says it, and no host behind the card.
  localparam logic [15:0] EtherTypeMacControl = 16'h8808;

  // Bit 40 of an address, the first on the wire: it names a group.
  localparam int unsigned GroupBit = 40;

  // IPv6, RFC 8200: where a frame has the upper half of the destination's address, which names its subnet.
  localparam logic [15:0] EtherTypeIpv6 = 16'h86dd;
  localparam int unsigned SubnetByte = HeadBytes + 24;
  localparam int unsigned SubnetBytes = 8;

  // What a port is.
  typedef struct packed {
    mac_addr_t                mac;
    logic                     routed;  // There is a subnet,
    logic [8*SubnetBytes-1:0] subnet;  // this one, to which rules may refer.
  } port_config_t;

  // A card's table of rules says what becomes of frames: the first rule that a frame meets, or else it is dropped.
  // Frames whose source is a group or the very port on which they came in meet none.
  localparam int unsigned PortsMax = 8;
  localparam int unsigned ServicesMax = 8;
  localparam int unsigned LevelW = 2;
  typedef logic [PortsMax-1:0] ports_t;
  typedef logic [ServicesMax-1:0] services_t;
  typedef struct packed {
    ports_t            from;        // The ports at which it holds; none: it is not used.
    // To whom, any of:
    logic              own;         // the port's own address,
    logic              group;       // a group,
    logic              other;       // anybody else.
    // What they carry, any of:
    logic              ours;        // a family of ours,
    logic              subnet;      // IPv6 to the port's subnet,
    logic              rest;        // anything else.
    logic              typed;       // And only with this EtherType.
    logic [15:0]       ether_type;
    // What becomes of them:
    ports_t            pass;        // they leave at each of these ports but the one they came from,
    services_t         consume;     // and go to each of these services that listens;
    logic              hook;        // if any of them does, they do not pass: the service sends on what shall go on.
    logic              early;       // They may leave before their end has come, where their class may.
    logic [LevelW-1:0] level;       // Their class: the queue at the ports where they leave.
  } port_rule_t;

  // What the rules say of a frame.
  typedef struct packed {
    ports_t            pass;
    services_t         consume;
    logic              early;
    logic [LevelW-1:0] level;
    logic              closed;  // No rule holds at this port.
  } verdict_t;

  // What a port counts of the frames that come in, each for one cycle.
  typedef struct packed {
    logic        frame;     // A frame has ended,
    logic [13:0] bytes;     // of so many bytes. If it was dropped, one of these tells why:
    logic        check;     // its check sequence was wrong,
    logic        truncated; // it is shorter than Ethernet's head,
    logic        foreign;   // it is for nobody here, or the service is not there,
    logic        full;      // or somebody had no room for it, or it is too long for any.
  } port_event_t;

  // A stream of the role.
  typedef logic [$clog2(PortsMax)-1:0] port_t;
  typedef struct packed {
    logic  open;      // It may send,
    port_t port;      // at this port, under its address;
    logic  forwards;  // or whatever its frames say: it sends on those of others.
  } stream_config_t;

  // The rule of a port of which a stream of the role takes what is for the port or for a group.
  function automatic port_rule_t stream_rule(port_t port, logic [$clog2(ServicesMax)-1:0] stream);
    stream_rule = '0;
    stream_rule.from[port] = 1'b1;
    {stream_rule.own, stream_rule.group, stream_rule.rest} = '1;
    stream_rule.consume[stream] = 1'b1;
  endfunction
endpackage : rl_port_pkg
// verilator lint_on UNUSEDPARAM
