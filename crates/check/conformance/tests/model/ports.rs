//! Several ports: which service takes a frame, and what a role may send.

use rackloom_card::{CardEvent, Config, PortConfig, PortService};
use rackloom_conformance::bench::{CARD, HOST, Sent};
use rackloom_node::{Frame, Node};
use rackloom_wire::{Announce, AnnounceReason, BridgeHead, CARDS, Counter, Kind, MacAddr, bridge};

use crate::cards::{Bench, claimed, switched_on, virtual_time};
use crate::native::{SLOW, image};
use crate::talker::{FORGE, FORGE_BRIDGE, FORGE_PAUSE, HELD, LATER, LONGEST, turned_round};

const PORT_1: MacAddr = MacAddr([0x12, 0, 0, 0, 0, 1]);
const PORT_2: MacAddr = MacAddr([0x22, 0, 0, 0, 0, 1]);
const PEER: MacAddr = MacAddr([0x12, 0, 0, 0, 0, 2]);
/// An EtherType for local experiments (IEEE 802).
const FOREIGN: u16 = 0x88b5;

fn three_ports() -> Config {
    let ports = vec![PortConfig::new(PORT_1, PortService::Stream(0)), PortConfig::new(PORT_2, PortService::Stream(1))];
    Config { ports, ..virtual_time() }
}

fn talking() -> Bench {
    let mut bench = claimed(three_ports());
    bench.load(1, &image(b"talk", 0));
    bench.clear();
    bench
}

fn raw(dst: MacAddr, src: MacAddr, ethertype: u16, payload: &[u8]) -> Frame {
    [&dst.0[..], &src.0, &ethertype.to_be_bytes(), payload].concat().into()
}

#[test]
fn a_card_announces_its_ports() {
    let mut bench = switched_on(three_ports());
    bench.pass_ms(1);
    let body: Announce = bench.expect(Kind::DiscoveryAnnounce).body();
    assert_eq!((body.mac0, body.mac1, body.ports), (CARD, PORT_1, 3));
}

#[test]
fn ports_that_contradict_each_other_are_refused() {
    let with = |ports: &[(MacAddr, PortService)]| {
        let ports = ports.iter().map(|&(mac, service)| PortConfig::new(mac, service)).collect();
        Config { ports, ..virtual_time() }.validate().is_ok()
    };
    assert!(with(&[(PORT_1, PortService::Closed), (PORT_2, PortService::Closed)]));
    assert!(!with(&[(CARD, PortService::Closed)]), "port 0's address");
    assert!(!with(&[(PORT_1, PortService::Stream(0)), (PORT_1, PortService::Stream(1))]), "one address twice");
    assert!(!with(&[(PORT_1, PortService::Stream(7)), (PORT_2, PortService::Stream(7))]), "one stream twice");
    assert!(!with(&[(PORT_1, PortService::Control)]), "a second port for control");
    assert!(!with(&[(CARDS, PortService::Closed)]), "a group's address");
}

#[test]
fn a_port_passes_frames_to_another_that_is_there() {
    let with = |to| {
        let mut config = three_ports();
        config.ports[0] = config.ports[0].passing_to(to);
        config.validate().is_ok()
    };
    assert!(with(2));
    assert!(!with(0) && !with(1) && !with(3), "port 0, itself, and one that is not there");
}

#[test]
fn what_is_for_a_group_goes_to_the_role_and_passes() {
    let mut config = three_ports();
    config.ports[0] = config.ports[0].passing_to(2);
    let mut bench = claimed(config);
    bench.load(1, &image(b"talk", 0));
    bench.clear();
    let to_all = raw(MacAddr::BROADCAST, PEER, FOREIGN, b"all");
    bench.frame_at(1, to_all.clone());
    assert!(bench.events.contains(&CardEvent::RoleEvent { word: to_all.len() as u64 }));
    assert!(bench.others.contains(&(2, to_all)));
    // What is for the port itself does not pass, and what is for others does not reach the role.
    bench.clear();
    let own = raw(PORT_1, PEER, FOREIGN, b"own");
    bench.frame_at(1, own.clone());
    assert_eq!(bench.others, [(1, turned_round(&own))]);
    bench.clear();
    let other = raw(HOST, PEER, FOREIGN, b"other");
    bench.frame_at(1, other.clone());
    assert_eq!((&bench.others[..], bench.events.len()), (&[(2, other)][..], 0));
}

#[test]
fn frames_that_nobody_fetches_are_lost_and_counted() {
    let mut config = three_ports();
    config.ports[0] = config.ports[0].passing_to(2);
    let mut bench = switched_on(config);
    for _ in 0..100 {
        bench.card.handle_frame(bench.now, 1, raw(HOST, PEER, FOREIGN, b"again"));
    }
    let lost = bench.card.counters().get(Counter::DropQueue);
    bench.card.check_invariants();
    bench.drain();
    assert!(lost > 0);
    assert_eq!(bench.others.len() as u64 + lost, 100);
}

#[test]
fn messages_go_to_the_role_and_come_back_on_their_port() {
    let mut bench = talking();
    let ping = raw(PORT_1, PEER, FOREIGN, b"ping");
    bench.frame_at(1, ping.clone());
    assert_eq!(bench.others, [(1, turned_round(&ping))]);
    assert!(bench.events.contains(&CardEvent::RoleEvent { word: ping.len() as u64 }));
    bench.others.clear();
    bench.pass(LATER);
    assert_eq!(bench.others, [(1, turned_round(&ping))], "the role's own deadline");
    bench.expect_nothing();
}

#[test]
fn a_role_lives_while_its_kernel_runs() {
    let mut bench = talking();
    bench.launch(1, SLOW, &[0, 1_000_000]);
    bench.frame_at(1, raw(PORT_1, PEER, FOREIGN, b"now"));
    assert_eq!(bench.others.len(), 1);
    assert_eq!(bench.card.launches_queued(), 1);
}

#[test]
fn control_is_taken_at_port_0_only() {
    let mut bench = talking();
    let before = bench.count(Counter::DropForeign);
    let ping = bench.head(Kind::SessionPing, 5, 0).frame(&[]);
    // Ports of streams, the only one beyond them, and one that no card has.
    for port in [1, 2, 3, 255] {
        bench.frame_at(port, ping.clone());
    }
    // Neither does a group's address lead there.
    let solicit = raw(MacAddr::BROADCAST, HOST, 0x80ef, &[0x10, 2, 0, 8]);
    bench.frame_at(1, solicit);
    assert_eq!(bench.count(Counter::DropForeign), before + 5);
    bench.expect_nothing();
    assert!(bench.others.is_empty());
    bench.frame(ping);
    bench.expect(Kind::SessionPong);
}

#[test]
fn what_is_not_for_a_stream_is_dropped_and_counted() {
    let mut bench = talking();
    let counts = |b: &Bench| {
        [Counter::DropForeign, Counter::DropTruncated, Counter::DropQueue].map(|c| b.card.counters().get(c))
    };
    let [foreign, truncated, queue] = counts(&bench);
    bench.frame_at(1, raw(PORT_2, PEER, FOREIGN, b"another port's"));
    bench.frame_at(1, raw(PORT_1, PORT_1, FOREIGN, b"its own, come back"));
    bench.frame_at(1, raw(PORT_1, MacAddr::BROADCAST, FOREIGN, b"from a group"));
    bench.frame_at(0, raw(CARD, PEER, FOREIGN, b"at port 0"));
    bench.frame_at(1, Frame::from_static(b"short"));
    bench.frame_at(1, raw(PORT_1, PEER, FOREIGN, &vec![0; LONGEST]));
    assert_eq!(counts(&bench), [foreign + 4, truncated + 1, queue + 1]);
    assert!(bench.others.is_empty());
}

/// Frames of the bridge are no role's; other packets of IPv6 are.
#[test]
fn a_role_hears_no_frame_of_the_bridge() {
    let mut bench = talking();
    let ours = BridgeHead::new(PORT_1, PEER, bridge::Kind::Unack).frame(&[]);
    bench.frame_at(1, ours.clone());
    assert_eq!((bench.count(Counter::DropForeign), bench.others.len()), (1, 0));
    let mut other = ours.to_vec();
    other[20] = 59; // No next header, RFC 8200.
    bench.frame_at(1, other.clone().into());
    assert_eq!(bench.others, [(1, turned_round(&other))]);
}

#[test]
fn without_a_role_nothing_listens() {
    let mut bench = claimed(three_ports());
    bench.frame_at(1, raw(PORT_1, PEER, FOREIGN, b"anybody?"));
    assert_eq!(bench.count(Counter::DropForeign), 1);
    bench.load(1, &image(b"a role without streams", 0));
    bench.frame_at(1, raw(PORT_1, PEER, FOREIGN, b"anybody?"));
    assert_eq!(bench.count(Counter::DropForeign), 2);
    assert!(bench.others.is_empty());
}

#[test]
fn a_role_that_does_not_keep_up_loses_messages_and_no_answer_of_the_shell() {
    let mut bench = talking();
    // The owner of the card polls no more: its wires are full.
    for _ in 0..HELD + 3 {
        bench.card.handle_frame(bench.now, 1, raw(PORT_1, PEER, FOREIGN, b"again"));
    }
    bench.hand(bench.head(Kind::SessionPing, 5, 0).frame(&[]));
    assert!(bench.card.counters().get(Counter::DropQueue) > 0);
    bench.drain();
    bench.expect(Kind::SessionPong);
    assert_eq!(bench.others.len(), HELD / 2);
}

#[test]
fn a_role_forges_nothing() {
    let mut bench = talking();
    // Stream 1 passes its messages on, to the stream that the last byte names.
    let control = raw(PORT_2, PEER, FOREIGN, &[1]);
    bench.frame_at(2, control); // Its source is the peer's address, not the port's.
    assert!(bench.others.is_empty());
    let refused = |b: &Bench, s| b.events.contains(&CardEvent::MessageRefused { stream: s });
    assert!(refused(&bench, 1));
    bench.frame_at(2, raw(PORT_2, PEER, FOREIGN, &[9])); // A stream without a port.
    assert!(refused(&bench, 9));
    bench.events.clear();
    bench.frame_at(2, raw(PORT_2, PEER, FOREIGN, FORGE)); // A family of ours.
    assert!(refused(&bench, 1));
    bench.events.clear();
    bench.frame_at(2, raw(PORT_2, PEER, FOREIGN, FORGE_BRIDGE)); // One that IPv6 carries.
    assert!(refused(&bench, 1));
    bench.events.clear();
    bench.frame_at(2, raw(PORT_2, PEER, FOREIGN, FORGE_PAUSE)); // A switch would obey.
    assert!(refused(&bench, 1));
    assert!(bench.others.is_empty());
    // Hosts hear of it, once however often it tries.
    let named = |sent: &Sent| sent.body::<Announce>().reason == u8::from(AnnounceReason::RoleFailed);
    assert_eq!(bench.take_all(Kind::DiscoveryAnnounce).iter().filter(|sent| named(sent)).count(), 1);
    bench.expect_nothing();
}
