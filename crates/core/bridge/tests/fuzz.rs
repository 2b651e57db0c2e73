//! Whatever comes, a node does not panic, and keeps its invariants and its memory.

mod common;

use bytes::Bytes;
use common::{Node, Raw, peer};
use proptest::collection::vec;
use proptest::prelude::*;
use rackloom_bridge::Rights;
use rackloom_node::Duration;
use rackloom_wire::bridge::Kind;
use rackloom_wire::{BridgeHead, MacAddr};

/// A numbered or bare frame with fields that are near what they should be, or anything.
#[derive(Debug, Clone)]
struct Step {
    kind: u8,
    flags: u8,
    id: u16,
    seq: u32,
    epochs: (u8, u8),
    ack: u32,
    limit: u32,
    addr: u64,
    count: u32,
    tag: u16,
    channel: u16,
    payload: Vec<u8>,
    /// Places and values of bytes that are changed afterwards.
    damage: Vec<(u16, u8)>,
    wait_us: u16,
}

fn near(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..most, 1 => any::<u32>()]
}

fn step() -> impl Strategy<Value = Step> {
    let payload = prop_oneof![vec(any::<u8>(), 0..40), vec(any::<u8>(), 32), vec(any::<u8>(), 16)];
    let first = (1u8..=10, 0u8..16, near(8), near(100), (0u8..4, 0u8..4), near(20), near(300));
    let second = (prop_oneof![0u64..0x3000, any::<u64>()], near(2000), 0u16..20, 0u16..3, payload);
    (first, second, vec((any::<u16>(), any::<u8>()), 0..2), prop_oneof![0u16..3, any::<u16>()]).prop_map(
        |((kind, flags, id, seq, epochs, ack, limit), (addr, count, tag, channel, payload), damage, wait_us)| Step {
            kind,
            flags,
            id: id as u16,
            seq,
            epochs,
            ack,
            limit,
            addr,
            count,
            tag,
            channel,
            payload,
            damage,
            wait_us,
        },
    )
}

fn frame(step: &Step, raw: &Raw) -> Bytes {
    // The epochs of both lives, or of none, or others.
    let epoch = |which: u8, right: u32| match which {
        0 => 0,
        1 => right.wrapping_sub(1),
        2 => right,
        _ => right.wrapping_add(1),
    };
    let head = BridgeHead {
        flags: step.flags & 0xb,
        id: step.id,
        seq: step.seq,
        src_epoch: epoch(step.epochs.0.max(1), raw.epoch),
        dst_epoch: epoch(step.epochs.1, raw.node_epoch),
        ack: step.ack,
        limit: step.limit,
        addr: step.addr,
        count: step.count,
        tag: step.tag,
        channel: step.channel,
        ..raw.head(Kind::from_wire(step.kind).expect("one of the kinds"))
    };
    let mut bytes = head.frame(&[&step.payload]).to_vec();
    for (at, value) in &step.damage {
        let at = usize::from(*at) % bytes.len();
        bytes[at] ^= value;
    }
    bytes.into()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_leave_a_node_whole(frames in vec(vec(any::<u8>(), 0..200), 0..20)) {
        let mut node = Node::new();
        node.open(0, 0, 1 << 16, MacAddr::ZERO, Rights::READ | Rights::WRITE);
        for bytes in frames {
            node.take(&bytes.into());
            node.frames();
        }
        prop_assert_eq!(node.memory.writes, 0);
    }

    #[test]
    fn any_frames_of_a_peer_leave_a_node_whole(steps in vec(step(), 1..150)) {
        let mut node = Node::new();
        let rights = Rights::READ | Rights::WRITE | Rights::ATOMIC;
        node.open(0, 0x1000, 0x1000, MacAddr::ZERO, rights);
        node.open(1, 2, 10, peer(1), Rights::STREAM);
        let mut raws = [Raw::new(peer(1), 500, 0), Raw::new(peer(1), 500, 1)];
        for raw in &mut raws {
            raw.meet(&mut node);
        }
        for step in steps {
            let raw = &mut raws[usize::from(step.channel % 2)];
            node.take(&frame(&step, raw));
            let mut frames = node.frames();
            frames.extend(node.pass(Duration::from_micros(step.wait_us.into())));
            raw.read(&frames);
            match step.id % 4 {
                0 => drop(node.endpoint.read(node.now, peer(1), step.addr, 8)),
                1 => drop(node.endpoint.send(node.now, peer(1), step.tag, &step.payload.into())),
                2 => drop(node.endpoint.take_message(node.now)),
                _ => {}
            }
            node.frames();
            while node.endpoint.next_event().is_some() {}
        }
        prop_assert!(node.memory.bytes[..0x1000].iter().chain(&node.memory.bytes[0x2000..]).all(|b| *b == 0));
        prop_assert!(node.endpoint.bytes() <= 2 * 96 * 40);
    }
}
