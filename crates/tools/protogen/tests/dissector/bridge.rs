//! The bridge family behind Wireshark's own IPv6.

use std::collections::BTreeMap;

use rackloom_wire::bridge::{self, Atomic, BridgeOperation, BridgeStatus, CARRIER, Kind, Sack};
use rackloom_wire::{BridgeHead, BridgePacket, IntoBytes, MacAddr, U64, put_record};

use super::{CARD, HOST, Shows, capture, hex, whole};

/// A payload for this kind, and what has to be seen of it.
fn sample(kind: Kind) -> (Vec<u8>, Vec<Shows>) {
    match kind {
        Kind::ReadRequest | Kind::WriteResponse | Kind::Unack => (Vec::new(), Vec::new()),
        Kind::WriteRequest | Kind::ReadResponse | Kind::Stream => {
            (b"twelve bytes".to_vec(), vec![("rackloom_bridge.data", hex(b"twelve bytes"))])
        }
        Kind::Ack | Kind::Nack => {
            let bitmap = std::array::from_fn(|i| i as u8);
            (Sack { bitmap }.as_bytes().to_vec(), vec![("rackloom_bridge.sack.bitmap", hex(&bitmap))])
        }
        Kind::AtomicRequest => {
            let body = Atomic { operand: U64::new(77), compare: U64::new(1 << 40) };
            let shows = vec![
                ("rackloom_bridge.atomic.operand", "77".into()),
                ("rackloom_bridge.atomic.compare", (1u64 << 40).to_string()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::WriteBatch => {
            let mut payload = Vec::new();
            put_record(&mut payload, 64, b"first");
            put_record(&mut payload, 128, b"second one");
            let shows = vec![("rackloom_bridge.data", hex(&payload))];
            (payload, shows)
        }
    }
}

fn head(kind: Kind) -> BridgeHead {
    BridgeHead {
        flags: bridge::FLAG_ASKS | bridge::FLAG_SELECTIVE,
        id: 513,
        seq: 0xfedc_ba98,
        src_epoch: 11,
        dst_epoch: 12,
        ack: 13,
        limit: 14,
        addr: 0x1_0000_0040,
        count: 4096,
        tag: BridgeStatus::Denied.into(),
        channel: bridge::CHANNEL_STREAMS,
        ..BridgeHead::new(HOST, CARD, kind)
    }
}

fn frame(kind: Kind) -> Vec<u8> {
    head(kind).frame(&[&sample(kind).0]).to_vec()
}

#[test]
fn every_kind_is_named_behind_ipv6_and_shows_what_was_put_in() {
    let folder = tempfile::tempdir().unwrap();
    let frames = Kind::ALL.map(frame);
    let (seen, lines) = capture(folder.path(), &whole(frames.clone()));
    for (((kind, frame), seen), line) in Kind::ALL.into_iter().zip(&frames).zip(&seen).zip(&lines) {
        assert_eq!(seen.get("rackloom_bridge.name"), Some(kind.name()), "{seen:?}");
        assert_eq!(seen.protocols, "eth:ethertype:ipv6:rackloom_bridge", "{kind:?}");
        assert_eq!(seen.faults(), [""; 0], "{kind:?}: {seen:?}");
        let (payload, shows) = sample(kind);
        let common = [
            ("ipv6.hlim", "255".into()),
            ("ipv6.src", CARRIER.address(CARD).to_string()),
            ("ipv6.dst", CARRIER.address(HOST).to_string()),
            ("ipv6.plen", (42 + payload.len()).to_string()),
            ("rackloom_bridge.version", bridge::VERSION.to_string()),
            ("rackloom_bridge.kind", (kind as u8).to_string()),
            ("rackloom_bridge.length", payload.len().to_string()),
            ("rackloom_bridge.id", "513".into()),
            ("rackloom_bridge.seq", "4275878552".into()),
            ("rackloom_bridge.src_epoch", "11".into()),
            ("rackloom_bridge.dst_epoch", "12".into()),
            ("rackloom_bridge.ack", "13".into()),
            ("rackloom_bridge.limit", "14".into()),
            ("rackloom_bridge.addr", "0x0000000100000040".into()),
            ("rackloom_bridge.count", "4096".into()),
            ("rackloom_bridge.tag", "2".into()),
            ("rackloom_bridge.channel", "1".into()),
            ("rackloom_bridge.flags.asks", "1".into()),
            ("rackloom_bridge.flags.last", "0".into()),
            ("rackloom_bridge.flags.selective", "1".into()),
            ("rackloom_bridge.from", "both".into()),
        ];
        for (field, value) in common.iter().chain(&shows) {
            let there = seen.fields.get(*field).is_some_and(|v| v.contains(value));
            assert!(there, "{kind:?}: {field} is {:?} and not {value}", seen.fields.get(*field));
        }
        // Beyond source and destination, the line is the one that our own tools print.
        let ours = BridgePacket::parse(frame).unwrap().to_string();
        let ours = ours.split_once(kind.name()).unwrap().1;
        assert!(line.contains(&format!("RackloomBridge {} {}{ours}", frame.len(), kind.name())), "{line} lacks {ours}");
    }
}

#[test]
fn an_acknowledgement_may_lack_its_bitmap_and_an_atomic_request_not_its_operands() {
    let folder = tempfile::tempdir().unwrap();
    let frames = [Kind::Ack, Kind::Nack, Kind::AtomicRequest].map(|kind| head(kind).frame(&[]).to_vec());
    let (seen, _) = capture(folder.path(), &whole(frames));
    assert_eq!(seen[0].faults(), [""; 0], "{seen:?}");
    assert_eq!(seen[1].faults(), [""; 0], "{seen:?}");
    assert!(seen[2].fields.contains_key("rackloom_bridge.bad_payload"), "{seen:?}");
    assert_eq!(u16::from(BridgeOperation::CompareSwap), 2);
}

#[test]
fn what_no_node_sends_is_flagged_and_what_is_no_frame_of_ours_is_left_alone() {
    let good = frame(Kind::WriteRequest);
    let with = |at: usize, value: u8| {
        let mut frame = good.clone();
        frame[at] = value;
        frame
    };
    let stranger = MacAddr([2, 0, 0, 0, 0, 0x77]);
    let mut spoofed = BridgeHead { src: stranger, ..head(Kind::Stream) }.frame(&[&[1; 8]]).to_vec();
    spoofed[6..12].copy_from_slice(&CARD.0);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (with(21, 64), "rackloom_bridge.bad_packet"),
        (with(29, 1), "rackloom_bridge.bad_packet"),
        (with(45, 1), "rackloom_bridge.bad_packet"),
        (spoofed, "rackloom_bridge.bad_packet"),
        (with(53, 1), "rackloom_bridge.bad_packet"),
        (with(57, 11), "rackloom_bridge.bad_packet"),
        (with(57, 13), "rackloom_bridge.truncated"),
        (with(54, 0x21), "rackloom_bridge.bad_version"),
        (with(55, 99), "rackloom_bridge.unknown_kind"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (seen, lines) = capture(folder.path(), &whole(cases.iter().map(|c| c.0.clone())));
    for (((frame, flag), seen), line) in cases.iter().zip(&seen).zip(&lines) {
        assert!(seen.fields.contains_key(*flag), "{flag} is not on {frame:02x?}: {seen:?}");
        assert_eq!(seen.faults().len(), 1, "{flag}: {seen:?}");
        assert!(line.contains('['), "{line}");
        assert!(BridgePacket::parse(frame).is_err(), "{flag}");
    }
    // Of the world's addresses, of another next header, and of IPv4.
    let mut ipv4 =
        [&good[..12], &[8, 0, 0x45, 0, 0, 24, 0, 0, 0, 0, 255, 253, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]].concat();
    ipv4.extend([0x10; 26]);
    let (seen, _) = capture(folder.path(), &whole([with(38, 0x20), with(20, 254), ipv4]));
    let ours: BTreeMap<_, _> = seen.iter().flat_map(|s| &s.fields).filter(|(f, _)| f.contains("rackloom")).collect();
    assert!(ours.is_empty(), "{ours:?}");
    assert!(seen.iter().all(|s| !s.protocols.contains("rackloom")), "{seen:?}");
}
