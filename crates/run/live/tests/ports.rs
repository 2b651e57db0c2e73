//! Nodes with several ports, and cables between them.

mod nodes;

use std::num::NonZeroUsize;
use std::sync::mpsc::channel;
use std::time::Duration;

use nodes::{Echo, mac};
use rackloom_live::{Cable, CableError, Clock, Driver, Pool, Ports, Switch, Wire};
use rackloom_node::{Frame, Instant, Node, Output, Port};

const LONG: Duration = Duration::from_secs(60);
const FRAMES: u32 = 20_000;

/// Carries frames from port 0 to port 2 and back, and counts them. Port 1 has no cable.
#[derive(Debug, Default)]
struct Bridge {
    out: std::collections::VecDeque<(Port, Frame)>,
    carried: u64,
    elsewhere: u64,
}

impl Node for Bridge {
    type Event = ();

    fn handle_frame(&mut self, _: Instant, port: Port, frame: Frame) {
        match port {
            0 => self.out.push_back((2, frame)),
            2 => self.out.push_back((0, frame)),
            _ => self.elsewhere += 1,
        }
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll(&mut self, _: Instant) -> Option<Output<()>> {
        let (port, frame) = self.out.pop_front()?;
        self.carried += 1;
        Some(Output::Transmit(port, frame))
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// Two switches far apart.
struct Land {
    near: Switch,
    far: Switch,
    cable: Cable,
    clock: Clock,
}

impl Land {
    fn new() -> Self {
        Self { near: Switch::default(), far: Switch::default(), cable: Cable::new(), clock: Clock::start() }
    }

    /// The ports of the bridge at a switch.
    fn ports(&self, switch: &Switch) -> Ports {
        Ports::from(switch.attach("bridge").unwrap()).with(2, self.cable.end("bridge").unwrap())
    }

    /// A host at one switch sends frames to a server at the other, in order and none lost, and gets them back.
    fn talk(&self) {
        let (tell, told) = channel();
        let port = self.far.attach("server").unwrap();
        let _server = Driver::spawn(Echo::server(mac(2)), port, self.clock, |_| {}).unwrap();
        let port = self.near.attach("host").unwrap();
        let host = Driver::spawn(Echo::server(mac(1)), port, self.clock, move |done| tell.send(done).unwrap()).unwrap();
        host.post(|node, _| node.start(mac(2), 1514, FRAMES, 64)).unwrap();
        told.recv_timeout(LONG).unwrap();
    }
}

#[test]
fn frames_cross_a_cable_between_members_of_a_pool() {
    let land = Land::new();
    let pool = Pool::new(NonZeroUsize::MIN, land.clock).unwrap();
    let bridges = [&land.near, &land.far].map(|at| pool.add(Bridge::default(), land.ports(at), |()| {}));
    land.talk();
    for bridge in bridges {
        let bridge = bridge.remove();
        assert_eq!((bridge.carried, bridge.elsewhere), (2 * u64::from(FRAMES), 0));
    }
}

#[test]
fn frames_cross_a_cable_between_drivers() {
    let land = Land::new();
    let bridges = [&land.near, &land.far].map(|at| {
        let others = Ports::new().with(2, land.cable.end("bridge").unwrap());
        Driver::spawn_with_ports(Bridge::default(), at.attach("bridge").unwrap(), others, land.clock, |()| {}).unwrap()
    });
    land.talk();
    for bridge in bridges {
        let bridge = bridge.stop().unwrap();
        assert_eq!((bridge.carried, bridge.elsewhere), (2 * u64::from(FRAMES), 0));
    }
}

#[test]
fn what_is_sent_on_a_port_without_a_cable_is_counted() {
    let (switch, clock) = (Switch::default(), Clock::start());
    let bridge = Driver::spawn(Bridge::default(), switch.attach("bridge").unwrap(), clock, |()| {}).unwrap();
    let mut host = switch.attach("host").unwrap();
    let to_all: Frame = [&[0xff; 6][..], &mac(1), &[0x88, 0xb5], &[0; 46]].concat().into();
    host.send(&[to_all.clone(), to_all]).unwrap();
    let start = std::time::Instant::now();
    while bridge.counters().tx_unplugged < 2 {
        assert!(start.elapsed() < LONG, "{:?}", bridge.counters());
        std::thread::yield_now();
    }
}

#[test]
fn an_end_of_a_cable_is_plugged_in_once() {
    let cable = Cable::new();
    let (a, b) = (cable.end("a").unwrap(), cable.end("b").unwrap());
    assert_eq!(cable.end("c").unwrap_err(), CableError);
    drop(a);
    let _again = cable.end("a").unwrap();
    drop(b);
}

#[test]
fn a_cable_carries_what_a_switch_would_not() {
    let cable = Cable::new();
    let (mut a, mut b) = (cable.end("a").unwrap(), cable.end("b").unwrap());
    let frame = |dst: [u8; 6], src: [u8; 6]| -> Frame { [&dst[..], &src, &[0x88, 0xb5], &[0; 46]].concat().into() };
    // To its own address, from nobody, from a group, to the address of the other end: a cable does not look.
    let frames = [frame(mac(1), mac(1)), frame(mac(2), [0; 6]), frame(mac(2), [0xff; 6]), frame(mac(1), mac(2))];
    assert_eq!(a.send(&frames).unwrap(), frames.len());
    let mut heard = Vec::new();
    b.recv(Some(std::time::Instant::now()), &mut heard).unwrap();
    assert_eq!(heard, frames);
    // Into a cable whose other end is free.
    drop(b);
    assert_eq!(a.send(&frames).unwrap(), frames.len());
}

#[test]
#[should_panic(expected = "port 2 has a cable already")]
fn a_port_has_one_cable() {
    let cable = Cable::new();
    let _ = Ports::new().with(2, cable.end("a").unwrap()).with(2, cable.end("b").unwrap());
}
