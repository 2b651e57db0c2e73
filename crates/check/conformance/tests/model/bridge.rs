//! The card's bridge: windows and routes that the owner sets, memory that fails, the end of a claim.

use bytes::Bytes;
use rackloom_bridge::{Endpoint, EndpointConfig, EndpointEvent, Failure, NoMemory, Rights, Ticket};
use rackloom_card::CardEvent;
use rackloom_conformance::bench::{BASE, CARD, MEMORY};
use rackloom_node::Duration;
use rackloom_wire::bridge::BridgeStatus;
use rackloom_wire::{Counter, ErrorCode, IntoBytes, Kind, MacAddr, Refusal, Route, U16, U64, Window};

use crate::cards::{Bench, claimed, virtual_time, with_role};
use crate::native::image;

const PEER: MacAddr = MacAddr([6, 0, 0, 0, 0, 7]);

/// A card, and a node beside it.
struct Pair {
    bench: Bench,
    node: Endpoint,
}

impl Pair {
    fn new(bench: Bench) -> Self {
        Self { bench, node: Endpoint::new(EndpointConfig::new(PEER, 1, false)) }
    }

    fn set_window(&mut self, number: u64, base: u64, length: u64, rights: Rights) -> Result<(), ErrorCode> {
        let (base, length) = (U64::new(base), U64::new(length));
        let body = Window { base, length, peer: PEER, rights: rights.bits(), reserved: 0 };
        self.set(Kind::SessionWindowSet, Kind::SessionWindowDone, number, body.as_bytes())
    }

    fn set_route(&mut self, stream: u64, peer: MacAddr, there: u16) -> Result<(), ErrorCode> {
        let body = Route { peer, stream: U16::new(there) };
        self.set(Kind::SessionRouteSet, Kind::SessionRouteDone, stream, body.as_bytes())
    }

    fn set(&mut self, kind: Kind, done: Kind, addr: u64, body: &[u8]) -> Result<(), ErrorCode> {
        self.bench.clear();
        self.bench.send(kind, 9, addr, body);
        let answer = self.bench.sent.pop_front().expect("there is an answer");
        assert_eq!((answer.head.seq, answer.head.addr), (9, addr));
        if answer.head.kind == done {
            return Ok(());
        }
        assert_eq!(answer.head.kind, Kind::SessionRefuse);
        Err(ErrorCode::from_wire(answer.body::<Refusal>().code.get()).expect("a known code"))
    }

    /// Until neither has more to say.
    fn exchange(&mut self) {
        loop {
            let now = self.bench.now;
            let sent: Vec<_> = std::iter::from_fn(|| self.node.poll(now)).collect();
            let is_quiet = sent.is_empty() && self.bench.others.is_empty();
            sent.into_iter().for_each(|frame| self.bench.frame(frame));
            for (_, frame) in std::mem::take(&mut self.bench.others) {
                self.node.handle_frame(now, &frame, &mut NoMemory);
            }
            if is_quiet {
                return;
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.bench.now + time;
        self.exchange();
        while self.bench.now < end {
            let next = self.node.deadline().map_or(end, |at| at.clamp(self.bench.now, end));
            self.bench.pass(next - self.bench.now);
            self.node.handle_timeout(self.bench.now);
            self.exchange();
        }
    }

    fn settle(&mut self) {
        self.pass(Duration::from_millis(1));
    }

    fn result(&mut self, ticket: Ticket) -> Result<Bytes, Failure> {
        self.settle();
        let event = self.node.next_event().or_else(|| {
            // Longer than the node has patience.
            self.pass(Duration::from_millis(500));
            self.node.next_event()
        });
        match event {
            Some(EndpointEvent::Done { ticket: t, result }) if t == ticket => result,
            other => panic!("{other:?}"),
        }
    }

    fn read(&mut self, addr: u64, count: u32) -> Result<Bytes, Failure> {
        let ticket = self.node.read(self.bench.now, CARD, addr, count).unwrap();
        self.result(ticket)
    }

    fn write(&mut self, addr: u64, bytes: &'static [u8]) -> Result<Bytes, Failure> {
        let ticket = self.node.write(self.bench.now, CARD, addr, Bytes::from_static(bytes)).unwrap();
        self.result(ticket)
    }
}

#[test]
fn a_node_uses_what_the_owner_opens_and_nothing_else() {
    let mut pair = Pair::new(claimed(virtual_time()));
    assert_eq!(pair.read(BASE, 8), Err(Failure::Unreachable));
    assert!(pair.bench.count(Counter::BridgeDenied) > 0);
    pair.set_window(0, BASE, 4096, Rights::READ | Rights::WRITE).unwrap();
    pair.write(BASE + 4088, b"together").unwrap();
    assert_eq!(pair.bench.bytes(BASE + 4088, 8), b"together");
    assert_eq!(pair.read(BASE + 4088, 8).unwrap(), &b"together"[..]);
    assert_eq!(pair.write(BASE + 4089, b"together"), Err(Failure::Refused(BridgeStatus::NoWindow)));
    assert_eq!(pair.bench.bytes(BASE + 4088, 16), b"together\0\0\0\0\0\0\0\0");
    pair.set_window(0, BASE, 4096, Rights::READ).unwrap();
    assert_eq!(pair.write(BASE, b"x"), Err(Failure::Refused(BridgeStatus::Denied)));
}

#[test]
fn windows_and_routes_are_within_the_card() {
    let mut pair = Pair::new(claimed(virtual_time()));
    for (number, base, length, rights, is) in [
        (15, BASE, MEMORY - BASE, Rights::READ, Ok(())),
        (16, BASE, 1, Rights::READ, Err(ErrorCode::BadRequest)),
        (0, BASE - 1, 1, Rights::READ, Err(ErrorCode::BadAddress)),
        (0, BASE, MEMORY - BASE + 1, Rights::READ, Err(ErrorCode::BadAddress)),
        (0, u64::MAX, 2, Rights::READ, Err(ErrorCode::BadAddress)),
        (0, 15, 1, Rights::STREAM, Ok(())),
        (0, 15, 2, Rights::STREAM, Err(ErrorCode::BadAddress)),
        (0, 0, 0, Rights::NONE, Ok(())),
    ] {
        assert_eq!(pair.set_window(number, base, length, rights), is, "{number} {base:#x} {length} {rights}");
    }
    let both = U64::new(BASE);
    let body = Window { base: both, length: U64::new(1), peer: PEER, rights: 0b1001, reserved: 0 };
    let refused = pair.set(Kind::SessionWindowSet, Kind::SessionWindowDone, 0, body.as_bytes());
    assert_eq!(refused, Err(ErrorCode::BadRequest), "memory and streams");
    for (stream, peer, there, is) in [
        (0, PEER, 15, Ok(())),
        (16, PEER, 0, Err(ErrorCode::BadRequest)),
        (0, PEER, 16, Err(ErrorCode::BadRequest)),
        (0, MacAddr::BROADCAST, 0, Err(ErrorCode::BadRequest)),
        (0, CARD, 0, Err(ErrorCode::BadRequest)),
        (0, MacAddr::ZERO, 0, Ok(())),
    ] {
        assert_eq!(pair.set_route(stream, peer, there), is, "{stream} {peer} {there}");
    }
}

#[test]
fn the_end_of_the_claim_is_the_end_of_its_windows() {
    let mut pair = Pair::new(claimed(virtual_time()));
    pair.set_window(0, BASE, 4096, Rights::READ).unwrap();
    pair.read(BASE, 8).unwrap();
    let body = rackloom_wire::Release { scrub: 0, reserved: [0; 7] };
    pair.bench.send(Kind::SessionRelease, 6, 0, body.as_bytes());
    assert_eq!(pair.read(BASE, 8), Err(Failure::Unreachable));
}

#[test]
fn memory_that_fails_gives_no_data_and_the_card_starts_anew() {
    let mut pair = Pair::new(claimed(virtual_time()));
    pair.set_window(0, BASE, 4096, Rights::READ | Rights::WRITE).unwrap();
    pair.write(BASE, b"sound").unwrap();
    pair.bench.card.ddr().fail(Some(BASE));
    // It restarts before it could say so; windows are gone with the claim.
    assert_eq!(pair.read(BASE, 5), Err(Failure::Unreachable));
    assert!(pair.bench.events.contains(&CardEvent::MemoryFailed));
    assert_eq!(pair.bench.card.epoch(), None);
}

/// With the role that sends what comes on stream 1 to the stream that its last byte names.
fn with_talker() -> Pair {
    let mut bench = with_role(virtual_time());
    bench.load(2, &image(b"talk", 0));
    bench.clear();
    let mut pair = Pair::new(bench);
    pair.set_window(0, 1, 1, Rights::STREAM).unwrap();
    pair
}

#[test]
fn what_a_role_sends_goes_where_the_owner_says() {
    let mut pair = with_talker();
    pair.set_route(5, PEER, 9).unwrap();
    let window = rackloom_bridge::Window { base: 9, length: 1, peer: CARD, rights: Rights::STREAM };
    pair.node.windows().set(0, Some(window));
    let messages: Vec<_> = (0..20u8).map(|i| Bytes::from(vec![i, 1, 2, 5])).collect();
    let mut back = Vec::new();
    for message in &messages {
        pair.node.send(pair.bench.now, CARD, 1, message).unwrap();
        pair.settle();
        while let Some((from, stream, bytes)) = pair.node.take_message(pair.bench.now) {
            assert_eq!((from, stream), (CARD, 9));
            back.push(bytes);
        }
    }
    assert_eq!(back, messages);
    // Without a route, a stream that no port has is against the rules, as before.
    pair.set_route(5, MacAddr::ZERO, 0).unwrap();
    pair.node.send(pair.bench.now, CARD, 1, &messages[0]).unwrap();
    pair.settle();
    assert!(pair.bench.events.contains(&CardEvent::MessageRefused { stream: 5 }));
    assert_eq!(pair.node.take_message(pair.bench.now), None);
}

#[test]
fn a_receiver_that_takes_nothing_holds_up_the_role_and_not_the_card() {
    let mut pair = with_talker();
    pair.set_route(5, PEER, 9).unwrap();
    pair.set_window(1, BASE, 64, Rights::READ).unwrap();
    let window = rackloom_bridge::Window { base: 9, length: 1, peer: CARD, rights: Rights::STREAM };
    pair.node.windows().set(0, Some(window));
    let mut sent = 0u32;
    let message = |i: u32| [&i.to_be_bytes()[..], &[0; 1000], &[5]].concat().into();
    while pair.node.send(pair.bench.now, CARD, 1, &message(sent)).is_ok() {
        sent += 1;
        pair.settle();
        assert!(sent < 1000, "there is no end of what the card holds");
    }
    assert_eq!(pair.read(BASE, 8).map(|bytes| bytes.len()), Ok(8), "memory is served");
    let mut next = 0u32;
    for _ in 0..10 * sent {
        while let Some((_, _, bytes)) = pair.node.take_message(pair.bench.now) {
            assert_eq!(bytes[..4], next.to_be_bytes());
            next += 1;
        }
        if next == sent {
            break;
        }
        pair.settle();
    }
    assert_eq!(next, sent, "each came once and in order");
}
