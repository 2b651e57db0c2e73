//! Peers that lie, replay, flood and overrun: what they send is dropped and counted, and harms nobody else.

mod common;

use bytes::Bytes;
use common::{NODE, Node, Raw, peer};
use rackloom_bridge::{Endpoint, EndpointConfig, EndpointCounters, EndpointEvent, NoMemory, Rights};
use rackloom_node::{Duration, Instant};
use rackloom_wire::bridge::{
    BridgeOperation, BridgeStatus, CHANNEL_MEMORY, CHANNEL_STREAMS, FLAG_ASKS, Kind, MESSAGE_JUMBO, TRANSACTIONS,
};
use rackloom_wire::{BridgePacket, MacAddr, put_record};

const ALL: MacAddr = MacAddr::ZERO;

fn memory_rights() -> Rights {
    Rights::READ | Rights::WRITE | Rights::ATOMIC
}

/// A node with a window in the middle of its memory for the first peer, which it knows.
fn met() -> (Node, Raw) {
    let mut node = Node::new();
    node.open(0, 0x1000, 0x1000, peer(1), memory_rights());
    let mut raw = Raw::new(peer(1), 5, CHANNEL_MEMORY);
    raw.meet(&mut node);
    (node, raw)
}

/// What the node has counted since.
fn since(node: &Node, before: EndpointCounters) -> EndpointCounters {
    let now = *node.endpoint.counters();
    EndpointCounters {
        rx: now.rx - before.rx,
        tx: now.tx - before.tx,
        resent: now.resent - before.resent,
        served: now.served - before.served,
        foreign: now.foreign - before.foreign,
        malformed: now.malformed - before.malformed,
        stale: now.stale - before.stale,
        duplicates: now.duplicates - before.duplicates,
        denied: now.denied - before.denied,
    }
}

/// Gives the node a frame: what it counts, but for what comes in and goes out.
fn counted(node: &mut Node, frame: &Bytes) -> EndpointCounters {
    let before = *node.endpoint.counters();
    node.take(frame);
    node.frames();
    EndpointCounters { rx: 0, tx: 0, ..since(node, before) }
}

/// The status of the only answer among frames.
fn status(frames: &[Bytes]) -> BridgeStatus {
    let heads = frames.iter().map(|f| BridgePacket::parse(f).unwrap().head);
    let answers: Vec<_> = heads.filter(|h| matches!(h.kind, Kind::ReadResponse | Kind::WriteResponse)).collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    BridgeStatus::from_wire(answers[0].tag).unwrap()
}

const NOTHING: EndpointCounters = EndpointCounters {
    rx: 0,
    tx: 0,
    resent: 0,
    served: 0,
    foreign: 0,
    malformed: 0,
    stale: 0,
    duplicates: 0,
    denied: 0,
};

#[test]
fn packets_that_no_node_sends_are_dropped() {
    let (mut node, mut raw) = met();
    let good = raw.numbered(Kind::WriteRequest, b"data", |h| h.addr = 0x1000);
    let with = |at: usize, bytes: &[u8]| {
        let mut frame = good.to_vec();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        Bytes::from(frame)
    };
    let foreign = EndpointCounters { foreign: 1, ..NOTHING };
    let malformed = EndpointCounters { malformed: 1, ..NOTHING };
    for (what, frame, counts) in [
        ("another's Ethernet source", with(6, &peer(2).0), foreign),
        ("another's source", with(37, &[9]), foreign),
        ("another subnet", with(29, &[1]), foreign),
        ("passed on by a router", with(21, &[254]), foreign),
        ("to another node", with(5, &[9]), foreign),
        ("to another address", with(53, &[9]), foreign),
        ("another EtherType", with(12, &[8]), foreign),
        ("a packet longer than its frame", with(18, &[0xff]), malformed),
        ("a header that tells another length", with(57, &[1]), malformed),
        ("another version", with(54, &[0x20]), malformed),
        ("an unknown kind", with(55, &[99]), malformed),
        ("a trailer that nobody can check", with(54, &[0x14]), malformed),
        ("no epoch", with(64, &[0; 4]), malformed),
        ("an unknown channel", with(94, &[0, 2]), malformed),
    ] {
        assert_eq!(counted(&mut node, &frame), counts, "{what}");
    }
    for end in 0..good.len() {
        let counts = counted(&mut node, &good.slice(..end));
        assert_eq!(counts.foreign + counts.malformed, 1, "cut after {end} bytes");
    }
    assert_eq!((node.memory.writes, node.memory.reads), (0, 0));
    assert_eq!(counted(&mut node, &good), EndpointCounters { served: 1, ..NOTHING });
}

#[test]
fn a_payload_longer_than_any_frame_is_malformed() {
    let (mut node, mut raw) = met();
    node.open(0, 0, 1 << 16, raw.mac, memory_rights());
    let long = vec![1; usize::from(MESSAGE_JUMBO) + 1];
    let frame = raw.numbered(Kind::WriteRequest, &long, |_| ());
    assert_eq!(counted(&mut node, &frame), EndpointCounters { malformed: 1, ..NOTHING });
    raw.seq -= 1;
    let frame = raw.numbered(Kind::WriteRequest, &long[1..], |_| ());
    assert_eq!(counted(&mut node, &frame), EndpointCounters { served: 1, ..NOTHING });
}

#[test]
fn what_no_window_permits_is_answered_and_touches_nothing() {
    let (mut node, mut raw) = met();
    node.open(1, 0x3000, 0x100, peer(1), Rights::READ);
    node.open(2, 0x4000, 0x100, peer(2), memory_rights());
    let mut torn = Vec::new();
    put_record(&mut torn, 0x1000, b"in");
    put_record(&mut torn, 0x1fff, b"out");
    let add = [[0; 7].as_slice(), &[1], &[0; 8]].concat();
    let op = BridgeOperation::FetchAdd.into();
    type Change = Box<dyn Fn(&mut rackloom_wire::BridgeHead)>;
    let at = |addr: u64| -> Change { Box::new(move |h| h.addr = addr) };
    let reads = |addr: u64, count: u32| -> Change { Box::new(move |h| (h.addr, h.count) = (addr, count)) };
    let atomic = |addr: u64, tag: u16| -> Change { Box::new(move |h| (h.addr, h.tag) = (addr, tag)) };
    let (denied, malformed) = (EndpointCounters { denied: 1, ..NOTHING }, EndpointCounters { malformed: 1, ..NOTHING });
    for (kind, payload, change, says, counts) in [
        (Kind::WriteRequest, &b"x"[..], at(0xfff), BridgeStatus::NoWindow, denied),
        (Kind::WriteRequest, b"xy", at(0x1fff), BridgeStatus::NoWindow, denied),
        (Kind::WriteRequest, b"x", at(u64::MAX), BridgeStatus::NoWindow, denied),
        (Kind::WriteRequest, b"x", at(0x3000), BridgeStatus::Denied, denied),
        (Kind::WriteRequest, b"x", at(0x4000), BridgeStatus::NoWindow, denied),
        (Kind::WriteRequest, b"", at(0x1000), BridgeStatus::Malformed, malformed),
        (Kind::ReadRequest, b"", reads(0x1fff, 2), BridgeStatus::NoWindow, denied),
        (Kind::ReadRequest, b"", reads(0x1000, 0), BridgeStatus::Malformed, malformed),
        (Kind::ReadRequest, b"", reads(0x1000, u32::MAX), BridgeStatus::Malformed, malformed),
        (Kind::ReadRequest, b"x", reads(0x1000, 1), BridgeStatus::Malformed, malformed),
        (Kind::WriteBatch, &torn, at(0), BridgeStatus::NoWindow, denied),
        (Kind::WriteBatch, b"no record", at(0), BridgeStatus::Malformed, malformed),
        (Kind::AtomicRequest, &add, atomic(0x1004, op), BridgeStatus::Malformed, malformed),
        (Kind::AtomicRequest, &add, atomic(0x1000, 77), BridgeStatus::Malformed, malformed),
        (Kind::AtomicRequest, &add[1..], atomic(0x1000, op), BridgeStatus::Malformed, malformed),
        (Kind::AtomicRequest, &add, atomic(0x3000, op), BridgeStatus::Denied, denied),
    ] {
        let frame = raw.numbered(kind, payload, change);
        let before = *node.endpoint.counters();
        node.take(&frame);
        let frames = node.frames();
        assert_eq!(status(&frames), says, "{kind:?}");
        assert_eq!(EndpointCounters { rx: 0, tx: 0, ..since(&node, before) }, counts, "{kind:?}");
        raw.read(&frames);
    }
    assert_eq!((node.memory.writes, node.memory.reads), (0, 0));
}

#[test]
fn frames_of_other_lives_are_stale() {
    let (mut node, mut raw) = met();
    let stale = EndpointCounters { stale: 1, ..NOTHING };
    for (src, dst) in [(4, raw.node_epoch), (5, raw.node_epoch - 1), (5, 0), (6, 0), (u32::MAX, 1)] {
        let frame = raw.numbered(Kind::WriteRequest, b"x", |h| (h.addr, h.src_epoch, h.dst_epoch) = (0x1000, src, dst));
        assert_eq!(counted(&mut node, &frame), stale, "{src} {dst}");
        raw.seq -= 1;
    }
    assert_eq!(node.memory.writes, 0);
    let good = raw.numbered(Kind::WriteRequest, b"x", |h| h.addr = 0x1000);
    assert_eq!(counted(&mut node, &good), EndpointCounters { served: 1, ..NOTHING });
}

#[test]
fn a_storm_of_stale_frames_is_not_answered_by_one() {
    let (mut node, raw) = met();
    let before = *node.endpoint.counters();
    let frame = raw.head(Kind::Unack).frame(&[]);
    let mut old = frame.to_vec();
    old[67] = 4;
    let old = Bytes::from(old);
    for _ in 0..100_000 {
        node.take(&old);
        node.frames();
        node.now += Duration::from_nanos(10);
    }
    let counts = since(&node, before);
    assert_eq!(counts.stale, 100_000);
    assert!(counts.tx < 40, "{counts:?}: a millisecond, and 50 us between answers");
}

/// Everything that one node has sent to another, from the first frame on.
fn recorded(node: &mut Node) -> Vec<Bytes> {
    let mut asker = Endpoint::new(EndpointConfig::new(peer(1), 5, false));
    let mut record = Vec::new();
    for i in 0..40u64 {
        asker.write(node.now, NODE, 0x1000 + 8 * i, Bytes::from_static(b"recorded")).unwrap();
        asker.atomic(node.now, NODE, 0x1800, rackloom_bridge::Atomic::FetchAdd(1)).unwrap();
        while asker.room(NODE) < TRANSACTIONS.into() {
            while let Some(frame) = asker.poll(node.now) {
                node.take(&frame);
                record.push(frame);
            }
            for frame in node.frames() {
                asker.handle_frame(node.now, &frame, &mut NoMemory);
            }
        }
    }
    record
}

#[test]
fn a_session_that_is_replayed_is_carried_out_once() {
    let mut node = Node::new();
    node.open(0, 0x1000, 0x1000, peer(1), memory_rights());
    let record = recorded(&mut node);
    assert_eq!(&node.memory.bytes[0x1800..0x1808], &40u64.to_be_bytes());
    let (bytes, before) = (node.memory.bytes.clone(), *node.endpoint.counters());
    for _ in 0..3 {
        for frame in &record {
            node.take(frame);
            node.frames();
        }
    }
    assert_eq!((&node.memory.bytes, since(&node, before).served), (&bytes, 0));
    assert!(since(&node, before).duplicates >= 3 * 80, "{:?}", since(&node, before));

    // Nor is it by a later life of the node, whether or not somebody has spoken to it.
    for epoch in [8, 6, 1 << 29] {
        let mut later = Node::with(EndpointConfig::new(NODE, epoch, false));
        later.open(0, 0x1000, 0x1000, peer(1), memory_rights());
        record.iter().chain(&record).for_each(|frame| {
            later.take(frame);
            later.frames();
        });
        assert_eq!((later.memory.writes, later.memory.reads), (0, 0), "{epoch}");
    }
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_malformed() {
    let (mut node, mut raw) = met();
    let ticket = node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    node.frames();
    for ack in [3, 100, u32::MAX / 2] {
        raw.ack = ack;
        for kind in [Kind::Ack, Kind::Nack, Kind::Unack] {
            let frame = raw.head(kind).frame(&[]);
            assert_eq!(counted(&mut node, &frame), EndpointCounters { malformed: 1, ..NOTHING }, "{ack} {kind:?}");
        }
    }
    raw.ack = 1;
    let beyond = raw.head(Kind::Ack).frame(&[&[0xff; 32]]);
    assert_eq!(counted(&mut node, &beyond), EndpointCounters { malformed: 1, ..NOTHING });
    raw.ack = 2;
    let answer = raw.numbered(Kind::ReadResponse, b"x", |h| h.count = 1);
    assert_eq!(counted(&mut node, &answer), NOTHING);
    let done = EndpointEvent::Done { ticket, result: Ok(Bytes::from_static(b"x")) };
    assert_eq!(node.endpoint.next_event(), Some(done));
}

#[test]
fn a_storm_of_nacks_is_answered_once_in_a_while() {
    let (mut node, raw) = met();
    for _ in 0..TRANSACTIONS {
        node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    }
    node.frames();
    let before = *node.endpoint.counters();
    let nack = raw.head(Kind::Nack).frame(&[]);
    for _ in 0..100_000 {
        node.take(&nack);
        node.frames();
        node.now += Duration::from_nanos(10);
    }
    // In a millisecond it goes back once in a timeout at most, which is 50 us or more, by all that is in flight.
    let counts = since(&node, before);
    assert!(counts.tx <= 21 * u64::from(TRANSACTIONS), "{counts:?}");
}

#[test]
fn numbers_beyond_the_credit_are_malformed() {
    let mut node = Node::new();
    node.open(0, 0, 16, ALL, Rights::STREAM);
    let mut raw = Raw::new(peer(1), 5, CHANNEL_STREAMS);
    raw.meet(&mut node);
    let mut counts = NOTHING;
    for _ in 0..1000 {
        let frame = raw.message(1, &[7; 1408]);
        counts.malformed += counted(&mut node, &frame).malformed;
    }
    assert_eq!(counts.malformed, 1000 - 96);
    assert_eq!(node.endpoint.bytes(), 96 * 1408);
    // Far ahead, or far behind.
    for seq in [1 << 20, 1 << 30, u32::MAX] {
        raw.seq = seq;
        let frame = raw.message(1, b"far");
        let counts = counted(&mut node, &frame);
        assert_eq!(counts.malformed + counts.duplicates, 1, "{seq}");
    }
    assert_eq!(node.endpoint.bytes(), 96 * 1408);
}

#[test]
fn a_peer_that_asks_too_much_at_once_is_cut_off() {
    let (mut node, mut raw) = met();
    for asked in 1.. {
        let read = raw.numbered(Kind::ReadRequest, &[], |h| (h.addr, h.count) = (0x1000, 1));
        if counted(&mut node, &read).denied > 0 {
            // As many as may be in flight have left the queue.
            const WINDOW: u32 = 96;
            assert!((64..=64 + WINDOW + 1).contains(&asked), "after {asked}");
            break;
        }
    }
    let served = node.endpoint.counters().served;
    let again = raw.numbered(Kind::ReadRequest, &[], |h| (h.addr, h.count) = (0x1000, 1));
    assert_eq!(counted(&mut node, &again).stale, 1, "its connection has ended");
    assert_eq!(node.endpoint.counters().served, served);
}

#[test]
fn answers_to_nothing_are_malformed() {
    let (mut node, mut raw) = met();
    for id in [0, 1, 77, u16::MAX] {
        for kind in [Kind::ReadResponse, Kind::WriteResponse] {
            let frame = raw.numbered(kind, b"", |h| h.id = id);
            assert_eq!(counted(&mut node, &frame), EndpointCounters { malformed: 1, ..NOTHING });
        }
    }
    assert_eq!(node.endpoint.next_event(), None);
}

#[test]
fn pieces_that_do_not_belong_end_the_connection() {
    let bad = |change: &dyn Fn(&mut rackloom_wire::BridgeHead), kind: Kind, payload: &[u8]| {
        let mut node = Node::new();
        node.open(0, 0, 4, ALL, Rights::STREAM);
        let mut raw = Raw::new(peer(1), 5, CHANNEL_STREAMS);
        raw.meet(&mut node);
        let half = raw.numbered(Kind::Stream, b"half", |h| h.tag = 1);
        node.take(&half);
        let frame = raw.numbered(kind, payload, change);
        let denied = counted(&mut node, &frame).denied;
        (denied, node.endpoint.take_message(node.now).is_none(), node.endpoint.bytes())
    };
    assert_eq!(bad(&|h| (h.tag, h.addr, h.flags) = (1, 4, 2), Kind::Stream, b"whole"), (0, false, 0));
    assert_eq!(bad(&|h| (h.tag, h.addr) = (1, 3), Kind::Stream, b"overlaps"), (1, true, 0));
    assert_eq!(bad(&|h| (h.tag, h.addr) = (1, 5), Kind::Stream, b"gap"), (1, true, 0));
    assert_eq!(bad(&|h| (h.tag, h.addr) = (2, 4), Kind::Stream, b"another's"), (1, true, 0));
    assert_eq!(bad(&|h| (h.tag, h.addr) = (4, 4), Kind::Stream, b"no such stream"), (1, true, 0));
    assert_eq!(bad(&|h| h.addr = 4, Kind::WriteRequest, b"no piece"), (1, true, 0));
}

/// The shortest frames that a wire of 100 Gb/s takes in a step of 2 us.
const WIRE: usize = 208;
const STEPS: u32 = 500;

/// Requests of a good peer that are done in a millisecond, while so many strangers speak.
fn done_amid(strangers: u32, base: u32, rights: Rights) -> (usize, Node) {
    let mut node = Node::new();
    node.open(0, 0x1000, 0x1000, peer(1), memory_rights());
    node.open(1, 0, 16, ALL, rights);
    let mut good = Endpoint::new(EndpointConfig::new(peer(1), 5, false));
    let (mut done, mut wire): (usize, Vec<Bytes>) = (0, Vec::new());
    for step in 0..STEPS {
        // A round trip of 2 us, and strangers all the time.
        while good.room(NODE) > 0 {
            good.write(node.now, NODE, 0x1000, Bytes::from_static(b"good")).unwrap();
        }
        let frames: Vec<_> = std::iter::from_fn(|| good.poll(node.now)).collect();
        for n in 0..strangers / STEPS {
            let channel = if rights == Rights::STREAM { CHANNEL_STREAMS } else { CHANNEL_MEMORY };
            let mut raw = Raw::new(peer(base + step * (strangers / STEPS) + n), n + 1, channel);
            raw.node_epoch = n % 3;
            let frame = raw.numbered(Kind::WriteRequest, b"bad", |h| h.flags = FLAG_ASKS);
            node.take(&frame);
        }
        frames.iter().for_each(|f| node.take(f));
        for frame in wire.drain(..) {
            good.handle_frame(node.now, &frame, &mut NoMemory);
        }
        let sent = std::iter::from_fn(|| node.endpoint.poll(node.now)).take(WIRE);
        wire = sent.filter(|f| f[..6] == peer(1).0).collect();
        done += std::iter::from_fn(|| good.next_event())
            .filter(|e| matches!(e, EndpointEvent::Done { result: Ok(_), .. }))
            .count();
        node.now += Duration::from_micros(2);
        node.endpoint.handle_timeout(node.now);
        good.handle_timeout(node.now);
    }
    (done, node)
}

#[test]
fn a_hundred_thousand_strangers_do_not_slow_a_good_pair_down() {
    let (alone, _) = done_amid(0, 1000, Rights::READ);
    assert!(alone > 10_000, "{alone}");
    for rights in [Rights::READ, Rights::STREAM] {
        let (amid, node) = done_amid(100_000, 1000, rights);
        assert!(amid * 100 >= alone * 99, "{amid} amid strangers, {alone} alone");
        let counters = node.endpoint.counters();
        assert_eq!(counters.served as usize, node.memory.writes);
        assert!(counters.stale >= 100_000, "{counters:?}");
        assert_eq!((&node.memory.bytes[0x1000..0x1004], &node.memory.bytes[..16]), (&b"good"[..], &[0; 16][..]));
        assert!(node.endpoint.len() <= 64 + 1, "{} places", node.endpoint.len());
        assert_eq!(node.endpoint.bytes(), 0);
    }
}

#[test]
fn strangers_that_may_do_nothing_cost_no_place_and_get_no_answer() {
    let (mut node, _) = met();
    let before = *node.endpoint.counters();
    for n in 0..100_000 {
        let raw = Raw::new(peer(1000 + n), 1, (n % 2) as u16);
        node.take(&raw.head(Kind::Unack).frame(&[]));
    }
    assert_eq!(node.frames(), [] as [Bytes; 0]);
    assert_eq!(since(&node, before), EndpointCounters { rx: 100_000, denied: 100_000, ..NOTHING });
    assert_eq!((node.endpoint.len(), node.now), (1, Instant::ZERO));
}
