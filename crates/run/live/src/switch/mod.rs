//! A learning Ethernet switch inside this process.
//!
//! It is lossless between nodes that keep up: a port whose queue is full makes [`Wire::send`] take less, and the sender
//! waits. But only so long: a port whose owner takes nothing for [`SwitchConfig::stall`] is stuck, and until it moves
//! again what is meant for it is dropped and counted, so that one stuck node cannot stop the rack.

mod fabric;
mod mactable;

use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::{Duration, Instant};

use rackloom_node::Frame;
use rackloom_sync::lock;

use self::fabric::Fabric;
use crate::capture::Capture;
use crate::pace::Pace;
use crate::signal::Signal;
use crate::wire::{ETHERNET_HEADER, MTU_JUMBO, RETRY, Wire};

/// Limits of a switch.
#[derive(Debug, Clone, Copy)]
pub struct SwitchConfig {
    /// Most ports.
    pub ports: usize,
    /// Most bytes of a frame after its Ethernet header.
    pub mtu: usize,
    /// Most frames in a port's output queue.
    pub queue_frames: usize,
    /// Most bytes in a port's output queue. Frames are shared: a flooded frame counts on each port, but exists once.
    pub queue_bytes: usize,
    /// How long a full port whose owner takes nothing may hold up others.
    pub stall: Duration,
    /// Most addresses remembered.
    pub addresses: usize,
    /// How long an address is remembered after it last sent.
    pub address_age: Duration,
    /// An address stays at the port that has first sent under it until that is pulled out. Who sends under it
    /// elsewhere is heard, but draws nothing away from it.
    pub sticky: bool,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        Self {
            ports: 1024, // 256 cards, and hosts, and room for a mistake.
            mtu: MTU_JUMBO,
            queue_frames: 1024,   // Four batches: the receiver has work while the sender is woken.
            queue_bytes: 4 << 20, // 465 jumbo frames: within a card's write window of 256 nothing ever waits.
            stall: Duration::from_millis(50),
            addresses: 4096,                       // Four for each port.
            address_age: Duration::from_secs(300), // As IEEE 802.1D recommends.
            sticky: false,                         // Stations move.
        }
    }
}

/// A learning switch. Clones are handles to the same switch.
#[derive(Debug, Clone)]
pub struct Switch {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: SwitchConfig,
    fabric: Mutex<Fabric>,
}

impl Switch {
    /// A switch without ports.
    ///
    /// # Panics
    /// If a queue could not hold one frame of the MTU.
    #[must_use]
    pub fn new(config: SwitchConfig) -> Self {
        assert!(config.queue_frames > 0);
        assert!(config.queue_bytes >= config.mtu + ETHERNET_HEADER);
        Self { shared: Arc::new(Shared { config, fabric: Mutex::new(Fabric::new(config)) }) }
    }

    /// Plugs a cable in; the name is for statistics. Dropping the [`Port`] pulls it out.
    ///
    /// # Errors
    /// All ports are taken.
    pub fn attach(&self, name: &str) -> Result<Port, SwitchError> {
        let signal = Arc::new(Signal::default());
        let waker = Waker::from(Arc::clone(&signal));
        let id = lock(&self.shared.fabric).attach(name, waker.clone());
        let id = id.ok_or(SwitchError::NoPort { ports: self.shared.config.ports })?;
        Ok(Port { shared: Arc::clone(&self.shared), id, signal, waker, pace: None, blocked: false, wake: Vec::new() })
    }

    /// Captures each frame that the switch takes from now on, once, in the order it takes them; or no longer.
    pub fn set_tap(&self, tap: Option<Capture>) {
        lock(&self.shared.fabric).set_tap(tap);
    }

    /// Most bytes of a frame after its Ethernet header.
    #[must_use]
    pub fn mtu(&self) -> usize {
        self.shared.config.mtu
    }

    /// What passed so far.
    #[must_use]
    pub fn stats(&self) -> SwitchStats {
        let fabric = lock(&self.shared.fabric);
        SwitchStats { unlearnt: fabric.unlearnt, ports: fabric.stats() }
    }
}

impl Default for Switch {
    fn default() -> Self {
        Self::new(SwitchConfig::default())
    }
}

/// One cable into a [`Switch`].
#[derive(Debug)]
pub struct Port {
    shared: Arc<Shared>,
    id: usize,
    signal: Arc<Signal>,
    waker: Waker,
    /// `None`: it sends as fast as it is given frames.
    pace: Option<Pace>,
    blocked: bool,
    /// Whom to wake once the lock is released; empty between calls.
    wake: Vec<Waker>,
}

impl Port {
    /// Has `waker` used, in place of the port's own, when frames arrive or room appears after [`recv`](Wire::recv)
    /// found nothing or [`send`](Wire::send) was cut short: for one thread that serves many ports and does not wait
    /// in `recv`.
    pub fn set_waker(&mut self, waker: Waker) {
        self.waker = waker.clone();
        lock(&self.shared.fabric).set_waker(self.id, waker);
    }

    /// From now on the port sends at most `rate` bits a second, counted as on Ethernet: with preamble, check sequence
    /// and gap. To whoever sends it is a full wire meanwhile.
    pub fn set_rate(&mut self, rate: NonZeroU64) {
        self.pace = Some(Pace::new(rate.get()));
    }

    /// When a port that was full may send again by its rate; `None`: it is full for another reason, or not at all.
    pub(crate) fn opens_at(&self) -> Option<Instant> {
        self.pace.as_ref().filter(|_| self.blocked).map(Pace::opens_at)
    }

    /// What passed on this port so far; queue lengths are not filled in.
    #[must_use]
    pub fn stats(&self) -> PortStats {
        lock(&self.shared.fabric).port_stats(self.id)
    }

    fn take(&mut self, out: &mut Vec<Frame>) -> usize {
        let n = lock(&self.shared.fabric).recv(self.id, out, &mut self.wake);
        self.ring();
        n
    }

    fn ring(&mut self) {
        self.wake.drain(..).for_each(Waker::wake);
    }
}

impl Wire for Port {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        if frames.is_empty() {
            return Ok(0);
        }
        let now = Instant::now();
        let may_go = self.pace.as_ref().map_or(frames.len(), |pace| pace.admits(now, frames));
        let n = lock(&self.shared.fabric).send(self.id, &frames[..may_go], now, &mut self.wake);
        self.ring();
        if let Some(pace) = &mut self.pace {
            pace.sent(now, &frames[..n]);
        }
        self.blocked = n < frames.len();
        Ok(n)
    }

    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
        let woken = self.signal.take();
        if self.take(out) > 0 || woken {
            return Ok(());
        }
        // A stuck port does not tell when its grace is over.
        let retry = self.blocked.then(|| Instant::now() + RETRY);
        let deadline = [deadline, retry, self.opens_at()].into_iter().flatten().min();
        if deadline.is_none_or(|at| at > Instant::now()) && self.signal.wait(deadline) {
            self.take(out);
        }
        Ok(())
    }

    fn mtu(&self) -> usize {
        self.shared.config.mtu
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn is_starved(&self) -> bool {
        lock(&self.shared.fabric).is_starved(self.id, Instant::now())
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        lock(&self.shared.fabric).detach(self.id, &mut self.wake);
        self.ring();
    }
}

/// What passed on a port. "In" is from the node into the switch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Frames taken from the node.
    pub in_frames: u64,
    /// Bytes taken from the node.
    pub in_bytes: u64,
    /// Frames handed to the node.
    pub out_frames: u64,
    /// Bytes handed to the node.
    pub out_bytes: u64,
    /// Frames not queued for the node because it was stuck.
    pub dropped: u64,
    /// Frames from the node dropped because no Ethernet frame of this switch has their length.
    pub bad_length: u64,
    /// Frames from the node to an address on the same port: not switched.
    pub filtered: u64,
    /// Frames in the queue now.
    pub queued_frames: u64,
    /// Bytes in the queue now.
    pub queued_bytes: u64,
}

/// What passed through a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SwitchStats {
    /// Times an address was not learnt because the table was full.
    pub unlearnt: u64,
    /// Each port by name, in the order of their numbers.
    pub ports: Vec<(String, PortStats)>,
}

/// Why a switch refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SwitchError {
    /// Each port has a cable in it.
    #[error("all {ports} ports of the switch are taken")]
    NoPort {
        /// How many there are.
        ports: usize,
    },
}

#[cfg(test)]
mod tests;
