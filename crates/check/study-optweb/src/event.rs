//! How long programs of a group take: each command in its order, with the times that a card and its links take.

use rackloom_collective::{Command, Group};

use crate::timing::{Fetch, Timing};

/// Programs that do not end, or use no link of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the program of rank {rank} does not get beyond command {command}")]
pub struct NotRun {
    /// The rank.
    pub rank: usize,
    /// The command.
    pub command: usize,
}

/// When programs have ended that have begun at time 0, in picoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ends {
    /// When the last rank has what it gets.
    pub(crate) got_ps: u64,
    /// When each rank has done all commands, and knows that what it sent has come.
    pub(crate) ranks_ps: Vec<u64>,
}

/// A message that one end has begun: tag, bytes and time.
type Begun = (u16, u32, u64);

/// Runs a program on each rank, all from time 0 on, and says when the last of them has what it gets, in picoseconds.
///
/// # Errors
/// [`NotRun`]
///
/// # Panics
/// If there is not a program for each rank.
pub fn run(timing: &Timing, group: &Group, programs: &[Vec<Command>]) -> Result<u64, NotRun> {
    Ok(ends(timing, group, programs, &vec![0; programs.len()], &mut at_once)?.got_ps)
}

/// When a card sees a symbol without bytes that has come at this time: with its own clock.
pub(crate) type Sees<'a> = &'a mut dyn FnMut(usize, u64) -> u64;

/// Cards of one clock.
pub(crate) const fn at_once(_: usize, at: u64) -> u64 {
    at
}

/// The same with Gos at these times, and all that is known of the ends.
///
/// # Errors
/// [`NotRun`]
///
/// # Panics
/// If there are not a program and a Go for each rank.
pub(crate) fn ends(
    timing: &Timing,
    group: &Group,
    programs: &[Vec<Command>],
    gos: &[u64],
    sees: Sees<'_>,
) -> Result<Ends, NotRun> {
    let size = group.size();
    assert_eq!((programs.len(), gos.len()), (size, size), "a program and a Go for each rank");
    let mut lanes = vec![vec![Vec::new(); size]; size];
    for _ in 0..TURNS {
        let (ends, moved) = once((timing, group), programs, gos, &lanes, sees)?;
        if timing.frames.is_none() || moved == lanes {
            return Ok(ends);
        }
        lanes = moved;
    }
    Ok(once((timing, group), programs, gos, &lanes, sees)?.0)
}

/// When frames of messages are on links follows from the acknowledgements of those the other way, and these from when
/// the frames are there. So all is run again with what was found, until that stays or so often.
const TURNS: usize = 8;

/// When messages are on the links from each to each: of each in its turn, from when until when, and its bytes.
type Lanes = Vec<Vec<Vec<(u64, u64, u64)>>>;

fn once(
    (timing, group): (&Timing, &Group),
    programs: &[Vec<Command>],
    gos: &[u64],
    known: &Lanes,
    sees: Sees<'_>,
) -> Result<(Ends, Lanes), NotRun> {
    let size = group.size();
    let ranks = gos.iter().map(|go| Rank { now: go + timing.go_ps, ..Rank::default() }).collect();
    let (links, lanes) = (vec![vec![Link::default(); size]; size], vec![vec![Vec::new(); size]; size]);
    let mut run = Run { timing, group, programs, ranks, links, known, lanes, sees };
    let mut ready: Vec<usize> = (0..size).rev().collect();
    while let Some(rank) = ready.pop() {
        run.go_on(rank, &mut ready)?;
    }
    let ends = run.end()?;
    Ok((ends, run.lanes))
}

#[derive(Debug, Clone, Default)]
struct Rank {
    command: usize,
    now: u64,
    /// When there was room for commands, each time that some are read.
    rooms: Vec<u64>,
    /// When the commands that are here were begun to be read.
    reads: u64,
    /// Messages that it has begun and whose other end has not,
    open: usize,
    /// and those of them that it takes.
    takes: usize,
    /// When all is done that it has begun since its last wait,
    done: u64,
    /// and when all that it takes is.
    taken: u64,
    /// When it has the last bytes for it.
    got: u64,
}

impl Rank {
    /// Waits for its next command.
    fn fetch(&mut self, fetch: &Fetch) {
        let (group, nth) = (self.command / fetch.at_once, self.command % fetch.at_once);
        if nth == 0 && self.rooms.len() == group {
            self.rooms.push(self.now);
            let ahead = fetch.room / fetch.at_once - 1;
            // Words of one come behind those of the other.
            let words = fetch.at_once as u64 * fetch.command_ps;
            self.reads =
                self.rooms[group.saturating_sub(ahead)].max(if group > ahead + 1 { self.reads + words } else { 0 });
        }
        if self.command >= fetch.room {
            self.now = self.now.max(self.reads + fetch.read_ps + (nth as u64 + 1) * fetch.command_ps);
        }
    }
}

/// One direction of a link.
#[derive(Debug, Clone, Default)]
struct Link {
    /// What is put, and when the sender knows that it has come, of messages that both ends have begun.
    puts: Vec<(Begun, Option<u64>)>,
    take: Option<Begun>,
    /// When the receiver has its last message.
    came: u64,
}

impl Link {
    /// When the next message of so many bytes may begin, if that is known: not while another is under way, but a signal
    /// beside one signal.
    fn is_free(&self, length: u32) -> Option<u64> {
        let is_signal = |nth: usize| self.puts.iter().rev().nth(nth).is_some_and(|((_, bytes, _), _)| *bytes == 0);
        let spared = usize::from(length == 0 && is_signal(0));
        self.puts.iter().rev().nth(spared).map_or(Some(0), |(_, told)| *told)
    }
}

struct Run<'a> {
    timing: &'a Timing,
    group: &'a Group,
    programs: &'a [Vec<Command>],
    ranks: Vec<Rank>,
    links: Vec<Vec<Link>>,
    known: &'a Lanes,
    lanes: Lanes,
    sees: Sees<'a>,
}

impl Run<'_> {
    /// Executes commands of a rank until one has to wait for another rank's. Who may go on for it becomes ready.
    fn go_on(&mut self, rank: usize, ready: &mut Vec<usize>) -> Result<(), NotRun> {
        while let Some(command) = self.programs[rank].get(self.ranks[rank].command).copied() {
            let stuck = NotRun { rank, command: self.ranks[rank].command };
            if let Some(fetch) = &self.timing.fetch {
                self.ranks[rank].fetch(fetch);
            }
            let peer = |port| self.group.at(rank, port).ok_or(stuck);
            match command {
                Command::Put { link, tag, length, .. } => {
                    let to = peer(link)?;
                    let (at, of) = (&mut self.ranks[rank], &mut self.links[rank][to]);
                    let Some(free) = of.is_free(length) else { return Ok(()) };
                    at.now = at.now.max(free);
                    at.open += 1;
                    of.puts.push(((tag, length, at.now), None));
                    self.meet(rank, to, ready);
                }
                Command::Take { link, tag, length, .. } => {
                    let from = peer(link)?;
                    let (at, of) = (&mut self.ranks[rank], &mut self.links[from][rank]);
                    if of.take.is_some() {
                        return Ok(());
                    }
                    at.now = at.now.max(of.came);
                    at.open += 1;
                    at.takes += 1;
                    of.take = Some((tag, length, at.now));
                    self.meet(from, rank, ready);
                }
                Command::Wait if self.ranks[rank].open > 0 => return Ok(()),
                Command::Wait => {
                    let at = &mut self.ranks[rank];
                    at.got = at.got.max(at.now);
                    at.now = at.now.max(at.done);
                }
                Command::WaitTakes if self.ranks[rank].takes > 0 => return Ok(()),
                Command::WaitTakes => {
                    let at = &mut self.ranks[rank];
                    at.got = at.got.max(at.now);
                    at.now = at.now.max(at.taken);
                }
                Command::Copy { .. } | Command::Reduce { .. } => {
                    let reduces = matches!(command, Command::Reduce { .. });
                    let local = if reduces { &self.timing.reductions } else { &self.timing.copies };
                    let at = &mut self.ranks[rank];
                    at.now += local.ps(command.bytes());
                    at.got = at.got.max(at.now);
                }
                Command::Survey { .. } => return Err(stuck),
            }
            self.ranks[rank].now += self.timing.command_ps;
            self.ranks[rank].command += 1;
        }
        Ok(())
    }

    /// Both ends have begun a message: from then on its times are known.
    fn meet(&mut self, from: usize, to: usize, ready: &mut Vec<usize>) {
        let link = &self.links[from][to];
        let Some((taken, _, take)) = link.take else { return };
        let is_it = |((tag, ..), told): &(Begun, Option<u64>)| *tag == taken && told.is_none();
        let Some(at) = link.puts.iter().position(is_it) else { return };
        let (_, length, put) = link.puts[at].0;
        let (came, told) = self.move_message((from, to), u64::from(length), put, take);
        let link = &mut self.links[from][to];
        (link.puts[at].1, link.take, link.came) = (Some(told), None, came);
        for (rank, done) in [(from, told), (to, came)] {
            self.ranks[rank].open -= 1;
            self.ranks[rank].done = self.ranks[rank].done.max(done);
            ready.push(rank);
        }
        let at = &mut self.ranks[to];
        at.takes -= 1;
        at.taken = at.taken.max(came);
        at.got = at.got.max(came);
    }

    /// When a message has come that was put and taken at these times, and when its sender knows.
    fn move_message(&mut self, (from, to): (usize, usize), bytes: u64, put: u64, take: u64) -> (u64, u64) {
        let timing = self.timing;
        if bytes == 0 {
            let leaves = put + timing.signal_setup_ps;
            let came = (self.sees)(to, leaves + timing.signal_ps).max(take);
            let behind = timing.frames.map_or(0, |frames| frames.behind_ack_ps);
            let answered = timing.signals_are_answered;
            return (came, if answered { (self.sees)(from, came + behind + timing.word_ps) } else { leaves });
        }
        let asked = if bytes > timing.eager_bytes { take + timing.word_ps } else { 0 };
        let reads = timing.moved(bytes, 0).read_ps + timing.setup_ps;
        // The link is free: who sends the next message has heard of the last one's end.
        let begins = if timing.reads_ahead { (put + reads).max(asked) } else { put.max(asked) + reads };
        let moved = timing.moved(bytes, self.acks((from, to), begins));
        let ends = begins + moved.link_ps;
        self.lanes[from][to].push((begins, ends, bytes));
        let came = self.taken(bytes, (begins, ends), take).max(ends + moved.write_ps + timing.migration_ps).max(take);
        (came, came + timing.word_ps)
    }

    /// When what came before its take is where that wants it.
    fn taken(&self, bytes: u64, (begins, ends): (u64, u64), take: u64) -> u64 {
        let Some(frames) = self.timing.frames.filter(|_| bytes <= self.timing.eager_bytes) else { return 0 };
        let count = frames.count(bytes);
        let noticed = |n: u64| begins + (ends - begins) * n / count + frames.noticed_ps;
        match (1..=count).filter(|n| noticed(*n) < take).count() as u64 {
            0 => 0,
            early => take + self.timing.early_ps(bytes.min(early * frames.payload_bytes)),
        }
    }

    /// Acknowledgements of frames the other way that go beside the next message from one to another: of those that ask,
    /// how many come there while it is on the link.
    fn acks(&self, (from, to): (usize, usize), begins: u64) -> u64 {
        let Some(frames) = self.timing.frames else { return 0 };
        let Some((_, ends, _)) = self.known[from][to].get(self.lanes[from][to].len()) else { return 0 };
        let comes = |(since, until, bytes): &(u64, u64, u64)| {
            let count = frames.count(*bytes);
            let at = move |n: u64| since + (until - since) * n / count + frames.noticed_ps;
            (1..=count).filter(|n| frames.asks(*n) && (begins..*ends).contains(&at(*n))).count() as u64
        };
        self.known[to][from].iter().map(comes).sum()
    }

    fn end(&self) -> Result<Ends, NotRun> {
        for (rank, at) in self.ranks.iter().enumerate() {
            if at.command < self.programs[rank].len() || at.open > 0 {
                return Err(NotRun { rank, command: at.command });
            }
        }
        let got_ps = self.ranks.iter().map(|rank| rank.got).max().unwrap_or(0);
        Ok(Ends { got_ps, ranks_ps: self.ranks.iter().map(|rank| rank.now.max(rank.done)).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::{Frames, Local};

    const ROUND: Timing = Timing {
        link_bps: 8_000_000_000_000,
        setup_ps: 100,
        migration_ps: 50,
        signal_setup_ps: 10,
        signal_ps: 40,
        word_ps: 50,
        eager_bytes: 1000,
        copies: Local { bps: 8_000_000_000_000, burst_bps: 8_000_000_000_000, ..Local::FREE },
        ..Timing::PAPER
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
        // Signals go out beside the one before, but not beside two, and come in their order.
        let signals = |n: u16| {
            let puts: Vec<_> = (0..n).map(|tag| put(1, tag, 0)).collect();
            let takes: Vec<_> = (0..n).map(|tag| take(2, tag, 0)).collect();
            [[puts, vec![Command::WaitTakes]].concat(), [takes, vec![Command::WaitTakes]].concat()]
        };
        let answered = Timing { signals_are_answered: true, ..ROUND };
        let ends = |n| ends(&answered, &line(2), &signals(n), &[0; 2], &mut at_once).unwrap().ranks_ps;
        assert_eq!([ends(1), ends(2), ends(3)], [[100, 50], [100, 50], [200, 150]]);
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
    fn commands_wait_until_they_are_read() {
        // Two are there. Another two are asked for when the first one has run, and so on.
        let fetch = Some(Fetch { room: 2, at_once: 1, read_ps: 100, command_ps: 10 });
        let timing = Timing { fetch, command_ps: 1, ..ROUND };
        let one = Group::new(vec![vec![None]]);
        let end = |count| ends(&timing, &one, &[vec![Command::Wait; count]], &[0], &mut at_once).unwrap().ranks_ps[0];
        assert_eq!([1, 2, 3, 4].map(end), [1, 2, 1 + 110 + 1, 1 + 110 + 10 + 1]);
    }

    #[test]
    fn frames_both_ways_take_longer_than_one_way() {
        let frames = Frames {
            payload_bytes: 100,
            head_bytes: 10,
            ack_bytes: 10,
            ack_every: 1,
            noticed_ps: 0,
            behind_ack_ps: 0,
            early_read_ps: 0,
            early_write_ps: 0,
            early_last_ps: 0,
            early_piece_bytes: 100,
        };
        let timing = Timing { frames: Some(frames), ..ROUND };
        let two = line(2);
        let sends = |link, bytes| [take(link, 0, bytes), put(link, 0, bytes), Command::Wait].to_vec();
        let [one_way, both_ways] = [
            [vec![put(1, 0, 1000), Command::Wait], vec![take(2, 0, 1000), Command::Wait]],
            [sends(1, 1000), sends(2, 1000)],
        ]
        .map(|programs| run(&timing, &two, &programs).unwrap());
        // Ten frames; the acknowledgement of the last one comes too late to be in the way.
        assert_eq!((one_way, both_ways - one_way), (100 + 100 + 10 * 110 + 100 + 50, 9 * 10));
        // One that comes before its take is copied from where it was kept.
        let later = ends(
            &timing,
            &two,
            &[vec![put(1, 0, 100)], vec![take(2, 0, 100), Command::Wait]],
            &[0, 5000],
            &mut at_once,
        );
        assert_eq!(later.unwrap().ranks_ps[1], 5000 + 100 + 100);
    }

    #[test]
    fn programs_that_do_not_end_are_told() {
        let alone = [vec![put(1, 0, 8), Command::Wait], Vec::new()];
        assert_eq!(time(&alone), Err(NotRun { rank: 0, command: 1 }));
        let astray = [vec![put(9, 0, 8)], Vec::new()];
        assert_eq!(time(&astray), Err(NotRun { rank: 0, command: 0 }));
    }
}
