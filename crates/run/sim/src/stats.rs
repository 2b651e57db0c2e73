//! What was counted: one set of numbers for each direction of a cable, each switch, each node.

use core::fmt;
use core::ops::{AddAssign, Index};

/// Why a frame did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The node at the far end was taken out (powered off, crashed).
    Absent,
    /// Bits flipped on the cable, and the frame check sequence told.
    Corrupt,
    /// The cable was down, or went down while the frame was on it or queued for it.
    Down,
    /// Lost on the cable, alone or in a burst.
    Lost,
    /// An outage or a cut swallowed it: the cable looked up, and nothing came through.
    Outage,
    /// Longer than the cable's MTU allows.
    Oversize,
    /// The sender's queue was full: tail drop.
    QueueFull,
}

impl DropReason {
    /// All reasons, in order.
    pub const ALL: [Self; 7] =
        [Self::Absent, Self::Corrupt, Self::Down, Self::Lost, Self::Outage, Self::Oversize, Self::QueueFull];
}

/// Dropped frames by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    pub(crate) const fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Index<DropReason> for Drops {
    type Output = u64;
    fn index(&self, reason: DropReason) -> &u64 {
        &self.0[reason as usize]
    }
}

impl fmt::Display for Drops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for reason in DropReason::ALL.into_iter().filter(|r| self[*r] > 0) {
            write!(f, " {reason:?} {}", self[reason])?;
        }
        Ok(())
    }
}

/// Counters of one direction of a cable.
///
/// At any time `sent + duplicated == delivered + in_flight + drops`, without the drops that happen before sending
/// ([`Oversize`](DropReason::Oversize), [`QueueFull`](DropReason::QueueFull) and those [`refused`](Self::refused)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Frames put on the wire, also those that faults then swallowed.
    pub sent: u64,
    /// Their bytes, from the destination address to the end of the payload.
    pub sent_bytes: u64,
    /// Their bytes on the wire: padded to the minimum, with preamble, check sequence and gap.
    pub wire_bytes: u64,
    /// Frames given to the far end, duplicates included.
    pub delivered: u64,
    /// Bytes of the frames given to the far end.
    pub delivered_bytes: u64,
    /// Frames queued or on the wire now, duplicates included.
    pub in_flight: u64,
    /// Frames that did not arrive.
    pub drops: Drops,
    /// Frames turned away because the cable was down; part of the drops with reason [`Down`](DropReason::Down).
    pub refused: u64,
    /// Most bytes on the wire's scale that ever waited in the queue, the frame being sent included.
    pub queue_bytes_max: u64,
    /// Extra copies made by a fault.
    pub duplicated: u64,
    /// Frames held back by a fault, so that later ones could overtake.
    pub delayed: u64,
    /// Frames delivered with flipped bits that the check sequence did not show.
    pub flipped: u64,
    /// Frames delivered without their end.
    pub truncated: u64,
    /// Frames delivered with bytes after their end.
    pub padded: u64,
}

impl LinkStats {
    /// Panics unless every frame is accounted for.
    pub fn check(&self) {
        let before = self.drops[DropReason::Oversize] + self.drops[DropReason::QueueFull] + self.refused;
        assert_eq!(
            self.sent + self.duplicated,
            self.delivered + self.in_flight + self.drops.total() - before,
            "frames do not add up: {self:?}"
        );
    }
}

impl AddAssign for LinkStats {
    /// Adds up; of `queue_bytes_max` the larger stays.
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.wire_bytes += other.wire_bytes;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.in_flight += other.in_flight;
        for (sum, n) in self.drops.0.iter_mut().zip(other.drops.0) {
            *sum += n;
        }
        self.refused += other.refused;
        self.queue_bytes_max = self.queue_bytes_max.max(other.queue_bytes_max);
        self.duplicated += other.duplicated;
        self.delayed += other.delayed;
        self.flipped += other.flipped;
        self.truncated += other.truncated;
        self.padded += other.padded;
    }
}

impl fmt::Display for LinkStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sent {} ({} wire bytes) delivered {} in flight {} queue max {} B; drops:{}; faults: dup {} delay {} flip {} cut {} pad {}",
            self.sent,
            self.wire_bytes,
            self.delivered,
            self.in_flight,
            self.queue_bytes_max,
            self.drops,
            self.duplicated,
            self.delayed,
            self.flipped,
            self.truncated,
            self.padded
        )
    }
}

/// Counters of one switch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwitchStats {
    /// Frames that went out of one port because their destination was known.
    pub forwarded: u64,
    /// Frames that went out of all other ports: multicast, broadcast, unknown destination.
    pub flooded: u64,
    /// Frames whose destination lives behind the port they came from.
    pub filtered: u64,
    /// Frames too short to hold addresses.
    pub malformed: u64,
    /// Entries made in the table of addresses.
    pub learned: u64,
    /// Addresses that moved to another port.
    pub moved: u64,
    /// Frames whose source was not learned because the table was full.
    pub table_full: u64,
}

/// Counters of one node, over all that stood in its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeStats {
    /// Calls of `handle_frame`.
    pub frames: u64,
    /// Calls of `handle_timeout`.
    pub timeouts: u64,
    /// Frames it transmitted on a port without a cable.
    pub unplugged: u64,
    /// Times its NIC queue was full, so that it was left unpolled for a while.
    pub held: u64,
    /// Frames that came while it had no processor, or behind such.
    pub waited: u64,
    /// Those of them that found too many unread before them and were lost.
    pub unread_lost: u64,
}
