//! What a seed stands for: the shape of the network, its faults and the work.

use rackloom_node::{Duration, Rng};
use rackloom_transport::{AckPolicy, ConnectionConfig};

/// Everything that is drawn from one seed. Each kind of fault is off in about half of the seeds.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub nodes: usize,
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
        let config = ConnectionConfig {
            first,
            window,
            credit: if rng.chance(0.5) { 1 << 20 } else { 1 + rng.below(64) as u32 },
            queue_max: payloads as usize,
            ack: AckPolicy { every: 1 + rng.below(32) as u32, delay: Duration::from_micros(rng.below(100)) },
            rto_min: Duration::from_micros(100),
            rto_max: Duration::from_millis(10),
        };
        let remembers = rng.chance(0.5);
        Self {
            seed,
            nodes,
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
        }
    }
}
