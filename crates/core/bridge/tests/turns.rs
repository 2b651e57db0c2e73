//! Peers take turns: one that has much to get or to say costs the others one frame, or one message.

mod common;

use bytes::Bytes;
use common::{NODE, Node, Raw, peer};
use rackloom_bridge::{EndpointConfig, Rights};
use rackloom_node::Duration;
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::{CHANNEL_MEMORY, CHANNEL_STREAMS, TRANSACTIONS};

#[test]
fn frames_go_to_one_peer_after_the_other() {
    let mut node = Node::with(EndpointConfig { window: 256, ..EndpointConfig::new(NODE, 7, false) });
    node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ);
    let mut raws = [1, 2, 3].map(|n| Raw::new(peer(n), 1, CHANNEL_MEMORY));
    raws.iter_mut().for_each(|raw| raw.meet(&mut node));
    for (raw, count) in raws.iter().zip([TRANSACTIONS, TRANSACTIONS, 2]) {
        for _ in 0..count {
            node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
        }
    }
    let to: Vec<u8> = node.frames().iter().map(|f| f[4]).collect();
    assert_eq!(to.len(), 2 * usize::from(TRANSACTIONS) + 2);
    assert_eq!(to[..8], [1, 2, 3, 1, 2, 3, 1, 2]);
    let (ones, twos) = (to[8..20].iter().filter(|n| **n == 1).count(), to[8..20].iter().filter(|n| **n == 2).count());
    assert_eq!((ones, twos), (6, 6), "{to:?}");
}

/// Two peers with messages for the node: 1, 2 and 3 of the first, 4 of the second.
fn with_messages() -> (Node, [MacAddr; 2]) {
    let mut node = Node::new();
    node.open(0, 0, 16, MacAddr::ZERO, Rights::STREAM);
    for (n, messages) in [(1, [1, 2, 3].as_slice()), (2, &[4])] {
        let mut raw = Raw::new(peer(n), 1, CHANNEL_STREAMS);
        raw.meet(&mut node);
        for message in messages {
            let frame = raw.message(5, &[*message]);
            node.take(&frame);
        }
    }
    node.frames();
    (node, [peer(1), peer(2)])
}

#[test]
fn messages_are_taken_of_one_peer_after_the_other_and_each_in_order() {
    let (mut node, _) = with_messages();
    let mut taken = Vec::new();
    while let Some((_, stream, bytes)) = node.endpoint.take_message(node.now) {
        assert_eq!(stream, 5);
        taken.push(bytes[0]);
        node.frames();
    }
    assert_eq!(taken, [1, 4, 2, 3]);
}

#[test]
fn a_message_that_is_left_for_later_is_the_next_of_its_peer() {
    let (mut node, [one, two]) = with_messages();
    assert_eq!(node.endpoint.inboxes(), 2);
    node.endpoint.skip_message();
    assert_eq!(node.endpoint.message(), Some((two, 5, &Bytes::from_static(&[4]))));
    node.endpoint.skip_message();
    assert_eq!(node.endpoint.take_message(node.now), Some((one, 5, Bytes::from_static(&[1]))));
    assert_eq!(node.endpoint.take_message(node.now), Some((two, 5, Bytes::from_static(&[4]))));
    assert_eq!(node.endpoint.inboxes(), 1);
}

/// Its wire is full, and nobody takes frames: it does not ask to be woken up for what it could not send.
#[test]
fn a_node_that_cannot_send_waits_for_its_wire() {
    let mut node = Node::new();
    let raw = Raw::new(peer(1), 1, CHANNEL_MEMORY);
    node.endpoint.read(node.now, raw.mac, 0, 1).unwrap();
    for _ in 0..10 {
        let Some(at) = node.endpoint.deadline() else { break };
        node.now = node.now.max(at);
        node.endpoint.handle_timeout(node.now);
    }
    assert_eq!(node.endpoint.deadline(), None);
    node.now += Duration::from_millis(1);
    assert_eq!(node.frames().len(), 1, "its hello");
    assert!(node.endpoint.deadline().is_some_and(|at| at > node.now));
}
