//! Commands of a program, one after the other.

use rackloom_node::{Instant, Port};
use rackloom_wire::link::{EAGER, Kind};

use crate::context::{Context, Put, Take};
use crate::datatype::reduce;
use crate::memory::{Memory, MemoryFailed};
use crate::message::Message;
use crate::program::{Command, SURVEY_BYTES};
use crate::report::Cause;
use crate::sequencer::Sequencer;

/// Bytes of memory that a program copies or reduces before others and the wire have a turn.
const SLICE: u64 = 64 << 10;
/// Commands that it executes before that.
const COMMANDS: usize = 64;

/// What has become of a command.
enum Step {
    /// The next one can follow.
    Done,
    /// It goes on when something has come or was taken.
    Waits,
    /// It goes on in the next turn.
    Yields,
}

impl Sequencer {
    /// Goes on with a program until it waits, or has had its share of this turn.
    pub(crate) fn run(&mut self, now: Instant, slot: usize, memory: &mut dyn Memory) {
        for _ in 0..COMMANDS {
            let Some(mut context) = self.contexts[slot].take() else { return };
            let step = self.step(now, slot, &mut context, memory);
            let step = step.unwrap_or_else(|(cause, link)| {
                context.fail(cause, link);
                Step::Waits
            });
            match step {
                Step::Done => (context.at, context.done) = (context.at + 1, 0),
                Step::Waits => context.is_ready = false,
                Step::Yields => {}
            }
            self.contexts[slot] = Some(context);
            if !matches!(step, Step::Done) {
                return;
            }
        }
    }

    fn step(
        &mut self,
        now: Instant,
        slot: usize,
        context: &mut Context,
        memory: &mut dyn Memory,
    ) -> Result<Step, (Cause, Port)> {
        let failed = |MemoryFailed| (Cause::MemoryFailed, 0);
        let Some(at) = context.next().filter(|_| context.fault.is_none()) else { return Ok(Step::Waits) };
        let mut bytes = [0; crate::COMMAND_BYTES as usize];
        memory.read(at, &mut bytes).map_err(failed)?;
        let command = Command::decode(&bytes).ok_or((Cause::BadCommand, 0))?;
        let check = |addr: u64, length: u64| match length == 0 || memory.allows(addr, length) {
            true => Ok(()),
            false => Err((Cause::BadAddress, 0)),
        };
        if command.overlaps() {
            return Err((Cause::BadAddress, 0));
        }
        match command {
            Command::Put { link, tag, addr, length } => {
                check(addr, length.into())?;
                let at = self.link_of(link)?;
                if context.is_busy(&command) {
                    return Ok(Step::Waits);
                }
                self.heed_failure(at, context)?;
                let key = context.key(tag);
                let is_awaited = self.links[at].early.iter_mut().any(|e| e.ready.take_if(|k| *k == key).is_some());
                let may_go = length <= EAGER || is_awaited;
                context.puts.push(Put { link, key, addr, length, may_go, sent: 0, is_sent: false });
                Ok(Step::Done)
            }
            Command::Take { link, tag, addr, length } => {
                check(addr, length.into())?;
                let at = self.link_of(link)?;
                if context.is_busy(&command) || !self.links[at].has_room() {
                    return Ok(Step::Waits);
                }
                self.heed_failure(at, context)?;
                let mut take = Take { link, key: context.key(tag), addr, length, come: 0 };
                let link = &mut self.links[at];
                let early = link.early.iter_mut().find_map(|e| e.take(take.key));
                if let Some(data) = early {
                    if data.total != length {
                        return Err((Cause::Mismatch, take.link));
                    }
                    memory.write(addr, &data.bytes).map_err(failed)?;
                    take.come = data.bytes.len() as u32;
                    if take.come == length {
                        link.say(Message::word(Kind::LinkDone, slot as u16, take.key, length));
                        return Ok(Step::Done);
                    }
                }
                if length > EAGER && !self.loses_ready() {
                    self.links[at].say(Message::word(Kind::LinkReady, slot as u16, take.key, length));
                }
                context.takes.push(take);
                Ok(Step::Done)
            }
            Command::Wait if !self.has_weak_waits() => Ok(if context.is_quiet() { Step::Done } else { Step::Waits }),
            Command::Wait | Command::WaitTakes => Ok(if context.takes.is_empty() { Step::Done } else { Step::Waits }),
            Command::Copy { from, to, length } => {
                check(from, length.into())?;
                check(to, length.into())?;
                let (n, step) = slice(context, length.into());
                let mut bytes = vec![0; n];
                memory.read(from + context.done, &mut bytes).map_err(failed)?;
                memory.write(to + context.done, &bytes).map_err(failed)?;
                context.done += n as u64;
                Ok(step)
            }
            Command::Reduce { op, datatype, from, to, .. } => {
                check(from, command.bytes())?;
                check(to, command.bytes())?;
                let (n, step) = slice(context, command.bytes());
                let (mut left, mut right) = (vec![0; n], vec![0; n]);
                memory.read(to + context.done, &mut left).map_err(failed)?;
                memory.read(from + context.done, &mut right).map_err(failed)?;
                reduce(op, datatype, &mut left, &right);
                memory.write(to + context.done, &left).map_err(failed)?;
                context.done += n as u64;
                Ok(step)
            }
            Command::Survey { to } => {
                check(to, SURVEY_BYTES)?;
                self.survey(now, context, to, memory).map_err(failed)
            }
        }
    }

    fn link_of(&self, port: Port) -> Result<usize, (Cause, Port)> {
        self.links.iter().position(|link| link.port == port).ok_or((Cause::BadAddress, port))
    }

    /// Notes that the program uses the link. It fails if the neighbour's has failed before, or has gone with its life.
    fn heed_failure(&self, at: usize, context: &mut Context) -> Result<(), (Cause, Port)> {
        let link = &self.links[at];
        context.used |= 1 << link.port;
        if context.anew >> link.port & 1 == 1 {
            return Err((Cause::Restarted, link.port));
        }
        let has_failed = link.early.iter().any(|e| e.failed.is_some_and(|key| key.is_with(context.key(0))));
        if has_failed { Err((Cause::PeerFailed, link.port)) } else { Ok(()) }
    }

    /// Asks at all links who is there, and writes down who has answered when all have, or when the time is over.
    fn survey(
        &mut self,
        now: Instant,
        context: &mut Context,
        to: u64,
        memory: &mut dyn Memory,
    ) -> Result<Step, MemoryFailed> {
        let Some(until) = context.survey else {
            context.survey = Some(now + self.config.patience / 2);
            self.links.iter_mut().for_each(|link| link.beat(&self.config));
            return Ok(Step::Yields);
        };
        let answers = |link: &crate::link::Link| link.neighbour.filter(|_| link.is_idle());
        if now < until && self.links.iter().any(|link| answers(link).is_none()) {
            return Ok(Step::Waits);
        }
        let mut table = [0; SURVEY_BYTES as usize];
        for link in &self.links {
            let Some((mac, port)) = answers(link) else { continue };
            let row = &mut table[usize::from(link.port) * 16..][..8];
            row[..6].copy_from_slice(&mac.0);
            (row[6], row[7]) = (port, 1);
        }
        context.survey = None;
        memory.write(to, &table)?;
        Ok(Step::Done)
    }

    #[cfg(feature = "planted-bugs")]
    fn loses_ready(&self) -> bool {
        self.planted == Some(crate::PlantedBug::LostReady)
    }

    #[cfg(feature = "planted-bugs")]
    fn has_weak_waits(&self) -> bool {
        self.planted == Some(crate::PlantedBug::WeakWait)
    }

    #[cfg(not(feature = "planted-bugs"))]
    #[allow(clippy::unused_self)]
    const fn has_weak_waits(&self) -> bool {
        false
    }

    #[cfg(not(feature = "planted-bugs"))]
    #[allow(clippy::unused_self)]
    const fn loses_ready(&self) -> bool {
        false
    }
}

/// The bytes of the next slice of a command that moves `length`, and what follows it.
fn slice(context: &Context, length: u64) -> (usize, Step) {
    let n = (length - context.done).min(SLICE);
    let is_last = context.done + n == length;
    (n as usize, if is_last { Step::Done } else { Step::Yields })
}
