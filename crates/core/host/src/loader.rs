//! One image into many cards at once: sent to a group, repaired by what the cards report, committed when all have
//! verified it.
//!
//! The phases follow reliable multicast as RFC 5740 has it: the sender paces itself to the slowest receiver, receivers
//! report what they lack after a random wait and leave out what others have reported, the sender repairs the union to
//! all. Unlike there, the sender does not wait for each receiver: see `party`.

mod ask;
mod data;
mod member;
mod party;
mod shrink;
mod told;

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_auth::ImageKey;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_transport::{Pacer, WIRE_OVERHEAD};
use rackloom_wire::{ErrorCode, Kind, MacAddr, Packet, Restart, parse_missing};

use self::member::{Member, State};

use crate::card_info::CardInfo;
use crate::chunks::Chunks;
use crate::config::Config;
use crate::error::OpError;
use crate::event::{LoadPhase, OpId};

/// Which cards activate an image that not all have verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// Each card that has verified it.
    Each,
    /// None: it is activated everywhere or nowhere. A card that vanishes after the commit was sent is beyond this.
    AllOrNone,
}

/// A load under way.
#[derive(Debug)]
pub(crate) struct Loader {
    pub(crate) op: OpId,
    pub(crate) group: u16,
    host: MacAddr,
    image: Bytes,
    digest: [u8; 32],
    /// What its data is encrypted under; `None`: it goes in clear.
    key: Option<ImageKey>,
    chunk: usize,
    /// Chunks of the image.
    chunks: u32,
    todo: Chunks,
    members: BTreeMap<MacAddr, Member>,
    /// Who is left behind in one tour has the next one.
    tour: u32,
    commit: Commit,
    phase: LoadPhase,
    phase_at: Instant,
    begun_at: Instant,
    /// What the clock of the host's patience shows.
    patience: Instant,
    begun_by_patience: Instant,
    phase_by_patience: Instant,
    /// When half of the party was past this phase, by the same clock.
    half_at: Option<Instant>,
    /// When those who are not may be left behind.
    leave_at: Option<Instant>,
    /// Most chunks that a card may add to the present repair.
    repair_limit: u32,
    /// Whether the host's wire has a rate to which a card's can be compared.
    is_paced: bool,
    phases: [Duration; 5],
    pacer: Pacer,
    /// Frames of control that are to go at once.
    urgent: Vec<Frame>,
    seq: u32,
    /// The number of the load in standard frames, should long ones not get through.
    second_seq: u32,
    poll: u32,
    /// When to ask, or ask again, whatever the phase waits for.
    ask_at: Option<Instant>,
    wait: Duration,
    wait_min: Duration,
    wait_max: Duration,
    stall: Duration,
    check: Duration,
    data_frames: u64,
    repair_frames: u64,
    wire_bytes: u64,
    pass_total: u32,
}

impl Loader {
    #[allow(clippy::too_many_arguments, reason = "one call, by the host")]
    pub(crate) fn new(
        op: OpId,
        now: Instant,
        patience: Instant,
        config: &Config,
        group: u16,
        seq: u32,
        image: Bytes,
        cards: &[(&CardInfo, u16)],
        commit: Commit,
    ) -> Self {
        let bulk = cards.iter().map(|(c, _)| c.bulk).min().unwrap_or(config.bulk).min(config.bulk);
        let chunk = usize::from(bulk);
        let chunks = u32::try_from(image.len().div_ceil(chunk)).expect("an image of at most 256 MiB");
        let members = cards.iter().map(|(card, epoch)| (card.mac, Member::new(card, *epoch, chunk, patience)));
        let mut loader = Self {
            op,
            group,
            host: config.mac,
            digest: *blake3::hash(&image).as_bytes(),
            key: None,
            image,
            chunk,
            chunks,
            todo: Chunks::all(chunks),
            members: members.collect(),
            tour: 0,
            commit,
            phase: LoadPhase::Begin,
            phase_at: now,
            begun_at: now,
            patience,
            begun_by_patience: patience,
            phase_by_patience: patience,
            half_at: None,
            leave_at: None,
            repair_limit: 0,
            // Where the host's own wire has no stated rate, its back-pressure paces; a live rack's rates are nominal.
            is_paced: config.tx_rate.is_some(),
            phases: [Duration::ZERO; 5],
            pacer: Pacer::new(None),
            urgent: Vec::new(),
            seq,
            second_seq: seq.wrapping_add(1),
            poll: 0,
            ask_at: Some(now),
            wait: config.rto_min,
            wait_min: config.rto_min,
            wait_max: config.rto_max,
            stall: config.load_stall,
            check: config.load_check,
            data_frames: 0,
            repair_frames: 0,
            wire_bytes: 0,
            pass_total: chunks,
        };
        if loader.is_paced {
            loader.leave_slow();
        }
        loader.pace();
        loader
    }

    /// Cards that get nothing of this load: its report names them. Where all are to have the image, none has it then.
    pub(crate) fn leave_out(&mut self, cards: Vec<OpError>) {
        if !cards.is_empty() && self.commit == Commit::AllOrNone {
            self.call_off();
        }
        self.members.extend(cards.into_iter().map(|why| (why.card(), Member::left_out(why, self.patience))));
    }

    /// Keeps to the slowest card of this tour.
    fn pace(&mut self) {
        self.pacer = Pacer::new(self.slowest().filter(|_| self.is_paced));
    }

    /// Sets what the clock of the host's patience shows; before each call that may find a card stalled.
    pub(crate) const fn set_patience(&mut self, at: Instant) {
        self.patience = at;
    }

    /// Its members.
    pub(crate) fn cards(&self) -> Vec<MacAddr> {
        self.members.keys().copied().collect()
    }

    pub(crate) fn has(&self, card: MacAddr) -> bool {
        self.members.contains_key(&card)
    }

    /// Whether the load still waits for this card.
    pub(crate) fn awaits(&self, card: MacAddr) -> bool {
        self.members.get(&card).is_some_and(|m| !m.is_over())
    }

    /// Whether this card runs the image by this load.
    pub(crate) fn has_loaded(&self, card: MacAddr) -> bool {
        self.members.get(&card).is_some_and(|m| m.state == State::Active)
    }

    /// The card is lost to this load.
    pub(crate) fn lose(&mut self, now: Instant, card: MacAddr, why: OpError) {
        if let Some(m) = self.members.get_mut(&card).filter(|m| !m.is_over()) {
            m.state = State::Failed(why);
            self.advance(now);
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.members.values().all(Member::is_over) && self.urgent.is_empty()
    }

    /// Aborts the load: the frame that the cards get.
    pub(crate) fn abort(&self) -> Frame {
        let alone = if self.members.len() == 1 { self.members.keys().next().copied() } else { None };
        self.to(alone, Kind::ImageAbort, 0, 0, 0, &[])
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        if !self.urgent.is_empty() {
            return Some(Instant::ZERO);
        }
        let send = matches!(self.phase, LoadPhase::Send | LoadPhase::Repair).then(|| self.pacer.opens_at()).flatten();
        [send, self.ask_at, self.leave_at].into_iter().flatten().min()
    }

    pub(crate) fn next_frame(&mut self, now: Instant) -> Option<Frame> {
        if self.urgent.is_empty() && self.leave_at.is_some_and(|t| t <= now) {
            self.leave_late(now);
        }
        if self.urgent.is_empty() && self.ask_at.is_some_and(|t| t <= now) {
            self.ask(now);
        }
        if let Some(frame) = self.urgent.pop() {
            self.wire_bytes += (frame.len() + WIRE_OVERHEAD) as u64;
            return Some(frame);
        }
        if !matches!(self.phase, LoadPhase::Send | LoadPhase::Repair) || !self.pacer.is_open(now) {
            return None;
        }
        let Some(chunk) = self.todo.take() else {
            self.enter(now, LoadPhase::Verify);
            // The image has gone out without them.
            self.leave(|m| m.state == State::Invited);
            self.ask(now);
            return self.next_frame(now);
        };
        Some(self.data(now, chunk))
    }

    /// A card's word on this load.
    pub(crate) fn handle(&mut self, now: Instant, packet: &Packet<'_>) {
        let card = packet.head.src;
        let Some(m) = self.members.get_mut(&card).filter(|m| !m.is_over()) else { return };
        let progress = match packet.head.kind {
            Kind::ImageConfirmReady => {
                let first = m.state == State::Invited;
                if first {
                    m.state = State::Ready;
                }
                first
            }
            Kind::ImageConfirmMissing => {
                let Some((head, ranges)) = parse_missing(packet.payload) else { return };
                // A card that checks an image may take longer for an answer than the host for the next poll.
                if head.missing.get() == 0 && packet.head.seq <= self.poll {
                    m.note_whole(self.patience);
                }
                // A late report of an earlier poll asks for what may be on its way: the next poll will tell. So will it
                // where a card is not waited for now.
                if packet.head.seq != self.poll || m.state == State::Invited || m.tour != self.tour {
                    return;
                }
                let before = m.report.len();
                let is_less = m.note_report(self.poll, head, ranges);
                // A report that comes while the repair is under way lengthens it.
                if self.phase == LoadPhase::Repair && m.lacks <= self.repair_limit {
                    let left = self.todo.left;
                    m.report[before..].iter().for_each(|(first, count)| self.todo.add(*first, *count));
                    self.pass_total += self.todo.left - left;
                }
                is_less
            }
            Kind::ImageConfirmStaged => {
                m.answered = self.poll;
                let first = matches!(m.state, State::Invited | State::Ready);
                if first {
                    m.state = State::Staged;
                }
                first
            }
            Kind::ImageConfirmCommitted => {
                m.answered = self.poll;
                let first = m.state == State::Staged;
                if first {
                    m.state = State::Committed;
                }
                first
            }
            Kind::ImageConfirmActive => {
                let right = packet.view::<rackloom_wire::Active>().is_some_and(|(a, _)| a.digest == self.digest);
                if right {
                    m.state = State::Active;
                    m.took = Some(now - self.begun_at);
                }
                right
            }
            Kind::ImageConfirmWritten => {
                let Some((w, _)) = packet.view::<rackloom_wire::Written>() else { return };
                let Some(restart) = Restart::from_wire(w.restart) else { return };
                let right = w.digest == self.digest;
                if right {
                    m.state = State::Written(restart);
                }
                right
            }
            Kind::ImageConfirmFailed => {
                let Some((f, text)) = packet.view::<rackloom_wire::Failure>() else { return };
                let code = ErrorCode::from_wire(f.code.get()).unwrap_or(ErrorCode::BadRequest);
                // It still configures the image of a claim that is over: it is invited again until it is done.
                if code == ErrorCode::Busy && m.state == State::Invited {
                    return;
                }
                let text = String::from_utf8_lossy(text).chars().filter(|c| !c.is_control()).collect();
                m.state = State::Failed(OpError::Load { card: m.name, code, text });
                true
            }
            _ => return,
        };
        if progress {
            m.progress_at = self.patience;
            self.wait = self.wait_min;
        }
        self.advance(now);
    }

    /// Goes on to the next phase when all of the party allow it.
    fn advance(&mut self, now: Instant) {
        if self.members.values().all(Member::is_over) {
            (self.ask_at, self.leave_at) = (None, None);
            return;
        }
        if self.live().next().is_none() {
            return self.next_tour(now);
        }
        let is_past = self.live().all(|m| m.is_past(self.phase));
        match self.phase {
            LoadPhase::Begin if is_past && self.tour == 0 => {
                self.enter(now, LoadPhase::Send);
                self.ask_at = None;
            }
            // What was sent to others may have reached these too: they are asked first.
            LoadPhase::Begin if is_past => {
                self.enter(now, LoadPhase::Verify);
                self.ask(now);
            }
            LoadPhase::Verify if is_past => {
                let has_failed = self.members.values().any(|m| matches!(m.state, State::Failed(_)));
                if self.commit == Commit::AllOrNone && has_failed {
                    return self.give_up();
                }
                self.enter(now, LoadPhase::Configure);
                self.ask(now);
            }
            LoadPhase::Verify => {
                let has_all = self.live().all(|m| m.is_past(LoadPhase::Verify) || m.answered == self.poll);
                if has_all && self.live().any(|m| !m.report.is_empty()) {
                    return self.repair(now);
                }
            }
            LoadPhase::Configure => {
                let slowest = self.live().map(|m| m.config_rate).filter(|r| *r > 0).min();
                if self.live().all(|m| m.state == State::Committed) {
                    // All are at it. They speak up when done; ask when the slowest should have been done by now.
                    let longest = slowest.map_or(Duration::ZERO, |rate| port_time(self.image.len(), rate));
                    let due = self.phase_at + longest + self.wait_min;
                    self.ask_at = Some(due.max(now + self.wait_min));
                }
            }
            LoadPhase::Begin | LoadPhase::Send | LoadPhase::Repair => {}
        }
        self.watch_half();
        self.leave_at = self.half_at.map(|half| self.reaches(now, half + self.grace()));
    }

    /// When the clock of the host's patience can show `end` at the earliest. It may be slow, and comes close to its aim
    /// by ever smaller steps: none is shorter than a quarter of the shortest wait.
    fn reaches(&self, now: Instant, end: Instant) -> Instant {
        let left = end - self.patience;
        now + if left.is_zero() { left } else { left.max(self.wait_min / 4) }
    }

    /// Leaves behind whom the others have waited for long enough.
    fn leave_late(&mut self, now: Instant) {
        self.leave_at = None;
        let Some(end) = self.half_at.map(|half| half + self.grace()) else { return };
        if end > self.patience {
            self.leave_at = Some(self.reaches(now, end));
            return;
        }
        let phase = self.phase;
        if phase == LoadPhase::Begin {
            self.enter(now, LoadPhase::Send);
            return self.ask(now);
        }
        self.leave(|m| !m.is_past(phase));
        self.advance(now);
    }

    /// The turn of those who were left behind.
    fn next_tour(&mut self, now: Instant) {
        self.tour += 1;
        self.pace();
        let is_invited = self.live().any(|m| m.state == State::Invited);
        self.enter(now, if is_invited { LoadPhase::Begin } else { LoadPhase::Verify });
        self.ask(now);
    }

    /// Sends again what the party has reported. A card that lacks far more than the others is left behind, and one that
    /// lacks as much as before is not sent it for ever.
    fn repair(&mut self, now: Instant) {
        if self.must_shrink() {
            return self.shrink(now);
        }
        self.repair_limit = self.repair_limit();
        let (limit, tour) = (self.repair_limit, self.tour);
        self.leave(|m| !m.is_past(LoadPhase::Verify) && m.lacks > limit);
        for m in self.members.values_mut().filter(|m| m.tour == tour && !m.is_over() && !m.report.is_empty()) {
            if m.is_worth_repair() {
                m.report.iter().for_each(|(first, count)| self.todo.add(*first, *count));
            } else {
                m.state = State::Failed(OpError::Fruitless { card: m.name, chunks: m.lacks });
            }
            m.report.clear();
        }
        if self.todo.left == 0 {
            return self.advance(now);
        }
        self.pass_total = self.todo.left;
        self.enter(now, LoadPhase::Repair);
        self.ask_at = None;
    }

    /// Some card failed and all were to take the image or none.
    fn give_up(&mut self) {
        let frame = self.abort();
        self.urgent.push(frame);
        self.call_off();
        self.ask_at = None;
    }

    fn call_off(&mut self) {
        for m in self.members.values_mut().filter(|m| !m.is_over()) {
            m.state = State::Failed(OpError::Cancelled { card: m.name });
        }
    }

    fn enter(&mut self, now: Instant, phase: LoadPhase) {
        self.phases[self.phase as usize] += now - self.phase_at;
        let repaired = self.phase == LoadPhase::Repair && phase == LoadPhase::Verify;
        for m in self.members.values_mut() {
            // A repair is the host's time. A card that is no better for it has been waited for since before.
            m.progress_at =
                if repaired { m.progress_at + (self.patience - self.phase_by_patience) } else { self.patience };
        }
        (self.phase, self.phase_at, self.phase_by_patience, self.wait) = (phase, now, self.patience, self.wait_min);
        (self.half_at, self.leave_at) = (None, None);
    }
}

/// Time that a port of this rate, bytes a second, takes; 0: instantly.
fn port_time(bytes: usize, rate: u64) -> Duration {
    if rate == 0 {
        return Duration::ZERO;
    }
    Duration::from_nanos((bytes as u128 * 1_000_000_000 / u128::from(rate)) as u64)
}
