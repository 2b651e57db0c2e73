//! Why operations on cards fail: each error names its card, and says what the host saw of it.

use std::fmt;

use rackloom_node::Duration;
use rackloom_sign::Refusal;
use rackloom_transport::PeerError;
use rackloom_wire::{BULK_STANDARD, CardState, ErrorCode, MacAddr, ROLE_PRIVATE, Restart};

/// How a card's absence is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownReason {
    /// It said goodbye.
    Goodbye,
    /// It has restarted: its memory, image and claim are gone. It announces itself anew.
    Restarted,
    /// Its memory has failed, and it has restarted: what it holds, or has computed, may be wrong.
    MemoryFailed,
    /// It was silent too long.
    Silent,
}

/// What messages call a card: `card3 (02:91:00:00:00:03)`, by the unit number that it announces; `card
/// 02:91:00:00:00:03` if it has announced none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardName {
    /// Its address.
    pub mac: MacAddr,
    /// Its unit number, if it is known.
    pub unit: Option<u16>,
}

impl fmt::Display for CardName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Some(unit) => write!(f, "card{unit} ({})", self.mac),
            None => write!(f, "card {}", self.mac),
        }
    }
}

/// What a host had seen of a card when it gave up waiting for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastSeen {
    /// The state that it announced last.
    pub state: CardState,
    /// Time since its last frame.
    pub silent: Duration,
    /// Pings sent since then, all unanswered.
    pub pings: u32,
}

impl fmt::Display for LastSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, silent, pings } = self;
        match pings {
            0 => write!(f, "last heard {} ago", Time(*silent))?,
            1 => write!(f, "silent for {}, 1 ping unanswered", Time(*silent))?,
            _ => write!(f, "silent for {}, {pings} pings unanswered", Time(*silent))?,
        }
        write!(f, ", last state {}", format!("{state:?}").to_lowercase())
    }
}

/// How far a card was in a load when the load gave it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// What it had said last, by the name of the frame's kind; `None`: nothing.
    pub said: Option<&'static str>,
    /// How long the load waited for what comes after.
    pub waited: Duration,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.said {
            Some(said) => write!(f, "it said `{said}` and came no further in {}", Time(self.waited)),
            None => write!(f, "it did not answer the load's begin in {}", Time(self.waited)),
        }
    }
}

/// What is absurd about a card's announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absurdity {
    /// So many bytes of memory: none that a host may address.
    Memory(u64),
    /// So many payload bytes in a frame: fewer than in a standard one, which each card takes.
    Bulk(u16),
}

impl fmt::Display for Absurdity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(bytes) => {
                write!(f, "it announces {bytes} bytes of memory, and the first {ROLE_PRIVATE} of a card are its role's")
            }
            Self::Bulk(bytes) => write!(f, "it announces frames of {bytes} bytes, and each card takes {BULK_STANDARD}"),
        }
    }
}

/// A time as messages give it: `2.0 s`, or `40 ms`.
struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            0 => write!(f, "{} ms", self.0.as_millis()),
            _ => write!(f, "{:.1} s", self.0.as_secs_f64()),
        }
    }
}

/// Why a kernel could not use another card's memory, as `rackloom.h` numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerFault {
    /// The stream has no route.
    NoRoute,
    /// The other card has no window for it there.
    Refused,
    /// The other card does not answer, or has restarted.
    Gone,
    /// The card has too much under way.
    Busy,
    /// A number that has no meaning.
    Unknown,
}

impl PeerFault {
    /// The fault of a number.
    pub(crate) const fn of(number: u64) -> Self {
        match number {
            1 => Self::NoRoute,
            2 => Self::Refused,
            3 => Self::Gone,
            4 => Self::Busy,
            _ => Self::Unknown,
        }
    }

    /// The same for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::NoRoute => "no stream leads there",
            Self::Refused => "it refuses; it may have restarted",
            Self::Gone => "it is gone or has restarted",
            Self::Busy => "too many accesses are under way",
            Self::Unknown => "the kernel gave no reason",
        }
    }
}

/// Why an operation failed. As text it is the card's name and the [`reason`](Self::reason).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.name(), self.reason())]
pub enum OpError {
    /// No such card is known.
    UnknownCard {
        /// The card.
        card: CardName,
    },
    /// The operation needs a claim that this host does not hold.
    NotClaimed {
        /// The card.
        card: CardName,
    },
    /// Another host holds the card.
    Claimed {
        /// The card.
        card: CardName,
        /// The host that holds it.
        holder: MacAddr,
        /// What is left of the lease, milliseconds.
        lease_ms: u64,
    },
    /// The claim ended while the operation was under way.
    ClaimLost {
        /// The card.
        card: CardName,
    },
    /// The card is gone.
    Vanished {
        /// The card.
        card: CardName,
        /// How its absence is known.
        reason: DownReason,
        /// What was seen of it last.
        seen: LastSeen,
    },
    /// The operation did not finish in the time allowed.
    Deadline {
        /// The card.
        card: CardName,
        /// How long the host waited: since the operation began or, in a load, since the card's last progress.
        waited: Duration,
        /// What was seen of the card last; `None` if it is not known.
        seen: Option<LastSeen>,
    },
    /// In a load, nothing was heard of the card that would have brought it on.
    Stalled {
        /// The card.
        card: CardName,
        /// How far it was, and how long the load waited for it.
        stage: Stage,
        /// What was seen of the card last; `None` if it is not known.
        seen: Option<LastSeen>,
    },
    /// In a load, what the card lacked was sent to it again and again, and it lacked as much as before.
    Fruitless {
        /// The card.
        card: CardName,
        /// Chunks that it reported to lack.
        chunks: u32,
    },
    /// The card has acknowledged what this host never sent under its claim. Nothing that it says of this claim can be
    /// relied on, so the claim is given up; a new one begins to count anew.
    OutOfStep {
        /// The card.
        card: CardName,
        /// What it said.
        what: PeerError,
    },
    /// Short frames reach the card and come back, long ones do not. The claim is given up; the next one keeps to
    /// standard frames.
    Path {
        /// The card.
        card: CardName,
        /// Payload bytes of the long frames.
        bulk: u16,
    },
    /// The card announces what no card is, and is not used.
    Absurd {
        /// The card.
        card: CardName,
        /// What is absurd.
        what: Absurdity,
    },
    /// The card refused.
    Refused {
        /// The card.
        card: CardName,
        /// The reason.
        code: ErrorCode,
        /// A number that goes with the code.
        detail: u64,
    },
    /// The kernel ended badly.
    Kernel {
        /// The card.
        card: CardName,
        /// The reason.
        code: ErrorCode,
        /// Role clock cycles it had taken.
        cycles: u64,
    },
    /// A load failed on the card, which still serves its old role.
    Load {
        /// The card.
        card: CardName,
        /// The reason.
        code: ErrorCode,
        /// The card's own words.
        text: String,
    },
    /// This host's policy has not the image's signer for this card; nothing was sent.
    NotAllowed {
        /// The card.
        card: CardName,
        /// Why.
        why: Refusal,
    },
    /// The image is in the card's configuration flash and runs after a restart. The card then has no claim; once it is
    /// claimed, the same load makes the image active at once.
    AwaitsRestart {
        /// The card.
        card: CardName,
        /// What it awaits.
        restart: Restart,
    },
    /// The card's kernel could not use another card's memory, which it needed.
    Peer {
        /// The card.
        card: CardName,
        /// The other card.
        peer: CardName,
        /// Why it could not.
        fault: PeerFault,
    },
    /// Two cards answer under this address: what is written to one may be read from the other.
    AddressShared {
        /// The card.
        card: CardName,
    },
    /// This host claims cards under keys, and has none for this one.
    NoKey {
        /// The card.
        card: CardName,
    },
    /// This host encrypts, and the card does not.
    Unencrypted {
        /// The card.
        card: CardName,
    },
    /// The card is there, and answers no claim under the key that this host has for it.
    KeyIgnored {
        /// The card.
        card: CardName,
        /// How long the host waited.
        waited: Duration,
        /// The generation of keys that an answer was under and that this host does not have. Anybody may have sent it.
        generation: Option<u32>,
    },
    /// This host cancelled the operation.
    Cancelled {
        /// The card.
        card: CardName,
    },
}

impl OpError {
    /// The address of the card that it is about.
    pub const fn card(&self) -> MacAddr {
        self.name().mac
    }

    /// The name of the card that it is about.
    pub const fn name(&self) -> CardName {
        match self {
            Self::UnknownCard { card }
            | Self::NotClaimed { card }
            | Self::Claimed { card, .. }
            | Self::ClaimLost { card }
            | Self::Vanished { card, .. }
            | Self::Deadline { card, .. }
            | Self::Stalled { card, .. }
            | Self::Fruitless { card, .. }
            | Self::OutOfStep { card, .. }
            | Self::Path { card, .. }
            | Self::Absurd { card, .. }
            | Self::Refused { card, .. }
            | Self::Kernel { card, .. }
            | Self::Load { card, .. }
            | Self::NotAllowed { card, .. }
            | Self::AwaitsRestart { card, .. }
            | Self::Peer { card, .. }
            | Self::AddressShared { card }
            | Self::NoKey { card }
            | Self::Unencrypted { card }
            | Self::KeyIgnored { card, .. }
            | Self::Cancelled { card } => *card,
        }
    }

    /// The message without the card's name, for a table whose rows are cards.
    pub fn reason(&self) -> String {
        match self {
            Self::UnknownCard { .. } => "not on the network".to_owned(),
            Self::NotClaimed { .. } => "not claimed by this host".to_owned(),
            Self::Claimed { holder, lease_ms, .. } => {
                format!("claimed by host {holder} for at least {} more", Time(Duration::from_millis(*lease_ms)))
            }
            Self::ClaimLost { .. } => "the claim was lost".to_owned(),
            Self::Vanished { reason: DownReason::Goodbye, .. } => "vanished: it said goodbye".to_owned(),
            Self::Vanished { reason: DownReason::Restarted, .. } => "vanished: it restarted".to_owned(),
            Self::Vanished { reason: DownReason::MemoryFailed, .. } => {
                "vanished: its memory failed and it restarted".to_owned()
            }
            Self::Vanished { reason: DownReason::Silent, seen, .. } => format!("vanished: {seen}"),
            Self::Deadline { waited, seen: Some(seen), .. } => format!("not finished after {}: {seen}", Time(*waited)),
            Self::Deadline { waited, seen: None, .. } => format!("not finished after {}", Time(*waited)),
            Self::Stalled { stage, seen: Some(seen), .. } => format!("left out: {stage}; {seen}"),
            Self::Stalled { stage, seen: None, .. } => format!("left out: {stage}"),
            Self::Fruitless { chunks, .. } => {
                format!("left out: it reports {chunks} chunks as missing however often they are sent to it")
            }
            Self::OutOfStep { what, .. } => format!("out of step with its claim: {what}"),
            Self::Path { bulk, .. } => {
                format!("frames of {bulk} bytes do not get through, though short ones do: the path takes no jumbo frames")
            }
            Self::Absurd { what, .. } => format!("left out: {what}"),
            Self::NoKey { .. } => {
                "this host claims cards under keys only, and its file has none for this card: ask the rack's operator \
                 for one, by `rackloom key host`"
                    .to_owned()
            }
            Self::Unencrypted { .. } => "it cannot encrypt, and this host does nothing without that".to_owned(),
            Self::KeyIgnored { generation: Some(generation), .. } => {
                format!("it answers under keys of generation {generation}, and this host's file has none of that")
            }
            Self::KeyIgnored { waited, .. } => format!(
                "it is there, and has not answered a claim under its key for {}: it has no key, or another one, or this \
                 machine's clock was set back",
                Time(*waited)
            ),
            Self::Refused { code: ErrorCode::KeyNeeded, .. } => "it asks for a key: give --key FILE".to_owned(),
            Self::Refused { code: ErrorCode::EncryptionNeeded, .. } => "it asks for encryption: give --encrypt".to_owned(),
            Self::Refused { code: ErrorCode::KeyRevoked, .. } => "this host's key was revoked on it".to_owned(),
            Self::Refused { code, .. } => format!("refused: {}", code.meaning()),
            Self::Kernel { code, cycles, .. } => format!("the kernel failed after {cycles} cycles: {}", code.meaning()),
            Self::Load { code: ErrorCode::ImageSignature, text, .. } => format!("refused the image: {text}"),
            Self::NotAllowed { why, .. } => format!("this host's policy is against it: {why}"),
            Self::Load { code, text, .. } if text.is_empty() => format!("did not take the image: {}", code.meaning()),
            Self::Load { code, text, .. } => format!("did not take the image: {}: {text}", code.meaning()),
            Self::AwaitsRestart { restart: Restart::Itself, .. } => {
                "the image is in its flash, and the card restarts to run it".to_owned()
            }
            Self::AwaitsRestart { restart: Restart::Refresh, .. } => {
                "the image is in its flash, but the card cannot restart by itself: give it a REFRESH by JTAG, then load \
                 the image again"
                    .to_owned()
            }
            Self::Peer { peer, fault, .. } => format!("cannot read the memory of {peer}: {}", fault.meaning()),
            Self::AddressShared { .. } => "two cards answer under this address, so neither can be used".to_owned(),
            Self::Cancelled { .. } => "the operation was cancelled".to_owned(),
        }
    }

    /// The name of the protocol's code for it, where the card has given one or this host decides as a card would.
    pub fn code_name(&self) -> Option<&'static str> {
        match self {
            Self::Claimed { .. } => Some(ErrorCode::Claimed.name()),
            Self::Refused { code, .. } | Self::Kernel { code, .. } | Self::Load { code, .. } => Some(code.name()),
            Self::NotAllowed { .. } => Some(ErrorCode::ImageSignature.name()),
            _ => None,
        }
    }

    /// True when a launch ended without its kernel's doing and without this host's wish: somebody else has cancelled
    /// it, or the card does not know it. The same work may succeed on another card.
    pub const fn is_called_off(&self) -> bool {
        matches!(
            self,
            Self::Refused { code: ErrorCode::UnknownLaunch, .. } | Self::Kernel { code: ErrorCode::Cancelled, .. }
        )
    }

    /// True when the same work may succeed on another card, or here later.
    pub const fn is_card_loss(&self) -> bool {
        match self {
            Self::UnknownCard { .. }
            | Self::NotClaimed { .. }
            | Self::Claimed { .. }
            | Self::ClaimLost { .. }
            | Self::Vanished { .. }
            | Self::Deadline { .. }
            | Self::Stalled { .. }
            | Self::OutOfStep { .. }
            | Self::Path { .. }
            | Self::AddressShared { .. }
            | Self::AwaitsRestart { restart: Restart::Itself, .. } => true,
            // Trying again would write the flash of a card that cannot restart again and again.
            Self::AwaitsRestart { restart: Restart::Refresh, .. }
            | Self::Fruitless { .. }
            | Self::Absurd { .. }
            | Self::Refused { .. }
            | Self::Kernel { .. }
            | Self::Load { .. }
            | Self::NotAllowed { .. }
            | Self::Peer { .. }
            | Self::NoKey { .. }
            | Self::Unencrypted { .. }
            | Self::KeyIgnored { .. }
            | Self::Cancelled { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: MacAddr = MacAddr([2, 0x91, 0, 0, 0, 3]);

    #[test]
    fn messages_name_the_card_and_say_what_was_seen() {
        let card = CardName { mac: MAC, unit: Some(3) };
        let silent = LastSeen { state: CardState::Running, silent: Duration::from_millis(2040), pings: 4 };
        let gone = OpError::Vanished { card, reason: DownReason::Silent, seen: silent };
        assert_eq!(
            gone.to_string(),
            "card3 (02:91:00:00:00:03): vanished: silent for 2.0 s, 4 pings unanswered, last state running"
        );
        let heard = LastSeen { state: CardState::Loading, silent: Duration::from_millis(40), pings: 0 };
        let late = OpError::Deadline { card, waited: Duration::from_secs(20), seen: Some(heard) };
        assert_eq!(late.reason(), "not finished after 20.0 s: last heard 40 ms ago, last state loading");
        let holder = MacAddr([2, 0, 0, 0, 0, 9]);
        let claimed = OpError::Claimed { card, holder, lease_ms: 1500 };
        assert_eq!(claimed.reason(), "claimed by host 02:00:00:00:00:09 for at least 1.5 s more");
    }

    #[test]
    fn a_card_that_announced_nothing_is_named_by_its_address() {
        let unknown = OpError::UnknownCard { card: CardName { mac: MAC, unit: None } };
        assert_eq!(unknown.to_string(), "card 02:91:00:00:00:03: not on the network");
    }
}
