//! The memory of one connection: two rings, and the words on which each side sleeps.
//!
//! A page of words, each on lines of its own, then the ring to the server, then the ring to the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use crate::ring::Area;
use crate::sys::map::Mapping;

/// Bytes before the rings.
pub(crate) const HEADER: usize = 4096;

/// Distance of words in bytes: two cache lines, which processors fetch together.
const LINE: usize = 128;

/// Which ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// The words that threads sleep on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Doorbell {
    /// The server's thread for this client.
    Server = 8,
    /// The client's thread that waits for messages.
    Leader = 9,
    /// The client's threads that wait for space.
    Senders = 10,
}

/// A value of `want_data` of the ring to the client: a thread that waits for messages sleeps.
pub(crate) const WANT_LEADER: u32 = 1;
/// Another value: nobody waits, and the client's own thread must be woken through the socket.
pub(crate) const WANT_BACKGROUND: u32 = 2;

/// Bytes of the memory for rings of this size.
pub(crate) const fn bytes(ring_bytes: u32) -> usize {
    HEADER + 2 * ring_bytes as usize
}

/// Whether rings can have this size.
pub(crate) const fn ring_bytes_ok(bytes: u32) -> bool {
    bytes.is_power_of_two() && bytes >= 128 * 1024 && bytes <= 1 << 30
}

/// One ring of the memory.
#[derive(Debug, Clone)]
pub(crate) struct SharedRing {
    map: Arc<Mapping>,
    direction: Direction,
    capacity: u32,
}

impl SharedRing {
    pub(crate) fn new(map: Arc<Mapping>, direction: Direction, capacity: u32) -> Self {
        assert!(ring_bytes_ok(capacity) && map.len() == bytes(capacity), "the caller has checked what the peer said");
        Self { map, direction, capacity }
    }

    fn word(&self, index: usize) -> &AtomicU32 {
        let first = if self.direction == Direction::ToServer { 0 } else { 4 };
        self.map.word((first + index) * LINE)
    }

    fn start(&self) -> usize {
        HEADER + if self.direction == Direction::ToServer { 0 } else { self.capacity as usize }
    }
}

/// The word that a side sleeps on.
pub(crate) fn doorbell(map: &Mapping, doorbell: Doorbell) -> &AtomicU32 {
    map.word(doorbell as usize * LINE)
}

impl Area for SharedRing {
    type Word = AtomicU32;
    fn head(&self) -> &AtomicU32 {
        self.word(0)
    }
    fn tail(&self) -> &AtomicU32 {
        self.word(1)
    }
    fn want_data(&self) -> &AtomicU32 {
        self.word(2)
    }
    fn want_space(&self) -> &AtomicU32 {
        self.word(3)
    }
    fn capacity(&self) -> u32 {
        self.capacity
    }
    fn write(&self, at: u32, bytes: &[u8]) {
        self.map.write(self.start() + at as usize, bytes);
    }
    fn read(&self, at: u32, out: &mut [u8]) {
        self.map.read(self.start() + at as usize, out);
    }
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}

/// Sets both rings' positions, before the memory is shared.
pub(crate) fn prepare(map: &Mapping, start: u32) {
    for index in [0, 1, 4, 5] {
        map.word(index * LINE).store(start, Ordering::Relaxed);
    }
}
