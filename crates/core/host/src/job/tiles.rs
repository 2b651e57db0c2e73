//! Tiles on cards: where they lie, and what becomes of them.

use rackloom_node::{Duration, Instant};
use rackloom_wire::{MacAddr, ROLE_PRIVATE};

use super::{Arg, Job, JobEvent, Member};
use crate::card_info::CardInfo;
use crate::error::{CardName, OpError};
use crate::event::{LaunchReport, OpId, Outcome};
use crate::host::Host;
use crate::launcher::Launch;

/// What a card computes.
#[derive(Debug)]
pub(super) struct Working {
    pub(super) slots: Vec<Slot>,
    /// How long its last tile took.
    pub(super) took: Option<Duration>,
}

/// A part of a card's memory, and the tile that is there.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) base: u64,
    pub(super) busy: Option<Busy>,
}

#[derive(Debug)]
pub(super) struct Busy {
    pub(super) tile: usize,
    pub(super) since: Instant,
    pub(super) launch: OpId,
    pub(super) writes: u32,
    pub(super) failed: Option<OpError>,
    pub(super) done: Option<LaunchReport>,
}

impl Job {
    pub(super) fn work_on(&mut self, card: MacAddr, info: &CardInfo, out: &mut Vec<JobEvent>) {
        let need = self.work.tile_bytes().next_multiple_of(64).max(64);
        let room = info.memory.saturating_sub(ROLE_PRIVATE) / need;
        if room == 0 {
            let (code, detail) = (rackloom_wire::ErrorCode::BadAddress, info.memory);
            let name = CardName { mac: card, unit: Some(info.unit) };
            return self.lose(card, OpError::Refused { card: name, code, detail }, out);
        }
        self.known.insert(card, info.boot);
        let slots = room.min(self.options.depth as u64);
        let slot = |i| Slot { base: ROLE_PRIVATE + i * need, busy: None };
        let slots = (0..slots).map(slot).collect();
        self.members.insert(card, Member::Working(Working { slots, took: None }));
        out.push(JobEvent::Joined(card));
    }

    /// Gives each free slot a tile, card by card in turn so that the first tiles spread.
    pub(super) fn feed(&mut self, now: Instant, host: &mut Host) {
        let working = self.members.iter().filter(|(_, m)| matches!(m, Member::Working(_)));
        let cards: Vec<_> = working.map(|(card, _)| *card).collect();
        for depth in 0..self.options.depth {
            for card in &cards {
                let Some(Member::Working(w)) = self.members.get(card) else { continue };
                if w.slots.get(depth).is_none_or(|slot| slot.busy.is_some()) {
                    continue;
                }
                let Some(tile) = self.todo.pop_front().or_else(|| self.straggling(now, *card)) else { continue };
                self.give(now, host, *card, depth, tile);
            }
        }
    }

    /// Gives a free slot of a card this tile.
    fn give(&mut self, now: Instant, host: &mut Host, card: MacAddr, depth: usize, tile: usize) {
        let Some(Member::Working(w)) = self.members.get_mut(&card) else { return };
        let slot = &mut w.slots[depth];
        let t = self.work.inputs(tile);
        let mut at = slot.base;
        let mut addrs = Vec::new();
        let writes = t.inputs.len() as u32;
        for input in t.inputs {
            addrs.push(at);
            let len = input.len() as u64;
            self.ops.insert(host.write(now, card, at, input), (card, Some(depth)));
            at += len.next_multiple_of(64);
        }
        let word = |arg: &Arg| match arg {
            Arg::Input(i) => addrs[*i],
            Arg::Output(offset) => at + offset,
            Arg::Value(v) => *v,
        };
        let args = t.args.iter().map(word).collect();
        let launch = Launch { kernel: t.kernel, args, fuel: 0, output: (at, t.output), hold: 0 };
        let launch = host.launch(now, card, launch);
        self.ops.insert(launch, (card, Some(depth)));
        slot.busy = Some(Busy { tile, since: now, launch, writes, failed: None, done: None });
    }

    pub(super) fn computed(
        &mut self,
        now: Instant,
        card: MacAddr,
        slot: usize,
        op: OpId,
        result: &Result<Outcome, OpError>,
        out: &mut Vec<JobEvent>,
    ) {
        if let Err(why) = result
            && (why.is_card_loss() || why.is_called_off() && !self.is_over_called_off(card, slot))
        {
            return self.lose(card, why.clone(), out);
        }
        let Some(Member::Working(w)) = self.members.get_mut(&card) else { return };
        let slot = &mut w.slots[slot];
        let Some(busy) = slot.busy.as_mut() else { return };
        let is_launch = op == busy.launch;
        busy.writes -= u32::from(!is_launch);
        match result {
            Ok(Outcome::Launched(report)) => busy.done = Some(report.clone()),
            Ok(_) => {}
            Err(why) => busy.failed = busy.failed.take().or_else(|| Some(why.clone())),
        }
        // The slot is free when nothing of its tile is on the way any more.
        let launch_over = is_launch || !self.ops.contains_key(&busy.launch);
        if busy.writes > 0 || !launch_over {
            return;
        }
        let busy = slot.busy.take().expect("just seen");
        w.took = Some(now - busy.since);
        // Another card was faster, or still is at it.
        if self.finished[busy.tile] || (busy.done.is_none() && self.is_under_way(busy.tile)) {
            return;
        }
        match (busy.failed, busy.done) {
            (None, Some(report)) => {
                self.finished[busy.tile] = true;
                self.work.output(busy.tile, report.output.clone());
                self.left -= 1;
                out.push(JobEvent::Tile { tile: busy.tile, card, report });
            }
            (failed, _) => {
                let why = failed.expect("a launch gives a report or an error");
                let tries = self.attempts.entry(busy.tile).or_insert(0);
                *tries += 1;
                if *tries >= self.options.attempts {
                    self.ended = true;
                    out.push(JobEvent::Failed(why));
                } else {
                    self.todo.push_front(busy.tile);
                }
            }
        }
    }
}
