//! Faults that a reading of the endpoint found, each with the peer that brings it about.

mod common;

use bytes::Bytes;
use common::{NODE, Node, Raw, peer};
use rackloom_bridge::{EndpointConfig, EndpointEvent, Failure, NotTaken, Rights, STREAM_MESSAGE_MAX, Ticket};
use rackloom_node::Duration;
use rackloom_wire::bridge::{CHANNEL_MEMORY, CHANNEL_STREAMS, Kind, TRANSACTIONS};
use rackloom_wire::{BridgePacket, MacAddr};

fn unreachable(ticket: Ticket) -> Option<EndpointEvent> {
    Some(EndpointEvent::Done { ticket, result: Err(Failure::Unreachable) })
}

#[test]
fn a_peer_that_takes_no_answers_leaves_room_for_our_requests() {
    let mut node = Node::new();
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ);
    let mut raw = Raw::new(peer(1), 1, CHANNEL_MEMORY);
    raw.meet(&mut node);
    // Answers are in flight, as many as the window allows, and more wait for their turn.
    for _ in 0..5 * TRANSACTIONS / 2 {
        let read = raw.numbered(Kind::ReadRequest, &[], |h| h.count = 1);
        node.take(&read);
        node.frames();
    }
    while node.endpoint.room(raw.mac) > 0 {
        node.endpoint.read(node.now, raw.mac, 0, 1).expect("there is room, they said");
    }
}

#[test]
fn lives_of_a_peer_do_not_pile_up_messages() {
    pile_up(Node::new());
}

fn pile_up(mut node: Node) {
    node.open(0, 0, 16, MacAddr::ZERO, Rights::STREAM);
    let bytes = [7; 1024];
    let mut taken = 0;
    for life in 1..50 {
        let mut raw = Raw::new(peer(1), life, CHANNEL_STREAMS);
        node.take(&raw.head(Kind::Unack).frame(&[]));
        raw.read(&node.frames());
        for _ in 0..90 {
            node.take(&raw.message(3, &bytes));
        }
        node.frames();
        assert!(node.endpoint.bytes() <= 2 * 96 * bytes.len(), "{} bytes in life {life}", node.endpoint.bytes());
    }
    // Its owner comes at last, and whoever lives then is heard again.
    while node.endpoint.take_message(node.now).is_some() {
        taken += 1;
    }
    assert_eq!(taken, 2 * 90);
    let mut raw = Raw::new(peer(1), 99, CHANNEL_STREAMS);
    raw.meet(&mut node);
    node.take(&raw.message(3, &bytes));
    assert!(node.endpoint.take_message(node.now).is_some());
}

#[test]
fn a_window_that_closes_costs_no_message_that_was_acknowledged() {
    close_window(Node::new());
}

fn close_window(mut node: Node) {
    node.open(0, 3, 2, MacAddr::ZERO, Rights::STREAM);
    let mut raw = Raw::new(peer(1), 1, CHANNEL_STREAMS);
    raw.meet(&mut node);
    let early = raw.message(4, b"early");
    node.take(&early);
    raw.read(&node.frames());
    node.open(0, 4, 1, MacAddr::ZERO, Rights::STREAM);
    let late = raw.message(3, b"late");
    node.take(&late);
    assert_eq!(node.endpoint.counters().denied, 1);
    assert_eq!(node.endpoint.take_message(node.now), Some((raw.mac, 4, Bytes::from_static(b"early"))));
    assert_eq!(node.endpoint.take_message(node.now), None);
    // What it says now, or has said before, is of a life that has ended.
    let next = raw.message(4, b"next");
    node.take(&next);
    node.take(&early);
    assert_eq!(node.endpoint.take_message(node.now), None);
    raw.seq = 1;
    raw.meet(&mut node);
    let again = raw.message(4, b"again");
    node.take(&again);
    assert_eq!(node.endpoint.take_message(node.now), Some((raw.mac, 4, Bytes::from_static(b"again"))));
}

#[test]
fn a_message_that_a_life_began_and_did_not_end_is_gone_with_it() {
    two_lives(Node::new());
}

fn two_lives(mut node: Node) {
    node.open(0, 0, 16, MacAddr::ZERO, Rights::STREAM);
    let mut raw = Raw::new(peer(1), 1, CHANNEL_STREAMS);
    raw.meet(&mut node);
    let half = raw.numbered(Kind::Stream, b"half", |h| h.tag = 3);
    node.take(&half);
    let mut raw = Raw::new(peer(1), 2, CHANNEL_STREAMS);
    raw.meet(&mut node);
    let whole = raw.message(3, b"whole");
    node.take(&whole);
    assert_eq!(node.endpoint.take_message(node.now), Some((raw.mac, 3, Bytes::from_static(b"whole"))));
}

#[test]
fn a_peer_that_acknowledges_and_never_answers_is_given_up() {
    let mut node = Node::new();
    let mut raw = Raw::new(peer(1), 1, CHANNEL_MEMORY);
    let ticket = node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    raw.read(&node.frames());
    for _ in 0..400 {
        node.take(&raw.head(Kind::Unack).frame(&[]));
        let mut frames = node.frames();
        frames.extend(node.pass(Duration::from_millis(1)));
        raw.read(&frames);
    }
    assert_eq!(node.endpoint.next_event(), unreachable(ticket));
}

#[test]
fn a_message_in_more_pieces_than_can_ever_be_sent_is_invalid() {
    let config = EndpointConfig { longest: 64, ..EndpointConfig::new(NODE, 7, false) };
    let mut node = Node::with(config);
    let message = Bytes::from(vec![0; STREAM_MESSAGE_MAX]);
    assert_eq!(node.endpoint.send(node.now, peer(1), 0, &message), Err(NotTaken::Invalid));
    assert_eq!(node.endpoint.send(node.now, peer(1), 0, &message.slice(..96 * 64 + 1)), Err(NotTaken::Invalid));
    assert_eq!(node.endpoint.send(node.now, peer(1), 0, &message.slice(..96 * 64)), Ok(()));
}

/// Its thread did not run, and what the peer said meanwhile has not been read.
#[test]
fn a_node_that_wakes_up_late_listens_before_it_gives_up() {
    let mut node = Node::new();
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ);
    let mut raw = Raw::new(peer(1), 1, CHANNEL_MEMORY);
    raw.meet(&mut node);
    let ticket = node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    raw.read(&node.frames());
    node.now += Duration::from_secs(10);
    node.endpoint.handle_timeout(node.now);
    node.frames();
    assert_eq!(node.endpoint.next_event(), None);
    let answer = raw.numbered(Kind::ReadResponse, b"x", |h| h.count = 1);
    node.take(&answer);
    let done = EndpointEvent::Done { ticket, result: Ok(Bytes::from_static(b"x")) };
    assert_eq!(node.endpoint.next_event(), Some(done));
    // But not for ever.
    let ticket = node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    node.frames();
    node.now += Duration::from_secs(10);
    node.endpoint.handle_timeout(node.now);
    node.frames();
    assert_eq!(node.endpoint.next_event(), None);
    node.pass(Duration::from_millis(100));
    assert_eq!(node.endpoint.next_event(), unreachable(ticket));
}

/// Peers on the same machine that get no processor say nothing; that is no evidence.
#[test]
fn a_node_whose_peers_get_no_processor_does_not_give_them_up() {
    let mut node = Node::new();
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ);
    let mut raw = Raw::new(peer(1), 1, CHANNEL_MEMORY);
    raw.meet(&mut node);
    let ticket = node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    node.frames();
    let end = node.now + Duration::from_secs(2);
    while let Some(at) = node.endpoint.deadline().filter(|at| *at <= end) {
        node.now = node.now.max(at);
        node.endpoint.handle_starvation();
        node.endpoint.handle_timeout(node.now);
        node.frames();
    }
    assert_eq!(node.endpoint.next_event(), None);
    // They run again, and this one is still silent.
    node.pass(Duration::from_secs(1));
    assert_eq!(node.endpoint.next_event(), unreachable(ticket));
}

/// A node that remembers its epoch would otherwise come back with one that a flood has used up.
#[test]
fn strangers_use_up_no_epochs() {
    let mut node = Node::new();
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ);
    for n in 0..1000 {
        let raw = Raw::new(peer(n), 1, CHANNEL_MEMORY);
        node.take(&raw.head(Kind::Unack).frame(&[]));
        node.frames();
    }
    let mut raw = Raw::new(peer(5000), 1, CHANNEL_MEMORY);
    raw.meet(&mut node);
    assert_eq!(raw.node_epoch, 7);
}

/// There is no place for it yet, and it is not served.
#[test]
fn a_peer_that_finds_no_place_is_not_served_and_waits() {
    let mut config = EndpointConfig::new(NODE, 7, false);
    config.peers.established = 1;
    let mut node = Node::with(config);
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::WRITE);
    Raw::new(peer(1), 1, CHANNEL_MEMORY).meet(&mut node);
    let mut raw = Raw::new(peer(2), 1, CHANNEL_MEMORY);
    node.take(&raw.head(Kind::Unack).frame(&[]));
    raw.read(&node.frames());
    let write = raw.numbered(Kind::WriteRequest, b"x", |_| ());
    node.take(&write);
    assert_eq!((node.memory.writes, node.frames().len()), (0, 0));
    node.now += Duration::from_secs(31);
    node.take(&write);
    assert_eq!((node.memory.writes, raw.read(&node.frames())), (1, vec![(Kind::WriteResponse, 0)]));
}

#[test]
fn a_silent_peer_keeps_its_place_while_its_messages_wait() {
    let mut config = EndpointConfig::new(NODE, 7, false);
    config.peers.established = 1;
    let mut node = Node::with(config);
    node.open(0, 0, 16, MacAddr::ZERO, Rights::STREAM);
    let mut first = Raw::new(peer(1), 1, CHANNEL_STREAMS);
    first.meet(&mut node);
    let message = first.message(1, b"first");
    node.take(&message);
    first.read(&node.frames());
    node.now += Duration::from_secs(60);
    let mut second = Raw::new(peer(2), 1, CHANNEL_STREAMS);
    node.take(&second.head(Kind::Unack).frame(&[]));
    second.read(&node.frames());
    let message = second.message(1, b"second");
    node.take(&message);
    assert_eq!(node.endpoint.take_message(node.now), Some((first.mac, 1, Bytes::from_static(b"first"))));
    assert_eq!(node.endpoint.take_message(node.now), None);
    node.frames();
    node.take(&message);
    assert_eq!(node.endpoint.take_message(node.now), Some((second.mac, 1, Bytes::from_static(b"second"))));
}

/// Its owner may take its messages as late as it likes.
#[test]
fn a_peer_that_gives_no_credit_and_is_heard_is_not_given_up() {
    let mut node = Node::new();
    let mut raw = Raw::new(peer(1), 1, CHANNEL_STREAMS);
    let mut sent = 0;
    for _ in 0..1000 {
        // All that there is credit for at first, and as much again that waits for more.
        while node.endpoint.send(node.now, raw.mac, 0, &Bytes::from_static(b"message")).is_ok() {
            sent += 1;
        }
        let frames = node.pass(Duration::from_millis(1));
        raw.read(&frames);
        let mut head = raw.head(Kind::Ack);
        head.limit = 97;
        node.take(&head.frame(&[]));
        let more = node.frames();
        raw.read(&more);
    }
    assert_eq!((raw.ack, sent, node.endpoint.next_event()), (97, 2 * 96, None));
}

#[test]
fn a_new_life_gets_no_rest_of_a_message_and_the_owner_hears_of_its_loss() {
    let mut node = Node::with(EndpointConfig { window: 16, ..EndpointConfig::new(NODE, 7, false) });
    let mut raw = Raw::new(peer(1), 1, CHANNEL_STREAMS);
    let (long, short) = (Bytes::from(vec![1; 40 * 1408]), Bytes::from_static(b"short"));
    node.endpoint.send(node.now, raw.mac, 0, &long).unwrap();
    node.endpoint.send(node.now, raw.mac, 0, &short).unwrap();
    raw.read(&node.frames());
    node.take(&raw.head(Kind::Ack).frame(&[]));
    assert!(!raw.read(&node.frames()).is_empty(), "pieces are in flight");
    assert_eq!(node.endpoint.next_event(), None);
    let mut later = Raw { epoch: 2, ack: 1, ..raw };
    node.take(&later.head(Kind::Ack).frame(&[]));
    let first = node.frames().into_iter().find(|f| later.read(std::slice::from_ref(f))[0].0 == Kind::Stream);
    let first = first.expect("the next message waits");
    assert_eq!(BridgePacket::parse(&first).unwrap().payload, &short[..]);
    assert_eq!(node.endpoint.next_event(), Some(EndpointEvent::StreamsLost { peer: later.mac }));
}

/// What we ask of a stranger is not lost to the next strangers.
#[test]
fn a_stranger_that_we_ask_for_something_is_none() {
    let mut node = Node::new();
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ);
    let mut raw = Raw::new(peer(1), 1, CHANNEL_MEMORY);
    node.take(&raw.head(Kind::Unack).frame(&[]));
    raw.read(&node.frames());
    let ticket = node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    for n in 100..300 {
        node.take(&Raw::new(peer(n), 1, CHANNEL_MEMORY).head(Kind::Unack).frame(&[]));
        node.frames();
    }
    assert_eq!(node.endpoint.next_event(), None);
    node.take(&raw.head(Kind::Ack).frame(&[]));
    assert_eq!(raw.read(&node.frames()), [(Kind::ReadRequest, 0)]);
    let answer = raw.numbered(Kind::ReadResponse, b"x", |h| h.count = 1);
    node.take(&answer);
    let done = EndpointEvent::Done { ticket, result: Ok(Bytes::from_static(b"x")) };
    assert_eq!(node.endpoint.next_event(), Some(done));
}

/// It would answer itself, and perhaps be heard.
#[test]
fn a_frame_of_our_own_or_of_nobody_is_foreign() {
    let mut node = Node::new();
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ);
    for mac in [NODE, MacAddr::ZERO] {
        node.take(&Raw::new(mac, 1, CHANNEL_MEMORY).head(Kind::Unack).frame(&[]));
        assert_eq!(node.frames(), [] as [Bytes; 0], "{mac}");
    }
    assert_eq!((node.endpoint.counters().foreign, node.endpoint.len()), (2, 0));
}

/// Bugs that honest nodes get over, so that the simulation does not see them.
#[cfg(feature = "planted-bugs")]
mod planted {
    use std::panic::catch_unwind;

    use rackloom_bridge::PlantedBug;

    use super::{Node, close_window, pile_up, two_lives};

    fn is_caught(bug: PlantedBug, test: fn(Node)) -> bool {
        let suffering = move || {
            let mut node = Node::new();
            node.endpoint.plant(bug);
            test(node);
        };
        catch_unwind(suffering).is_err()
    }

    #[test]
    fn lives_that_pile_up_are_caught() {
        assert!(is_caught(PlantedBug::PileUp, pile_up));
    }

    #[test]
    fn a_new_connection_of_the_same_epoch_is_caught() {
        assert!(is_caught(PlantedBug::SameEpoch, close_window));
    }

    #[test]
    fn a_message_of_two_lives_is_caught() {
        assert!(is_caught(PlantedBug::KeepPartial, two_lives));
    }
}
