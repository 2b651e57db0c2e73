//! Plans without cards: all ranks' programs run in memory, in an order drawn from a seed, on many topologies; every
//! byte is compared with a straightforward computation.

mod interpreter;
#[path = "../simulation/oracle.rs"]
mod oracle;
mod shapes;

use rackloom_collective::{Buffers, Command, Datatype, Group, Kind, Op, Operation, Plan, ProgramError, check};
use rackloom_node::Rng;

use interpreter::Ranks;
use oracle::{KINDS, fold, inputs, oracle};
use shapes::{Shape, group, shapes};

fn blocks(kind: Kind, size: usize) -> u64 {
    match kind {
        Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::Alltoall | Kind::ReduceScatter => size as u64,
        _ => 1,
    }
}

/// Runs an operation; its ranks get the right bytes.
fn works(operation: &Operation, group: &Group, seed: u64) -> Result<(), String> {
    let size = group.size();
    let given = inputs(operation, size, seed);
    let plan = Plan::new(operation, group).map_err(|e| format!("{operation:?}: {e}"))?;
    // All get the same of these: it is computed once.
    let is_one = matches!(operation.kind, Kind::Allreduce | Kind::Allgather);
    let want: Vec<_> = match is_one {
        true => vec![oracle(operation, &given, 0); size],
        false => (0..size).map(|rank| oracle(operation, &given, rank)).collect(),
    };
    let got: Vec<u64> = want.iter().flatten().map(|bytes| bytes.len() as u64).collect();
    let gets: Vec<u64> = (0..size).map(|rank| plan.gets(rank)).filter(|bytes| *bytes > 0).collect();
    if got.iter().any(|bytes| *bytes > 0) && got != gets {
        return Err(format!("{operation:?}: ranks get {gets:?} bytes, and should get {got:?}"));
    }
    runs(&plan, group, &given, &want, seed).map_err(|e| format!("{operation:?}: {e}"))
}

/// Runs a plan's programs with what ranks give, and compares with what they have to get.
fn runs(plan: &Plan<'_>, group: &Group, given: &[Vec<u8>], want: &[Option<Vec<u8>>], seed: u64) -> Result<(), String> {
    let to = plan.given();
    let at = Buffers { from: 0, to, scratch: to + plan.got() };
    let mut ranks = Ranks::new(group, at.scratch + plan.scratch(), seed);
    ranks.memory.iter_mut().zip(given).for_each(|(memory, input)| memory[..input.len()].copy_from_slice(input));
    ranks.run(&plan.programs(&at))?;
    for (rank, memory) in ranks.memory.iter().enumerate() {
        if want[rank].as_ref().is_some_and(|want| memory[to as usize..][..want.len()] != want[..]) {
            return Err(format!("rank {rank} has other bytes"));
        }
        if memory[..given[rank].len()] != given[rank] {
            return Err(format!("what rank {rank} gives has changed"));
        }
    }
    Ok(())
}

/// Blocks of lengths drawn from a seed, many of them empty.
#[test]
fn blocks_that_differ_come_where_they_belong() {
    let mut rng = Rng::new(21);
    for seed in 0..120 {
        let size = 2 + rng.below(7) as usize;
        let all = shapes(size);
        let Shape { name, group } = &all[rng.below(all.len() as u64) as usize];
        let kinds = [Kind::Scatter, Kind::Gather, Kind::Allgather, Kind::Alltoall, Kind::ReduceScatter];
        let kind = kinds[rng.below(5) as usize];
        let datatype = Datatype::ALL[rng.below(8) as usize];
        let root = rng.below(size as u64) as usize;
        let operation = Operation { kind, count: 77, datatype, op: Op::Sum, root };
        let numbers = if kind == Kind::Alltoall { size * size } else { size };
        let counts: Vec<_> = (0..numbers).map(|_| [0, 1, 65, 5000][rng.below(4) as usize]).collect();
        let count = |from: usize, to: usize| match kind {
            Kind::Alltoall => counts[from * size + to],
            Kind::Gather | Kind::Allgather => counts[from],
            _ => counts[to],
        };
        // What each gives to each; to all the same, where that is the operation.
        let is_same = matches!(kind, Kind::Gather | Kind::Allgather);
        let mut drawn = |from: usize, to: usize| {
            let one = Operation { kind: Kind::Broadcast, count: count(from, to), ..operation };
            inputs(&one, 1, rng.next_u64()).remove(0)
        };
        let made: Vec<Vec<_>> = (0..size)
            .map(|from| match is_same {
                true => vec![drawn(from, 0); size],
                false => (0..size).map(|to| drawn(from, to)).collect(),
            })
            .collect();
        let given: Vec<_> = made.iter().map(|of| if is_same { of[0].clone() } else { of.concat() }).collect();
        let want = |to: usize| match kind {
            Kind::Scatter => Some(made[root][to].clone()),
            Kind::Gather if to != root => None,
            Kind::ReduceScatter => {
                Some((1..size).fold(made[0][to].clone(), |sum, from| fold(&operation, &sum, &made[from][to])))
            }
            _ => Some((0..size).flat_map(|from| made[from][to].clone()).collect()),
        };
        let want: Vec<_> = (0..size).map(want).collect();
        let plan = Plan::of_blocks(&operation, group, &counts).unwrap();
        for (rank, want) in want.iter().enumerate() {
            assert_eq!(plan.gets(rank), want.as_ref().map_or(0, |bytes| bytes.len() as u64));
        }
        runs(&plan, group, &given, &want, seed).unwrap_or_else(|e| panic!("{name} of {size}, {kind:?}: {e}"));
        assert!(Plan::of_blocks(&operation, group, &counts[1..]).is_err());
        let whole = Operation { kind: Kind::Broadcast, ..operation };
        assert!(Plan::of_blocks(&whole, group, &counts).is_err(), "it has no blocks");
        let mut long = counts.clone();
        long[0] = u64::MAX;
        assert!(Plan::of_blocks(&operation, group, &long).is_err());
    }
}

#[test]
fn every_operation_type_and_size_is_right_on_every_topology() {
    let sizes = [0u64, 1, 63, 64, 65, (16 << 10) - 1, 16 << 10, (16 << 10) + 1, 1 << 20];
    let mut number = 0;
    for size in [2, 3, 4, 8] {
        for Shape { name, group } in shapes(size) {
            for kind in KINDS {
                for bytes in sizes {
                    number += 1;
                    // All types of small ones; of the large some, others from case to case; and of the largest a part.
                    let step = [1, 5, 8][usize::from(bytes > 65) + usize::from(bytes == 1 << 20)];
                    if step == 8 && number % 3 > 0 {
                        continue;
                    }
                    for datatype in Datatype::ALL.into_iter().skip(number % step).step_by(step) {
                        // Of the large ones all blocks together have so many bytes.
                        let count = if bytes <= 65 { bytes } else { bytes / datatype.size() / blocks(kind, size) };
                        let ops: Vec<_> = Op::ALL.into_iter().filter(|op| op.takes(datatype)).collect();
                        let (op, root) = (ops[number % ops.len()], number % size);
                        let operation = Operation { kind, count, datatype, op, root };
                        works(&operation, &group, number as u64).unwrap_or_else(|e| panic!("{name} of {size}: {e}"));
                    }
                }
            }
        }
    }
}

#[test]
fn every_operation_on_every_type_is_right_in_every_order() {
    let mut rng = Rng::new(3);
    for (datatype, op) in Datatype::ALL.into_iter().flat_map(|t| Op::ALL.map(|op| (t, op))) {
        for kind in [Kind::Reduce, Kind::Allreduce, Kind::ReduceScatter] {
            for Shape { name, group } in shapes(4) {
                let operation = Operation { kind, count: 1 + rng.below(3000), datatype, op, root: 2 };
                match op.takes(datatype) {
                    true => works(&operation, &group, rng.next_u64()).unwrap_or_else(|e| panic!("{name}: {e}")),
                    false => assert!(Plan::new(&operation, &group).is_err()),
                }
            }
        }
    }
}

/// Any joined group, with links drawn from a seed.
#[test]
fn groups_of_any_links_work() {
    let mut rng = Rng::new(11);
    for seed in 0..150 {
        let size = 2 + rng.below(9) as usize;
        let mut pairs: Vec<_> = (1..size).map(|b| (rng.below(b as u64) as usize, b)).collect();
        for _ in 0..rng.below(6) {
            let (a, b) = (rng.below(size as u64) as usize, rng.below(size as u64) as usize);
            if a != b && !pairs.contains(&(a, b)) && !pairs.contains(&(b, a)) {
                pairs.push((a, b));
            }
        }
        let group = group(size, &pairs);
        let mut kind = KINDS[rng.below(11) as usize];
        if kind == (Kind::Send { to: 1 }) {
            kind = Kind::Send { to: rng.below(size as u64) as usize };
        }
        let count = [1, 700, 9000, 60_000][rng.below(4) as usize];
        let root = rng.below(size as u64) as usize;
        let operation = Operation { kind, count, datatype: Datatype::F32, op: Op::Sum, root };
        works(&operation, &group, seed).unwrap_or_else(|e| panic!("seed {seed}, links {pairs:?}: {e}"));
    }
}

#[test]
fn sixty_four_ranks_work_on_rings_and_tori() {
    for Shape { name, group } in shapes(64) {
        for kind in [Kind::Barrier, Kind::Allreduce, Kind::Alltoall, Kind::Broadcast] {
            let operation = Operation { kind, count: 9, datatype: Datatype::I16, op: Op::Sum, root: 5 };
            match works(&operation, &group, 1) {
                // In the middle of a line most messages pass.
                Err(why) => assert!(name == "line" && why.contains("and may have 4096"), "{name}: {why}"),
                Ok(()) => assert!(name != "line" || kind != Kind::Alltoall),
            }
        }
    }
}

/// A plan that is harmed fails its check, or its run: so neither says yes to everything.
#[test]
fn programs_that_are_harmed_are_found() {
    let ring = shapes(4).into_iter().find(|shape| shape.name == "ring").unwrap().group;
    let operation = Operation { kind: Kind::Alltoall, count: 100, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    let plan = Plan::new(&operation, &ring).unwrap();
    let programs = plan.programs(&Buffers { from: 0, to: 400, scratch: 800 });
    assert_eq!(check(&ring, &programs), Ok(()));
    let (mut circles, mut in_use, mut harmed) = (0, 0, 0);
    for rank in 0..4 {
        for at in 0..programs[rank].len() {
            // Without the command.
            let mut without = programs.clone();
            let gone = without[rank].remove(at);
            if matches!(gone, Command::Put { .. } | Command::Take { .. }) {
                assert!(matches!(check(&ring, &without), Err(ProgramError::Waits { .. })), "{gone:?}");
                circles += 1;
            }
            // What was waited for is used before it has come.
            if matches!(gone, Command::Wait | Command::WaitTakes) && at + 1 < programs[rank].len() {
                harmed += 1;
                in_use += usize::from(matches!(check(&ring, &without), Err(ProgramError::InUse { .. })));
            }
        }
    }
    assert!(circles > 20 && in_use > 0, "{circles}, {in_use} of {harmed}");
    // A part of the bytes.
    let mut shorter = programs;
    let put = shorter[1].iter_mut().find_map(|c| if let Command::Put { length, .. } = c { Some(length) } else { None });
    *put.unwrap() -= 1;
    assert!(matches!(check(&ring, &shorter), Err(ProgramError::Length { .. })));
}

/// A rank waits for what it sends only where it has to: with a weaker wait it would change that too early.
#[test]
fn waits_that_are_weakened_are_found() {
    let (mut weak, mut weakened) = (0, 0);
    for shape in shapes(5) {
        for (kind, count) in KINDS.into_iter().flat_map(|kind| [(kind, 5), (kind, 60_000)]) {
            let operation = Operation { kind, count, datatype: Datatype::F32, op: Op::Sum, root: 1 };
            let plan = Plan::new(&operation, &shape.group).unwrap();
            let programs = plan.programs(&plan.buffers());
            for (rank, program) in programs.iter().enumerate() {
                weak += program.iter().filter(|command| **command == Command::WaitTakes).count();
                let last = program.iter().rposition(|command| matches!(command, Command::Wait | Command::WaitTakes));
                for at in (0..last.unwrap_or(0)).filter(|at| program[*at] == Command::Wait) {
                    let mut without = programs.clone();
                    without[rank][at] = Command::WaitTakes;
                    let found = check(&shape.group, &without);
                    assert!(matches!(found, Err(ProgramError::InUse { rank: of, .. }) if of == rank), "{found:?}");
                    weakened += 1;
                }
            }
        }
    }
    assert!(weak > 100 && weakened > 5, "{weak}, {weakened}");
}

#[test]
fn an_order_other_than_that_of_ranks_is_seen() {
    let operation = Operation { kind: Kind::Allreduce, count: 99, datatype: Datatype::F32, op: Op::Sum, root: 0 };
    let mut given = inputs(&operation, 4, 1);
    let want = oracle(&operation, &given, 0);
    given.swap(1, 3);
    assert_ne!(oracle(&operation, &given, 0), want, "so a swap would have failed the other tests");
}
