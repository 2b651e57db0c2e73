//! How long programs of a group take: each command in its order, with the times that a card and its links take.

use rackloom_collective::{Command, Group};

use crate::paper;

/// Picoseconds of what cards and links do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Bits a second of payload on a link, each way. Links do not slow each other: a card has an engine and a bank of
    /// memory for each.
    pub link_bps: u64,
    /// From a command to the first word on the link: memory is read.
    pub setup_ps: u64,
    /// From a word on the link to the neighbour's memory.
    pub migration_ps: u64,
    /// From a command or an event to a control symbol on the link.
    pub signal_setup_ps: u64,
    /// From there to the neighbour's sequencer.
    pub signal_ps: u64,
    /// A message of up to so many bytes leaves at once; a longer one when its receiver has asked for it.
    pub eager_bytes: u64,
    /// Bits a second at which a card copies and reduces in its own memory; 0: in no time.
    pub local_bps: u64,
}

impl Timing {
    /// The paper's: sections 4.1 to 4.3.
    pub const PAPER: Self = Self {
        link_bps: paper::LINK_BPS,
        setup_ps: paper::SETUP_PS,
        migration_ps: paper::MIGRATION_PS,
        signal_setup_ps: paper::SIGNAL_SETUP_PS,
        signal_ps: paper::SIGNAL_PS,
        eager_bytes: paper::EAGER_BYTES,
        local_bps: 0,
    };

    /// What a link needs for so many bytes.
    pub const fn link_ps(&self, bytes: u64) -> u64 {
        ps(bytes, self.link_bps)
    }

    /// What a message of so many bytes takes that nothing holds up.
    pub const fn start_ps(&self, bytes: u64) -> u64 {
        let asked = self.signal_setup_ps + self.signal_ps;
        match bytes {
            0 => self.signal_setup_ps + self.signal_ps,
            _ if bytes > self.eager_bytes && asked > self.setup_ps => asked + self.migration_ps,
            _ => self.setup_ps + self.migration_ps,
        }
    }

    /// Bytes that a link moves while a message starts and its sender hears of its end: what a round costs.
    pub const fn round_bytes(&self) -> u64 {
        let ps = self.start_ps(u64::MAX) + self.start_ps(0);
        (self.link_bps as u128 * ps as u128 / 8 / 1_000_000_000_000) as u64
    }

    const fn local_ps(&self, bytes: u64) -> u64 {
        if self.local_bps == 0 { 0 } else { ps(bytes, self.local_bps) }
    }
}

const fn ps(bytes: u64, bps: u64) -> u64 {
    (bytes as u128 * 8 * 1_000_000_000_000).div_ceil(bps as u128) as u64
}

/// Programs that do not end, or use no link of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the program of rank {rank} does not get beyond command {command}")]
pub struct NotRun {
    /// The rank.
    pub rank: usize,
    /// The command.
    pub command: usize,
}

/// A message that one end has begun: tag, bytes and time.
type Begun = Option<(u16, u32, u64)>;

/// Runs a program on each rank, all from time 0 on, and says when the last of them has what it gets, in picoseconds.
///
/// # Errors
/// [`NotRun`]
///
/// # Panics
/// If there is not a program for each rank.
pub fn run(timing: &Timing, group: &Group, programs: &[Vec<Command>]) -> Result<u64, NotRun> {
    let size = group.size();
    assert_eq!(programs.len(), size, "a program for each rank");
    let ranks = vec![Rank::default(); size];
    let links = vec![vec![Link::default(); size]; size];
    let mut run = Run { timing, group, programs, ranks, links };
    let mut ready: Vec<usize> = (0..size).rev().collect();
    while let Some(rank) = ready.pop() {
        run.go_on(rank, &mut ready)?;
    }
    run.end()
}

#[derive(Debug, Clone, Default)]
struct Rank {
    command: usize,
    now: u64,
    /// Messages that it has begun and whose other end has not.
    open: usize,
    /// When all is done that it has begun since its last wait.
    done: u64,
    /// When it has the last bytes for it.
    got: u64,
}

/// One direction of a link.
#[derive(Debug, Clone, Default)]
struct Link {
    put: Begun,
    take: Begun,
    /// When both ends are done with their last message.
    done: [u64; 2],
}

struct Run<'a> {
    timing: &'a Timing,
    group: &'a Group,
    programs: &'a [Vec<Command>],
    ranks: Vec<Rank>,
    links: Vec<Vec<Link>>,
}

impl Run<'_> {
    /// Executes commands of a rank until one has to wait for another rank's. Who may go on for it becomes ready.
    fn go_on(&mut self, rank: usize, ready: &mut Vec<usize>) -> Result<(), NotRun> {
        while let Some(command) = self.programs[rank].get(self.ranks[rank].command).copied() {
            let stuck = NotRun { rank, command: self.ranks[rank].command };
            let peer = |port| self.group.at(rank, port).ok_or(stuck);
            match command {
                Command::Put { link, tag, length, .. } => {
                    let to = peer(link)?;
                    let (at, of) = (&mut self.ranks[rank], &mut self.links[rank][to]);
                    if of.put.is_some() {
                        return Ok(());
                    }
                    at.now = at.now.max(of.done[0]);
                    at.open += 1;
                    of.put = Some((tag, length, at.now));
                    self.meet(rank, to, ready);
                }
                Command::Take { link, tag, length, .. } => {
                    let from = peer(link)?;
                    let (at, of) = (&mut self.ranks[rank], &mut self.links[from][rank]);
                    if of.take.is_some() {
                        return Ok(());
                    }
                    at.now = at.now.max(of.done[1]);
                    at.open += 1;
                    of.take = Some((tag, length, at.now));
                    self.meet(from, rank, ready);
                }
                Command::Wait if self.ranks[rank].open > 0 => return Ok(()),
                Command::Wait => {
                    let at = &mut self.ranks[rank];
                    at.got = at.got.max(at.now);
                    at.now = at.now.max(at.done);
                }
                Command::Copy { .. } | Command::Reduce { .. } => {
                    let at = &mut self.ranks[rank];
                    at.now += self.timing.local_ps(command.bytes());
                    at.got = at.got.max(at.now);
                }
                Command::Survey { .. } => return Err(stuck),
            }
            self.ranks[rank].command += 1;
        }
        Ok(())
    }

    /// Both ends have begun a message: from then on its times are known.
    fn meet(&mut self, from: usize, to: usize, ready: &mut Vec<usize>) {
        let (timing, link) = (self.timing, &mut self.links[from][to]);
        let (Some((tag, length, put)), Some((taken, _, take))) = (link.put, link.take) else { return };
        if tag != taken {
            return;
        }
        let bytes = u64::from(length);
        let (setup, migration) = match bytes {
            0 => (timing.signal_setup_ps, timing.signal_ps),
            _ => (timing.setup_ps, timing.migration_ps),
        };
        let asked = if bytes > timing.eager_bytes { take + timing.signal_setup_ps + timing.signal_ps } else { 0 };
        // The link is free: who sends the next message has heard of the last one's end.
        let left = (put + setup).max(asked) + timing.link_ps(bytes);
        let came = (left + migration).max(take);
        let told = came + timing.signal_setup_ps + timing.signal_ps;
        link.done = [told, came];
        (link.put, link.take) = (None, None);
        for (rank, done) in [(from, told), (to, came)] {
            self.ranks[rank].open -= 1;
            self.ranks[rank].done = self.ranks[rank].done.max(done);
            ready.push(rank);
        }
        self.ranks[to].got = self.ranks[to].got.max(came);
    }

    fn end(&self) -> Result<u64, NotRun> {
        for (rank, at) in self.ranks.iter().enumerate() {
            if at.command < self.programs[rank].len() || at.open > 0 {
                return Err(NotRun { rank, command: at.command });
            }
        }
        Ok(self.ranks.iter().map(|rank| rank.got).max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Timing = Timing {
        link_bps: 8_000_000_000_000,
        setup_ps: 100,
        migration_ps: 50,
        signal_setup_ps: 10,
        signal_ps: 40,
        eager_bytes: 1000,
        local_bps: 8_000_000_000_000,
    };

    /// Ranks in a line.
    fn line(size: usize) -> Group {
        let port = |a: usize, b: usize| {
            if b == a + 1 {
                Some(1)
            } else if a == b + 1 {
                Some(2)
            } else {
                None
            }
        };
        Group::new((0..size).map(|a| (0..size).map(|b| port(a, b)).collect()).collect())
    }

    const fn put(link: u8, tag: u16, length: u32) -> Command {
        Command::Put { link, tag, addr: 0, length }
    }

    const fn take(link: u8, tag: u16, length: u32) -> Command {
        Command::Take { link, tag, addr: 0, length }
    }

    fn time(programs: &[Vec<Command>]) -> Result<u64, NotRun> {
        run(&ROUND, &line(programs.len()), programs)
    }

    #[test]
    fn a_message_takes_its_parts_one_after_the_other() {
        let pair = |bytes| [vec![put(1, 0, bytes), Command::Wait], vec![take(2, 0, bytes), Command::Wait]];
        assert_eq!(time(&pair(1000)), Ok(100 + 1000 + 50));
        assert_eq!(time(&pair(1001)), Ok(100 + 1001 + 50), "it is asked for while memory is read");
        assert_eq!(time(&pair(0)), Ok(10 + 40));
        assert_eq!([0, 1000, 1001].map(|bytes| ROUND.start_ps(bytes)), [50, 150, 150]);
    }

    #[test]
    fn who_waits_goes_on_when_both_ends_are_done() {
        // The second message over a link goes out when the sender knows that the first has come.
        let two = [
            vec![put(1, 0, 500), put(1, 1, 500), Command::Wait],
            vec![take(2, 0, 500), take(2, 1, 500), Command::Wait],
        ];
        assert_eq!(time(&two), Ok((100 + 500 + 50 + 50) + (100 + 500 + 50)));
        // A card between passes on what it has, after a copy.
        let copy = Command::Copy { from: 0, to: 0, length: 30 };
        let passed = [
            vec![put(1, 0, 500), Command::Wait],
            vec![take(2, 0, 500), Command::Wait, copy, put(1, 0, 500), Command::Wait],
            vec![take(2, 0, 500), Command::Wait],
        ];
        assert_eq!(time(&passed), Ok(650 + 30 + 650));
        // A receiver that comes late to a long message is waited for.
        let long = Command::Copy { from: 0, to: 0, length: 5000 };
        let late = [vec![put(1, 0, 2000), Command::Wait], vec![long, take(2, 0, 2000), Command::Wait]];
        assert_eq!(time(&late), Ok(5000 + 50 + 2000 + 50));
    }

    #[test]
    fn programs_that_do_not_end_are_told() {
        let alone = [vec![put(1, 0, 8), Command::Wait], Vec::new()];
        assert_eq!(time(&alone), Err(NotRun { rank: 0, command: 1 }));
        let astray = [vec![put(9, 0, 8)], Vec::new()];
        assert_eq!(time(&astray), Err(NotRun { rank: 0, command: 0 }));
    }
}
