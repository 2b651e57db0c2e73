// What the wire side of the bridge says of frames: how a node is addressed, how a frame begins, and what can be wrong
// with one. Its twin is crates/core/wire.

// No module uses all of it, and functions look at parts of what they get.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package rl_bridge_wire_pkg;
  import rl_bridge_pkg::*;
  import rl_bridge_node_pkg::head_t;
  import rl_transport_pkg::segment_t;
  import rl_transport_pkg::segment_kind_e;

  // Version 6, and neither traffic class nor flow label.
  localparam logic [31:0] PacketStart = 32'h6000_0000;
  // Bytes of the headers of Ethernet and IPv6, and of all that lies before the payload.
  localparam int unsigned EthernetBytes = 14;
  localparam int unsigned HeadBytes = 32'(HeaderEnd);
  localparam int unsigned PacketBytes = EthernetBytes + Ipv6Bytes;
  // Bit 40 of an Ethernet address, the first on the wire: it names a group.
  localparam int unsigned GroupBit = 40;

  // The modified EUI-64 of RFC 4291, appendix A.
  function automatic logic [63:0] eui64_of(mac_addr_t mac);
    return {mac[47:40] ^ 8'h02, mac[39:24], 16'hfffe, mac[23:0]};
  endfunction

  // What becomes of a frame that has come, in the order in which the rules are looked at but for Truncated, Foreign and
  // Length, which have two places. Each is counted under this number.
  typedef enum logic [3:0] {
    Passed,       // To the transport.
    Damaged,      // Its check sequence was wrong.
    Truncated,    // It is shorter than a head, or than its packet says.
    Foreign,      // It is of no node of the family's: a host's packet, or none of IPv6.
    Routed,        // A router has passed it on, by its hop limit.
    OtherSubnet,  // Source or destination is not of the nodes' subnet.
    Spoofed,      // Its sources of IPv6 and Ethernet are not the same node's, or the latter is a group's.
    Misdirected,  // It is for another node, by its destination of Ethernet or of IPv6.
    Length,       // The lengths of packet and payload do not agree.
    OtherVersion,
    UnknownKind,
    Auth,         // It is authenticated, and there are no keys.
    UnknownPeer,  // The table of peers does not have its source.
    Malformed,    // No such channel, no life of the sender's, or a payload that its kind does not have.
    TooLong,      // Its payload is longer than this node takes.
    NoRoom        // What came before it has not been taken yet.
  } verdict_e;
  localparam int unsigned Verdicts = 16;

  // What is wrong with a frame, the first to be named first.
  typedef struct packed {
    logic damaged;
    logic no_ethernet;   // Shorter than Ethernet's header.
    logic other_type;
    logic no_packet;     // Shorter than IPv6's.
    logic foreign;
    logic hop_limit;
    logic subnet;
    logic spoofed;
    logic misdirected;
    logic truncated;
    logic short_packet;  // The packet is shorter than a header.
    logic version;
    logic kind;
    logic auth;
    logic length;
    logic unknown;
    logic malformed;
    logic too_long;
    logic no_room;
  } faults_t;

  function automatic verdict_e verdict_of(faults_t faults);
    if (faults.damaged) return Damaged;
    if (faults.no_ethernet) return Truncated;
    if (faults.other_type) return Foreign;
    if (faults.no_packet) return Truncated;
    if (faults.foreign) return Foreign;
    if (faults.hop_limit) return Routed;
    if (faults.subnet) return OtherSubnet;
    if (faults.spoofed) return Spoofed;
    if (faults.misdirected) return Misdirected;
    if (faults.truncated) return Truncated;
    if (faults.short_packet) return Length;
    if (faults.version) return OtherVersion;
    if (faults.kind) return UnknownKind;
    if (faults.auth) return Auth;
    if (faults.length) return Length;
    if (faults.unknown) return UnknownPeer;
    if (faults.malformed) return Malformed;
    if (faults.too_long) return TooLong;
    if (faults.no_room) return NoRoom;
    return Passed;
  endfunction

  // What leaves, counted likewise.
  typedef enum logic [0:0] {
    Sent,
    NoPeer  // The table of peers has no address for it.
  } departure_e;
  localparam int unsigned Departures = 2;

  // The kind of a frame without a payload, and of a segment.
  function automatic logic [7:0] kind_of(segment_kind_e kind, logic [3:0] data_kind);
    case (kind)
      rl_transport_pkg::KindAck: return KindAck;
      rl_transport_pkg::KindNack: return KindNack;
      rl_transport_pkg::KindUnack: return KindUnack;
      default: return 8'(data_kind);
    endcase
  endfunction
  function automatic segment_kind_e segment_kind_of(logic [7:0] kind);
    case (kind)
      KindAck: return rl_transport_pkg::KindAck;
      KindNack: return rl_transport_pkg::KindNack;
      KindUnack: return rl_transport_pkg::KindUnack;
      default: return rl_transport_pkg::KindData;
    endcase
  endfunction
  function automatic logic is_bare(logic [7:0] kind);
    return kind == KindAck || kind == KindNack || kind == KindUnack;
  endfunction

  // The payload bytes of a segment.
  function automatic logic [15:0] length_of(segment_t segment, head_t desc);
    return segment.kind == rl_transport_pkg::KindData ? desc.length : '0;
  endfunction

  // All of a frame before its payload. What acknowledges nothing has zeros there.
  function automatic frame_head_t head_of(mac_addr_t dst, mac_addr_t src, logic channel,
                                          segment_t segment, head_t desc);
    header_t header;
    logic [3:0] flags;
    logic [15:0] length;
    length = length_of(segment, desc);
    header = '0;
    flags = segment.asks ? FlagAsks : '0;
    if (segment.kind == rl_transport_pkg::KindData) begin
      if (desc.last) flags |= FlagLast;
      header.seq = segment.seq;
      header.id = desc.id;
      header.addr = desc.addr;
      header.count = desc.count;
      header.tag = desc.tag;
    end
    if (segment.dst != '0) begin
      header.ack = segment.ack;
      header.limit = segment.limit;
    end
    header.version_flags = {Version, flags};
    header.kind = kind_of(segment.kind, desc.kind);
    header.length = length;
    header.src_epoch = segment.src;
    header.dst_epoch = segment.dst;
    header.channel = 16'(channel);
    return
    '{
        dst: dst,
        src: src,
        ether_type: EtherType,
        ipv6: '{
            version_class_flow: PacketStart,
            payload_length: 16'(HeaderBytes) + length,
            next_header: NextHeader,
            hop_limit: HopLimit,
            src: {Subnet, eui64_of(src)},
            dst: {Subnet, eui64_of(dst)}
        },
        header: header
    }
    ;
  endfunction

  // What the transport has to know of a frame, by its header: the fields that `head_of` writes.
  function automatic segment_t segment_of(header_t header);
    return
    '{
        kind: segment_kind_of(header.kind),
        asks: (header.version_flags[3:0] & FlagAsks) != '0 || header.kind == KindUnack,
        seq: header.seq,
        src: header.src_epoch,
        dst: header.dst_epoch,
        ack: header.ack,
        limit: header.limit
    }
    ;
  endfunction
  function automatic head_t desc_of(header_t header);
    return
    '{
        kind: header.kind[3:0],
        last: (header.version_flags[3:0] & FlagLast) != '0,
        length: header.length,
        id: header.id,
        addr: header.addr,
        count: header.count,
        tag: header.tag
    }
    ;
  endfunction
endpackage : rl_bridge_wire_pkg
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
