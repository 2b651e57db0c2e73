//! Nodes, each on the thread of its driver.

mod nodes;

use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant as StdInstant};

use nodes::{Done, Echo, Ticker, mac};
use rackloom_live::segment::{SegmentClient, SegmentPath, SegmentServer};
use rackloom_live::{Clock, Driver, Stopped, Switch, SwitchConfig, Wire};
use rackloom_node::{Frame, Instant, Node, Output, Port, Rng};

const LONG: Duration = Duration::from_secs(60);

fn echo<W: Wire + 'static>(n: u16, wire: W, clock: Clock) -> (Driver<Echo>, Receiver<Done>) {
    let (tell, told) = channel();
    let driver = Driver::spawn(Echo::server(mac(n)), wire, clock, move |done| tell.send(done).unwrap()).unwrap();
    (driver, told)
}

#[test]
fn two_nodes_play_ping_pong() {
    let (switch, clock) = (Switch::default(), Clock::start());
    let (a, done) = echo(1, switch.attach("a").unwrap(), clock);
    let (b, _) = echo(2, switch.attach("b").unwrap(), clock);
    let began = clock.now();
    a.with(|node, _| node.start(mac(2), 60, 2000, 1)).unwrap();
    let Done(who, at) = done.recv_timeout(LONG).unwrap();
    assert_eq!(who, mac(1));
    assert!(at > began && at <= clock.now());
    a.stop().unwrap();
    assert_eq!(b.stop().unwrap().mac, mac(2));
}

#[test]
fn both_ways_at_once_through_tiny_queues_neither_deadlocks_nor_loses() {
    // Each node's answers and questions fill the other's queue: if a node with a full wire did not listen, both would
    // wait until the stall bound; with an endless bound, for ever.
    let config = SwitchConfig { queue_frames: 4, stall: Duration::from_secs(3600), ..SwitchConfig::default() };
    let (switch, clock) = (Switch::new(config), Clock::start());
    let (a, a_done) = echo(1, switch.attach("a").unwrap(), clock);
    let (b, b_done) = echo(2, switch.attach("b").unwrap(), clock);
    a.with(|node, _| node.start(mac(2), 9014, 20_000, 500)).unwrap();
    b.with(|node, _| node.start(mac(1), 1514, 20_000, 500)).unwrap();
    a_done.recv_timeout(LONG).unwrap();
    b_done.recv_timeout(LONG).unwrap();
    assert!(a.counters().tx_full > 0 && b.counters().tx_full > 0);
}

#[test]
fn a_node_runs_across_processes_segments() {
    let dir = tempfile::tempdir().unwrap();
    let path = SegmentPath::under(&dir.path().join("run"), "x").unwrap();
    let server = SegmentServer::spawn(path.clone(), Switch::default(), 4).unwrap();
    let clock = Clock::start();
    let (a, done) = echo(1, SegmentClient::connect(&path).unwrap(), clock);
    let (b, _) = echo(2, SegmentClient::connect(&path).unwrap(), clock);
    a.with(|node, _| node.start(mac(2), 9014, 5000, 200)).unwrap();
    done.recv_timeout(LONG).unwrap();
    // The segment goes down: both nodes stop, and say why.
    drop(server);
    assert!(done.recv_timeout(LONG).is_err(), "the sink is dropped");
    let deadline = StdInstant::now() + LONG;
    while !(a.is_stopped() && b.is_stopped()) {
        assert!(StdInstant::now() < deadline);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(a.with(|_, _| ()), Err(Stopped));
    assert_eq!(a.stop().err().unwrap().kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn deadlines_are_kept_and_time_never_goes_back() {
    let clock = Clock::start();
    let (tell, told) = channel();
    let ticker = Ticker::new(Duration::from_millis(5), 20, Duration::ZERO);
    let wire = Switch::default().attach("x").unwrap();
    let driver = Driver::spawn(ticker, wire, clock, move |tick| tell.send(tick).unwrap()).unwrap();
    let ticks: Vec<_> = (0..20).map(|_| told.recv_timeout(LONG).unwrap()).collect();
    for (i, &(n, at)) in ticks.iter().enumerate() {
        assert_eq!(n, i as u64 + 1);
        assert!(at >= Instant::from_nanos(i as u64 * 5_000_000), "tick {n} came early, at {at:?}");
    }
    assert!(ticks.windows(2).all(|w| w[0].1 <= w[1].1));
    // It sleeps in between: a turn for each tick and some to spare, not a busy loop.
    let turns = driver.counters().turns;
    assert!(turns < 100, "{turns} turns");
}

/// Checks the law: polled until `None` after each input, unless the wire is full.
struct Lawful {
    owed: bool,
    full: Arc<AtomicBool>,
    outputs: u32,
    inputs: Arc<AtomicU32>,
}

impl Lawful {
    fn input(&mut self) {
        assert!(!self.owed || self.full.load(SeqCst), "an input before polling was over");
        self.owed = true;
        self.inputs.fetch_add(1, SeqCst);
        self.outputs += 3;
    }
}

impl Node for Lawful {
    type Event = ();
    fn handle_frame(&mut self, _: Instant, _: Port, _: Frame) {
        self.input();
    }
    fn handle_timeout(&mut self, _: Instant) {
        self.input();
    }
    fn poll(&mut self, _: Instant) -> Option<Output<()>> {
        assert!(!self.full.load(SeqCst), "polled while the wire is full");
        if self.outputs == 0 {
            self.owed = false;
            return None;
        }
        self.outputs -= 1;
        Some(Output::Transmit(0, Frame::from_static(&[7; 60])))
    }
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// A wire that is often full, gives frames now and then, and ends once all that could be sent was sent.
struct Moody {
    full: Arc<AtomicBool>,
    rng: Rng,
    waits: u32,
    sent: u32,
}

impl Wire for Moody {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        let n = if self.rng.chance(0.4) { frames.len() } else { self.rng.below(frames.len() as u64 + 1) as usize };
        self.full.store(n < frames.len(), SeqCst);
        self.sent += n as u32;
        Ok(n)
    }
    fn recv(&mut self, deadline: Option<StdInstant>, out: &mut Vec<Frame>) -> io::Result<()> {
        self.waits += 1;
        if self.waits > 5000 && !self.full.load(SeqCst) && deadline.is_none() {
            // The node sleeps with nothing left to say: each input's three frames must be out.
            return Err(io::Error::other(self.sent.to_string()));
        }
        if self.waits <= 5000 && self.rng.chance(0.5) {
            out.extend(vec![Frame::from_static(&[9; 60]); self.rng.below(256) as usize]);
        }
        Ok(())
    }
    fn mtu(&self) -> usize {
        1500
    }
    fn waker(&self) -> Waker {
        Waker::noop().clone()
    }
}

#[test]
fn the_law_is_kept_on_a_wire_that_is_often_full() {
    let (full, inputs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let node = Lawful { owed: false, full: Arc::clone(&full), outputs: 0, inputs: Arc::clone(&inputs) };
    let wire = Moody { full, rng: Rng::new(1), waits: 0, sent: 0 };
    let driver = Driver::spawn(node, wire, Clock::start(), |()| {}).unwrap();
    while !driver.is_stopped() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let counters = driver.counters();
    let sent: u32 = driver.stop().err().unwrap().to_string().parse().unwrap();
    let inputs = inputs.load(SeqCst);
    assert!(inputs > 1000, "{inputs}");
    assert_eq!(sent, inputs * 3, "every frame was sent exactly once");
    assert_eq!(counters.tx_frames, u64::from(sent));
    assert!(counters.tx_full > 100);
}

/// Waits for the node in its sink, once; says whether that was refused, and on which thread.
fn waits_in_the_sink(driven_by_a_waiter: bool) {
    let (tell, told) = channel();
    let slot = Arc::new(OnceLock::<Driver<Ticker>>::new());
    let inside = Arc::clone(&slot);
    let seen = Arc::new(AtomicBool::new(false));
    let told_in_sink = Arc::clone(&seen);
    let ticker = Ticker::new(Duration::from_millis(50), 1, Duration::ZERO);
    let wire = Switch::default().attach("x").unwrap();
    let sink = move |_| {
        let driver = inside.wait();
        let caught = [
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| driver.with(|_, _| ()).is_ok())),
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                driver.wait(None, || false, |_| ());
                true
            })),
        ];
        tell.send((std::thread::current().id(), caught.map(|result| result.is_err()))).unwrap();
        told_in_sink.store(true, SeqCst);
    };
    slot.set(Driver::spawn(ticker, wire, Clock::start(), sink).unwrap()).unwrap();
    if driven_by_a_waiter {
        slot.wait().wait(None, || seen.load(SeqCst), |_| panic!("another thread drives"));
    }
    let (thread, refused) = told.recv_timeout(LONG).unwrap();
    assert_eq!(refused, [true; 2]);
    assert_eq!(thread == std::thread::current().id(), driven_by_a_waiter);
    // The node goes on.
    slot.wait().with(|_, _| ()).unwrap();
}

#[test]
fn waiting_for_the_node_in_its_own_sink_is_a_bug_that_is_told() {
    waits_in_the_sink(false);
}

#[test]
fn waiting_for_the_node_in_its_own_sink_is_told_also_to_a_waiter() {
    waits_in_the_sink(true);
}
