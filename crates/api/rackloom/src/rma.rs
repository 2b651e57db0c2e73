//! Remote memory and streams: this process as a node of the bridge, beside or without a [`Rack`](crate::Rack).

use std::fmt;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rackloom_bridge::{Atomic, Endpoint, EndpointConfig, Rights, STREAM_MESSAGE_MAX, Window};
use rackloom_live::{Clock, Driver, Net, Wire, random_u64};
use rackloom_node::Instant;
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::{MESSAGE_JUMBO, MESSAGE_STANDARD, STREAMS};

use crate::entropy::random_mac;
use crate::exposure::needs_keys;
use crate::pending::Pending;
use crate::{Error, RmaError};

mod mapping;
mod message_queue;
mod node;
mod transfer;

pub use mapping::Mapping;
use message_queue::Incoming;
pub use message_queue::Messages;
use node::{LastWord, RmaNode, SharedWaiting};
use transfer::{Transfer, Work};

/// Options of a node.
#[derive(Debug, Clone, Default)]
pub struct RmaOptions {
    /// The node's address; `None`: a random one that is locally administered.
    pub mac: Option<MacAddr>,
    /// Whether to use jumbo frames where the network allows them. The peers have to take them.
    pub jumbo: bool,
    /// Whether to go back to the first loss, as peers that hold nothing back do, in place of sending only what is lost.
    pub go_back: bool,
    /// Whether it may be a node on an interface: the bridge's frames have no tags, so whoever is on that network can
    /// pose as a node, and read and write through all windows.
    pub insecure_open: bool,
}

/// A node of the bridge on a network. It reads and writes the memory of cards and other hosts that have opened a window
/// for it, and exchanges messages with their streams; no card of its own is needed.
///
/// An operation is carried out once, and those on one peer in the order in which they were begun. If it fails with
/// [`Failure::Restarted`](rackloom_bridge::Failure::Restarted) or
/// [`Failure::Unreachable`](rackloom_bridge::Failure::Unreachable), each part of it was carried out once or not at all.
/// Transfers longer than a frame go in parts, many at a time, and are not atomic as a whole.
///
/// Methods may be called from any thread.
pub struct Rma {
    driver: Arc<Driver<RmaNode>>,
    mac: MacAddr,
    /// Most bytes of a request.
    longest: usize,
}

impl Rma {
    /// Attaches to a network.
    ///
    /// # Errors
    /// The network does not exist, or the operating system refuses; [`Error::Untagged`] on an interface, unless
    /// [`insecure_open`](RmaOptions::insecure_open) says that this may be.
    pub fn connect(net: &Net, options: RmaOptions) -> Result<Self, Error> {
        if needs_keys(net, options.insecure_open) {
            return Err(Error::Untagged { net: net.clone() });
        }
        Self::attach(net.attach()?, options)
    }

    /// Starts a node on a wire, such as a port of an in-process switch.
    ///
    /// # Errors
    /// The operating system refuses a thread.
    pub fn attach(wire: impl Wire + 'static, options: RmaOptions) -> Result<Self, Error> {
        let mac = options.mac.unwrap_or_else(random_mac);
        // A random life: peers tell it from an earlier one under the same address.
        let epoch = (random_u64() >> 33) as u32 | 1;
        let mut config = EndpointConfig::new(mac, epoch, true);
        config.longest = match options.jumbo && wire.mtu() >= JUMBO_MTU {
            true => MESSAGE_JUMBO,
            false => MESSAGE_STANDARD,
        };
        if options.go_back {
            (config.hold, config.selective) = (0, false);
        }
        let waiting: SharedWaiting = Arc::new(Mutex::default());
        let last_word = LastWord(Arc::clone(&waiting));
        let sink = move |()| {
            let _ = &last_word;
        };
        let longest = config.longest.into();
        let node = RmaNode::new(Endpoint::new(config), waiting);
        let driver = Driver::spawn(node, wire, Clock::start(), sink).map_err(Error::Thread)?;
        Ok(Self { driver: Arc::new(driver), mac, longest })
    }

    /// The node's own address, which a window of a peer names.
    pub const fn mac(&self) -> MacAddr {
        self.mac
    }

    /// Reads `length` bytes of `peer`'s memory, at most 4 GiB.
    pub fn read(&self, peer: MacAddr, addr: u64, length: u64) -> Pending<Bytes> {
        if length > TRANSFER_MAX || addr.checked_add(length).is_none() {
            return Pending::failed(Error::Remote { peer, source: RmaError::Invalid });
        }
        self.begin(peer, |done| Transfer::new(addr, length, Work::Read { into: Vec::new(), done }))
    }

    /// Writes to `peer`'s memory, at most 4 GiB.
    pub fn write(&self, peer: MacAddr, addr: u64, bytes: Bytes) -> Pending<()> {
        let length = bytes.len() as u64;
        if length > TRANSFER_MAX || addr.checked_add(length).is_none() {
            return Pending::failed(Error::Remote { peer, source: RmaError::Invalid });
        }
        self.begin(peer, |done| Transfer::new(addr, length, Work::Write { bytes, done }))
    }

    /// Writes to several places of `peer`'s memory in one packet: all of it, or nothing where one is not permitted.
    /// What does not fit one packet fails as invalid.
    pub fn write_batch(&self, peer: MacAddr, writes: Vec<(u64, Bytes)>) -> Pending<()> {
        self.begin(peer, |done| Transfer::single(Work::Batch { writes, done }))
    }

    /// Adds to the 8 bytes at `addr`, a multiple of 8, and returns what was there: a big-endian integer that wraps.
    pub fn fetch_add(&self, peer: MacAddr, addr: u64, value: u64) -> Pending<u64> {
        self.atomic(peer, addr, Atomic::FetchAdd(value))
    }

    /// Stores `new` in the 8 bytes at `addr`, a multiple of 8, if they hold `expected`, and returns what was there.
    pub fn compare_swap(&self, peer: MacAddr, addr: u64, expected: u64, new: u64) -> Pending<u64> {
        self.atomic(peer, addr, Atomic::CompareSwap { expected, new })
    }

    fn atomic(&self, peer: MacAddr, addr: u64, atomic: Atomic) -> Pending<u64> {
        self.begin(peer, |done| Transfer::single(Work::Atomic { addr, atomic, done }))
    }

    /// Sends a message to a stream of `peer`. It has ended when the message is on its way, and waits while the peer
    /// takes none; [`flush`](Self::flush) tells whether it has arrived. At most [`STREAM_MESSAGE_MAX`] bytes.
    pub fn send(&self, peer: MacAddr, stream: u16, message: Bytes) -> Pending<()> {
        if message.len() > STREAM_MESSAGE_MAX || stream >= STREAMS {
            return Pending::failed(Error::Remote { peer, source: RmaError::Invalid });
        }
        self.begin(peer, |done| Transfer::single(Work::Send { stream, message, done }))
    }

    /// Ends when `peer` has acknowledged all messages sent to it before. It fails if any may have been lost since the
    /// last flush.
    pub fn flush(&self, peer: MacAddr) -> Pending<()> {
        self.begin(peer, |done| Transfer::single(Work::Flush { done }))
    }

    /// Opens a stream of this node to `peer`, or to anybody if that is [`MacAddr::ZERO`]. Dropping the queue closes it.
    ///
    /// # Errors
    /// There is no such stream, or it is open; the network is lost.
    pub fn open_stream(&self, stream: u16, peer: MacAddr) -> Result<Messages, Error> {
        if stream >= STREAMS {
            return Err(Error::Remote { peer, source: RmaError::Invalid });
        }
        let (sender, incoming) = sync_channel::<Incoming>(STREAM_QUEUE);
        let window = Window { base: stream.into(), length: 1, peer, rights: Rights::STREAM };
        let opened = self.driver.with(move |node, _| node.open_stream(stream, window, sender));
        if !opened.map_err(|_| Error::Stopped)? {
            return Err(Error::Remote { peer, source: RmaError::Taken });
        }
        Ok(Messages::new(stream, incoming, Arc::clone(&self.driver)))
    }

    fn begin<T>(&self, peer: MacAddr, make: impl FnOnce(crate::pending::Completer<T>) -> Transfer) -> Pending<T> {
        let (done, pending) = Pending::new();
        let transfer = make(done);
        // A closure that cannot be posted is dropped, which completes the operation with `Error::Stopped`.
        let _ = self.driver.post(move |node: &mut RmaNode, now: Instant| node.begin(now, peer, transfer));
        pending.helped_by(&self.driver)
    }
}

impl fmt::Debug for Rma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rma").field("mac", &self.mac).finish_non_exhaustive()
    }
}

/// The MTU that jumbo frames need.
const JUMBO_MTU: usize = 9000;
/// Largest transfer.
const TRANSFER_MAX: u64 = 1 << 32;
/// Messages that wait in a stream's queue before its senders have to wait.
const STREAM_QUEUE: usize = 16;
