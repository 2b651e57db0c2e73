//! Two cards joined port to port: their roles exchange frames, live and in virtual time.

use std::time::{Duration as Real, Instant as Clock};

use bytes::Bytes;
use rackloom::{ClaimOptions, RackOptions};
use rackloom_card::{Config, Pace};
use rackloom_host::{Commit, Config as HostConfig, Event, Host, Launch, OpId, Outcome};
use rackloom_live::{Driver, Ports};
use rackloom_node::{Duration, Either, Frame, Instant, Node, Output, Port};
use rackloom_rack::{Kind, LiveRack, Maker, RackSpec, Shape, SimRack, Slot, Topology};
use rackloom_sim::Cable;
use rackloom_wire::MacAddr;

/// Frames that go to and fro.
const ROUNDS: u64 = 1000;

/// The role that plays: its kernel 0, `send`, begins, and 1, `heard`, counts.
fn echo() -> &'static [u8] {
    rackloom_builtin_roles::image("echo").expect("it is built in")
}

/// A launch of `send`: a frame with so many turns on stream 0.
fn first(to: MacAddr, from: MacAddr) -> Launch {
    let word = |MacAddr([a, b, c, d, e, f])| u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
    Launch { kernel: 0, args: vec![0, word(to), word(from), ROUNDS], ..Launch::default() }
}

/// The same frame, from somebody who is no card.
fn first_frame(to: MacAddr, from: MacAddr) -> Bytes {
    let head = [&to.0[..], &from.0, &[0x88, 0xb5]].concat();
    [&head[..], &ROUNDS.to_le_bytes(), &[0; 42]].concat().into()
}

fn heard() -> Launch {
    Launch { kernel: 1, args: Vec::new(), ..Launch::default() }
}

fn topology() -> Topology {
    Topology::parse("0.1-1.1").unwrap()
}

fn play_live(kinds: [Kind; 2]) {
    let shape = Shape { memory: Some(4 << 20), bulk: 1472, seed: 3, pace: Pace::Live, rate: None };
    let mut cards = LiveRack::new(shape, topology(), Maker::shared()).unwrap();
    let [(_, a), (_, b)] = kinds.map(|kind| cards.add(kind).unwrap());
    let rack = rackloom::Rack::attach(cards.attach("host").unwrap(), RackOptions::default()).unwrap();
    let start = Clock::now();
    // On a machine that has much to do one look may find only one of them.
    let found = loop {
        let found = rack.discover(Real::from_millis(100)).unwrap();
        if found.len() == 2 {
            break found;
        }
        assert!(start.elapsed() < Real::from_secs(60), "{found:?}");
    };
    assert!(found.iter().all(|card| card.ports == 2), "{found:?}");
    let port = |mac| found.iter().find(|card| card.mac == mac).unwrap().mac1;
    rack.claim(&[a, b], ClaimOptions::default()).wait_all().unwrap();
    rack.load(&[a, b], echo().into(), Commit::Each, |_, _, _| {}).wait().unwrap();
    assert_eq!(rack.launch(a, first(port(b), port(a))).wait().unwrap().value, 1);
    let count = |card| rack.launch(card, heard()).wait().unwrap().value;
    while count(a) + count(b) < ROUNDS {
        assert!(start.elapsed() < Real::from_secs(300), "{} + {}", count(a), count(b));
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
    fn new(kinds: [Kind; 2]) -> Self {
        let mac = MacAddr([2, 0, 0, 0, 9, 9]);
        let host = Host::new(HostConfig::simulated(mac, 1, Cable::TEN_GIGABIT.rate_bps));
        let card = |unit: u16| {
            let mac = MacAddr([2, 0, 0, 0, 1, unit as u8]);
            (kinds[usize::from(unit)], Config { unit, memory: 4 << 20, ..Config::new(mac, Pace::Virtual) })
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

    /// Frames that a card's role has heard.
    fn count(&mut self, card: usize) -> u64 {
        let mac = self.cards[card].mac;
        match self.run(|host, now| host.launch(now, mac, heard())) {
            Outcome::Launched(done) => done.value,
            other => panic!("{other:?}"),
        }
    }
}

fn play_in_virtual_time(kinds: [Kind; 2]) {
    let mut joined = Joined::new(kinds);
    let macs = joined.cards.map(|slot| slot.mac);
    let image = Bytes::from_static(echo());
    for mac in macs {
        joined.run(|host, now| host.claim(now, mac, rackloom_host::ClaimOptions::default()));
    }
    joined.run(|host, now| host.load(now, &macs, image, Commit::Each));
    let ports = macs.map(|mac| topology().ports(mac)[0].mac);
    joined.run(|host, now| host.launch(now, macs[0], first(ports[1], ports[0])));
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
    let shape = Shape { memory: Some(4 << 20), bulk: 1472, seed: 3, pace: Pace::Live, rate: None };
    let mut cards = LiveRack::new(shape, Topology::parse("0.1-virtual:side").unwrap(), Maker::shared()).unwrap();
    let (_, card) = cards.add(Kind::Model).unwrap();
    let rack = rackloom::Rack::attach(cards.attach("host").unwrap(), RackOptions::default()).unwrap();
    rack.discover(Real::from_secs(10)).unwrap();
    rack.claim(&[card], ClaimOptions::default()).wait_all().unwrap();
    rack.load(&[card], echo().into(), Commit::Each, |_, _, _| {}).wait().unwrap();

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
fn gateware_has_three_ports() {
    let shape = Shape { memory: None, bulk: 1472, seed: 3, pace: Pace::Live, rate: None };
    let mut cards = LiveRack::new(shape, Topology::parse("0.3-1.3").unwrap(), Maker::shared()).unwrap();
    let refused = cards.add(Kind::Rtl).unwrap_err().to_string();
    assert_eq!(refused, "cable 0.3-1.3 ends in port 3 of card0, and a card of kind rtl has 3 ports");
}

const MODELS: [Kind; 2] = [Kind::Model; 2];
const GATEWARE: [Kind; 2] = [Kind::Rtl; 2];
const MIXED: [Kind; 2] = [Kind::Model, Kind::Rtl];

#[test]
fn models_play_live() {
    play_live(MODELS);
}

#[test]
fn gateware_plays_live() {
    play_live(GATEWARE);
}

#[test]
fn gateware_plays_live_with_a_model() {
    play_live(MIXED);
}

#[test]
fn models_play_in_virtual_time() {
    play_in_virtual_time(MODELS);
}

#[test]
fn gateware_plays_in_virtual_time() {
    play_in_virtual_time(GATEWARE);
}

#[test]
fn gateware_plays_in_virtual_time_with_a_model() {
    play_in_virtual_time(MIXED);
}
