//! Two cards joined port to port: their roles exchange frames, live and in virtual time.

use std::time::{Duration as Real, Instant as Clock};

use bytes::Bytes;
use rackloom::{ClaimOptions, RackOptions};
use rackloom_card::{Config, Pace};
use rackloom_host::{Commit, Config as HostConfig, Event, Host, Launch, OpId, Outcome};
use rackloom_image::{Dtype, ImageBuilder, Kernel, Manifest, Scalar, TARGET_MODEL};
use rackloom_live::{Driver, Ports};
use rackloom_node::{Duration, Either, Frame, Instant, Node, Output, Port};
use rackloom_rack::{Kind, LiveRack, Maker, RackSpec, Shape, SimRack, Slot, Topology};
use rackloom_sim::Cable;
use rackloom_wire::{MacAddr, ROLE_PRIVATE};

/// Frames that go to and fro.
const ROUNDS: u64 = 1000;

/// A role that plays ping-pong. Kernel `serve(frame)` sends the frame at an address, of 64 bytes, on stream 0. Whoever
/// receives a frame counts it in the second MiB, swaps its addresses, takes 1 from the 8 bytes behind its head, and
/// sends it back while that is more than 0.
fn ping_pong() -> Vec<u8> {
    let part = wat::parse_str(
        r#"(module
          (import "env" "memory" (memory 1))
          (import "rackloom" "receive" (func $receive (param i64 i64) (result i64)))
          (import "rackloom" "send" (func $send (param i64 i64 i64) (result i64)))
          (func (export "serve") (param $frame i64) (result i64)
            (call $send (i64.const 0) (local.get $frame) (i64.const 64)))
          (func (export "on_message") (param $stream i64) (param $length i64)
            (drop (call $receive (i64.const 4096) (i64.const 64)))
            (i64.store (i32.const 0x100000) (i64.add (i64.load (i32.const 0x100000)) (i64.const 1)))
            ;; 8192: the answer, with the addresses swapped.
            (memory.copy (i32.const 8192) (i32.const 4102) (i32.const 6))
            (memory.copy (i32.const 8198) (i32.const 4096) (i32.const 6))
            (memory.copy (i32.const 8204) (i32.const 4108) (i32.const 52))
            (i64.store (i32.const 8206) (i64.sub (i64.load (i32.const 8206)) (i64.const 1)))
            (if (i64.ne (i64.load (i32.const 8206)) (i64.const 0))
              (then (drop (call $send (local.get $stream) (i64.const 8192) (i64.const 64)))))))"#,
    );
    let kernel = Kernel {
        name: "serve".into(),
        args: vec!["frame".into()],
        arrays: Vec::new(),
        scalars: vec![Scalar { name: "frame".into(), dtype: Dtype::U64 }],
        tile: Default::default(),
        halo: Default::default(),
    };
    let manifest = Manifest {
        name: "ping_pong".into(),
        version: "1".into(),
        description: String::new(),
        clock_mhz: 100,
        kernels: vec![kernel],
    };
    ImageBuilder::new(manifest).part(TARGET_MODEL, part.unwrap()).build().unwrap()
}

/// The frame that begins the play.
fn first_frame(to: MacAddr, from: MacAddr) -> Bytes {
    let head = [&to.0[..], &from.0, &[0x88, 0xb5]].concat();
    [&head[..], &ROUNDS.to_le_bytes(), &[0; 42]].concat().into()
}

/// Where the frame lies, and where each role counts.
const FRAME: u64 = ROLE_PRIVATE + 4096;
const COUNT: u64 = ROLE_PRIVATE;

fn topology() -> Topology {
    Topology::parse("0.1-1.1").unwrap()
}

#[test]
fn live() {
    let shape = Shape { memory: Some(4 << 20), bulk: 1472, seed: 3, pace: Pace::Live };
    let mut cards = LiveRack::new(shape, topology(), Maker::shared()).unwrap();
    let (_, a) = cards.add(Kind::Model).unwrap();
    let (_, b) = cards.add(Kind::Model).unwrap();
    let rack = rackloom::Rack::attach(cards.attach("host").unwrap(), RackOptions::default()).unwrap();
    let start = Clock::now();
    while rack.discover(Real::from_millis(100)).unwrap().len() < 2 {
        assert!(start.elapsed() < Real::from_secs(60));
    }
    let found = rack.discover(Real::from_millis(100)).unwrap();
    assert!(found.iter().all(|card| card.ports == 2), "{found:?}");
    let port = |mac| found.iter().find(|card| card.mac == mac).unwrap().mac1;
    rack.claim(&[a, b], ClaimOptions::default()).wait_all().unwrap();
    rack.load(&[a, b], ping_pong().into(), Commit::Each, |_, _, _| {}).wait().unwrap();
    rack.write(a, FRAME, first_frame(port(b), port(a))).wait().unwrap();
    let launch = Launch { kernel: 0, args: vec![FRAME], ..Launch::default() };
    assert_eq!(rack.launch(a, launch).wait().unwrap().value, 1);
    let count = |card| u64::from_le_bytes(rack.read(card, COUNT, 8).wait().unwrap()[..].try_into().unwrap());
    while count(a) + count(b) < ROUNDS {
        assert!(start.elapsed() < Real::from_secs(60), "{} + {}", count(a), count(b));
    }
    assert_eq!((count(a), count(b)), (ROUNDS / 2, ROUNDS / 2));
}

/// A host, two cards at its switch, and a cable between their ports 1.
struct Joined {
    rack: SimRack<Host>,
    host: Slot,
    cards: [Slot; 2],
}

impl Joined {
    fn new() -> Self {
        let mac = MacAddr([2, 0, 0, 0, 9, 9]);
        let host = Host::new(HostConfig::simulated(mac, 1, Cable::TEN_GIGABIT.rate_bps));
        let card = |unit: u16| {
            let mac = MacAddr([2, 0, 0, 0, 1, unit as u8]);
            (Kind::Model, Config { unit, memory: 4 << 20, ..Config::new(mac, Pace::Virtual) })
        };
        let spec = RackSpec {
            hosts: vec![(mac, host)],
            cards: vec![card(0), card(1)],
            topology: topology(),
            ..RackSpec::new(1)
        };
        let rack = SimRack::build(spec, Maker::shared()).unwrap();
        let (host, cards) = (rack.hosts()[0], [rack.cards()[0], rack.cards()[1]]);
        let mut joined = Self { rack, host, cards };
        joined.pass(Duration::from_millis(100));
        joined
    }

    fn pass(&mut self, time: Duration) {
        let end = self.rack.net.now() + time;
        while self.rack.run_until(end).is_some() {}
    }

    fn run(&mut self, command: impl FnOnce(&mut Host, Instant) -> OpId) -> Outcome {
        let op = self.rack.with_host(self.host, command);
        let limit = self.rack.net.now() + Duration::from_secs(60);
        while let Some((_, _, event)) = self.rack.run_until(limit) {
            if let Either::A(Event::Completed { op: done, result }) = event
                && done == op
            {
                return result.unwrap();
            }
        }
        panic!("{op:?} does not end");
    }

    fn count(&self, card: usize) -> u64 {
        let mut word = [0; 8];
        self.rack.card(self.cards[card]).ddr().read(COUNT, &mut word).unwrap();
        u64::from_le_bytes(word)
    }
}

#[test]
fn in_virtual_time() {
    let mut joined = Joined::new();
    let macs = joined.cards.map(|slot| slot.mac);
    let image = Bytes::from(ping_pong());
    for mac in macs {
        joined.run(|host, now| host.claim(now, mac, rackloom_host::ClaimOptions::default()));
    }
    joined.run(|host, now| host.load(now, &macs, image, Commit::Each));
    let ports = macs.map(|mac| topology().ports(mac)[0].mac);
    joined.run(|host, now| host.write(now, macs[0], FRAME, first_frame(ports[1], ports[0])));
    let launch = Launch { kernel: 0, args: vec![FRAME], ..Launch::default() };
    joined.run(|host, now| host.launch(now, macs[0], launch));
    // A round trip of 64 bytes takes twice a cable and a frame's time: 1000 frames are through in a few milliseconds.
    joined.pass(Duration::from_millis(10));
    assert_eq!((joined.count(0), joined.count(1)), (ROUNDS / 2, ROUNDS / 2));
}

/// A node that keeps what comes in on port 1.
#[derive(Debug)]
struct Listener {
    heard: std::sync::mpsc::Sender<Bytes>,
    greeting: Option<Bytes>,
}

impl Node for Listener {
    type Event = ();

    fn handle_frame(&mut self, _: Instant, port: Port, frame: Frame) {
        if port == 1 {
            self.heard.send(frame).expect("the test listens");
        }
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll(&mut self, _: Instant) -> Option<Output<()>> {
        self.greeting.take().map(|frame| Output::Transmit(1, frame))
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// A card's port 1 and port 1 of a node on a thread of its own are on one network, which is not the rack's.
#[test]
fn a_network_beside_the_racks_own() {
    let shape = Shape { memory: Some(4 << 20), bulk: 1472, seed: 3, pace: Pace::Live };
    let mut cards = LiveRack::new(shape, Topology::parse("0.1-virtual:side").unwrap(), Maker::shared()).unwrap();
    let (_, card) = cards.add(Kind::Model).unwrap();
    let rack = rackloom::Rack::attach(cards.attach("host").unwrap(), RackOptions::default()).unwrap();
    rack.discover(Real::from_secs(10)).unwrap();
    rack.claim(&[card], ClaimOptions::default()).wait_all().unwrap();
    rack.load(&[card], ping_pong().into(), Commit::Each, |_, _, _| {}).wait().unwrap();

    let (net, side) = cards.networks().next().expect("a cable goes there");
    assert_eq!(net.to_string(), "virtual:side");
    let own = MacAddr([2, 0, 0, 0, 7, 7]);
    let to = rack.cards().unwrap()[0].mac1;
    let (heard, frames) = std::sync::mpsc::channel();
    let listener = Listener { heard, greeting: Some(first_frame(to, own)) };
    let ports = Ports::new().with(1, side.attach("listener").unwrap());
    let wire = cards.attach("listener").unwrap();
    let _driver = Driver::spawn_with_ports(listener, wire, ports, rackloom_live::Clock::start(), |()| {}).unwrap();
    let answer = frames.recv_timeout(Real::from_secs(60)).expect("the role sends the frame back");
    assert_eq!((&answer[..6], &answer[6..12]), (&own.0[..], &to.0[..]));
    assert_eq!(answer[14..22], (ROUNDS - 1).to_le_bytes());
}

#[test]
fn gateware_has_one_port() {
    let shape = Shape { memory: None, bulk: 1472, seed: 3, pace: Pace::Live };
    let mut cards = LiveRack::new(shape, topology(), Maker::shared()).unwrap();
    let refused = cards.add(Kind::Rtl).unwrap_err().to_string();
    assert_eq!(refused, "cable 0.1-1.1 ends in port 1 of card0, and a card of kind rtl has 1 ports");
}
