//! One attachment to an Ethernet segment.

use std::io;
use std::task::Waker;
use std::time::{Duration, Instant};

use rackloom_node::Frame;

/// A cable that one node, or one switch, is plugged into.
///
/// Frames are whole Ethernet frames without check sequence. A wire may lose frames, as Ethernet may, and counts those
/// it loses; it does not reorder those between one pair of nodes.
///
/// The contract of waiting: a wire whose [`send`](Wire::send) took less than it was given is *full*. Its owner keeps
/// the rest and calls [`recv`](Wire::recv), which returns when frames arrive, when there is room again, when the
/// [`waker`](Wire::waker) was used, or at the deadline, and may return for no reason. So the owner tries everything
/// again after each return.
pub trait Wire: Send {
    /// Sends as many of these frames, in order, as the segment has room for; returns how many were taken.
    ///
    /// A frame that no retry would help (shorter than an Ethernet header, longer than [`mtu`](Wire::mtu) allows) is
    /// taken, counted and dropped.
    ///
    /// # Errors
    /// The segment is gone for good. What the network does to single frames is no error.
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize>;

    /// Waits for frames and appends them to `out`, at most [`BATCH`] in one call. `None` waits without end; a deadline
    /// that has passed does not wait at all.
    ///
    /// # Errors
    /// The segment is gone for good.
    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()>;

    /// Most bytes of a frame after its 14 bytes of Ethernet header.
    fn mtu(&self) -> usize;

    /// Wakes the [`recv`](Wire::recv) in progress or, if there is none, the next one; from any thread.
    fn waker(&self) -> Waker;

    /// Frames that were dropped because what is behind the wire takes none of their length, if it refuses some.
    fn refused(&self) -> Refused {
        Refused::default()
    }

    /// Whether another node of this machine has left frames from this segment unread for so long that it must be
    /// waiting for a processor. A wire that cannot tell says no.
    fn is_starved(&self) -> bool {
        false
    }
}

/// Frames that a wire could not send, though the interface says that it takes frames of their length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused {
    /// How many.
    pub frames: u64,
    /// Bytes of the shortest of them, with Ethernet's header.
    pub bytes_min: usize,
}

impl Refused {
    /// The same for people, if there are any.
    #[must_use]
    pub fn in_words(self) -> Option<String> {
        let Self { frames, bytes_min } = self;
        (frames > 0).then(|| {
            format!(
                "the interface dropped {frames} frames of {bytes_min} bytes or more: what is behind it takes none so long; \
                 give both ends of the link the same MTU, or this one 1500"
            )
        })
    }
}

impl<W: Wire + ?Sized> Wire for Box<W> {
    fn refused(&self) -> Refused {
        (**self).refused()
    }
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        (**self).send(frames)
    }
    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
        (**self).recv(deadline, out)
    }
    fn mtu(&self) -> usize {
        (**self).mtu()
    }
    fn waker(&self) -> Waker {
        (**self).waker()
    }
    fn is_starved(&self) -> bool {
        (**self).is_starved()
    }
}

/// Whether a frame of `length` bytes can travel on a wire of this MTU.
pub(crate) const fn fits(length: usize, mtu: usize) -> bool {
    length >= ETHERNET_HEADER && length <= mtu + ETHERNET_HEADER
}

/// Bytes of destination, source and EtherType.
pub const ETHERNET_HEADER: usize = 14;

/// MTU of standard Ethernet.
pub const MTU_STANDARD: usize = 1500;

/// MTU of jumbo frames, and the largest that a wire here carries.
pub const MTU_JUMBO: usize = 9000;

/// Most frames one [`Wire::recv`] appends: 256 jumbo frames are 2.2 MiB, about what a shared cache holds.
pub const BATCH: usize = 256;

/// A full wire is tried again after this long even when nothing says that it has room: some devices never tell.
pub const RETRY: Duration = Duration::from_millis(2);
