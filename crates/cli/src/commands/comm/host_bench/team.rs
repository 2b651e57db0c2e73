//! A team: processes that do an operation when asked, all of them together, and answer how long it took.
//!
//! Each has a socket, over which lines go. `prepare OPERATION COUNT TYPE OP` makes buffers and does the operation once;
//! the answer is `done DIGEST` of what the rank got. `time N` does it N times, one after the other as nccl-tests does,
//! behind a barrier; the answer is `took NANOSECONDS`. A rank that cannot answers `error` and why.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rackloom::Operation;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::args::OperationName;
use crate::failure::{Explain as _, Failure, Result};

/// How long processes whose sockets were closed may take to end.
const ENDS: Duration = Duration::from_secs(5);
/// How often the meeting looks who has come.
const LOOK: Duration = Duration::from_millis(2);

/// Processes that were started; who has not ended when it is dropped is ended.
struct Processes(Vec<Child>);

impl Processes {
    fn ended(&mut self) -> Option<String> {
        self.0.iter_mut().find_map(|child| child.try_wait().ok().flatten()).map(|status| status.to_string())
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let end = Instant::now() + ENDS;
        for child in &mut self.0 {
            while Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
                std::thread::sleep(LOOK);
            }
            // mpirun that is killed leaves its ranks, which end since nobody has the other end of their sockets.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where a team's processes meet this one.
pub(super) struct Meeting {
    path: PathBuf,
    listener: UnixListener,
}

impl Meeting {
    pub(super) fn new(path: PathBuf) -> Result<Self> {
        let cannot = || format!("cannot listen at {}", path.display());
        let listener = UnixListener::bind(&path).during(cannot())?;
        listener.set_nonblocking(true).during(cannot())?;
        Ok(Self { path, listener })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until all ranks have come, and binds each to its processor if there are some.
    pub(super) fn gather(
        self,
        name: &'static str,
        children: Vec<Child>,
        size: usize,
        bound: &[usize],
        limit: Duration,
    ) -> Result<Team> {
        let mut processes = Processes(children);
        let mut ranks: Vec<Option<BufReader<UnixStream>>> = (0..size).map(|_| None).collect();
        let end = Instant::now() + limit;
        while ranks.iter().any(Option::is_none) {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if let Some(status) = processes.ended() {
                        return Err(Failure::new(format!("a process of {name}'s has ended early: {status}")));
                    }
                    if Instant::now() >= end {
                        let missing = ranks.iter().filter(|rank| rank.is_none()).count();
                        return Err(Failure::new(format!("{missing} of {name}'s {size} ranks have not come in time")));
                    }
                    std::thread::sleep(LOOK);
                    continue;
                }
                Err(error) => return Err(Failure::of(&error).during(format!("{name}'s ranks cannot come"))),
            };
            stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(limit))).during("a socket")?;
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.read_line(&mut line).during(format!("{name}'s rank did not say which it is"))?;
            let words: Vec<_> = line.split_whitespace().collect();
            let (rank, process) = match words[..] {
                ["rank", rank, process] => (rank.parse().ok(), process.parse().ok().and_then(Pid::from_raw)),
                _ => (None, None),
            };
            let place: Option<&mut Option<_>> = rank.and_then(|rank: usize| ranks.get_mut(rank));
            let (Some(place @ None), Some(rank), Some(process)) = (place, rank, process) else {
                return Err(Failure::new(format!("{name}'s rank is none: {}", line.trim())));
            };
            if let Some(processor) = bound.get(rank) {
                let mut one = CpuSet::new();
                one.set(*processor);
                // A processor that has gone since is no reason not to run.
                let _ = sched_setaffinity(Some(process), &one);
            }
            *place = Some(stream);
        }
        Ok(Team { name, ranks: ranks.into_iter().flatten().collect(), _processes: processes })
    }
}

/// Ranks that wait for what they are to do.
pub(super) struct Team {
    name: &'static str,
    /// Before the processes: these end when their sockets are closed.
    ranks: Vec<BufReader<UnixStream>>,
    _processes: Processes,
}

impl Team {
    /// Makes buffers and does the operation once; a digest of what each rank got.
    pub(super) fn prepare(&mut self, operation: &Operation) -> Result<Vec<u64>> {
        let Operation { kind, count, datatype, op, .. } = *operation;
        let name = OperationName::of(kind).name();
        self.ask(&format!("prepare {name} {count} {} {}\n", datatype.name(), op.name()), "done")
    }

    /// Does it so often; the time of the rank that took longest.
    pub(super) fn time(&mut self, times: u32) -> Result<Duration> {
        let took = self.ask(&format!("time {times}\n"), "took")?;
        Ok(Duration::from_nanos(took.into_iter().max().unwrap_or(0)))
    }

    /// Asks all, and then waits for each answer: a word and a number.
    fn ask(&mut self, line: &str, word: &str) -> Result<Vec<u64>> {
        let name = self.name;
        for (rank, stream) in self.ranks.iter_mut().enumerate() {
            stream.get_mut().write_all(line.as_bytes()).during(format!("{name}'s rank {rank} has gone"))?;
        }
        let answer = |(rank, stream): (usize, &mut BufReader<UnixStream>)| {
            let mut line = String::new();
            let read = stream.read_line(&mut line).during(format!("{name}'s rank {rank} has not answered"))?;
            if read == 0 {
                return Err(Failure::new(format!("{name}'s rank {rank} has ended")));
            }
            let number = line.strip_prefix(word).and_then(|rest| rest.trim().parse().ok());
            number.ok_or_else(|| Failure::new(format!("{name}'s rank {rank} says: {}", line.trim())))
        };
        self.ranks.iter_mut().enumerate().map(answer).collect()
    }
}
