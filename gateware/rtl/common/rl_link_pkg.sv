// Made from protocol/link.toml by `cargo run -p protogen`. Change that file, not this one.
//
// Everything on the wire is big-endian. A packed struct's first field is the first on the wire and
// has the most significant bits. Fields that hold an enum's value are plain vectors, since a peer
// may send a value that this version does not know: compare before you cast.

// A design uses some of this, never all; the generator lays the lines out.
// verilator lint_off UNUSEDPARAM
// verilog_format: off
package rl_link_pkg;

  // Protocol version.
  localparam logic [3:0] Version = 4'd1;

  // Bytes from the start of the frame to the payload: 14 of Ethernet and 50 of the common header.
  localparam logic [15:0] HeaderEnd = 16'd64;
  // Most payload bytes in a standard frame: 22 beats of 64 bytes.
  localparam logic [15:0] MessageStandard = 16'd1408;
  // Most payload bytes in a jumbo frame: 139 beats of 64 bytes.
  localparam logic [15:0] MessageJumbo = 16'd8896;
  // Programs that run at once on a card. Each has a slot, whose number its frames carry.
  localparam logic [15:0] Contexts = 16'd8;
  // Bytes of a message that are sent before the receiver has asked for them: at every link a card
  // keeps as many for each slot of its neighbour. Longer messages wait for Ready.
  localparam logic [31:0] Eager = 32'd16384;
  // Numbered frames that may be sent before the receiver has said its limit.
  localparam logic [15:0] Credit = 16'd64;
  // Bits in the bitmap of a selective acknowledgement.
  localparam logic [31:0] SackBits = 32'd256;
  // Number of the kernel by which a launch of the control family starts a program.
  localparam logic [15:0] Kernel = 16'd65535;

  // An Ethernet address; its first byte on the wire is the most significant.
  typedef logic [47:0] mac_addr_t;

  // The card at the other end of the cable, whichever it is.
  localparam mac_addr_t LinkAddr = 48'h03524c000003;

  // Flags, bits of the low half of version_flags.
  // The sender asks for an acknowledgement of what has come, at once.
  localparam logic [3:0] FlagAsks = 4'h1;
  // Reserved: an AuthTrailer of 28 bytes follows the payload. A card drops such a frame and counts
  // it.
  localparam logic [3:0] FlagAuth = 4'h4;
  // The sender takes selective acknowledgements.
  localparam logic [3:0] FlagSelective = 4'h8;

  // The EtherTypes by which a frame of this family is recognised.
  typedef enum logic [15:0] {
    // The first EtherType that IEEE 802 leaves for local experiments.
    EtherTypeLink = 16'h88b5
  } ether_type_e;

  // Sub-kinds of EtherTypeLink.
  typedef enum logic [7:0] {
    // Bytes of a message, from offset on. Numbered.
    KindLinkData = 8'h01,
    // The sender takes this message: it may come. For messages longer than EAGER. Numbered.
    KindLinkReady = 8'h02,
    // The message has come, all `total` bytes of it. Numbered.
    KindLinkDone = 8'h03,
    // The sender waits for something, or wants to know who is there. Numbered, so that it is
    // acknowledged.
    KindLinkBeat = 8'h04,
    // The sender's program of this operation has failed: what it owed will not come. Numbered.
    KindLinkFailed = 8'h08,
    // What has come. With the bitmap only to a card that has said SELECTIVE.
    KindLinkAck = 8'h05,
    // What has come, as in Ack; and send again, from number ack on.
    KindLinkNack = 8'h06,
    // Asks for an acknowledgement.
    KindLinkUnack = 8'h07
  } link_kind_e;

  // Who sends a kind of frame.
  typedef enum logic [1:0] {
    // Cards send it.
    SenderCard = 2'h2
  } sender_e;

  // Who takes a kind of frame.
  typedef enum logic [1:0] {
    // Cards take it; a host drops it.
    ReceiverCard = 2'h2,
    // Hosts and cards take it.
    ReceiverBoth = 2'h3
  } receiver_e;

  // The destination addresses at which a kind of frame is taken.
  typedef enum logic [1:0] {
    // The card's own address only: a question to one card must not be answered by all.
    ReachUnicast = 2'h1,
    // A group's address only: what cards tell one another.
    ReachGroup = 2'h2
  } reach_e;

  // What a card requires of the sender before it acts on a frame.
  typedef enum logic [0:0] {
    // Nothing: anyone may send it.
    ClaimRuleNone = 1'h1
  } claim_rule_e;

  // What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware
  // what it cannot take.
  typedef enum logic [3:0] {
    // The transport alone: it is about frames that were sent, and has no number.
    TakenByTransport = 4'h8,
    // The command sequencer, to which the transport gives it once and in order.
    TakenBySequencer = 4'h9
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
    logic [15:0] ether_type;
    logic [7:0] kind;
    sender_e from;
    receiver_e to;
    reach_e reach;
    claim_rule_e claim;
    taken_by_e taken_by;
    order_e order;
  } kind_rules_t;

  // Every EtherType of the family, and every kind.
  localparam int unsigned EtherTypeCount = 1;
  localparam ether_type_e EtherTypes[EtherTypeCount] = '{
    EtherTypeLink
  };
  localparam int unsigned KindCount = 8;
  localparam kind_rules_t KindRules[KindCount] = '{
    '{ether_type: EtherTypeLink, kind: KindLinkData,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenBySequencer, order: OrderNone},
    '{ether_type: EtherTypeLink, kind: KindLinkReady,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenBySequencer, order: OrderNone},
    '{ether_type: EtherTypeLink, kind: KindLinkDone,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenBySequencer, order: OrderNone},
    '{ether_type: EtherTypeLink, kind: KindLinkBeat,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenBySequencer, order: OrderNone},
    '{ether_type: EtherTypeLink, kind: KindLinkFailed,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenBySequencer, order: OrderNone},
    '{ether_type: EtherTypeLink, kind: KindLinkAck,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenByTransport, order: OrderNone},
    '{ether_type: EtherTypeLink, kind: KindLinkNack,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenByTransport, order: OrderNone},
    '{ether_type: EtherTypeLink, kind: KindLinkUnack,
      from: SenderCard, to: ReceiverCard, reach: ReachGroup, claim: ClaimRuleNone, taken_by: TakenByTransport, order: OrderNone}
  };

  // The common header, bytes 14 to 63 of each frame.
  typedef struct packed {
    // Protocol version in the high four bits, flags in the low four.
    logic [7:0] version_flags;
    // What the frame is.
    logic [7:0] kind;
    // Payload bytes that follow, without the padding of a frame.
    logic [15:0] length;
    // The sender's context that it is from, 0 to CONTEXTS - 1.
    logic [15:0] slot;
    // Which message of the operation between these two cards it is about.
    logic [15:0] tag;
    // Zero.
    logic [15:0] reserved;
    // The sender's life on this link: a number, not 0.
    logic [31:0] src_epoch;
    // The newest life that the sender knows of the receiver; 0: none.
    logic [31:0] dst_epoch;
    // Sequence number, for the kinds that have one: from 1 on for each direction. It wraps.
    logic [31:0] seq;
    // First sequence number that has not come from the receiver. Valid if dst_epoch is not 0.
    logic [31:0] ack;
    // First sequence number that the receiver may not send. Valid if dst_epoch is not 0.
    logic [31:0] limit;
    // Number of the group's operation.
    logic [31:0] number;
    // Offset of the payload in its message.
    logic [31:0] offset;
    // Bytes of the whole message.
    logic [31:0] total;
    // The group of cards.
    logic [63:0] group;
  } header_t;

  // Its size in bytes, and where its fields start: bytes from the start of the frame.
  localparam int unsigned HeaderBytes = 50;
  localparam int unsigned HeaderVersionFlagsOffset = 14;
  localparam int unsigned HeaderKindOffset = 15;
  localparam int unsigned HeaderLengthOffset = 16;
  localparam int unsigned HeaderSlotOffset = 18;
  localparam int unsigned HeaderTagOffset = 20;
  localparam int unsigned HeaderReservedOffset = 22;
  localparam int unsigned HeaderSrcEpochOffset = 24;
  localparam int unsigned HeaderDstEpochOffset = 28;
  localparam int unsigned HeaderSeqOffset = 32;
  localparam int unsigned HeaderAckOffset = 36;
  localparam int unsigned HeaderLimitOffset = 40;
  localparam int unsigned HeaderNumberOffset = 44;
  localparam int unsigned HeaderOffsetOffset = 48;
  localparam int unsigned HeaderTotalOffset = 52;
  localparam int unsigned HeaderGroupOffset = 56;

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

  // Who is at this end of the link.
  typedef struct packed {
    // Address of the card's port 0.
    mac_addr_t mac;
    // Number of the port.
    logic [7:0] port;
    // Zero.
    logic [7:0] reserved;
  } neighbour_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned NeighbourBytes = 8;
  localparam int unsigned NeighbourMacOffset = 0;
  localparam int unsigned NeighbourPortOffset = 6;
  localparam int unsigned NeighbourReservedOffset = 7;

  // The first 64 bytes of each frame: 8 words of a 64-bit datapath.
  typedef struct packed {
    mac_addr_t dst;
    mac_addr_t src;
    // One of ether_type_e.
    logic [15:0] ether_type;
    header_t header;
  } frame_head_t;

endpackage : rl_link_pkg
// verilog_format: on
// verilator lint_on UNUSEDPARAM
