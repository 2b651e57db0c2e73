//! The command sequencer of a card: its links, and the programs that run over them.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use rackloom_node::{Instant, Port};
use rackloom_wire::link::{CONTEXTS, Kind};

use crate::config::SequencerConfig;
use crate::context::{Context, Start};
use crate::counters::LinkCounters;
use crate::link::Link;
use crate::memory::Memory;
use crate::message::{Message, SIGNALS_MAX, encode};
use crate::program::COMMANDS_MAX;
use crate::report::{Cause, Report};

/// Why a program is not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotStarted {
    /// As many programs run as may: when one has ended, the next can begin.
    #[error("as many programs run as may")]
    Busy,
    /// It has more commands than a program may have, or they lie where no host may write.
    #[error("invalid program")]
    Invalid,
}

/// A card's sequencer, as a state machine.
///
/// Law: after each call that changes it, call [`poll`](Self::poll) until it returns `None` and send each frame, and
/// [`next_ended`](Self::next_ended) until it returns `None`; then sleep until [`deadline`](Self::deadline).
///
/// A program touches only what [`Memory::allows`], takes bytes only where a command of it says so, and ends within its
/// time. A card at the other end of a link has an effect on the programs that use that link, and on no others.
#[derive(Debug)]
pub struct Sequencer {
    pub(crate) config: SequencerConfig,
    pub(crate) links: Vec<Link>,
    pub(crate) contexts: [Option<Context>; CONTEXTS as usize],
    /// Programs that will be started, and the links whose cards have begun a new life since that is known.
    pub(crate) expected: Vec<(u64, u64)>,
    ended: VecDeque<(u64, Report)>,
    pub(crate) counters: LinkCounters,
    /// The link that may send next, and the context that may go on next.
    turn: usize,
    next_context: usize,
    /// Since the last timeout the driver has seen that cards on this machine wait for a processor.
    is_starved: bool,
    #[cfg(feature = "planted-bugs")]
    pub(crate) planted: Option<crate::PlantedBug>,
}

impl Sequencer {
    /// A sequencer without programs.
    ///
    /// # Panics
    /// If something of `config` is out of its range.
    pub fn new(now: Instant, config: SequencerConfig) -> Self {
        config.check();
        let links = config.links.iter().map(|(port, mac)| Link::new(now, &config, *port, *mac)).collect();
        Self {
            links,
            contexts: Default::default(),
            expected: Vec::new(),
            ended: VecDeque::new(),
            counters: LinkCounters::default(),
            turn: 0,
            next_context: 0,
            is_starved: false,
            config,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Makes it suffer from a bug.
    #[cfg(feature = "planted-bugs")]
    pub const fn plant(&mut self, bug: crate::PlantedBug) {
        self.planted = Some(bug);
    }

    /// What it has counted.
    pub const fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Whether another program can be started.
    pub fn has_room(&self) -> bool {
        self.contexts.iter().any(Option::is_none)
    }

    /// A program with this number of the caller's will be started, or cancelled: it relies on the lives that its
    /// neighbours have now, whenever it is started. At most as many as there are contexts.
    pub fn expect(&mut self, id: u64) {
        self.expected.push((id, 0));
    }

    /// Starts a program. `id` is the caller's number for it. One that was not expected relies on the lives that its
    /// neighbours have now.
    ///
    /// # Errors
    /// See [`NotStarted`].
    pub fn start(&mut self, now: Instant, id: u64, start: Start, memory: &dyn Memory) -> Result<(), NotStarted> {
        let expected = self.expected.iter().position(|(expected, _)| *expected == id);
        let anew = expected.map_or(0, |at| self.expected.swap_remove(at).1);
        let length = start.commands.saturating_mul(crate::COMMAND_BYTES);
        if start.commands > COMMANDS_MAX || !memory.allows(start.program, length.max(1)) {
            return Err(NotStarted::Invalid);
        }
        let free = self.contexts.iter_mut().find(|c| c.is_none()).ok_or(NotStarted::Busy)?;
        *free = Some(Context::new(now, id, start, anew));
        Ok(())
    }

    /// Ends a program without a report; the cards that it works with learn that it has failed. False: there is none,
    /// and none is expected any more.
    pub fn cancel(&mut self, id: u64) -> bool {
        self.expected.retain(|(expected, _)| *expected != id);
        let Some(slot) = self.contexts.iter().position(|c| c.as_ref().is_some_and(|c| c.id == id)) else {
            return false;
        };
        self.leave(slot, true);
        true
    }

    /// The claim is over, or the card starts anew: all programs end without a word, and each link begins a new life.
    pub fn reset(&mut self, now: Instant) {
        self.contexts = Default::default();
        self.expected.clear();
        self.ended.clear();
        for link in &mut self.links {
            link.restart(now, &self.config);
        }
    }

    /// Other cards on this machine wait for a processor: that they are silent says little. Comes before a timeout.
    pub const fn handle_starvation(&mut self) {
        self.is_starved = true;
    }

    /// The deadline has come. Harmless when called early.
    pub fn handle_timeout(&mut self, now: Instant) {
        let is_starved = core::mem::take(&mut self.is_starved);
        for context in self.contexts.iter_mut().flatten() {
            if now >= context.until {
                context.fail(Cause::Timeout, 0);
            }
            if context.survey.is_some_and(|at| now >= at) {
                context.is_ready = true;
            }
        }
        for at in 0..self.links.len() {
            let link = &mut self.links[at];
            link.connection.handle_timeout(now);
            if link.beat_at.is_some_and(|at| now >= at) {
                link.beat_at = Some(now + self.config.patience / 4);
                if link.is_idle() {
                    link.beat(&self.config);
                }
            }
            let Some(due) = link.dead_at else { continue };
            if now >= due {
                let grace = self.config.rto_max;
                if is_starved || now - due > grace {
                    // We are late ourselves, and what the neighbour has said may wait to be read.
                    link.dead_at = Some(now + grace);
                } else {
                    self.give_up(now, at);
                }
            }
        }
    }

    /// A link's neighbour has been silent for too long.
    fn give_up(&mut self, now: Instant, at: usize) {
        self.counters.dead += 1;
        let link = &mut self.links[at];
        link.restart(now, &self.config);
        let port = link.port;
        self.fail_at(port, Cause::LinkDead);
    }

    /// Each program that waits for this link's neighbour fails.
    pub(crate) fn fail_at(&mut self, port: Port, cause: Cause) {
        for context in self.contexts.iter_mut().flatten().filter(|c| c.awaits(port)) {
            context.fail(cause, port);
        }
    }

    /// Goes on with programs as far as they can, within bounds, and yields the next frame to send now.
    pub fn poll(&mut self, now: Instant, memory: &mut dyn Memory) -> Option<(Port, Bytes)> {
        self.go_on(now, memory);
        for _ in 0..self.links.len() {
            let at = self.turn;
            self.turn = (self.turn + 1) % self.links.len();
            if let Some(frame) = self.poll_link(now, at, memory) {
                self.counters.tx += 1;
                return Some((self.links[at].port, frame));
            }
        }
        None
    }

    /// Each program has a turn; a slice of memory work each.
    fn go_on(&mut self, now: Instant, memory: &mut dyn Memory) {
        for _ in 0..self.contexts.len() {
            let slot = self.next_context;
            self.next_context = (slot + 1) % self.contexts.len();
            if self.contexts[slot].as_ref().is_some_and(|c| c.is_ready) {
                self.run(now, slot, memory);
            }
            let Some(context) = &self.contexts[slot] else { continue };
            if context.fault.is_some() || (context.next().is_none() && context.is_quiet()) {
                let report = context.report();
                self.ended.push_back((context.id, report));
                self.leave(slot, report.cause.is_some());
            }
        }
        self.watch(now);
    }

    /// A context is over. If its program has failed, those that it works with learn it, and those that it may not have
    /// come to yet: all neighbours that are there. Whom it does not concern ignores it.
    fn leave(&mut self, slot: usize, has_failed: bool) {
        let Some(context) = self.contexts[slot].take() else { return };
        if has_failed {
            for link in self.links.iter_mut().filter(|l| l.has_begun || context.used >> l.port & 1 == 1) {
                link.say(Message::word(Kind::LinkFailed, slot as u16, context.key(0), 0));
            }
        }
        // Others may have waited for a turn on its links.
        self.contexts.iter_mut().flatten().for_each(|c| c.is_ready = true);
    }

    /// Links that a program waits for are watched, and no others.
    fn watch(&mut self, now: Instant) {
        for link in &mut self.links {
            let is_awaited = self.contexts.iter().flatten().any(|c| c.awaits(link.port));
            if !is_awaited {
                (link.dead_at, link.beat_at) = (None, None);
            } else if link.dead_at.is_none() {
                link.dead_at = Some(now + self.config.patience);
                link.beat_at = Some(now);
            }
        }
    }

    /// The next frame of a link.
    fn poll_link(&mut self, now: Instant, at: usize, memory: &mut dyn Memory) -> Option<Bytes> {
        let link = &mut self.links[at];
        if link.beat_at.is_some_and(|at| now >= at) {
            link.beat_at = Some(now + self.config.patience / 4);
            if link.is_idle() {
                link.beat(&self.config);
            }
        }
        if link.connection.queue_room() > 0 && (link.has_words() || link.connection.is_established()) {
            let message = link.next_word().or_else(|| self.next_data(at, memory));
            if let Some(message) = message {
                let pushed = self.links[at].connection.push(message);
                debug_assert!(pushed.is_ok(), "there is room");
            }
        }
        let link = &mut self.links[at];
        let resent = link.connection.resent();
        let segment = link.connection.poll(now)?;
        self.counters.resent += link.connection.resent() - resent;
        Some(encode(link.mac, &segment))
    }

    /// The next bytes of a message that may go over this link; contexts take turns.
    fn next_data(&mut self, at: usize, memory: &mut dyn Memory) -> Option<Message> {
        let (port, turn) = (self.links[at].port, self.links[at].turn);
        let count = self.contexts.len();
        for slot in (0..count).map(|n| (turn + n) % count) {
            let Some(context) = &mut self.contexts[slot] else { continue };
            if context.fault.is_some() {
                continue;
            }
            let Some(put) = context.puts.iter_mut().find(|p| p.link == port && p.may_go && !p.is_sent) else {
                continue;
            };
            let length = (put.length - put.sent).min(self.config.longest.into());
            let mut bytes = BytesMut::zeroed(length as usize);
            if memory.read(put.addr + u64::from(put.sent), &mut bytes).is_err() {
                context.fail(Cause::MemoryFailed, 0);
                continue;
            }
            let payload = bytes.freeze();
            let (key, offset, total) = (put.key, put.sent, put.length);
            put.sent += length;
            put.is_sent = put.sent == put.length;
            self.links[at].turn = (slot + 1) % count;
            return Some(Message { kind: Kind::LinkData, slot: slot as u16, key, offset, total, payload });
        }
        None
    }

    /// The next program that has ended: the caller's number for it, and how.
    pub fn next_ended(&mut self) -> Option<(u64, Report)> {
        self.ended.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted; a time that has passed means at once.
    pub fn deadline(&self) -> Option<Instant> {
        if !self.ended.is_empty() || self.contexts.iter().flatten().any(|c| c.is_ready) {
            return Some(Instant::ZERO);
        }
        let contexts = self.contexts.iter().flatten().flat_map(|c| [Some(c.until), c.survey]);
        let links = self.links.iter().flat_map(|link| [link.connection.deadline(), link.beat_at, link.dead_at]);
        contexts.chain(links).flatten().min()
    }

    /// Bytes that it holds for its neighbours.
    pub fn bytes(&self) -> usize {
        self.links.iter().map(Link::bytes).sum()
    }

    /// # Panics
    /// If an invariant does not hold, which is a bug of this crate.
    pub fn check_invariants(&self) {
        self.links.iter().for_each(Link::check_invariants);
        for context in self.contexts.iter().flatten() {
            assert!(context.takes.len() <= self.links.len());
            for link in &self.links {
                let of_link = || context.puts.iter().filter(|p| p.link == link.port);
                assert!(of_link().count() <= if of_link().any(|p| p.length > 0) { 1 } else { SIGNALS_MAX });
            }
            assert!(context.puts.iter().all(|p| p.sent <= p.length));
            assert!(context.takes.iter().all(|t| t.come <= t.length));
            assert!(context.at <= context.start.commands);
        }
        assert!(self.ended.len() <= CONTEXTS as usize && self.expected.len() <= CONTEXTS as usize);
    }
}
