//! Every operation, type and size, beside what a program computes that has all ranks' data.

use rackloom_collective::{Datatype, Kind, Op, Operation, reduce};
use rackloom_hosts::{HostGroup, Start};

use crate::{Ranks, join};

/// Bytes of a rank's input: the same wherever they are made. They come from a table whose length no piece is a multiple
/// of, so that what is in another's place differs.
fn numbers(rank: usize, salt: usize, len: usize, datatype: Datatype) -> Vec<u8> {
    let element = |i: usize| {
        let value = (i * i * 31 + i * 7) as i32 % 101 - 50;
        match datatype {
            Datatype::F32 => (value as f32 * 0.37).to_le_bytes().to_vec(),
            Datatype::F64 => (f64::from(value) * 0.37).to_le_bytes().to_vec(),
            // Small numbers of either format.
            Datatype::F16 | Datatype::Bf16 => (0x3c00 + (value & 0x7f) as u16).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().repeat(2)[..datatype.size() as usize].to_vec(),
        }
    };
    let table: Vec<u8> = (0..1009).flat_map(element).collect();
    let first = (rank * 137 + salt * 11) * datatype.size() as usize % table.len();
    table.iter().copied().cycle().skip(first).take(len).collect()
}

/// What a rank gets, of the inputs of all.
fn expected(operation: &Operation, blocks: &[usize], inputs: &[Vec<u8>], rank: usize) -> Vec<u8> {
    let n = inputs.len();
    let block = |i: usize| blocks[..i].iter().sum::<usize>()..blocks[..=i].iter().sum::<usize>();
    let reduced = || {
        let mut all = inputs[0].clone();
        inputs[1..].iter().for_each(|input| reduce(operation.op, operation.datatype, &mut all, input));
        all
    };
    let is_root = rank == operation.root;
    match operation.kind {
        Kind::Barrier => Vec::new(),
        Kind::Send { to } if rank == to => inputs[operation.root].clone(),
        Kind::Sendrecv { by } => inputs[(rank + n - by % n) % n].clone(),
        Kind::Broadcast => inputs[operation.root].clone(),
        Kind::Scatter => inputs[operation.root][block(rank)].to_vec(),
        Kind::Gather if is_root => inputs.concat(),
        Kind::Allgather => inputs.concat(),
        Kind::Alltoall => {
            let of = |from: usize| {
                let before: usize = blocks[from * n..from * n + rank].iter().sum();
                &inputs[from][before..before + blocks[from * n + rank]]
            };
            (0..n).flat_map(of).copied().collect()
        }
        Kind::Reduce if is_root => reduced(),
        Kind::Allreduce => reduced(),
        Kind::ReduceScatter => reduced()[block(rank)].to_vec(),
        Kind::Send { .. } | Kind::Gather | Kind::Reduce => Vec::new(),
    }
}

/// Does an operation, in two buffers and where it may in one, and compares.
fn check(group: &HostGroup, operation: &Operation, counts: Option<&[u64]>, salt: usize) {
    let (n, rank) = (group.size(), group.rank());
    let blocks = match operation.kind {
        Kind::Alltoall => n * n,
        Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::ReduceScatter => n,
        _ => 0,
    };
    let size = operation.datatype.size();
    let bytes = |i: usize| (counts.map_or(operation.count, |counts| counts[i]) * size) as usize;
    let blocks: Vec<_> = (0..blocks).map(bytes).collect();
    let prepared = group.prepare(operation, counts).unwrap();
    let input = |r: usize| numbers(r, salt, prepared.gives(r) as usize, operation.datatype);
    let inputs: Vec<_> = (0..n).map(input).collect();
    let wanted = expected(operation, &blocks, &inputs, rank);
    let mut got = vec![0xee; prepared.gets(rank) as usize];
    group.run_prepared(&prepared, &inputs[rank], &mut got).unwrap();
    assert!(got == wanted, "rank {rank} of {n}: {operation:?} {counts:?}");
    let mut both = inputs[rank].clone();
    both.resize(inputs[rank].len().max(wanted.len()), 0);
    group.run_in_place(&prepared, &mut both).unwrap();
    let needed = prepared.gives(rank).max(prepared.gets(rank));
    if needed > 0 {
        let short = group.run_in_place(&prepared, &mut both[..needed as usize - 1]);
        assert!(short.unwrap_err().to_string().contains(&format!("{needed}")), "and nobody waits for this rank");
    }
    assert!(both[..wanted.len()] == wanted, "in place, rank {rank} of {n}: {operation:?} {counts:?}");
}

fn kinds(n: usize) -> Vec<(Kind, usize)> {
    let last = n - 1;
    let mut all = vec![
        (Kind::Barrier, 0),
        (Kind::Send { to: last }, 0),
        (Kind::Send { to: 0 }, last),
        (Kind::Sendrecv { by: 1 }, 0),
        (Kind::Sendrecv { by: n + 2 }, 0),
        (Kind::Alltoall, 0),
        (Kind::Allgather, 0),
        (Kind::Allreduce, 0),
        (Kind::ReduceScatter, 0),
    ];
    for root in [0, last] {
        all.extend([Kind::Broadcast, Kind::Scatter, Kind::Gather, Kind::Reduce].map(|kind| (kind, root)));
    }
    all
}

pub(crate) fn test() {
    for size in [1, 2, 3, 4] {
        for is_direct in [true, false] {
            Ranks::of("operations_are_as_computed", size, |start| start.is_direct = is_direct).succeed();
        }
    }
    Ranks::of("operations_are_as_computed", 17, |start| start.is_direct = start.rank != 5).succeed();
}

pub(crate) fn part(start: &Start) {
    let group = join(start);
    let n = group.size();
    // With more ranks than a ring has pieces nobody may wait for room that only its own reading makes.
    let sizes: &[u64] = match n {
        2 => &[0, 1, 63, 64, 65, 16_383, 16_384, 16_385, 65_537, 524_289, 1_048_576],
        17 => &[1, 70_000],
        _ => &[0, 1, 65, 16_384, 16_385, 131_073, 600_000],
    };
    for (salt, bytes) in sizes.iter().enumerate() {
        for (kind, root) in kinds(n) {
            let i8s = Operation { kind, count: *bytes, datatype: Datatype::I8, op: Op::Xor, root };
            check(&group, &i8s, None, salt);
            let blocks = match kind {
                Kind::Alltoall => n * n,
                Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::ReduceScatter => n,
                _ => continue,
            };
            // Some blocks are empty, and some on the other side of each bound.
            let counts: Vec<_> = (0..blocks as u64).map(|i| (bytes / 4) * (i % 3) / 2 + i % 2).collect();
            check(&group, &Operation { datatype: Datatype::F32, op: Op::Sum, ..i8s }, Some(&counts), salt);
        }
    }
    let types = if n == 17 { &[Datatype::F32][..] } else { &Datatype::ALL };
    for datatype in types.iter().copied() {
        for op in Op::ALL.into_iter().filter(|op| op.takes(datatype)) {
            for kind in [Kind::Allreduce, Kind::Reduce, Kind::ReduceScatter] {
                check(&group, &Operation { kind, count: 9001, datatype, op, root: n / 2 }, None, 99);
            }
        }
    }
}

pub(crate) fn split_test() {
    Ranks::of("groups_split_and_are_freed_again_and_again", 4, |_| ()).succeed();
}

pub(crate) fn split_part(start: &Start) {
    let group = join(start);
    let rank = group.rank();
    let odd = group.split(Some(rank as u32 % 2), -(rank as i64)).unwrap().unwrap();
    assert_eq!((odd.size(), odd.rank()), (2, usize::from(rank < 2)), "later ranks come first");
    let three = group.split((rank != 1).then_some(7), 0).unwrap();
    assert_eq!(three.is_some(), rank != 1);
    // Groups that overlap, and in another order on some ranks: nothing of one waits for the other.
    let all = |group: &HostGroup| {
        let sum = Operation { kind: Kind::Allreduce, count: 1, datatype: Datatype::I64, op: Op::Sum, root: 0 };
        let mut got = [0; 8];
        group.run(&sum, &(1_i64 << (8 * rank)).to_le_bytes(), &mut got).unwrap();
        i64::from_le_bytes(got)
    };
    for _ in 0..100 {
        assert_eq!(all(&odd), if rank.is_multiple_of(2) { 0x10001 } else { 0x0100_0100 });
        if let Some(three) = &three {
            assert_eq!(all(three), 0x0101_0001);
        }
    }
    // More than there is room for at a time.
    for round in 0..200 {
        let part = group.split(Some((rank / 2) as u32), round).unwrap().unwrap();
        assert_eq!(all(&part), if rank < 2 { 0x101 } else { 0x0101_0000 });
    }
    let mut kept = Vec::new();
    let refused = loop {
        match group.split(Some(0), 0) {
            Ok(part) => kept.push(part),
            Err(error) => break error,
        }
    };
    assert!(kept.len() > 50, "{}", kept.len());
    assert!(refused.to_string().contains("free some") || refused.to_string().contains("rank 0"), "{refused}");
    drop(kept);
    assert_eq!(all(&group), 0x0101_0101, "a refusal leaves the group as it was");
}
