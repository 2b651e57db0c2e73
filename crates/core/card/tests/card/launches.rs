//! Launches: each once, in order, and how they end.

use rackloom_card::{CardEvent, Config, Pace};
use rackloom_node::{Duration, Node};
use rackloom_wire::{CardState, Counter, Done, ErrorCode, Kind};

use crate::bench::{BASE, Bench, Out, config};
use crate::native::{COUNT, SLICE, SLOW, TRAP};

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
    assert_eq!(bench.expect(Kind::ResultRefused).code(), ErrorCode::UnknownLaunch);
    assert_eq!((bench.word(BASE), bench.count(Counter::Launches)), (1, 1));
    assert_eq!((bench.count(Counter::DropDuplicate), bench.count(Counter::KernelsDone)), (10, 1));
    let started = CardEvent::LaunchStarted { epoch: bench.epoch, seq: 1, kernel: 0 };
    assert_eq!(bench.events.iter().filter(|e| **e == started).count(), 1);
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
        assert_eq!(bench.expect(Kind::ResultRefused).code(), ErrorCode::UnknownLaunch);
        assert_eq!(bench.word(BASE), 1);
    }
}
