//! A host's network interface through the card: frames between the wire, which is port 0, and the port where the host
//! is.
//!
//! ```text
//!                   own: control, results
//!   wire (port 0) <------------------------- card
//!        |    ^
//!        |    '-- to_wire <--[hook]-- judge <--.
//!        '--> judge --[hook]--> to_host -----> host (port n)
//! ```
//!
//! The host has one address, that of its port: only what is for it or for a group is handed to it, and it sends under
//! no other. Families of ours are the card's at the wire, and pass in neither direction: whoever is behind the card can
//! neither pose as a card nor command one.
//!
//! What the host sends faster than the wire takes it waits; before there is no more room, the host is ordered to pause.

use rackloom_node::{Frame, Instant, Port};
use rackloom_wire::{Counter, MacAddr};

use crate::backlog::Backlog;
use crate::ethernet::{EthernetHead, FRAME_MAX};
use crate::frame_queue::FrameQueue;
use crate::ports::PortConfig;
use crate::turns::Turns;

/// A host behind the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nic {
    /// The port, not port 0, where the host is. It has no service and passes nothing; its address is the host's.
    pub host: Port,
    /// Where the role sees the frames, and says what goes on; `None`: it does not.
    pub hook: Option<Hook>,
}

/// A bump in the wire: the role's streams that frames pass through. What has come in at one side is a message on that
/// side's stream, and what the role sends on a stream leaves at that side. So it sends on, alters, drops and adds
/// frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// Number of the wire's stream. What the role sends on it has the host's address as its source.
    pub wire: u8,
    /// Number of the host's stream. What the role sends on it has any source but the host's own.
    pub host: u8,
    /// What becomes of frames while no role has these streams.
    pub unattended: Unattended,
}

impl Hook {
    /// The streams by which roles know the two sides unless a card's configuration says otherwise: the last of the 16
    /// that a role has, as ports take the first ones.
    pub const USUAL: Self = Self { wire: 14, host: 15, unattended: Unattended::Pass };
}

/// What becomes of frames while no role has the hook's streams: none is active, or the active one has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unattended {
    /// They pass as if there were no hook.
    #[default]
    Pass,
    /// They are dropped: nothing passes that no role has seen.
    Hold,
}

/// Frames of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    /// Frames that have left.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What became of the frames between host and wire, since the card was switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NicCounters {
    /// To the host.
    pub to_host: Passed,
    /// To the wire.
    pub to_wire: Passed,
    /// Dropped: their source cannot be.
    pub forged: u64,
    /// Dropped: from the host, and of a family of ours, or what stations say to the next one on their cable.
    pub reserved: u64,
    /// Dropped: from the host, and for the card or the host itself.
    pub astray: u64,
    /// Dropped: too long, or too many waited already.
    pub overflow: u64,
    /// Dropped: no role was there to see them, and so it is configured.
    pub held: u64,
    /// Dropped: the role did not keep up.
    pub missed: u64,
    /// Times that the host was ordered to be silent, for the wire does not keep up.
    pub paused: u64,
}

/// Why a frame is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NicDrop {
    /// It has no head.
    Truncated,
    /// Counted as [`NicCounters::forged`].
    Forged,
    /// Counted as [`NicCounters::reserved`].
    Reserved,
    /// Counted as [`NicCounters::astray`].
    Astray,
    /// Counted as [`NicCounters::overflow`].
    Overflow,
    /// Counted as [`NicCounters::held`].
    Held,
    /// Counted as [`NicCounters::missed`].
    Missed,
}

impl NicDrop {
    /// The card's own counter for it.
    pub(crate) const fn counter(self) -> Counter {
        match self {
            Self::Truncated => Counter::DropTruncated,
            Self::Forged | Self::Reserved | Self::Astray | Self::Held => Counter::DropForeign,
            Self::Overflow | Self::Missed => Counter::DropQueue,
        }
    }
}

/// Where a passing frame leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At port 0.
    Wire,
    /// At the host's port.
    Host,
}

/// Who has frames to send, by the numbers of [`NicPath::turns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The card: control, acknowledgements, results.
    Own,
    /// The host, to the wire.
    Host,
    /// The wire, to the host.
    Wire,
    /// The role, at whatever port; and what passes between ports beside these two.
    Role,
}

impl Sender {
    pub(crate) const ALL: [Self; 4] = [Self::Own, Self::Host, Self::Wire, Self::Role];
}

/// The path's queues and counters. It is no affair of the shell's life: what waits leaves also after a restart.
///
/// The gateware's rl_nic is checked against it.
#[derive(Debug)]
pub struct NicPath {
    nic: Nic,
    card: MacAddr,
    mac: MacAddr,
    to_wire: FrameQueue,
    to_host: FrameQueue,
    backlog: Backlog,
    pub(crate) turns: Turns<{ Sender::ALL.len() }>,
    counters: NicCounters,
}

impl Nic {
    /// Whether a card with these ports can have it: the host's port is one of them and nothing else's, and its streams
    /// are nobody else's.
    pub(crate) fn is_valid(&self, ports: &[PortConfig]) -> bool {
        let host = usize::from(self.host).checked_sub(1).and_then(|i| ports.get(i));
        let free = |stream: u8| ports.iter().all(|port| port.stream() != Some(stream));
        host.is_some_and(PortConfig::is_closed)
            && ports.iter().all(|port| port.passes_to != Some(self.host))
            && self.hook.is_none_or(|hook| hook.wire != hook.host && free(hook.wire) && free(hook.host))
    }
}

impl NicPath {
    /// The path of a card with this address and these ports.
    ///
    /// # Panics
    /// If the port is not there: the configuration was checked.
    pub fn new(nic: Nic, card: MacAddr, ports: &[PortConfig]) -> Self {
        Self {
            nic,
            card,
            mac: ports[usize::from(nic.host) - 1].mac,
            to_wire: FrameQueue::default(),
            to_host: FrameQueue::default(),
            backlog: Backlog::default(),
            turns: Turns::new(),
            counters: NicCounters::default(),
        }
    }

    pub(crate) const fn host(&self) -> Port {
        self.nic.host
    }

    pub(crate) const fn hook(&self) -> Option<Hook> {
        self.nic.hook
    }

    /// What becomes of a frame that has come in at the wire: it goes to the host, or is dropped; `None`: it is the
    /// card's, to take or to drop.
    pub fn judge_from_wire(&self, frame: &[u8]) -> Option<Result<(), NicDrop>> {
        let head = EthernetHead::of(frame)?;
        if head.is_reserved() || !(head.dst == self.mac || head.dst.is_multicast()) {
            return None;
        }
        // What the host has sent comes back over a loop in the network; the card itself sends nothing that is a host's.
        let forged = head.is_forged(self.mac) || head.src == self.card;
        Some(if forged { Err(NicDrop::Forged) } else { Ok(()) })
    }

    /// Whether a frame that has come in at the host's port may go to the wire.
    pub fn judge_from_host(&self, frame: &[u8]) -> Result<(), NicDrop> {
        let head = EthernetHead::of(frame).ok_or(NicDrop::Truncated)?;
        if head.src != self.mac {
            Err(NicDrop::Forged)
        } else if head.is_reserved() {
            Err(NicDrop::Reserved)
        } else if head.dst == self.card || head.dst == self.mac {
            Err(NicDrop::Astray)
        } else {
            Ok(())
        }
    }

    /// The side that a stream of the role belongs to.
    pub(crate) fn side_of(&self, stream: u8) -> Option<Side> {
        let hook = self.nic.hook?;
        [(hook.wire, Side::Wire), (hook.host, Side::Host)]
            .into_iter()
            .find_map(|(s, side)| (s == stream).then_some(side))
    }

    /// Whether the role may send this frame to a side: there it may do what whoever is on the other side may.
    pub(crate) fn admits(&self, to: Side, frame: &[u8]) -> bool {
        frame.len() <= FRAME_MAX
            && match to {
                Side::Wire => self.judge_from_host(frame).is_ok(),
                Side::Host => self.judge_from_wire(frame) == Some(Ok(())),
            }
    }

    /// Queues a frame, or drops it.
    pub fn push(&mut self, to: Side, frame: Frame) -> Result<(), NicDrop> {
        let queue = match to {
            Side::Wire => &mut self.to_wire,
            Side::Host => &mut self.to_host,
        };
        if frame.len() <= FRAME_MAX && queue.push(frame) { Ok(()) } else { Err(NicDrop::Overflow) }
    }

    /// The next frame for a side, with the port where it leaves.
    pub fn pop(&mut self, to: Side) -> Option<(Port, Frame)> {
        let frame = match to {
            Side::Wire => self.to_wire.pop()?,
            Side::Host => self.to_host.pop()?,
        };
        Some((self.leaves(to, frame.len()), frame))
    }

    /// The frame by which the host has to pause, or may go on, if that is due.
    pub fn pause(&mut self, now: Instant) -> Option<(Port, Frame)> {
        let order = self.backlog.order(now, self.to_wire.fill())?;
        self.counters.paused += u64::from(order.quanta > 0);
        Some((self.nic.host, Frame::from(order.frame(self.card).to_vec())))
    }

    /// Counts a frame that leaves at a side; its port.
    pub(crate) const fn leaves(&mut self, at: Side, length: usize) -> Port {
        let (passed, port) = match at {
            Side::Wire => (&mut self.counters.to_wire, 0),
            Side::Host => (&mut self.counters.to_host, self.nic.host),
        };
        passed.frames += 1;
        passed.bytes += length as u64;
        port
    }

    /// What became of its frames.
    pub const fn counters(&self) -> NicCounters {
        self.counters
    }

    /// Counts a frame that is dropped; the card's counter for it.
    pub const fn drops(&mut self, why: NicDrop) -> Counter {
        let counters = &mut self.counters;
        let counter = match why {
            NicDrop::Truncated => return why.counter(),
            NicDrop::Forged => &mut counters.forged,
            NicDrop::Reserved => &mut counters.reserved,
            NicDrop::Astray => &mut counters.astray,
            NicDrop::Overflow => &mut counters.overflow,
            NicDrop::Held => &mut counters.held,
            NicDrop::Missed => &mut counters.missed,
        };
        *counter += 1;
        why.counter()
    }

    /// Bytes that wait.
    pub(crate) const fn bytes(&self) -> usize {
        self.to_wire.bytes() + self.to_host.bytes()
    }

    pub(crate) fn check_invariants(&self) {
        self.to_wire.check_invariants();
        self.to_host.check_invariants();
    }
}
