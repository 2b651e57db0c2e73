//! A node of the bridge with a memory, as a bench drives it: frames go in and come out, it asks and is asked, and time
//! passes as the bench says.

use bytes::Bytes;
use rackloom_bridge::{
    self as bridge, EndpointConfig, EndpointEvent, NotTaken, Rights, Target, TargetFailed, Ticket, Window, Windows,
};
use rackloom_node::Instant;

use crate::Fault;
use crate::frame::mac;

/// What a node has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    /// Requests carried out, or that memory failed.
    pub served: u64,
    /// What was malformed.
    pub malformed: u64,
    /// What no window permitted, or for which there was no room.
    pub denied: u64,
}

/// What a node's owner learns: of a request that is over, or a message of a stream. Its bytes are asked for apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Happening {
    /// Of a request, its number.
    pub request: u64,
    /// Of a message, who has sent it.
    pub peer: u64,
    /// Of a message, the stream.
    pub stream: u16,
    /// A request has failed.
    pub failed: u8,
}

/// Its memory, from address 0 on. It may fail.
#[derive(Debug)]
struct Memory {
    bytes: Vec<u8>,
    fails: bool,
}

impl Memory {
    fn range(&mut self, addr: u64, length: usize) -> Result<&mut [u8], TargetFailed> {
        let from = usize::try_from(addr).map_err(|_| TargetFailed)?;
        let to = from.checked_add(length).ok_or(TargetFailed)?;
        if self.fails { Err(TargetFailed) } else { self.bytes.get_mut(from..to).ok_or(TargetFailed) }
    }
}

impl Target for Memory {
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
        into.copy_from_slice(self.range(addr, into.len())?);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
        self.range(addr, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }
}

/// A node.
#[derive(Debug)]
pub struct Endpoint {
    node: bridge::Endpoint,
    memory: Memory,
    now: Instant,
    /// Of all requests, by their numbers.
    tickets: Vec<Ticket>,
    /// Of what has happened last.
    bytes: Bytes,
}

impl Endpoint {
    /// One with this address and memory that takes payloads of up to `longest` bytes.
    pub(crate) fn new(address: u64, longest: u16, epoch: u32, memory: &[u8]) -> Result<Self, Fault> {
        if !(64..=8832).contains(&longest) || epoch == 0 {
            return Err(Fault::Argument);
        }
        let config = EndpointConfig { longest, ..EndpointConfig::new(mac(address)?, epoch, false) };
        let memory = Memory { bytes: memory.to_vec(), fails: false };
        let node = bridge::Endpoint::new(config);
        Ok(Self { node, memory, now: Instant::from_nanos(0), tickets: Vec::new(), bytes: Bytes::new() })
    }

    /// Sets a window; without bytes, closes it. `rights` are the protocol's bits.
    pub(crate) fn window(&mut self, number: u64, base: u64, length: u64, peer: u64, rights: u8) -> Result<(), Fault> {
        let rights = Rights::from_bits(rights).ok_or(Fault::Argument)?;
        let window = (length > 0).then_some(Window { base, length, peer: mac(peer)?, rights });
        let windows: &mut Windows = self.node.windows();
        if windows.set(number, window) { Ok(()) } else { Err(Fault::Argument) }
    }

    /// Whether its memory fails from now on.
    pub(crate) const fn set_fails(&mut self, fails: bool) {
        self.memory.fails = fails;
    }

    /// A frame has come.
    pub(crate) fn handle(&mut self, frame: &[u8]) {
        self.node.handle_frame(self.now, &Bytes::copy_from_slice(frame), &mut self.memory);
    }

    /// The next frame to send.
    pub(crate) fn poll(&mut self) -> Option<Bytes> {
        self.node.poll(self.now)
    }

    /// It is this time now, which is none that has passed.
    pub(crate) fn set_time(&mut self, now_ns: u64) -> Result<(), Fault> {
        let now = Instant::from_nanos(now_ns);
        if now < self.now {
            return Err(Fault::Argument);
        }
        self.now = now;
        self.node.handle_timeout(now);
        Ok(())
    }

    /// Asks a peer for its memory: the request's number.
    pub(crate) fn read(&mut self, peer: u64, addr: u64, count: u32) -> Result<usize, Fault> {
        let asked = self.node.read(self.now, mac(peer)?, addr, count);
        self.begun(asked)
    }

    /// Writes to a peer's memory: the request's number.
    pub(crate) fn write(&mut self, peer: u64, addr: u64, data: &[u8]) -> Result<usize, Fault> {
        let asked = self.node.write(self.now, mac(peer)?, addr, Bytes::copy_from_slice(data));
        self.begun(asked)
    }

    fn begun(&mut self, asked: Result<Ticket, NotTaken>) -> Result<usize, Fault> {
        self.tickets.push(asked.map_err(refusal)?);
        Ok(self.tickets.len() - 1)
    }

    /// Sends a message to a peer's stream.
    pub(crate) fn send(&mut self, peer: u64, stream: u16, message: &[u8]) -> Result<(), Fault> {
        self.node.send(self.now, mac(peer)?, stream, &Bytes::copy_from_slice(message)).map_err(refusal)
    }

    /// The next request that is over.
    pub(crate) fn next_done(&mut self) -> Option<Happening> {
        while let Some(event) = self.node.next_event() {
            let EndpointEvent::Done { ticket, result } = event else { continue };
            let request = self.tickets.iter().position(|t| *t == ticket).expect("it was asked") as u64;
            let failed = u8::from(result.is_err());
            self.bytes = result.unwrap_or_default();
            return Some(Happening { request, failed, ..Happening::default() });
        }
        None
    }

    /// Takes the next message.
    pub(crate) fn take(&mut self) -> Option<Happening> {
        let (peer, stream, bytes) = self.node.take_message(self.now)?;
        self.bytes = bytes;
        let peer = peer.0.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet));
        Some(Happening { peer, stream, ..Happening::default() })
    }

    /// The bytes of what has happened last.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What its memory holds.
    pub(crate) fn memory(&self) -> &[u8] {
        &self.memory.bytes
    }

    /// What it has counted.
    pub(crate) const fn counters(&self) -> Counters {
        let counters = self.node.counters();
        Counters { served: counters.served, malformed: counters.malformed, denied: counters.denied }
    }
}

const fn refusal(why: NotTaken) -> Fault {
    match why {
        NotTaken::Invalid => Fault::Argument,
        NotTaken::Full | NotTaken::Peers => Fault::Refused,
    }
}
