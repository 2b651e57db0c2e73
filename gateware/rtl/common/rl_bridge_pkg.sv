// Made from protocol/bridge.toml by `cargo run -p protogen`. Change that file, not this one.
//
// Everything on the wire is big-endian. A packed struct's first field is the first on the wire and
// has the most significant bits. Fields that hold an enum's value are plain vectors, since a peer
// may send a value that this version does not know: compare before you cast.

// A design uses some of this, never all; the generator lays the lines out.
// verilator lint_off UNUSEDPARAM
// verilog_format: off
package rl_bridge_pkg;

  // Protocol version.
  localparam logic [3:0] Version = 4'd1;

  // Bytes from the start of the frame to the payload: 14 of Ethernet, 40 of IPv6 and 42 of the
  // common header.
  localparam logic [15:0] HeaderEnd = 16'd96;
  // Most payload bytes in a standard frame: 22 beats of 64 bytes (1408 + 82 = 1490 of an MTU of
  // 1500).
  localparam logic [15:0] MessageStandard = 16'd1408;
  // Most payload bytes in a jumbo frame: 138 beats of 64 bytes (MTU 9000).
  localparam logic [15:0] MessageJumbo = 16'd8832;
  // Windows of a node, by number: what it opens of its memory to others.
  localparam logic [15:0] Windows = 16'd16;
  // Most requests of one node that may be under way at another. One more is its fault, and resets
  // the connection.
  localparam logic [15:0] Transactions = 16'd64;
  // Channels between two nodes; each has sequence numbers and credit of its own.
  localparam logic [15:0] Channels = 16'd2;
  // Numbered packets that may be sent on a channel before the receiver has said its limit. It has
  // room for as many or more.
  localparam logic [15:0] Credit = 16'd16;
  // The channel of requests and their responses, which are always taken at once.
  localparam logic [15:0] ChannelMemory = 16'd0;
  // The channel of streams, whose credit is withheld while the receiver does not take the message.
  localparam logic [15:0] ChannelStreams = 16'd1;
  // Streams of a node, by number.
  localparam logic [15:0] Streams = 16'd16;
  // Bits in the bitmap of a selective acknowledgement.
  localparam logic [31:0] SackBits = 32'd256;
  // The EtherType of IPv6, which carries the frames.
  localparam logic [15:0] EtherType = 16'h86dd;
  // The next header of packets that carry a frame.
  localparam logic [7:0] NextHeader = 8'd253;
  // The hop limit of each packet, sent and demanded.
  localparam logic [7:0] HopLimit = 8'd255;
  // The first eight bytes of every node's address.
  localparam logic [63:0] Subnet = 64'hfd524c0000000000;

  // An Ethernet address; its first byte on the wire is the most significant.
  typedef logic [47:0] mac_addr_t;


  // Flags, bits of the low half of version_flags.
  // The sender asks for an acknowledgement of what has come, at once.
  localparam logic [3:0] FlagAsks = 4'h1;
  // The last packet of a stream's message.
  localparam logic [3:0] FlagLast = 4'h2;
  // Reserved: an AuthTrailer of 28 bytes follows the payload. A node without keys drops such a
  // frame and counts it.
  localparam logic [3:0] FlagAuth = 4'h4;
  // The sender takes selective acknowledgements.
  localparam logic [3:0] FlagSelective = 4'h8;

  // Kinds of frames.
  typedef enum logic [7:0] {
    // Ask for count bytes at addr, 1 to the most of a message. Numbered.
    KindReadRequest = 8'h01,
    // Bytes for addr, at any alignment; a burst with holes is several requests. Numbered.
    KindWriteRequest = 8'h02,
    // Answer to a read or an atomic request, whose id and addr it repeats: tag is a BridgeStatus,
    // count the bytes, which the payload has; of an atomic request the old value, 8 bytes.
    // Numbered.
    KindReadResponse = 8'h03,
    // Answer to a write request or a batch, whose id and addr it repeats: tag is a BridgeStatus,
    // count the bytes that were written. Numbered.
    KindWriteResponse = 8'h04,
    // Part of a message for stream tag of the receiver; addr is the part's offset in the message,
    // and LAST ends it. Numbered.
    KindStream = 8'h05,
    // What has come. With the bitmap only to a node that has said SELECTIVE.
    KindAck = 8'h06,
    // What has come, as in Ack; and send again, from number ack on.
    KindNack = 8'h07,
    // Asks for an acknowledgement.
    KindUnack = 8'h08,
    // Change the 64-bit number at addr, a multiple of 8, at once and alone; tag is a
    // BridgeOperation. Answered by ReadResponse. Numbered.
    KindAtomicRequest = 8'h09,
    // Several writes, one behind the other: of each a BatchRecord and its bytes, padded with zeros
    // to a multiple of 8. addr is the first one's. Answered by one WriteResponse. Numbered.
    KindWriteBatch = 8'h0a
  } kind_e;

  // Who sends a kind of frame.
  typedef enum logic [1:0] {
    // Hosts and cards send it.
    SenderBoth = 2'h3
  } sender_e;

  // Who takes a kind of frame.
  typedef enum logic [1:0] {
    // Hosts and cards take it.
    ReceiverBoth = 2'h3
  } receiver_e;

  // The destination addresses at which a kind of frame is taken.
  typedef enum logic [0:0] {
    // The card's own address only: a question to one card must not be answered by all.
    ReachUnicast = 1'h1
  } reach_e;

  // What a card requires of the sender before it acts on a frame.
  typedef enum logic [2:0] {
    // Nothing: anyone may send it.
    ClaimRuleNone = 3'h1,
    // No claim, but a window of the receiver that is open to the sender, with the right that the
    // frame needs.
    ClaimRuleWindow = 3'h6
  } claim_rule_e;

  // What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware
  // what it cannot take.
  typedef enum logic [3:0] {
    // The bridge, to which the transport gives it once and in order.
    TakenByBridge = 4'h7,
    // The transport alone: it is about frames that were sent, and has no number.
    TakenByTransport = 4'h8
  } taken_by_e;

  // How a card made of gateware orders a frame with those its firmware has not finished. A frame to
  // a group address waits for barriers whatever its kind, since a barrier may make the card join
  // the group.
  typedef enum logic [0:0] {
    // It waits for no other frame, and none waits for it.
    OrderNone = 1'h1
  } order_e;

  // A kind of frame and its rules.
  typedef struct packed {
    logic [7:0] kind;
    sender_e from;
    receiver_e to;
    reach_e reach;
    claim_rule_e claim;
    taken_by_e taken_by;
    order_e order;
  } kind_rules_t;

  // Every kind of the family.
  localparam int unsigned KindCount = 10;
  localparam kind_rules_t KindRules[KindCount] = '{
    '{kind: KindReadRequest,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleWindow, taken_by: TakenByBridge, order: OrderNone},
    '{kind: KindWriteRequest,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleWindow, taken_by: TakenByBridge, order: OrderNone},
    '{kind: KindReadResponse,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByBridge, order: OrderNone},
    '{kind: KindWriteResponse,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByBridge, order: OrderNone},
    '{kind: KindStream,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleWindow, taken_by: TakenByBridge, order: OrderNone},
    '{kind: KindAck,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByTransport, order: OrderNone},
    '{kind: KindNack,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByTransport, order: OrderNone},
    '{kind: KindUnack,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByTransport, order: OrderNone},
    '{kind: KindAtomicRequest,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleWindow, taken_by: TakenByBridge, order: OrderNone},
    '{kind: KindWriteBatch,
      from: SenderBoth, to: ReceiverBoth, reach: ReachUnicast, claim: ClaimRuleWindow, taken_by: TakenByBridge, order: OrderNone}
  };

  // What became of a request.
  typedef enum logic [15:0] {
    // It is done.
    BridgeStatusOk = 16'h0000,
    // No window of the receiver holds the bytes, or it is not open to this sender: which of the two
    // is not said.
    BridgeStatusNoWindow = 16'h0001,
    // The window lacks the right.
    BridgeStatusDenied = 16'h0002,
    // The request is not what its kind requires.
    BridgeStatusMalformed = 16'h0003,
    // The receiver's memory cannot be used.
    BridgeStatusMemoryFailed = 16'h0004,
    // The receiver has no room for it: try again.
    BridgeStatusBusy = 16'h0005
  } bridge_status_e;

  // What an atomic request does.
  typedef enum logic [15:0] {
    // Adds the operand; the sum wraps.
    BridgeOperationFetchAdd = 16'h0001,
    // Writes the operand if the value is equal to `compare`.
    BridgeOperationCompareSwap = 16'h0002
  } bridge_operation_e;

  // The header of IPv6, RFC 8200, bytes 14 to 53 of each frame.
  typedef struct packed {
    // Version, 6, in the high four bits; traffic class and flow label, sent as zero and not looked
    // at.
    logic [31:0] version_class_flow;
    // Bytes behind this header: 42 and `length`.
    logic [15:0] payload_length;
    // NEXT_HEADER.
    logic [7:0] next_header;
    // HOP_LIMIT.
    logic [7:0] hop_limit;
    // Address of the sender.
    logic [127:0] src;
    // Address of the receiver.
    logic [127:0] dst;
  } ipv6_t;

  // Its size in bytes, and where its fields start: bytes from the start of the frame.
  localparam int unsigned Ipv6Bytes = 40;
  localparam int unsigned Ipv6VersionClassFlowOffset = 14;
  localparam int unsigned Ipv6PayloadLengthOffset = 18;
  localparam int unsigned Ipv6NextHeaderOffset = 20;
  localparam int unsigned Ipv6HopLimitOffset = 21;
  localparam int unsigned Ipv6SrcOffset = 22;
  localparam int unsigned Ipv6DstOffset = 38;

  // The common header, bytes 54 to 95 of each frame.
  typedef struct packed {
    // Protocol version in the high four bits, flags in the low four.
    logic [7:0] version_flags;
    // What the frame is.
    logic [7:0] kind;
    // Payload bytes that follow, without the padding of a frame.
    logic [15:0] length;
    // Number of the transaction, which the requester chooses and the response repeats.
    logic [15:0] id;
    // Sequence number, for the kinds that have one: from 1 on for each pair of nodes, direction and
    // channel. It wraps.
    logic [31:0] seq;
    // The sender's life: a number, not 0, of its own start.
    logic [31:0] src_epoch;
    // The newest life that the sender knows of the receiver; 0: none.
    logic [31:0] dst_epoch;
    // First sequence number that has not come from the receiver. Valid if dst_epoch is not 0.
    logic [31:0] ack;
    // First sequence number that the receiver may not send. Valid if dst_epoch is not 0.
    logic [31:0] limit;
    // Address in the receiver's windows; for streams the offset of the payload in its message.
    logic [63:0] addr;
    // Bytes that are asked for, given or applied.
    logic [31:0] count;
    // Of a response its status, of a stream its number at the receiver, of an atomic request the
    // operation; else 0.
    logic [15:0] tag;
    // 0: memory, 1: streams.
    logic [15:0] channel;
  } header_t;

  // Its size in bytes, and where its fields start: bytes from the start of the frame.
  localparam int unsigned HeaderBytes = 42;
  localparam int unsigned HeaderVersionFlagsOffset = 54;
  localparam int unsigned HeaderKindOffset = 55;
  localparam int unsigned HeaderLengthOffset = 56;
  localparam int unsigned HeaderIdOffset = 58;
  localparam int unsigned HeaderSeqOffset = 60;
  localparam int unsigned HeaderSrcEpochOffset = 64;
  localparam int unsigned HeaderDstEpochOffset = 68;
  localparam int unsigned HeaderAckOffset = 72;
  localparam int unsigned HeaderLimitOffset = 76;
  localparam int unsigned HeaderAddrOffset = 80;
  localparam int unsigned HeaderCountOffset = 88;
  localparam int unsigned HeaderTagOffset = 92;
  localparam int unsigned HeaderChannelOffset = 94;

  // What authenticates a frame: 28 bytes behind the payload when flag AUTH is set. Reserved;
  // `length` does not count it.
  typedef struct packed {
    // Id of the key.
    logic [31:0] key;
    // Grows with each frame under this key, so that a repeated frame is recognised.
    logic [63:0] counter;
    // Authentication tag.
    logic [127:0] tag;
  } auth_trailer_t;

  // Its size in bytes, and where its fields start: bytes from the start of the trailer.
  localparam int unsigned AuthTrailerBytes = 28;
  localparam int unsigned AuthTrailerKeyOffset = 0;
  localparam int unsigned AuthTrailerCounterOffset = 4;
  localparam int unsigned AuthTrailerTagOffset = 12;

  // Selective acknowledgement: bit i (byte i / 8, bit i % 8, least significant first) stands for
  // number ack + 1 + i; ack itself is missing.
  typedef struct packed {
    // What has come and is kept, beyond the first missing one.
    logic [255:0] bitmap;
  } sack_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned SackBytes = 32;
  localparam int unsigned SackBitmapOffset = 0;

  // Payload of an atomic request.
  typedef struct packed {
    // The summand, or the new value.
    logic [63:0] operand;
    // The value that must be there for the new one to be written; 0 for a sum.
    logic [63:0] compare;
  } atomic_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned AtomicBytes = 16;
  localparam int unsigned AtomicOperandOffset = 0;
  localparam int unsigned AtomicCompareOffset = 8;

  // Head of one write in a batch; `length` bytes follow, padded with zeros to a multiple of 8.
  typedef struct packed {
    // Where the bytes go.
    logic [63:0] addr;
    // How many there are, not 0.
    logic [15:0] length;
    // Zero.
    logic [47:0] reserved;
  } batch_record_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned BatchRecordBytes = 16;
  localparam int unsigned BatchRecordAddrOffset = 0;
  localparam int unsigned BatchRecordLengthOffset = 8;
  localparam int unsigned BatchRecordReservedOffset = 10;

  // The first 96 bytes of each frame: 12 words of a 64-bit datapath.
  typedef struct packed {
    mac_addr_t dst;
    mac_addr_t src;
    logic [15:0] ether_type;
    ipv6_t ipv6;
    header_t header;
  } frame_head_t;

endpackage : rl_bridge_pkg
// verilog_format: on
// verilator lint_on UNUSEDPARAM
