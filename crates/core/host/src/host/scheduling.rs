//! Who sends next, and when the host has to act.

use std::collections::BTreeSet;

use rackloom_node::{Instant, Output};
use rackloom_wire::{Head, Kind, MacAddr};

use super::Host;
use super::state::Source;
use crate::error::OpError;
use crate::event::{Event, LoadPhase, OpId};
use crate::loader::Loader;
use crate::patience::Patience;
use crate::peer::Peer;
use crate::session::Session;

/// Most chunks one card may have under way towards the host: the acknowledgement's bitmap holds 256.
const SHARE_MAX: u32 = 128;

impl Host {
    /// The next event or frame.
    pub(super) fn next_output(&mut self, now: Instant) -> Option<Output<Event>> {
        if let Some(event) = self.events.pop_front() {
            return Some(Output::Event(event));
        }
        if !self.pacer.is_open(now) {
            return None;
        }
        while let Some(frame) = self.control.pop_front() {
            let Some(frame) = self.seal(now, frame) else { continue };
            self.pacer.sent(now, frame.len());
            return Some(Output::Transmit(0, frame));
        }
        while let Some(source) = self.ready.pop_front() {
            let frame = match source {
                Source::Card(card) => {
                    let share = self.share();
                    let Some(peer) = self.peers.get_mut(&card) else { continue };
                    let frame = peer.session.as_mut().and_then(|s| s.next_frame(now, share));
                    peer.is_ready = frame.is_some();
                    frame
                }
                Source::Load(op) => {
                    let Some(loader) = self.loads.get_mut(&op) else { continue };
                    let before = loader.progress();
                    loader.set_patience(self.patience.now());
                    let frame = loader.next_frame(now);
                    self.tell_progress(op, before);
                    if frame.is_none() {
                        self.finish_silent_load(now, op);
                    }
                    frame
                }
            };
            if let Some(frame) = frame {
                self.ready.push_back(source);
                if let Some(frames) = self.single_of(source, &frame) {
                    frames.into_iter().for_each(|frame| self.send(frame));
                    return self.next_output(now);
                }
                let Some(frame) = self.seal(now, frame) else { continue };
                self.pacer.sent(now, frame.len());
                return Some(Output::Transmit(0, frame));
            }
            if let Some(event) = self.events.pop_front() {
                return Some(Output::Event(event));
            }
        }
        None
    }

    /// When something has to be done.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let (interval, silence) = (self.config.ping_interval, self.config.silence);
        let wire = (!self.control.is_empty() || !self.ready.is_empty()).then(|| self.pacer.opens_at()).flatten();
        let peers = self.peers.values().filter_map(|p| p.deadline(interval, silence, &self.patience)).min();
        // Those that are ready wait for the wire only.
        let waiting = self.loads.iter().filter(|(op, _)| !self.ready.contains(&Source::Load(**op)));
        let loads = waiting.filter_map(|(_, l)| l.deadline()).min();
        let gos = self.gos.iter().map(|go| go.timer.deadline()).min();
        let ops = self.deadlines.first().map(|(at, _)| *at);
        let limits = self.limits.first().map(|(at, _)| self.patience.reaches(*at));
        [wire, peers, loads, gos, ops, limits].into_iter().flatten().min()
    }

    /// Does what is due.
    pub(super) fn serve_deadlines(&mut self, now: Instant) {
        let (interval, silence) = (self.config.ping_interval, self.config.silence);
        let deadline = |p: &Peer, patience: &Patience| p.deadline(interval, silence, patience);
        let due = self.peers.values().filter_map(|p| deadline(p, &self.patience)).min();
        self.patience.serve_timeout(now, due);
        let due: Vec<_> = self
            .peers
            .iter()
            .filter(|(_, p)| deadline(p, &self.patience).is_some_and(|t| t <= now))
            .map(|(card, _)| *card)
            .collect();
        for card in due {
            self.watch(now, card);
        }
        let due: Vec<_> =
            self.loads.iter().filter(|(_, l)| l.deadline().is_some_and(|t| t <= now)).map(|(op, _)| *op).collect();
        for op in due {
            self.touch_load(op);
        }
        if self.gos.iter().any(|go| go.timer.is_due(now)) {
            self.repeat_gos(now);
        }
        let late = |set: &BTreeSet<(Instant, OpId)>, now| set.first().filter(|(at, _)| *at <= now).map(|(_, op)| *op);
        while let Some(op) = late(&self.deadlines, now).or_else(|| late(&self.limits, self.patience.now())) {
            let place = self.ops.get(&op).expect("an operation with a deadline is under way");
            let (card, waited) = (place.card.unwrap_or_default(), now - place.begun);
            let name = self.name(card);
            let peer = self.peers.get(&card);
            let why = match peer.and_then(|p| p.claims_in_vain(op, now, interval)) {
                Some(guard) => OpError::KeyIgnored { card: name, waited, generation: guard.unknown() },
                None => OpError::Deadline { card: name, waited, seen: peer.map(|p| p.last_seen(now)) },
            };
            self.give_up(now, op, why);
        }
    }

    /// Queues a card that may have frames to send.
    pub(super) fn touch(&mut self, card: MacAddr) {
        if let Some(peer) = self.peers.get_mut(&card).filter(|p| !p.is_ready && p.session.is_some()) {
            peer.is_ready = true;
            self.ready.push_back(Source::Card(card));
        }
    }

    pub(super) fn touch_load(&mut self, op: OpId) {
        if !self.ready.contains(&Source::Load(op)) {
            self.ready.push_back(Source::Load(op));
        }
    }

    /// Chunks that each card may have in flight towards this host, so that together they fit the queue before it.
    pub(super) fn share(&self) -> u32 {
        let receiving = self.peers.values().filter(|p| p.session.as_ref().is_some_and(Session::is_receiving)).count();
        let chunks = self.config.inbound_bytes / u32::from(self.config.bulk);
        (chunks / receiving.max(1) as u32).clamp(1, SHARE_MAX)
    }

    pub(super) fn finish_load(&mut self, now: Instant, op: OpId) {
        if self.loads.get(&op).is_some_and(Loader::is_over) {
            let loader = self.loads.remove(&op).expect("just seen");
            self.complete_load(now, op, loader);
        } else {
            self.touch_load(op);
        }
    }

    /// Repeats each Go that a held launch may have missed.
    pub(super) fn repeat_gos(&mut self, now: Instant) {
        let mut gos = std::mem::take(&mut self.gos);
        gos.retain(|go| self.peers.values().filter_map(|p| p.session.as_ref()).any(|s| s.launcher.is_held(go.number)));
        for go in gos.iter_mut().filter(|go| go.timer.is_due(now)) {
            go.timer.resent(now);
            self.send_go(go.number);
        }
        self.gos = gos;
    }

    pub(super) fn send_go(&mut self, number: u32) {
        let (dst, src, epoch) = (MacAddr::group(self.group), self.mac(), self.group);
        let frame = Head { dst, src, kind: Kind::ExecGo, flags: 0, epoch, seq: number, addr: 0 }.frame(&[]);
        let claimed: Vec<_> = self.peers.iter().filter(|(_, p)| p.session.is_some()).map(|(card, _)| *card).collect();
        self.send_to_each(frame, &claimed);
    }

    /// Reports each percent of a load's progress, and each change of its phase.
    pub(super) fn tell_progress(&mut self, op: OpId, before: (LoadPhase, u32, u32)) {
        let Some(loader) = self.loads.get(&op) else { return };
        let (phase, done, total) = loader.progress();
        let step = (total / 100).max(1);
        if phase != before.0 || done / step != before.1 / step {
            self.events.push_back(Event::LoadProgress { op, phase, done, total });
        }
    }

    /// A load that has nothing to send may have come to its end by giving up its last card.
    pub(super) fn finish_silent_load(&mut self, now: Instant, op: OpId) {
        if self.loads.get(&op).is_some_and(Loader::is_over) {
            self.finish_load(now, op);
        }
    }
}
