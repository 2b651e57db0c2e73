//! Constants, kinds, enums and zero-copy views of the control family.
//!
//! Made from protocol/control.toml by `cargo run -p protogen`. Change that file, not this one.

use zerocopy::byteorder::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::rules::{ClaimRule, Order, Reach, Receiver, Rules, Sender, TakenBy};
use crate::MacAddr;

/// Protocol version.
pub const VERSION: u8 = 1;
/// Bytes from the start of the frame to the payload: 14 of Ethernet and 18 of the common header.
pub const HEADER_END: u16 = 32;
/// Shortest frame without its check sequence, IEEE 802.3.
pub const FRAME_MIN: u16 = 60;
/// In an announcement: claims need a tag under a key of the card.
pub const ASKS_KEY: u16 = 1;
/// In an announcement: images need a signature that counts on the card.
pub const ASKS_SIGNATURE: u16 = 2;
/// In an announcement: claims need encryption.
pub const ASKS_ENCRYPTION: u16 = 4;
/// Most payload bytes in a standard frame: 23 beats of 64 bytes (1472 + 18 = 1490 of an MTU of 1500).
pub const BULK_STANDARD: u16 = 1472;
/// Most payload bytes in a jumbo frame: 140 beats of 64 bytes (MTU 9000).
pub const BULK_JUMBO: u16 = 8960;
/// Bulk payloads are multiples of this, one 512-bit DDR beat; only the last of a transfer may be shorter.
pub const BEAT: u16 = 64;
/// A card accepts kernel-input writes with sequence numbers up to this far beyond its first missing one: 256 jumbo
/// frames are 2.2 MiB, the bandwidth-delay product of 10 Gb/s and 1.8 ms.
pub const WRITE_WINDOW: u32 = 256;
/// Bits in the selective-acknowledgement bitmap of an Ack.
pub const SACK_BITS: u32 = 256;
/// Launches a card holds that are not finished; one more is refused with `busy`.
pub const LAUNCH_QUEUE: u32 = 16;
/// Finished launches whose outcome a card keeps until acknowledged; the oldest unacknowledged one blocks new launches.
pub const RESULTS_KEPT: u32 = 32;
/// Most arguments of one launch, 64-bit words.
pub const LAUNCH_ARGS: u32 = 32;
/// Most ranges in one missing-range report: 16 + 182 x 8 = 1472 bytes.
pub const MISSING_RANGES: u32 = 182;
/// Most report frames one card sends for one poll.
pub const MISSING_FRAMES: u32 = 16;
/// Largest image, 256 MiB: the staging area at the top of a card's DDR.
pub const IMAGE_BYTES_MAX: u64 = 268435456;
/// Most chunks of an image: a card keeps a bit for each. Of 1472 bytes, as standard frames have them, they hold 92 MiB.
pub const IMAGE_CHUNKS_MAX: u32 = 65536;
/// The first MiB of a card's DDR belongs to the role (stack, constants): host reads and writes there are refused.
pub const ROLE_PRIVATE: u64 = 1048576;
/// Longest lease a claim may ask for, milliseconds.
pub const LEASE_MS_MAX: u32 = 60000;
/// Longest time over which a card spreads an answer, microseconds, whatever it is asked: within it a thousand cards
/// answer at a millisecond each, and nobody can put a card's answers off for longer.
pub const WINDOW_US_MAX: u32 = 1000000;
/// Every card listens here: solicitations.
pub const CARDS: MacAddr = MacAddr([0x03, 0x52, 0x4c, 0x00, 0x00, 0x01]);
/// Every host listens here: announcements.
pub const HOSTS: MacAddr = MacAddr([0x03, 0x52, 0x4c, 0x00, 0x00, 0x02]);
/// Base of the group addresses; the low 16 bits are the group id, so that group 0x1234 is 03:52:4c:01:12:34.
pub const GROUP: MacAddr = MacAddr([0x03, 0x52, 0x4c, 0x01, 0x00, 0x00]);
/// This frame, or one like it, was sent before. For statistics only.
pub const FLAG_RESEND: u8 = 1 << 0;
/// The sender asks for an acknowledgement of what arrived so far, at once.
pub const FLAG_ACK_NOW: u8 = 1 << 1;
/// An AuthTrailer of 28 bytes follows the payload, and no padding. A card without keys drops such a frame and counts
/// it; docs/src/internals/authentication.md says which frames a card with a key takes without.
pub const FLAG_AUTH: u8 = 1 << 2;
/// Of a claim: the host wants the session encrypted; of a grant: it is. Of all else: the payload is ciphertext, and its
/// key is the session's or, of image data, the load's. docs/src/reference/keys.md says how.
pub const FLAG_ENCRYPTED: u8 = 1 << 3;

/// The EtherTypes by which a frame of this family is recognised.
pub mod ethertype {
    /// Cards announce themselves: at link-up, when solicited, when their state changes, and at slow intervals.
    pub const DISCOVERY: u16 = 0x80EF;
    /// Claims, leases and state. Not in SAF's Table I, which knows one host only.
    pub const SESSION: u16 = 0x80EC;
    /// Image data for reconfiguration, host to card. Begin is unicast and carries the claim's epoch; the others go to
    /// the load's group with the group id as epoch, and are taken only from the claim's owner.
    pub const IMAGE: u16 = 0x80AA;
    /// What a card says about a load; epoch is the group id, seq the number of the frame it answers (begin, poll or
    /// commit).
    pub const IMAGE_CONFIRM: u16 = 0x80AB;
    /// Data for kernel arguments, to be saved in DDR; and reads of memory.
    pub const INPUT: u16 = 0x80DD;
    /// Acknowledgements of writes, data of reads, and refusals of either.
    pub const INPUT_CONFIRM: u16 = 0x80DB;
    /// Kernel execution commands.
    pub const EXEC: u16 = 0x80CC;
    /// What a launch gave: its status, and its output region pushed from DDR, chunk by chunk, as far as the host's
    /// credit allows.
    pub const RESULT: u16 = 0x80CB;
    /// All of them.
    pub const ALL: [u16; 8] = [DISCOVERY, SESSION, IMAGE, IMAGE_CONFIRM, INPUT, INPUT_CONFIRM, EXEC, RESULT];
}

/// What a frame is: its EtherType and sub-kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Kind {
    /// Who the card is and what it holds. To HOSTS; to the solicitor alone when solicited. seq counts announcements
    /// since boot (a solicited one echoes the solicitation's seq), epoch is the present claim's.
    DiscoveryAnnounce = 0x80EF01,
    /// Cards answer after a random part of the given window. To CARDS or to one card.
    DiscoverySolicit = 0x80EF02,
    /// The card is about to leave the network in good order. To HOSTS.
    DiscoveryGoodbye = 0x80EF03,
    /// Ask for the card. seq: request number. epoch: the newest epoch this host has held on this card, or 0; the card
    /// grants another.
    SessionClaim = 0x80EC01,
    /// The claim is granted; epoch is the new one. A repeated claim of the same nonce is granted the same epoch again.
    SessionGrant = 0x80EC02,
    /// The request with this seq is refused.
    SessionRefuse = 0x80EC03,
    /// Give the card back. Running launches are cancelled.
    SessionRelease = 0x80EC04,
    /// Answer to release, also when the epoch is gone already; but a release that asks for zeroed memory and comes too
    /// late is refused with `stale-epoch`.
    SessionReleased = 0x80EC05,
    /// Renews the lease; asks for the state.
    SessionPing = 0x80EC06,
    /// Answer to ping, seq echoed. epoch is the card's present one: a host that sees another than its own has lost the
    /// claim.
    SessionPong = 0x80EC07,
    /// Ask for the counters, from number addr on. Needs no claim.
    SessionCountersGet = 0x80EC08,
    /// 64-bit counters from number addr on, in the order of the counter table.
    SessionCounters = 0x80EC09,
    /// Ask for the active image's manifest, from byte addr on. Needs no claim.
    SessionManifestGet = 0x80EC0A,
    /// Manifest bytes from addr on; a part shorter than 1472 bytes is the last.
    SessionManifest = 0x80EC0B,
    /// Open or close window number addr of the card's memory to nodes of the bridge. seq: request number. A card
    /// without a bridge refuses it with `unsupported`.
    SessionWindowSet = 0x80EC0C,
    /// The window is as asked; seq and addr are the request's.
    SessionWindowDone = 0x80EC0D,
    /// What the role sends on its stream addr goes to this stream of another node, by the bridge. seq: request number.
    /// A card without a bridge refuses it with `unsupported`.
    SessionRouteSet = 0x80EC0E,
    /// The route is as asked; seq and addr are the request's.
    SessionRouteDone = 0x80EC0F,
    /// Join group `group` and stage an image of this length and digest. seq: load number, distinct for each load of a
    /// claim. Idempotent.
    ImageBegin = 0x80AA01,
    /// Image bytes at offset addr, a multiple of the load's chunk; all chunks but the last are full.
    ImageData = 0x80AA02,
    /// Each member answers after a random part of the window: missing ranges, staged, active or failed. seq: poll
    /// number.
    ImagePoll = 0x80AA03,
    /// Activate the staged image. Answered by committed, or active when that is done; a member that is not staged
    /// answers with its missing ranges. Idempotent.
    ImageCommit = 0x80AA04,
    /// Forget the staged image and leave the group.
    ImageAbort = 0x80AA05,
    /// Begin is accepted.
    ImageConfirmReady = 0x80AB01,
    /// Ranges of chunks not yet received. To the group, so that at a load's first poll others leave out what they would
    /// repeat; from the second on, a card reports all that it lacks.
    ImageConfirmMissing = 0x80AB02,
    /// All bytes are there, the digest is right and the card can activate the image.
    ImageConfirmStaged = 0x80AB03,
    /// The image is active.
    ImageConfirmActive = 0x80AB04,
    /// The commit has arrived and the configuration port is writing. Also the answer to a poll or commit meanwhile.
    ImageConfirmCommitted = 0x80AB06,
    /// The image is in the card's configuration flash, read back and recorded. Its role is not there before the card
    /// has restarted, as a card without role and claim; the same load then makes it active at once.
    ImageConfirmWritten = 0x80AB07,
    /// The load failed on this card, which goes on serving its old role.
    ImageConfirmFailed = 0x80AB05,
    /// Bytes for address addr. seq counts the writes of a claim from 1. Written on arrival, in any order, once.
    InputWrite = 0x80DD01,
    /// Ask for bytes at addr, at most a frame's bulk payload. seq: request number; reads repeat harmlessly.
    InputRead = 0x80DD02,
    /// seq: first write not yet received; the bitmap tells what is there beyond it.
    InputConfirmWriteAck = 0x80DB01,
    /// Bytes from addr; seq echoes the request.
    InputConfirmReadData = 0x80DB02,
    /// The write or read with this seq is refused. A refused write counts as received.
    InputConfirmNak = 0x80DB03,
    /// Execute kernel number addr once. seq counts the launches of a claim from 1; the card takes them in that order,
    /// each once however often the frame comes. `args` 64-bit words follow the struct.
    ExecLaunch = 0x80CC01,
    /// Start held launches: those that were launched with go = seq, by the claim whose group id is epoch. To the
    /// claim's group, so that all cards start at once.
    ExecGo = 0x80CC02,
    /// End launch seq with the status `cancelled`, if it is not done.
    ExecCancel = 0x80CC03,
    /// Ask what became of launch seq: accepted, done, or a refusal with `unknown-launch`.
    ExecQuery = 0x80CC04,
    /// Of launch seq's output, these chunks have arrived, and so many may be sent.
    ExecResultAck = 0x80CC05,
    /// Launch seq is queued, held or running.
    ResultAccepted = 0x80CB01,
    /// Launch seq has ended. Resent until acknowledged.
    ResultDone = 0x80CB02,
    /// Bytes of launch seq's output region, at offset addr. Resent until acknowledged.
    ResultData = 0x80CB03,
    /// Launch seq is not taken now: `busy`, send it again; `stale-epoch` or `unknown-launch`, give up. Any other fault
    /// of a launch uses its number up and comes as Done with that status.
    ResultRefused = 0x80CB04,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 44] = [
        Self::DiscoveryAnnounce,
        Self::DiscoverySolicit,
        Self::DiscoveryGoodbye,
        Self::SessionClaim,
        Self::SessionGrant,
        Self::SessionRefuse,
        Self::SessionRelease,
        Self::SessionReleased,
        Self::SessionPing,
        Self::SessionPong,
        Self::SessionCountersGet,
        Self::SessionCounters,
        Self::SessionManifestGet,
        Self::SessionManifest,
        Self::SessionWindowSet,
        Self::SessionWindowDone,
        Self::SessionRouteSet,
        Self::SessionRouteDone,
        Self::ImageBegin,
        Self::ImageData,
        Self::ImagePoll,
        Self::ImageCommit,
        Self::ImageAbort,
        Self::ImageConfirmReady,
        Self::ImageConfirmMissing,
        Self::ImageConfirmStaged,
        Self::ImageConfirmActive,
        Self::ImageConfirmCommitted,
        Self::ImageConfirmWritten,
        Self::ImageConfirmFailed,
        Self::InputWrite,
        Self::InputRead,
        Self::InputConfirmWriteAck,
        Self::InputConfirmReadData,
        Self::InputConfirmNak,
        Self::ExecLaunch,
        Self::ExecGo,
        Self::ExecCancel,
        Self::ExecQuery,
        Self::ExecResultAck,
        Self::ResultAccepted,
        Self::ResultDone,
        Self::ResultData,
        Self::ResultRefused,
    ];

    /// The kind with this EtherType and sub-kind.
    pub const fn from_wire(ethertype: u16, kind: u8) -> Option<Self> {
        Some(match (ethertype, kind) {
            (0x80EF, 1) => Self::DiscoveryAnnounce,
            (0x80EF, 2) => Self::DiscoverySolicit,
            (0x80EF, 3) => Self::DiscoveryGoodbye,
            (0x80EC, 1) => Self::SessionClaim,
            (0x80EC, 2) => Self::SessionGrant,
            (0x80EC, 3) => Self::SessionRefuse,
            (0x80EC, 4) => Self::SessionRelease,
            (0x80EC, 5) => Self::SessionReleased,
            (0x80EC, 6) => Self::SessionPing,
            (0x80EC, 7) => Self::SessionPong,
            (0x80EC, 8) => Self::SessionCountersGet,
            (0x80EC, 9) => Self::SessionCounters,
            (0x80EC, 10) => Self::SessionManifestGet,
            (0x80EC, 11) => Self::SessionManifest,
            (0x80EC, 12) => Self::SessionWindowSet,
            (0x80EC, 13) => Self::SessionWindowDone,
            (0x80EC, 14) => Self::SessionRouteSet,
            (0x80EC, 15) => Self::SessionRouteDone,
            (0x80AA, 1) => Self::ImageBegin,
            (0x80AA, 2) => Self::ImageData,
            (0x80AA, 3) => Self::ImagePoll,
            (0x80AA, 4) => Self::ImageCommit,
            (0x80AA, 5) => Self::ImageAbort,
            (0x80AB, 1) => Self::ImageConfirmReady,
            (0x80AB, 2) => Self::ImageConfirmMissing,
            (0x80AB, 3) => Self::ImageConfirmStaged,
            (0x80AB, 4) => Self::ImageConfirmActive,
            (0x80AB, 6) => Self::ImageConfirmCommitted,
            (0x80AB, 7) => Self::ImageConfirmWritten,
            (0x80AB, 5) => Self::ImageConfirmFailed,
            (0x80DD, 1) => Self::InputWrite,
            (0x80DD, 2) => Self::InputRead,
            (0x80DB, 1) => Self::InputConfirmWriteAck,
            (0x80DB, 2) => Self::InputConfirmReadData,
            (0x80DB, 3) => Self::InputConfirmNak,
            (0x80CC, 1) => Self::ExecLaunch,
            (0x80CC, 2) => Self::ExecGo,
            (0x80CC, 3) => Self::ExecCancel,
            (0x80CC, 4) => Self::ExecQuery,
            (0x80CC, 5) => Self::ExecResultAck,
            (0x80CB, 1) => Self::ResultAccepted,
            (0x80CB, 2) => Self::ResultDone,
            (0x80CB, 3) => Self::ResultData,
            (0x80CB, 4) => Self::ResultRefused,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DiscoveryAnnounce => "discovery.announce",
            Self::DiscoverySolicit => "discovery.solicit",
            Self::DiscoveryGoodbye => "discovery.goodbye",
            Self::SessionClaim => "session.claim",
            Self::SessionGrant => "session.grant",
            Self::SessionRefuse => "session.refuse",
            Self::SessionRelease => "session.release",
            Self::SessionReleased => "session.released",
            Self::SessionPing => "session.ping",
            Self::SessionPong => "session.pong",
            Self::SessionCountersGet => "session.counters-get",
            Self::SessionCounters => "session.counters",
            Self::SessionManifestGet => "session.manifest-get",
            Self::SessionManifest => "session.manifest",
            Self::SessionWindowSet => "session.window-set",
            Self::SessionWindowDone => "session.window-done",
            Self::SessionRouteSet => "session.route-set",
            Self::SessionRouteDone => "session.route-done",
            Self::ImageBegin => "image.begin",
            Self::ImageData => "image.data",
            Self::ImagePoll => "image.poll",
            Self::ImageCommit => "image.commit",
            Self::ImageAbort => "image.abort",
            Self::ImageConfirmReady => "image-confirm.ready",
            Self::ImageConfirmMissing => "image-confirm.missing",
            Self::ImageConfirmStaged => "image-confirm.staged",
            Self::ImageConfirmActive => "image-confirm.active",
            Self::ImageConfirmCommitted => "image-confirm.committed",
            Self::ImageConfirmWritten => "image-confirm.written",
            Self::ImageConfirmFailed => "image-confirm.failed",
            Self::InputWrite => "input.write",
            Self::InputRead => "input.read",
            Self::InputConfirmWriteAck => "input-confirm.write-ack",
            Self::InputConfirmReadData => "input-confirm.read-data",
            Self::InputConfirmNak => "input-confirm.nak",
            Self::ExecLaunch => "exec.launch",
            Self::ExecGo => "exec.go",
            Self::ExecCancel => "exec.cancel",
            Self::ExecQuery => "exec.query",
            Self::ExecResultAck => "exec.result-ack",
            Self::ResultAccepted => "result.accepted",
            Self::ResultDone => "result.done",
            Self::ResultData => "result.data",
            Self::ResultRefused => "result.refused",
        }
    }

    /// The rules of this kind.
    pub const fn rules(self) -> Rules {
        match self {
            Self::DiscoveryAnnounce => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::DiscoverySolicit => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Firmware,
                order: Order::None,
            },
            Self::DiscoveryGoodbye => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionClaim => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Firmware,
                order: Order::Barrier,
            },
            Self::SessionGrant => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionRefuse => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionRelease => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Firmware,
                order: Order::Barrier,
            },
            Self::SessionReleased => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionPing => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Firmware,
                order: Order::None,
            },
            Self::SessionPong => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionCountersGet => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Firmware,
                order: Order::None,
            },
            Self::SessionCounters => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionManifestGet => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::None,
                taken_by: TakenBy::Firmware,
                order: Order::None,
            },
            Self::SessionManifest => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionWindowSet => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Firmware,
                order: Order::Barrier,
            },
            Self::SessionWindowDone => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::SessionRouteSet => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Firmware,
                order: Order::Barrier,
            },
            Self::SessionRouteDone => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ImageBegin => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Firmware,
                order: Order::Barrier,
            },
            Self::ImageData => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Any,
                claim: ClaimRule::Load,
                taken_by: TakenBy::Image,
                order: Order::AfterBarrier,
            },
            Self::ImagePoll => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Any,
                claim: ClaimRule::Load,
                taken_by: TakenBy::Firmware,
                order: Order::None,
            },
            Self::ImageCommit => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Any,
                claim: ClaimRule::Load,
                taken_by: TakenBy::Firmware,
                order: Order::Barrier,
            },
            Self::ImageAbort => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Any,
                claim: ClaimRule::Load,
                taken_by: TakenBy::Firmware,
                order: Order::Barrier,
            },
            Self::ImageConfirmReady => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ImageConfirmMissing => Rules {
                from: Sender::Card,
                to: Receiver::Both,
                reach: Reach::Group,
                claim: ClaimRule::Member,
                taken_by: TakenBy::Firmware,
                order: Order::None,
            },
            Self::ImageConfirmStaged => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ImageConfirmActive => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ImageConfirmCommitted => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ImageConfirmWritten => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ImageConfirmFailed => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::InputWrite => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Write,
                order: Order::AfterBarrier,
            },
            Self::InputRead => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Read,
                order: Order::AfterBarrier,
            },
            Self::InputConfirmWriteAck => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::InputConfirmReadData => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::InputConfirmNak => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ExecLaunch => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Launch,
                order: Order::AfterControl,
            },
            Self::ExecGo => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Any,
                claim: ClaimRule::Group,
                taken_by: TakenBy::Firmware,
                order: Order::AfterBarrier,
            },
            Self::ExecCancel => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Firmware,
                order: Order::AfterBarrier,
            },
            Self::ExecQuery => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Firmware,
                order: Order::AfterBarrier,
            },
            Self::ExecResultAck => Rules {
                from: Sender::Host,
                to: Receiver::Card,
                reach: Reach::Unicast,
                claim: ClaimRule::Epoch,
                taken_by: TakenBy::Firmware,
                order: Order::AfterBarrier,
            },
            Self::ResultAccepted => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ResultDone => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ResultData => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
            Self::ResultRefused => Rules {
                from: Sender::Card,
                to: Receiver::Host,
                reach: Reach::Any,
                claim: ClaimRule::None,
                taken_by: TakenBy::Host,
                order: Order::None,
            },
        }
    }

    /// True for what cards send.
    pub const fn is_from_card(self) -> bool {
        matches!(self.rules().from, Sender::Card | Sender::Both)
    }

    /// True for what cards take.
    pub const fn is_to_card(self) -> bool {
        matches!(self.rules().to, Receiver::Card | Receiver::Both)
    }

    /// True for what hosts take.
    pub const fn is_to_host(self) -> bool {
        matches!(self.rules().to, Receiver::Host | Receiver::Both)
    }

    /// The destination addresses at which a kind of frame is taken.
    pub const fn reach(self) -> Reach {
        self.rules().reach
    }

    /// What a card requires of the sender before it acts on a frame.
    pub const fn claim(self) -> ClaimRule {
        self.rules().claim
    }

    /// What takes a kind of frame in a card made of gateware. A hardware path hands to the firmware what it cannot
    /// take.
    pub const fn taken_by(self) -> TakenBy {
        self.rules().taken_by
    }

    /// How a card made of gateware orders a frame with those its firmware has not finished. A frame to a group address
    /// waits for barriers whatever its kind, since a barrier may make the card join the group.
    pub const fn order(self) -> Order {
        self.rules().order
    }
}

/// The control family, as a parameter of [`Frame`](crate::Frame).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {}

impl crate::Format for Control {
    type Header = Header;
    type Kind = Kind;
    const VERSION: u8 = VERSION;
    const AUTH: u8 = FLAG_AUTH;

    fn recognises(ethertype: u16) -> bool {
        matches!(ethertype, 0x80EF | 0x80EC | 0x80AA | 0x80AB | 0x80DD | 0x80DB | 0x80CC | 0x80CB)
    }

    fn kind(ethertype: u16, kind: u8) -> Option<Kind> {
        Kind::from_wire(ethertype, kind)
    }
}

/// What runs a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CardKind {
    /// The Rust card model.
    Model = 1,
    /// The gateware in a simulator.
    Rtl = 2,
    /// Hardware.
    Board = 3,
}

impl CardKind {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Model,
            2 => Self::Rtl,
            3 => Self::Board,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Rtl => "rtl",
            Self::Board => "board",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Model => "The Rust card model.",
            Self::Rtl => "The gateware in a simulator.",
            Self::Board => "Hardware.",
        }
    }
}

impl From<CardKind> for u8 {
    fn from(value: CardKind) -> Self {
        value as Self
    }
}

/// What a card is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CardState {
    /// No role.
    Empty = 0,
    /// A role is active and idle.
    Active = 1,
    /// A kernel runs.
    Running = 2,
    /// An image is being staged; the old role still serves.
    Loading = 3,
    /// The configuration port is writing; no role serves.
    Configuring = 4,
    /// An image is in the configuration flash and awaits a restart; no role serves.
    Written = 5,
    /// Its memory cannot be used: the training of it has failed, or it does not answer. Nothing but its state can be
    /// had.
    Faulty = 6,
}

impl CardState {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            0 => Self::Empty,
            1 => Self::Active,
            2 => Self::Running,
            3 => Self::Loading,
            4 => Self::Configuring,
            5 => Self::Written,
            6 => Self::Faulty,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Active => "active",
            Self::Running => "running",
            Self::Loading => "loading",
            Self::Configuring => "configuring",
            Self::Written => "written",
            Self::Faulty => "faulty",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Empty => "No role.",
            Self::Active => "A role is active and idle.",
            Self::Running => "A kernel runs.",
            Self::Loading => "An image is being staged; the old role still serves.",
            Self::Configuring => "The configuration port is writing; no role serves.",
            Self::Written => "An image is in the configuration flash and awaits a restart; no role serves.",
            Self::Faulty => {
                "Its memory cannot be used: the training of it has failed, or it does not answer. Nothing but its state can be had."
            }
        }
    }
}

impl From<CardState> for u8 {
    fn from(value: CardState) -> Self {
        value as Self
    }
}

/// What a card awaits to run the image in its configuration flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Restart {
    /// It restarts by itself, at once.
    Itself = 1,
    /// Nothing on the board lets it restart: a JTAG cable has to give the command REFRESH.
    Refresh = 2,
}

impl Restart {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Itself,
            2 => Self::Refresh,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Itself => "itself",
            Self::Refresh => "refresh",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Itself => "It restarts by itself, at once.",
            Self::Refresh => "Nothing on the board lets it restart: a JTAG cable has to give the command REFRESH.",
        }
    }
}

impl From<Restart> for u8 {
    fn from(value: Restart) -> Self {
        value as Self
    }
}

/// Why a card announces itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AnnounceReason {
    /// Its link came up.
    LinkUp = 1,
    /// It was asked.
    Solicited = 2,
    /// Its interval passed.
    Periodic = 3,
    /// Its image or claim changed.
    Changed = 4,
    /// Its firmware had failed and has started again: claim, role and launches are gone.
    Restarted = 5,
    /// Its memory had answered with an error, or not at all, and it has started again: claim, role and launches are
    /// gone, and what lies in memory may be wrong.
    MemoryFailed = 6,
    /// Its role has broken a rule of its ports, was cut off and has started again: claim and memory stay.
    RoleFailed = 7,
}

impl AnnounceReason {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::LinkUp,
            2 => Self::Solicited,
            3 => Self::Periodic,
            4 => Self::Changed,
            5 => Self::Restarted,
            6 => Self::MemoryFailed,
            7 => Self::RoleFailed,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LinkUp => "link-up",
            Self::Solicited => "solicited",
            Self::Periodic => "periodic",
            Self::Changed => "changed",
            Self::Restarted => "restarted",
            Self::MemoryFailed => "memory-failed",
            Self::RoleFailed => "role-failed",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::LinkUp => "Its link came up.",
            Self::Solicited => "It was asked.",
            Self::Periodic => "Its interval passed.",
            Self::Changed => "Its image or claim changed.",
            Self::Restarted => "Its firmware had failed and has started again: claim, role and launches are gone.",
            Self::MemoryFailed => {
                "Its memory had answered with an error, or not at all, and it has started again: claim, role and launches are gone, and what lies in memory may be wrong."
            }
            Self::RoleFailed => {
                "Its role has broken a rule of its ports, was cut off and has started again: claim and memory stay."
            }
        }
    }
}

impl From<AnnounceReason> for u8 {
    fn from(value: AnnounceReason) -> Self {
        value as Self
    }
}

/// Whether memory is zeroed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Scrub {
    /// DDR keeps its contents.
    Keep = 0,
    /// DDR is zeroed.
    Zero = 1,
}

impl Scrub {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            0 => Self::Keep,
            1 => Self::Zero,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Zero => "zero",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Keep => "DDR keeps its contents.",
            Self::Zero => "DDR is zeroed.",
        }
    }
}

impl From<Scrub> for u8 {
    fn from(value: Scrub) -> Self {
        value as Self
    }
}

/// Why something was refused or failed. The name in lower case with dashes is what tools print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum ErrorCode {
    /// No error.
    Ok = 0,
    /// Another host holds the card.
    Claimed = 1,
    /// The epoch is not the present claim's.
    StaleEpoch = 2,
    /// A field is out of its range.
    BadRequest = 3,
    /// The range is not inside the memory a host may address.
    BadAddress = 4,
    /// A queue is full, or the card is configuring: try again.
    Busy = 5,
    /// No image is active.
    NoRole = 6,
    /// The active image has no kernel of this number.
    UnknownKernel = 7,
    /// The number of arguments is not the kernel's.
    BadArguments = 8,
    /// The card knows nothing of this launch.
    UnknownLaunch = 9,
    /// The card's memory cannot be used.
    MemoryFault = 10,
    /// The card has no part that could do it.
    Unsupported = 11,
    /// The card takes claims under a key only.
    KeyNeeded = 12,
    /// The claim's tag is not of this boot of the card; detail has its boot number, and the refusal a tag.
    StaleBoot = 13,
    /// The key that the claim has a tag by was revoked on this card.
    KeyRevoked = 14,
    /// The card takes claims of hosts that encrypt only.
    EncryptionNeeded = 15,
    /// The image is larger than the staging area.
    ImageTooLarge = 16,
    /// The staged bytes do not have the digest announced.
    ImageDigest = 17,
    /// The file is no image, is truncated, or its manifest is malformed.
    ImageFormat = 18,
    /// The image needs another format or shell version.
    ImageVersion = 19,
    /// The image has no part for this kind of card.
    ImageTarget = 20,
    /// The part for this card is not acceptable: invalid module, missing kernel, wrong import.
    ImagePart = 21,
    /// The role needs more memory than the card has.
    ImageMemory = 22,
    /// The image is not signed as the card demands: by whom it knows, and no older than what has run.
    ImageSignature = 23,
    /// The kernel trapped: out of bounds, division by zero, unreachable.
    KernelTrap = 32,
    /// The kernel ran longer than its bound.
    KernelFuel = 33,
    /// The launch was cancelled, or its role replaced, before it ended.
    Cancelled = 34,
    /// A node whose memory the kernel used has refused, or is gone.
    KernelRemote = 35,
}

impl ErrorCode {
    /// The value on the wire, or `None` if this version knows no such.
    pub const fn from_wire(value: u16) -> Option<Self> {
        Some(match value {
            0 => Self::Ok,
            1 => Self::Claimed,
            2 => Self::StaleEpoch,
            3 => Self::BadRequest,
            4 => Self::BadAddress,
            5 => Self::Busy,
            6 => Self::NoRole,
            7 => Self::UnknownKernel,
            8 => Self::BadArguments,
            9 => Self::UnknownLaunch,
            10 => Self::MemoryFault,
            11 => Self::Unsupported,
            12 => Self::KeyNeeded,
            13 => Self::StaleBoot,
            14 => Self::KeyRevoked,
            15 => Self::EncryptionNeeded,
            16 => Self::ImageTooLarge,
            17 => Self::ImageDigest,
            18 => Self::ImageFormat,
            19 => Self::ImageVersion,
            20 => Self::ImageTarget,
            21 => Self::ImagePart,
            22 => Self::ImageMemory,
            23 => Self::ImageSignature,
            32 => Self::KernelTrap,
            33 => Self::KernelFuel,
            34 => Self::Cancelled,
            35 => Self::KernelRemote,
            _ => return None,
        })
    }

    /// The name that tools print.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Claimed => "claimed",
            Self::StaleEpoch => "stale-epoch",
            Self::BadRequest => "bad-request",
            Self::BadAddress => "bad-address",
            Self::Busy => "busy",
            Self::NoRole => "no-role",
            Self::UnknownKernel => "unknown-kernel",
            Self::BadArguments => "bad-arguments",
            Self::UnknownLaunch => "unknown-launch",
            Self::MemoryFault => "memory-fault",
            Self::Unsupported => "unsupported",
            Self::KeyNeeded => "key-needed",
            Self::StaleBoot => "stale-boot",
            Self::KeyRevoked => "key-revoked",
            Self::EncryptionNeeded => "encryption-needed",
            Self::ImageTooLarge => "image-too-large",
            Self::ImageDigest => "image-digest",
            Self::ImageFormat => "image-format",
            Self::ImageVersion => "image-version",
            Self::ImageTarget => "image-target",
            Self::ImagePart => "image-part",
            Self::ImageMemory => "image-memory",
            Self::ImageSignature => "image-signature",
            Self::KernelTrap => "kernel-trap",
            Self::KernelFuel => "kernel-fuel",
            Self::Cancelled => "cancelled",
            Self::KernelRemote => "kernel-remote",
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "No error.",
            Self::Claimed => "Another host holds the card.",
            Self::StaleEpoch => "The epoch is not the present claim's.",
            Self::BadRequest => "A field is out of its range.",
            Self::BadAddress => "The range is not inside the memory a host may address.",
            Self::Busy => "A queue is full, or the card is configuring: try again.",
            Self::NoRole => "No image is active.",
            Self::UnknownKernel => "The active image has no kernel of this number.",
            Self::BadArguments => "The number of arguments is not the kernel's.",
            Self::UnknownLaunch => "The card knows nothing of this launch.",
            Self::MemoryFault => "The card's memory cannot be used.",
            Self::Unsupported => "The card has no part that could do it.",
            Self::KeyNeeded => "The card takes claims under a key only.",
            Self::StaleBoot => {
                "The claim's tag is not of this boot of the card; detail has its boot number, and the refusal a tag."
            }
            Self::KeyRevoked => "The key that the claim has a tag by was revoked on this card.",
            Self::EncryptionNeeded => "The card takes claims of hosts that encrypt only.",
            Self::ImageTooLarge => "The image is larger than the staging area.",
            Self::ImageDigest => "The staged bytes do not have the digest announced.",
            Self::ImageFormat => "The file is no image, is truncated, or its manifest is malformed.",
            Self::ImageVersion => "The image needs another format or shell version.",
            Self::ImageTarget => "The image has no part for this kind of card.",
            Self::ImagePart => {
                "The part for this card is not acceptable: invalid module, missing kernel, wrong import."
            }
            Self::ImageMemory => "The role needs more memory than the card has.",
            Self::ImageSignature => {
                "The image is not signed as the card demands: by whom it knows, and no older than what has run."
            }
            Self::KernelTrap => "The kernel trapped: out of bounds, division by zero, unreachable.",
            Self::KernelFuel => "The kernel ran longer than its bound.",
            Self::Cancelled => "The launch was cancelled, or its role replaced, before it ended.",
            Self::KernelRemote => "A node whose memory the kernel used has refused, or is gone.",
        }
    }
}

impl From<ErrorCode> for u16 {
    fn from(value: ErrorCode) -> Self {
        value as Self
    }
}

/// The common header, bytes 14 to 31 of each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Header {
    /// Protocol version in the high four bits, flags in the low four.
    pub version_flags: u8,
    /// Sub-kind, per EtherType.
    pub kind: u8,
    /// Payload bytes that follow, without Ethernet padding.
    pub length: U16,
    /// The claim's epoch (unicast) or the group id (multicast); 0: none.
    pub epoch: U16,
    /// Sequence or request number; its space depends on the kind.
    pub seq: U32,
    /// Memory address, image offset or kernel number; its meaning depends on the kind.
    pub addr: U64,
}

const _: () = assert!(size_of::<Header>() == 18);

/// What authenticates a frame: 28 bytes behind the payload when flag AUTH is set; `length` does not count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct AuthTrailer {
    /// Of claims, releases and their answers: the generation of the rack's keys that the tag is by. Zero of all else.
    pub key: U32,
    /// Grows with each frame under this key, so that a repeated frame is recognised.
    pub counter: U64,
    /// Authentication tag.
    pub tag: [u8; 16],
}

const _: () = assert!(size_of::<AuthTrailer>() == 28);

/// Payload of an announcement. The first 16 bytes are SAF's Fig. 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Announce {
    /// Address of port 0, the one Rackloom uses.
    pub mac0: MacAddr,
    /// Address of port 1, or zeros.
    pub mac1: MacAddr,
    /// Vendor id.
    pub vendor: U16,
    /// Product id.
    pub product: U16,
    /// Slot or switch setting of the card: its number in the rack.
    pub unit: U16,
    /// What runs the card.
    pub card_kind: u8,
    /// What the card is doing.
    pub state: u8,
    /// Why it announces itself.
    pub reason: u8,
    /// Network ports.
    pub ports: u8,
    /// Most payload bytes the card takes and sends in a frame, a multiple of 64.
    pub bulk: U16,
    /// Random number drawn at each boot: a change tells that the card has restarted.
    pub boot: U32,
    /// Clock of the role, kHz.
    pub clock_khz: U32,
    /// DDR bytes the host may address: 0 to memory - 1.
    pub memory: U64,
    /// Rate of port 0, bits a second.
    pub port_rate: U64,
    /// Rate at which image data can be staged, bytes a second; 0: as fast as it comes.
    pub stage_rate: U64,
    /// Rate of the configuration port, bytes a second; 0: instantly.
    pub config_rate: U64,
    /// The claim's owner, or zeros.
    pub owner: MacAddr,
    /// What the card asks for, the sum of ASKS_KEY, ASKS_SIGNATURE and ASKS_ENCRYPTION.
    pub asks: u8,
    /// Kernels that the active image offers.
    pub kernels: u8,
    /// BLAKE3 digest of the active image, or zeros.
    pub digest: [u8; 32],
}

const _: () = assert!(size_of::<Announce>() == 104);

/// Payload of a solicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Solicit {
    /// Answers spread over so many microseconds, at random; WINDOW_US_MAX at most, whatever is asked.
    pub window_us: U32,
    /// Zero.
    pub reserved: U32,
}

const _: () = assert!(size_of::<Solicit>() == 8);

/// Payload of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Claim {
    /// Random number of this claim attempt. Another nonce from the same owner takes the claim over: the host has
    /// restarted.
    pub nonce: U64,
    /// The claim ends when the owner was silent so long, 100 to 60000.
    pub lease_ms: U32,
    /// Group id for Go frames, 0: none.
    pub group: U16,
    /// Whether DDR is zeroed first.
    pub scrub: u8,
    /// Most payload bytes of a frame that reach the host, in beats of 64; 0: 1472 bytes. The card keeps to it and to
    /// its own bulk payload.
    pub beats: u8,
}

const _: () = assert!(size_of::<Claim>() == 16);

/// Payload of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Grant {
    /// The claim's.
    pub nonce: U64,
    /// The lease granted.
    pub lease_ms: U32,
    /// The card's boot number.
    pub boot: U32,
}

const _: () = assert!(size_of::<Grant>() == 16);

/// Follows a grant's payload in a frame with a tag; an Announce follows it, which the tag makes the card's own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Proof {
    /// Random number of the card for this claim: with the claim's it makes the session's key.
    pub card_nonce: U64,
}

const _: () = assert!(size_of::<Proof>() == 8);

/// Payload of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Release {
    /// Whether DDR is zeroed before anyone else can claim the card.
    pub scrub: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

const _: () = assert!(size_of::<Release>() == 8);

/// Why something was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Refusal {
    /// The reason.
    pub code: U16,
    /// With `claimed`: the owner of the claim; else zeros.
    pub holder: MacAddr,
    /// A number that goes with the code: the bound that was passed, the lease left in ms.
    pub detail: U64,
}

const _: () = assert!(size_of::<Refusal>() == 16);

/// Payload of a window's setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Window {
    /// First DDR address of the window.
    pub base: U64,
    /// Its bytes; 0: the window is closed.
    pub length: U64,
    /// The node that may use it; zeros: any.
    pub peer: MacAddr,
    /// What it may do: bit 0 reads, bit 1 writes, bit 2 atomic requests, bit 3 streams.
    pub rights: u8,
    /// Zero.
    pub reserved: u8,
}

const _: () = assert!(size_of::<Window>() == 24);

/// Payload of a route's setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Route {
    /// The receiver; zeros: the stream has no route.
    pub peer: MacAddr,
    /// The stream's number there.
    pub stream: U16,
}

const _: () = assert!(size_of::<Route>() == 8);

/// Payload of a pong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Pong {
    /// The card's boot number.
    pub boot: U32,
    /// What the card is doing.
    pub state: u8,
    /// Launches accepted and not finished.
    pub queued: u8,
    /// Zero.
    pub reserved: U16,
    /// Nanoseconds since boot.
    pub uptime_ns: U64,
}

const _: () = assert!(size_of::<Pong>() == 16);

/// Payload of a load's begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ImageBegin {
    /// Image bytes, 1 to 256 MiB.
    pub length: U64,
    /// Bytes in each data frame but the last, a multiple of 64.
    pub chunk: U16,
    /// Group id of this load, not 0.
    pub group: U16,
    /// Cards in this load, for the jitter.
    pub members: U32,
    /// BLAKE3 digest of the whole image.
    pub digest: [u8; 32],
}

const _: () = assert!(size_of::<ImageBegin>() == 48);

/// Follows a begin's payload in a session that is encrypted, and there always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct BeginKey {
    /// Of the load: what the payloads of its data are encrypted under.
    pub key: [u8; 16],
}

const _: () = assert!(size_of::<BeginKey>() == 16);

/// Payload of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Poll {
    /// Answers spread over so many microseconds, at random; WINDOW_US_MAX at most.
    pub window_us: U32,
    /// Zero.
    pub reserved: U32,
}

const _: () = assert!(size_of::<Poll>() == 8);

/// Head of a missing-range report; `ranges` chunk ranges follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Missing {
    /// Chunks the card lacks in all, also those it does not list.
    pub missing: U32,
    /// Ranges that follow, at most 182.
    pub ranges: U16,
    /// Further report frames of this poll that follow.
    pub more: U16,
    /// Zero.
    pub reserved: U64,
}

const _: () = assert!(size_of::<Missing>() == 16);

/// One range of a missing-range report. An empty one, or one that passes 2^32, makes the report malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ChunkRange {
    /// First chunk that is missing.
    pub first: U32,
    /// How many are missing from there on.
    pub chunks: U32,
}

const _: () = assert!(size_of::<ChunkRange>() == 8);

/// Payload of an activation's confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Active {
    /// BLAKE3 digest of the image that is now active.
    pub digest: [u8; 32],
    /// Time the configuration port took, nanoseconds.
    pub configure_ns: U64,
}

const _: () = assert!(size_of::<Active>() == 40);

/// Payload of a confirmation that an image is in the configuration flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Written {
    /// BLAKE3 digest of the image.
    pub digest: [u8; 32],
    /// Time the configuration port took, nanoseconds.
    pub write_ns: U64,
    /// What the card awaits.
    pub restart: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

const _: () = assert!(size_of::<Written>() == 48);

/// Why a load failed; up to 64 bytes of UTF-8 text may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Failure {
    /// The reason.
    pub code: U16,
    /// Zero.
    pub reserved: [u8; 6],
}

const _: () = assert!(size_of::<Failure>() == 8);

/// Payload of a memory read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Read {
    /// Bytes, 1 to the card's bulk payload.
    pub length: U32,
    /// Zero.
    pub reserved: U32,
}

const _: () = assert!(size_of::<Read>() == 8);

/// Selective acknowledgement: bit i (byte i / 8, bit i % 8, least significant first) stands for number first + 1 + i,
/// where first is the frame's seq, itself missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Ack {
    /// What is there beyond the first missing one.
    pub bitmap: [u8; 32],
}

const _: () = assert!(size_of::<Ack>() == 32);

/// Head of a launch; `args` 64-bit words follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Launch {
    /// Most role clock cycles the kernel may take; 0: the card's own bound.
    pub fuel: U64,
    /// DDR address of the output region.
    pub out_addr: U64,
    /// Bytes of the output region to push when the kernel is done; 0: none.
    pub out_length: U64,
    /// 0: start at once; else hold until a Go with this seq.
    pub go: U32,
    /// Chunks of output the card may send unasked.
    pub credit: U16,
    /// Argument words that follow.
    pub args: U16,
}

const _: () = assert!(size_of::<Launch>() == 32);

/// Payload of a launch's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Done {
    /// 0: success.
    pub status: U16,
    /// Bytes in each data frame but the last.
    pub chunk: U16,
    /// Data frames of the output.
    pub chunks: U32,
    /// What the kernel returned.
    pub value: U64,
    /// Role clock cycles it took.
    pub cycles: U64,
    /// Card time when it started, nanoseconds since boot.
    pub started_ns: U64,
    /// Card time when it ended.
    pub finished_ns: U64,
}

const _: () = assert!(size_of::<Done>() == 40);

/// Acknowledges output chunks and grants credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ResultAck {
    /// First chunk not yet received; equal to `chunks` with done = 1, the launch is forgotten.
    pub next: U32,
    /// Chunks below this number may be sent.
    pub limit: U32,
    /// 1: the Done frame has arrived.
    pub done: u8,
    /// Zero.
    pub reserved: [u8; 7],
    /// As in Ack: bit i stands for chunk next + 1 + i.
    pub bitmap: [u8; 32],
}

const _: () = assert!(size_of::<ResultAck>() == 48);

/// A card's counters, in the order of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum Counter {
    /// Frames received.
    RxFrames,
    /// Bytes received, without check sequence.
    RxBytes,
    /// Frames sent.
    TxFrames,
    /// Bytes sent, without check sequence.
    TxBytes,
    /// Dropped: not for this card, not a Rackloom EtherType, or come in on a port that no service takes.
    DropForeign,
    /// Dropped: shorter than its header or its length says.
    DropTruncated,
    /// Dropped: another protocol version.
    DropVersion,
    /// Dropped: unknown kind, or one that only cards send.
    DropKind,
    /// Dropped: authenticated, and the card has no key.
    DropAuth,
    /// Dropped: wrong epoch or group, or not from the owner.
    DropEpoch,
    /// Dropped: a payload that is not what its kind requires.
    DropMalformed,
    /// Dropped: a write, chunk or launch that was there already.
    DropDuplicate,
    /// Dropped: a sequence number beyond the window or out of order.
    DropWindow,
    /// Announcements sent.
    Announces,
    /// Claims granted.
    Claims,
    /// Claims that ended because the owner was silent.
    LeasesExpired,
    /// Image chunks staged.
    ImageChunks,
    /// Missing-range reports sent.
    ImageReports,
    /// Chunks left out of a report because another card had reported them.
    ImageSuppressed,
    /// Images activated.
    ImagesActivated,
    /// Loads that failed on this card.
    ImagesFailed,
    /// Memory writes performed.
    Writes,
    /// Bytes written.
    WriteBytes,
    /// Memory reads answered.
    Reads,
    /// Bytes read.
    ReadBytes,
    /// Launches accepted.
    Launches,
    /// Kernels that ended with success.
    KernelsDone,
    /// Kernels that ended with an error.
    KernelsFailed,
    /// Role clock cycles spent in kernels.
    KernelCycles,
    /// Output chunks sent the first time.
    ResultChunks,
    /// Done frames and output chunks sent again.
    ResultResends,
    /// Requests refused.
    Refusals,
    /// Dropped: a read, an image chunk, an answer, a solicitation or a stream's message for which a queue had no room.
    DropQueue,
    /// 64-bit words received, a frame's last one counted whole: with rx_bytes and the clock this tells how busy the
    /// receive path was.
    RxWords,
    /// 64-bit words sent, a frame's last one counted whole.
    TxWords,
    /// Dropped: the frame's check sequence was wrong. Where a network card or a switch sees to that, it stays 0.
    DropCheck,
    /// Frames of the bridge received and taken.
    BridgeRx,
    /// Frames of the bridge sent.
    BridgeTx,
    /// Dropped: a frame of the bridge that is not of its subnet, has the source of another node, or has passed a
    /// router.
    BridgeDropForeign,
    /// Dropped: a frame of the bridge with another version, an unknown kind, or lengths that do not fit.
    BridgeDropMalformed,
    /// Dropped: a frame of the bridge from an earlier life of its sender, or for an earlier one of this card.
    BridgeDropEpoch,
    /// Dropped: a frame of the bridge that had come before.
    BridgeDropDuplicate,
    /// Requests of nodes that no window allows.
    BridgeDenied,
    /// Frames of the bridge sent again.
    BridgeResent,
    /// Frames that came in on one port and left on another.
    PassedFrames,
    /// Dropped by a card with a key: a frame without a tag that is taken under a tag only.
    AuthUntagged,
    /// Dropped by a card with a key: a tag from an address that no host with a key has, or that holds no claim.
    AuthUnknown,
    /// Dropped by a card with a key: the tag is wrong. Forged, changed, or of a claim that a restart has ended.
    AuthWrong,
    /// Dropped by a card with a key: the frame's counter was used before, or is too old to tell.
    AuthReplay,
}

impl Counter {
    /// How many there are.
    pub const COUNT: usize = 49;

    /// How many every card counts. The others are of parts that a card may lack, which then reports 0.
    pub const COMMON: usize = 36;

    /// Their names, in order.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "rx_frames",
        "rx_bytes",
        "tx_frames",
        "tx_bytes",
        "drop_foreign",
        "drop_truncated",
        "drop_version",
        "drop_kind",
        "drop_auth",
        "drop_epoch",
        "drop_malformed",
        "drop_duplicate",
        "drop_window",
        "announces",
        "claims",
        "leases_expired",
        "image_chunks",
        "image_reports",
        "image_suppressed",
        "images_activated",
        "images_failed",
        "writes",
        "write_bytes",
        "reads",
        "read_bytes",
        "launches",
        "kernels_done",
        "kernels_failed",
        "kernel_cycles",
        "result_chunks",
        "result_resends",
        "refusals",
        "drop_queue",
        "rx_words",
        "tx_words",
        "drop_check",
        "bridge_rx",
        "bridge_tx",
        "bridge_drop_foreign",
        "bridge_drop_malformed",
        "bridge_drop_epoch",
        "bridge_drop_duplicate",
        "bridge_denied",
        "bridge_resent",
        "passed_frames",
        "auth_untagged",
        "auth_unknown",
        "auth_wrong",
        "auth_replay",
    ];
}
