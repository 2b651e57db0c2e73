//! Ports and families: what comes in elsewhere, or belongs to another protocol, goes to no service and is counted.

use rackloom_node::Duration;
use rackloom_wire::{Announce, CARDS, Counter, Head, IntoBytes, Kind, MacAddr, Solicit, U32};

use crate::bench::{Bench, CARD, GROUP, HOST, RIVAL, config};
use crate::{Specimen, images};

/// A card says how many ports it has.
pub fn a_card_announces_its_ports<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    let body: Announce = bench.expect(Kind::DiscoveryAnnounce).body();
    assert_eq!((body.mac0, body.ports), (CARD, S::PORTS));
    assert_eq!(body.mac1.is_zero(), S::PORTS == 1);
}

/// Control frames are taken at port 0, wherever else they come in.
pub fn control_is_taken_at_port_0_only<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    bench.pass_ms(300);
    bench.clear();
    let solicit = Solicit { window_us: U32::new(0), reserved: U32::ZERO };
    let to_all = Head { dst: CARDS, src: HOST, kind: Kind::DiscoverySolicit, flags: 0, epoch: 0, seq: 1, addr: 0 };
    let frames = [
        Bench::<S>::claim_frame(HOST, 1, 0),
        bench.head(Kind::SessionPing, 1, 0).frame(&[]),
        to_all.frame(&[solicit.as_bytes()]),
        Head { dst: MacAddr::BROADCAST, ..to_all }.frame(&[solicit.as_bytes()]),
    ];
    // The card's other ports, one that it does not have, and the last that a frame can name.
    for port in (1..=S::PORTS).chain([u8::MAX]) {
        for frame in &frames {
            let before = bench.card.frames_elsewhere();
            bench.frame_at(port, frame.clone());
            bench.pass_ms(1);
            assert_eq!(bench.card.frames_elsewhere(), before + 1, "port {port}");
            bench.expect_nothing();
        }
    }
    assert_eq!(bench.owner(), None);
    // At port 0 the same frames are answered.
    bench.claim(HOST, 1);
    assert_eq!(bench.owner(), Some(HOST));
}

/// A lease lives by what its owner sends to port 0.
pub fn frames_elsewhere_renew_no_lease<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    for _ in 0..11 {
        bench.pass(Duration::from_millis(500));
        let ping = bench.head(Kind::SessionPing, 1, 0).frame(&[]);
        bench.frame_at(1, ping);
    }
    bench.clear();
    bench.claim(RIVAL, 2);
    assert_eq!(bench.owner(), Some(RIVAL));
}

/// Image data that comes in elsewhere is no part of a load.
pub fn a_load_takes_its_data_at_port_0<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    let image = images::probe(1, 0);
    bench.begin(1, &image, crate::bench::CHUNK);
    bench.expect(Kind::ImageConfirmReady);
    for index in 0..image.len().div_ceil(crate::bench::CHUNK.into()) {
        let (head, bytes) = bench.chunk_of(&image, crate::bench::CHUNK, index);
        bench.frame_at(1, head.frame(&[bytes]));
    }
    bench.poll(1, 0);
    bench.pass_ms(1);
    assert_eq!(bench.take_all(Kind::ImageConfirmMissing).len(), 1, "group {GROUP:#x} misses everything");
    assert!(bench.take_all(Kind::ImageConfirmStaged).is_empty());
}

/// Other protocols share the wire; none of their frames reaches a service.
pub fn a_foreign_family_goes_to_no_service<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    // IPv4, ARP, IPv6, flow control, LLDP, PTP, a local experiment, and neighbours of our own types.
    let foreign = [0x0800, 0x0806, 0x86dd, 0x8808, 0x88cc, 0x88f7, 0x88b5, 0x80ed, 0x80ee, 0x80ac, 0x80dc, 0x80ca];
    for (i, ethertype) in foreign.into_iter().enumerate() {
        let mut frame = bench.head(Kind::SessionPing, 1, 0).frame(&[]).to_vec();
        frame[12..14].copy_from_slice(&u16::to_be_bytes(ethertype));
        let before = bench.count(Counter::DropForeign);
        bench.frame(frame.into());
        assert_eq!(bench.count(Counter::DropForeign), before + 1, "{i}: {ethertype:#06x}");
        bench.expect_nothing();
    }
}
