//! A role that goes on while no kernel runs: it has memory, reports what it does, and ends when it must.

use rackloom_card::CardEvent;
use rackloom_node::Duration;
use rackloom_wire::{CardState, ErrorCode, Kind};

use crate::bench::{BASE, Bench, HOST, MEMORY, Out};
use crate::{Specimen, images};

/// Kernels of the role `copy`.
const COPY: u64 = 0;
const WORK: u64 = 1;
const ROUNDS: u64 = 2;
const STOP: u64 = 3;

/// Where an array comes from and goes to.
const FROM: u64 = BASE + (64 << 10);
const TO: u64 = BASE + (256 << 10);
/// Words of an array: not a whole number of the memory's bursts.
const WORDS: u64 = 8 * 37;
/// Cycles after which a kernel that never ends is ended.
const BOUND: u64 = 100_000;

/// A card with the role `copy`, and an array in its memory.
fn with_copy<S: Specimen>() -> (Bench<S>, Vec<u8>) {
    let mut bench = Bench::<S>::claimed();
    bench.load(1, rackloom_builtin_roles::image("copy").expect("it is built in"));
    let data: Vec<u8> = (0..8 * WORDS).map(|i| (i * 7 + i / 256) as u8).collect();
    for (seq, at) in (1..).zip((0..data.len()).step_by(1024)) {
        bench.write(seq, FROM + at as u64, &data[at..data.len().min(at + 1024)]);
    }
    bench.pass_ms(1);
    bench.clear();
    (bench, data)
}

/// Runs a kernel to its end; what it returned, if it did not fail.
fn run<S: Specimen>(bench: &mut Bench<S>, seq: u32, kernel: u64, args: &[u64]) -> Result<u64, ErrorCode> {
    bench.launch_with(seq, kernel, args, Out { fuel: BOUND, ..Out::default() });
    // As long as it takes: each moment beside a worker costs gateware thousands of cycles.
    let end = bench.now + Duration::from_millis(1);
    while bench.now < end && !bench.sent.iter().any(|sent| sent.head.kind == Kind::ResultDone) {
        bench.pass(Duration::from_micros(20));
    }
    let done = bench.last(Kind::ResultDone);
    assert_eq!(done.head.seq, seq);
    bench.ack(seq, 0, 0, &[]);
    bench.sent.clear();
    match done.code() {
        ErrorCode::Ok => Ok(done.body::<rackloom_wire::Done>().value.get()),
        code => Err(code),
    }
}

/// The worker begins, and goes on until it is stopped.
fn begin_without_end<S: Specimen>(bench: &mut Bench<S>) {
    bench.restless = true;
    assert_eq!(run(bench, 1, WORK, &[FROM, TO, WORDS, 0]), Ok(1));
}

/// The words that the role has reported since the last look.
fn reported<S: Specimen>(bench: &mut Bench<S>) -> Vec<u64> {
    let events = core::mem::take(&mut bench.events);
    let word = |event| if let CardEvent::RoleEvent { word } = event { Some(word) } else { None };
    events.into_iter().filter_map(word).collect()
}

/// A kernel that reads at one port of the memory and writes at another.
pub fn an_array_is_copied<S: Specimen>() {
    let (mut bench, data) = with_copy::<S>();
    // Within a page of memory, and across pages that begin elsewhere.
    for (seq, (words, to)) in (1..).zip([(WORDS, TO), (8, TO + 8192 - 64), (WORDS - 8, TO + 64 * 61), (0, TO)]) {
        let before = bench.bytes(to + 8 * words, 64);
        assert_eq!(run(&mut bench, seq, COPY, &[FROM, to, words]), Ok(0));
        assert_eq!(bench.bytes(to, 8 * words as usize), data[..8 * words as usize]);
        assert_eq!(bench.bytes(to + 8 * words, 64), before);
    }
    // No whole beats, the role's own memory, and none.
    for (seq, args) in (5..).zip([[FROM, TO, 7], [FROM + 8, TO, 8], [FROM, 0, 8], [FROM, MEMORY, 8], [1 << 40, TO, 8]])
    {
        assert_eq!(run(&mut bench, seq, COPY, &args), Err(ErrorCode::KernelTrap), "{args:x?}");
    }
    assert!(reported(&mut bench).is_empty());
}

/// The worker has memory while no kernel runs and while others do, and each of its events is reported, in order.
pub fn a_worker_goes_on_beside_kernels<S: Specimen>() {
    let (mut bench, data) = with_copy::<S>();
    assert_eq!(run(&mut bench, 1, WORK, &[FROM, TO, WORDS, 5]), Ok(1));
    assert_eq!(run(&mut bench, 2, COPY, &[FROM, TO + 65536, WORDS]), Ok(0));
    bench.pass_ms(1);
    assert_eq!(reported(&mut bench), [1, 2, 3, 4, 5]);
    assert_eq!(bench.bytes(TO, data.len()), data);
    assert_eq!(bench.bytes(TO + 65536, data.len()), data);
    // It begins again, counting on.
    assert_eq!(run(&mut bench, 3, ROUNDS, &[]), Ok(5));
    assert_eq!(run(&mut bench, 4, WORK, &[FROM, TO, 8, 2]), Ok(1));
    bench.pass_ms(1);
    assert_eq!(reported(&mut bench), [6, 7]);
    bench.settle();
}

/// Without an end it goes on until a kernel stops it.
pub fn a_worker_without_end_is_stopped_by_a_kernel<S: Specimen>() {
    let (mut bench, _) = with_copy::<S>();
    begin_without_end(&mut bench);
    bench.pass(Duration::from_micros(200));
    assert_eq!(run(&mut bench, 2, WORK, &[FROM, TO, 8, 1]), Ok(0), "it works");
    let rounds = run(&mut bench, 3, STOP, &[]).expect("it is no error");
    bench.restless = false;
    bench.settle();
    let events = reported(&mut bench);
    assert!(events.len() > 2 && [rounds, rounds + 1].contains(&(events.len() as u64)), "{rounds}, {events:?}");
    assert!(events.iter().zip(1..).all(|(&word, n)| word == n), "{events:?}");
}

/// The next image finds nothing of it.
pub fn a_load_ends_a_worker<S: Specimen>() {
    let (mut bench, _) = with_copy::<S>();
    begin_without_end(&mut bench);
    bench.load(2, &images::probe(2, 0));
    bench.restless = false;
    bench.settle();
    reported(&mut bench);
    bench.write(4, TO, &[9; 64]);
    bench.pass_ms(2);
    assert!(reported(&mut bench).is_empty());
    assert_eq!((bench.bytes(TO, 64), bench.state()), (vec![9; 64], CardState::Active));
}

/// A worker that leaves the memory is as if it had never been, without a kernel that could be told so; the next runs.
pub fn a_worker_that_goes_wrong_is_ended<S: Specimen>() {
    let (mut bench, data) = with_copy::<S>();
    let end = MEMORY - 4096;
    assert_eq!(run(&mut bench, 1, WORK, &[FROM, end, 8 * 65, 0]), Ok(1));
    bench.settle();
    assert!(reported(&mut bench).is_empty());
    assert_eq!((bench.owner(), bench.state()), (Some(HOST), CardState::Active));
    assert_eq!(run(&mut bench, 2, COPY, &[FROM, TO, WORDS]), Ok(0));
    assert_eq!(bench.bytes(TO, data.len()), data);
    assert_eq!(run(&mut bench, 3, ROUNDS, &[]), Ok(0));
}

/// The next owner finds a role that does nothing, in memory that stays as it is.
pub fn a_worker_ends_with_its_claim<S: Specimen>() {
    let (mut bench, data) = with_copy::<S>();
    begin_without_end(&mut bench);
    bench.claim(HOST, 2);
    bench.restless = false;
    bench.settle();
    reported(&mut bench);
    bench.write(1, TO, &[9; 64]);
    bench.pass_ms(2);
    assert!(reported(&mut bench).is_empty());
    assert_eq!(bench.bytes(TO, 64), [9; 64]);
    assert_eq!(run(&mut bench, 1, ROUNDS, &[]), Ok(0), "as good as new");
    assert_eq!(run(&mut bench, 2, COPY, &[FROM, TO, WORDS]), Ok(0));
    assert_eq!(bench.bytes(TO, data.len()), data);
}
