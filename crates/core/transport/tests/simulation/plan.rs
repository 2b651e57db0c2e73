//! What a seed stands for: the shape of the network, its faults and the work.

use rackloom_node::{Duration, Rng};
use rackloom_transport::{AckPolicy, ConnectionConfig, Delivery};

/// Everything that is drawn from one seed. Each kind of fault is off in about half of the seeds.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub nodes: usize,
    /// Node 0 and each other exchange payloads, and the others do not; else all do.
    pub is_star: bool,
    /// What all have in common; `ends` says the rest.
    pub config: ConnectionConfig,
    /// Payloads that each node sends to each other.
    pub payloads: u32,
    pub loss: f64,
    pub duplication: f64,
    /// Probability that a segment is delayed for long, and the longest such delay.
    pub reordering: f64,
    pub delay_max: Duration,
    /// Times at which some node restarts.
    pub restarts: u32,
    /// Nodes that restart remember their epoch; else they draw one at random.
    pub remembers: bool,
    /// Intervals in which some node neither hears nor is heard.
    pub silences: u32,
    /// Faults end here.
    pub calm_at: Duration,
    /// First epochs of the nodes.
    pub epochs: Vec<u32>,
    /// For each node, how it delivers and whether it is selective.
    pub ends: Vec<(Delivery, bool)>,
}

/// Round trip of the network without faults.
pub const RTT: Duration = Duration::from_micros(10);
/// How long after the faults everything may take: the longest timeout, doubled, for each round of a hello, a probe and
/// a resend, with some to spare.
pub const PATIENCE: Duration = Duration::from_millis(400);

impl Plan {
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut off_or = |most: f64| if rng.chance(0.5) { 0.0 } else { most * rng.below(1001) as f64 / 1000.0 };
        let (loss, duplication, reordering) = (off_or(0.3), off_or(0.5), off_or(0.3));
        let delay_max = Duration::from_micros(20 + rng.below(3000));
        let window = match rng.below(4) {
            0 => 256,
            1 => 1 << rng.below(9),
            _ => 1 + rng.below(256) as u32,
        };
        let nodes = 2 + rng.below(3) as usize;
        let payloads = 50 + rng.below(150) as u32;
        let near_wrap = |rng: &mut Rng| if rng.chance(0.7) { u32::MAX - rng.below(300) as u32 } else { 1 };
        let first = near_wrap(&mut rng);
        let credit = if rng.chance(0.5) { 1 << 20 } else { 1 + rng.below(64) as u32 };
        let config = ConnectionConfig {
            first,
            window,
            credit,
            // No draw of its own, so that seeds stay what they are.
            opening: if seed.is_multiple_of(2) { credit } else { 1 + (seed / 2 % u64::from(credit)) as u32 },
            queue_max: payloads as usize,
            delivery: Delivery::AnyOrder,
            selective: true,
            ack: AckPolicy { every: 1 + rng.below(32) as u32, delay: Duration::from_micros(rng.below(100)) },
            asks_seldom: seed / 2 % 2 == 1,
            rto_min: Duration::from_micros(100),
            rto_max: Duration::from_millis(10),
        };
        let remembers = rng.chance(0.5);
        Self {
            seed,
            nodes,
            is_star: false,
            config,
            payloads,
            loss,
            duplication,
            reordering,
            delay_max,
            restarts: if rng.chance(0.5) { 0 } else { 1 + rng.below(4) as u32 },
            remembers,
            silences: if rng.chance(0.5) { 0 } else { 1 + rng.below(3) as u32 },
            calm_at: Duration::from_millis(5 + rng.below(20)),
            epochs: (0..nodes)
                .map(|_| if remembers { near_wrap(&mut rng) } else { 1 + rng.below(1 << 30) as u32 })
                .collect(),
            ends: vec![(Delivery::AnyOrder, true); nodes],
        }
    }

    /// The same network and work, delivered in order by ends that hold nothing, something or a window, and of which
    /// some go back.
    pub fn draw_in_order(seed: u64) -> Self {
        let mut plan = Self::draw(seed);
        let mut rng = Rng::new(seed ^ 0x0DE5);
        let window = plan.config.window;
        let mut end = || {
            let hold = [0, 1 + rng.below(window.into()) as u32, window][rng.below(3) as usize];
            (Delivery::InOrder { hold }, rng.chance(0.5))
        };
        plan.ends.iter_mut().for_each(|e| *e = end());
        if rng.chance(0.5) {
            // As gateware has it, which measures no round trip.
            plan.config.rto_min = Duration::from_micros(500 + rng.below(4000));
            plan.config.rto_max = plan.config.rto_min;
        }
        plan
    }

    /// A node with 64 peers, in order.
    pub fn draw_star(seed: u64) -> Self {
        let mut plan = Self::draw_in_order(seed);
        plan.nodes = 65;
        plan.is_star = true;
        plan.payloads = plan.payloads.min(60);
        plan.config.queue_max = plan.payloads as usize;
        for node in plan.ends.len()..plan.nodes {
            plan.ends.push(plan.ends[node % 2]);
            plan.epochs.push(plan.epochs[node % 2]);
        }
        plan
    }

    /// True when these two nodes exchange payloads.
    pub fn are_peers(&self, a: usize, b: usize) -> bool {
        a != b && (!self.is_star || a == 0 || b == 0)
    }

    /// How a node is configured.
    pub fn config(&self, node: usize) -> ConnectionConfig {
        let (delivery, selective) = self.ends[node];
        ConnectionConfig { delivery, selective, ..self.config.clone() }
    }
}
