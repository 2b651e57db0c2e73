//! What the simulated testbed takes for granted: rates and latencies, each with its source.
//!
//! The simulator gives each frame its time on each wire, stores it whole at the switch and queues it there; the rest of
//! a frame's way is fixed, and these are its parts.

use rackloom_node::Duration;
use rackloom_sim::Cable;
use schemars::JsonSchema;
use serde::Serialize;

use crate::paper;

/// Latencies of the testbed, nanoseconds, one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Latencies {
    /// Rate of every link, bits a second: the paper's.
    pub link_rate: u64,
    /// Port to port through the switch: the data sheet of the SN2100, as the paper cites it (IV.B.1, its reference 35).
    pub switch_ns: u64,
    /// Through a card's fabric, MAC included, from the bridge to the wire or back: what the paper concludes from its
    /// own round trip (IV.B.1: just under 300 ns). So that small packets take what they take there is no finding.
    pub fabric_ns: u64,
    /// A cable of 3 m: 5 ns for each.
    pub cable_ns: u64,
    /// A hop over PCIe between a host and its card: the paper (IV.C, after Neugebauer and others, SIGCOMM 2018).
    pub pcie_ns: u64,
    /// A read of a card's DDR4 that finds its page closed: assumed, of the order that measurements of FPGA boards
    /// give.
    pub card_memory_ns: u64,
    /// A read of a host's DDR4: a round number for the paper's EPYC 7002.
    pub host_memory_ns: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            link_rate: paper::LINK_RATE,
            switch_ns: 300,
            fabric_ns: 300,
            cable_ns: 15,
            pcie_ns: 450,
            card_memory_ns: 107,
            host_memory_ns: 100,
        }
    }
}

/// Where a node is, and what is behind it: what lies between the wire and the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// Logic in a card's fabric, without memory: a traffic generator.
    Fabric,
    /// A card's DDR.
    CardMemory,
    /// A program on a host, behind its card.
    Host,
    /// A host's DDR, behind its card.
    HostMemory,
}

impl Latencies {
    /// The latency of a node's cable: all that a frame passes between the switch and the node. What memory takes is
    /// half on the way in and half on the way out.
    pub(crate) fn way(&self, stand: Stand) -> Duration {
        let behind = match stand {
            Stand::Fabric => 0,
            Stand::CardMemory => self.card_memory_ns * 500,
            Stand::Host => self.pcie_ns * 1000,
            Stand::HostMemory => self.pcie_ns * 1000 + self.host_memory_ns * 500,
        };
        Duration::from_nanos(self.cable_ns + self.fabric_ns + behind / 1000)
    }

    /// A cable to such a node. Its queue holds two frames: logic makes a frame when the wire is about to take it.
    pub(crate) fn cable(&self, stand: Stand) -> Cable {
        Cable { latency: self.way(stand), queue_bytes: 2 * 9038, ..Cable::TEN_GIGABIT }
            .with_rate(self.link_rate)
            .with_mtu(9000)
    }

    /// What is between a host and its card.
    pub(crate) fn pcie(&self) -> Cable {
        Cable { latency: Duration::from_nanos(self.pcie_ns), ..Cable::TEN_GIGABIT }.with_rate(self.link_rate)
    }

    /// The time of a frame with so many bytes of payload on a wire, nanoseconds.
    pub(crate) fn wire_ns(&self, payload: usize) -> f64 {
        Cable::wire_bytes(HEAD + payload) as f64 * 8e9 / self.link_rate as f64
    }

    /// The share of a wire's bytes that are payload, in full frames of this payload.
    pub(crate) fn payload_share(payload: usize) -> f64 {
        payload as f64 / Cable::wire_bytes(HEAD + payload) as f64
    }
}

/// Bytes of a frame before its payload.
const HEAD: usize = rackloom_wire::bridge::HEADER_END as usize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_fabrics_are_as_far_apart_as_the_paper_says() {
        let l = Latencies { cable_ns: 0, ..Latencies::default() };
        let round = 4 * l.way(Stand::Fabric) + 2 * Duration::from_nanos(l.switch_ns);
        assert_eq!(round.as_nanos() as f64 / 1e3, paper::SMALL_ROUND_TRIP_US);
        assert_eq!(l.way(Stand::HostMemory), Duration::from_nanos(300 + 450 + 50));
    }

    #[test]
    fn headers_leave_what_they_leave() {
        assert!((Latencies::payload_share(4096) - 4096.0 / 4216.0).abs() < 1e-12);
        assert!((Latencies::default().wire_ns(4096) - 337.28).abs() < 1e-9);
    }
}
