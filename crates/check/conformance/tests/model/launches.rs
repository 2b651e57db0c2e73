//! Launches: events, exact time, the card's own bound, and slices.

use rackloom_card::{CardEvent, Config, Pace};
use rackloom_conformance::bench::{BASE, Out, launch_payload};
use rackloom_node::{Duration, Node};
use rackloom_wire::{CardState, Counter, Done, ErrorCode, Kind, Pong};

use crate::cards::{config, virtual_time, with_role};
use crate::native::{COUNT, SLICE, SLOW, TRAP};

#[test]
fn a_launch_that_comes_again_while_it_runs_starts_once() {
    let mut bench = with_role(virtual_time());
    for _ in 0..5 {
        bench.launch(1, COUNT, &[BASE]);
        assert_eq!(bench.expect(Kind::ResultAccepted).head.seq, 1);
    }
    bench.pass_ms(1);
    let started = CardEvent::LaunchStarted { epoch: bench.epoch, seq: 1, kernel: 0 };
    assert_eq!(bench.events.iter().filter(|e| **e == started).count(), 1);
    assert_eq!(bench.word(BASE), 1);
}

#[test]
fn no_launch_passes_the_cards_own_bound() {
    let mut bench = with_role(Config { fuel_max: 5 * SLICE, ..virtual_time() });
    bench.launch(1, TRAP, &[BASE]);
    for (seq, slices, fuel) in [(2, 4, 3 * SLICE), (3, 6, 0), (4, 6, u64::MAX), (5, 5, 0)] {
        bench.launch_with(seq, SLOW, &[BASE, slices], Out { fuel, ..Out::default() });
    }
    bench.pass_ms(1);
    let codes: Vec<_> = bench.take_all(Kind::ResultDone).iter().map(|d| d.code()).collect();
    use ErrorCode::{KernelFuel, KernelTrap, Ok};
    assert_eq!(codes, [KernelTrap, KernelFuel, KernelFuel, KernelFuel, Ok]);
    assert_eq!((bench.count(Counter::KernelsFailed), bench.count(Counter::KernelsDone)), (4, 1));
    assert_eq!(bench.count(Counter::KernelCycles), SLICE * (1 + 4 + 6 + 6 + 5));
}

#[test]
fn in_virtual_time_a_kernel_takes_its_cycles() {
    let mut bench = with_role(virtual_time());
    let asked = bench.now;
    // 1000 cycles of a 100 MHz role.
    bench.launch(1, SLOW, &[BASE, 10]);
    bench.launch(2, SLOW, &[BASE, 10]);
    assert_eq!(bench.card.state(), CardState::Running);
    bench.send(Kind::SessionPing, 8, 0, &[]);
    let pong: Pong = bench.last(Kind::SessionPong).body();
    assert_eq!((pong.queued, pong.state), (2, u8::from(CardState::Running)));
    assert_eq!(pong.uptime_ns.get(), asked.as_nanos());
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
    let mut bench = with_role(config(Pace::Live));
    let payload = launch_payload(&[BASE, 3], Out::default());
    bench.hand(bench.head(Kind::ExecLaunch, 1, SLOW).frame(&[&payload]));
    bench.take();
    bench.expect(Kind::ResultAccepted);
    for i in 0..3 {
        assert_eq!(bench.card.state(), CardState::Running, "{i}");
        bench.hand(bench.head(Kind::InputWrite, i + 1, BASE + 8).frame(&[&[1]]));
        bench.take();
        assert!(bench.card.next_deadline().is_some_and(|at| at <= bench.now), "it wants to go on at once");
        bench.card.handle_timeout(bench.now);
        bench.take();
    }
    assert_eq!(bench.card.state(), CardState::Active);
    assert_eq!(bench.expect(Kind::ResultDone).body::<Done>().cycles.get(), 3 * SLICE);
}

#[test]
fn live_a_launch_can_be_cancelled_wherever_it_is() {
    let mut bench = with_role(config(Pace::Live));
    bench.launch(1, SLOW, &[BASE, 1000]);
    bench.launch_with(2, COUNT, &[BASE], Out { go: 1, ..Out::default() });
    bench.launch(3, COUNT, &[BASE]);
    bench.clear();
    for seq in [2, 1] {
        bench.hand(bench.head(Kind::ExecCancel, seq, 0).frame(&[]));
        bench.take();
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
