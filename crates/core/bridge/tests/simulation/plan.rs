//! What a seed stands for: the shape of the network, its faults and the work.

use rackloom_bridge::EndpointConfig;
use rackloom_node::{Duration, Rng};
use rackloom_transport::PeersLimits;
use rackloom_wire::MacAddr;

/// Who works with whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All with all.
    All,
    /// Each with four others.
    Ring,
    /// Node 0 with each other.
    Star,
}

/// What nodes may have each for itself.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Most payload bytes of a frame.
    pub longest: u16,
    /// Payloads held beyond a gap.
    pub hold: u32,
    pub selective: bool,
    /// As gateware has it: no round trip is measured.
    pub has_fixed_timeout: bool,
}

/// Everything that is drawn from one seed. Each kind of fault is off in about half of the seeds.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub nodes: usize,
    pub shape: Shape,
    pub loss: f64,
    pub duplication: f64,
    /// Probability that a frame is delayed for long, and the longest such delay.
    pub reordering: f64,
    pub delay_max: Duration,
    /// Probability that a byte of a frame is changed on its way.
    pub damage: f64,
    /// Whether Ethernet's check sequence misses some of that: one damaged frame in eight reaches the parser.
    pub rots: bool,
    /// Probability that a node's memory fails an access.
    pub memory_fails: f64,
    /// Times at which some node restarts.
    pub restarts: u32,
    /// Nodes that restart remember their epoch; else they draw one at random.
    pub remembers: bool,
    /// Intervals in which some node neither hears nor is heard, and the longest.
    pub silences: u32,
    pub silence_max: Duration,
    /// The last node vanishes for ever, at some time.
    pub one_dies: bool,
    /// Node 0 has room for fewer peers than there are.
    pub is_crowded: bool,
    /// Frames that a node can send at once, before its wire is full for a while.
    pub wire_slots: Option<u32>,
    /// Faults end here.
    pub calm_at: Duration,
    pub patience: Duration,
    pub window: u32,
    /// First number of each connection.
    pub first: u32,
    /// First epochs of the nodes.
    pub epochs: Vec<u32>,
    pub ends: Vec<End>,
    /// Requests and messages that each node makes.
    pub requests: u32,
    pub messages: u32,
    /// The longest time between two looks of an owner at its messages.
    pub late_max: Duration,
}

/// Round trip of the network without faults.
pub const RTT: Duration = Duration::from_micros(4);
/// A node that remembers begins a life this much later than the one before.
pub const EPOCH_STEP: u32 = 1 << 16;

impl Plan {
    /// Two to six nodes, with much work.
    pub fn draw(seed: u64) -> Self {
        let nodes = 2 + Rng::new(seed ^ 0xA11).below(5) as usize;
        let mut plan = Self::network(seed, nodes, Shape::All);
        (plan.requests, plan.messages) = (600 / nodes as u32, 24 / nodes as u32);
        plan
    }

    /// The same, with a node that has no room for all its peers.
    pub fn draw_crowded(seed: u64) -> Self {
        let nodes = Self::draw(seed).nodes.max(4);
        let mut plan = Self::network(seed, nodes, Shape::All);
        (plan.requests, plan.messages) = (600 / nodes as u32, 24 / nodes as u32);
        plan.is_crowded = true;
        plan
    }

    /// Two or three nodes that send each other messages through restarts and silences, to owners that come late.
    pub fn draw_streams(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x57E);
        let nodes = 2 + rng.below(2) as usize;
        let mut plan = Self::network(seed, nodes, Shape::All);
        (plan.requests, plan.messages) = (30, 30);
        (plan.rots, plan.is_crowded, plan.one_dies) = (false, false, false);
        (plan.restarts, plan.silences) = (rng.below(4) as u32, rng.below(3) as u32);
        (plan.loss, plan.damage) = (plan.loss / 4.0, plan.damage / 4.0);
        plan.late_max = Duration::from_millis(1 + rng.below(20));
        plan
    }

    /// Seven to 64 nodes, each with a few peers.
    pub fn draw_rack(seed: u64) -> Self {
        let nodes = 7 + Rng::new(seed ^ 0x4AC).below(58) as usize;
        let mut plan = Self::network(seed, nodes, Shape::Ring);
        (plan.requests, plan.messages) = (30, 1);
        plan
    }

    /// A node with 63 peers.
    pub fn draw_star(seed: u64) -> Self {
        let mut plan = Self::network(seed, 64, Shape::Star);
        (plan.requests, plan.messages) = (20, 1);
        plan
    }

    fn network(seed: u64, nodes: usize, shape: Shape) -> Self {
        let mut rng = Rng::new(seed);
        let mut off_or = |most: f64| if rng.chance(0.5) { 0.0 } else { most * rng.below(1001) as f64 / 1000.0 };
        let (loss, duplication, reordering) = (off_or(0.3), off_or(0.5), off_or(0.3));
        let (damage, memory_fails) = (off_or(0.1), off_or(0.1));
        let near_wrap = |rng: &mut Rng| if rng.chance(0.7) { u32::MAX - rng.below(150) as u32 } else { 1 };
        let remembers = rng.chance(0.5);
        let longest = [256, 1408, 1408, 8832][rng.below(4) as usize];
        let window = [1, 4, 64, 256][rng.below(4) as usize].max(1 + rng.below(64) as u32);
        let end = |rng: &mut Rng| End {
            longest: if rng.chance(0.8) { longest } else { 1408 },
            hold: [0, 1 + rng.below(window.into()) as u32, window][rng.below(3) as usize],
            selective: rng.chance(0.5),
            has_fixed_timeout: rng.chance(0.3),
        };
        Self {
            seed,
            nodes,
            shape,
            loss,
            duplication,
            reordering,
            delay_max: Duration::from_micros(20 + rng.below(3000)),
            damage,
            rots: damage > 0.0 && rng.chance(0.3),
            memory_fails,
            restarts: if rng.chance(0.5) { 0 } else { 1 + rng.below(4) as u32 },
            remembers,
            silences: if rng.chance(0.5) { 0 } else { 1 + rng.below(3) as u32 },
            silence_max: Duration::from_millis(1 + rng.below(250)),
            one_dies: rng.chance(0.2),
            is_crowded: shape != Shape::Ring && nodes > 3 && rng.chance(0.15),
            wire_slots: rng.chance(0.3).then(|| 1 + rng.below(8) as u32),
            calm_at: Duration::from_millis(2 + rng.below(20)),
            patience: Duration::from_millis(100),
            window,
            first: near_wrap(&mut rng),
            epochs: (0..nodes)
                .map(|_| if remembers { near_wrap(&mut rng) } else { 1 + rng.below(1 << 30) as u32 })
                .collect(),
            ends: (0..nodes).map(|_| end(&mut rng)).collect(),
            requests: 0,
            messages: 0,
            late_max: Duration::from_micros(1 + rng.below(4000)),
        }
    }

    /// Whether requests and messages may get lost: a life ends, or is taken to have ended.
    pub fn is_rough(&self) -> bool {
        self.restarts > 0 || self.silences > 0 || self.one_dies || self.is_crowded || self.rots
    }

    /// Those that work with this node.
    pub fn peers(&self, node: usize) -> Vec<usize> {
        let n = self.nodes;
        let mut peers: Vec<usize> = match self.shape {
            Shape::All => (0..n).filter(|p| *p != node).collect(),
            Shape::Ring => [1, 3, n - 1, n - 3].map(|step| (node + step) % n).to_vec(),
            Shape::Star if node == 0 => (1..n).collect(),
            Shape::Star => vec![0],
        };
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// How a life of a node is configured.
    pub fn config(&self, node: usize, epoch: u32) -> EndpointConfig {
        let End { longest, hold, selective, has_fixed_timeout } = self.ends[node];
        let mut config = EndpointConfig::new(mac(node), epoch, false);
        (config.longest, config.window, config.hold, config.selective) = (longest, self.window, hold, selective);
        (config.patience, config.first) = (self.patience, self.first);
        (config.rto_min, config.rto_max) = (Duration::from_micros(50), Duration::from_millis(2));
        if has_fixed_timeout {
            config.rto_min = Duration::from_micros(500);
            config.rto_max = config.rto_min;
        }
        if self.is_crowded && node == 0 {
            let (established, strangers) = (self.nodes / 2, self.nodes / 4 + 1);
            config.peers = PeersLimits { established, strangers, idle: Duration::from_millis(1) };
        }
        config
    }
}

/// The address of a node.
pub fn mac(node: usize) -> MacAddr {
    MacAddr([2, 0, 0, 0, 1, node as u8])
}

/// The node with this address.
pub fn node_of(mac: MacAddr) -> usize {
    mac.0[5].into()
}
