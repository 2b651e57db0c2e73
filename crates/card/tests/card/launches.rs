//! Launches: each once, in order, and how they end.

use rackloom_card::{CardEvent, Config, Pace};
use rackloom_node::{Duration, Node};
use rackloom_wire::{CardState, Counter, Done, ErrorCode, Head, Kind, LAUNCH_QUEUE, MacAddr, RESULTS_KEPT, Refusal};

use crate::bench::{BASE, Bench, CLAIM_GROUP, HOST, MEMORY, Out, RIVAL, config, launch_payload};
use crate::native::{COUNT, FILL, KERNELS, SLICE, SLOW, TRAP};

fn go(bench: &mut Bench, number: u32) {
    let head = Head { dst: MacAddr::group(CLAIM_GROUP), epoch: CLAIM_GROUP, ..bench.head(Kind::ExecGo, number, 0) };
    bench.frame(head.frame(&[]));
}

fn refused(bench: &mut Bench, seq: u32) -> (ErrorCode, u64) {
    let no = bench.expect(Kind::ResultRefused);
    assert_eq!((no.head.dst, no.head.seq), (HOST, seq));
    (no.code(), no.body::<Refusal>().detail.get())
}

#[test]
fn a_launch_runs_once_however_often_it_comes() {
    let mut bench = Bench::with_role();
    for _ in 0..5 {
        bench.launch(1, COUNT, &[BASE]);
        assert_eq!(bench.expect(Kind::ResultAccepted).head.seq, 1);
    }
    bench.pass_ms(1);
    let done = bench.expect(Kind::ResultDone);
    assert_eq!((done.code(), done.body::<Done>().value.get()), (ErrorCode::Ok, 1));
    for _ in 0..5 {
        bench.launch(1, COUNT, &[BASE]);
        assert_eq!(bench.expect(Kind::ResultDone).head.seq, 1);
    }
    bench.ack(1, 0, 0, true, &[]);
    bench.launch(1, COUNT, &[BASE]);
    assert_eq!(refused(&mut bench, 1).0, ErrorCode::UnknownLaunch);
    assert_eq!((bench.word(BASE), bench.count(Counter::Launches)), (1, 1));
    assert_eq!((bench.count(Counter::DropDuplicate), bench.count(Counter::KernelsDone)), (10, 1));
    let started = CardEvent::LaunchStarted { epoch: bench.epoch, seq: 1, kernel: 0 };
    assert_eq!(bench.events.iter().filter(|e| **e == started).count(), 1);
}

#[test]
fn launches_are_taken_in_order_and_run_in_order() {
    let mut bench = Bench::with_role();
    bench.launch(2, FILL, &[BASE, 8, 2]);
    bench.expect_nothing();
    assert_eq!(bench.count(Counter::DropWindow), 1);
    bench.launch(1, FILL, &[BASE, 8, 1]);
    bench.launch(2, FILL, &[BASE, 8, 2]);
    bench.pass_ms(1);
    let done: Vec<_> = bench.take_all(Kind::ResultDone).iter().map(|d| d.head.seq).collect();
    assert_eq!(done, [1, 2]);
    assert_eq!(bench.word(BASE) & 0xff, 2);
    bench.launch(0, COUNT, &[BASE]);
    assert_eq!(bench.take_all(Kind::ResultRefused)[0].code(), ErrorCode::UnknownLaunch);
}

#[test]
fn each_fault_has_its_reason_and_uses_its_number_up() {
    let mut none = Bench::claimed();
    none.launch(1, COUNT, &[BASE]);
    assert_eq!(none.expect(Kind::ResultDone).code(), ErrorCode::NoRole);
    let mut bench = Bench::with_role();
    let out = |addr: u64, length: u64| Out { addr, length, ..Out::default() };
    let mut seq = 0;
    let mut case = |bench: &mut Bench, kernel: u64, args: &[u64], out: Out| {
        seq += 1;
        bench.launch_with(seq, kernel, args, out);
        let done = bench.expect(Kind::ResultDone);
        assert_eq!(done.head.seq, seq);
        // A late copy, whatever it asks for, is told the same and executes nothing.
        bench.launch(seq, COUNT, &[BASE]);
        assert_eq!(bench.expect(Kind::ResultDone).code(), done.code());
        done.code()
    };
    assert_eq!(case(&mut bench, KERNELS as u64, &[], out(0, 0)), ErrorCode::UnknownKernel);
    assert_eq!(case(&mut bench, u64::MAX, &[], out(0, 0)), ErrorCode::UnknownKernel);
    assert_eq!(case(&mut bench, COUNT, &[], out(0, 0)), ErrorCode::BadArguments);
    assert_eq!(case(&mut bench, COUNT, &[1; 32], out(0, 0)), ErrorCode::BadArguments);
    for (addr, length) in [(0, 8), (BASE - 1, 8), (MEMORY - 7, 8), (MEMORY, 1), (u64::MAX, u64::MAX)] {
        assert_eq!(case(&mut bench, COUNT, &[BASE], out(addr, length)), ErrorCode::BadAddress);
    }
    assert_eq!((bench.count(Counter::Refusals), bench.word(BASE)), (9, 0));
    bench.launch_with(10, COUNT, &[BASE], out(MEMORY - 8, 8));
    bench.expect(Kind::ResultAccepted);
    let stale = Head { src: RIVAL, ..bench.head(Kind::ExecLaunch, 11, COUNT) };
    bench.frame(stale.frame(&[&launch_payload(&[BASE], Out::default())]));
    let no = bench.take_all(Kind::ResultRefused).pop().unwrap();
    assert_eq!((no.head.dst, no.code()), (RIVAL, ErrorCode::StaleEpoch));
}

#[test]
fn the_queue_and_the_results_kept_are_bounded() {
    let mut bench = Bench::with_role();
    for seq in 1..=LAUNCH_QUEUE {
        bench.launch(seq, SLOW, &[BASE, 10]);
        bench.expect(Kind::ResultAccepted);
    }
    let next = LAUNCH_QUEUE + 1;
    bench.launch(next, COUNT, &[BASE]);
    assert_eq!(refused(&mut bench, next), (ErrorCode::Busy, LAUNCH_QUEUE.into()));
    bench.pass_ms(1);
    bench.clear();
    for seq in next..=RESULTS_KEPT {
        bench.launch(seq, COUNT, &[BASE]);
        bench.pass_ms(1);
    }
    bench.clear();
    bench.launch(RESULTS_KEPT + 1, COUNT, &[BASE]);
    assert_eq!(refused(&mut bench, RESULTS_KEPT + 1), (ErrorCode::Busy, RESULTS_KEPT.into()));
    bench.ack(1, 0, 0, true, &[]);
    bench.launch(RESULTS_KEPT + 1, COUNT, &[BASE]);
    bench.expect(Kind::ResultAccepted);
}

#[test]
fn held_launches_start_together_with_their_go() {
    let mut bench = Bench::with_role();
    bench.launch_with(1, COUNT, &[BASE], Out { go: 5, ..Out::default() });
    bench.launch(2, COUNT, &[BASE]);
    bench.launch_with(3, COUNT, &[BASE], Out { go: 6, ..Out::default() });
    bench.pass_ms(100);
    assert_eq!((bench.word(BASE), bench.card.launches_queued()), (0, 3));
    let wrong = [
        Head { src: RIVAL, ..bench.head(Kind::ExecGo, 5, 0) },
        Head { epoch: CLAIM_GROUP + 1, ..bench.head(Kind::ExecGo, 5, 0) },
        bench.head(Kind::ExecGo, 5, 0),
    ];
    for head in wrong {
        let dst = MacAddr::group(CLAIM_GROUP);
        bench.frame(Head { dst, ..head }.frame(&[]));
    }
    assert_eq!((bench.word(BASE), bench.count(Counter::DropEpoch)), (0, 3));
    // One that is further behind may be let go first; it waits for its turn.
    go(&mut bench, 6);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 0);
    go(&mut bench, 5);
    go(&mut bench, 5);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 3);
}

#[test]
fn failures_are_reported_and_the_next_launch_runs() {
    let mut bench = Bench::with_role_and(Config { fuel_max: 5 * SLICE, ..config(Pace::Virtual) });
    bench.launch_with(1, TRAP, &[BASE], Out { addr: BASE, length: 4096, credit: 8, ..Out::default() });
    bench.launch_with(2, SLOW, &[BASE, 4], Out { fuel: 3 * SLICE, ..Out::default() });
    bench.launch(3, SLOW, &[BASE, 6]);
    bench.launch_with(4, SLOW, &[BASE, 6], Out { fuel: u64::MAX, ..Out::default() });
    bench.launch_with(5, SLOW, &[BASE, 5], Out { fuel: 0, ..Out::default() });
    bench.pass_ms(1);
    let done = bench.take_all(Kind::ResultDone);
    let codes: Vec<_> = done.iter().map(|d| d.code()).collect();
    use ErrorCode::{KernelFuel, KernelTrap, Ok};
    assert_eq!(codes, [KernelTrap, KernelFuel, KernelFuel, KernelFuel, Ok]);
    // A kernel that failed has no output.
    assert_eq!(done[0].body::<Done>().chunks.get(), 0);
    assert!(bench.take_all(Kind::ResultData).is_empty());
    assert_eq!((bench.count(Counter::KernelsFailed), bench.count(Counter::KernelsDone)), (4, 1));
    assert_eq!(bench.count(Counter::KernelCycles), SLICE * (1 + 4 + 6 + 6 + 5));
}

#[test]
fn in_virtual_time_a_kernel_takes_its_cycles() {
    let mut bench = Bench::with_role();
    let asked = bench.now;
    // 1000 cycles of a 100 MHz role.
    bench.launch(1, SLOW, &[BASE, 10]);
    bench.launch(2, SLOW, &[BASE, 10]);
    assert_eq!(bench.card.state(), CardState::Running);
    bench.pass_ms(1);
    bench.take_all(Kind::ResultAccepted);
    for i in 1..=2 {
        let done = bench.expect(Kind::ResultDone);
        let (from, to) = (asked + Duration::from_micros(10 * (i - 1)), asked + Duration::from_micros(10 * i));
        assert_eq!(done.at, to);
        let body: Done = done.body();
        assert_eq!((body.started_ns.get(), body.finished_ns.get()), (from.as_nanos(), to.as_nanos()));
        assert_eq!((body.cycles.get(), body.value.get()), (1000, 7));
    }
}

#[test]
fn live_frames_are_served_between_the_slices_of_a_kernel() {
    let mut bench = Bench::with_role_and(config(Pace::Live));
    bench.launch(1, SLOW, &[BASE, 3]);
    bench.expect(Kind::ResultAccepted);
    for i in 0..3 {
        assert_eq!(bench.card.state(), CardState::Running, "{i}");
        bench.write(i + 1, BASE + 8, &[1]);
        assert!(bench.card.next_deadline().is_some_and(|at| at <= bench.now), "it wants to go on at once");
        bench.card.handle_timeout(bench.now);
        bench.drain();
    }
    assert_eq!(bench.card.state(), CardState::Active);
    assert_eq!(bench.expect(Kind::ResultDone).body::<Done>().cycles.get(), 3 * SLICE);
}

#[test]
fn a_launch_can_be_cancelled_wherever_it_is() {
    for pace in [Pace::Live, Pace::Virtual] {
        let mut bench = Bench::with_role_and(config(pace));
        bench.launch(1, SLOW, &[BASE, 1000]);
        bench.launch_with(2, COUNT, &[BASE], Out { go: 1, ..Out::default() });
        bench.launch(3, COUNT, &[BASE]);
        bench.clear();
        for seq in [2, 1] {
            bench.send(Kind::ExecCancel, seq, 0, &[]);
            let done = bench.expect(Kind::ResultDone);
            assert_eq!((done.head.seq, done.code()), (seq, ErrorCode::Cancelled));
        }
        bench.pass_ms(1);
        let done = bench.expect(Kind::ResultDone);
        assert_eq!((done.head.seq, done.code()), (3, ErrorCode::Ok));
        // One that is done stays so; one that is not known is refused.
        bench.send(Kind::ExecCancel, 3, 0, &[]);
        assert_eq!(bench.expect(Kind::ResultDone).code(), ErrorCode::Ok);
        bench.send(Kind::ExecCancel, 9, 0, &[]);
        assert_eq!(refused(&mut bench, 9).0, ErrorCode::UnknownLaunch);
        assert_eq!(bench.word(BASE), 1);
    }
}

#[test]
fn a_query_tells_what_became_of_a_launch() {
    let mut bench = Bench::with_role();
    bench.launch(1, SLOW, &[BASE, 1000]);
    bench.clear();
    bench.send(Kind::ExecQuery, 1, 0, &[]);
    bench.expect(Kind::ResultAccepted);
    bench.pass_ms(2);
    bench.clear();
    bench.send(Kind::ExecQuery, 1, 0, &[]);
    bench.expect(Kind::ResultDone);
    bench.send(Kind::ExecQuery, 2, 0, &[]);
    assert_eq!(refused(&mut bench, 2).0, ErrorCode::UnknownLaunch);
}

#[test]
fn a_new_image_ends_what_runs_and_what_waits() {
    let mut bench = Bench::with_role();
    bench.launch(1, SLOW, &[BASE, 1 << 40]);
    bench.launch(2, COUNT, &[BASE]);
    bench.clear();
    bench.load(2, b"second", 0);
    let done: Vec<_> = bench.take_all(Kind::ResultDone).iter().map(|d| (d.head.seq, d.code())).collect();
    assert_eq!(done, [(1, ErrorCode::Cancelled), (2, ErrorCode::Cancelled)]);
    assert_eq!(bench.word(BASE), 0);
    // Numbers go on where they were.
    bench.launch(3, COUNT, &[BASE]);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 1);
}
