//! A node that is run by whoever waits for it.
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Waker;
use std::thread::ThreadId;
use std::time::{Duration, Instant as StdInstant};

use rackloom_live::{Clock, Driver, Stopped, Switch, Wire};
use rackloom_node::{Frame, Instant, Node, Output, Port};

/// Asks itself across a switch: each question comes back as an event, in order.
#[derive(Default)]
struct Asker {
    out: Vec<Frame>,
    heard: Vec<u32>,
}

impl Asker {
    fn ask(&mut self, number: u32) {
        let mut frame = vec![0; 60];
        frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
        frame[14..18].copy_from_slice(&number.to_be_bytes());
        self.out.push(frame.into());
    }
}

impl Node for Asker {
    type Event = u32;
    fn handle_frame(&mut self, _: Instant, _: Port, frame: Frame) {
        self.heard.push(u32::from_be_bytes(frame[14..18].try_into().unwrap()));
    }
    fn handle_timeout(&mut self, _: Instant) {}
    fn poll(&mut self, _: Instant) -> Option<Output<u32>> {
        if !self.out.is_empty() {
            return Some(Output::Transmit(0, self.out.remove(0)));
        }
        (!self.heard.is_empty()).then(|| Output::Event(self.heard.remove(0)))
    }
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// Answers of the node, and the thread that gave each.
#[derive(Default)]
struct Answers {
    by: Mutex<BTreeMap<u32, ThreadId>>,
    order: Mutex<Vec<u32>>,
    bell: Condvar,
}

impl Answers {
    fn has(&self, number: u32) -> bool {
        self.by.lock().unwrap().contains_key(&number)
    }
    fn sleep(&self, number: u32, deadline: Option<StdInstant>) {
        let mut by = self.by.lock().unwrap();
        while !by.contains_key(&number) && deadline.is_none_or(|at| at > StdInstant::now()) {
            by = self.bell.wait_timeout(by, Duration::from_millis(50)).unwrap().0;
        }
    }
}

struct Lab {
    driver: Driver<Asker>,
    answers: Arc<Answers>,
    echo: Option<std::thread::JoinHandle<()>>,
    switch: Switch,
}

impl Lab {
    fn new() -> Self {
        let switch = Switch::default();
        let answers = Arc::new(Answers::default());
        let theirs = Arc::clone(&answers);
        let sink = move |number| {
            theirs.order.lock().unwrap().push(number);
            theirs.by.lock().unwrap().insert(number, std::thread::current().id());
            theirs.bell.notify_all();
        };
        let wire = switch.attach("asker").unwrap();
        let driver = Driver::spawn(Asker::default(), wire, Clock::start(), sink).unwrap();
        let mut port = switch.attach("echo").unwrap();
        // A frame to nobody ends it.
        let echo = std::thread::spawn(move || {
            let mut frames = Vec::new();
            loop {
                port.recv(Some(StdInstant::now() + Duration::from_secs(60)), &mut frames).unwrap();
                for frame in frames.drain(..) {
                    if frame[0] == 4 {
                        return;
                    }
                    let mut back = frame.to_vec();
                    back[..6].copy_from_slice(&frame[6..12]);
                    back[6..12].copy_from_slice(&frame[..6]);
                    port.send(&[back.into()]).unwrap();
                }
            }
        });
        Self { driver, answers, echo: Some(echo), switch }
    }

    fn ask(&self, number: u32) {
        self.driver.post(move |node, _| node.ask(number)).unwrap();
    }

    fn wait(&self, number: u32) {
        self.driver.wait(None, || self.answers.has(number), |deadline| self.answers.sleep(number, deadline));
        assert!(self.answers.has(number), "{number}");
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let mut port = self.switch.attach("end").unwrap();
        let mut frame = vec![0; 60];
        frame[..12].copy_from_slice(&[4, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 9]);
        port.send(&[frame.into()]).unwrap();
        let _ = self.echo.take().unwrap().join();
    }
}

#[test]
fn whoever_waits_gets_the_answer_from_its_own_hands() {
    let lab = Lab::new();
    for number in 0..2000 {
        lab.ask(number);
        lab.wait(number);
    }
    let mine = std::thread::current().id();
    let by_me = lab.answers.by.lock().unwrap().values().filter(|id| **id == mine).count();
    // The driver's own thread gets some where this one has to wait for a processor; without the helm it gets all.
    assert!(by_me > 1000, "{by_me} of 2000");
}

#[test]
fn what_nobody_waits_for_is_done_all_the_same() {
    let lab = Lab::new();
    lab.ask(0);
    lab.wait(0);
    // The helm is free now, and comes back to the driver's thread by itself.
    for number in 1..20 {
        lab.ask(number);
        let until = StdInstant::now() + Duration::from_secs(5);
        while !lab.answers.has(number) {
            assert!(StdInstant::now() < until, "{number}");
            std::thread::sleep(Duration::from_micros(50));
        }
        std::thread::sleep(Duration::from_millis(u64::from(number % 3)));
    }
    lab.driver.attend();
}

#[test]
fn many_threads_wait_at_once_and_each_ones_order_is_kept() {
    let lab = Lab::new();
    std::thread::scope(|scope| {
        for thread in 0..6u32 {
            let lab = &lab;
            scope.spawn(move || {
                for round in 0..300 {
                    let first = thread << 16 | round << 4;
                    (0..3).for_each(|i| lab.ask(first + i));
                    lab.wait(first + 2);
                    if round % 7 == thread % 7 {
                        std::thread::sleep(Duration::from_micros(300));
                    }
                }
            });
        }
    });
    let order = lab.answers.order.lock().unwrap();
    assert_eq!(order.len(), 6 * 300 * 3);
    for thread in 0..6 {
        let own: Vec<_> = order.iter().filter(|number| *number >> 16 == thread).collect();
        assert!(own.is_sorted(), "of thread {thread}");
    }
}

#[test]
fn a_wait_ends_at_its_deadline_and_the_node_goes_on() {
    let lab = Lab::new();
    let started = StdInstant::now();
    let deadline = Some(started + Duration::from_millis(20));
    lab.driver.wait(deadline, || false, |_| unreachable!("nobody else waits"));
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(20) && took < Duration::from_secs(2), "{took:?}");
    assert_eq!(lab.driver.with(|node, _| node.heard.len()), Ok(0));
    lab.ask(1);
    lab.wait(1);
}

/// A wire that is gone after so many calls.
struct Fails(AtomicU64);

impl Wire for Fails {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        Ok(frames.len())
    }
    fn recv(&mut self, _: Option<StdInstant>, _: &mut Vec<Frame>) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(5));
        match self.0.fetch_sub(1, SeqCst) {
            0 => Err(io::ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        }
    }
    fn mtu(&self) -> usize {
        1500
    }
    fn waker(&self) -> Waker {
        Waker::noop().clone()
    }
}

#[test]
fn a_wire_that_fails_ends_node_and_sink_under_whoever_waits() {
    let sink_lives = Arc::new(());
    let (held, told) = (Arc::clone(&sink_lives), Arc::downgrade(&sink_lives));
    drop(sink_lives);
    let sink = move |_| drop(Arc::clone(&held));
    let driver = Driver::spawn(Asker::default(), Fails(AtomicU64::new(8)), Clock::start(), sink).unwrap();
    driver.wait(None, || told.strong_count() == 0, |_| unreachable!("nobody else waits"));
    assert_eq!(told.strong_count(), 0);
    assert_eq!(driver.post(|_, _| ()), Err(Stopped));
    assert_eq!(driver.with(|_, _| ()), Err(Stopped));
}
