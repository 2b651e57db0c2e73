//! Turns of workers that are threads, with real pages, sockets and leases.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::control::{self, FromWorker, Receiver, ToWorker};
use super::keeper::Life;
use super::lease::{Lease, LeaseHolder, Slice};
use super::lease_client::LeaseClient;
use super::memory_quota::{Asker, WorkerQuota};
use super::shared_page::{LeaseState, SharedPage, WorkerCounters};
use super::worker_metrics::WorkerMetrics;
use crate::metrics::{BoardMetrics, Metrics, Source as _};
use crate::quota::{Account, Accounts, Purse as _, Quota, TenantLimits, TenantQuotas};
use crate::schedule::dispatcher::{Dispatcher, Holder as _, Job as _};
use crate::schedule::scheduler::{Policy, Share};
use crate::schedule::task::LeasedBoard as _;

fn holder(id: u64, page: &SharedPage) -> Arc<LeaseHolder> {
    holder_with(id, page, Duration::from_secs(60), Slice::PROCESSOR)
}

fn holder_with(id: u64, page: &SharedPage, stall_time: Duration, slice: Slice) -> Arc<LeaseHolder> {
    let page = Arc::new(SharedPage::open(page.file().try_clone_to_owned().unwrap()).unwrap());
    let (life, _) = Life::pair().unwrap(); // Nobody's.
    Arc::new(LeaseHolder::new(id, format!("w-{id}"), Share::default(), page, Arc::new(life), stall_time, slice))
}

/// Listens to a worker, as the manager does.
fn hear(control: &OwnedFd, holder: &Arc<LeaseHolder>, dispatcher: &Dispatcher<Lease>) {
    let mut receiver = Receiver::new();
    while let Some((word, _)) = receiver.next(control).unwrap() {
        match word {
            FromWorker::RequestBoard => dispatcher.submit(holder.request().expect("it asks once at a time")),
            FromWorker::ReturnBoard => holder.returned(),
            other => panic!("{other:?}"),
        }
    }
    holder.is_gone();
    dispatcher.forget(holder.id, || ());
}

fn metrics() -> BoardMetrics {
    Metrics::default().board("b")
}

/// Ends all tests if this one still runs after a minute: a thread that waits for a turn for ever cannot be stopped.
struct Patience(Arc<AtomicBool>);

impl Patience {
    fn new() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (watched, start) = (Arc::clone(&is_over), Instant::now());
        std::thread::spawn(move || {
            while !watched.load(Ordering::Relaxed) {
                if start.elapsed() > Duration::from_secs(60) {
                    eprintln!("a worker waits for the board forever");
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        Self(is_over)
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Random work of several workers: never two have the board, and none waits for ever.
#[test]
fn one_worker_has_the_board_at_a_time_and_each_gets_it() {
    const TASKS: u64 = 3000;
    let _patience = Patience::new();
    for policy in [Policy::Fair, Policy::Fifo] {
        let dispatcher = Dispatcher::new(policy, metrics());
        let (inside, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let board = scope.spawn(|| dispatcher.run());
            let workers: Vec<_> = (0..4_u64)
                .map(|id| {
                    let page = SharedPage::create().unwrap();
                    let holder = holder(id, &page);
                    let (here, there) = control::pair().unwrap();
                    let (dispatcher, inside, done) = (&dispatcher, &inside, &done);
                    scope.spawn(move || hear(&here, &holder, dispatcher));
                    scope.spawn(move || {
                        let (lease, metrics) = (LeaseClient::new(page, Arc::new(there)), metrics());
                        let mut random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(id + 1);
                        for _ in 0..TASKS {
                            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                            lease.acquire(&metrics);
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have the board");
                            (0..random >> 57).for_each(|_| std::hint::spin_loop());
                            inside.fetch_sub(1, Ordering::SeqCst);
                            lease.release(&metrics);
                            done.fetch_add(1, Ordering::Relaxed);
                            // Pauses of all sorts: a lease is taken back while its worker rests, begins or ends.
                            match random >> 61 {
                                0 => std::thread::yield_now(),
                                1 => std::thread::sleep(Duration::from_micros(random >> 56 & 63)),
                                _ => {}
                            }
                        }
                    })
                })
                .collect();
            let ends: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            dispatcher.stop();
            board.join().unwrap();
            assert!(ends.iter().all(Result::is_ok));
        });
        assert_eq!(done.into_inner(), 4 * TASKS);
    }
}

/// A worker that never rests, and one that comes now and then.
#[test]
fn who_has_the_board_gives_it_back_when_others_ask() {
    const TASKS: u32 = 200;
    let dispatcher = Dispatcher::new(Policy::Fair, metrics());
    let is_done = AtomicBool::new(false);
    let _patience = Patience::new();
    std::thread::scope(|scope| {
        let board = scope.spawn(|| dispatcher.run());
        let work = |id, more: &'static (dyn Fn(&AtomicBool, &mut u32) -> bool + Sync)| {
            let page = SharedPage::create().unwrap();
            let holder = holder(id, &page);
            let (here, there) = control::pair().unwrap();
            let (dispatcher, is_done) = (&dispatcher, &is_done);
            scope.spawn(move || hear(&here, &holder, dispatcher));
            scope.spawn(move || {
                let (lease, metrics, mut count) = (LeaseClient::new(page, Arc::new(there)), metrics(), 0);
                while more(is_done, &mut count) {
                    lease.acquire(&metrics);
                    lease.release(&metrics);
                }
                is_done.store(true, Ordering::Relaxed);
            })
        };
        let restless = work(0, &|is_done, count| {
            *count += 1;
            !is_done.load(Ordering::Relaxed)
        });
        let rare = work(1, &|_, count| {
            std::thread::sleep(Duration::from_micros(100));
            *count += 1;
            *count <= TASKS
        });
        let ends = [restless.join(), rare.join()];
        dispatcher.stop();
        board.join().unwrap();
        assert!(ends.iter().all(Result::is_ok));
    });
}

/// What a turn costs a worker that had the board while nobody wanted it.
#[test]
fn a_worker_pays_for_what_others_have_waited() {
    let page = SharedPage::create().unwrap();
    let holder = holder(1, &page);
    let cost_when = |prepare: &dyn Fn()| {
        let lease = holder.request().unwrap();
        let turn = std::thread::spawn(move || lease.run(&metrics(), false, &mut || None));
        page.wait();
        std::thread::sleep(Duration::from_millis(20));
        let wanted = Instant::now();
        prepare();
        let (cost, rest) = turn.join().unwrap();
        assert!(rest.is_none());
        (cost, wanted.elapsed().as_nanos() as u64)
    };
    let (idle, _) = cost_when(&|| {
        assert!(page.change(LeaseState::Busy, LeaseState::Idle));
        holder.wanted();
        assert!(!page.is_idle(), "it is taken back at once");
    });
    assert_eq!(idle, 0);
    let (busy, since_wanted) = cost_when(&|| {
        page.publish(&WorkerCounters { began: rackloom_opencl_wire::now_ns(), ..WorkerCounters::default() });
        holder.wanted();
        std::thread::sleep(Duration::from_millis(2));
        assert!(page.change(LeaseState::LastTask, LeaseState::NotHeld));
        holder.returned();
    });
    assert!((2_000_000..=since_wanted).contains(&busy), "the task that ran then, not the lease of 20 ms: {busy}");
    let (contended, _) = cost_when(&|| {
        assert!(page.change(LeaseState::Busy, LeaseState::NotHeld));
        holder.returned();
    });
    assert!(contended >= 20_000_000, "{contended}");
}

/// Others wanted the board when it had just returned it: the time until its next turn is not its own.
#[test]
fn a_worker_answers_for_the_time_of_its_turn_alone() {
    let page = SharedPage::create().unwrap();
    let stall_time = Duration::from_millis(500);
    let holder = holder_with(1, &page, stall_time, Slice::PROCESSOR);
    holder.wanted();
    std::thread::sleep(stall_time + Duration::from_millis(10));
    let lease = holder.request().unwrap();
    let turn = std::thread::spawn(move || lease.run(&metrics(), false, &mut || None));
    page.wait();
    std::thread::sleep(Duration::from_millis(20));
    assert!(!holder.was_overdue(), "it has had the board for 20 ms");
    assert!(page.change(LeaseState::LastTask, LeaseState::NotHeld));
    holder.returned();
    turn.join().unwrap();
}

/// Others wait all the time.
#[test]
fn a_quick_worker_keeps_the_board_for_a_slice_as_long_as_it_does_not_rest() {
    keeps_the_board_for(Slice::PROCESSOR);
    keeps_the_board_for(Slice::DEVICE);
}

fn keeps_the_board_for(slice: Slice) {
    let page = SharedPage::create().unwrap();
    let holder = holder_with(1, &page, Duration::from_secs(60), slice);
    let turn = |is_quick| {
        // Before the slice begins: this thread may be late when it is woken.
        let start = Instant::now();
        let lease = holder.request().unwrap();
        holder.wanted();
        let turn = std::thread::spawn(move || lease.run(&metrics(), is_quick, &mut || None).0);
        page.wait();
        (turn, start)
    };
    // On a machine that has much to do the slice may be over before this thread runs: then it tries again.
    let mut tries = 0;
    let resting = loop {
        let (resting, _) = turn(true);
        if page.change(LeaseState::Busy, LeaseState::Idle) {
            break resting;
        }
        assert!(page.change(LeaseState::LastTask, LeaseState::NotHeld));
        holder.returned();
        resting.join().unwrap();
        tries += 1;
        assert!(tries < 1000, "it may go on after its task");
    };
    let cost = resting.join().unwrap();
    assert!(!page.is_idle() && cost >= slice.rest_ns, "{cost}");
    // One that works takes it again at once; if this thread did not run in between, it has rested, and tries again.
    let mut counters = WorkerCounters::default();
    let elapsed = loop {
        let (working, start) = turn(true);
        loop {
            if page.change(LeaseState::LastTask, LeaseState::NotHeld) {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "a slice ends");
            // As a task does that ends: a worker that looks idle has worked nevertheless.
            counters.busy += 1;
            page.publish(&counters);
            if page.change(LeaseState::Busy, LeaseState::Idle) && !page.change(LeaseState::Idle, LeaseState::Busy) {
                break;
            }
        }
        holder.returned();
        if working.join().unwrap() >= slice.length_ns {
            break start.elapsed();
        }
        tries += 1;
        assert!(tries < 1000, "it keeps the board while it works");
    };
    assert!(elapsed >= Duration::from_nanos(slice.length_ns), "{elapsed:?}");
    let (slow, _) = turn(false);
    assert!(page.change(LeaseState::LastTask, LeaseState::NotHeld), "after one task");
    holder.returned();
    slow.join().unwrap();
}

/// One that neither returns the board nor ends.
#[test]
fn the_board_is_taken_from_a_worker_that_does_not_end() {
    let page = SharedPage::create().unwrap();
    let holder = holder_with(1, &page, Duration::from_millis(100), Slice::PROCESSOR);
    let lease = holder.request().unwrap();
    let turn = std::thread::spawn(move || lease.run(&metrics(), false, &mut || None));
    page.wait();
    let start = Instant::now();
    holder.wanted();
    turn.join().unwrap();
    assert!(holder.was_overdue() && start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// They change the state faster than the manager can look, as no worker of ours does. One that says that it rests may
/// lose the board for it, and one that never says so is ended.
#[test]
fn others_have_the_board_after_hostile_workers_that_flip_its_state() {
    for states in [[LeaseState::Busy, LeaseState::Idle], [LeaseState::Busy, LeaseState::LastTask]] {
        let page = SharedPage::create().unwrap();
        let holder = holder_with(1, &page, Duration::from_millis(100), Slice::PROCESSOR);
        let lease = holder.request().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|all| {
            let turn = all.spawn(move || lease.run(&metrics(), true, &mut || None));
            page.wait();
            all.spawn(|| (0..).take_while(|_| !is_over.load(Ordering::Relaxed)).for_each(|i| page.set(states[i % 2])));
            let start = Instant::now();
            holder.wanted();
            let (cost, _) = turn.join().unwrap();
            is_over.store(true, Ordering::Relaxed);
            assert!(start.elapsed() < Duration::from_secs(2), "{states:?}: {:?}", start.elapsed());
            assert!(holder.was_overdue() || states[1] == LeaseState::Idle && cost < 100_000_000, "{states:?}: {cost}");
        });
    }
}

#[test]
fn a_worker_cannot_ask_for_more_turns_than_it_can_have() {
    let page = SharedPage::create().unwrap();
    let holder = holder(1, &page);
    let first = holder.request();
    assert!(first.is_some() && holder.request().is_none() && holder.request().is_none());
}

#[test]
fn what_a_worker_says_that_it_did_is_told_once_and_within_reason() {
    let all = Metrics::default();
    let board = all.board("b");
    let page = SharedPage::create().unwrap();
    let counted = WorkerMetrics::new(holder(1, &page), board.clone(), board.tenant("t".to_owned()));
    let mut waits = ([0; 21], 700);
    waits.0[3] = 7;
    let counters = WorkerCounters { operations: 12, bytes_in: 4096, depth: 3, waits, ..WorkerCounters::default() };
    page.publish(&counters);
    std::thread::sleep(Duration::from_millis(5));
    counted.catch_up();
    counted.catch_up();
    assert_eq!((board.operations.get(), board.bytes_in.get(), board.depth.get()), (12, 4096, 3));
    assert_eq!(board.wait.counts(), waits);
    // Nonsense: more than there was time for, and less than before.
    page.publish(&WorkerCounters { operations: u64::MAX, busy: u64::MAX, depth: u64::MAX, began: 1, ..counters });
    std::thread::sleep(Duration::from_millis(5));
    counted.catch_up();
    assert!(board.operations.get() < 1 << 33);
    assert_eq!((board.busy.get(), board.task.counts().1), (0.0, 0), "it has never held the board");
    page.publish(&WorkerCounters::default());
    counted.catch_up();
    drop(counted);
    assert_eq!(board.depth.get(), 0);
    assert!(board.operations.get() < 1 << 33);
}

/// Counters of a worker that says it has used the board since the machine started, or for ever.
fn boasts() -> WorkerCounters {
    WorkerCounters { began: 1, busy: u64::MAX, tasks: ([0; 21], u64::MAX), ..WorkerCounters::default() }
}

#[test]
fn a_worker_that_lies_has_used_the_board_while_it_had_it() {
    let board = metrics();
    let page = SharedPage::create().unwrap();
    let holder = holder(1, &page);
    let counted = WorkerMetrics::new(Arc::clone(&holder), board.clone(), board.tenant("t".to_owned()));
    let turn = |says: &dyn Fn(), is_wanted: bool| {
        let before = board.busy.get();
        if is_wanted {
            holder.wanted();
        }
        let lease = holder.request().unwrap();
        let start = Instant::now();
        let turn = std::thread::spawn(move || lease.run(&metrics(), false, &mut || None));
        page.wait();
        says();
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(10));
            counted.catch_up();
        }
        page.set(LeaseState::NotHeld);
        holder.returned();
        turn.join().unwrap();
        let wall = start.elapsed().as_secs_f64();
        std::thread::sleep(Duration::from_millis(20));
        counted.catch_up();
        (board.busy.get() - before, wall)
    };
    let silent = || page.publish(&WorkerCounters::default());
    let (busy, _) = turn(&silent, false);
    assert_eq!(busy, 0.0, "nobody can know");
    let (busy, wall) = turn(&silent, true);
    assert!((0.045..=wall).contains(&busy), "others waited for {wall} s, and it says that it did nothing: {busy}");
    // Its counters change all the time: their version is odd.
    let unsettled = || assert_eq!(rustix::io::pwrite(page.file(), &7_u64.to_ne_bytes(), 8), Ok(8));
    let (busy, wall) = turn(&unsettled, true);
    assert!((0.045..=wall).contains(&busy), "{wall} s, and what it says cannot be read: {busy}");
    let (busy, wall) = turn(&|| page.publish(&boasts()), false);
    assert!((0.05..=wall).contains(&busy), "{wall} s, and it says for ever: {busy}");
    // A sum of seconds is rounded at each turn: both are compared in whole nanoseconds.
    let (tasks_ns, busy_ns) = (board.task.counts().1, (board.busy.get() * 1e9).round() as u64);
    assert!(tasks_ns <= busy_ns, "{tasks_ns} ns of tasks in {busy_ns} ns");
}

#[test]
fn a_board_is_never_used_for_longer_than_it_is_there() {
    const TURNS: u32 = 300;
    let _patience = Patience::new();
    let board = metrics();
    let dispatcher = Dispatcher::new(Policy::Fair, metrics());
    let start = Instant::now();
    let all: Vec<_> = (0..3)
        .map(|id| {
            let page = SharedPage::create().unwrap();
            let holder = holder(id, &page);
            let counted = WorkerMetrics::new(Arc::clone(&holder), board.clone(), board.tenant(format!("t-{id}")));
            (page, holder, counted)
        })
        .collect();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| dispatcher.run());
        let mut workers = Vec::new();
        let mut counting = Vec::new();
        for (page, holder, counted) in all {
            let (here, there) = control::pair().unwrap();
            let dispatcher = &dispatcher;
            scope.spawn(move || hear(&here, &holder, dispatcher));
            workers.push(scope.spawn(move || {
                let (lease, lies) = (LeaseClient::new(page, Arc::new(there)), metrics());
                for _ in 0..TURNS {
                    lies.busy.inc_by(1e6);
                    lease.acquire(&lies);
                    lease.release(&lies);
                }
            }));
            counting.push(counted);
        }
        while workers.iter().any(|worker| !worker.is_finished()) {
            counting.iter().for_each(WorkerMetrics::catch_up);
        }
        counting.iter().for_each(WorkerMetrics::catch_up);
        let (busy, wall) = (board.busy.get(), start.elapsed().as_secs_f64());
        dispatcher.stop();
        run.join().unwrap();
        assert!(busy > 0.0 && busy <= wall, "three say they used it without end: {busy} s in {wall} s");
    });
}

#[test]
fn a_quota_that_the_manager_keeps_is_one_for_all_workers() {
    let tenant = TenantQuotas::new(TenantLimits { memory: 1000, programs: 1000, objects: 9, registered: 0 });
    let accounts = Accounts { tenant, host: Quota::new(500), registered: Default::default() };
    let memory = |bytes| [(Account::Memory, bytes)];
    let (here, there) = control::pair().unwrap();
    std::thread::scope(|scope| {
        let kept = accounts.clone();
        scope.spawn(move || {
            let mut account = WorkerQuota::new(kept, 3);
            let mut receiver = Receiver::new();
            while let Some((word, _)) = receiver.next(&here).unwrap() {
                match word {
                    FromWorker::Charge(number, bill) => account.answer(&here, number, &bill).unwrap(),
                    FromWorker::GiveBack(number) => account.give(number),
                    other => panic!("{other:?}"),
                }
            }
        });
        let there = Arc::new(there);
        let (asker, taken) = Asker::new(Arc::clone(&there));
        let control = Arc::clone(&there);
        scope.spawn(move || {
            let mut receiver = Receiver::new();
            while let Some((ToWorker::Charged(was), _)) = receiver.next(&control).unwrap() {
                taken.send(was).unwrap();
            }
        });
        let first = asker.pay(&memory(600)).unwrap();
        assert!(asker.pay(&memory(401)).is_none());
        let others = accounts.pay(&memory(300)).unwrap();
        assert!(asker.pay(&memory(200)).is_none(), "another worker has it");
        drop(others);
        let second = asker.pay(&memory(200)).unwrap();
        let third = asker.pay(&memory(1)).unwrap();
        assert!(asker.pay(&memory(1)).is_none(), "more than it may have objects");
        drop((first, second, third));
        let arenas = |bytes| asker.pay(&[(Account::HostArenas, bytes)]);
        assert!(arenas(501).is_none() && arenas(500).is_some(), "the machine's is another one");
        std::mem::forget(asker.pay(&memory(1000)).expect("all is free"));
        rustix::net::shutdown(&*there, rustix::net::Shutdown::Both).unwrap();
    });
    assert!(accounts.host.take(500).is_some());
    assert!(accounts.pay(&memory(1000)).is_some(), "what a worker held is free when it has ended");
}
