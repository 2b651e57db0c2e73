//! A rack of model cards on a segment, as `rackloom up` runs one: hosts attach to it, and learn of its end.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::Path;
use std::sync::Arc;

use rackloom::{Rack, RackOptions};
use rackloom_live::segment::{SegmentClient, SegmentPath, SegmentServer};
use rackloom_manager::Manager;
use rackloom_manager::card::{CardRack, ConnectRack, Sharing};
use rackloom_manager::scheduler::Policy;
use rackloom_rack::{AnyCard, Kind, LiveRack, Maker, Removal, Shape, Topology};

pub struct Lab {
    // Taken down before the cards: hosts see the segment end, and no card leave it.
    segment: SegmentServer,
    pub cards: LiveRack,
    folder: Option<tempfile::TempDir>,
}

impl Lab {
    /// Cards of `memory` bytes each, numbered from 0.
    pub fn new(cards: u16, memory: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lab = Self::under(&folder.path().join("run"), cards, memory);
        Self { folder: Some(folder), ..lab }
    }

    /// As [`Lab::new`], for other processes as well: the segment is `virtual:default` where RACKLOOM_RUN is this
    /// directory.
    pub fn under(directory: &Path, cards: u16, memory: u64) -> Self {
        let shape = Shape { memory: Some(memory), ..Shape::default() };
        let rack = LiveRack::new(shape, Topology::default(), Maker::shared()).unwrap();
        let path = SegmentPath::under(directory, "default").unwrap();
        let segment = SegmentServer::spawn(path, rack.switch().clone(), HOSTS_MAX).unwrap();
        let mut lab = Self { segment, cards: rack, folder: None };
        (0..cards).for_each(|_| lab.add());
        lab
    }

    /// Plugs a card in, switched on anew; its number is the lowest that is free.
    pub fn add(&mut self) {
        self.cards.add(Kind::Model).unwrap();
    }

    /// Pulls a card out, without a goodbye.
    pub fn yank(&mut self, unit: u16) {
        assert!(self.cards.remove(unit, Removal::Yank), "no card {unit}");
    }

    /// A card's own view of its memory: what no host can hide.
    pub fn memory(&self, unit: u16) -> Vec<u8> {
        let read = |card: &mut AnyCard, _| {
            let mut bytes = vec![0; card.ddr().len() as usize];
            card.ddr().read(0, &mut bytes).unwrap();
            bytes
        };
        self.cards.card(unit).expect("it is there").with(read).unwrap()
    }

    /// A host on the segment.
    pub fn rack(&self, options: RackOptions) -> Rack {
        Rack::attach(SegmentClient::connect(self.segment.path()).unwrap(), options).unwrap()
    }

    /// All cards, now and later, as boards of a manager; of this segment only.
    pub fn share(&self, manager: &Manager, sharing: Sharing, options: RackOptions) -> CardRack {
        let mut rack = Some(self.rack(options));
        share(Box::new(move || Ok(rack.take().expect("the segment stays"))), manager, sharing)
    }
}

/// All cards of what `connect` connects to, now and later, as boards of a manager.
pub fn share(connect: ConnectRack, manager: &Manager, sharing: Sharing) -> CardRack {
    let boards = manager.clone();
    let plug = move |board| {
        boards.add(board, Policy::Fair).unwrap();
    };
    CardRack::claim(connect, sharing, Arc::clone(manager.metrics()), Box::new(plug)).unwrap()
}

/// Hosts that may be attached at a time.
const HOSTS_MAX: usize = 8;
