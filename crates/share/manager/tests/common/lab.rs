//! Model cards on an in-process switch, which can be pulled out and plugged in. Hosts learn of the lab's end, as they
//! do when `rackloom up` ends.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::Instant;

use rackloom::{MacAddr, Rack, RackOptions};
use rackloom_card::{Card, Config, Pace};
use rackloom_live::segment::{SegmentPath, SegmentServer};
use rackloom_live::{Clock, Member, Pool, Port, Switch, Wire};
use rackloom_manager::Manager;
use rackloom_manager::card::{CardRack, ConnectRack, Sharing};
use rackloom_manager::scheduler::Policy;
use rackloom_node::Frame;
use rackloom_sandbox::WasmSandbox;

pub struct Lab {
    // Cards go before the pool, the pool before the switch.
    cards: Vec<(u16, Member<Card>)>,
    pool: Pool,
    switch: Switch,
    sandbox: Arc<WasmSandbox>,
    memory: u64,
    boots: u32,
    is_gone: Arc<AtomicBool>,
}

/// A host's cable.
struct Cable {
    port: Port,
    is_gone: Arc<AtomicBool>,
}

impl Lab {
    /// With cards of so many bytes, numbered from 0.
    pub fn new(cards: u16, memory: u64) -> Self {
        let pool = Pool::new(NonZeroUsize::new(2).unwrap(), Clock::start()).unwrap();
        let (switch, sandbox, is_gone) = (Switch::default(), Arc::default(), Arc::default());
        let mut lab = Self { cards: Vec::new(), pool, switch, sandbox, memory, boots: 0, is_gone };
        (0..cards).for_each(|unit| lab.add(unit));
        lab
    }

    /// Plugs a card in, switched on anew.
    pub fn add(&mut self, unit: u16) {
        self.add_as(unit, Self::mac(unit));
    }

    /// The same, with this address.
    pub fn add_as(&mut self, unit: u16, mac: MacAddr) {
        self.boots += 1;
        let (memory, boot) = (self.memory, self.boots);
        let config = Config { unit, memory, boot, seed: boot.into(), ..Config::new(mac, Pace::Live) };
        let card = Card::new(config, self.sandbox.clone()).unwrap();
        self.cards.push((unit, self.pool.add(card, self.switch.attach("card").unwrap(), |_| {})));
    }

    /// Pulls a card out, without a goodbye.
    pub fn yank(&mut self, unit: u16) {
        let at = self.cards.iter().position(|(number, _)| *number == unit).expect("it is there");
        drop(self.cards.remove(at));
    }

    /// Lets other processes attach to the switch, as `virtual:default` where RACKLOOM_RUN is this directory.
    pub fn serve(&self, directory: &Path) -> SegmentServer {
        let path = SegmentPath::under(directory, "default").unwrap();
        SegmentServer::spawn(path, self.switch.clone(), 8).unwrap()
    }

    /// A card's own view of its memory: what no host can hide.
    pub fn memory(&self, unit: u16) -> Vec<u8> {
        let (_, card) = self.cards.iter().find(|(number, _)| *number == unit).expect("it is there");
        card.with(|card, _| {
            let mut bytes = vec![0; card.ddr().len() as usize];
            card.ddr().read(0, &mut bytes).unwrap();
            bytes
        })
        .unwrap()
    }

    /// A host on the switch.
    pub fn rack(&self, options: RackOptions) -> Rack {
        let (port, is_gone) = (self.switch.attach("host").unwrap(), Arc::clone(&self.is_gone));
        Rack::attach(Cable { port, is_gone }, options).unwrap()
    }

    /// All cards, now and later, as boards of a manager; on this switch only.
    pub fn share(&self, manager: &Manager, sharing: Sharing, options: RackOptions) -> CardRack {
        let mut rack = Some(self.rack(options));
        share(Box::new(move || Ok(rack.take().expect("the switch stays"))), manager, sharing)
    }

    pub const fn mac(unit: u16) -> MacAddr {
        MacAddr([2, 0, 0, 0, 0, unit as u8])
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.is_gone.store(true, Ordering::Release);
    }
}

impl Wire for Cable {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        self.port.send(frames)
    }

    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
        if self.is_gone.load(Ordering::Acquire) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.port.recv(deadline, out)
    }

    fn mtu(&self) -> usize {
        self.port.mtu()
    }

    fn waker(&self) -> Waker {
        self.port.waker()
    }
}

/// All cards of whatever is attached to, now and later, as boards of a manager.
pub fn share(attach: ConnectRack, manager: &Manager, sharing: Sharing) -> CardRack {
    let boards = manager.clone();
    let plug = move |board| {
        boards.add(board, Policy::Fair).unwrap();
    };
    CardRack::claim(attach, sharing, Arc::clone(manager.metrics()), Box::new(plug)).unwrap()
}
