//! What must hold at the end: faults stop, everything under way completes, and each host in turn can do everything.

use rackloom_host::ClaimOptions;
use rackloom_node::Duration;
use rackloom_wire::Scrub;

use super::Run;
use super::meaning::Doing;
use crate::cells;
use crate::slots::{self, SLOTS};
use crate::world::FLASH;

/// After the faults have stopped, everything under way completes within this time: the slowest are a load that has to
/// notice a vanished card, and an operation that backs off at its longest.
const SETTLE: Duration = Duration::from_secs(15);
/// Within this time a host has given a silent card up, and the card has announced itself again.
const UNHEARD: Duration = Duration::from_millis(2500);

impl Run {
    /// Faults stop; everything under way must end within a bound.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        for card in std::mem::take(&mut self.dark).into_keys() {
            self.world.start_card(card);
        }
        self.pulled.clear();
        for card in std::mem::take(&mut self.broken).into_keys() {
            self.world.break_memory(card, None);
        }
        self.world.calm();
        let end = self.world.now() + SETTLE;
        while !self.doing.is_empty() && self.world.now() < end {
            self.run_for(Duration::from_millis(50))?;
        }
        if let Some(((host, op), doing)) = self.doing.iter().next() {
            let n = self.doing.len();
            return Err(format!("{n} operations hang, among them host {host} {op:?} {doing:?}"));
        }
        Ok(())
    }

    /// One host alone claims all cards, loads them, checks all memory, and runs a kernel on each: all must succeed.
    pub(super) fn prove(&mut self, host: usize) -> Result<(), String> {
        let all = 0..self.plan.cards;
        for other in (0..self.plan.hosts).filter(|h| *h != host) {
            for card in all.clone() {
                let mac = self.world.card(card).mac;
                if self.world.with_host(other, |h, _| h.claim_epoch(mac)).is_some() {
                    self.release(other, card);
                }
            }
        }
        // Senders that stand still do so for up to 5 s; late frames of the faulty time, and what they caused, have to
        // pass.
        self.run_for(Duration::from_millis(7500))?;
        self.world.with_host(host, |h, now| h.solicit(now, Duration::from_micros(100)));
        self.run_for(Duration::from_millis(5))?;
        self.calm = true;
        self.claim_all(host)?;
        for card in all.clone() {
            for slot in 0..SLOTS {
                let (mac, at, len) = (self.world.card(card).mac, slots::address(slot), slots::length(slot) as u64);
                let op = self.world.with_host(host, |h, now| h.read(now, mac, at, len));
                let boot = self.oracles[card].boot;
                let since = self.since(host, card, slot);
                self.doing.insert((host, op), Doing::Read { card, boot, slot, since });
            }
            let bytes = self.oracles[card].cells.len() * 8;
            let mac = self.world.card(card).mac;
            let op = self.world.with_host(host, |h, now| h.read(now, mac, cells::address(0), bytes));
            self.doing.insert((host, op), Doing::Cells { card });
        }
        self.finish("reads of all memory")?;
        self.load_all(host)?;
        let before = self.summary;
        for card in all.clone() {
            self.bump(host, card);
        }
        self.finish("a launch on each card")?;
        if self.summary.kernels - before.kernels != self.plan.cards as u64 {
            return Err("without faults, a launch failed".to_owned());
        }
        self.calm = false;
        for card in all {
            self.release(host, card);
        }
        self.finish("releases")
    }

    /// Claims all cards that the host does not hold.
    fn claim_all(&mut self, host: usize) -> Result<(), String> {
        let all = 0..self.plan.cards;
        for _ in 0..20 {
            for card in all.clone() {
                let mac = self.world.card(card).mac;
                if self.world.with_host(host, |h, _| h.claim_epoch(mac)).is_none() {
                    let lease = Duration::from_secs(2);
                    let options = ClaimOptions { lease, scrub: Scrub::Keep };
                    let op = self.world.with_host(host, |h, now| h.claim(now, mac, options));
                    self.doing.insert((host, op), Doing::Claim { card, boot: 0, scrub: Scrub::Keep });
                }
            }
            self.finish("claims")?;
            let held = |run: &mut Self, card: usize| {
                let mac = run.world.card(card).mac;
                run.world.with_host(host, |h, _| h.claim_epoch(mac)).is_some()
            };
            if all.clone().all(|card| held(self, card)) {
                break;
            }
            self.run_for(Duration::from_millis(200))?;
        }
        Ok(())
    }

    /// Loads an image into all cards; those that restart to run it get it again then.
    fn load_all(&mut self, host: usize) -> Result<(), String> {
        let image = &self.images.good[self.world.rng.below(2) as usize];
        self.claim_bad(host);
        self.finish("a claim of the bad card")?;
        for _ in 0..=usize::from(self.plan.flash) {
            let before = self.summary;
            self.load_image(host, image);
            self.finish("a load of all cards")?;
            if self.summary.loads - before.loads == self.plan.cards as u64 {
                return Ok(());
            }
            self.run_for(10 * (FLASH.linger + FLASH.boot))?;
            if self.plan.hostile.is_some() {
                // A card with a key that has restarted has no key left to say so by: its host notices by silence.
                self.run_for(UNHEARD)?;
            }
            self.claim_all(host)?;
        }
        Err("without faults, a load did not reach all cards".to_owned())
    }

    fn finish(&mut self, what: &str) -> Result<(), String> {
        let end = self.world.now() + SETTLE;
        while !self.doing.is_empty() && self.world.now() < end {
            self.run_for(Duration::from_millis(5))?;
        }
        if self.doing.is_empty() { Ok(()) } else { Err(format!("{what}: {:?} hang", self.doing.values().next())) }
    }
}
