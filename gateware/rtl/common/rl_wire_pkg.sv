// Made from protocol/control.toml by `cargo run -p protogen`. Change that file, not this one.
//
// Everything on the wire is big-endian. A packed struct's first field is the first on the wire and
// has the most significant bits. Fields that hold an enum's value are plain vectors, since a peer
// may send a value that this version does not know: compare before you cast.

// A design uses some of this, never all; the generator lays the lines out.
// verilator lint_off UNUSEDPARAM
// verilog_format: off
package rl_wire_pkg;

  // Protocol version.
  localparam logic [3:0] Version = 4'd1;

  // Bytes from the start of the frame to the payload: 14 of Ethernet and 18 of the common header.
  localparam logic [15:0] HeaderEnd = 16'd32;
  // Shortest frame without its check sequence, IEEE 802.3.
  localparam logic [15:0] FrameMin = 16'd60;
  // In an announcement: claims need a tag under a key of the card.
  localparam logic [15:0] AsksKey = 16'd1;
  // In an announcement: images need a signature that counts on the card.
  localparam logic [15:0] AsksSignature = 16'd2;
  // In an announcement: claims need encryption.
  localparam logic [15:0] AsksEncryption = 16'd4;
  // Most payload bytes in a standard frame: 23 beats of 64 bytes (1472 + 18 = 1490 of an MTU of
  // 1500).
  localparam logic [15:0] BulkStandard = 16'd1472;
  // Most payload bytes in a jumbo frame: 140 beats of 64 bytes (MTU 9000).
  localparam logic [15:0] BulkJumbo = 16'd8960;
  // Bulk payloads are multiples of this, one 512-bit DDR beat; only the last of a transfer may be
  // shorter.
  localparam logic [15:0] Beat = 16'd64;
  // A card accepts kernel-input writes with sequence numbers up to this far beyond its first
  // missing one: 256 jumbo frames are 2.2 MiB, the bandwidth-delay product of 10 Gb/s and 1.8 ms.
  localparam logic [31:0] WriteWindow = 32'd256;
  // Bits in the selective-acknowledgement bitmap of an Ack.
  localparam logic [31:0] SackBits = 32'd256;
  // Launches a card holds that are not finished; one more is refused with `busy`.
  localparam logic [31:0] LaunchQueue = 32'd16;
  // Finished launches whose outcome a card keeps until acknowledged; the oldest unacknowledged one
  // blocks new launches.
  localparam logic [31:0] ResultsKept = 32'd32;
  // Most arguments of one launch, 64-bit words.
  localparam logic [31:0] LaunchArgs = 32'd32;
  // Most ranges in one missing-range report: 16 + 182 x 8 = 1472 bytes.
  localparam logic [31:0] MissingRanges = 32'd182;
  // Most report frames one card sends for one poll.
  localparam logic [31:0] MissingFrames = 32'd16;
  // Largest image, 256 MiB: the staging area at the top of a card's DDR.
  localparam logic [63:0] ImageBytesMax = 64'd268435456;
  // Most chunks of an image: a card keeps a bit for each. Of 1472 bytes, as standard frames have
  // them, they hold 92 MiB.
  localparam logic [31:0] ImageChunksMax = 32'd65536;
  // The first MiB of a card's DDR belongs to the role (stack, constants): host reads and writes
  // there are refused.
  localparam logic [63:0] RolePrivate = 64'd1048576;
  // Longest lease a claim may ask for, milliseconds.
  localparam logic [31:0] LeaseMsMax = 32'd60000;
  // Longest time over which a card spreads an answer, microseconds, whatever it is asked: within it
  // a thousand cards answer at a millisecond each, and nobody can put a card's answers off for
  // longer.
  localparam logic [31:0] WindowUsMax = 32'd1000000;

  // An Ethernet address; its first byte on the wire is the most significant.
  typedef logic [47:0] mac_addr_t;

  // Every card listens here: solicitations.
  localparam mac_addr_t CardsAddr = 48'h03524c000001;
  // Every host listens here: announcements.
  localparam mac_addr_t HostsAddr = 48'h03524c000002;
  // Base of the group addresses; the low 16 bits are the group id, so that group 0x1234 is
  // 03:52:4c:01:12:34.
  localparam mac_addr_t GroupAddr = 48'h03524c010000;

  // Flags, bits of the low half of version_flags.
  // This frame, or one like it, was sent before. For statistics only.
  localparam logic [3:0] FlagResend = 4'h1;
  // The sender asks for an acknowledgement of what arrived so far, at once.
  localparam logic [3:0] FlagAckNow = 4'h2;
  // An AuthTrailer of 28 bytes follows the payload, and no padding. A card without keys drops such
  // a frame and counts it; docs/src/internals/authentication.md says which frames a card with a key
  // takes without.
  localparam logic [3:0] FlagAuth = 4'h4;

  // The EtherTypes by which a frame of this family is recognised.
  typedef enum logic [15:0] {
    // Cards announce themselves: at link-up, when solicited, when their state changes, and at slow
    // intervals.
    EtherTypeDiscovery = 16'h80ef,
    // Claims, leases and state. Not in SAF's Table I, which knows one host only.
    EtherTypeSession = 16'h80ec,
    // Image data for reconfiguration, host to card. Begin is unicast and carries the claim's epoch;
    // the others go to the load's group with the group id as epoch, and are taken only from the
    // claim's owner.
    EtherTypeImage = 16'h80aa,
    // What a card says about a load; epoch is the group id, seq the number of the frame it answers
    // (begin, poll or commit).
    EtherTypeImageConfirm = 16'h80ab,
    // Data for kernel arguments, to be saved in DDR; and reads of memory.
    EtherTypeInput = 16'h80dd,
    // Acknowledgements of writes, data of reads, and refusals of either.
    EtherTypeInputConfirm = 16'h80db,
    // Kernel execution commands.
    EtherTypeExec = 16'h80cc,
    // What a launch gave: its status, and its output region pushed from DDR, chunk by chunk, as far
    // as the host's credit allows.
    EtherTypeResult = 16'h80cb
  } ether_type_e;

  // Sub-kinds of EtherTypeDiscovery.
  typedef enum logic [7:0] {
    // Who the card is and what it holds. To HOSTS; to the solicitor alone when solicited. seq
    // counts announcements since boot (a solicited one echoes the solicitation's seq), epoch is the
    // present claim's.
    KindDiscoveryAnnounce = 8'h01,
    // Cards answer after a random part of the given window. To CARDS or to one card.
    KindDiscoverySolicit = 8'h02,
    // The card is about to leave the network in good order. To HOSTS.
    KindDiscoveryGoodbye = 8'h03
  } discovery_kind_e;

  // Sub-kinds of EtherTypeSession.
  typedef enum logic [7:0] {
    // Ask for the card. seq: request number. epoch: the newest epoch this host has held on this
    // card, or 0; the card grants another.
    KindSessionClaim = 8'h01,
    // The claim is granted; epoch is the new one. A repeated claim of the same nonce is granted the
    // same epoch again.
    KindSessionGrant = 8'h02,
    // The request with this seq is refused.
    KindSessionRefuse = 8'h03,
    // Give the card back. Running launches are cancelled.
    KindSessionRelease = 8'h04,
    // Answer to release, also when the epoch is gone already; but a release that asks for zeroed
    // memory and comes too late is refused with `stale-epoch`.
    KindSessionReleased = 8'h05,
    // Renews the lease; asks for the state.
    KindSessionPing = 8'h06,
    // Answer to ping, seq echoed. epoch is the card's present one: a host that sees another than
    // its own has lost the claim.
    KindSessionPong = 8'h07,
    // Ask for the counters, from number addr on. Needs no claim.
    KindSessionCountersGet = 8'h08,
    // 64-bit counters from number addr on, in the order of the counter table.
    KindSessionCounters = 8'h09,
    // Ask for the active image's manifest, from byte addr on. Needs no claim.
    KindSessionManifestGet = 8'h0a,
    // Manifest bytes from addr on; a part shorter than 1472 bytes is the last.
    KindSessionManifest = 8'h0b,
    // Open or close window number addr of the card's memory to nodes of the bridge. seq: request
    // number. A card without a bridge refuses it with `unsupported`.
    KindSessionWindowSet = 8'h0c,
    // The window is as asked; seq and addr are the request's.
    KindSessionWindowDone = 8'h0d,
    // What the role sends on its stream addr goes to this stream of another node, by the bridge.
    // seq: request number. A card without a bridge refuses it with `unsupported`.
    KindSessionRouteSet = 8'h0e,
    // The route is as asked; seq and addr are the request's.
    KindSessionRouteDone = 8'h0f
  } session_kind_e;

  // Sub-kinds of EtherTypeImage.
  typedef enum logic [7:0] {
    // Join group `group` and stage an image of this length and digest. seq: load number, distinct
    // for each load of a claim. Idempotent.
    KindImageBegin = 8'h01,
    // Image bytes at offset addr, a multiple of the load's chunk; all chunks but the last are full.
    KindImageData = 8'h02,
    // Each member answers after a random part of the window: missing ranges, staged, active or
    // failed. seq: poll number.
    KindImagePoll = 8'h03,
    // Activate the staged image. Answered by committed, or active when that is done; a member that
    // is not staged answers with its missing ranges. Idempotent.
    KindImageCommit = 8'h04,
    // Forget the staged image and leave the group.
    KindImageAbort = 8'h05
  } image_kind_e;

  // Sub-kinds of EtherTypeImageConfirm.
  typedef enum logic [7:0] {
    // Begin is accepted.
    KindImageConfirmReady = 8'h01,
    // Ranges of chunks not yet received. To the group, so that at a load's first poll others leave
    // out what they would repeat; from the second on, a card reports all that it lacks.
    KindImageConfirmMissing = 8'h02,
    // All bytes are there, the digest is right and the card can activate the image.
    KindImageConfirmStaged = 8'h03,
    // The image is active.
    KindImageConfirmActive = 8'h04,
    // The commit has arrived and the configuration port is writing. Also the answer to a poll or
    // commit meanwhile.
    KindImageConfirmCommitted = 8'h06,
    // The image is in the card's configuration flash, read back and recorded. Its role is not there
    // before the card has restarted, as a card without role and claim; the same load then makes it
    // active at once.
    KindImageConfirmWritten = 8'h07,
    // The load failed on this card, which goes on serving its old role.
    KindImageConfirmFailed = 8'h05
  } image_confirm_kind_e;

  // Sub-kinds of EtherTypeInput.
  typedef enum logic [7:0] {
    // Bytes for address addr. seq counts the writes of a claim from 1. Written on arrival, in any
    // order, once.
    KindInputWrite = 8'h01,
    // Ask for bytes at addr, at most a frame's bulk payload. seq: request number; reads repeat
    // harmlessly.
    KindInputRead = 8'h02
  } input_kind_e;

  // Sub-kinds of EtherTypeInputConfirm.
  typedef enum logic [7:0] {
    // seq: first write not yet received; the bitmap tells what is there beyond it.
    KindInputConfirmWriteAck = 8'h01,
    // Bytes from addr; seq echoes the request.
    KindInputConfirmReadData = 8'h02,
    // The write or read with this seq is refused. A refused write counts as received.
    KindInputConfirmNak = 8'h03
  } input_confirm_kind_e;

  // Sub-kinds of EtherTypeExec.
  typedef enum logic [7:0] {
    // Execute kernel number addr once. seq counts the launches of a claim from 1; the card takes
    // them in that order, each once however often the frame comes. `args` 64-bit words follow the
    // struct.
    KindExecLaunch = 8'h01,
    // Start held launches: those that were launched with go = seq, by the claim whose group id is
    // epoch. To the claim's group, so that all cards start at once.
    KindExecGo = 8'h02,
    // End launch seq with the status `cancelled`, if it is not done.
    KindExecCancel = 8'h03,
    // Ask what became of launch seq: accepted, done, or a refusal with `unknown-launch`.
    KindExecQuery = 8'h04,
    // Of launch seq's output, these chunks have arrived, and so many may be sent.
    KindExecResultAck = 8'h05
  } exec_kind_e;

  // Sub-kinds of EtherTypeResult.
  typedef enum logic [7:0] {
    // Launch seq is queued, held or running.
    KindResultAccepted = 8'h01,
    // Launch seq has ended. Resent until acknowledged.
    KindResultDone = 8'h02,
    // Bytes of launch seq's output region, at offset addr. Resent until acknowledged.
    KindResultData = 8'h03,
    // Launch seq is not taken now: `busy`, send it again; `stale-epoch` or `unknown-launch`, give
    // up. Any other fault of a launch uses its number up and comes as Done with that status.
    KindResultRefused = 8'h04
  } result_kind_e;

  // Who sends a kind of frame.
  typedef enum logic [1:0] {
    // Hosts send it.
    SenderHost = 2'h1,
    // Cards send it.
    SenderCard = 2'h2
  } sender_e;

  // Who takes a kind of frame.
  typedef enum logic [1:0] {
    // Hosts take it; a card drops it.
    ReceiverHost = 2'h1,
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
    ReachGroup = 2'h2,
    // Any address the receiver listens to.
    ReachAny = 2'h3
  } reach_e;

  // What a card requires of the sender before it acts on a frame.
  typedef enum logic [2:0] {
    // Nothing: anyone may send it.
    ClaimRuleNone = 3'h1,
    // The sender owns the claim, and the frame's epoch is the claim's.
    ClaimRuleEpoch = 3'h2,
    // The sender owns the claim, and the frame's epoch is the claim's group id.
    ClaimRuleGroup = 3'h3,
    // The sender owns the claim, and the frame's epoch is the group id of the card's load.
    ClaimRuleLoad = 3'h4,
    // The frame's epoch is the group id of the card's load; anyone may send it.
    ClaimRuleMember = 3'h5
  } claim_rule_e;

  // What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware
  // what it cannot take.
  typedef enum logic [2:0] {
    // Nothing: only hosts take it.
    TakenByHost = 3'h1,
    // The firmware, from the control ring.
    TakenByFirmware = 3'h2,
    // The hardware path that writes to memory.
    TakenByWrite = 3'h3,
    // The hardware path that reads from memory.
    TakenByRead = 3'h4,
    // The hardware path that stages image data.
    TakenByImage = 3'h5,
    // The hardware path that queues launches.
    TakenByLaunch = 3'h6
  } taken_by_e;

  // How a card made of gateware orders a frame with those its firmware has not finished. A frame to
  // a group address waits for barriers whatever its kind, since a barrier may make the card join
  // the group.
  typedef enum logic [2:0] {
    // It waits for no other frame, and none waits for it.
    OrderNone = 3'h1,
    // It may change claim or load: frames that depend on them wait for its end.
    OrderBarrier = 3'h2,
    // It waits until every barrier before it is finished.
    OrderAfterBarrier = 3'h3,
    // It waits until every frame in the control ring is finished.
    OrderAfterControl = 3'h4
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
  localparam int unsigned EtherTypeCount = 8;
  localparam ether_type_e EtherTypes[EtherTypeCount] = '{
    EtherTypeDiscovery,
    EtherTypeSession,
    EtherTypeImage,
    EtherTypeImageConfirm,
    EtherTypeInput,
    EtherTypeInputConfirm,
    EtherTypeExec,
    EtherTypeResult
  };
  localparam int unsigned KindCount = 44;
  localparam kind_rules_t KindRules[KindCount] = '{
    '{ether_type: EtherTypeDiscovery, kind: KindDiscoveryAnnounce,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeDiscovery, kind: KindDiscoverySolicit,
      from: SenderHost, to: ReceiverCard, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByFirmware, order: OrderNone},
    '{ether_type: EtherTypeDiscovery, kind: KindDiscoveryGoodbye,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionClaim,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByFirmware, order: OrderBarrier},
    '{ether_type: EtherTypeSession, kind: KindSessionGrant,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionRefuse,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionRelease,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByFirmware, order: OrderBarrier},
    '{ether_type: EtherTypeSession, kind: KindSessionReleased,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionPing,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByFirmware, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionPong,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionCountersGet,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByFirmware, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionCounters,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionManifestGet,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleNone, taken_by: TakenByFirmware, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionManifest,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionWindowSet,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByFirmware, order: OrderBarrier},
    '{ether_type: EtherTypeSession, kind: KindSessionWindowDone,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeSession, kind: KindSessionRouteSet,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByFirmware, order: OrderBarrier},
    '{ether_type: EtherTypeSession, kind: KindSessionRouteDone,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeImage, kind: KindImageBegin,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByFirmware, order: OrderBarrier},
    '{ether_type: EtherTypeImage, kind: KindImageData,
      from: SenderHost, to: ReceiverCard, reach: ReachAny, claim: ClaimRuleLoad, taken_by: TakenByImage, order: OrderAfterBarrier},
    '{ether_type: EtherTypeImage, kind: KindImagePoll,
      from: SenderHost, to: ReceiverCard, reach: ReachAny, claim: ClaimRuleLoad, taken_by: TakenByFirmware, order: OrderNone},
    '{ether_type: EtherTypeImage, kind: KindImageCommit,
      from: SenderHost, to: ReceiverCard, reach: ReachAny, claim: ClaimRuleLoad, taken_by: TakenByFirmware, order: OrderBarrier},
    '{ether_type: EtherTypeImage, kind: KindImageAbort,
      from: SenderHost, to: ReceiverCard, reach: ReachAny, claim: ClaimRuleLoad, taken_by: TakenByFirmware, order: OrderBarrier},
    '{ether_type: EtherTypeImageConfirm, kind: KindImageConfirmReady,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeImageConfirm, kind: KindImageConfirmMissing,
      from: SenderCard, to: ReceiverBoth, reach: ReachGroup, claim: ClaimRuleMember, taken_by: TakenByFirmware, order: OrderNone},
    '{ether_type: EtherTypeImageConfirm, kind: KindImageConfirmStaged,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeImageConfirm, kind: KindImageConfirmActive,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeImageConfirm, kind: KindImageConfirmCommitted,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeImageConfirm, kind: KindImageConfirmWritten,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeImageConfirm, kind: KindImageConfirmFailed,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeInput, kind: KindInputWrite,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByWrite, order: OrderAfterBarrier},
    '{ether_type: EtherTypeInput, kind: KindInputRead,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByRead, order: OrderAfterBarrier},
    '{ether_type: EtherTypeInputConfirm, kind: KindInputConfirmWriteAck,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeInputConfirm, kind: KindInputConfirmReadData,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeInputConfirm, kind: KindInputConfirmNak,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeExec, kind: KindExecLaunch,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByLaunch, order: OrderAfterControl},
    '{ether_type: EtherTypeExec, kind: KindExecGo,
      from: SenderHost, to: ReceiverCard, reach: ReachAny, claim: ClaimRuleGroup, taken_by: TakenByFirmware, order: OrderAfterBarrier},
    '{ether_type: EtherTypeExec, kind: KindExecCancel,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByFirmware, order: OrderAfterBarrier},
    '{ether_type: EtherTypeExec, kind: KindExecQuery,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByFirmware, order: OrderAfterBarrier},
    '{ether_type: EtherTypeExec, kind: KindExecResultAck,
      from: SenderHost, to: ReceiverCard, reach: ReachUnicast, claim: ClaimRuleEpoch, taken_by: TakenByFirmware, order: OrderAfterBarrier},
    '{ether_type: EtherTypeResult, kind: KindResultAccepted,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeResult, kind: KindResultDone,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeResult, kind: KindResultData,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone},
    '{ether_type: EtherTypeResult, kind: KindResultRefused,
      from: SenderCard, to: ReceiverHost, reach: ReachAny, claim: ClaimRuleNone, taken_by: TakenByHost, order: OrderNone}
  };

  // What runs a card.
  typedef enum logic [7:0] {
    // The Rust card model.
    CardKindModel = 8'h01,
    // The gateware in a simulator.
    CardKindRtl = 8'h02,
    // Hardware.
    CardKindBoard = 8'h03
  } card_kind_e;

  // What a card is doing.
  typedef enum logic [7:0] {
    // No role.
    CardStateEmpty = 8'h00,
    // A role is active and idle.
    CardStateActive = 8'h01,
    // A kernel runs.
    CardStateRunning = 8'h02,
    // An image is being staged; the old role still serves.
    CardStateLoading = 8'h03,
    // The configuration port is writing; no role serves.
    CardStateConfiguring = 8'h04,
    // An image is in the configuration flash and awaits a restart; no role serves.
    CardStateWritten = 8'h05,
    // Its memory cannot be used: the training of it has failed, or it does not answer. Nothing but
    // its state can be had.
    CardStateFaulty = 8'h06
  } card_state_e;

  // What a card awaits to run the image in its configuration flash.
  typedef enum logic [7:0] {
    // It restarts by itself, at once.
    RestartItself = 8'h01,
    // Nothing on the board lets it restart: a JTAG cable has to give the command REFRESH.
    RestartRefresh = 8'h02
  } restart_e;

  // Why a card announces itself.
  typedef enum logic [7:0] {
    // Its link came up.
    AnnounceReasonLinkUp = 8'h01,
    // It was asked.
    AnnounceReasonSolicited = 8'h02,
    // Its interval passed.
    AnnounceReasonPeriodic = 8'h03,
    // Its image or claim changed.
    AnnounceReasonChanged = 8'h04,
    // Its firmware had failed and has started again: claim, role and launches are gone.
    AnnounceReasonRestarted = 8'h05,
    // Its memory had answered with an error, or not at all, and it has started again: claim, role
    // and launches are gone, and what lies in memory may be wrong.
    AnnounceReasonMemoryFailed = 8'h06,
    // Its role has broken a rule of its ports, was cut off and has started again: claim and memory
    // stay.
    AnnounceReasonRoleFailed = 8'h07
  } announce_reason_e;

  // Whether memory is zeroed.
  typedef enum logic [7:0] {
    // DDR keeps its contents.
    ScrubKeep = 8'h00,
    // DDR is zeroed.
    ScrubZero = 8'h01
  } scrub_e;

  // Why something was refused or failed. The name in lower case with dashes is what tools print.
  typedef enum logic [15:0] {
    // No error.
    ErrorCodeOk = 16'h0000,
    // Another host holds the card.
    ErrorCodeClaimed = 16'h0001,
    // The epoch is not the present claim's.
    ErrorCodeStaleEpoch = 16'h0002,
    // A field is out of its range.
    ErrorCodeBadRequest = 16'h0003,
    // The range is not inside the memory a host may address.
    ErrorCodeBadAddress = 16'h0004,
    // A queue is full, or the card is configuring: try again.
    ErrorCodeBusy = 16'h0005,
    // No image is active.
    ErrorCodeNoRole = 16'h0006,
    // The active image has no kernel of this number.
    ErrorCodeUnknownKernel = 16'h0007,
    // The number of arguments is not the kernel's.
    ErrorCodeBadArguments = 16'h0008,
    // The card knows nothing of this launch.
    ErrorCodeUnknownLaunch = 16'h0009,
    // The card's memory cannot be used.
    ErrorCodeMemoryFault = 16'h000a,
    // The card has no part that could do it.
    ErrorCodeUnsupported = 16'h000b,
    // The card takes claims under a key only.
    ErrorCodeKeyNeeded = 16'h000c,
    // The claim's tag is not of this boot of the card; detail has its boot number, and the refusal
    // a tag.
    ErrorCodeStaleBoot = 16'h000d,
    // The key that the claim has a tag by was revoked on this card.
    ErrorCodeKeyRevoked = 16'h000e,
    // The image is larger than the staging area.
    ErrorCodeImageTooLarge = 16'h0010,
    // The staged bytes do not have the digest announced.
    ErrorCodeImageDigest = 16'h0011,
    // The file is no image, is truncated, or its manifest is malformed.
    ErrorCodeImageFormat = 16'h0012,
    // The image needs another format or shell version.
    ErrorCodeImageVersion = 16'h0013,
    // The image has no part for this kind of card.
    ErrorCodeImageTarget = 16'h0014,
    // The part for this card is not acceptable: invalid module, missing kernel, wrong import.
    ErrorCodeImagePart = 16'h0015,
    // The role needs more memory than the card has.
    ErrorCodeImageMemory = 16'h0016,
    // The image is not signed as the card demands: by whom it knows, and no older than what has
    // run.
    ErrorCodeImageSignature = 16'h0017,
    // The kernel trapped: out of bounds, division by zero, unreachable.
    ErrorCodeKernelTrap = 16'h0020,
    // The kernel ran longer than its bound.
    ErrorCodeKernelFuel = 16'h0021,
    // The launch was cancelled, or its role replaced, before it ended.
    ErrorCodeCancelled = 16'h0022,
    // A node whose memory the kernel used has refused, or is gone.
    ErrorCodeKernelRemote = 16'h0023
  } error_code_e;

  // The common header, bytes 14 to 31 of each frame.
  typedef struct packed {
    // Protocol version in the high four bits, flags in the low four.
    logic [7:0] version_flags;
    // Sub-kind, per EtherType.
    logic [7:0] kind;
    // Payload bytes that follow, without Ethernet padding.
    logic [15:0] length;
    // The claim's epoch (unicast) or the group id (multicast); 0: none.
    logic [15:0] epoch;
    // Sequence or request number; its space depends on the kind.
    logic [31:0] seq;
    // Memory address, image offset or kernel number; its meaning depends on the kind.
    logic [63:0] addr;
  } header_t;

  // Its size in bytes, and where its fields start: bytes from the start of the frame.
  localparam int unsigned HeaderBytes = 18;
  localparam int unsigned HeaderVersionFlagsOffset = 14;
  localparam int unsigned HeaderKindOffset = 15;
  localparam int unsigned HeaderLengthOffset = 16;
  localparam int unsigned HeaderEpochOffset = 18;
  localparam int unsigned HeaderSeqOffset = 20;
  localparam int unsigned HeaderAddrOffset = 24;

  // What authenticates a frame: 28 bytes behind the payload when flag AUTH is set; `length` does
  // not count it.
  typedef struct packed {
    // Of claims, releases and their answers: the generation of the rack's keys that the tag is by.
    // Zero of all else.
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

  // Payload of an announcement. The first 16 bytes are SAF's Fig. 4.
  typedef struct packed {
    // Address of port 0, the one Rackloom uses.
    mac_addr_t mac0;
    // Address of port 1, or zeros.
    mac_addr_t mac1;
    // Vendor id.
    logic [15:0] vendor;
    // Product id.
    logic [15:0] product;
    // Slot or switch setting of the card: its number in the rack.
    logic [15:0] unit;
    // What runs the card. One of card_kind_e.
    logic [7:0] card_kind;
    // What the card is doing. One of card_state_e.
    logic [7:0] state;
    // Why it announces itself. One of announce_reason_e.
    logic [7:0] reason;
    // Network ports.
    logic [7:0] ports;
    // Most payload bytes the card takes and sends in a frame, a multiple of 64.
    logic [15:0] bulk;
    // Random number drawn at each boot: a change tells that the card has restarted.
    logic [31:0] boot;
    // Clock of the role, kHz.
    logic [31:0] clock_khz;
    // DDR bytes the host may address: 0 to memory - 1.
    logic [63:0] memory;
    // Rate of port 0, bits a second.
    logic [63:0] port_rate;
    // Rate at which image data can be staged, bytes a second; 0: as fast as it comes.
    logic [63:0] stage_rate;
    // Rate of the configuration port, bytes a second; 0: instantly.
    logic [63:0] config_rate;
    // The claim's owner, or zeros.
    mac_addr_t owner;
    // What the card asks for, the sum of ASKS_KEY, ASKS_SIGNATURE and ASKS_ENCRYPTION.
    logic [7:0] asks;
    // Kernels that the active image offers.
    logic [7:0] kernels;
    // BLAKE3 digest of the active image, or zeros.
    logic [255:0] digest;
  } announce_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned AnnounceBytes = 104;
  localparam int unsigned AnnounceMac0Offset = 0;
  localparam int unsigned AnnounceMac1Offset = 6;
  localparam int unsigned AnnounceVendorOffset = 12;
  localparam int unsigned AnnounceProductOffset = 14;
  localparam int unsigned AnnounceUnitOffset = 16;
  localparam int unsigned AnnounceCardKindOffset = 18;
  localparam int unsigned AnnounceStateOffset = 19;
  localparam int unsigned AnnounceReasonOffset = 20;
  localparam int unsigned AnnouncePortsOffset = 21;
  localparam int unsigned AnnounceBulkOffset = 22;
  localparam int unsigned AnnounceBootOffset = 24;
  localparam int unsigned AnnounceClockKhzOffset = 28;
  localparam int unsigned AnnounceMemoryOffset = 32;
  localparam int unsigned AnnouncePortRateOffset = 40;
  localparam int unsigned AnnounceStageRateOffset = 48;
  localparam int unsigned AnnounceConfigRateOffset = 56;
  localparam int unsigned AnnounceOwnerOffset = 64;
  localparam int unsigned AnnounceAsksOffset = 70;
  localparam int unsigned AnnounceKernelsOffset = 71;
  localparam int unsigned AnnounceDigestOffset = 72;

  // Payload of a solicitation.
  typedef struct packed {
    // Answers spread over so many microseconds, at random; WINDOW_US_MAX at most, whatever is
    // asked.
    logic [31:0] window_us;
    // Zero.
    logic [31:0] reserved;
  } solicit_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned SolicitBytes = 8;
  localparam int unsigned SolicitWindowUsOffset = 0;
  localparam int unsigned SolicitReservedOffset = 4;

  // Payload of a claim.
  typedef struct packed {
    // Random number of this claim attempt. Another nonce from the same owner takes the claim over:
    // the host has restarted.
    logic [63:0] nonce;
    // The claim ends when the owner was silent so long, 100 to 60000.
    logic [31:0] lease_ms;
    // Group id for Go frames, 0: none.
    logic [15:0] group;
    // Whether DDR is zeroed first. One of scrub_e.
    logic [7:0] scrub;
    // Most payload bytes of a frame that reach the host, in beats of 64; 0: 1472 bytes. The card
    // keeps to it and to its own bulk payload.
    logic [7:0] beats;
  } claim_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ClaimBytes = 16;
  localparam int unsigned ClaimNonceOffset = 0;
  localparam int unsigned ClaimLeaseMsOffset = 8;
  localparam int unsigned ClaimGroupOffset = 12;
  localparam int unsigned ClaimScrubOffset = 14;
  localparam int unsigned ClaimBeatsOffset = 15;

  // Payload of a grant.
  typedef struct packed {
    // The claim's.
    logic [63:0] nonce;
    // The lease granted.
    logic [31:0] lease_ms;
    // The card's boot number.
    logic [31:0] boot;
  } grant_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned GrantBytes = 16;
  localparam int unsigned GrantNonceOffset = 0;
  localparam int unsigned GrantLeaseMsOffset = 8;
  localparam int unsigned GrantBootOffset = 12;

  // Follows a grant's payload in a frame with a tag; an Announce follows it, which the tag makes
  // the card's own word.
  typedef struct packed {
    // Random number of the card for this claim: with the claim's it makes the session's key.
    logic [63:0] card_nonce;
  } proof_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ProofBytes = 8;
  localparam int unsigned ProofCardNonceOffset = 0;

  // Payload of a release.
  typedef struct packed {
    // Whether DDR is zeroed before anyone else can claim the card. One of scrub_e.
    logic [7:0] scrub;
    // Zero.
    logic [55:0] reserved;
  } release_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ReleaseBytes = 8;
  localparam int unsigned ReleaseScrubOffset = 0;
  localparam int unsigned ReleaseReservedOffset = 1;

  // Why something was refused.
  typedef struct packed {
    // The reason. One of error_code_e.
    logic [15:0] code;
    // With `claimed`: the owner of the claim; else zeros.
    mac_addr_t holder;
    // A number that goes with the code: the bound that was passed, the lease left in ms.
    logic [63:0] detail;
  } refusal_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned RefusalBytes = 16;
  localparam int unsigned RefusalCodeOffset = 0;
  localparam int unsigned RefusalHolderOffset = 2;
  localparam int unsigned RefusalDetailOffset = 8;

  // Payload of a window's setting.
  typedef struct packed {
    // First DDR address of the window.
    logic [63:0] base;
    // Its bytes; 0: the window is closed.
    logic [63:0] length;
    // The node that may use it; zeros: any.
    mac_addr_t peer;
    // What it may do: bit 0 reads, bit 1 writes, bit 2 atomic requests, bit 3 streams.
    logic [7:0] rights;
    // Zero.
    logic [7:0] reserved;
  } window_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned WindowBytes = 24;
  localparam int unsigned WindowBaseOffset = 0;
  localparam int unsigned WindowLengthOffset = 8;
  localparam int unsigned WindowPeerOffset = 16;
  localparam int unsigned WindowRightsOffset = 22;
  localparam int unsigned WindowReservedOffset = 23;

  // Payload of a route's setting.
  typedef struct packed {
    // The receiver; zeros: the stream has no route.
    mac_addr_t peer;
    // The stream's number there.
    logic [15:0] stream;
  } route_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned RouteBytes = 8;
  localparam int unsigned RoutePeerOffset = 0;
  localparam int unsigned RouteStreamOffset = 6;

  // Payload of a pong.
  typedef struct packed {
    // The card's boot number.
    logic [31:0] boot;
    // What the card is doing. One of card_state_e.
    logic [7:0] state;
    // Launches accepted and not finished.
    logic [7:0] queued;
    // Zero.
    logic [15:0] reserved;
    // Nanoseconds since boot.
    logic [63:0] uptime_ns;
  } pong_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned PongBytes = 16;
  localparam int unsigned PongBootOffset = 0;
  localparam int unsigned PongStateOffset = 4;
  localparam int unsigned PongQueuedOffset = 5;
  localparam int unsigned PongReservedOffset = 6;
  localparam int unsigned PongUptimeNsOffset = 8;

  // Payload of a load's begin.
  typedef struct packed {
    // Image bytes, 1 to 256 MiB.
    logic [63:0] length;
    // Bytes in each data frame but the last, a multiple of 64.
    logic [15:0] chunk;
    // Group id of this load, not 0.
    logic [15:0] group;
    // Cards in this load, for the jitter.
    logic [31:0] members;
    // BLAKE3 digest of the whole image.
    logic [255:0] digest;
  } image_begin_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ImageBeginBytes = 48;
  localparam int unsigned ImageBeginLengthOffset = 0;
  localparam int unsigned ImageBeginChunkOffset = 8;
  localparam int unsigned ImageBeginGroupOffset = 10;
  localparam int unsigned ImageBeginMembersOffset = 12;
  localparam int unsigned ImageBeginDigestOffset = 16;

  // Follows a begin's payload in a session that is encrypted, and there always.
  typedef struct packed {
    // Of the load: what the payloads of its data are encrypted under.
    logic [127:0] key;
  } begin_key_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned BeginKeyBytes = 16;
  localparam int unsigned BeginKeyKeyOffset = 0;

  // Payload of a poll.
  typedef struct packed {
    // Answers spread over so many microseconds, at random; WINDOW_US_MAX at most.
    logic [31:0] window_us;
    // Zero.
    logic [31:0] reserved;
  } poll_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned PollBytes = 8;
  localparam int unsigned PollWindowUsOffset = 0;
  localparam int unsigned PollReservedOffset = 4;

  // Head of a missing-range report; `ranges` chunk ranges follow.
  // Not in the struct, since its number varies: range, chunk_range_t.
  typedef struct packed {
    // Chunks the card lacks in all, also those it does not list.
    logic [31:0] missing;
    // Ranges that follow, at most 182.
    logic [15:0] ranges;
    // Further report frames of this poll that follow.
    logic [15:0] more;
    // Zero.
    logic [63:0] reserved;
  } missing_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned MissingBytes = 16;
  localparam int unsigned MissingMissingOffset = 0;
  localparam int unsigned MissingRangesOffset = 4;
  localparam int unsigned MissingMoreOffset = 6;
  localparam int unsigned MissingReservedOffset = 8;

  // One range of a missing-range report. An empty one, or one that passes 2^32, makes the report
  // malformed.
  typedef struct packed {
    // First chunk that is missing.
    logic [31:0] first;
    // How many are missing from there on.
    logic [31:0] chunks;
  } chunk_range_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ChunkRangeBytes = 8;
  localparam int unsigned ChunkRangeFirstOffset = 0;
  localparam int unsigned ChunkRangeChunksOffset = 4;

  // Payload of an activation's confirmation.
  typedef struct packed {
    // BLAKE3 digest of the image that is now active.
    logic [255:0] digest;
    // Time the configuration port took, nanoseconds.
    logic [63:0] configure_ns;
  } active_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ActiveBytes = 40;
  localparam int unsigned ActiveDigestOffset = 0;
  localparam int unsigned ActiveConfigureNsOffset = 32;

  // Payload of a confirmation that an image is in the configuration flash.
  typedef struct packed {
    // BLAKE3 digest of the image.
    logic [255:0] digest;
    // Time the configuration port took, nanoseconds.
    logic [63:0] write_ns;
    // What the card awaits. One of restart_e.
    logic [7:0] restart;
    // Zero.
    logic [55:0] reserved;
  } written_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned WrittenBytes = 48;
  localparam int unsigned WrittenDigestOffset = 0;
  localparam int unsigned WrittenWriteNsOffset = 32;
  localparam int unsigned WrittenRestartOffset = 40;
  localparam int unsigned WrittenReservedOffset = 41;

  // Why a load failed; up to 64 bytes of UTF-8 text may follow.
  // Not in the struct, since its number varies: text, UTF-8 text to the payload's end.
  typedef struct packed {
    // The reason. One of error_code_e.
    logic [15:0] code;
    // Zero.
    logic [47:0] reserved;
  } failure_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned FailureBytes = 8;
  localparam int unsigned FailureCodeOffset = 0;
  localparam int unsigned FailureReservedOffset = 2;

  // Payload of a memory read.
  typedef struct packed {
    // Bytes, 1 to the card's bulk payload.
    logic [31:0] length;
    // Zero.
    logic [31:0] reserved;
  } read_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ReadBytes = 8;
  localparam int unsigned ReadLengthOffset = 0;
  localparam int unsigned ReadReservedOffset = 4;

  // Selective acknowledgement: bit i (byte i / 8, bit i % 8, least significant first) stands for
  // number first + 1 + i, where first is the frame's seq, itself missing.
  typedef struct packed {
    // What is there beyond the first missing one.
    logic [255:0] bitmap;
  } ack_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned AckBytes = 32;
  localparam int unsigned AckBitmapOffset = 0;

  // Head of a launch; `args` 64-bit words follow.
  // Not in the struct, since its number varies: arg, 64-bit words.
  typedef struct packed {
    // Most role clock cycles the kernel may take; 0: the card's own bound.
    logic [63:0] fuel;
    // DDR address of the output region.
    logic [63:0] out_addr;
    // Bytes of the output region to push when the kernel is done; 0: none.
    logic [63:0] out_length;
    // 0: start at once; else hold until a Go with this seq.
    logic [31:0] go;
    // Chunks of output the card may send unasked.
    logic [15:0] credit;
    // Argument words that follow.
    logic [15:0] args;
  } launch_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned LaunchBytes = 32;
  localparam int unsigned LaunchFuelOffset = 0;
  localparam int unsigned LaunchOutAddrOffset = 8;
  localparam int unsigned LaunchOutLengthOffset = 16;
  localparam int unsigned LaunchGoOffset = 24;
  localparam int unsigned LaunchCreditOffset = 28;
  localparam int unsigned LaunchArgsOffset = 30;

  // Payload of a launch's end.
  typedef struct packed {
    // 0: success. One of error_code_e.
    logic [15:0] status;
    // Bytes in each data frame but the last.
    logic [15:0] chunk;
    // Data frames of the output.
    logic [31:0] chunks;
    // What the kernel returned.
    logic [63:0] value;
    // Role clock cycles it took.
    logic [63:0] cycles;
    // Card time when it started, nanoseconds since boot.
    logic [63:0] started_ns;
    // Card time when it ended.
    logic [63:0] finished_ns;
  } done_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned DoneBytes = 40;
  localparam int unsigned DoneStatusOffset = 0;
  localparam int unsigned DoneChunkOffset = 2;
  localparam int unsigned DoneChunksOffset = 4;
  localparam int unsigned DoneValueOffset = 8;
  localparam int unsigned DoneCyclesOffset = 16;
  localparam int unsigned DoneStartedNsOffset = 24;
  localparam int unsigned DoneFinishedNsOffset = 32;

  // Acknowledges output chunks and grants credit.
  typedef struct packed {
    // First chunk not yet received; equal to `chunks` with done = 1, the launch is forgotten.
    logic [31:0] next;
    // Chunks below this number may be sent.
    logic [31:0] limit;
    // 1: the Done frame has arrived.
    logic [7:0] done;
    // Zero.
    logic [55:0] reserved;
    // As in Ack: bit i stands for chunk next + 1 + i.
    logic [255:0] bitmap;
  } result_ack_t;

  // Its size in bytes, and where its fields start: bytes from the start of the payload.
  localparam int unsigned ResultAckBytes = 48;
  localparam int unsigned ResultAckNextOffset = 0;
  localparam int unsigned ResultAckLimitOffset = 4;
  localparam int unsigned ResultAckDoneOffset = 8;
  localparam int unsigned ResultAckReservedOffset = 9;
  localparam int unsigned ResultAckBitmapOffset = 16;

  // The first 32 bytes of each frame: 4 words of a 64-bit datapath.
  typedef struct packed {
    mac_addr_t dst;
    mac_addr_t src;
    // One of ether_type_e.
    logic [15:0] ether_type;
    header_t header;
  } frame_head_t;

  // A card's counters: their numbers on the wire.
  typedef enum logic [7:0] {
    // Frames received.
    CounterRxFrames = 8'h00,
    // Bytes received, without check sequence.
    CounterRxBytes = 8'h01,
    // Frames sent.
    CounterTxFrames = 8'h02,
    // Bytes sent, without check sequence.
    CounterTxBytes = 8'h03,
    // Dropped: not for this card, not a Rackloom EtherType, or come in on a port that no service
    // takes.
    CounterDropForeign = 8'h04,
    // Dropped: shorter than its header or its length says.
    CounterDropTruncated = 8'h05,
    // Dropped: another protocol version.
    CounterDropVersion = 8'h06,
    // Dropped: unknown kind, or one that only cards send.
    CounterDropKind = 8'h07,
    // Dropped: authenticated, and the card has no key.
    CounterDropAuth = 8'h08,
    // Dropped: wrong epoch or group, or not from the owner.
    CounterDropEpoch = 8'h09,
    // Dropped: a payload that is not what its kind requires.
    CounterDropMalformed = 8'h0a,
    // Dropped: a write, chunk or launch that was there already.
    CounterDropDuplicate = 8'h0b,
    // Dropped: a sequence number beyond the window or out of order.
    CounterDropWindow = 8'h0c,
    // Announcements sent.
    CounterAnnounces = 8'h0d,
    // Claims granted.
    CounterClaims = 8'h0e,
    // Claims that ended because the owner was silent.
    CounterLeasesExpired = 8'h0f,
    // Image chunks staged.
    CounterImageChunks = 8'h10,
    // Missing-range reports sent.
    CounterImageReports = 8'h11,
    // Chunks left out of a report because another card had reported them.
    CounterImageSuppressed = 8'h12,
    // Images activated.
    CounterImagesActivated = 8'h13,
    // Loads that failed on this card.
    CounterImagesFailed = 8'h14,
    // Memory writes performed.
    CounterWrites = 8'h15,
    // Bytes written.
    CounterWriteBytes = 8'h16,
    // Memory reads answered.
    CounterReads = 8'h17,
    // Bytes read.
    CounterReadBytes = 8'h18,
    // Launches accepted.
    CounterLaunches = 8'h19,
    // Kernels that ended with success.
    CounterKernelsDone = 8'h1a,
    // Kernels that ended with an error.
    CounterKernelsFailed = 8'h1b,
    // Role clock cycles spent in kernels.
    CounterKernelCycles = 8'h1c,
    // Output chunks sent the first time.
    CounterResultChunks = 8'h1d,
    // Done frames and output chunks sent again.
    CounterResultResends = 8'h1e,
    // Requests refused.
    CounterRefusals = 8'h1f,
    // Dropped: a read, an image chunk, an answer, a solicitation or a stream's message for which a
    // queue had no room.
    CounterDropQueue = 8'h20,
    // 64-bit words received, a frame's last one counted whole: with rx_bytes and the clock this
    // tells how busy the receive path was.
    CounterRxWords = 8'h21,
    // 64-bit words sent, a frame's last one counted whole.
    CounterTxWords = 8'h22,
    // Dropped: the frame's check sequence was wrong. Where a network card or a switch sees to that,
    // it stays 0.
    CounterDropCheck = 8'h23,
    // Frames of the bridge received and taken.
    CounterBridgeRx = 8'h24,
    // Frames of the bridge sent.
    CounterBridgeTx = 8'h25,
    // Dropped: a frame of the bridge that is not of its subnet, has the source of another node, or
    // has passed a router.
    CounterBridgeDropForeign = 8'h26,
    // Dropped: a frame of the bridge with another version, an unknown kind, or lengths that do not
    // fit.
    CounterBridgeDropMalformed = 8'h27,
    // Dropped: a frame of the bridge from an earlier life of its sender, or for an earlier one of
    // this card.
    CounterBridgeDropEpoch = 8'h28,
    // Dropped: a frame of the bridge that had come before.
    CounterBridgeDropDuplicate = 8'h29,
    // Requests of nodes that no window allows.
    CounterBridgeDenied = 8'h2a,
    // Frames of the bridge sent again.
    CounterBridgeResent = 8'h2b,
    // Frames that came in on one port and left on another.
    CounterPassedFrames = 8'h2c,
    // Dropped by a card with a key: a frame without a tag that is taken under a tag only.
    CounterAuthUntagged = 8'h2d,
    // Dropped by a card with a key: a tag from an address that no host with a key has, or that
    // holds no claim.
    CounterAuthUnknown = 8'h2e,
    // Dropped by a card with a key: the tag is wrong. Forged, changed, or of a claim that a restart
    // has ended.
    CounterAuthWrong = 8'h2f,
    // Dropped by a card with a key: the frame's counter was used before, or is too old to tell.
    CounterAuthReplay = 8'h30
  } counter_e;

  // How many counters there are.
  localparam int unsigned CounterCount = 49;
  // How many every card counts. The others are of parts that a card may lack, which then reports 0.
  localparam int unsigned CommonCounterCount = 36;

endpackage : rl_wire_pkg
// verilog_format: on
// verilator lint_on UNUSEDPARAM
