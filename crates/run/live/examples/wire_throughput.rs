//! How fast the wires are on this machine: frames and bytes a second, and the time of a round trip between two nodes.
//!
//! `cargo run --release -p rackloom-live --example wire_throughput [seconds per row]`. As root it measures raw sockets
//! too, over a veth pair between two network namespaces.

#[path = "../tests/netns/mod.rs"]
mod netns;
#[path = "../tests/nodes/mod.rs"]
mod nodes;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use nodes::{Echo, mac};
use rackloom_live::segment::{SegmentClient, SegmentPath, SegmentServer};
use rackloom_live::{Clock, Driver, Pool, Port, Raw, Switch, Wire};
use rackloom_node::Frame;

fn frame(dst: [u8; 6], length: usize) -> Frame {
    let mut bytes = vec![0x55; length];
    bytes[..6].copy_from_slice(&dst);
    bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    bytes[12..14].copy_from_slice(&0x80aau16.to_be_bytes());
    bytes.into()
}

/// Sends until told to stop, waiting whenever the wire is full; frames sent.
fn send(mut wire: impl Wire, frame: &Frame, stop: &AtomicBool) -> u64 {
    let batch = vec![frame.clone(); 64];
    let (mut sent, mut scratch) = (0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let n = wire.send(&batch).unwrap();
        sent += n as u64;
        if n < batch.len() {
            wire.recv(Some(Instant::now() + Duration::from_millis(10)), &mut scratch).unwrap();
            scratch.clear();
        }
    }
    sent
}

/// Receives until told to stop and nothing more comes; frames received.
fn receive(mut wire: impl Wire, stop: &AtomicBool) -> u64 {
    let (mut got, mut scratch) = (0, Vec::new());
    loop {
        let stopped = stop.load(Ordering::Relaxed);
        wire.recv(Some(Instant::now() + Duration::from_millis(20)), &mut scratch).unwrap();
        got += scratch.len() as u64;
        if stopped && scratch.is_empty() {
            return got;
        }
        scratch.clear();
    }
}

/// Flows from `from` to all of `to` for a while.
fn row<F: Wire + 'static, T: Wire + 'static>(name: &str, length: usize, time: Duration, from: F, to: Vec<T>) {
    let stop = Arc::new(AtomicBool::new(false));
    let copies = to.len();
    let receivers: Vec<_> = to
        .into_iter()
        .map(|wire| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || receive(wire, &stop))
        })
        .collect();
    let flooded = frame([3, 0x52, 0x4c, 0, 0, 1], length);
    let theirs = Arc::clone(&stop);
    let began = Instant::now();
    let sender = std::thread::spawn(move || send(from, &flooded, &theirs));
    std::thread::sleep(time);
    stop.store(true, Ordering::Relaxed);
    let sent = sender.join().unwrap();
    let took = began.elapsed().as_secs_f64();
    let got: u64 = receivers.into_iter().map(|r| r.join().unwrap()).sum();
    print(name, length, got, (sent * copies as u64).saturating_sub(got), took);
}

/// A flood taken by one thread from all ports in turn, as a pool with one thread does: what the switch itself costs.
fn one_thread(name: &str, length: usize, time: Duration, mut from: Port, mut to: Vec<Port>) {
    let batch = vec![frame([3, 0x52, 0x4c, 0, 0, 1], length); 64];
    let (mut got, mut scratch) = (0, Vec::new());
    let began = Instant::now();
    while began.elapsed() < time {
        assert_eq!(from.send(&batch).unwrap(), batch.len());
        for port in &mut to {
            port.recv(Some(began), &mut scratch).unwrap();
            got += scratch.len() as u64;
            scratch.clear();
        }
    }
    print(name, length, got, 0, began.elapsed().as_secs_f64());
}

/// Mean time of a round trip of a short frame from a node on `wire` to the node `peer`.
fn round_trip(name: &str, wire: impl Wire + 'static) {
    const TRIPS: u32 = 10_000;
    let (tell, told) = channel();
    let clock = Clock::start();
    let node = Driver::spawn(Echo::server(mac(1)), wire, clock, move |done| tell.send(done).unwrap()).unwrap();
    let began = Instant::now();
    node.with(|node, _| node.start(mac(2), 60, TRIPS, 1)).unwrap();
    told.recv().unwrap();
    println!("{name:<44} {:>5} {:>8.2} us", 60, began.elapsed().as_secs_f64() * 1e6 / f64::from(TRIPS));
}

fn round_trips(path: &SegmentPath) {
    println!("{:<44} {:>5} {:>11}", "round trip", "bytes", "mean");
    let clock = Clock::start();
    let echo = || Echo::server(mac(2));
    let switch = Switch::default();
    let peer = Driver::spawn(echo(), switch.attach("b").unwrap(), clock, |_| {}).unwrap();
    round_trip("switch, two drivers", switch.attach("a").unwrap());
    drop(peer);
    let pool = Pool::new(NonZeroUsize::MIN, clock).unwrap();
    let peer = pool.add(echo(), switch.attach("b").unwrap(), |_| {});
    round_trip("switch, a driver and a pool", switch.attach("a").unwrap());
    drop(peer);
    let server = SegmentServer::spawn(path.clone(), switch.clone(), 4).unwrap();
    let _peer = pool.add(echo(), switch.attach("b").unwrap(), |_| {});
    round_trip("segment client to a pool at the server", SegmentClient::connect(path).unwrap());
    drop(server);
    if netns::permitted() {
        let (a, b) = (netns::Namespace::new(), netns::Namespace::new());
        a.veth("port0", &b, "port0", 9000);
        let open = || Raw::open("port0").unwrap();
        let _peer = Driver::spawn(echo(), b.enter(open), clock, |_| {}).unwrap();
        round_trip("raw sockets over veth, two drivers", a.enter(open));
    }
}

fn print(name: &str, length: usize, got: u64, lost: u64, seconds: f64) {
    let rate = got as f64 / seconds;
    println!("{name:<44} {length:>5} {:>11.3} {:>8.2} {lost:>9}", rate / 1e6, rate * length as f64 * 8.0 / 1e9);
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(1.0, |s| s.parse().expect("seconds"));
    let time = Duration::from_secs_f64(seconds);
    println!("{:<44} {:>5} {:>11} {:>8} {:>9}", "wire", "bytes", "M frames/s", "Gb/s", "lost");
    let sizes = [60, 1514, 9014];
    for length in sizes {
        let switch = Switch::default();
        let to = (0..20).map(|i| switch.attach(&format!("{i}")).unwrap()).collect();
        one_thread("switch, flood to 20 ports, one thread", length, time, switch.attach("from").unwrap(), to);
    }
    for length in sizes {
        let switch = Switch::default();
        let to: Vec<_> = (0..20).map(|i| switch.attach(&format!("{i}")).unwrap()).collect();
        row("switch, flood to 20 ports, 21 threads", length, time, switch.attach("from").unwrap(), to);
    }
    for length in sizes {
        let switch = Switch::default();
        let to = vec![switch.attach("to").unwrap()];
        row("switch, one port to one port, 2 threads", length, time, switch.attach("from").unwrap(), to);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = SegmentPath::under(&directory.path().join("run"), "wire-throughput").unwrap();
    for length in sizes {
        let _server = SegmentServer::spawn(path.clone(), Switch::default(), 4).unwrap();
        let [from, to] = [(); 2].map(|()| SegmentClient::connect(&path).unwrap());
        row("segment, client to client", length, time, from, vec![to]);
    }
    if netns::permitted() {
        for length in sizes {
            let (a, b) = (netns::Namespace::new(), netns::Namespace::new());
            a.veth("port0", &b, "port0", 9000);
            let open = || Raw::open("port0").unwrap();
            let (from, to) = (a.enter(open), b.enter(open));
            row("raw sockets over veth", length, time, from, vec![to]);
        }
    }
    println!();
    round_trips(&path);
}
