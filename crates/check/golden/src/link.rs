//! A card's sequencer with its links, as a bench drives it: frames go in and come out, programs run on a memory, and
//! time passes as the bench says.

use bytes::Bytes;
use rackloom_collective::{
    self as collective, COMMAND_BYTES, Cause, Command, Datatype, Memory, MemoryFailed, NotStarted, Op, Report,
    SequencerConfig, Start,
};
use rackloom_node::{Duration, Instant, Port};
use rackloom_wire::link::MESSAGE_JUMBO;

use crate::Fault;
use crate::frame::mac;

/// Most links that it has: ports from 1 on.
pub const LINKS_MAX: u8 = 8;
/// Programs that it has room for, one behind the other, at the beginning of its memory.
const PROGRAM: u64 = 4096;

/// How a program has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Ended {
    /// Its number.
    pub id: u64,
    /// Bytes that had moved of the message that it is about.
    pub moved: u64,
    /// Ports whose cards owed it a message,
    pub takes: u64,
    /// and those whose cards had not taken its own.
    pub puts: u64,
    /// The command that it had come to.
    pub command: u32,
    /// The cause, as the report has it; 0: it went well.
    pub cause: u16,
    /// The port that the cause is about; 0: none.
    pub port: u8,
}

/// What a sequencer has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct LinkCounts {
    /// Frames that were no link's, or malformed.
    pub malformed: u64,
    /// Messages that no command wanted, or that broke a rule.
    pub stray: u64,
    /// Payloads sent again.
    pub resent: u64,
    /// Neighbours that were taken for dead.
    pub dead: u64,
}

/// Its memory, from address 0 on.
#[derive(Debug)]
struct Bytewise(Vec<u8>);

impl Bytewise {
    fn range(&mut self, addr: u64, length: usize) -> Result<&mut [u8], MemoryFailed> {
        let from = usize::try_from(addr).map_err(|_| MemoryFailed)?;
        let to = from.checked_add(length).ok_or(MemoryFailed)?;
        self.0.get_mut(from..to).ok_or(MemoryFailed)
    }
}

impl Memory for Bytewise {
    fn allows(&self, addr: u64, length: u64) -> bool {
        addr.checked_add(length).is_some_and(|end| end <= self.0.len() as u64)
    }

    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), MemoryFailed> {
        into.copy_from_slice(self.range(addr, into.len())?);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), MemoryFailed> {
        self.range(addr, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }
}

/// A card's sequencer.
#[derive(Debug)]
pub struct Sequencer {
    sequencer: collective::Sequencer,
    memory: Bytewise,
    now: Instant,
    started: u64,
}

impl Sequencer {
    /// One whose links have this address and the next ones, with a memory that begins with `memory` bytes of zeros.
    pub(crate) fn new(address: u64, links: u8, epoch: u32, longest: u16, memory: usize) -> Result<Self, Fault> {
        if !(1..=LINKS_MAX).contains(&links)
            || epoch == 0
            || !(64..=MESSAGE_JUMBO).contains(&longest)
            || memory < 8 * PROGRAM as usize
        {
            return Err(Fault::Argument);
        }
        let links =
            (1..=links).map(|port| Ok((port, mac(address + u64::from(port) - 1)?))).collect::<Result<_, Fault>>()?;
        let config = SequencerConfig::new(mac(address)?, links, epoch, longest, false);
        let now = Instant::from_nanos(0);
        let sequencer = collective::Sequencer::new(now, config);
        Ok(Self { sequencer, memory: Bytewise(vec![0; memory]), now, started: 0 })
    }

    /// Starts a program of commands as they are in memory: its number.
    pub(crate) fn start(&mut self, commands: &[u8], group: u64, number: u32, limit_ns: u64) -> Result<usize, Fault> {
        if commands.len() as u64 > PROGRAM || !commands.len().is_multiple_of(COMMAND_BYTES as usize) {
            return Err(Fault::Argument);
        }
        // Each context has a place: no other program is read where one that runs has its commands.
        let id = self.started;
        let program = id % 8 * PROGRAM;
        self.memory.write(program, commands).map_err(|MemoryFailed| Fault::Argument)?;
        let limit = Duration::from_nanos(limit_ns);
        let commands = commands.len() as u64 / COMMAND_BYTES;
        let start = Start { program, commands, limit, group, sequence: number };
        match self.sequencer.start(self.now, id, start, &self.memory) {
            Ok(()) => {
                self.started += 1;
                Ok(id as usize)
            }
            Err(NotStarted::Busy) => Err(Fault::Refused),
            Err(NotStarted::Invalid) => Err(Fault::Argument),
        }
    }

    /// A frame has come at a port.
    pub(crate) fn handle(&mut self, port: Port, frame: &[u8]) {
        self.sequencer.handle_frame(self.now, port, &Bytes::copy_from_slice(frame), &mut self.memory);
        self.sequencer.check_invariants();
    }

    /// The next frame to send, and the port from which.
    pub(crate) fn poll(&mut self) -> Option<(Port, Bytes)> {
        self.sequencer.poll(self.now, &mut self.memory)
    }

    /// It is this time now, which is none that has passed.
    pub(crate) fn set_time(&mut self, now_ns: u64) -> Result<(), Fault> {
        let now = Instant::from_nanos(now_ns);
        if now < self.now {
            return Err(Fault::Argument);
        }
        self.now = now;
        self.sequencer.handle_timeout(now);
        Ok(())
    }

    /// The next program that has ended.
    pub(crate) fn next_ended(&mut self) -> Option<Ended> {
        let (id, Report { cause, link: port, command, takes, puts, moved, .. }) = self.sequencer.next_ended()?;
        let cause = cause.map_or(0, |cause: Cause| cause as u16);
        Some(Ended { id, moved, takes, puts, command, cause, port })
    }

    /// Its memory, to be read and written.
    pub(crate) fn memory(&mut self, addr: u64, length: usize) -> Result<&mut [u8], Fault> {
        self.memory.range(addr, length).map_err(|MemoryFailed| Fault::Argument)
    }

    /// What it has counted.
    pub(crate) const fn counts(&self) -> LinkCounts {
        let counters = self.sequencer.counters();
        let (malformed, stray) = (counters.malformed, counters.stray);
        LinkCounts { malformed, stray, resent: counters.resent, dead: counters.dead }
    }
}

/// Operations and datatypes by their bytes.
pub(crate) fn reduction(op: u8, datatype: u8) -> Result<(Op, Datatype), Fault> {
    let op = Op::ALL.into_iter().find(|it| *it as u8 == op);
    let datatype = Datatype::ALL.into_iter().find(|it| *it as u8 == datatype);
    op.zip(datatype).filter(|(op, datatype)| op.takes(*datatype)).ok_or(Fault::Argument)
}

/// The elements of both, reduced.
pub(crate) fn reduced(op: u8, datatype: u8, left: &[u8], right: &[u8]) -> Result<Vec<u8>, Fault> {
    let (op, datatype) = reduction(op, datatype)?;
    let mut results = left.to_vec();
    collective::reduce(op, datatype, &mut results, right);
    Ok(results)
}

/// A command's 32 bytes: 1 put, 2 take, 3 wait (with `port` 1 for takes alone), 4 copy (to `addr`, from `from`), 5
/// reduction of the same, whose operation is `port`, whose datatype `tag`.
pub(crate) fn command(
    code: u8,
    port: Port,
    tag: u16,
    length: u32,
    addr: u64,
    from: u64,
) -> Result<[u8; COMMAND_BYTES as usize], Fault> {
    let command = match code {
        1 => Command::Put { link: port, tag, addr, length },
        2 => Command::Take { link: port, tag, addr, length },
        3 if port == 1 => Command::WaitTakes,
        3 => Command::Wait,
        4 => Command::Copy { from, to: addr, length },
        5 => {
            let (op, datatype) = reduction(port, u8::try_from(tag).map_err(|_| Fault::Argument)?)?;
            Command::Reduce { op, datatype, from, to: addr, count: length }
        }
        _ => return Err(Fault::Argument),
    };
    Ok(command.encode())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_have_an_operation_that_there_is() {
        assert_eq!(reduced(1, 2, &[1, 0, 255, 255], &[2, 1, 1, 0]), Ok(vec![3, 1, 0, 0]));
        for (op, datatype) in [(0, 1), (8, 1), (1, 0), (1, 9), (5, 5)] {
            assert_eq!(reduced(op, datatype, &[], &[]), Err(Fault::Argument));
            assert_eq!(command(5, op, datatype.into(), 1, 0, 0), Err(Fault::Argument));
        }
    }

    #[test]
    fn two_move_a_message() {
        let mut ends = [1, 2].map(|n| Sequencer::new(n, 1, 1, 1408, 1 << 20).unwrap());
        let at = 1 << 16;
        ends[0].memory(at, 3).unwrap().copy_from_slice(b"abc");
        for (end, code) in ends.iter_mut().zip([1, 2]) {
            let program = [command(code, 1, 7, 3, at, 0).unwrap(), command(3, 0, 0, 0, 0, 0).unwrap()].concat();
            end.start(&program, 5, 6, 1_000_000_000).unwrap();
        }
        for _ in 0..20 {
            let [a, b] = &mut ends;
            while let Some((port, frame)) = a.poll() {
                b.handle(port, &frame);
            }
            while let Some((port, frame)) = b.poll() {
                a.handle(port, &frame);
            }
        }
        for end in &mut ends {
            assert_eq!(end.next_ended(), Some(Ended { command: 2, ..Ended::default() }));
            assert_eq!(end.memory(at, 3).unwrap(), b"abc");
            assert_eq!(end.counts(), LinkCounts::default());
        }
        assert_eq!(ends[0].memory(1 << 20, 1), Err(Fault::Argument));
    }
}
