//! Launches: each once, in order, and how they end.

use rackloom_wire::{
    CardState, Counter, Done, ErrorCode, Head, Kind, LAUNCH_QUEUE, MacAddr, RESULTS_KEPT, Refusal, WRITE_WINDOW,
};

use crate::bench::{BASE, Bench, CLAIM_GROUP, HOST, MEMORY, Out, RIVAL, launch_payload};
use crate::images::kernel::{BUMP, COUNT, SPIN, TRAP};
use crate::{Specimen, images};

fn go<S: Specimen>(bench: &mut Bench<S>, number: u32) {
    let head = Head { dst: MacAddr::group(CLAIM_GROUP), epoch: CLAIM_GROUP, ..bench.head(Kind::ExecGo, number, 0) };
    bench.frame(head.frame(&[]));
}

fn refused<S: Specimen>(bench: &mut Bench<S>, seq: u32) -> (ErrorCode, u64) {
    let no = bench.expect(Kind::ResultRefused);
    assert_eq!((no.head.dst, no.head.seq), (HOST, seq));
    (no.code(), no.body::<Refusal>().detail.get())
}

fn held(go: u32) -> Out {
    Out { go, ..Out::default() }
}

/// Exactly once, whatever the network repeats.
pub fn a_launch_runs_once_however_often_it_comes<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    for _ in 0..5 {
        bench.launch_with(1, BUMP, &[BASE, 10], held(1));
        assert_eq!(bench.expect(Kind::ResultAccepted).head.seq, 1);
    }
    go(&mut bench, 1);
    bench.pass_ms(1);
    let done = bench.expect(Kind::ResultDone);
    assert_eq!((done.code(), done.body::<Done>().value.get()), (ErrorCode::Ok, 1));
    for _ in 0..5 {
        bench.launch(1, BUMP, &[BASE, 10]);
        assert_eq!(bench.expect(Kind::ResultDone).head.seq, 1);
    }
    bench.ack(1, 0, 0, &[]);
    bench.launch(1, BUMP, &[BASE, 10]);
    assert_eq!(refused(&mut bench, 1).0, ErrorCode::UnknownLaunch);
    assert_eq!((bench.word(BASE), bench.count(Counter::Launches)), (1, 1));
    assert_eq!((bench.count(Counter::DropDuplicate), bench.count(Counter::KernelsDone)), (10, 1));
}

/// The next number, and no other.
pub fn launches_are_taken_in_order_and_run_in_order<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch(2, BUMP, &[BASE, 1]);
    bench.expect_nothing();
    assert_eq!(bench.count(Counter::DropWindow), 1);
    bench.launch(1, BUMP, &[BASE, 1]);
    bench.launch(2, BUMP, &[BASE, 1]);
    bench.pass_ms(1);
    let done: Vec<_> = bench.take_all(Kind::ResultDone);
    let told: Vec<_> = done.iter().map(|d| (d.head.seq, d.body::<Done>().value.get())).collect();
    assert_eq!(told, [(1, 1), (2, 2)]);
    bench.launch(0, BUMP, &[BASE, 1]);
    assert_eq!(bench.last(Kind::ResultRefused).code(), ErrorCode::UnknownLaunch);
}

/// A launch sees what was written before it.
pub fn a_launch_follows_the_writes_before_it<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    for seq in 1..=8u32 {
        bench.hand(bench.head(Kind::InputWrite, seq, BASE).frame(&[&(u64::from(seq) * 100).to_le_bytes()]));
        let payload = launch_payload(&[BASE, 1], Out::default());
        bench.hand(bench.head(Kind::ExecLaunch, seq, BUMP).frame(&[&payload]));
        bench.pass_ms(1);
        assert_eq!(bench.last(Kind::ResultDone).body::<Done>().value.get(), u64::from(seq) * 100 + 1);
        assert_eq!(bench.word(BASE), u64::from(seq) * 100 + 1);
        bench.ack(seq, 0, 0, &[]);
    }
}

/// As a read does, a launch sees a write that waits for a gap to close.
pub fn a_launch_follows_a_write_that_waits_for_a_gap_to_close<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let number = WRITE_WINDOW - 8;
    for seq in 2..number {
        bench.write(seq, BASE + 8, &[1]);
    }
    for (seq, value) in [(1, 100u64), (number, 200)] {
        bench.hand(bench.head(Kind::InputWrite, seq, BASE).frame(&[&value.to_le_bytes()]));
    }
    let payload = launch_payload(&[BASE, 1], Out::default());
    bench.hand(bench.head(Kind::ExecLaunch, 1, BUMP).frame(&[&payload]));
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::ResultDone).body::<Done>().value.get(), 201);
}

/// An invalid launch is reported under its number, and never executed.
pub fn each_fault_has_its_reason_and_uses_its_number_up<S: Specimen>() {
    let mut none = Bench::<S>::claimed();
    none.launch(1, BUMP, &[BASE, 1]);
    assert_eq!(none.expect(Kind::ResultDone).code(), ErrorCode::NoRole);
    let mut bench = Bench::<S>::with_role();
    let out = |addr: u64, length: u64| Out { addr, length, ..Out::default() };
    let mut seq = 0;
    let mut case = |bench: &mut Bench<S>, kernel: u64, args: &[u64], out: Out| {
        seq += 1;
        bench.launch_with(seq, kernel, args, out);
        let done = bench.expect(Kind::ResultDone);
        assert_eq!(done.head.seq, seq);
        // A late copy, whatever it asks for, gets the same answer and executes nothing.
        bench.launch(seq, BUMP, &[BASE, 1]);
        assert_eq!(bench.expect(Kind::ResultDone).code(), done.code());
        done.code()
    };
    assert_eq!(case(&mut bench, COUNT as u64, &[], out(0, 0)), ErrorCode::UnknownKernel);
    assert_eq!(case(&mut bench, BUMP | 1 << 32, &[BASE, 1], out(0, 0)), ErrorCode::UnknownKernel);
    assert_eq!(case(&mut bench, u64::MAX, &[], out(0, 0)), ErrorCode::UnknownKernel);
    assert_eq!(case(&mut bench, BUMP, &[BASE], out(0, 0)), ErrorCode::BadArguments);
    assert_eq!(case(&mut bench, BUMP, &[1; 32], out(0, 0)), ErrorCode::BadArguments);
    for (addr, length) in [(0, 8), (BASE - 1, 8), (MEMORY - 7, 8), (MEMORY, 1), (u64::MAX, u64::MAX), (1 << 40, 8)] {
        assert_eq!(case(&mut bench, BUMP, &[BASE, 1], out(addr, length)), ErrorCode::BadAddress);
    }
    assert_eq!((bench.count(Counter::Refusals), bench.word(BASE)), (11, 0));
    bench.launch_with(12, BUMP, &[BASE, 1], out(MEMORY - 8, 8));
    bench.expect(Kind::ResultAccepted);
    let stale = Head { src: RIVAL, ..bench.head(Kind::ExecLaunch, 13, BUMP) };
    bench.frame(stale.frame(&[&launch_payload(&[BASE, 1], Out::default())]));
    let no = bench.last(Kind::ResultRefused);
    assert_eq!((no.head.dst, no.code()), (RIVAL, ErrorCode::StaleEpoch));
}

/// A card holds so much and says so.
pub fn the_queue_and_the_results_kept_are_bounded<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    for seq in 1..=LAUNCH_QUEUE {
        bench.launch_with(seq, BUMP, &[BASE, 1], held(1));
        bench.expect(Kind::ResultAccepted);
    }
    let next = LAUNCH_QUEUE + 1;
    bench.launch(next, BUMP, &[BASE, 1]);
    assert_eq!(refused(&mut bench, next), (ErrorCode::Busy, LAUNCH_QUEUE.into()));
    go(&mut bench, 1);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), u64::from(LAUNCH_QUEUE));
    bench.clear();
    for seq in next..=RESULTS_KEPT {
        bench.launch(seq, BUMP, &[BASE, 1]);
        bench.pass_ms(1);
    }
    bench.clear();
    bench.launch(RESULTS_KEPT + 1, BUMP, &[BASE, 1]);
    assert_eq!(refused(&mut bench, RESULTS_KEPT + 1), (ErrorCode::Busy, RESULTS_KEPT.into()));
    bench.ack(1, 0, 0, &[]);
    bench.launch(RESULTS_KEPT + 1, BUMP, &[BASE, 1]);
    bench.expect(Kind::ResultAccepted);
}

/// A rack starts together.
pub fn held_launches_start_together_with_their_go<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch_with(1, BUMP, &[BASE, 1], held(5));
    bench.launch(2, BUMP, &[BASE, 1]);
    bench.launch_with(3, BUMP, &[BASE, 1], held(6));
    bench.pass_ms(100);
    assert_eq!(bench.word(BASE), 0);
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

/// A kernel that fails is a result like another, and the role takes the next launch.
pub fn failures_are_reported_and_the_next_launch_runs<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch_with(1, TRAP, &[], Out { addr: BASE, length: 4096, credit: 8, ..Out::default() });
    bench.launch_with(2, SPIN, &[], Out { fuel: 3000, ..Out::default() });
    bench.launch_with(3, BUMP, &[BASE, 5000], Out { fuel: 100, ..Out::default() });
    bench.launch_with(4, BUMP, &[BASE, 5], Out { fuel: u64::MAX, ..Out::default() });
    bench.launch_with(5, BUMP, &[BASE, 5], Out { fuel: 0, ..Out::default() });
    bench.pass_ms(1);
    let done = bench.take_all(Kind::ResultDone);
    let codes: Vec<_> = done.iter().map(|d| d.code()).collect();
    use ErrorCode::{KernelFuel, KernelTrap, Ok};
    assert_eq!(codes, [KernelTrap, KernelFuel, KernelFuel, Ok, Ok]);
    // A kernel that failed has no output.
    assert_eq!(done[0].body::<Done>().chunks.get(), 0);
    assert!(bench.take_all(Kind::ResultData).is_empty());
    assert_eq!((bench.count(Counter::KernelsFailed), bench.count(Counter::KernelsDone)), (3, 2));
    let told: u64 = done.iter().map(|d| d.body::<Done>().cycles.get()).sum();
    assert_eq!(bench.count(Counter::KernelCycles), told);
    assert!(done.iter().all(|d| d.code() == KernelTrap || d.body::<Done>().cycles.get() > 0));
}

/// What is launched can be called off, before and while it runs.
pub fn a_launch_can_be_cancelled_wherever_it_is<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch_with(1, SPIN, &[], Out { fuel: 1 << 24, ..Out::default() });
    bench.launch_with(2, BUMP, &[BASE, 1], held(1));
    bench.launch(3, BUMP, &[BASE, 1]);
    assert_eq!(bench.state(), CardState::Running);
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
    assert_eq!((bench.word(BASE), bench.state()), (1, CardState::Active));
}

/// A host that was away learns what happened.
pub fn a_query_tells_what_became_of_a_launch<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch_with(1, BUMP, &[BASE, 1], held(4));
    bench.clear();
    bench.send(Kind::ExecQuery, 1, 0, &[]);
    bench.expect(Kind::ResultAccepted);
    go(&mut bench, 4);
    bench.pass_ms(1);
    bench.clear();
    bench.send(Kind::ExecQuery, 1, 0, &[]);
    bench.expect(Kind::ResultDone);
    bench.send(Kind::ExecQuery, 2, 0, &[]);
    assert_eq!(refused(&mut bench, 2).0, ErrorCode::UnknownLaunch);
}

/// A kernel that hangs is no reason not to load another image.
pub fn a_new_image_ends_what_runs_and_what_waits<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let image = images::probe(2, 0);
    bench.begin(2, &image, crate::bench::CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.launch_with(1, SPIN, &[], Out { fuel: 1 << 26, ..Out::default() });
    bench.launch(2, BUMP, &[BASE, 1]);
    bench.clear();
    bench.commit(7);
    bench.drain();
    let done: Vec<_> = bench.take_all(Kind::ResultDone).iter().map(|d| (d.head.seq, d.code())).collect();
    assert_eq!(done, [(1, ErrorCode::Cancelled), (2, ErrorCode::Cancelled)]);
    bench.pass_ms(1);
    assert_eq!((bench.active_digest(), bench.word(BASE)), (Some(*blake3::hash(&image).as_bytes()), 0));
    // Numbers go on where they were.
    bench.launch(3, BUMP, &[BASE, 1]);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 1);
}

/// Memory, claims and discovery go on beside a kernel that hangs, and the card is free when its owner is gone.
pub fn a_kernel_that_hangs_holds_nothing_up<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.launch_with(1, SPIN, &[], Out { fuel: 1 << 26, ..Out::default() });
    bench.write(1, BASE + 8, &[7; 8]);
    bench.read(1, BASE + 8, 8);
    assert_eq!(bench.last(Kind::InputConfirmReadData).payload, [7; 8]);
    assert_eq!((bench.owner(), bench.state()), (Some(HOST), CardState::Running));
    bench.claim(HOST, 2);
    assert_eq!(bench.state(), CardState::Active);
    bench.launch(1, BUMP, &[BASE, 1]);
    bench.pass_ms(1);
    assert_eq!((bench.word(BASE), bench.last(Kind::ResultDone).code()), (1, ErrorCode::Ok));
}
