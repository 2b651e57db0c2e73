//! Groups of cards in virtual time: every byte against a straightforward computation, with faults drawn from a seed.

mod cable;
mod mesh;
mod oracle;
mod work;

use rackloom_collective::{
    Cause, Command, Datatype, Kind, Memory, Op, Operation, Plan, SURVEY_BYTES, Sequencer, Start,
};
use rackloom_node::{Duration, Instant, Rng};

use mesh::{Faults, Mesh, PRIVATE, Use, config, group, port};
use oracle::{KINDS, inputs, oracle};
use work::Work;

fn alone(operation: Operation, ranks: usize, seed: u64) -> Result<(), String> {
    let members: Vec<_> = (0..ranks).collect();
    let memory = Work::bytes(&operation, &members, Use::All) as usize;
    let mut mesh = Mesh::new(ranks, memory, seed, Faults::default());
    let work = Work::begin(&mut mesh, operation, (&members, Use::All), PRIVATE, 1, seed);
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == ranks);
    work.check_all(&mut mesh)
}

#[test]
fn every_operation_type_and_size_is_right() {
    for ranks in [2, 3, 4, 8] {
        for kind in KINDS {
            for bytes in [0u64, 1, 63, 64, 65, (16 << 10) - 1, 16 << 10, (16 << 10) + 1] {
                let root = ranks - 1;
                let operation = Operation { kind, count: bytes, datatype: Datatype::I8, op: Op::Sum, root };
                alone(operation, ranks, bytes).unwrap();
            }
            let operation = Operation { kind, count: 1 << 18, datatype: Datatype::F32, op: Op::Sum, root: 0 };
            if ranks == 3 {
                alone(operation, ranks, 1).unwrap();
            }
        }
    }
    for (datatype, op) in Datatype::ALL.into_iter().flat_map(|t| Op::ALL.map(|op| (t, op))) {
        for kind in [Kind::Reduce, Kind::Allreduce, Kind::ReduceScatter] {
            for count in [65, 4097] {
                let operation = Operation { kind, count, datatype, op, root: 1 };
                match op.takes(datatype) {
                    true => alone(operation, 3, count).unwrap(),
                    false => assert!(Plan::new(&operation, &group(&[0, 1, 2], Use::All)).is_err()),
                }
            }
        }
    }
}

#[test]
fn sixty_four_ranks_work_together() {
    for kind in [Kind::Barrier, Kind::Allreduce, Kind::Alltoall, Kind::Broadcast] {
        alone(Operation { kind, count: 65, datatype: Datatype::F64, op: Op::Sum, root: 5 }, 64, 3).unwrap();
    }
}

/// Two groups that share cards, and a third operation after one of theirs, eager and rendezvous, under faults.
fn seeded(seed: u64, is_blind: bool, bug: impl Fn(&mut Sequencer)) -> Result<(), String> {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let n = 3 + rng.below(3) as usize;
    let chance = |rng: &mut Rng, of: u64| if rng.below(2) == 0 { 0 } else { rng.below(of) };
    let (loss, twice, late) = (chance(&mut rng, 150), chance(&mut rng, 200), chance(&mut rng, 300));
    let flip_every = [0, 0, 1_000_000_000, 1_000_000, 100_000, 20_000][rng.below(6) as usize];
    let faults = Faults { loss, twice, late, flip_every, is_blind };
    let mut operations = Vec::new();
    for _ in 0..2 + rng.below(3) {
        let kind = KINDS[rng.below(KINDS.len() as u64) as usize];
        let count = [0, 1, 65, 1000, 6000][rng.below(5) as usize];
        let datatype = Datatype::ALL[rng.below(8) as usize];
        let ops: Vec<_> = Op::ALL.into_iter().filter(|op| op.takes(datatype)).collect();
        let op = ops[rng.below(ops.len() as u64) as usize];
        let mut members: Vec<_> = (0..n).collect();
        while members.len() > 2 && rng.below(3) == 0 {
            members.remove(rng.below(members.len() as u64) as usize);
        }
        let root = rng.below(members.len() as u64) as usize;
        let links = [Use::All, Use::Ring][rng.below(2) as usize];
        operations.push((Operation { kind, count, datatype, op, root }, members, links));
    }
    let memory: u64 = operations.iter().map(|(o, m, l)| Work::bytes(o, m, *l)).sum();
    let mut mesh = Mesh::new(n, memory as usize, seed, faults);
    mesh.cards.iter_mut().for_each(|(s, _)| bug(s));
    let (mut base, mut works) = (PRIVATE, Vec::new());
    for (id, (operation, members, links)) in (1..).zip(&operations) {
        works.push(Work::begin(&mut mesh, *operation, (members, *links), base, id, seed + id));
        base += Work::bytes(operation, members, *links);
        let until = mesh.now + Duration::from_micros(rng.below(60));
        mesh.run(until, |_| false);
    }
    // In a third of the runs a link dies, or a card starts anew.
    let harm = rng.below(6);
    let (a, b) = (rng.below(n as u64 - 1) as usize, n - 1);
    match harm {
        0 => mesh.cut.push((a, b)),
        1 => {
            let epoch = 1 + rng.below(1 << 20) as u32;
            mesh.cards[a].0 = Sequencer::new(mesh.now, config(n, a, epoch));
            bug(&mut mesh.cards[a].0);
        }
        _ => {}
    }
    let ends: usize = works.iter().map(|w| w.members.len()).sum();
    mesh.run(Instant::ZERO + Duration::from_secs(2), |m| m.ended.len() == ends);
    for work in &works {
        let harmed = match harm {
            0 => work.members.contains(&a) && work.members.contains(&b),
            1 => work.members.contains(&a),
            _ => false,
        };
        if !harmed {
            work.check_all(&mut mesh)?;
            continue;
        }
        for (rank, card) in work.members.iter().enumerate() {
            match mesh.ended.get(&(*card, work.id)) {
                // What was on the card that started anew is gone; everybody else hears of an end within the time.
                None if harm == 1 && *card == a => {}
                None => return Err(format!("seed {seed}: rank {rank} of {:?} has no end", work.operation)),
                Some((_, report)) if report.cause.is_none() => work.check(&mut mesh, rank)?,
                Some((at, report)) => {
                    assert!(*at <= Instant::ZERO + Duration::from_millis(501), "seed {seed}: {report:?}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn under_faults_all_bytes_are_right_or_there_is_a_cause() {
    let seeds: u64 = std::env::var("RACKLOOM_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        seeded(seed, false, |_| {}).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// The check at the end of frames is what keeps flipped bits out.
#[test]
fn cards_that_take_damaged_frames_are_found() {
    let found = (0..100).find(|seed| {
        let run = || seeded(*seed, true, |_| {});
        std::panic::catch_unwind(run).map_or(true, |result| result.is_err())
    });
    assert!(found.is_some());
}

#[test]
fn every_bit_is_right_at_a_rate_of_errors_that_damages_every_fifth_frame() {
    let operation = Operation { kind: Kind::Allreduce, count: 1 << 18, datatype: Datatype::I32, op: Op::Sum, root: 0 };
    let members = [0, 1, 2, 3];
    let memory = Work::bytes(&operation, &members, Use::All) as usize;
    let mut mesh = Mesh::new(4, memory, 5, Faults { flip_every: 50_000, ..Faults::default() });
    let work = Work::begin(&mut mesh, operation, (&members, Use::All), PRIVATE, 1, 1);
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == 4);
    work.check_all(&mut mesh).unwrap();
    assert!(mesh.damaged > 500, "{}", mesh.damaged);
}

#[cfg(feature = "planted-bugs")]
#[test]
fn each_planted_bug_is_found() {
    use PlantedBug::{EarlyCompletion, LostReady, LostSignal, WeakWait, WrongGroup};
    use rackloom_collective::PlantedBug;
    changes_what_it_has_sent(|s| s.plant(WeakWait)).unwrap_err();
    assert!(three_signals(|s| s.plant(LostSignal)).ended.len() < 2);
    for bug in [WrongGroup, EarlyCompletion, LostReady] {
        let found = (0..100).find(|seed| {
            let run = || seeded(*seed, false, |s| s.plant(bug));
            std::panic::catch_unwind(run).map_or(true, |result| result.is_err())
        });
        assert!(found.is_some(), "{bug:?}");
    }
}

#[test]
fn an_order_other_than_that_of_ranks_is_seen() {
    let operation = Operation { kind: Kind::Allreduce, count: 99, datatype: Datatype::F32, op: Op::Sum, root: 0 };
    let mut given = inputs(&operation, 4, 1);
    let want = oracle(&operation, &given, 0);
    given.swap(1, 3);
    assert_ne!(oracle(&operation, &given, 0), want, "so a swap would have failed the other tests");
}

/// A program changes a long message as soon as a wait says that it has come; the receiver takes it later.
fn changes_what_it_has_sent(bug: impl Fn(&mut Sequencer)) -> Result<(), String> {
    let (sent, other, length) = (PRIVATE + 4096, PRIVATE + (64 << 10), 20_000);
    let mut mesh = Mesh::new(2, 1 << 18, 3, Faults::default());
    bug(&mut mesh.cards[0].0);
    mesh.cards[0].1.write(other, &[7; 20_000]).unwrap();
    let put = Command::Put { link: port(0, 1), tag: 0, addr: sent, length };
    let change = Command::Copy { from: other, to: sent, length };
    mesh.start(0, 1, PRIVATE, &[put, Command::Wait, change], (7, 1), 50);
    mesh.run(Instant::ZERO + Duration::from_millis(1), |_| false);
    let take = Command::Take { link: port(1, 0), tag: 0, addr: other, length };
    mesh.start(1, 1, PRIVATE, &[take, Command::Wait], (7, 1), 50);
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == 2);
    let mut has = vec![0; length as usize];
    mesh.cards[1].1.read(other, &mut has).unwrap();
    if has.iter().all(|byte| *byte == 0xee) { Ok(()) } else { Err("bytes of after the wait were sent".into()) }
}

#[test]
fn who_changes_what_it_has_sent_waits_until_it_has_come() {
    changes_what_it_has_sent(|_| {}).unwrap();
}

/// Cards at barriers that come one after the other: signals go while those before them are not answered, two at most.
/// Both are kept, and taken in whatever order.
fn three_signals(bug: impl Fn(&mut Sequencer)) -> Mesh {
    let signal = |tag| Command::Put { link: port(0, 1), tag, addr: PRIVATE, length: 0 };
    let take = |tag| Command::Take { link: port(1, 0), tag, addr: PRIVATE, length: 0 };
    let mut mesh = Mesh::new(2, 1 << 16, 3, Faults::default());
    bug(&mut mesh.cards[1].0);
    let puts: Vec<_> = (0..3).map(signal).collect();
    mesh.start(0, 1, PRIVATE, &puts, (7, 1), 50);
    mesh.run(Instant::ZERO + Duration::from_millis(1), |_| false);
    assert_eq!(mesh.data[&(0, 1)], 2);
    mesh.start(1, 1, PRIVATE, &[take(1), take(0), take(2)], (7, 1), 50);
    mesh.run(Instant::ZERO + Duration::from_millis(2), |_| false);
    mesh
}

#[test]
fn two_signals_are_under_way_and_a_third_one_waits() {
    let mut mesh = three_signals(|_| {});
    assert!([0, 1].iter().all(|card| mesh.ended[&(*card, 1)].1.cause.is_none()), "{:?}", mesh.ended);
    // Nor does a signal go beside a message of bytes, or such a one beside a signal.
    for (id, length) in [(2, [8, 0]), (3, [0, 8])] {
        let put = |tag: u16| Command::Put { link: port(0, 1), tag, addr: PRIVATE, length: length[usize::from(tag)] };
        let before = mesh.data[&(0, 1)];
        mesh.start(0, id, PRIVATE, &[put(0), put(1)], (7, id as u32), 5);
        let until = mesh.now + Duration::from_millis(10);
        mesh.run(until, |_| false);
        assert_eq!((mesh.data[&(0, 1)] - before, mesh.ended[&(0, id)].1.command), (1, 1));
    }
}

#[test]
fn a_cut_link_fails_its_groups_alone_and_in_time() {
    let operation = Operation { kind: Kind::Allgather, count: 40_000, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    let mut mesh = Mesh::new(4, 1 << 20, 7, Faults::default());
    mesh.cut.push((0, 1));
    let dead = Work::begin(&mut mesh, operation, (&[0, 1], Use::All), PRIVATE, 1, 1);
    let well = Work::begin(&mut mesh, operation, (&[0, 2, 3], Use::All), PRIVATE + (512 << 10), 2, 2);
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == 5);
    well.check_all(&mut mesh).unwrap();
    for card in [0, 1] {
        let (at, report) = mesh.ended[&(card, dead.id)];
        assert_eq!((report.cause, report.link), (Some(Cause::LinkDead), port(card, 1 - card)));
        assert_eq!((report.takes, report.total), (1 << report.link, 40_000), "who waits for whom");
        assert!(at <= Instant::ZERO + Duration::from_millis(60), "{at:?}");
    }
}

/// A life that ends between a program's launch and its Go counts for it; for one that is launched later it does not.
#[test]
fn who_was_expected_before_a_neighbour_began_a_new_life_fails_when_it_is_started() {
    let mut mesh = Mesh::new(3, 1 << 20, 7, Faults::default());
    let take = |link| [Command::Take { link, tag: 0, addr: PRIVATE, length: 8 }, Command::Wait];
    let (to_1, to_2) = (port(0, 1), port(0, 2));
    let operation = Operation { kind: Kind::Barrier, count: 0, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    Work::begin(&mut mesh, operation, (&[0, 1, 2], Use::All), PRIVATE + 8192, 1, 1);
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == 3);
    (10..13).for_each(|id| mesh.cards[0].0.expect(id));
    let now = mesh.now;
    mesh.cards[1].0.reset(now);
    let mut end_of = |id, link, at| {
        mesh.start(0, id, at, &take(link), (5, id as u32), 20);
        mesh.run(mesh.now + Duration::from_secs(1), |m| m.ended.contains_key(&(0, id)));
        let report = mesh.ended[&(0, id)].1;
        (report.cause, report.link)
    };
    // One has the card learn it.
    assert_eq!(end_of(10, to_1, PRIVATE + 4096), (Some(Cause::Restarted), to_1));
    assert_eq!(end_of(11, to_1, PRIVATE + 4096), (Some(Cause::Restarted), to_1));
    assert_eq!(end_of(12, to_2, PRIVATE + 4096), (Some(Cause::Timeout), 0), "the other neighbour is as it was");
    assert_eq!(end_of(13, to_1, PRIVATE + 4096), (Some(Cause::Timeout), 0), "that was before");
}

#[test]
fn hostile_programs_fail_with_a_cause_and_harm_nobody() {
    let (put, addr) = (|link, addr, length| Command::Put { link, tag: 0, addr, length }, PRIVATE);
    let end = PRIVATE + (1 << 20);
    let cases = [
        (put(1, 0, 8), Cause::BadAddress),
        (put(1, end - 4, 8), Cause::BadAddress),
        (put(1, u64::MAX, 8), Cause::BadAddress),
        (put(0, addr, 8), Cause::BadAddress),
        (put(9, addr, 8), Cause::BadAddress),
        (put(255, addr, 8), Cause::BadAddress),
        (Command::Take { link: 1, tag: 0, addr: 4096, length: 1 }, Cause::BadAddress),
        (Command::Copy { from: addr, to: PRIVATE - 1, length: 2 }, Cause::BadAddress),
        (
            Command::Reduce { op: Op::Sum, datatype: Datatype::I64, from: addr, to: end - 8, count: 2 },
            Cause::BadAddress,
        ),
        (Command::Copy { from: addr, to: addr + 7, length: 8 }, Cause::BadAddress),
        (Command::Copy { from: addr + (100 << 10), to: addr, length: (100 << 10) + 1 }, Cause::BadAddress),
        (
            Command::Reduce { op: Op::Sum, datatype: Datatype::I64, from: addr + 8, to: addr, count: 2 },
            Cause::BadAddress,
        ),
        (Command::Survey { to: end - 8 }, Cause::BadAddress),
        (Command::Take { link: 2, tag: 0, addr, length: 1 }, Cause::Timeout),
    ];
    for (command, cause) in cases {
        let mut mesh = Mesh::new(3, 1 << 20, 7, Faults::default());
        mesh.start(0, 77, PRIVATE + 4096, &[command, Command::Wait], (5, 5), 20);
        let operation = Operation { kind: Kind::Allreduce, count: 500, datatype: Datatype::I32, op: Op::Max, root: 0 };
        let work = Work::begin(&mut mesh, operation, (&[0, 1, 2], Use::All), PRIVATE + 8192, 1, 1);
        mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == 4);
        work.check_all(&mut mesh).unwrap();
        assert_eq!(mesh.ended[&(0, 77)].1.cause, Some(cause), "{command:?}");
    }
    let mut mesh = Mesh::new(2, 1 << 20, 7, Faults::default());
    mesh.cards[0].1.write(PRIVATE, &[0xff; 32]).unwrap();
    let (sequencer, ddr) = &mut mesh.cards[0];
    let start = Start { program: PRIVATE, commands: 1, limit: Duration::from_secs(1), group: 1, sequence: 1 };
    sequencer.start(Instant::ZERO, 1, start, ddr).unwrap();
    for commands in [4097, u64::MAX] {
        assert!(sequencer.start(Instant::ZERO, 2, Start { commands, ..start }, ddr).is_err());
    }
    assert!(sequencer.start(Instant::ZERO, 2, Start { program: 64, ..start }, ddr).is_err());
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| !m.ended.is_empty());
    assert_eq!(mesh.ended[&(0, 1)].1.cause, Some(Cause::BadCommand));
}

/// A card outside a group knows all about it, and sends a card in it messages that are like the group's.
#[test]
fn a_stranger_moves_no_card_to_send_and_changes_nothing() {
    let members = [0, 1, 2, 3];
    let operation = Operation { kind: Kind::Alltoall, count: 9000, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    let run = |is_alone: bool| {
        let mut mesh = Mesh::new(6, 1 << 20, 7, Faults::default());
        if !is_alone {
            // To a card of the group, and to one that runs no program.
            for (id, to) in [(77, 1), (78, 5)] {
                let put = |tag| Command::Put { link: port(4, to), tag, addr: PRIVATE, length: 9000 };
                let puts: Vec<_> = (0..4).map(put).chain([Command::Wait]).collect();
                mesh.start(4, id, PRIVATE + (id << 12), &puts, (1 << 20, 1), 100);
            }
        }
        let work = Work::begin(&mut mesh, operation, (&members, Use::Ring), PRIVATE, 1, 1);
        mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == if is_alone { 4 } else { 6 });
        work.check_all(&mut mesh).unwrap();
        mesh
    };
    let (alone, beside) = (run(true), run(false));
    assert!(alone.data[&(1, 0)] > 7, "more than a block of its own: {:?}", alone.data);
    let of_group =
        |mesh: &Mesh| mesh.data.iter().filter(|((from, _), _)| *from != 4).map(|(k, n)| (*k, *n)).collect::<Vec<_>>();
    assert_eq!(of_group(&alone), of_group(&beside));
    assert!([77, 78].iter().all(|id| beside.ended[&(4, *id)].1.cause == Some(Cause::Timeout)));
}

#[test]
fn frames_of_noise_are_counted_and_have_no_effect() {
    let mut rng = Rng::new(9);
    let operation = Operation { kind: Kind::Alltoall, count: 20_000, datatype: Datatype::I8, op: Op::Sum, root: 0 };
    let mut mesh = Mesh::new(2, 1 << 20, 7, Faults::default());
    let work = Work::begin(&mut mesh, operation, (&[0, 1], Use::All), PRIVATE, 1, 1);
    for round in 0..2000u64 {
        let mut frame = vec![0; 40 + rng.below(80) as usize];
        frame.iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
        frame[6] &= !1;
        frame[12..16].copy_from_slice(&[0x88, 0xb5, 0x10, 1 + (round % 8) as u8]);
        let length = frame.len().saturating_sub(64) as u16;
        frame[16..18].copy_from_slice(&length.to_be_bytes());
        let (sequencer, ddr) = &mut mesh.cards[0];
        sequencer.handle_frame(mesh.now, 1 + (round % 3) as u8, &frame.into(), ddr);
        sequencer.check_invariants();
        assert!(sequencer.bytes() <= 8 * (16 << 10));
    }
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == 2);
    // Noise may pass for another life of the neighbour: then there is a cause.
    for (rank, (_, report)) in mesh.ended.clone().values().enumerate() {
        if report.cause.is_none() {
            work.check(&mut mesh, rank).unwrap();
        }
    }
    assert_eq!(mesh.ended.len(), 2);
}

#[test]
fn a_survey_names_every_neighbour_that_answers() {
    let mut mesh = Mesh::new(4, 1 << 16, 7, Faults { loss: 100, ..Faults::default() });
    mesh.cut.push((0, 2));
    mesh.start(0, 1, PRIVATE, &[Command::Survey { to: PRIVATE + 4096 }], (0, 0), 400);
    mesh.run(Instant::ZERO + Duration::from_secs(1), |m| m.ended.len() == 1);
    assert_eq!(mesh.ended[&(0, 1)].1.cause, None);
    let mut table = vec![0; SURVEY_BYTES as usize];
    mesh.cards[0].1.read(PRIVATE + 4096, &mut table).unwrap();
    let rows: Vec<_> = table.chunks(16).map(|row| (row[5], row[6], row[7])).collect();
    assert_eq!(rows[..4], [(0, 0, 0), (1, 1, 1), (0, 0, 0), (3, 1, 1)]);
}
