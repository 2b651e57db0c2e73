//! Ranks that are lost, late, or do something else.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use rackloom_collective::{Datatype, Kind, Op, Operation};
use rackloom_hosts::{HostError, HostGroup, Start};

use crate::{Ranks, join};

/// Within this a lost rank is named to those who wait. It is noticed in 5 ms; the machine may be busy.
const SOON: Duration = Duration::from_secs(2);

fn sum(count: u64) -> Operation {
    Operation { kind: Kind::Allreduce, count, datatype: Datatype::I64, op: Op::Sum, root: 0 }
}

fn add(group: &HostGroup, count: u64) -> Result<i64, HostError> {
    let give: Vec<u8> = (0..count).flat_map(|_| (1_i64 << (8 * group.rank())).to_le_bytes()).collect();
    let mut got = vec![0; give.len()];
    group.run(&sum(count), &give, &mut got)?;
    Ok(i64::from_le_bytes(got[..8].try_into().unwrap()))
}

fn abort() -> ! {
    std::process::abort()
}

pub(crate) fn differs_test() {
    Ranks::of("who_does_something_else_is_named", 3, |_| ()).succeed();
}

pub(crate) fn differs_part(start: &Start) {
    let group = join(start);
    let own = if group.rank() == 1 { 100 } else { 101 };
    let error = add(&group, own).unwrap_err();
    let named = match error {
        // Who notices it gives up, and the others may see that first.
        HostError::Differs { rank, .. } | HostError::GivenUp { rank, .. } | HostError::Left { rank, .. } => rank,
        other => panic!("{other}"),
    };
    assert_ne!(named, group.rank());
    assert!(matches!(add(&group, 1), Err(HostError::Broken)));
}

pub(crate) fn late_test() {
    Ranks::of("who_does_not_come_is_named_when_the_time_is_over", 2, |_| ()).succeed();
}

pub(crate) fn late_part(start: &Start) {
    let group = join(&Start { limit: Duration::from_millis(300), ..start.clone() });
    if group.rank() == 1 {
        return std::thread::sleep(Duration::from_millis(600));
    }
    let began = Instant::now();
    assert!(matches!(add(&group, 1), Err(HostError::Timeout { rank: 1, .. })));
    assert!(began.elapsed() >= Duration::from_millis(300));
}

pub(crate) fn killed_test() {
    let ranks = Ranks::of("a_killed_rank_is_named_soon_and_the_others_go_on", 4, |_| ());
    let ends = ranks.ends(Duration::from_secs(30));
    for (rank, end) in ends.iter().enumerate() {
        assert_eq!(end.signal() == Some(6), rank == 2 || rank == 0, "{ends:?}");
        assert_eq!(end.success(), rank == 1 || rank == 3, "{ends:?}");
    }
}

pub(crate) fn killed_part(start: &Start) {
    let group = join(start);
    let rank = group.rank();
    assert_eq!(add(&group, 70_000).unwrap(), 0x0101_0101);
    if rank == 2 {
        abort();
    }
    let began = Instant::now();
    let error = add(&group, 70_000).unwrap_err();
    assert!(began.elapsed() < SOON);
    assert!(matches!(error, HostError::Gone { rank: 2, .. }), "{error}");
    let group = group.shrink().unwrap();
    assert_eq!((group.size(), group.rank()), (3, [0, 1, 9, 2][rank]));
    assert_eq!(add(&group, 70_000).unwrap(), 0x01_0101);
    // The next is lost between operations, and is the one that was first.
    if rank == 0 {
        abort();
    }
    let error = add(&group, 1).unwrap_err();
    assert!(matches!(error, HostError::Gone { rank: 0, .. }), "{error}");
    let group = group.shrink().unwrap();
    assert_eq!(add(&group, 1).unwrap(), 0x0101);
    // A part of what is left is a group like any other.
    let alone = group.split(Some(group.rank() as u32), 0).unwrap().unwrap();
    assert_eq!(add(&alone, 1).unwrap(), 1);
}

fn signal(name: &str, process: u32) {
    let sent = std::process::Command::new("kill").args([name, &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// How long an operation of those tests may take.
const LIMIT: Duration = Duration::from_secs(1);

pub(crate) fn stopped_test() {
    let mut ranks = Ranks::of("a_stopped_rank_is_named_and_the_others_go_on", 4, |_| ());
    let end = Instant::now() + Duration::from_secs(30);
    // The others end while it is stopped; then it goes on, and learns what has become of the group.
    for rank in [0, 1, 3] {
        while ranks.children[rank].try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "rank {rank} hangs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert!(ranks.children[2].try_wait().unwrap().is_none());
    signal("-CONT", ranks.children[2].id());
    ranks.succeed();
}

pub(crate) fn stopped_part(start: &Start) {
    let group = join(&Start { limit: LIMIT, ..start.clone() });
    let rank = group.rank();
    assert_eq!(add(&group, 70_000).unwrap(), 0x0101_0101);
    if rank == 2 {
        signal("-STOP", std::process::id());
        let error = add(&group, 70_000).unwrap_err();
        assert!(matches!(error, HostError::GivenUp { .. } | HostError::Left { .. }), "{error}");
        assert!(group.shrink().unwrap_err().to_string().contains("was taken for lost"));
        return;
    }
    let began = Instant::now();
    let error = add(&group, 70_000).unwrap_err();
    assert!(began.elapsed() < LIMIT + SOON);
    assert!(matches!(error, HostError::Stopped { rank: 2, .. }), "{error}");
    let smaller = group.shrink().unwrap();
    assert_eq!((smaller.size(), smaller.rank()), (3, [0, 1, 9, 2][rank]));
    assert_eq!(add(&smaller, 70_000).unwrap(), 0x01_0101);
}

pub(crate) fn chain_test() {
    let mut ranks = Ranks::of("who_waits_for_a_stopped_rank_is_not_named_for_it", 3, |_| ());
    let end = Instant::now() + Duration::from_secs(30);
    for rank in [0, 1] {
        while ranks.children[rank].try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "rank {rank} hangs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    signal("-CONT", ranks.children[2].id());
    ranks.succeed();
}

/// Rank 0 waits for rank 1 alone, which waits longer for rank 2.
pub(crate) fn chain_part(start: &Start) {
    let limit = if start.rank == 0 { LIMIT } else { 3 * LIMIT };
    let group = join(&Start { limit, ..start.clone() });
    let send =
        |from, to| Operation { kind: Kind::Send { to }, count: 8, datatype: Datatype::I8, op: Op::Sum, root: from };
    if group.rank() == 2 {
        return signal("-STOP", std::process::id());
    }
    let mut got = [0; 8];
    let error = match group.rank() {
        0 => {
            group.run(&send(2, 1), &[], &mut []).unwrap();
            group.run(&send(1, 0), &[], &mut got).unwrap_err()
        }
        _ => group.run(&send(2, 1), &[], &mut got).unwrap_err(),
    };
    assert!(matches!(error, HostError::Stopped { rank: 2, .. }), "{error}");
}

pub(crate) fn left_test() {
    Ranks::of("who_leaves_early_is_named", 3, |_| ()).succeed();
}

pub(crate) fn left_part(start: &Start) {
    let group = join(start);
    assert_eq!(add(&group, 1).unwrap(), 0x01_0101);
    let rank = group.rank();
    if rank == 1 {
        drop(group);
        // Its process goes on, with nothing of the group.
        return std::thread::sleep(Duration::from_millis(300));
    }
    let error = add(&group, 1).unwrap_err();
    assert!(matches!(error, HostError::Left { rank: 1, .. }), "{error}");
    let group = group.shrink().unwrap();
    assert_eq!(add(&group, 1).unwrap(), 0x0101);
}

pub(crate) fn anywhere_test() {
    for is_direct in [true, false] {
        for round in 0..12_u32 {
            let mut ranks =
                Ranks::of("who_is_killed_anywhere_stops_nobody_for_long", 3, |start| start.is_direct = is_direct);
            std::thread::sleep(Duration::from_millis(40) + Duration::from_micros(u64::from(round) * 2_711 % 20_000));
            let victim = round as usize % 3;
            ranks.children[victim].kill().unwrap();
            let ends = ranks.ends(Duration::from_secs(20));
            for (rank, end) in ends.iter().enumerate().filter(|(rank, _)| *rank != victim) {
                assert!(end.success(), "round {round}, rank {rank}: {ends:?}");
            }
        }
    }
}

/// Long and short operations without end; the one that is killed is killed from outside.
pub(crate) fn anywhere_part(start: &Start) {
    // Who is killed while ranks meet is an error of the others, too.
    let Ok(mut group) = HostGroup::join(&Start { patience: Duration::from_secs(3), ..start.clone() }) else { return };
    let mut is_smaller = false;
    let mut after = 0;
    while after < 20 {
        after += u32::from(is_smaller);
        let block = vec![group.rank() as u8; 100_000];
        let mut got = vec![0; block.len() * group.size()];
        let count = block.len() as u64;
        let all = Operation { kind: Kind::Allgather, count, datatype: Datatype::I8, op: Op::Sum, root: 0 };
        let done = add(&group, 5_000).and_then(|_| group.run(&all, &block, &mut got));
        match done {
            Ok(()) => {
                assert!(
                    (0..group.size())
                        .all(|rank| got[rank * block.len()..][..block.len()].iter().all(|b| *b as usize == rank))
                );
            }
            Err(error) => {
                assert!(!is_smaller, "{error}");
                group = group.shrink().unwrap();
                assert_eq!(group.size(), 2, "{error}");
                is_smaller = true;
            }
        }
    }
}

pub(crate) fn done_test() {
    let ends = Ranks::of("what_one_has_done_before_it_ended_is_there", 2, |_| ()).ends(Duration::from_secs(30));
    assert_eq!((ends[0].signal(), ends[1].success()), (Some(6), true), "{ends:?}");
}

pub(crate) fn done_part(start: &Start) {
    let group = join(start);
    let all = Operation { kind: Kind::Broadcast, count: 1000, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    let mut got = vec![0; 1000];
    if group.rank() == 0 {
        group.run(&all, &[7; 1000], &mut got).unwrap();
        abort();
    }
    // Long after the other has ended.
    std::thread::sleep(Duration::from_millis(200));
    group.run(&all, &[], &mut got).unwrap();
    assert_eq!(got, [7; 1000]);
    assert!(matches!(add(&group, 1), Err(HostError::Gone { rank: 0, .. })));
}
