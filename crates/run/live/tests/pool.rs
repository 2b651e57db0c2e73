//! Many nodes on few threads.

mod nodes;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;
use std::time::Duration;

use nodes::{Echo, Ticker, mac};
use rackloom_live::{Clock, Driver, Pool, Stopped, Switch};
use rackloom_node::{Frame, Instant, Node, Output, Port};

const LONG: Duration = Duration::from_secs(60);

fn pool(threads: usize) -> (Pool, Clock) {
    let clock = Clock::start();
    (Pool::new(NonZeroUsize::new(threads).unwrap(), clock).unwrap(), clock)
}

#[test]
fn sixty_four_pairs_play_ping_pong_on_two_threads() {
    let (pool, _) = pool(2);
    let switch = Switch::default();
    let (tell, told) = channel();
    let members: Vec<_> = (0..128)
        .map(|n| {
            let tell = tell.clone();
            let port = switch.attach(&format!("card-{n}")).unwrap();
            pool.add(Echo::server(mac(n)), port, move |done| tell.send(done).unwrap())
        })
        .collect();
    for n in 0..64u16 {
        members[usize::from(n)].with(move |node, _| node.start(mac(n + 64), 200, 300, 4)).unwrap();
    }
    let mut done: Vec<_> = (0..64).map(|_| told.recv_timeout(LONG).unwrap().0).collect();
    done.sort_unstable();
    assert_eq!(done, (0..64).map(mac).collect::<Vec<_>>());
}

#[test]
fn a_pool_and_a_driver_meet_on_a_switch() {
    let (pool, clock) = pool(1);
    let switch = Switch::default();
    let _card = pool.add(Echo::server(mac(2)), switch.attach("card").unwrap(), |_| {});
    let (tell, told) = channel();
    let port = switch.attach("host").unwrap();
    let host = Driver::spawn(Echo::server(mac(1)), port, clock, move |done| tell.send(done).unwrap()).unwrap();
    host.with(|node, _| node.start(mac(2), 9014, 20_000, 256)).unwrap();
    told.recv_timeout(LONG).unwrap();
}

#[test]
fn nodes_that_always_want_more_share_a_thread_evenly_and_starve_nobody() {
    let (pool, clock) = pool(1);
    let switch = Switch::default();
    let greedy = || Ticker::new(Duration::ZERO, u64::MAX, Duration::from_micros(100));
    let counts: Vec<_> = (0..8).map(|_| Arc::new(AtomicU64::new(0))).collect();
    let add = |(i, count): (usize, &Arc<AtomicU64>)| {
        let count = count.clone();
        pool.add(greedy(), switch.attach(&format!("greedy-{i}")).unwrap(), move |(tick, _)| count.store(tick, Relaxed))
    };
    let _members: Vec<_> = counts.iter().enumerate().map(add).collect();
    let (tell, told) = channel();
    let modest = Ticker::new(Duration::from_millis(10), 20, Duration::ZERO);
    let _modest = pool.add(modest, switch.attach("modest").unwrap(), move |tick| tell.send(tick).unwrap());
    let first = told.recv_timeout(LONG).unwrap().1;
    // Only what they do while all are there.
    let snapshot = || counts.iter().map(|count| count.load(Relaxed)).collect::<Vec<_>>();
    let before = snapshot();
    for _ in 1..20 {
        told.recv_timeout(LONG).unwrap();
    }
    assert!(clock.now().saturating_since(first) >= Duration::from_millis(150));
    let ticks: Vec<_> = snapshot().iter().zip(before).map(|(after, before)| after - before).collect();
    let (least, most) = (*ticks.iter().min().unwrap(), *ticks.iter().max().unwrap());
    assert!(least > 10, "{ticks:?}");
    assert!(most <= least + least / 2 + 20, "{ticks:?}");
}

#[test]
fn deadlines_of_idle_nodes_are_kept_without_spinning() {
    let (pool, _) = pool(2);
    let switch = Switch::default();
    let (tell, told) = channel();
    let members: Vec<_> = (1..=20)
        .map(|i| {
            let tell = tell.clone();
            let node = Ticker::new(Duration::from_millis(i), 10, Duration::ZERO);
            let sink = move |(n, at): (u64, Instant)| tell.send((i, n, at)).unwrap();
            pool.add(node, switch.attach(&format!("t{i}")).unwrap(), sink)
        })
        .collect();
    for _ in 0..200 {
        let (i, n, at) = told.recv_timeout(LONG).unwrap();
        assert!(at >= Instant::from_nanos((n - 1) * i * 1_000_000), "node {i}: tick {n} came early, at {at:?}");
    }
    for (i, m) in (1..).zip(&members) {
        let turns = m.counters().turns;
        assert!(turns < 60, "node {i} took {turns} turns for 10 ticks");
    }
}

#[test]
fn nodes_come_and_go_while_others_run() {
    let (pool, _) = pool(2);
    let switch = Switch::default();
    let (tell, told) = channel();
    let server = pool.add(Echo::server(mac(1)), switch.attach("server").unwrap(), |_| {});
    for round in 0..200u16 {
        let tell = tell.clone();
        let port = switch.attach("client").unwrap();
        let client = pool.add(Echo::server(mac(100 + round)), port, move |done| tell.send(done).unwrap());
        client.with(|node, _| node.start(mac(1), 60, 20, 3)).unwrap();
        assert_eq!(told.recv_timeout(LONG).unwrap().0, mac(100 + round));
        if round % 2 == 0 {
            assert_eq!(client.remove().mac, mac(100 + round));
        } // Else it is dropped.
    }
    assert_eq!(server.remove().mac, mac(1));
    assert_eq!(switch.stats().ports.len(), 0, "the cables went with the nodes");
}

#[test]
fn a_removed_node_in_the_middle_of_its_work_is_whole() {
    let (pool, _) = pool(2);
    let switch = Switch::default();
    for _ in 0..50 {
        let node = Ticker::new(Duration::ZERO, u64::MAX, Duration::from_micros(50));
        let member = pool.add(node, switch.attach("x").unwrap(), |_| {});
        std::thread::sleep(Duration::from_micros(300));
        let node = member.remove();
        let ticks = node.ticks;
        std::thread::sleep(Duration::from_micros(300));
        assert_eq!(node.ticks, ticks);
    }
}

/// Panics when told to.
struct Bug(bool);

impl Node for Bug {
    type Event = ();
    fn handle_frame(&mut self, _: Instant, _: Port, _: Frame) {}
    fn handle_timeout(&mut self, _: Instant) {}
    fn poll(&mut self, _: Instant) -> Option<Output<()>> {
        assert!(!self.0, "the bug");
        None
    }
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

#[test]
fn a_node_that_panics_stops_alone() {
    let (pool, _) = pool(1);
    let switch = Switch::default();
    let bug = pool.add(Bug(false), switch.attach("bug").unwrap(), |()| {});
    let (tell, told) = channel();
    let other = pool.add(Echo::server(mac(1)), switch.attach("a").unwrap(), move |done| tell.send(done).unwrap());
    let _echo = pool.add(Echo::server(mac(2)), switch.attach("b").unwrap(), |_| {});
    bug.with(|node, _| node.0 = true).unwrap();
    other.with(|node, _| node.start(mac(2), 60, 100, 1)).unwrap();
    told.recv_timeout(LONG).unwrap();
    assert_eq!(bug.with(|_, _| ()), Err(Stopped));
    let panic = catch_unwind(AssertUnwindSafe(|| bug.remove())).err().expect("its panic is passed on");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the bug"));
}

#[test]
fn when_the_pool_goes_its_members_give_their_nodes_back() {
    let (pool, _) = pool(2);
    let switch = Switch::default();
    let member = pool.add(Echo::server(mac(1)), switch.attach("a").unwrap(), |_| {});
    drop(pool);
    assert_eq!(member.with(|_, _| ()), Err(Stopped));
    assert_eq!(member.remove().mac, mac(1));
}
