//! What will be done: the steps of the script, drawn from the seed.

use std::collections::BTreeMap;

use rackloom_host::{ClaimOptions, Commit, Launch, OpId};
use rackloom_node::{Duration, Instant};
use rackloom_wire::{ErrorCode, Scrub};

use super::Run;
use super::meaning::Doing;
use crate::cells;
use crate::images::Image;
use crate::slots::{self, SLOTS, Since, Tag};
use crate::world::BAD_CARD;

impl Run {
    /// What has waited long enough comes back.
    pub(super) fn mend(&mut self) {
        let now = self.world.now();
        let due = |map: &BTreeMap<usize, Instant>| -> Vec<usize> {
            map.iter().filter(|(_, at)| **at <= now).map(|(card, _)| *card).collect()
        };
        for card in due(&self.dark) {
            self.dark.remove(&card);
            self.world.start_card(card);
        }
        for card in due(&self.pulled) {
            self.pulled.remove(&card);
            self.world.rack.net.up(self.world.card(card).link);
        }
        for card in due(&self.broken) {
            self.broken.remove(&card);
            self.world.break_memory(card, None);
        }
    }

    /// Breaks a beat of some card's memory, if the plan wants it now.
    pub(super) fn break_memory(&mut self) {
        if !self.plan.memory_faults || !self.breaks.chance(0.15) {
            return;
        }
        let card = self.breaks.below(self.plan.cards as u64) as usize;
        let slot = self.breaks.below(SLOTS as u64) as usize;
        let at = slots::address(slot) + self.breaks.below(slots::length(slot) as u64);
        let back = self.world.now() + Duration::from_micros(self.breaks.below(1_000_000));
        if self.world.break_memory(card, Some(at)) {
            self.broken.insert(card, back);
        }
    }

    /// One line of the script, drawn.
    pub(super) fn act(&mut self) {
        let host = self.world.rng.below(self.plan.hosts as u64) as usize;
        let card = self.world.rng.below(self.plan.cards as u64) as usize;
        if self.world.is_starved(host) {
            return;
        }
        let mac = self.world.card(card).mac;
        let held = self.world.with_host(host, |h, _| h.claim_epoch(mac)).is_some();
        match self.world.rng.below(100) {
            0..3 if self.plan.crashes => self.crash(card),
            3..6 if self.plan.pulls => self.pull(card),
            6..8 if self.plan.host_crashes => self.restart(host),
            8..11 if held => self.release(host, card),
            11..17 if held => self.load(host),
            17..19 => self.ask(host, card),
            19..23 if self.plan.cancels => self.call_off(host),
            23..26 if self.plan.bad_kernels && held => self.bad_kernel(host, card),
            26..55 if held => {
                let slot = self.world.rng.below(SLOTS as u64) as usize;
                self.write(host, card, slot);
                // On the heels of the write, so that they meet on the wire.
                if self.world.rng.chance(0.3) {
                    self.read(host, card, slot);
                }
            }
            55..72 if held => {
                let slot = self.world.rng.below(SLOTS as u64) as usize;
                self.read(host, card, slot);
            }
            72..100 if held => self.bump(host, card),
            _ => self.claim(host, card),
        }
    }

    fn start(&mut self, host: usize, op: OpId, doing: Doing) {
        self.doing.insert((host, op), doing);
        if self.plan.cancels && !self.calm && self.world.rng.chance(0.1) {
            let at = self.world.now() + Duration::from_micros(self.world.rng.below(50_000));
            self.world.with_host(host, |h, _| h.set_deadline(op, at));
        }
    }

    fn claim(&mut self, host: usize, card: usize) {
        let mac = self.world.card(card).mac;
        let scrub = if self.plan.scrubs && self.world.rng.chance(0.2) { Scrub::Zero } else { Scrub::Keep };
        let lease = Duration::from_millis(300 + self.world.rng.below(2000));
        if scrub == Scrub::Zero {
            self.oracles[card].claim_zeroing();
        }
        let boot = self.oracles[card].boot;
        let op = self.world.with_host(host, |h, now| h.claim(now, mac, ClaimOptions { lease, scrub }));
        self.start(host, op, Doing::Claim { card, boot, scrub });
    }

    pub(super) fn release(&mut self, host: usize, card: usize) {
        let mac = self.world.card(card).mac;
        let scrub = if self.plan.scrubs && self.world.rng.chance(0.5) { Scrub::Zero } else { Scrub::Keep };
        let tag = (scrub == Scrub::Zero).then(|| Tag { card: mac, epoch: 0, number: self.world.rng.next_u64() >> 20 });
        if let Some(tag) = tag {
            self.oracles[card].release_zeroing(tag);
        }
        let op = self.world.with_host(host, |h, now| h.release(now, mac, scrub));
        self.start(host, op, Doing::Release { card, scrub: tag });
    }

    /// Loads some image into all cards that the host holds.
    fn load(&mut self, host: usize) {
        let mut image = &self.images.good[self.world.rng.below(2) as usize];
        if self.plan.signed && self.world.rng.chance(0.5) {
            image = &self.images.bad[self.world.rng.below(self.images.bad.len() as u64) as usize];
        }
        self.load_image(host, image);
        // For the next time.
        self.claim_bad(host);
    }

    /// Claims the bad card, if there is one and the host does not hold it. Whether it is granted does not matter.
    pub(super) fn claim_bad(&mut self, host: usize) {
        let held = self.world.with_host(host, |h, _| h.claim_epoch(BAD_CARD)).is_some();
        if self.plan.bad_card.is_some() && !held {
            let options = ClaimOptions { lease: Duration::from_secs(1), scrub: Scrub::Keep };
            let op = self.world.with_host(host, |h, now| h.claim(now, BAD_CARD, options));
            self.doing.insert((host, op), Doing::ClaimBad);
        }
    }

    pub(super) fn load_image(&mut self, host: usize, image: &Image) {
        let macs: Vec<_> = self.world.rack.cards().iter().map(|c| c.mac).collect();
        let all_or_none = self.world.rng.chance(0.3);
        let commit = if all_or_none { Commit::AllOrNone } else { Commit::Each };
        let bytes = image.bytes.clone();
        // A load for all or none waits for the bad card, and ends in none.
        let bad = self.plan.bad_card.filter(|_| !all_or_none).map(|_| BAD_CARD);
        let op = self.world.with_host(host, |h, now| {
            let held: Vec<_> = macs.into_iter().chain(bad).filter(|m| h.claim_epoch(*m).is_some()).collect();
            h.load(now, &held, bytes, commit)
        });
        self.start(host, op, Doing::Load { digest: image.digest, all_or_none });
    }

    fn write(&mut self, host: usize, card: usize, slot: usize) {
        if self.oracles[card].slots[slot].locks > 0 {
            return;
        }
        let mac = self.world.card(card).mac;
        let epoch = self.world.with_host(host, |h, _| h.claim_epoch(mac)).unwrap_or_default();
        let tag = Tag { card: mac, epoch, number: self.world.rng.next_u64() >> 20 };
        let data = self.oracles[card].slots[slot].begin(tag);
        let op = self.world.with_host(host, |h, now| h.write(now, mac, slots::address(slot), data));
        self.start(host, op, Doing::Write { card, slot, tag });
    }

    fn read(&mut self, host: usize, card: usize, slot: usize) {
        let mac = self.world.card(card).mac;
        let op =
            self.world.with_host(host, |h, now| h.read(now, mac, slots::address(slot), slots::length(slot) as u64));
        let boot = self.oracles[card].boot;
        let since = self.since(host, card, slot);
        self.start(host, op, Doing::Read { card, boot, slot, since });
    }

    pub(super) fn bump(&mut self, host: usize, card: usize) {
        let slot = self.world.rng.chance(0.3).then(|| self.world.rng.below(SLOTS as u64) as usize);
        let cell = self.oracles[card].cells.begin();
        let output = slot.map_or((0, 0), |s| (slots::address(s), slots::length(s) as u64));
        if let Some(s) = slot {
            self.oracles[card].slots[s].locks += 1;
        }
        let hold = if self.world.rng.chance(0.1) { 1 + self.world.rng.below(3) as u32 } else { 0 };
        let cycles = self.world.rng.below(1_000_000);
        let mac = self.world.card(card).mac;
        let launch = Launch { kernel: 0, args: vec![cells::address(cell), cycles], fuel: 0, output, hold };
        let op = self.world.with_host(host, |h, now| {
            let op = h.launch(now, mac, launch);
            if hold > 0 {
                h.go(now, hold);
            }
            op
        });
        let boot = self.oracles[card].boot;
        let slot = slot.map(|s| (s, self.since(host, card, s)));
        self.start(host, op, Doing::Bump { card, boot, cell, slot });
    }

    /// What a read or a launch that is given now must see of a slot.
    pub(super) fn since(&mut self, host: usize, card: usize, slot: usize) -> Since {
        let mac = self.world.card(card).mac;
        let epoch = self.world.with_host(host, |h, _| h.claim_epoch(mac)).unwrap_or_default();
        self.oracles[card].slots[slot].since(epoch)
    }

    fn bad_kernel(&mut self, host: usize, card: usize) {
        let mac = self.world.card(card).mac;
        let (kernel, fuel, code) =
            if self.world.rng.chance(0.5) { (1, 0, ErrorCode::KernelTrap) } else { (2, 10_000, ErrorCode::KernelFuel) };
        let op = self.world.with_host(host, |h, now| h.launch(now, mac, Launch { kernel, fuel, ..Launch::default() }));
        self.start(host, op, Doing::Bad { code });
    }

    fn ask(&mut self, host: usize, card: usize) {
        let mac = self.world.card(card).mac;
        let counters = self.world.rng.chance(0.5);
        let op =
            self.world.with_host(host, |h, now| if counters { h.counters(now, mac) } else { h.manifest(now, mac) });
        self.start(host, op, Doing::Ask);
    }

    fn call_off(&mut self, host: usize) {
        let ops: Vec<_> = self.doing.keys().filter(|(h, _)| *h == host).map(|(_, op)| *op).collect();
        if !ops.is_empty() {
            let op = ops[self.world.rng.below(ops.len() as u64) as usize];
            self.world.with_host(host, |h, now| h.cancel(now, op));
        }
    }

    fn crash(&mut self, card: usize) {
        if self.dark.contains_key(&card) {
            return;
        }
        self.world.crash_card(card);
        self.oracles[card].reboot();
        let back = self.world.now() + Duration::from_micros(self.world.rng.below(3_000_000));
        self.dark.insert(card, back);
    }

    fn pull(&mut self, card: usize) {
        if self.pulled.contains_key(&card) {
            return;
        }
        self.world.rack.net.down(self.world.card(card).link);
        let back = self.world.now() + Duration::from_micros(self.world.rng.below(3_000_000));
        self.pulled.insert(card, back);
    }

    fn restart(&mut self, host: usize) {
        self.world.restart_host(host);
        let lost: Vec<_> = self.doing.keys().filter(|(h, _)| *h == host).copied().collect();
        for key in lost {
            if let Some(Doing::Bump { card, slot: Some((slot, _)), .. }) = self.doing.remove(&key) {
                self.oracles[card].slots[slot].locks -= 1;
            }
        }
        self.world.with_host(host, |h, now| h.solicit(now, Duration::from_micros(100)));
    }
}
