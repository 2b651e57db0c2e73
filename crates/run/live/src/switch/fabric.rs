//! The switch's inside: everything one lock guards.

use std::collections::VecDeque;
use std::ops::Range;
use std::task::Waker;
use std::time::{Duration, Instant};

use rackloom_node::Frame;

use super::mactable::MacTable;
use super::{PortStats, SwitchConfig};
use crate::capture::{Capture, Way};
use crate::wire::{BATCH, ETHERNET_HEADER, fits};

/// Ports, their output queues, and the address table.
#[derive(Debug)]
pub(crate) struct Fabric {
    config: SwitchConfig,
    slots: Vec<Option<Slot>>,
    table: MacTable,
    tap: Option<Capture>,
    /// Addresses not learnt because the table was full.
    pub(crate) unlearnt: u64,
}

/// One port, as the switch sees it.
#[derive(Debug)]
struct Slot {
    name: String,
    queue: VecDeque<Frame>,
    bytes: usize,
    /// Since when this port has held up a sender without its owner taking anything.
    stalled: Option<Instant>,
    /// Since when its owner has left frames in the queue without taking any.
    unread: Option<Instant>,
    /// Ports whose last send this one's full queue cut short.
    waiting: Vec<usize>,
    /// Its owner found nothing to do and wants to be told.
    armed: bool,
    waker: Waker,
    stats: PortStats,
}

/// What stands in a frame's way.
enum Path {
    Clear,
    Full(usize),
}

impl Fabric {
    pub(crate) fn new(config: SwitchConfig) -> Self {
        let table = MacTable::new(config.addresses, config.address_age, config.sticky);
        Self { config, slots: Vec::new(), table, tap: None, unlearnt: 0 }
    }

    pub(crate) fn set_tap(&mut self, tap: Option<Capture>) {
        self.tap = tap;
    }

    /// A free port's number, or `None` if all are taken.
    pub(crate) fn attach(&mut self, name: &str, waker: Waker) -> Option<usize> {
        let slot = Slot {
            name: name.to_owned(),
            queue: VecDeque::new(),
            bytes: 0,
            stalled: None,
            unread: None,
            waiting: Vec::new(),
            armed: false,
            waker,
            stats: PortStats::default(),
        };
        if let Some(free) = self.slots.iter().position(Option::is_none) {
            self.slots[free] = Some(slot);
            return Some(free);
        }
        if self.slots.len() >= self.config.ports {
            return None;
        }
        self.slots.push(Some(slot));
        Some(self.slots.len() - 1)
    }

    /// Pulls the cable; `wake` gets those who waited for room there.
    pub(crate) fn detach(&mut self, port: usize, wake: &mut Vec<Waker>) {
        let slot = self.slots[port].take().expect("a port is detached once");
        self.table.forget(port);
        self.wake(&slot.waiting, wake);
        for other in self.slots.iter_mut().flatten() {
            other.waiting.retain(|&p| p != port);
        }
    }

    pub(crate) fn set_waker(&mut self, port: usize, waker: Waker) {
        self.slot(port).waker = waker;
    }

    pub(crate) fn stats(&self) -> Vec<(String, PortStats)> {
        let queued =
            |s: &Slot| PortStats { queued_frames: s.queue.len() as u64, queued_bytes: s.bytes as u64, ..s.stats };
        self.slots.iter().flatten().map(|s| (s.name.clone(), queued(s))).collect()
    }

    pub(crate) fn port_stats(&self, port: usize) -> PortStats {
        self.slots[port].as_ref().expect("a port lives as long as its handle").stats
    }

    /// Switches frames that arrive on `port` until one has no room; returns how many were taken. `wake` gets the owners
    /// who wait for frames.
    pub(crate) fn send(&mut self, port: usize, frames: &[Frame], now: Instant, wake: &mut Vec<Waker>) -> usize {
        // Frames come in trains from one node to one node: one lookup serves the train.
        let mut learnt = None;
        let mut looked_up: Option<([u8; 6], Option<usize>)> = None;
        for (i, frame) in frames.iter().enumerate() {
            if !fits(frame.len(), self.config.mtu) {
                self.slot(port).stats.bad_length += 1;
                continue;
            }
            let (dst, src) = addresses(frame);
            if learnt != Some(src) {
                learnt = Some(src);
                // A source address with the group bit is no node's; zero is nobody's.
                if src[0] & 1 == 0 && src != [0; 6] && !self.table.learn(src, port, now) {
                    self.unlearnt += 1;
                }
            }
            let out = match looked_up {
                Some((mac, out)) if mac == dst => out,
                _ => {
                    let out = if dst[0] & 1 == 0 { self.table.port(dst, now) } else { None };
                    looked_up = Some((dst, out));
                    out
                }
            };
            let way = match out {
                // The receiver is on the cable the frame came from: it has it already.
                Some(out) if out == port => {
                    self.slot(port).stats.filtered += 1;
                    Path::Clear
                }
                Some(out) => self.unicast(out, frame, now, wake),
                None => self.flood(port, frame, now, wake),
            };
            if let Path::Full(full) = way {
                let slot = self.slot(full);
                slot.stalled.get_or_insert(now);
                if !slot.waiting.contains(&port) {
                    slot.waiting.push(port);
                }
                self.slot(port).armed = true;
                return i;
            }
            let stats = &mut self.slot(port).stats;
            stats.in_frames += 1;
            stats.in_bytes += frame.len() as u64;
            if let Some(tap) = &self.tap {
                tap.record(Way::Through, frame);
            }
        }
        frames.len()
    }

    fn unicast(&mut self, out: usize, frame: &Frame, now: Instant, wake: &mut Vec<Waker>) -> Path {
        let limits = self.config;
        let slot = self.slot(out);
        if slot.has_room(frame.len(), &limits) {
            slot.push(frame, now, wake);
        } else if slot.is_stuck(now, &limits) {
            slot.stats.dropped += 1;
        } else {
            return Path::Full(out);
        }
        Path::Clear
    }

    /// All or none: a flood that some ports had and others not could only be retried as duplicates.
    fn flood(&mut self, port: usize, frame: &Frame, now: Instant, wake: &mut Vec<Waker>) -> Path {
        let limits = self.config;
        let full = |(i, s): (usize, &Option<Slot>)| {
            let s = s.as_ref()?;
            (i != port && !s.has_room(frame.len(), &limits) && !s.is_stuck(now, &limits)).then_some(i)
        };
        if let Some(full) = self.slots.iter().enumerate().find_map(full) {
            return Path::Full(full);
        }
        for (i, slot) in self.slots.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            if i == port {
                continue;
            }
            if slot.has_room(frame.len(), &limits) {
                slot.push(frame, now, wake);
            } else {
                slot.stats.dropped += 1;
            }
        }
        Path::Clear
    }

    /// Moves up to a batch of frames from `port`'s queue to `out`; returns how many. `wake` gets the senders who wait
    /// for room. When there was none, the port is armed: its waker is used for the next frame.
    pub(crate) fn recv(&mut self, port: usize, out: &mut Vec<Frame>, wake: &mut Vec<Waker>) -> usize {
        let limits = self.config;
        let slot = self.slot(port);
        let n = slot.queue.len().min(BATCH);
        if n == 0 {
            slot.armed = true;
            return 0;
        }
        out.reserve(n);
        let mut bytes = 0;
        for frame in slot.queue.drain(..n) {
            bytes += frame.len();
            out.push(frame);
        }
        slot.bytes -= bytes;
        slot.stats.out_frames += n as u64;
        slot.stats.out_bytes += bytes as u64;
        slot.stalled = None;
        slot.unread = (!slot.queue.is_empty()).then(Instant::now);
        // Wake at half empty, not at the first free place: else sender and receiver would change places for each frame.
        if !slot.waiting.is_empty()
            && slot.queue.len() <= limits.queue_frames / 2
            && slot.bytes <= limits.queue_bytes / 2
        {
            let waiting = core::mem::take(&mut slot.waiting);
            self.wake(&waiting, wake);
        }
        n
    }

    /// Whether the owner of a port other than this one is late to read what came for it.
    pub(crate) fn is_starved(&self, port: usize, now: Instant) -> bool {
        let late = |s: &Slot| s.unread.is_some_and(|at| UNREAD.contains(&now.saturating_duration_since(at)));
        self.slots.iter().enumerate().any(|(i, s)| i != port && s.as_ref().is_some_and(late))
    }

    fn wake(&mut self, ports: &[usize], wake: &mut Vec<Waker>) {
        for &p in ports {
            if let Some(slot) = &mut self.slots[p] {
                slot.ring(wake);
            }
        }
    }

    fn slot(&mut self, port: usize) -> &mut Slot {
        self.slots[port].as_mut().expect("a port lives as long as its handle")
    }
}

impl Slot {
    fn has_room(&self, bytes: usize, limits: &SwitchConfig) -> bool {
        self.queue.len() < limits.queue_frames && self.bytes + bytes <= limits.queue_bytes
    }

    fn is_stuck(&self, now: Instant, limits: &SwitchConfig) -> bool {
        self.stalled.is_some_and(|since| now.saturating_duration_since(since) >= limits.stall)
    }

    fn push(&mut self, frame: &Frame, now: Instant, wake: &mut Vec<Waker>) {
        self.unread.get_or_insert(now);
        self.bytes += frame.len();
        self.queue.push_back(frame.clone());
        self.ring(wake);
    }

    /// Has the owner woken, unless it was already or is busy and will look by itself.
    fn ring(&mut self, wake: &mut Vec<Waker>) {
        if self.armed {
            self.armed = false;
            wake.push(self.waker.clone());
        }
    }
}

/// How long frames lie unread before a node that waits for a processor. With a processor free it is a fraction of a
/// millisecond; and a node that has read nothing for half a minute does not wait, it hangs.
const UNREAD: Range<Duration> = Duration::from_millis(100)..Duration::from_secs(30);

/// Destination and source. The frame is at least a header long.
fn addresses(frame: &[u8]) -> ([u8; 6], [u8; 6]) {
    debug_assert!(frame.len() >= ETHERNET_HEADER);
    let (dst, rest) = frame.split_first_chunk().expect("at least a header long");
    (*dst, *rest.first_chunk().expect("at least a header long"))
}
