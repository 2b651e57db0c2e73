//! A check of programs before they run: that nobody waits in a circle, that no message comes to where bytes are in use,
//! and that cards do not refuse a command for its two ranges.
//!
//! It executes what may go on until nothing may, with the least that cards promise: a message is done when both ends
//! have begun it. What is begun stays begun, so the order does not matter: if all comes to its end here, it does so in
//! every order and with every delay. What is left over waits for itself.

use std::ops::Range;

use crate::group::Group;
use crate::message::may_go;
use crate::program::Command;

/// What is wrong with programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// A rank would wait for ever.
    #[error("rank {rank} waits at command {command} for rank {other} for ever")]
    Waits {
        /// The rank.
        rank: usize,
        /// Its command.
        command: usize,
        /// A rank that it waits for.
        other: usize,
    },
    /// A message has another length than the command that takes it.
    #[error("rank {rank} takes another number of bytes than rank {other} puts")]
    Length {
        /// The receiver.
        rank: usize,
        /// The sender.
        other: usize,
    },
    /// A command uses bytes to which a message comes, or a message would come to bytes in use.
    #[error("command {command} of rank {rank} uses bytes that a message under way uses as well")]
    InUse {
        /// The rank.
        rank: usize,
        /// The command.
        command: usize,
    },
    /// A copy or a reduction has two ranges that overlap and are not the same, which cards refuse.
    #[error("the two ranges of command {command} of rank {rank} overlap in part")]
    Overlap {
        /// The rank.
        rank: usize,
        /// The command.
        command: usize,
    },
    /// A command names a port that leads to no rank.
    #[error("command {command} of rank {rank} uses a port that leads to none of the group")]
    Port {
        /// The rank.
        rank: usize,
        /// The command.
        command: usize,
    },
}

/// A message that one end has begun: tag and length.
type Begun = (u16, u32);

/// Checks one program for each rank.
///
/// # Errors
/// See [`ProgramError`].
///
/// # Panics
/// If there is not a program for each rank.
pub fn check(group: &Group, programs: &[Vec<Command>]) -> Result<(), ProgramError> {
    let size = group.size();
    assert_eq!(programs.len(), size, "a program for each rank");
    let mut check = Check {
        group,
        programs,
        at: vec![0; size],
        puts: vec![vec![Vec::new(); size]; size],
        takes: vec![vec![None; size]; size],
        in_use: vec![Vec::new(); size],
    };
    let mut ready: Vec<usize> = (0..size).rev().collect();
    while let Some(rank) = ready.pop() {
        check.go_on(rank, &mut ready)?;
    }
    check.end()
}

struct Check<'a> {
    group: &'a Group,
    programs: &'a [Vec<Command>],
    at: Vec<usize>,
    /// By sender and receiver.
    puts: Vec<Vec<Vec<Begun>>>,
    takes: Vec<Vec<Option<Begun>>>,
    /// By rank: bytes that messages under way use.
    in_use: Vec<Vec<InUse>>,
}

/// Bytes that a message uses from its command on until a wait.
#[derive(Debug, Clone)]
struct InUse {
    bytes: Range<u64>,
    /// They come there; else they go from there to this rank.
    comes: bool,
    other: usize,
}

impl Check<'_> {
    /// Executes commands of a rank until one has to wait. Ranks that may go on for it become ready.
    fn go_on(&mut self, rank: usize, ready: &mut Vec<usize>) -> Result<(), ProgramError> {
        while let Some(command) = self.programs[rank].get(self.at[rank]).copied() {
            if command.overlaps() {
                return Err(ProgramError::Overlap { rank, command: self.at[rank] });
            }
            match command {
                Command::Put { link, tag, addr, length } => {
                    let to = self.peer(rank, link)?;
                    if !may_go(length, self.puts[rank][to].iter().map(|put| put.1)) {
                        return Ok(());
                    }
                    // The last message of bytes there is done.
                    self.in_use[rank].retain(|of| of.comes || of.other != to);
                    self.uses(rank, addr, length.into(), false)?;
                    self.begins(rank, to, addr, length, false);
                    self.puts[rank][to].push((tag, length));
                    self.meet(rank, to, ready)?;
                }
                Command::Take { link, tag, addr, length } => {
                    let from = self.peer(rank, link)?;
                    if self.takes[from][rank].is_some() {
                        return Ok(());
                    }
                    self.uses(rank, addr, length.into(), true)?;
                    self.begins(rank, from, addr, length, true);
                    self.takes[from][rank] = Some((tag, length));
                    self.meet(from, rank, ready)?;
                }
                Command::Wait if self.other(rank).is_some() => return Ok(()),
                Command::Wait => self.in_use[rank].clear(),
                Command::WaitTakes if self.takes.iter().any(|of| of[rank].is_some()) => return Ok(()),
                Command::WaitTakes => self.in_use[rank].retain(|of| !of.comes),
                Command::Copy { from, to, .. } | Command::Reduce { from, to, .. } => {
                    self.uses(rank, from, command.bytes(), false)?;
                    self.uses(rank, to, command.bytes(), true)?;
                }
                Command::Survey { to } => self.uses(rank, to, command.bytes(), true)?,
            }
            self.at[rank] += 1;
        }
        Ok(())
    }

    fn peer(&self, rank: usize, port: u8) -> Result<usize, ProgramError> {
        self.group.at(rank, port).ok_or(ProgramError::Port { rank, command: self.at[rank] })
    }

    /// Both ends have begun a message: it is done, if it is the same.
    fn meet(&mut self, from: usize, to: usize, ready: &mut Vec<usize>) -> Result<(), ProgramError> {
        let Some(take) = self.takes[from][to] else { return Ok(()) };
        let Some(at) = self.puts[from][to].iter().position(|put| put.0 == take.0) else { return Ok(()) };
        if self.puts[from][to].remove(at).1 != take.1 {
            return Err(ProgramError::Length { rank: to, other: from });
        }
        self.takes[from][to] = None;
        ready.extend([from, to]);
        Ok(())
    }

    /// A command uses bytes: nothing else may change them, or read what it changes.
    fn uses(&self, rank: usize, addr: u64, length: u64, changes: bool) -> Result<(), ProgramError> {
        let bytes = addr..addr.saturating_add(length);
        let clash = |of: &InUse| (changes || of.comes) && of.bytes.start < bytes.end && bytes.start < of.bytes.end;
        if length > 0 && self.in_use[rank].iter().any(clash) {
            return Err(ProgramError::InUse { rank, command: self.at[rank] });
        }
        Ok(())
    }

    /// A message begins to use bytes.
    fn begins(&mut self, rank: usize, other: usize, addr: u64, length: u32, comes: bool) {
        if length > 0 {
            self.in_use[rank].push(InUse { bytes: addr..addr.saturating_add(length.into()), comes, other });
        }
    }

    /// A rank with which this one has a message under way.
    fn other(&self, rank: usize) -> Option<usize> {
        let is_with = |other: &usize| !self.puts[rank][*other].is_empty() || self.takes[*other][rank].is_some();
        (0..self.at.len()).find(is_with)
    }

    /// Nothing goes on any more: all have to have ended.
    fn end(&self) -> Result<(), ProgramError> {
        for rank in 0..self.at.len() {
            let other = self.other(rank);
            if self.at[rank] < self.programs[rank].len() || other.is_some() {
                let other = other.unwrap_or(rank);
                return Err(ProgramError::Waits { rank, command: self.at[rank], other });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::tests::group;

    const fn put(tag: u16, addr: u64) -> Command {
        Command::Put { link: 1, tag, addr, length: 8 }
    }

    const fn take(tag: u16, addr: u64) -> Command {
        Command::Take { link: 1, tag, addr, length: 8 }
    }

    fn pair(a: &[Command], b: &[Command]) -> Result<(), ProgramError> {
        check(&group(2, &[(0, 1)]), &[a.to_vec(), b.to_vec()])
    }

    #[test]
    fn circles_are_found() {
        let wait = Command::Wait;
        assert_eq!(pair(&[put(0, 0), take(0, 8), wait], &[put(0, 0), take(0, 8), wait]), Ok(()));
        let circle = pair(&[put(0, 0), wait, take(0, 8), wait], &[put(0, 0), wait, take(0, 8), wait]);
        assert_eq!(circle, Err(ProgramError::Waits { rank: 0, command: 1, other: 1 }));
        let signal = |tag| Command::Put { link: 1, tag, addr: 0, length: 0 };
        let heard = |tag| Command::Take { link: 1, tag, addr: 0, length: 0 };
        let ahead = [signal(0), signal(1), heard(0), wait];
        assert_eq!(pair(&ahead, &[signal(0), wait, heard(0), heard(1), wait]), Ok(()), "two signals are under way");
        assert_eq!(pair(&[signal(0), signal(1), wait], &[heard(1), heard(0), wait]), Ok(()));
        let three = pair(&[signal(0), signal(1), signal(2), heard(0), wait], &[signal(0), wait, heard(0)]);
        assert_eq!(three, Err(ProgramError::Waits { rank: 0, command: 2, other: 1 }), "and three are not");
        for (first, second) in [(put(0, 0), signal(1)), (signal(0), put(1, 0))] {
            let bytes = pair(&[first, second, heard(2), wait], &[signal(2), wait]);
            assert_eq!(bytes, Err(ProgramError::Waits { rank: 0, command: 1, other: 1 }), "nor is one of bytes");
        }
        let crossed = pair(&[put(0, 0), put(1, 0), wait], &[take(1, 0), take(0, 8), wait]);
        assert_eq!(crossed, Err(ProgramError::Waits { rank: 0, command: 1, other: 1 }));
        assert!(pair(&[put(0, 0)], &[]).is_err(), "nobody takes it");
        assert!(pair(&[take(0, 0), wait], &[]).is_err(), "nobody puts it");
        // Three in a ring, each of which sends before it takes, in rounds that do not agree.
        let ring = group(3, &[(0, 1), (1, 2), (2, 0)]);
        let turn = |next: u8, before: u8| {
            let put = Command::Put { link: next, tag: 0, addr: 0, length: 8 };
            vec![put, wait, Command::Take { link: before, tag: 0, addr: 8, length: 8 }, wait]
        };
        let ports = |a: usize| (ring.port(a, (a + 1) % 3).unwrap(), ring.port(a, (a + 2) % 3).unwrap());
        let programs: Vec<_> = (0..3).map(|a| turn(ports(a).0, ports(a).1)).collect();
        assert!(matches!(check(&ring, &programs), Err(ProgramError::Waits { .. })));
    }

    #[test]
    fn bytes_in_use_are_left_alone() {
        let wait = Command::Wait;
        let copy = |from, to| Command::Copy { from, to, length: 8 };
        let partner = [take(0, 0), wait];
        assert!(pair(&[put(0, 0), copy(0, 8), wait], &partner).is_ok(), "two may read");
        assert!(pair(&[put(0, 0), copy(16, 7), wait], &partner).is_err(), "what is sent may not change");
        assert!(pair(&[put(0, 0), wait, copy(16, 7)], &partner).is_ok());
        // A wait for takes alone leaves what is sent under way, until the next message over that link.
        let goes_on = [put(0, 0), Command::WaitTakes, copy(16, 7), wait];
        assert_eq!(pair(&goes_on, &partner), Err(ProgramError::InUse { rank: 0, command: 2 }));
        let again = [put(0, 0), Command::WaitTakes, put(1, 32), copy(16, 7), wait];
        assert!(pair(&again, &[take(0, 0), take(1, 8), wait]).is_ok());
        let both = [put(0, 0), take(1, 32), Command::WaitTakes, copy(32, 64), wait];
        assert!(pair(&both, &[take(0, 0), put(1, 16), wait]).is_ok(), "what it takes is here");
        let in_part = pair(&[put(0, 0), wait, copy(16, 9)], &partner);
        assert_eq!(in_part, Err(ProgramError::Overlap { rank: 0, command: 2 }));
        assert!(pair(&[put(0, 0), wait, copy(16, 8), copy(8, 8)], &partner).is_ok(), "they touch, or are the same");
        let gives = [put(0, 0), wait];
        assert!(pair(&[take(0, 0), copy(4, 16), wait], &gives).is_err(), "what comes may not be read");
        assert!(pair(&[take(0, 0), wait, copy(4, 16)], &gives).is_ok());
        let short = Command::Take { link: 1, tag: 0, addr: 0, length: 7 };
        assert_eq!(pair(&gives, &[short, wait]), Err(ProgramError::Length { rank: 1, other: 0 }));
        let astray = Command::Put { link: 9, tag: 0, addr: 0, length: 8 };
        assert_eq!(pair(&[astray], &[]), Err(ProgramError::Port { rank: 0, command: 0 }));
    }
}
