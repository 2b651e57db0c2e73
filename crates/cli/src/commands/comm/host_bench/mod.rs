//! `rackloom comm bench --hosts`: processes of this machine as ranks, and Open MPI's beside them in the same run.
//!
//! Both are teams of processes of the same number, bound to the same processors, that do the same operations on the
//! same bytes. They take turns, some milliseconds each, so whatever else the machine does falls on both; whose turn it
//! is not sleeps. What ranks get is compared as well.

mod mpi;
mod pattern;
mod rank;
mod team;

use std::time::Duration;

use rackloom::{HostSecret, HostStart, Operation};

use self::team::Team;
use super::bench::{Timed, Yardstick, copies, measure};
use super::hosts::{Folder, processors, start_again};
use crate::args::CommBench;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain as _, Failure, Result};

pub(super) use self::rank::{is_rank, run as rank};

/// A turn does an operation so often that it takes about this long, but not more often than [`TIMES_MAX`].
const TURN: Duration = Duration::from_millis(4);
const TIMES_MAX: u32 = 1000;
/// Turns of each team, at least, and how long those of all together take before there are no more.
const TURNS_MIN: u32 = 5;
const ENOUGH: Duration = Duration::from_millis(150);

pub(super) fn run(cx: &Context, size: usize, args: &CommBench) -> Result<Exit> {
    let folder = Folder::new()?;
    let bound = if args.no_bind { Vec::new() } else { processors(size) };
    // The other team first: a machine without Open MPI says so before anything is measured.
    let mut theirs = match args.beside_mpi {
        true => {
            mpi::check(args.datatype)?;
            Some(mpi::start(&folder.0, size, &bound, cx.global.timeout)?)
        }
        false => None,
    };
    let mut ours = start(&folder, size, &bound, cx)?;
    let mpi = theirs.is_some().then(mpi::version).transpose()?;
    let mut timer = |operation: &Operation| timed(&mut ours, theirs.as_mut(), operation, args.times);
    measure(cx, args, &mut timer, size, (None, mpi), Yardstick::Memcpy(copies()))
}

/// This program again, as ranks.
fn start(folder: &Folder, size: usize, bound: &[usize], cx: &Context) -> Result<Team> {
    let secret = HostSecret::random().during("cannot make a secret")?;
    let meeting = team::Meeting::new(folder.0.join("ours"))?;
    let start = |rank| {
        let start = HostStart::new(rank, size, folder.0.join("meet"), secret.clone());
        start_again(&start, (rank::SOCKET, meeting.path()))
    };
    let children = (0..size).map(start).collect::<Result<_>>()?;
    meeting.gather("Rackloom", children, size, bound, cx.global.timeout)
}

/// Turns of both teams, one after the other.
fn timed(ours: &mut Team, mut theirs: Option<&mut Team>, operation: &Operation, most: u32) -> Result<Timed> {
    let digests = ours.prepare(operation)?;
    if let Some(theirs) = &mut theirs {
        let others = theirs.prepare(operation)?;
        if let Some(rank) = (0..digests.len()).find(|rank| digests[*rank] != others[*rank]) {
            let what = format!("rank {rank} gets other bytes than Open MPI's");
            return Err(Failure::new(what).exit(Exit::Negative).help("please report this: results never differ"));
        }
    }
    let mut turn = |times| {
        let mine = ours.time(times)?;
        Ok::<_, Failure>((mine, theirs.as_mut().map(|theirs| theirs.time(times)).transpose()?))
    };
    // The slower says how many fit in a turn. Of the second: the first finds code and data somewhere else.
    turn(1)?;
    let (mine, other) = turn(1)?;
    let once = mine.max(other.unwrap_or_default()).max(Duration::from_nanos(1));
    let times = u32::try_from(TURN.as_nanos() / once.as_nanos()).unwrap_or(u32::MAX).clamp(1, TIMES_MAX);
    let (mut own, mut mpi, mut taken, mut turns) = (Vec::new(), Vec::new(), Duration::ZERO, 0);
    while turns < most.max(1) && (turns < TURNS_MIN || taken < ENOUGH) {
        let (mine, other) = turn(times)?;
        taken += mine + other.unwrap_or_default();
        own.push(mine / times);
        mpi.extend(other.map(|other| other / times));
        turns += 1;
    }
    own.sort();
    mpi.sort();
    Ok(Timed { times: own, done: turns * times, mpi: mpi.get(mpi.len() / 2).copied() })
}
