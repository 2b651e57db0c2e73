//! One image into many cards at once: sent to a group, repaired by what the cards report, committed when all have
//! verified it.
//!
//! The phases follow reliable multicast as RFC 5740 has it: the sender paces itself to the slowest receiver, receivers
//! report what they lack after a random wait and leave out what others have reported, the sender repairs the union to
//! all.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_transport::{Pacer, WIRE_OVERHEAD};
use rackloom_wire::{
    ErrorCode, FLAG_RESEND, Head, ImageBegin, IntoBytes, Kind, MacAddr, Packet, Poll, Restart, U16, U32, U64,
    parse_missing,
};

use crate::card_info::CardInfo;
use crate::chunks::Chunks;
use crate::config::Config;
use crate::error::{CardName, OpError};
use crate::event::{LoadPhase, LoadReport, OpId};

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
    chunk: usize,
    todo: Chunks,
    members: BTreeMap<MacAddr, Member>,
    commit: Commit,
    phase: LoadPhase,
    phase_at: Instant,
    /// What the clock of the host's patience shows.
    patience: Instant,
    phases: [Duration; 5],
    pacer: Pacer,
    /// Frames of control that are to go at once.
    urgent: Vec<Frame>,
    seq: u32,
    poll: u32,
    /// When to ask, or ask again, whatever the phase waits for.
    ask_at: Option<Instant>,
    wait: Duration,
    wait_min: Duration,
    wait_max: Duration,
    stall: Duration,
    data_frames: u64,
    repair_frames: u64,
    wire_bytes: u64,
    pass_total: u32,
}

#[derive(Debug)]
struct Member {
    name: CardName,
    epoch: u16,
    config_rate: u64,
    state: State,
    /// By the clock of the host's patience.
    progress_at: Instant,
    /// The last poll this card has answered wholly.
    answered: u32,
}

#[derive(Debug, PartialEq)]
enum State {
    Invited,
    Ready,
    Staged,
    Committed,
    Active,
    /// In its configuration flash: it awaits this.
    Written(Restart),
    Failed(OpError),
}

impl Member {
    fn is_over(&self) -> bool {
        matches!(self.state, State::Active | State::Written(_) | State::Failed(_))
    }
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
        let on_wire = (chunk + 32 + WIRE_OVERHEAD) as u64;
        let slowest = cards
            .iter()
            .flat_map(|(c, _)| [c.port_rate, (c.stage_rate.saturating_mul(8) / chunk as u64).saturating_mul(on_wire)])
            .filter(|rate| *rate > 0)
            .min();
        let member = |(card, epoch): &(&CardInfo, u16)| {
            let member = Member {
                name: CardName { mac: card.mac, unit: Some(card.unit) },
                epoch: *epoch,
                config_rate: card.config_rate,
                state: State::Invited,
                progress_at: patience,
                answered: 0,
            };
            (card.mac, member)
        };
        Self {
            op,
            group,
            host: config.mac,
            digest: *blake3::hash(&image).as_bytes(),
            image,
            chunk,
            todo: Chunks::all(chunks),
            members: cards.iter().map(member).collect(),
            commit,
            phase: LoadPhase::Begin,
            phase_at: now,
            patience,
            phases: [Duration::ZERO; 5],
            // Where the host's own wire has no stated rate, its back-pressure paces; a live rack's rates are nominal.
            pacer: Pacer::new(config.tx_rate.and(slowest)),
            urgent: Vec::new(),
            seq,
            poll: 0,
            ask_at: Some(now),
            wait: config.rto_min,
            wait_min: config.rto_min,
            wait_max: config.rto_max,
            stall: config.load_stall,
            data_frames: 0,
            repair_frames: 0,
            wire_bytes: 0,
            pass_total: chunks,
        }
    }

    /// Sets what the clock of the host's patience shows; before each call that may find a card stalled.
    pub(crate) const fn set_patience(&mut self, at: Instant) {
        self.patience = at;
    }

    /// Image chunks sent in this pass, and in all of it.
    pub(crate) const fn progress(&self) -> (LoadPhase, u32, u32) {
        // Between passes the reports of the next one come in.
        let sending = matches!(self.phase, LoadPhase::Send | LoadPhase::Repair);
        let left = if sending { self.todo.left } else { 0 };
        (self.phase, self.pass_total - left, self.pass_total)
    }

    pub(crate) fn has(&self, card: MacAddr) -> bool {
        self.members.contains_key(&card)
    }

    /// Whether the load still waits for this card.
    pub(crate) fn awaits(&self, card: MacAddr) -> bool {
        self.members.get(&card).is_some_and(|m| !m.is_over())
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

    pub(crate) fn report(mut self, now: Instant) -> LoadReport {
        self.enter(now, self.phase);
        let waited = self.phases.iter().sum();
        let card = |(mac, m): (MacAddr, Member)| match m.state {
            State::Active => (mac, Ok(())),
            State::Written(restart) => (mac, Err(OpError::AwaitsRestart { card: m.name, restart })),
            State::Failed(why) => (mac, Err(why)),
            _ => (mac, Err(OpError::Deadline { card: m.name, waited, seen: None })),
        };
        LoadReport {
            cards: self.members.into_iter().map(card).collect(),
            image_bytes: self.image.len() as u64,
            data_frames: self.data_frames,
            repair_frames: self.repair_frames,
            wire_bytes: self.wire_bytes,
            phases: self.phases,
        }
    }

    /// Aborts the load: the frame that the cards get.
    pub(crate) fn abort(&mut self) -> Frame {
        self.to_group(Kind::ImageAbort, 0, 0, 0, &[])
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        if !self.urgent.is_empty() {
            return Some(Instant::ZERO);
        }
        let send = matches!(self.phase, LoadPhase::Send | LoadPhase::Repair).then(|| self.pacer.opens_at()).flatten();
        [send, self.ask_at].into_iter().flatten().min()
    }

    pub(crate) fn next_frame(&mut self, now: Instant) -> Option<Frame> {
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
            self.ask(now);
            return self.next_frame(now);
        };
        let at = chunk as usize * self.chunk;
        let data = &self.image[at..self.image.len().min(at + self.chunk)];
        let again = self.phase == LoadPhase::Repair;
        let frame = self.to_group(Kind::ImageData, if again { FLAG_RESEND } else { 0 }, self.poll, at as u64, &[data]);
        self.pacer.sent(now, frame.len());
        self.data_frames += 1;
        self.repair_frames += u64::from(again);
        self.wire_bytes += (frame.len() + WIRE_OVERHEAD) as u64;
        Some(frame)
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
                // A late report of an earlier poll asks for what may be on its way: the next poll will tell.
                if packet.head.seq != self.poll || m.state == State::Invited {
                    return;
                }
                if head.more.get() == 0 {
                    m.answered = self.poll;
                }
                let before = self.todo.left;
                for (first, count) in ranges {
                    self.todo.add(first, count);
                }
                // A report that comes while the repair is under way lengthens it.
                if self.phase == LoadPhase::Repair {
                    self.pass_total += self.todo.left - before;
                }
                self.todo.left > before
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

    /// Goes on to the next phase when all members allow it.
    fn advance(&mut self, now: Instant) {
        let mut live = self.members.values().filter(|m| !m.is_over()).peekable();
        if live.peek().is_none() {
            self.ask_at = None;
            return;
        }
        match self.phase {
            LoadPhase::Begin => {
                if live.all(|m| m.state != State::Invited) {
                    self.enter(now, LoadPhase::Send);
                    self.ask_at = None;
                }
            }
            LoadPhase::Send | LoadPhase::Repair => {}
            LoadPhase::Verify => {
                let staged = live.all(|m| m.state == State::Staged);
                let answered = self.members.values().all(|m| m.is_over() || m.answered == self.poll);
                if staged
                    && self.commit == Commit::AllOrNone
                    && self.members.values().any(|m| matches!(m.state, State::Failed(_)))
                {
                    self.give_up();
                } else if staged {
                    self.enter(now, LoadPhase::Configure);
                    self.ask(now);
                } else if answered && self.todo.left > 0 {
                    self.repair(now);
                }
            }
            LoadPhase::Configure => {
                let slowest = live.map(|m| m.config_rate).filter(|r| *r > 0).min();
                if self.members.values().all(|m| m.is_over() || m.state == State::Committed) {
                    // All are at it. They speak up when done; ask when the slowest should have been done by now.
                    let longest = slowest.map_or(Duration::ZERO, |rate| port_time(self.image.len(), rate));
                    let due = self.phase_at + longest + self.wait_min;
                    self.ask_at = Some(due.max(now + self.wait_min));
                }
            }
        }
    }

    fn repair(&mut self, now: Instant) {
        self.pass_total = self.todo.left;
        self.enter(now, LoadPhase::Repair);
        self.ask_at = None;
    }

    /// Some card failed and all were to take the image or none.
    fn give_up(&mut self) {
        let frame = self.abort();
        self.urgent.push(frame);
        for m in self.members.values_mut().filter(|m| !m.is_over()) {
            m.state = State::Failed(OpError::Cancelled { card: m.name });
        }
        self.ask_at = None;
    }

    /// Asks, for the first time or again, what the phase waits for.
    fn ask(&mut self, now: Instant) {
        for m in self.members.values_mut().filter(|m| !m.is_over()) {
            // A card that configures shows no progress until the port is done.
            let port =
                if m.state == State::Committed { port_time(self.image.len(), m.config_rate) } else { Duration::ZERO };
            let waited = self.patience - m.progress_at;
            if waited >= self.stall + port {
                m.state = State::Failed(OpError::Deadline { card: m.name, waited, seen: None });
            }
        }
        if self.members.values().all(Member::is_over) {
            self.ask_at = None;
            return;
        }
        let members = self.members.len() as u64;
        match self.phase {
            LoadPhase::Begin => {
                let body = ImageBegin {
                    length: U64::new(self.image.len() as u64),
                    chunk: U16::new(self.chunk as u16),
                    group: U16::new(self.group),
                    members: U32::new(members as u32),
                    digest: self.digest,
                };
                for (card, m) in self.members.iter().filter(|(_, m)| m.state == State::Invited) {
                    let head = Head {
                        dst: *card,
                        src: self.host,
                        kind: Kind::ImageBegin,
                        flags: 0,
                        epoch: m.epoch,
                        seq: self.seq,
                        addr: 0,
                    };
                    self.urgent.push(head.frame(&[body.as_bytes()]));
                }
                self.ask_again(now, Duration::ZERO);
            }
            LoadPhase::Send | LoadPhase::Repair => self.ask_at = None,
            LoadPhase::Verify if self.todo.left > 0 && self.poll > 0 && self.heard_some() => self.repair(now),
            LoadPhase::Verify => self.ask_poll(now, members),
            LoadPhase::Configure => {
                if self.members.values().any(|m| m.state == State::Staged) {
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
        self.members.values().any(|m| !m.is_over() && m.answered == self.poll)
    }

    fn ask_poll(&mut self, now: Instant, members: u64) {
        // A report is some 1.2 us of a 10 Gb/s wire and a card sends a few: answers thus spread do not queue up.
        let window = 20 + 4 * members;
        self.poll += 1;
        let body = Poll { window_us: U32::new(window as u32), reserved: U32::ZERO };
        let frame = self.to_group(Kind::ImagePoll, 0, self.poll, 0, &[body.as_bytes()]);
        self.urgent.push(frame);
        self.ask_again(now, Duration::from_micros(window));
    }

    fn ask_again(&mut self, now: Instant, window: Duration) {
        self.ask_at = Some(now + window + self.wait);
        // Cards that catch up with their digest are asked again and again: a lost answer must not cost more than that
        // takes.
        let most = if self.phase == LoadPhase::Verify { self.wait_min * 8 } else { self.wait_max };
        self.wait = (self.wait * 2).min(most);
    }

    fn enter(&mut self, now: Instant, phase: LoadPhase) {
        self.phases[self.phase as usize] += now - self.phase_at;
        (self.phase, self.phase_at, self.wait) = (phase, now, self.wait_min);
        for m in self.members.values_mut() {
            m.progress_at = self.patience;
        }
    }

    fn to_group(&self, kind: Kind, flags: u8, seq: u32, addr: u64, payload: &[&[u8]]) -> Frame {
        // A load of one card need not trouble the others.
        let alone = if self.members.len() == 1 { self.members.keys().next().copied() } else { None };
        let dst = alone.unwrap_or_else(|| MacAddr::group(self.group));
        Head { dst, src: self.host, kind, flags, epoch: self.group, seq, addr }.frame(payload)
    }
}

/// Time that a port of this rate, bytes a second, takes; 0: instantly.
fn port_time(bytes: usize, rate: u64) -> Duration {
    if rate == 0 {
        return Duration::ZERO;
    }
    Duration::from_nanos((bytes as u128 * 1_000_000_000 / u128::from(rate)) as u64)
}
