//! A node of the bridge with a memory, as a bench drives it: frames go in and come out, and time stands still.

use bytes::Bytes;
use rackloom_bridge::{self as bridge, EndpointConfig, Rights, Target, TargetFailed, Window, Windows};
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
}

impl Endpoint {
    /// One with this address and memory that takes payloads of up to `longest` bytes.
    pub(crate) fn new(address: u64, longest: u16, epoch: u32, memory: &[u8]) -> Result<Self, Fault> {
        if !(64..=8832).contains(&longest) || epoch == 0 {
            return Err(Fault::Argument);
        }
        let config = EndpointConfig { longest, ..EndpointConfig::new(mac(address)?, epoch, false) };
        let memory = Memory { bytes: memory.to_vec(), fails: false };
        Ok(Self { node: bridge::Endpoint::new(config), memory })
    }

    /// Sets a window; without bytes, closes it. `rights` are the protocol's bits.
    pub(crate) fn window(
        &mut self,
        number: u64,
        base: u64,
        length: u64,
        peer: u64,
        rights: u8,
    ) -> Result<(), Fault> {
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
        self.node.handle_frame(Instant::from_nanos(0), &Bytes::copy_from_slice(frame), &mut self.memory);
    }

    /// The next frame to send.
    pub(crate) fn poll(&mut self) -> Option<Bytes> {
        self.node.poll(Instant::from_nanos(0))
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
