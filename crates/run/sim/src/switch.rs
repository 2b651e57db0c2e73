//! A learning switch: where an address was last seen, and which ports a frame leaves by.

use core::time::Duration;
use std::collections::BTreeMap;

use rackloom_node::Frame;

use crate::ids::PipeId;
use crate::stats::SwitchStats;

/// What a switch is like. The default is small and fast like the 12-port 10 GbE switches of SAF; its delay, buffers and
/// table are assumptions of ours, typical of that class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchConfig {
    /// Number of ports.
    pub ports: u16,
    /// From the last bit in to the place in the output queue.
    pub latency: Duration,
    /// Size of each port's output queue in bytes on the wire; what does not fit is dropped.
    pub queue_bytes: u32,
    /// Most addresses in the table; when it is full, further ones are not learned and frames to them are flooded.
    pub table_max: usize,
    /// How long an address is remembered after it was last seen as a source.
    pub age: Duration,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        Self {
            ports: 12,
            latency: Duration::from_micros(1),
            queue_bytes: 512 * 1024,
            table_max: 16 * 1024,
            // The default of IEEE 802.1D.
            age: Duration::from_secs(300),
        }
    }
}

impl SwitchConfig {
    /// The default with another number of ports.
    pub fn with_ports(ports: u16) -> Self {
        Self { ports, ..Self::default() }
    }
}

/// Where a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// To no port.
    Nowhere,
    To(u16),
    /// To all ports but the one it came from.
    Flood,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    port: u16,
    at: u64,
}

/// A switch. Its queues are the pipes that leave it.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) config: SwitchConfig,
    pub(crate) latency_ns: u64,
    age_ns: u64,
    /// The pipe that leaves each port, if a cable is there.
    pub(crate) ports: Vec<Option<PipeId>>,
    table: BTreeMap<u64, Seen>,
    /// No address ages before: a full table is not swept until then.
    sweep_at: u64,
    pub(crate) stats: SwitchStats,
}

impl Switch {
    pub(crate) fn new(config: SwitchConfig) -> Self {
        let nanos = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        Self {
            config,
            latency_ns: nanos(config.latency),
            age_ns: nanos(config.age),
            ports: vec![None; usize::from(config.ports)],
            table: BTreeMap::new(),
            sweep_at: 0,
            stats: SwitchStats::default(),
        }
    }

    /// Learns the source of a frame and finds the way of its destination.
    pub(crate) fn route(&mut self, now_ns: u64, ingress: u16, frame: &Frame) -> Route {
        let Some((destination, source)) = addresses(frame) else {
            self.stats.malformed += 1;
            return Route::Nowhere;
        };
        self.learn(now_ns, ingress, source);
        if destination & GROUP_BIT != 0 {
            self.stats.flooded += 1;
            return Route::Flood;
        }
        match self.table.get(&destination) {
            Some(seen) if now_ns - seen.at <= self.age_ns => {
                if seen.port == ingress {
                    self.stats.filtered += 1;
                    return Route::Nowhere;
                }
                self.stats.forwarded += 1;
                Route::To(seen.port)
            }
            _ => {
                self.stats.flooded += 1;
                Route::Flood
            }
        }
    }

    /// Forgets all addresses behind a port: its cable is down.
    pub(crate) fn forget(&mut self, port: u16) {
        self.table.retain(|_, seen| seen.port != port);
    }

    fn learn(&mut self, now_ns: u64, port: u16, source: u64) {
        // A group is no source, and neither is the address of nobody.
        if source & GROUP_BIT != 0 || source == 0 {
            return;
        }
        if let Some(seen) = self.table.get_mut(&source) {
            self.stats.moved += u64::from(seen.port != port);
            *seen = Seen { port, at: now_ns };
            return;
        }
        if self.table.len() >= self.config.table_max && now_ns >= self.sweep_at {
            self.sweep(now_ns);
        }
        if self.table.len() >= self.config.table_max {
            self.stats.table_full += 1;
            return;
        }
        self.table.insert(source, Seen { port, at: now_ns });
        self.stats.learned += 1;
    }

    fn sweep(&mut self, now_ns: u64) {
        let age_ns = self.age_ns;
        self.table.retain(|_, seen| now_ns - seen.at <= age_ns);
        let oldest = self.table.values().map(|seen| seen.at).min().unwrap_or(now_ns);
        self.sweep_at = oldest.saturating_add(age_ns).saturating_add(1);
    }
}

/// Destination and source as numbers, first byte highest.
fn addresses(frame: &[u8]) -> Option<(u64, u64)> {
    let head: &[u8; ETHERNET_HEADER] = frame.first_chunk()?;
    let address = |at: usize| head[at..at + 6].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    Some((address(0), address(6)))
}

/// Group (multicast and broadcast) addresses have the lowest bit of their first byte set.
const GROUP_BIT: u64 = 1 << 40;

/// Destination, source and EtherType; nothing shorter can be forwarded.
const ETHERNET_HEADER: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: u8, from: u8) -> Frame {
        let mut bytes = [0; 60];
        bytes[0] = 2;
        bytes[5] = to;
        bytes[6] = 2;
        bytes[11] = from;
        Frame::copy_from_slice(&bytes)
    }

    fn switch(table_max: usize) -> Switch {
        Switch::new(SwitchConfig { table_max, age: Duration::from_nanos(100), ..SwitchConfig::default() })
    }

    #[test]
    fn an_address_is_learned_moved_aged_and_forgotten() {
        let mut s = switch(8);
        assert_eq!(s.route(0, 1, &frame(2, 1)), Route::Flood);
        assert_eq!(s.route(1, 2, &frame(1, 2)), Route::To(1));
        assert_eq!(s.route(2, 1, &frame(1, 3)), Route::Nowhere, "it lives behind the port it came from");
        assert_eq!(s.route(3, 4, &frame(2, 1)), Route::To(2));
        assert_eq!(s.route(103, 2, &frame(1, 2)), Route::To(4), "moved, and just young enough");
        assert_eq!(s.route(104, 2, &frame(1, 2)), Route::Flood, "aged");
        assert_eq!(s.route(105, 5, &frame(2, 5)), Route::To(2));
        s.forget(2);
        assert_eq!(s.route(106, 5, &frame(2, 5)), Route::Flood);
        assert_eq!((s.stats.moved, s.stats.filtered), (1, 1));
    }

    #[test]
    fn a_full_table_learns_again_when_addresses_have_aged() {
        let mut s = switch(2);
        for from in 1..=3 {
            s.route(u64::from(from), 1, &frame(9, from));
        }
        assert_eq!((s.stats.learned, s.stats.table_full), (2, 1));
        // Address 1 was seen at 1 and may go at 102.
        s.route(101, 1, &frame(9, 3));
        assert_eq!((s.stats.learned, s.stats.table_full), (2, 2));
        s.route(102, 1, &frame(9, 3));
        assert_eq!((s.stats.learned, s.stats.table_full), (3, 2));
    }

    #[test]
    fn groups_flood_and_are_never_learned() {
        let mut s = switch(8);
        let mut group = frame(1, 1).to_vec();
        group[0] = 3;
        group[6] = 3;
        assert_eq!(s.route(0, 1, &Frame::from(group)), Route::Flood);
        assert_eq!(s.stats.learned, 0);
        assert_eq!(s.route(0, 1, &Frame::from_static(&[2; 13])), Route::Nowhere);
        assert_eq!(s.stats.malformed, 1);
    }
}
