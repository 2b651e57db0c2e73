//! Groups of whole cards under faults, in virtual time: gateware, alone and beside models, and models as they are.
//! Every byte is compared with a straightforward computation; what does not go well has a cause that names who.

mod harm;
#[path = "../../../../core/collective/tests/simulation/oracle.rs"]
mod oracle;
mod work;
mod yard;

use rackloom_collective::{Cause, Command, Datatype, Op, Operation};
use rackloom_node::{Duration, Rng};
use rackloom_rack::{Kind, Links};
use rackloom_wire::Scrub;

use harm::{HARMS, Harm};
use oracle::KINDS;
use work::{End, LIMIT, Work};
use yard::Yard;

/// Where programs of a test's own have their data: behind the room of all operations.
const DATA: u64 = 15 << 20;

fn draw(rng: &mut Rng, ranks: usize, counts: &[u64]) -> Operation {
    let kind = KINDS[rng.below(KINDS.len() as u64) as usize];
    let count = counts[rng.below(counts.len() as u64) as usize];
    let datatype = Datatype::ALL[rng.below(8) as usize];
    let ops: Vec<_> = Op::ALL.into_iter().filter(|op| op.takes(datatype)).collect();
    let op = ops[rng.below(ops.len() as u64) as usize];
    Operation { kind, count, datatype, op, root: rng.below(ranks as u64) as usize }
}

/// Two operations at once, of groups that share cards, and a harm while they are under way; then all cards work again.
/// How many ranks have failed.
fn round(yard: &mut Yard, rng: &mut Rng, kind: u64) -> Result<usize, String> {
    let all: Vec<_> = (0..yard.size()).collect();
    let mut works = Vec::new();
    while works.len() < 2 {
        let mut members = all.clone();
        while members.len() > 2 && rng.below(3) == 0 {
            members.remove(rng.below(members.len() as u64) as usize);
        }
        let operation = draw(rng, members.len(), &[0, 1, 65, 1000, 5000, 9000]);
        // On a ring not all are joined.
        works.extend(Work::prepare(yard, operation, &members, works.len() as u64, rng.next_u64()));
    }
    yard.pass(Duration::from_millis(1));
    let harm = Harm::draw(kind, rng, yard, &works[0]);
    for work in &works {
        work.go(yard);
        yard.pass(Duration::from_nanos(rng.below(30_000)));
    }
    let gone = harm.begin(yard, &works[0]);
    let harmed = yard.now();
    let mut failed = 0;
    for (number, work) in works.iter().enumerate() {
        let told = |what: &str| format!("{harm:?}, {:?} of {:?}: {what}", work.operation, work.members);
        let ends = work.end(yard).map_err(|why| told(&why))?;
        let (times, ends): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        if !harm.concerns(yard, work, number) && ends.iter().any(|end| *end != End::Well) {
            return Err(told(&format!("it has nothing to do with it: {ends:?}")));
        }
        for (rank, (end, at)) in ends.iter().zip(times).enumerate() {
            if !harm.explains(yard, work, &ends, rank) {
                return Err(told(&format!("rank {rank} has no reason: {ends:?}")));
            }
            if *end != End::Lost && at - harmed > harm.bound() {
                return Err(told(&format!("rank {rank} ends after {:?}: {ends:?}", at - harmed)));
            }
        }
        failed += ends.iter().filter(|end| **end != End::Well).count();
    }
    harm.end(yard, gone);
    work::survey(yard).map_err(|why| format!("after {harm:?}: {why}"))?;
    let operation = draw(rng, all.len(), &[100, 3000]);
    let work = Work::prepare(yard, operation, &all, 2, rng.next_u64()).expect("all are joined");
    yard.pass(Duration::from_millis(1));
    work.go(yard);
    let ends = work.end(yard).map_err(|why| format!("after {harm:?}: {why}"))?;
    if ends.iter().any(|(_, end)| *end != End::Well) {
        return Err(format!("after {harm:?}, {operation:?}: {ends:?}"));
    }
    Ok(failed)
}

/// A yard whose cables damage some frames, or none, and these harms, one after the other. How many frames were damaged,
/// and how many ranks have failed.
fn seeded(seed: u64, kinds: [Kind; 2], mut harms: impl Iterator<Item = u64>) -> (u64, usize) {
    let mut rng = Rng::new(seed ^ 0xfa17);
    let (cards, links) = [(3, Links::Full), (4, Links::Ring), (4, Links::Full)][rng.below(3) as usize].clone();
    let damaged = [0.0, 0.005, 0.02, 0.06][rng.below(4) as usize];
    let mut yard = Yard::new(kinds, cards, &links, seed, damaged);
    let failed = work::survey(&mut yard)
        .and_then(|()| harms.try_fold(0, |failed, kind| Ok::<_, String>(failed + round(&mut yard, &mut rng, kind)?)));
    (yard.damaged(), failed.unwrap_or_else(|why| panic!("seed {seed}, {kinds:?} on {links}: {why}")))
}

#[test]
fn models_end_well_or_with_a_cause_that_names_who() {
    let mut seen = (0, 0);
    for seed in 0..30 {
        let (damaged, failed) = seeded(seed, [Kind::Model; 2], 0..HARMS);
        seen = (seen.0 + damaged, seen.1 + failed);
    }
    assert!(seen.0 > 500 && seen.1 > 100, "{seen:?}");
}

/// All harms, of gateware beside models, and of gateware alone. `RACKLOOM_FAULT_SEEDS` says how many seeds, or which
/// (`7..9`), each of which is for all mixes of kinds; without it one is for the first. A seed takes minutes.
#[test]
fn gateware_ends_well_or_with_a_cause_that_names_who() {
    let beside = [Kind::Rtl, Kind::Model];
    let Ok(seeds) = std::env::var("RACKLOOM_FAULT_SEEDS") else {
        let (damaged, failed) = seeded(0, beside, 0..HARMS);
        assert!(damaged >= 24 && failed >= 5, "{damaged} frames were damaged, and {failed} ranks have failed");
        return;
    };
    let (from, to) = seeds.split_once("..").unwrap_or(("0", &seeds));
    let number = |text: &str| text.parse::<u64>().expect("a number");
    for seed in number(from)..number(to) {
        for kinds in [beside, [Kind::Model, Kind::Rtl], [Kind::Rtl; 2]] {
            let begun = std::time::Instant::now();
            let (damaged, failed) = seeded(seed, kinds, seed..seed + HARMS);
            let took = begun.elapsed();
            println!(
                "seed {seed}, {kinds:?}: {damaged} frames were damaged, {failed} ranks have failed; took {took:?}"
            );
        }
    }
}

/// Three cards that know each other, of each mix of kinds.
fn yards() -> impl Iterator<Item = Yard> {
    [[Kind::Model; 2], [Kind::Rtl; 2], [Kind::Rtl, Kind::Model]].into_iter().map(|kinds| {
        let mut yard = Yard::new(kinds, 3, &Links::Full, 1, 0.0);
        work::survey(&mut yard).unwrap();
        yard
    })
}

/// A program that fails before it has come to its last link: the card there, which waits for it, learns it.
#[test]
fn who_waits_for_a_program_that_fails_before_it_comes_to_that_link_learns_it() {
    for mut yard in yards() {
        let at = DATA;
        let (to_1, to_2) = (yard.port(0, 1), yard.port(0, 2));
        let take = Command::Take { link: to_1, tag: 0, addr: at, length: 8 };
        let put = Command::Put { link: to_2, tag: 0, addr: at, length: 8 };
        let first = [take, Command::Wait, put, Command::Wait];
        let from_0 = yard.port(2, 0);
        let second = [Command::Take { link: from_0, tag: 0, addr: at, length: 8 }, Command::Wait];
        let waits = work::start(&mut yard, 2, &second, 1, LIMIT);
        let fails = work::start(&mut yard, 0, &first, 1, Duration::from_millis(3));
        let (failed, report) = work::report(&mut yard, fails);
        assert_eq!((report.cause, report.takes), (Some(Cause::Timeout), 1 << to_1));
        let (ended, report) = work::report(&mut yard, waits);
        assert_eq!((report.cause, report.link), (Some(Cause::PeerFailed), from_0));
        assert!(ended < failed + Duration::from_millis(1), "{ended:?} after {failed:?}");
    }
}

/// A neighbour begins a new life while a program waits for another: when it comes to that neighbour, it fails at once.
#[test]
fn who_comes_to_a_neighbour_that_has_restarted_meanwhile_learns_it() {
    for mut yard in yards() {
        let at = DATA;
        let (to_1, to_2) = (yard.port(0, 1), yard.port(0, 2));
        let take = |link| Command::Take { link, tag: 0, addr: at, length: 8 };
        let later = work::start(&mut yard, 0, &[take(to_1), Command::Wait, take(to_2), Command::Wait], 1, LIMIT);
        let now = work::start(&mut yard, 0, &[take(to_2), Command::Wait], 2, LIMIT);
        yard.pass(Duration::from_millis(1));
        let mac = yard.mac(2);
        yard.command(|host, now| host.release(now, mac, Scrub::Keep));
        let (_, report) = work::report(&mut yard, now);
        assert_eq!((report.cause, report.link), (Some(Cause::Restarted), to_2));
        let put = Command::Put { link: yard.port(1, 0), tag: 0, addr: at, length: 8 };
        let put = work::start(&mut yard, 1, &[put, Command::Wait], 1, LIMIT);
        let (came, report) = work::report(&mut yard, put);
        assert_eq!(report.cause, None);
        let (ended, report) = work::report(&mut yard, later);
        assert_eq!((report.cause, report.link), (Some(Cause::Restarted), to_2));
        assert!(ended < came + Duration::from_millis(1), "{ended:?} after {came:?}");
    }
}

/// A neighbour begins a new life, and a put has it say so at once. Who was launched before relies on its last life,
/// whenever its Go comes: before the card knows of the new one, in the microseconds that it takes to begin a program
/// meanwhile, or after.
#[test]
fn who_was_launched_before_a_neighbour_began_a_new_life_learns_it_whenever_it_begins() {
    for mut yard in yards() {
        let to_2 = yard.port(0, 2);
        let put = Command::Put { link: to_2, tag: 0, addr: DATA, length: 8 };
        let take = Command::Take { link: to_2, tag: 0, addr: DATA, length: 8 };
        let mut programs = vec![vec![take, Command::Wait]; 8];
        programs[0] = vec![put, Command::Wait];
        let first = yard.gos + 1;
        let ops = work::hold_all(&mut yard, 0, &programs, |number| first + number);
        let mac = yard.mac(2);
        yard.command(|host, now| host.release(now, mac, Scrub::Keep));
        yard.pass(Duration::from_micros(500));
        let mut last = yard.now();
        for (go, wait_us) in (first..).zip([1, 1, 2, 3, 5, 10, 1000, 0]) {
            yard.command(|host, now| host.go(now, go));
            last = yard.now();
            yard.pass(Duration::from_micros(wait_us));
        }
        for (number, op) in ops.into_iter().enumerate() {
            let (ended, report) = work::report(&mut yard, op);
            assert_eq!((report.cause, report.link), (Some(Cause::Restarted), to_2), "program {number}: {report:?}");
            assert!(ended < last + Duration::from_millis(1), "program {number} ends at {ended:?} after {last:?}");
        }
    }
}

/// What a neighbour did before a program was launched is no fault of it, whether it waits for a Go or not.
#[test]
fn who_is_launched_after_a_neighbour_began_a_new_life_works_with_it() {
    for mut yard in yards() {
        let (to_2, to_0) = (yard.port(0, 2), yard.port(2, 0));
        let take = Command::Take { link: to_2, tag: 0, addr: DATA, length: 8 };
        let awaits = work::start(&mut yard, 0, &[take, Command::Wait], 1, LIMIT);
        yard.pass(Duration::from_millis(1));
        let mac = yard.mac(2);
        yard.command(|host, now| host.release(now, mac, Scrub::Keep));
        assert_eq!(work::report(&mut yard, awaits).1.cause, Some(Cause::Restarted));
        yard.claim(2);
        work::survey(&mut yard).unwrap();
        let go = yard.gos + 1;
        let takes = work::hold_all(&mut yard, 0, &[vec![take, Command::Wait]], |_| go);
        let put = Command::Put { link: to_0, tag: 0, addr: DATA, length: 8 };
        let puts = work::hold_all(&mut yard, 2, &[vec![put, Command::Wait]], |_| go);
        yard.command(|host, now| host.go(now, go));
        for op in [takes, puts].concat() {
            assert_eq!(work::report(&mut yard, op).1.cause, None);
        }
    }
}

/// A program may begin in the very place of one whose report is on its way to memory: each has its own end.
#[test]
fn programs_that_begin_while_others_end_have_their_own_ends() {
    for mut yard in yards().take(2) {
        let mut rng = Rng::new(5);
        for round in 0..12 {
            let lengths: Vec<_> = (0..6).map(|_| 1 + rng.below(190) as usize).collect();
            let programs: Vec<_> = lengths.iter().map(|length| vec![Command::Wait; *length]).collect();
            let ops = work::start_all(&mut yard, 0, &programs);
            for (op, length) in ops.into_iter().zip(lengths) {
                let (_, report) = work::report(&mut yard, op);
                assert_eq!((report.cause, report.command as usize), (None, length), "round {round}: {report:?}");
            }
        }
    }
}
