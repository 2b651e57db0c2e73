//! Auto-discovery: when the card says who it is.
//!
//! At link-up (a few times, for the first may be lost before the switch has learnt the port), on solicitation, when its
//! image or claim has changed, and at slow intervals.

use rackloom_node::{Duration, Instant};
use rackloom_wire::{
    ASKS_ENCRYPTION, ASKS_KEY, ASKS_SIGNATURE, Announce, AnnounceReason, CardState, Counter, HOSTS, Head, IntoBytes,
    Kind, MacAddr, Solicit, U16, U32, U64,
};

use crate::Config;
use crate::shell::{Shell, earlier};

/// What an announcement says beyond the card's configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) state: CardState,
    pub(crate) owner: MacAddr,
    /// Who hears what all hosts hear under a tag besides.
    pub(crate) witness: Option<MacAddr>,
    pub(crate) epoch: u16,
    pub(crate) digest: [u8; 32],
    pub(crate) kernels: u8,
    pub(crate) clock_khz: u32,
}

/// The auto-discovery block.
#[derive(Debug)]
pub(crate) struct Discovery {
    /// Why the link came up.
    reason: AnnounceReason,
    /// Announcements sent of the link's coming up.
    link_ups: usize,
    up_at: Instant,
    periodic_at: Instant,
    changed: bool,
    role_failed: bool,
    seq: u32,
    answers: Vec<Answer>,
}

/// An answer that waits for its random moment.
#[derive(Debug, Clone, Copy)]
struct Answer {
    to: MacAddr,
    seq: u32,
    due: Instant,
}

impl Discovery {
    /// The link came up at `now`, for this reason.
    pub(crate) fn new(now: Instant, shell: &mut Shell, reason: AnnounceReason) -> Self {
        let mut new = Self {
            reason,
            link_ups: 0,
            up_at: now,
            periodic_at: now,
            changed: false,
            role_failed: false,
            seq: 0,
            answers: Vec::new(),
        };
        new.draw_interval(now, shell);
        new
    }

    /// The card's image or claim has changed; the next [`timeout`](Self::timeout) tells.
    pub(crate) const fn change(&mut self) {
        self.changed = true;
    }

    /// The role has broken a rule; the next [`timeout`](Self::timeout) tells.
    pub(crate) const fn role_failed(&mut self) {
        self.role_failed = true;
    }

    /// A host asks who is there.
    pub(crate) fn solicit(&mut self, now: Instant, shell: &mut Shell, facts: &Facts, asked: &Head, body: &Solicit) {
        if let Some(pending) = self.answers.iter_mut().find(|a| a.to == asked.src) {
            // The answer that is due anyway answers both.
            pending.seq = asked.seq;
            return;
        }
        if self.answers.len() >= SOLICITORS_MAX {
            // Whoever asked first is answered now: strangers cannot keep a place from who asks.
            let Answer { to, seq, .. } = self.answers.remove(0);
            announce(shell, facts, AnnounceReason::Solicited, to, seq);
        }
        let due = now + shell.jitter_us(body.window_us.get());
        self.answers.push(Answer { to: asked.src, seq: asked.seq, due });
    }

    /// Says what is due.
    pub(crate) fn timeout(&mut self, now: Instant, shell: &mut Shell, facts: &Facts) {
        let before = self.link_ups;
        while self.link_up_at().is_some_and(|at| at <= now) {
            self.link_ups += 1;
        }
        // A card that was asleep through several of its moments speaks once.
        if self.link_ups > before {
            self.tell_all(shell, facts, self.reason);
        }
        if self.changed {
            self.changed = false;
            self.tell_all(shell, facts, AnnounceReason::Changed);
        }
        if self.role_failed {
            self.role_failed = false;
            self.tell_all(shell, facts, AnnounceReason::RoleFailed);
        }
        if self.periodic_at <= now {
            self.draw_interval(now, shell);
            self.tell_all(shell, facts, AnnounceReason::Periodic);
        }
        while let Some(at) = self.answers.iter().position(|a| a.due <= now) {
            let Answer { to, seq, .. } = self.answers.remove(at);
            announce(shell, facts, AnnounceReason::Solicited, to, seq);
        }
    }

    /// When it wants to speak next.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let at_once = (self.changed || self.role_failed).then_some(Instant::ZERO);
        let answer = self.answers.iter().map(|a| a.due).min();
        earlier(earlier(self.link_up_at(), at_once), earlier(Some(self.periodic_at), answer))
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.answers.len() <= SOLICITORS_MAX);
        assert!(self.link_ups <= LINK_UP_AFTER.len());
    }

    fn link_up_at(&self) -> Option<Instant> {
        LINK_UP_AFTER.get(self.link_ups).map(|&after| self.up_at + after)
    }

    fn tell_all(&mut self, shell: &mut Shell, facts: &Facts, reason: AnnounceReason) {
        self.seq = self.seq.wrapping_add(1);
        for to in [HOSTS].into_iter().chain(facts.witness) {
            announce(shell, facts, reason, to, self.seq);
        }
    }

    fn draw_interval(&mut self, now: Instant, shell: &mut Shell) {
        // From 3/4 to 5/4: cards that were switched on together do not stay in step.
        let mean = u64::try_from(shell.config.announce_interval.as_nanos()).unwrap_or(u64::MAX / 2);
        let ns = mean / 4 * 3 + shell.rng.below(mean / 2 + 1);
        self.periodic_at = now + Duration::from_nanos(ns);
    }
}

/// What an announcement says.
pub(crate) fn body(c: &Config, facts: &Facts, reason: AnnounceReason) -> Announce {
    Announce {
        mac0: c.mac,
        mac1: c.ports.first().map_or(MacAddr::ZERO, |port| port.mac),
        vendor: U16::new(c.vendor),
        product: U16::new(c.product),
        unit: U16::new(c.unit),
        card_kind: c.kind.into(),
        state: facts.state.into(),
        reason: reason.into(),
        ports: u8::try_from(1 + c.ports.len()).expect("at most 64"),
        bulk: U16::new(c.bulk),
        boot: U32::new(c.boot),
        clock_khz: U32::new(facts.clock_khz),
        memory: U64::new(c.memory),
        port_rate: U64::new(c.port_rate),
        stage_rate: U64::new(c.stage_rate),
        config_rate: U64::new(c.config_rate),
        owner: facts.owner,
        asks: asks(c),
        kernels: facts.kernels,
        digest: facts.digest,
    }
}

/// What it asks of hosts and images.
fn asks(c: &Config) -> u8 {
    let encrypts = c.keys.as_ref().is_some_and(crate::Keys::demands_encryption);
    let all = [(c.keys.is_some(), ASKS_KEY), (c.signers.is_some(), ASKS_SIGNATURE), (encrypts, ASKS_ENCRYPTION)];
    all.iter().filter(|(asks, _)| *asks).map(|(_, bit)| *bit as u8).sum()
}

fn announce(shell: &mut Shell, facts: &Facts, reason: AnnounceReason, to: MacAddr, seq: u32) {
    let body = body(&shell.config, facts, reason);
    shell.counters.inc(Counter::Announces);
    let head = shell.head(to, Kind::DiscoveryAnnounce, facts.epoch, seq);
    shell.send(head, &[body.as_bytes()]);
}

/// Hosts whose solicitations wait for their answer at the same time; with one more, the first of them is answered at
/// once.
pub(crate) const SOLICITORS_MAX: usize = 4;
/// When, after link-up, the card announces it: the frames may meet a switch port that does not forward yet.
const LINK_UP_AFTER: [Duration; 3] = [Duration::ZERO, Duration::from_millis(50), Duration::from_millis(200)];
