//! A card in a load: how far it is, and what it has reported.

use rackloom_node::{Duration, Instant};
use rackloom_transport::WIRE_OVERHEAD;
use rackloom_wire::{MISSING_FRAMES, MISSING_RANGES, Missing, Restart};

use crate::card_info::CardInfo;
use crate::error::{CardName, OpError};
use crate::event::LoadPhase;

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: CardName,
    pub(super) epoch: u16,
    pub(super) config_rate: u64,
    /// Bits a second on the wire that it takes; `None`: as fast as they come.
    pub(super) rate: Option<u64>,
    pub(super) state: State,
    /// The tour in which the load waits for it.
    pub(super) tour: u32,
    /// Since when it is waited for, by the clock of the host's patience.
    pub(super) progress_at: Instant,
    /// Since when it says that it has all of the image, by the same clock.
    pub(super) whole_at: Option<Instant>,
    /// The last poll this card has answered wholly.
    pub(super) answered: u32,
    /// What it reported on the present poll.
    pub(super) report: Vec<(u32, u32)>,
    /// Chunks that it lacked when it reported last.
    pub(super) lacks: u32,
    /// The fewest of them.
    least: u32,
    /// The fewest before a repair.
    least_repaired: u32,
    /// Repairs in a row after which it lacked no less.
    fruitless: u32,
    /// From the load's begin to its activation.
    pub(super) took: Option<Duration>,
}

#[derive(Debug, PartialEq)]
pub(super) enum State {
    Invited,
    Ready,
    Staged,
    Committed,
    Active,
    /// In its configuration flash: it awaits this.
    Written(Restart),
    Failed(OpError),
}

/// Repairs after which a card that lacks no less than before is given up: with a frame in three lost, the last chunk of
/// an image is lost as often as this once in 43 million times.
const FRUITLESS_MAX: u32 = 16;

impl Member {
    pub(super) fn new(card: &CardInfo, epoch: u16, chunk: usize, now: Instant) -> Self {
        let on_wire = (chunk + 32 + WIRE_OVERHEAD) as u64;
        let stage = (card.stage_rate.saturating_mul(8) / chunk as u64).saturating_mul(on_wire);
        Self {
            name: CardName { mac: card.mac, unit: Some(card.unit) },
            epoch,
            config_rate: card.config_rate,
            rate: [card.port_rate, stage].into_iter().filter(|rate| *rate > 0).min(),
            state: State::Invited,
            tour: 0,
            progress_at: now,
            whole_at: None,
            answered: 0,
            report: Vec::new(),
            lacks: 0,
            least: u32::MAX,
            least_repaired: u32::MAX,
            fruitless: 0,
            took: None,
        }
    }

    /// A card that gets nothing of the load, for this reason.
    pub(super) fn left_out(why: OpError, now: Instant) -> Self {
        Self {
            name: why.name(),
            epoch: 0,
            config_rate: 0,
            rate: None,
            state: State::Failed(why),
            tour: 0,
            progress_at: now,
            whole_at: None,
            answered: 0,
            report: Vec::new(),
            lacks: 0,
            least: u32::MAX,
            least_repaired: u32::MAX,
            fruitless: 0,
            took: None,
        }
    }

    /// The same card at the begin of a load.
    pub(super) fn anew(&self) -> Self {
        Self {
            state: State::Invited,
            whole_at: None,
            answered: 0,
            report: Vec::new(),
            lacks: 0,
            least: u32::MAX,
            least_repaired: u32::MAX,
            fruitless: 0,
            took: None,
            ..*self
        }
    }

    /// Whether all chunks of the image have been sent for this card's report, and it lacks as many as before.
    pub(super) const fn was_sent_all(&self, chunks: u32) -> bool {
        self.least_repaired == chunks
    }

    pub(super) const fn is_over(&self) -> bool {
        matches!(self.state, State::Active | State::Written(_) | State::Failed(_))
    }

    /// Whether this phase has what it waits for from this card.
    pub(super) const fn is_past(&self, phase: LoadPhase) -> bool {
        match phase {
            LoadPhase::Begin => !matches!(self.state, State::Invited),
            LoadPhase::Send | LoadPhase::Repair => true,
            LoadPhase::Verify => !matches!(self.state, State::Invited | State::Ready),
            LoadPhase::Configure => self.is_over(),
        }
    }

    /// What it has said last, for messages.
    pub(super) const fn said(&self) -> Option<&'static str> {
        match self.state {
            State::Ready if self.whole_at.is_some() => Some("nothing missing"),
            State::Ready => Some("ready"),
            State::Staged => Some("staged"),
            State::Committed => Some("committed"),
            _ => None,
        }
    }

    /// It says that it has all of the image: then it checks it, and is not idle as long as it goes on saying so.
    pub(super) fn note_whole(&mut self, now: Instant) {
        if self.state == State::Ready {
            self.whole_at.get_or_insert(now);
            self.progress_at = now;
        }
    }

    /// For how long it has checked the image.
    pub(super) fn checks_for(&self, now: Instant) -> Option<Duration> {
        self.whole_at.filter(|_| self.state == State::Ready).map(|at| now - at)
    }

    /// A frame of its report on the present poll. True if it lacks less than ever before.
    pub(super) fn note_report(&mut self, poll: u32, head: &Missing, ranges: impl Iterator<Item = (u32, u32)>) -> bool {
        if head.more.get() == 0 {
            self.answered = poll;
        }
        let room = ((MISSING_FRAMES * MISSING_RANGES) as usize).saturating_sub(self.report.len());
        self.report.extend(ranges.take(room));
        self.lacks = head.missing.get();
        let is_less = self.lacks < self.least;
        self.least = self.least.min(self.lacks);
        is_less
    }

    /// What it lacks is about to be sent. False if that has been in vain too often.
    pub(super) fn is_worth_repair(&mut self) -> bool {
        self.fruitless = if self.lacks < self.least_repaired { 0 } else { self.fruitless + 1 };
        self.least_repaired = self.least_repaired.min(self.lacks);
        self.fruitless < FRUITLESS_MAX
    }
}
