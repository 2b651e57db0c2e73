//! What a load asks its cards, how often, and when it gives one up.

use rackloom_node::{Duration, Frame, Instant};
use rackloom_wire::{Head, ImageBegin, IntoBytes, Kind, MacAddr, Poll, U16, U32, U64};

use super::member::{Member, State};
use super::{Loader, port_time};
use crate::error::{OpError, Stage};
use crate::event::LoadPhase;

impl Loader {
    /// Gives up whom the load has waited for too long; whoever waits with it for them has no part in that. True if
    /// there was one.
    fn give_up_stalled(&mut self) -> bool {
        let mut any = false;
        for m in self.members.values_mut().filter(|m| m.tour == self.tour && !m.is_over()) {
            // A card that configures shows no progress until the port is done.
            let port =
                if m.state == State::Committed { port_time(self.image.len(), m.config_rate) } else { Duration::ZERO };
            let waited = self.patience - m.progress_at;
            let checks = m.checks_for(self.patience);
            let is_late = waited >= self.stall + port || checks.is_some_and(|time| time >= self.check);
            if !m.is_past(self.phase) && is_late {
                let (said, waited) = (m.said(), checks.unwrap_or(waited));
                m.state = State::Failed(OpError::Stalled { card: m.name, stage: Stage { said, waited }, seen: None });
                any = true;
            }
        }
        any
    }

    /// Asks, for the first time or again, what the phase waits for.
    pub(super) fn ask(&mut self, now: Instant) {
        if self.give_up_stalled() {
            let (tour, phase) = (self.tour, self.phase);
            self.advance(now);
            if (tour, phase) != (self.tour, self.phase) || self.members.values().all(Member::is_over) {
                return;
            }
        }
        let members = self.members.len() as u64;
        match self.phase {
            LoadPhase::Begin | LoadPhase::Send => {
                let body = ImageBegin {
                    length: U64::new(self.image.len() as u64),
                    chunk: U16::new(self.chunk as u16),
                    group: U16::new(self.group),
                    members: U32::new(members as u32),
                    digest: self.digest,
                };
                let (seq, src) = (self.seq, self.host);
                let invited = self.members.iter().filter(|(_, m)| m.tour == self.tour && m.state == State::Invited);
                let begin = |(card, m): (&MacAddr, &Member)| {
                    let kind = Kind::ImageBegin;
                    let head = Head { dst: *card, src, kind, flags: 0, epoch: m.epoch, seq, addr: 0 };
                    // It is sealed for each of them as it leaves.
                    head.frame(&[body.as_bytes(), self.key.as_ref().map_or(&[], |key| key.reveal())])
                };
                let before = self.urgent.len();
                self.urgent.extend(invited.map(begin));
                self.ask_at = None;
                if self.urgent.len() > before {
                    self.ask_again(now, Duration::ZERO);
                }
            }
            LoadPhase::Repair => self.ask_at = None,
            LoadPhase::Verify if self.live().any(|m| !m.report.is_empty()) && self.heard_some() => self.repair(now),
            LoadPhase::Verify => self.ask_poll(now, members),
            LoadPhase::Configure => {
                if self.live().any(|m| m.state == State::Staged) {
                    let frame = self.to_group(Kind::ImageCommit, 0, self.seq, 0, &[]);
                    self.urgent.push(frame);
                    self.ask_again(now, Duration::ZERO);
                } else {
                    self.ask_poll(now, members);
                }
            }
        }
    }

    /// Some member has answered this poll: what it reported is worth repairing though others are silent.
    fn heard_some(&self) -> bool {
        self.live().any(|m| m.answered == self.poll)
    }

    fn ask_poll(&mut self, now: Instant, members: u64) {
        // A report is some 1.2 us of a 10 Gb/s wire and a card sends a few: answers thus spread do not queue up.
        let window = 20 + 4 * members;
        self.poll += 1;
        self.members.values_mut().for_each(|m| m.report.clear());
        let body = Poll { window_us: U32::new(window as u32), reserved: U32::ZERO };
        let frame = self.to_group(Kind::ImagePoll, 0, self.poll, 0, &[body.as_bytes()]);
        self.urgent.push(frame);
        self.ask_again(now, Duration::from_micros(window));
    }

    fn ask_again(&mut self, now: Instant, window: Duration) {
        self.ask_at = Some(now + window + self.wait);
        // Cards that catch up with their digest are asked again and again: a lost answer must not cost more than that
        // takes. Who was left behind may need longer for its answers, and then nobody else waits; nor do questions help
        // a card that has worked for as long as the longest wait.
        let is_quick = self.phase == LoadPhase::Verify && self.tour == 0 && now - self.phase_at < self.wait_max;
        let most = if is_quick { self.wait_min * 8 } else { self.wait_max };
        self.wait = (self.wait * 2).min(most);
    }

    pub(super) fn to_group(&self, kind: Kind, flags: u8, seq: u32, addr: u64, payload: &[&[u8]]) -> Frame {
        // A load of one card need not trouble the others.
        let mut party = self.members.iter().filter(|(_, m)| m.tour == self.tour);
        let alone = party.next().map(|(card, _)| *card).filter(|_| party.next().is_none());
        self.to(alone, kind, flags, seq, addr, payload)
    }

    pub(super) fn to(
        &self,
        one: Option<MacAddr>,
        kind: Kind,
        flags: u8,
        seq: u32,
        addr: u64,
        payload: &[&[u8]],
    ) -> Frame {
        let dst = one.unwrap_or_else(|| MacAddr::group(self.group));
        Head { dst, src: self.host, kind, flags, epoch: self.group, seq, addr }.frame(payload)
    }
}
