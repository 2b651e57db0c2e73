// Frames of a link as the blocks between the transport and the cable see them, and what can be wrong with one.

// No module uses all of it, and functions look at parts of what they get.
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL
package rl_link_wire_pkg;
  import rl_link_pkg::*;
  import rl_transport_pkg::segment_t;
  import rl_transport_pkg::segment_kind_e;

  // Which message of which operation of which group.
  typedef struct packed {
    logic [63:0] group;
    logic [31:0] number;
    logic [15:0] tag;
  } key_t;

  // What a numbered frame says beside its bytes.
  typedef struct packed {
    logic [3:0]  kind;
    logic [15:0] slot;    // The sender's context.
    key_t        key;
    logic [31:0] offset;
    logic [31:0] total;
    logic [15:0] length;  // Bytes of its payload.
  } message_t;
  localparam int unsigned MessageW = $bits(message_t);

  // All of a frame before its payload.
  localparam int unsigned HeadBytes = 32'(HeaderEnd);
  localparam int unsigned EthernetBytes = 14;

  // What becomes of a frame that comes, in the order in which the first that holds is named. The twins are the parser
  // (crates/core/wire) and `decode` (crates/core/collective).
  typedef enum logic [3:0] {
    Passed,
    Damaged,       // Its check sequence was wrong.
    Truncated,     // It is shorter than a head, or than it says.
    Foreign,       // Another EtherType.
    OtherVersion,
    UnknownKind,
    Auth,
    Looped,        // Its source is this port's own address, or a group's: the cable has no other end.
    Malformed,     // Life 0, or a payload that its kind does not have.
    TooLong,       // Its payload is longer than this end takes.
    NoRoom         // What came before has not been taken.
  } verdict_e;
  localparam int unsigned Verdicts = 16;  // A power of two: places for counts.
  typedef struct packed {
    logic damaged;
    logic no_ethernet;
    logic foreign;
    logic no_header;
    logic version;
    logic kind;
    logic auth;
    logic truncated;
    logic looped;
    logic malformed;
    logic too_long;
    logic no_room;
  } faults_t;
  function automatic verdict_e verdict_of(faults_t faults);
    if (faults.damaged) return Damaged;
    if (faults.no_ethernet) return Truncated;
    if (faults.foreign) return Foreign;
    if (faults.no_header) return Truncated;
    if (faults.version) return OtherVersion;
    if (faults.kind) return UnknownKind;
    if (faults.auth) return Auth;
    if (faults.truncated) return Truncated;
    if (faults.looped) return Looped;
    if (faults.malformed) return Malformed;
    if (faults.too_long) return TooLong;
    if (faults.no_room) return NoRoom;
    return Passed;
  endfunction

  // The kind of a frame without a number, and of a segment.
  function automatic logic is_bare(logic [7:0] kind);
    return kind == KindLinkAck || kind == KindLinkNack || kind == KindLinkUnack;
  endfunction
  function automatic logic [7:0] kind_of(segment_kind_e kind, logic [3:0] data_kind);
    case (kind)
      rl_transport_pkg::KindAck: return KindLinkAck;
      rl_transport_pkg::KindNack: return KindLinkNack;
      rl_transport_pkg::KindUnack: return KindLinkUnack;
      default: return 8'(data_kind);
    endcase
  endfunction
  function automatic segment_kind_e segment_kind_of(logic [7:0] kind);
    case (kind)
      KindLinkAck: return rl_transport_pkg::KindAck;
      KindLinkNack: return rl_transport_pkg::KindNack;
      KindLinkUnack: return rl_transport_pkg::KindUnack;
      default: return rl_transport_pkg::KindData;
    endcase
  endfunction

  // The payload bytes of a segment.
  function automatic logic [15:0] length_of(segment_t segment, message_t message);
    return segment.kind == rl_transport_pkg::KindData ? message.length : '0;
  endfunction

  // All of a frame before its payload. What acknowledges nothing has zeros there, as in crates/core/collective.
  function automatic frame_head_t head_of(mac_addr_t src, segment_t segment, message_t message);
    header_t header;
    header = '0;
    header.version_flags = {Version, segment.asks ? FlagAsks : 4'd0};
    header.kind = kind_of(segment.kind, message.kind);
    header.length = length_of(segment, message);
    header.src_epoch = segment.src;
    header.dst_epoch = segment.dst;
    if (segment.kind == rl_transport_pkg::KindData) begin
      header.seq = segment.seq;
      header.slot = message.slot;
      header.tag = message.key.tag;
      header.number = message.key.number;
      header.group = message.key.group;
      header.offset = message.offset;
      header.total = message.total;
    end
    if (segment.dst != '0) begin
      header.ack = segment.ack;
      header.limit = segment.limit;
    end
    return '{dst: LinkAddr, src: src, ether_type: EtherTypeLink, header: header};
  endfunction

  // An address as its first byte is lowest in a word, and back.
  function automatic mac_addr_t turned(mac_addr_t mac);
    for (int unsigned i = 0; i < 6; i++) turned[8*i+:8] = mac[8*(5-i)+:8];
  endfunction

  // What the transport and the neighbours have to know of a frame: the fields that `head_of` writes.
  function automatic segment_t segment_of(header_t header);
    return
    '{
        kind: segment_kind_of(header.kind),
        asks: (header.version_flags[3:0] & FlagAsks) != '0 || header.kind == KindLinkUnack,
        seq: header.seq,
        src: header.src_epoch,
        dst: header.dst_epoch,
        ack: header.ack,
        limit: header.limit
    }
    ;
  endfunction
  function automatic message_t message_of(header_t header);
    return
    '{
        kind: header.kind[3:0],
        slot: header.slot,
        key: '{group: header.group, number: header.number, tag: header.tag},
        offset: header.offset,
        total: header.total,
        length: header.length
    }
    ;
  endfunction
endpackage : rl_link_wire_pkg
// verilator lint_on UNUSEDSIGNAL
// verilator lint_on UNUSEDPARAM
