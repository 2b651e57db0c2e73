//! Groups of whole cards in virtual time: their operations beside a load and under faults of all cables, of gateware
//! and beside it, and how long they take on cables of a known rate.

use bytes::Bytes;
use rackloom_collective::{Datatype, Kind as Does, Op, Operation, Plan};
use rackloom_host::{Commit, Outcome};
use rackloom_node::{Duration, Rng};
use rackloom_rack::{GroupSpec, Kind, Links, SimGroup};
use rackloom_sim::{Cable, Faults};

#[path = "../../../core/collective/tests/simulation/oracle.rs"]
mod oracle;

use oracle::{KINDS, inputs, oracle};

/// Cards of 32 MiB on cables of 10 Gb/s.
fn lab(cards: u16, links: Links, seed: u64, faults: Faults) -> SimGroup {
    mixed([Kind::Model; 2], cards, links, seed, faults)
}

fn mixed(kinds: [Kind; 2], cards: u16, links: Links, seed: u64, faults: Faults) -> SimGroup {
    SimGroup::new(&GroupSpec { cards, kinds, links, memory: 32 << 20, cable: Cable::TEN_GIGABIT, faults, seed })
}

fn links(text: &str) -> Links {
    text.parse().unwrap()
}

fn words(rng: &mut Rng, count: u64) -> Vec<u8> {
    (0..count).flat_map(|_| (rng.next_u64() as u32).to_le_bytes()).collect()
}

fn sum(inputs: &[Vec<u8>]) -> Vec<u8> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let at = |i: usize| inputs.iter().fold(0u32, |sum, input| sum.wrapping_add(word(&input[i * 4..][..4])));
    (0..inputs[0].len() / 4).flat_map(|i| at(i).to_le_bytes()).collect()
}

const fn of(kind: Does, count: u64) -> Operation {
    Operation { kind, count, datatype: Datatype::I32, op: Op::Sum, root: 0 }
}

/// While cards work together the host loads an image into all of them; every byte is right on either way, and the image
/// is active on each.
#[test]
fn a_group_works_beside_a_load_while_cables_lose_damage_and_delay() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed ^ 0x10ad);
        let chance = |rng: &mut Rng| if rng.below(2) == 0 { 0.0 } else { rng.below(40) as f64 / 1000.0 };
        let [loss, corrupt, duplicate] = [(); 3].map(|()| chance(&mut rng));
        let faults = Faults { corrupt, duplicate, ..Faults::loss(loss) };
        let links = [Links::Full, Links::Ring, links("torus:2x2")][rng.below(3) as usize].clone();
        let mut group = lab(4, links.clone(), seed, faults);
        let count = [100, 5000, 40_000][rng.below(3) as usize];
        let inputs: Vec<_> = (0..4).map(|_| words(&mut rng, count)).collect();
        let image = Bytes::from_static(rackloom_builtin_roles::image("ptrans").unwrap());
        let mut load = None;
        let (got, _) = group
            .operate(&of(Does::Allreduce, count), &inputs, |group| {
                let cards = group.cards().to_vec();
                load = Some(group.command(|host, now| host.load(now, &cards, image, Commit::Each)));
                let pause = Duration::from_micros(rng.below(300));
                group.run(pause);
            })
            .unwrap();
        let want = sum(&inputs);
        assert!(got.iter().all(|got| got[..] == want[..]), "seed {seed}, {links}, {faults:?}");
        let Outcome::Loaded(report) = group.wait(load.unwrap()) else { panic!("it was loaded") };
        assert!(report.fault().is_none(), "seed {seed}: {report:?}");
        let blocks: Vec<_> = (0..4).map(|_| words(&mut rng, 4 * 77)).collect();
        let (got, _) = group.operate(&of(Does::Alltoall, 77), &blocks, |_| {}).unwrap();
        for (to, got) in got.iter().enumerate() {
            let want: Vec<u8> = blocks.iter().flat_map(|b| b[to * 308..(to + 1) * 308].to_vec()).collect();
            assert_eq!(got[..], want, "seed {seed}, {links}: rank {to}");
        }
    }
}

/// On cables of 10 Gb/s with 100 ns an operation takes what its plan says: each round's longest message at the rate
/// that framing leaves, and a start-up for each round.
#[test]
fn operations_take_the_time_of_their_plan() {
    // 1408 bytes of 1500 on the wire, with preamble, check sequence and gap.
    let rate = 1.25e9 * 1408.0 / (1408.0 + 64.0 + 24.0);
    for (links, cards) in [(Links::Full, 4), (Links::Ring, 6), (links("torus:2x4"), 8), (links("polar-fly:2"), 7)] {
        let mut group = lab(cards, links.clone(), 1, Faults::NONE);
        for kind in [Does::Broadcast, Does::Allreduce, Does::Allgather, Does::Alltoall, Does::Send { to: 2 }] {
            let mut start_up = 0.0;
            for count in [1, 250_000] {
                let count = if matches!(kind, Does::Allgather | Does::Alltoall) { (count / 8).max(1) } else { count };
                let operation = of(kind, count);
                let plan = Plan::new(&operation, group.group()).unwrap();
                let (rounds, bytes) = (plan.rounds() as f64, plan.bytes() as f64);
                let given = plan.given() as usize;
                let (_, time) = group.operate(&operation, &vec![vec![7; given]; cards.into()], |_| {}).unwrap();
                let time = time.as_nanos() as f64 / 1e9;
                if count == 1 {
                    start_up = time / rounds;
                    assert!(start_up < 3e-6, "{links}, {kind:?}: {start_up} s for a round");
                    continue;
                }
                let least = bytes / rate;
                let due = least + rounds * start_up;
                assert!(time >= least * 0.999, "{links}, {kind:?}: {time} s, faster than the cables, {least} s");
                assert!(time <= due * 1.07, "{links}, {kind:?}: {time} s, and the plan says {due} s");
            }
        }
    }
}

/// Does these, one after the other, and compares every byte that each rank gets.
fn does(kinds: [Kind; 2], cards: u16, links: Links, todo: impl IntoIterator<Item = (Does, u64, Datatype, Op)>) {
    let mut group = mixed(kinds, cards, links, 3, Faults::NONE);
    for (i, (kind, count, datatype, op)) in (0..).zip(todo) {
        let root = usize::from(cards > 2 && !matches!(kind, Does::Send { .. }));
        let operation = Operation { kind, count, datatype, op, root };
        let inputs = inputs(&operation, cards.into(), i);
        let (got, _) = group.operate(&operation, &inputs, |_| {}).unwrap();
        for (rank, got) in got.iter().enumerate() {
            let want = oracle(&operation, &inputs, rank).unwrap_or_default();
            assert!(got[..] == want[..], "{kinds:?}, {cards} cards, {operation:?}: rank {rank}");
        }
    }
}

/// Each operation, type and size, on gateware alone and beside models, is as anybody would compute it: sizes around a
/// word, a beat and what goes eagerly, and a mebibyte. With `RACKLOOM_SIZES=all` each with each, on two, three and four
/// cards (a mebibyte of two types only, since it takes minutes); without it all of them at least once.
#[test]
fn gateware_does_what_models_do_and_works_beside_them() {
    use {Datatype as T, Does as D};
    if std::env::var("RACKLOOM_SIZES").is_ok_and(|sizes| sizes == "all") {
        return (2..=4).for_each(all_sizes);
    }
    let three = [
        (D::Barrier, 0, T::I8, Op::Sum),
        (D::Send { to: 2 }, 16_383, T::I8, Op::Sum),
        (D::Sendrecv { by: 1 }, 63, T::I8, Op::Sum),
        (D::Broadcast, 16_385, T::I8, Op::Sum),
        (D::Scatter, 65, T::I8, Op::Sum),
        (D::Gather, 64, T::I8, Op::Sum),
        (D::Allgather, 16_384, T::I8, Op::Sum),
        (D::Alltoall, 1, T::I8, Op::Sum),
        (D::Reduce, 0, T::I32, Op::And),
        (D::Reduce, 1, T::F64, Op::Sum),
        (D::Reduce, 65, T::I16, Op::Min),
        (D::Allreduce, 16_385, T::I8, Op::Xor),
        (D::Allreduce, 63, T::Bf16, Op::Max),
        (D::Allreduce, 64, T::F16, Op::Prod),
        (D::ReduceScatter, 63, T::I64, Op::Sum),
        (D::ReduceScatter, 64, T::F32, Op::Sum),
    ];
    does([Kind::Rtl; 2], 3, Links::Full, three);
    // A ring of four has ranks that are no neighbours; gateware and models take turns there.
    let four = [
        (D::Scatter, 64, T::I8, Op::Sum),
        (D::Allgather, 65, T::I8, Op::Sum),
        (D::Alltoall, 65, T::I8, Op::Sum),
        (D::Allreduce, 65, T::I8, Op::Max),
        (D::ReduceScatter, 63, T::I64, Op::Or),
    ];
    does([Kind::Rtl, Kind::Model], 4, Links::Ring, four);
    does([Kind::Rtl, Kind::Model], 2, Links::Full, [(D::Send { to: 1 }, 1 << 20, T::I8, Op::Sum)]);
}

/// Each operation of each size in bytes, and of those that reduce each type and what it takes, on so many cards of
/// gateware.
fn all_sizes(cards: u16) {
    let begun = std::time::Instant::now();
    let mut todo = Vec::new();
    for kind in KINDS {
        let reduces = matches!(kind, Does::Reduce | Does::Allreduce | Does::ReduceScatter);
        let types = if reduces { &Datatype::ALL[..] } else { &[Datatype::I8][..] };
        for &datatype in types {
            let large = matches!(datatype, Datatype::I8 | Datatype::F32);
            for bytes in [0, 1, 63, 64, 65, 16_383, 16_384, 16_385].into_iter().chain(large.then_some(1 << 20)) {
                // Sizes that are no whole number of elements are rounded up.
                todo.push((kind, u64::div_ceil(bytes, datatype.size()), datatype, Op::Sum));
            }
            let ops = Op::ALL.into_iter().filter(|op| reduces && op.takes(datatype));
            todo.extend(ops.map(|op| (kind, 65, datatype, op)));
        }
    }
    println!("{} operations on {cards} cards", todo.len());
    does([Kind::Rtl; 2], cards, Links::Full, todo);
    println!("took {:?}", begun.elapsed());
}
