//! Model cards on an in-process switch, which can be pulled out and plugged in.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use rackloom_card::{Card, Config, Pace};
use rackloom_client::{MacAddr, Rack, RackOptions};
use rackloom_link::segment::{SegmentPath, SegmentServer};
use rackloom_link::{Clock, Member, Pool, Switch};
use rackloom_role::WasmSandbox;

pub struct Lab {
    // Cards go before the pool, the pool before the switch.
    cards: BTreeMap<u16, Member<Card>>,
    pool: Pool,
    switch: Switch,
    sandbox: Arc<WasmSandbox>,
    memory: u64,
    boots: u32,
}

impl Lab {
    /// With cards of so many bytes, numbered from 0.
    pub fn new(cards: u16, memory: u64) -> Self {
        let pool = Pool::new(NonZeroUsize::new(2).unwrap(), Clock::start()).unwrap();
        let (switch, sandbox) = (Switch::default(), Arc::default());
        let mut lab = Self { cards: BTreeMap::new(), pool, switch, sandbox, memory, boots: 0 };
        (0..cards).for_each(|unit| lab.add(unit));
        lab
    }

    /// Plugs a card in, switched on anew.
    pub fn add(&mut self, unit: u16) {
        self.boots += 1;
        let (memory, boot) = (self.memory, self.boots);
        let config = Config { unit, memory, boot, seed: boot.into(), ..Config::new(Self::mac(unit), Pace::Live) };
        let card = Card::new(config, self.sandbox.clone()).unwrap();
        self.cards.insert(unit, self.pool.add(card, self.switch.attach("card").unwrap(), |_| {}));
    }

    /// Pulls a card out, without a goodbye.
    pub fn yank(&mut self, unit: u16) {
        self.cards.remove(&unit).expect("it is there");
    }

    /// Lets other processes attach to the switch, as `virtual:default` where RACKLOOM_RUN is this directory.
    pub fn serve(&self, directory: &Path) -> SegmentServer {
        let path = SegmentPath::under(directory, "default").unwrap();
        SegmentServer::spawn(path, self.switch.clone(), 8).unwrap()
    }

    /// A card's own view of its memory: what no host can hide.
    pub fn memory(&self, unit: u16) -> Vec<u8> {
        self.cards[&unit]
            .with(|card, _| {
                let mut bytes = vec![0; card.ddr().len() as usize];
                card.ddr().read(0, &mut bytes).unwrap();
                bytes
            })
            .unwrap()
    }

    /// A host on the switch.
    pub fn rack(&self, options: RackOptions) -> Rack {
        Rack::attach(self.switch.attach("host").unwrap(), options).unwrap()
    }

    pub const fn mac(unit: u16) -> MacAddr {
        MacAddr([2, 0, 0, 0, 0, unit as u8])
    }
}
