//! Two nodes on a perfect wire: each operation does what it says.

use bytes::Bytes;
use rackloom_bridge::{
    Atomic, Endpoint, EndpointConfig, EndpointEvent, Failure, NotTaken, Rights, STREAM_MESSAGE_MAX, Target,
    TargetFailed, Ticket, Window,
};
use rackloom_node::{Duration, Instant};
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::BridgeStatus;

const MACS: [MacAddr; 2] = [MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2])];

struct Ram(Vec<u8>);

impl Target for Ram {
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
        into.copy_from_slice(&self.0[addr as usize..][..into.len()]);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
        self.0[addr as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

struct Pair {
    now: Instant,
    nodes: [Endpoint; 2],
    memory: [Ram; 2],
    frames: usize,
}

impl Pair {
    fn new() -> Self {
        let node = |i: usize| Endpoint::new(EndpointConfig::new(MACS[i], 1 + i as u32, false));
        let memory = [Ram(vec![0; 1 << 16]), Ram(vec![0; 1 << 16])];
        Self { now: Instant::ZERO, nodes: [node(0), node(1)], memory, frames: 0 }
    }

    fn open(&mut self, rights: Rights) {
        let window = Window { base: 0, length: 1 << 16, peer: MACS[0], rights };
        assert!(self.nodes[1].windows().set(u64::from(rights.bits()) % 16, Some(window)));
    }

    /// Until both have nothing more to say.
    fn settle(&mut self) {
        loop {
            let mut quiet = true;
            for from in 0..2 {
                while let Some(frame) = self.nodes[from].poll(self.now) {
                    quiet = false;
                    self.frames += 1;
                    let to = 1 - from;
                    self.nodes[to].handle_frame(self.now, &frame, &mut self.memory[to]);
                }
                self.nodes[from].check_invariants();
            }
            if quiet {
                return;
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(at) = self.nodes.iter().filter_map(Endpoint::deadline).min().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.nodes.iter_mut().for_each(|n| n.handle_timeout(self.now));
            self.settle();
        }
        self.now = end;
    }

    fn result(&mut self, ticket: Ticket) -> Result<Bytes, Failure> {
        self.settle();
        match self.nodes[0].next_event() {
            Some(EndpointEvent::Done { ticket: t, result }) if t == ticket => result,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_is_written_is_read_and_atomics_count() {
    let mut pair = Pair::new();
    pair.open(Rights::READ | Rights::WRITE | Rights::ATOMIC);
    let now = pair.now;
    let bytes = Bytes::from((0..1408u32).map(|i| i as u8).collect::<Vec<_>>());
    let ticket = pair.nodes[0].write(now, MACS[1], 77, bytes.clone()).unwrap();
    assert_eq!(pair.result(ticket), Ok(Bytes::new()));
    let ticket = pair.nodes[0].read(now, MACS[1], 77, 1408).unwrap();
    assert_eq!(pair.result(ticket), Ok(bytes));
    for old in 0..3u64 {
        let ticket = pair.nodes[0].atomic(now, MACS[1], 8, Atomic::FetchAdd(1)).unwrap();
        assert_eq!(pair.result(ticket), Ok(Bytes::copy_from_slice(&old.to_be_bytes())));
    }
    let ticket = pair.nodes[0].write_batch(now, MACS[1], &[(0x4000, b"one"), (0x5000, b"two")]).unwrap();
    assert_eq!(pair.result(ticket), Ok(Bytes::new()));
    assert_eq!((&pair.memory[1].0[0x4000..0x4003], &pair.memory[1].0[0x5000..0x5003]), (&b"one"[..], &b"two"[..]));
}

#[test]
fn what_is_not_permitted_is_refused_and_strangers_get_no_answer() {
    let mut pair = Pair::new();
    pair.open(Rights::READ);
    let now = pair.now;
    let ticket = pair.nodes[0].write(now, MACS[1], 0, Bytes::from_static(b"no")).unwrap();
    assert_eq!(pair.result(ticket), Err(Failure::Refused(BridgeStatus::Denied)));
    let ticket = pair.nodes[0].read(now, MACS[1], (1 << 16) - 1, 2).unwrap();
    assert_eq!(pair.result(ticket), Err(Failure::Refused(BridgeStatus::NoWindow)));
    assert_eq!(pair.nodes[1].counters().denied, 2);

    // Node 0 has opened nothing; but they know each other, so there is an answer.
    let ticket = pair.nodes[1].read(now, MACS[0], 0, 1).unwrap();
    pair.settle();
    let refused = EndpointEvent::Done { ticket, result: Err(Failure::Refused(BridgeStatus::NoWindow)) };
    assert_eq!(pair.nodes[1].next_event(), Some(refused));
}

#[test]
fn a_stranger_gives_up() {
    let mut pair = Pair::new();
    let ticket = pair.nodes[0].read(pair.now, MACS[1], 0, 1).unwrap();
    pair.pass(Duration::from_secs(1));
    let lost = EndpointEvent::Done { ticket, result: Err(Failure::Unreachable) };
    assert_eq!(pair.nodes[0].next_event(), Some(lost));
    assert!(pair.nodes[1].counters().denied > 0);
    assert_eq!(pair.nodes[1].counters().tx, 0);
}

#[test]
fn streams_arrive_whole_and_wait_for_their_owner() {
    let mut pair = Pair::new();
    let window = Window { base: 3, length: 1, peer: MacAddr::ZERO, rights: Rights::STREAM };
    pair.nodes[1].windows().set(0, Some(window));
    let now = pair.now;
    let long = Bytes::from(vec![7; STREAM_MESSAGE_MAX]);
    let mut sent = 0;
    while pair.nodes[0].send(now, MACS[1], 3, &long) == Ok(()) {
        sent += 1;
        pair.settle();
        assert!(sent < 100, "nobody takes them, and there is no end");
    }
    let held = pair.nodes[1].bytes();
    assert!((STREAM_MESSAGE_MAX..=3 * STREAM_MESSAGE_MAX).contains(&held), "{held}");
    let mut taken = 0;
    while taken < sent {
        let (peer, stream, bytes) = pair.nodes[1].take_message(pair.now).expect("the next has come");
        assert_eq!((peer, stream, bytes.len()), (MACS[0], 3, long.len()));
        taken += 1;
        pair.settle();
        pair.pass(Duration::from_millis(20));
    }
    assert_eq!(pair.nodes[1].take_message(pair.now), None);
    assert_eq!(pair.nodes[0].next_event(), None);
}

#[test]
fn a_node_that_restarts_fails_what_was_under_way() {
    let mut pair = Pair::new();
    pair.open(Rights::READ);
    let now = pair.now;
    let ticket = pair.nodes[0].read(now, MACS[1], 0, 8).unwrap();
    pair.result(ticket).unwrap();
    let lost = pair.nodes[0].read(now, MACS[1], 0, 8).unwrap();
    // Its frame gets lost, and the peer starts anew.
    while pair.nodes[0].poll(now).is_some() {}
    pair.nodes[1] = Endpoint::new(EndpointConfig::new(MACS[1], 1000, false));
    pair.open(Rights::READ);
    pair.pass(Duration::from_millis(100));
    let restarted = EndpointEvent::Done { ticket: lost, result: Err(Failure::Restarted) };
    assert_eq!(pair.nodes[0].next_event(), Some(restarted));
    let ticket = pair.nodes[0].read(pair.now, MACS[1], 0, 8).unwrap();
    assert_eq!(pair.result(ticket), Ok(Bytes::from_static(&[0; 8])));
}

#[test]
fn no_more_is_under_way_than_may_be() {
    let mut pair = Pair::new();
    pair.open(Rights::READ);
    let now = pair.now;
    let room = pair.nodes[0].room(MACS[1]);
    for _ in 0..room {
        pair.nodes[0].read(now, MACS[1], 0, 8).unwrap();
    }
    assert_eq!(pair.nodes[0].read(now, MACS[1], 0, 8), Err(NotTaken::Full));
    assert_eq!(pair.nodes[0].read(now, MACS[1], 0, 0), Err(NotTaken::Invalid));
    assert_eq!(pair.nodes[0].read(now, MACS[0], 0, 8), Err(NotTaken::Invalid), "itself");
    pair.settle();
    assert_eq!(pair.nodes[0].room(MACS[1]), room);
    assert!(pair.frames < 3 * room, "{} frames for {room} reads", pair.frames);
}
