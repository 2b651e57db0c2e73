//! One of our ranks: this program, started again by [`start_again`](super::super::hosts::start_again).

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use clap::ValueEnum as _;
use rackloom::{Datatype, HostGroup, HostPrepared, HostStart, Op, Operation, OperationKind as Kind};

use super::pattern::{digest, fill};
use crate::args::OperationName;
use crate::exit::Exit;
use crate::failure::{Explain as _, Failure, Result};

/// The variable that makes this program a rank: the socket at which it is asked.
pub(super) const SOCKET: &str = "RACKLOOM_BENCH_SOCKET";

/// Whether this process was started as a rank.
pub(in super::super) fn is_rank() -> bool {
    std::env::var_os(SOCKET).is_some()
}

/// Does what it is asked until nobody asks any more.
pub(in super::super) fn run() -> Result<Exit> {
    let socket = std::env::var_os(SOCKET).unwrap_or_default();
    let mut out = UnixStream::connect(socket).during("cannot come to the bench")?;
    let lines = BufReader::new(out.try_clone().during("cannot come to the bench")?);
    let group = HostGroup::join(&HostStart::from_env().map_err(|e| Failure::of(&e))?).map_err(|e| Failure::of(&e))?;
    let mut answer = |text: String| out.write_all(text.as_bytes()).during("the bench has gone");
    answer(format!("rank {} {}\n", group.rank(), std::process::id()))?;
    let mut work: Option<Work> = None;
    for line in lines.lines() {
        let line = line.during("the bench has gone")?;
        let words: Vec<_> = line.split_whitespace().collect();
        let done = match (&words[..], &mut work) {
            (["prepare", rest @ ..], work) => {
                // Before the next: memory is given out as to the peer's program.
                *work = None;
                Work::new(&group, rest).and_then(|mut made| {
                    made.once(&group)?;
                    let digest = digest(made.got());
                    *work = Some(made);
                    Ok(format!("done {digest}\n"))
                })
            }
            (["time", times], Some(work)) => {
                number(times).and_then(|times| Ok(format!("took {}\n", work.time(&group, times)?)))
            }
            _ => Err(Failure::new(format!("`{line}` is not what a rank does"))),
        };
        answer(done.unwrap_or_else(|failure| {
            let causes = failure.causes.iter().map(|cause| format!(": {cause}")).collect::<String>();
            format!("error {}{causes}\n", failure.what)
        }))?;
    }
    Ok(Exit::Ok)
}

fn number(word: &str) -> Result<u64> {
    word.parse().map_err(|_| Failure::new(format!("`{word}` is an invalid number")))
}

/// An operation and its buffers.
struct Work {
    prepared: HostPrepared,
    is_in_place: bool,
    give: Vec<u8>,
    get: Vec<u8>,
}

impl Work {
    fn new(group: &HostGroup, words: &[&str]) -> Result<Self> {
        let [name, count, datatype, op] = words else { return Err(Failure::new("an operation has four words")) };
        let kind = OperationName::from_str(name, false).map_err(Failure::new)?.kind(1, 1);
        let datatype: Datatype = datatype.parse().map_err(|e: String| Failure::new(e))?;
        let op: Op = op.parse().map_err(|e: String| Failure::new(e))?;
        let operation = Operation { kind, count: number(count)?, datatype, op, root: 0 };
        let prepared = group.prepare(&operation, None).map_err(|e| Failure::of(&e))?;
        let (rank, size) = (group.rank(), group.size());
        // MPI's programs broadcast from where they receive.
        let is_in_place = kind == Kind::Broadcast;
        let (gives, gets) = (prepared.gives(rank) as usize, prepared.gets(rank) as usize);
        // Memory that was written to has its pages.
        let mut give = vec![0xff; if is_in_place { gets } else { gives }];
        fill(&mut give[..gives], datatype, rank, size);
        let get = vec![0xff; if is_in_place { 0 } else { gets }];
        Ok(Self { prepared, is_in_place, give, get })
    }

    fn once(&mut self, group: &HostGroup) -> Result<()> {
        match self.is_in_place {
            true => group.run_in_place(&self.prepared, &mut self.give),
            false => group.run_prepared(&self.prepared, &self.give, &mut self.get),
        }
        .map_err(|e| Failure::of(&e))
    }

    fn got(&self) -> &[u8] {
        if self.is_in_place { &self.give } else { &self.get }
    }

    /// Nanoseconds of so many times.
    fn time(&mut self, group: &HostGroup, times: u64) -> Result<u128> {
        let barrier = Operation { kind: Kind::Barrier, count: 0, datatype: Datatype::I8, op: Op::Sum, root: 0 };
        group.run(&barrier, &[], &mut []).map_err(|e| Failure::of(&e))?;
        let began = Instant::now();
        (0..times).try_for_each(|_| self.once(group))?;
        Ok(began.elapsed().as_nanos())
    }
}
