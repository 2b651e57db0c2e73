//! How many frames a second the simulator delivers: `cargo run --release -p rackloom-sim --example delivery_rate`.
//!
//! Nodes do next to nothing here, so the figure is the simulator's own cost. A delivery is a frame that comes out of a
//! cable, at a switch or at a node.

use std::time::Duration;

use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_sim::{Cable, End, Faults, Net, NodeId, SwitchConfig};

/// Sends one frame whenever polled until none are left, and counts what it receives.
#[derive(Debug)]
struct Trivial {
    frame: Frame,
    left: u64,
    /// Time between frames; zero: as fast as the wire goes.
    pace: Duration,
    next: Option<Instant>,
    received: u64,
    echo: bool,
}

impl Trivial {
    fn new(to: u16, from: u16, len: usize, left: u64) -> Self {
        let mut bytes = vec![0; len];
        for (at, n) in [(0, to), (6, from)] {
            bytes[at] = if n == u16::MAX { 3 } else { 2 };
            bytes[at + 4..at + 6].copy_from_slice(&n.to_be_bytes());
        }
        Self { frame: bytes.into(), left, pace: Duration::ZERO, next: None, received: 0, echo: false }
    }
}

impl Node for Trivial {
    type Event = ();

    fn handle_frame(&mut self, _now: Instant, _port: Port, _frame: Frame) {
        self.received += 1;
        if self.echo {
            self.left += 1;
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {
        self.next = None;
    }

    fn poll(&mut self, now: Instant) -> Option<Output<()>> {
        if self.left == 0 || self.next.is_some() {
            return None;
        }
        self.left -= 1;
        if !self.pace.is_zero() {
            self.next = Some(now + self.pace);
        }
        Some(Output::Transmit(0, self.frame.clone()))
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.next
    }
}

/// A switch with nodes 0 to `count` - 1 on it.
fn rack(count: u16, cable: Cable, node: impl Fn(u16) -> Trivial) -> Net<Trivial> {
    let mut net = Net::new(1);
    let switch = net.switch(SwitchConfig::with_ports(count));
    for number in 0..count {
        let id = net.add(node(number));
        net.connect(id, End::Switch(switch, number), cable);
    }
    net
}

fn idle(number: u16) -> Trivial {
    Trivial::new(0, number, 1514, 0)
}

fn measure(name: &str, mut net: Net<Trivial>) {
    let start = std::time::Instant::now();
    assert!(net.step().is_none(), "nobody tells anything");
    let wall = start.elapsed().as_secs_f64();
    net.check_invariants();
    let total = net.total_stats();
    let at_nodes: u64 = net.nodes().map(|(_, node)| node.received).sum();
    println!(
        "{name:<44} {:>6.2} M deliveries/s  {:>6.2} M at nodes/s  ({} in {wall:.2} s, virtual {:.3} s, {} dropped)",
        net.deliveries() as f64 / wall / 1e6,
        at_nodes as f64 / wall / 1e6,
        net.deliveries(),
        net.now().as_secs_f64(),
        total.drops.total(),
    );
}

fn main() {
    let cable = Cable::TEN_GIGABIT;
    let source = |to, len, left| move |number| if number == 0 { Trivial::new(to, 0, len, left) } else { idle(number) };
    for hash in [true, false] {
        let prepare = |mut net: Net<Trivial>| {
            if !hash {
                net.hash_off();
            }
            net
        };
        println!("event hash {}", if hash { "on" } else { "off" });
        measure("flood, 256 ports, one sender", prepare(rack(256, cable, source(u16::MAX, 1514, 40_000))));
        measure("flood, 20 ports, one sender", prepare(rack(20, cable, source(u16::MAX, 1514, 400_000))));
        let mut net = prepare(rack(256, cable, source(u16::MAX, 1514, 20_000)));
        for link in net.links().collect::<Vec<_>>() {
            net.set_faults(link, Faults::loss(0.001));
        }
        measure("flood, 256 ports, loss 0.1 % each", net);
        // Everybody sends to everybody's neighbour at full rate: 256 wires busy, each frame two hops of its own.
        let ring = |number: u16| Trivial::new((number + 1) % 256, number, 1514, 10_000);
        measure("unicast, 256 pairs at full rate", prepare(rack(256, cable, ring)));
        let paced = |number: u16| Trivial {
            pace: Duration::from_nanos(5_000 + u64::from(number)),
            ..Trivial::new((number + 1) % 256, number, 1514, 8_000)
        };
        measure("unicast, 256 pairs, paced by deadlines", prepare(rack(256, cable, paced)));
        let mut net = prepare(rack(20, cable, idle));
        for number in 1..20u16 {
            let id = net.nodes().nth(usize::from(number)).map(|(id, _): (NodeId, _)| id).expect("20 nodes");
            *net.node_mut(id) = Trivial { echo: true, ..Trivial::new(0, number, 60, 0) };
        }
        let first = net.nodes().next().map(|(id, _)| id).expect("20 nodes");
        *net.node_mut(first) = Trivial::new(u16::MAX, 0, 1514, 200_000);
        measure("flood, 20 ports, each answers with an ack", net);
    }
}
