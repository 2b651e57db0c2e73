//! The rack of one run: nodes, cables, and what is done to them.

use std::sync::Arc;

use rackloom_card::{Card, Config as CardConfig, Pace};
use rackloom_host::{Config as HostConfig, Host};
use rackloom_node::{Duration, Either, Instant, Rng};
use rackloom_role::Sandbox;
use rackloom_sandbox::WasmSandbox;
use rackloom_sim::{Cable, LinkId, Net, NodeId, SwitchConfig};
use rackloom_wire::MacAddr;

use crate::mangler::Mangler;
use crate::plan::Plan;

/// Memory of a card: slots and cells fit, and a new card costs little.
const MEMORY: u64 = 4 << 20;

/// A host or a card.
pub(crate) type Actor = Either<Box<Mangler>, Box<Card>>;

/// The rack.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) net: Net<Actor>,
    pub(crate) hosts: Vec<Place>,
    pub(crate) cards: Vec<Place>,
    sandbox: Arc<dyn Sandbox>,
    plan: Plan,
    pub(crate) rng: Rng,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) id: NodeId,
    pub(crate) link: LinkId,
    pub(crate) mac: MacAddr,
}

/// A bug that a card shall have.
#[cfg(feature = "planted-bugs")]
pub use rackloom_card::PlantedBug;
/// No bug can be planted in this build.
#[cfg(not(feature = "planted-bugs"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {}

impl World {
    pub(crate) fn new(plan: &Plan, planted: Option<PlantedBug>) -> Self {
        let mut rng = Rng::new(plan.seed);
        let mut net = Net::new(rng.next_u64());
        let ports = (plan.cards + plan.hosts) as u16;
        let switch = net.switch(SwitchConfig { queue_bytes: 256 * 1024, ..SwitchConfig::with_ports(ports) });
        let mtu = u32::from(plan.bulk) + 18;
        let cable = Cable::TEN_GIGABIT.with_rate(plan.rate).with_mtu(mtu.next_multiple_of(100));
        let mut world = Self { hosts: Vec::new(), cards: Vec::new(), sandbox: sandbox(), plan: plan.clone(), rng, net };
        for i in 0..plan.hosts + plan.cards {
            let is_host = i < plan.hosts;
            let mac = MacAddr([2, 0x52, 0x4c, u8::from(is_host), 0, i as u8]);
            let node = if is_host { world.host(mac) } else { world.card(mac, i - plan.hosts, planted) };
            let id = world.net.add(node);
            let link = world.net.plug(id, switch, cable);
            world.net.set_faults(link, plan.faults);
            let place = Place { id, link, mac };
            if is_host { world.hosts.push(place) } else { world.cards.push(place) }
        }
        world
    }

    pub(crate) fn now(&self) -> Instant {
        self.net.now()
    }

    fn host(&mut self, mac: MacAddr) -> Actor {
        let mut config = HostConfig::simulated(mac, self.rng.next_u64(), self.plan.rate);
        config.bulk = self.plan.bulk;
        config.load_stall = Duration::from_secs(3);
        let (chance, rng) = (self.plan.mangled, self.rng.fork());
        Either::A(Box::new(Mangler { host: Host::new(config), chance, rng }))
    }

    fn card(&mut self, mac: MacAddr, unit: usize, planted: Option<PlantedBug>) -> Actor {
        let mut config = CardConfig::new(mac, Pace::Virtual);
        config.unit = unit as u16;
        config.memory = MEMORY;
        config.bulk = self.plan.bulk;
        config.port_rate = self.plan.rate;
        config.config_rate = self.plan.config_rate;
        config.boot = self.rng.next_u64() as u32;
        config.seed = self.rng.next_u64();
        config.announce_interval = Duration::from_secs(1);
        #[cfg(feature = "planted-bugs")]
        {
            config.planted = planted;
        }
        #[cfg(not(feature = "planted-bugs"))]
        assert!(planted.is_none());
        Either::B(Box::new(Card::new(config, Arc::clone(&self.sandbox)).expect("memory for a small card")))
    }

    /// Faults stop, and image data leaves undamaged.
    pub(crate) fn calm(&mut self) {
        self.net.calm();
        for place in &self.hosts {
            if let Either::A(mangler) = self.net.node_mut(place.id) {
                mangler.chance = 0.0;
            }
        }
    }

    /// A card loses power; what it had sent is still on its way.
    pub(crate) fn crash_card(&mut self, card: usize) {
        let place = self.cards[card];
        if self.net.is_on(place.id) {
            self.net.take(place.id);
        }
    }

    /// It has power again, and an empty memory.
    pub(crate) fn start_card(&mut self, card: usize, planted: Option<PlantedBug>) {
        let place = self.cards[card];
        assert!(!self.net.is_on(place.id));
        let node = self.card(place.mac, card, planted);
        self.net.put(place.id, node);
    }

    /// A host's program dies and starts again.
    pub(crate) fn restart_host(&mut self, host: usize) {
        let place = self.hosts[host];
        self.net.take(place.id);
        let node = self.host(place.mac);
        self.net.put(place.id, node);
    }
}

/// One sandbox for all runs of the process: each image is compiled once.
fn sandbox() -> Arc<dyn Sandbox> {
    static SANDBOX: std::sync::OnceLock<Arc<WasmSandbox>> = std::sync::OnceLock::new();
    let sandbox: &Arc<WasmSandbox> = SANDBOX.get_or_init(|| Arc::new(WasmSandbox::default()));
    Arc::clone(sandbox) as Arc<dyn Sandbox>
}
