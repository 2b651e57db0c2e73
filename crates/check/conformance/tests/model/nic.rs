//! A host behind the card: what passes between it and the wire, what does not, and how card and host share the wire.

use rackloom_card::{CardEvent, Config, Hook, Nic, NicCounters, PortConfig, PortService, Unattended};
use rackloom_conformance::bench::{BASE, CARD, CHUNK, HOST, OBSERVER, Out, ack_body};
use rackloom_node::{Duration, Frame, Node, Output};
use rackloom_wire::{CARDS, Counter, Head, IntoBytes, Kind, MacAddr, Pause, Solicit, U32, ethertype};

use crate::bump::{ALTER, DROP, FORGE, HELD, RETURN};
use crate::cards::{Bench, claimed, switched_on, virtual_time};
use crate::native::{FILL, SLOW, image};

/// The host behind the card, at port 2.
const OWN: MacAddr = MacAddr([0x22, 0, 0, 0, 0, 1]);
/// Somebody on the wire.
const PEER: MacAddr = MacAddr([6, 0, 0, 0, 0, 7]);
const IPV4: u16 = 0x0800;

/// Port 1 is a stream's, port 2 the host's.
fn behind(hook: Option<Hook>) -> Config {
    let port_1 = PortConfig::new(MacAddr([0x12, 0, 0, 0, 0, 1]), PortService::Stream(0));
    let ports = vec![port_1, PortConfig::new(OWN, PortService::Closed)];
    Config { ports, nic: Some(Nic { host: 2, hook }), ..virtual_time() }
}

fn raw(dst: MacAddr, src: MacAddr, ethertype: u16, payload: &[u8]) -> Frame {
    [&dst.0[..], &src.0, &ethertype.to_be_bytes(), payload].concat().into()
}

fn counters(bench: &Bench) -> NicCounters {
    bench.card.nic_counters().expect("a host is behind it")
}

/// What came out at port 2 or, of the host's, at port 0, for a frame that comes in at `port`.
fn comes_out(bench: &mut Bench, port: u8, frame: Frame) -> Vec<(u8, Frame)> {
    bench.others.clear();
    bench.frame_at(port, frame);
    std::mem::take(&mut bench.others)
}

#[test]
fn what_contradicts_itself_is_refused() {
    let valid = |change: fn(&mut Config)| {
        let mut config = behind(None);
        change(&mut config);
        config.validate().is_ok()
    };
    assert!(valid(|_| ()));
    assert!(valid(|c| c.nic = Some(Nic { host: 2, hook: Some(Hook::USUAL) })));
    assert!(!valid(|c| c.nic = Some(Nic { host: 0, hook: None })), "the wire itself");
    assert!(!valid(|c| c.nic = Some(Nic { host: 1, hook: None })), "a stream's port");
    assert!(!valid(|c| c.nic = Some(Nic { host: 3, hook: None })), "a port that is not there");
    assert!(!valid(|c| c.ports[0] = c.ports[0].passing_to(2)), "another port sends there");
    assert!(!valid(|c| c.ports[1] = c.ports[1].passing_to(1)), "what comes from there goes elsewhere");
    assert!(!valid(|c| c.nic = Some(Nic { host: 2, hook: Some(Hook { wire: 0, ..Hook::USUAL }) })), "a port's stream");
    assert!(!valid(|c| c.nic = Some(Nic { host: 2, hook: Some(Hook { wire: 15, ..Hook::USUAL }) })), "one for both");
}

#[test]
fn what_is_for_the_host_reaches_it_and_what_it_sends_reaches_the_wire() {
    let mut bench = switched_on(behind(None));
    for dst in [OWN, MacAddr::BROADCAST, MacAddr([0x33, 0x33, 0, 0, 0, 1])] {
        let frame = raw(dst, PEER, IPV4, b"in");
        assert_eq!(comes_out(&mut bench, 0, frame.clone()), [(2, frame)], "to {dst}");
    }
    for dst in [PEER, HOST, MacAddr::BROADCAST] {
        let frame = raw(dst, OWN, IPV4, b"out");
        assert_eq!(comes_out(&mut bench, 2, frame.clone()), [(0, frame)], "to {dst}");
    }
    let counted = counters(&bench);
    assert_eq!((counted.to_host.frames, counted.to_wire.frames), (3, 3));
    assert_eq!((counted.to_host.bytes, counted.to_wire.bytes), (48, 51));
    assert_eq!(bench.card.counters().get(Counter::PassedFrames), 6);
    // What is for others is for nobody here, as without a host.
    let before = bench.card.counters().get(Counter::DropForeign);
    assert_eq!(comes_out(&mut bench, 0, raw(HOST, PEER, IPV4, b"astray")), []);
    assert_eq!(bench.card.counters().get(Counter::DropForeign), before + 1);
}

#[test]
fn a_host_passes_whatever_the_card_does() {
    let mut bench = claimed(behind(None));
    bench.load(1, &image(b"no streams", 0));
    bench.launch(1, SLOW, &[0, 1_000_000]);
    let frame = raw(OWN, PEER, IPV4, b"in");
    assert_eq!(comes_out(&mut bench, 0, frame.clone()), [(2, frame)]);
    let frame = raw(PEER, OWN, IPV4, b"out");
    assert_eq!(comes_out(&mut bench, 2, frame.clone()), [(0, frame)]);
    assert_eq!(bench.card.launches_queued(), 1);
}

/// Control is the card's at the wire, also what is for a group: the host hears none of it.
#[test]
fn control_stays_at_the_card() {
    let mut bench = switched_on(behind(None));
    let solicit = Solicit { window_us: U32::ZERO, reserved: U32::ZERO };
    for dst in [CARDS, MacAddr::BROADCAST] {
        let head = Head { src: OBSERVER, dst, epoch: 0, ..bench.head(Kind::DiscoverySolicit, 0, 0) };
        assert_eq!(comes_out(&mut bench, 0, head.frame(&[solicit.as_bytes()])), []);
        bench.expect(Kind::DiscoveryAnnounce);
    }
    // Control for the host behind the card is for nobody.
    let head = Head { dst: OWN, ..bench.head(Kind::SessionPing, 0, 0) };
    assert_eq!(comes_out(&mut bench, 0, head.frame(&[])), []);
    assert_eq!(counters(&bench), NicCounters::default());
}

#[test]
fn a_lying_host_is_heard_by_nobody() {
    let mut bench = claimed(behind(None));
    let before = bench.card.counters().get(Counter::DropForeign);
    let mut silent = |frame: Frame| assert_eq!(comes_out(&mut bench, 2, frame.clone()), [], "{frame:?}");
    for src in [CARD, HOST, PEER, MacAddr::BROADCAST, CARDS, MacAddr::ZERO] {
        silent(raw(PEER, src, IPV4, b"not mine"));
    }
    // Control: as a card to a host, as a host to a card, and to its own card.
    for ethertype in rackloom_wire::ETHERTYPES {
        silent(raw(HOST, OWN, ethertype, &[0x10, 1, 0, 0]));
        silent(raw(CARDS, OWN, ethertype, &[0x10, 1, 0, 0]));
        silent(raw(CARD, OWN, ethertype, &[0x10, 1, 0, 0]));
    }
    // The bridge: IPv6 of next header 253 to a unique local address. And what would silence a switch.
    let mut bridge = vec![0; 82];
    (bridge[0], bridge[6], bridge[24]) = (0x60, 253, 0xfd);
    silent(raw(PEER, OWN, 0x86dd, &bridge));
    silent(raw(MacAddr([1, 0x80, 0xc2, 0, 0, 1]), OWN, 0x8808, &[0, 1, 0xff, 0xff]));
    // To the card, which takes nothing but control, and to itself.
    silent(raw(CARD, OWN, IPV4, b"hello"));
    silent(raw(OWN, OWN, IPV4, b"hello"));
    silent(Frame::from_static(b"short"));
    let reserved = 3 * rackloom_wire::ETHERTYPES.len() as u64 + 2;
    assert_eq!(counters(&bench), NicCounters { forged: 6, reserved, astray: 2, ..NicCounters::default() });
    let dropped = 6 + reserved + 2;
    assert_eq!(bench.card.counters().get(Counter::DropForeign), before + dropped);
    assert_eq!(bench.card.counters().get(Counter::DropTruncated), 1);
    assert_eq!(bench.card.owner(), Some(HOST), "the claim is what it was");
    // Other IPv6 is the host's.
    bridge[24] = 0x20;
    assert_eq!(comes_out(&mut bench, 2, raw(PEER, OWN, 0x86dd, &bridge)).len(), 1);
    bridge[24] = 0xfd;
    bridge[6] = 6;
    assert_eq!(comes_out(&mut bench, 2, raw(PEER, OWN, 0x86dd, &bridge)).len(), 1);
}

#[test]
fn a_lying_wire_deceives_no_host() {
    let mut bench = switched_on(behind(None));
    for src in [OWN, CARD, MacAddr::BROADCAST] {
        assert_eq!(comes_out(&mut bench, 0, raw(OWN, src, IPV4, b"in")), [], "from {src}");
        assert_eq!(comes_out(&mut bench, 0, raw(MacAddr::BROADCAST, src, IPV4, b"in")), [], "from {src}");
    }
    assert_eq!(counters(&bench), NicCounters { forged: 6, ..NicCounters::default() });
}

#[test]
fn a_flood_is_bounded_and_what_is_lost_is_counted() {
    let mut bench = switched_on(behind(None));
    bench.clear();
    for _ in 0..10_000 {
        bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, &[0; 1000]));
        bench.card.handle_frame(bench.now, 0, raw(OWN, PEER, IPV4, &[0; 1000]));
        bench.card.check_invariants();
    }
    bench.drain();
    // The host was ordered to pause, and did not.
    bench.others.retain(|(_, frame)| Pause::of(frame).is_none());
    let counted = counters(&bench);
    assert_eq!(counted.paused, 1);
    assert_eq!(counted.to_host.frames + counted.to_wire.frames, bench.others.len() as u64);
    assert_eq!(bench.others.len() as u64 + counted.overflow, 20_000);
    assert!(counted.overflow > 17_000 && counted.to_host.frames > 100 && counted.to_wire.frames > 100, "{counted:?}");
    assert_eq!(bench.card.counters().get(Counter::DropQueue), counted.overflow);
    // Too long for any wire.
    assert_eq!(comes_out(&mut bench, 2, raw(PEER, OWN, IPV4, &[0; 9001])), []);
    assert_eq!(counters(&bench).overflow, counted.overflow + 1);
}

/// The host could send ten times what the wire carries, and has as much to send; it is silent when it is ordered to be.
#[test]
fn a_host_that_pauses_when_ordered_to_loses_nothing() {
    const FRAME: usize = 1514;
    let on_host_cable = Duration::from_nanos((FRAME as u64 + 24) * 8 / 10);
    let on_wire = Duration::from_nanos((FRAME as u64 + 24) * 8);
    let mut bench = switched_on(behind(None));
    bench.clear();
    let end = bench.now + Duration::from_millis(50);
    let (mut silent_until, mut wire_free) = (bench.now, bench.now);
    let (mut sent, mut orders, mut idle) = (0u64, 0u64, 0u64);
    while bench.now < end {
        if bench.now >= silent_until {
            bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, &[0; FRAME - 14]));
            sent += 1;
        }
        // A full wire takes nothing, and the card is not asked for more.
        while wire_free <= bench.now {
            match bench.card.poll(bench.now) {
                Some(Output::Transmit(0, frame)) if frame.len() == FRAME => wire_free += on_wire,
                Some(Output::Transmit(2, frame)) => {
                    let pause = Pause::of(&frame).expect("there is nothing else for the host");
                    orders += u64::from(pause.quanta > 0);
                    silent_until = bench.now + Duration::from_nanos(pause.nanos());
                }
                Some(_) => {}
                None => {
                    idle += 1;
                    break;
                }
            }
        }
        bench.card.check_invariants();
        bench.now += on_host_cable;
    }
    let counted = counters(&bench);
    assert_eq!((counted.overflow, counted.paused, idle), (0, orders, 0));
    assert!(orders > 3, "{orders}");
    // 50 ms of the wire are full.
    assert!(counted.to_wire.frames >= 4000 && sent > counted.to_wire.frames, "{counted:?} of {sent}");
}

/// Bytes that leave at the wire, of the card and of the host, while it carries 10 Gb/s for a millisecond; `feed` keeps
/// both busy.
fn shares(bench: &mut Bench, mut feed: impl FnMut(&mut Bench, Option<&Frame>)) -> [u64; 2] {
    let end = bench.now + Duration::from_millis(1);
    let mut bytes = [0; 2];
    feed(bench, None);
    while bench.now < end {
        match bench.card.poll(bench.now) {
            Some(Output::Transmit(0, frame)) => {
                let own = frame[6..12] == CARD.0;
                bytes[usize::from(!own)] += frame.len() as u64;
                bench.now += Duration::from_nanos(frame.len() as u64 * 8 / 10);
                feed(bench, own.then_some(&frame));
            }
            Some(_) => {}
            None => bench.now += Duration::from_micros(1),
        }
        if bench.card.next_deadline().is_some_and(|at| at <= bench.now) {
            bench.card.handle_timeout(bench.now);
        }
        bench.card.check_invariants();
    }
    assert!(bytes.iter().sum::<u64>() > 1_200_000, "the wire is full: {bytes:?}");
    bytes
}

fn assert_fair(bytes: [u64; 2]) {
    let all: u64 = bytes.iter().sum();
    assert!(bytes.iter().all(|share| share * 100 >= all * 45), "card and host: {bytes:?}");
}

/// The host floods the wire; the card is asked for more than it can answer.
#[test]
fn a_flood_from_the_host_leaves_control_its_share() {
    for length in [46, 1500, 9000] {
        let mut bench = claimed(behind(None));
        let bytes = shares(&mut bench, |bench, _| {
            for _ in 0..160 {
                bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, &vec![0; length]));
                bench.hand(bench.head(Kind::SessionPing, 0, 0).frame(&[]));
            }
        });
        assert_fair(bytes);
    }
}

/// A role's results want the wire; so does the host.
#[test]
fn a_flood_of_results_leaves_the_host_its_share() {
    for length in [46, 1500, 9000] {
        let mut bench = claimed(behind(None));
        bench.load(1, &image(b"no streams", 0));
        let out = Out { addr: BASE, length: 700 * u64::from(CHUNK), credit: 200, ..Out::default() };
        bench.clear();
        bench.hand(
            bench
                .head(Kind::ExecLaunch, 1, FILL)
                .frame(&[&rackloom_conformance::bench::launch_payload(&[BASE, out.length, 1], out)]),
        );
        bench.now += Duration::from_micros(10);
        bench.card.handle_timeout(bench.now);
        let mut heard = 0;
        let bytes = shares(&mut bench, |bench, own| {
            if own.is_some_and(|frame| frame[12..14] == ethertype::RESULT.to_be_bytes() && frame.len() > 1000) {
                heard += 1;
                let ack = ack_body(heard, heard + 200, &[]);
                bench.hand(bench.head(Kind::ExecResultAck, 1, 0).frame(&[ack.as_bytes()]));
            }
            for _ in 0..160 {
                bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, &vec![0; length]));
            }
        });
        assert!(heard > 300, "{heard} chunks");
        assert_fair(bytes);
    }
}

/// A role that has a port of its own speaks there whatever the host sends, also where the driver polls no more than the
/// wire carries.
#[test]
fn a_flood_from_the_host_leaves_the_role_its_turn() {
    let mut bench = claimed(behind(None));
    bench.load(1, &image(b"talk", 0));
    bench.clear();
    let port_1 = bench.card.config().ports[0].mac;
    let mut sent = [0_u64; 2];
    while sent.iter().sum::<u64>() < 1_000_000 {
        for _ in 0..8 {
            bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, &[0; 1500]));
            bench.card.handle_frame(bench.now, 1, raw(port_1, PEER, IPV4, &[0; 1400]));
        }
        match bench.card.poll(bench.now) {
            Some(Output::Transmit(2, frame)) => assert!(Pause::of(&frame).is_some(), "the host hears nothing else"),
            Some(Output::Transmit(port, frame)) => sent[usize::from(port)] += frame.len() as u64,
            Some(Output::Event(_)) => {}
            None => panic!("both have frames"),
        }
    }
    assert_fair(sent);
}

/// One that takes its turns, however rarely it wants one, waits for a frame or two of the other's.
#[test]
fn an_answer_waits_for_no_queue() {
    let mut bench = claimed(behind(None));
    for _ in 0..300 {
        bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, &[0; 1500]));
    }
    let order = bench.card.poll(bench.now);
    assert!(matches!(&order, Some(Output::Transmit(2, frame)) if Pause::of(frame).is_some()), "{order:?}");
    bench.hand(bench.head(Kind::SessionPing, 0, 0).frame(&[]));
    let before = (0..)
        .take_while(|_| match bench.card.poll(bench.now) {
            Some(Output::Transmit(0, frame)) => frame[6..12] != CARD.0,
            other => panic!("{other:?}"),
        })
        .count();
    assert!(before <= 2, "{before} frames of the host come first");
}

fn hooked(unattended: Unattended) -> Bench {
    let mut bench = claimed(behind(Some(Hook { unattended, ..Hook::USUAL })));
    bench.load(1, &image(b"bump", 0));
    bench.clear();
    bench
}

#[test]
fn a_role_in_the_path_sends_on_alters_drops_and_returns() {
    let mut bench = hooked(Unattended::Pass);
    for (port, far, dst, src) in [(0, 2, OWN, PEER), (2, 0, PEER, OWN)] {
        let frame = |payload: &[u8]| raw(dst, src, IPV4, payload);
        assert_eq!(comes_out(&mut bench, port, frame(b"plain")), [(far, frame(b"plain"))]);
        assert_eq!(comes_out(&mut bench, port, frame(DROP)), []);
        assert_eq!(comes_out(&mut bench, port, frame(ALTER)), [(far, frame(b"alte!"))]);
        // Back to where it came from it would be a frame of somebody else.
        assert_eq!(comes_out(&mut bench, port, frame(RETURN)), []);
        assert!(bench.events.iter().any(|e| matches!(e, CardEvent::MessageRefused { .. })), "{:?}", bench.events);
        bench.events.clear();
        // A role in the path is trusted with the host's frames, not with ours.
        assert_eq!(comes_out(&mut bench, port, frame(FORGE)), []);
        assert!(bench.events.iter().any(|e| matches!(e, CardEvent::MessageRefused { .. })), "{:?}", bench.events);
        bench.events.clear();
    }
    let counted = counters(&bench);
    assert_eq!((counted.to_host.frames, counted.to_wire.frames), (2, 2));
    // What is not the host's does not get that far.
    bench.frame_at(2, raw(PEER, CARD, IPV4, b"plain"));
    assert_eq!(counters(&bench).forged, 1);
    bench.frame_at(0, raw(HOST, PEER, IPV4, b"plain"));
    assert!(bench.others.is_empty());
}

#[test]
fn a_role_that_does_not_keep_up_loses_frames_and_costs_control_nothing() {
    let mut bench = hooked(Unattended::Pass);
    for _ in 0..100 {
        bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, b"more"));
    }
    bench.hand(bench.head(Kind::SessionPing, 5, 0).frame(&[]));
    bench.drain();
    bench.expect(Kind::SessionPong);
    assert_eq!((bench.others.len(), counters(&bench).missed), (HELD, 100 - HELD as u64));
}

/// Through a role as well, card and host share the wire.
#[test]
fn hooked_frames_take_turns_too() {
    let mut bench = hooked(Unattended::Pass);
    let bytes = shares(&mut bench, |bench, _| {
        for _ in 0..160 {
            bench.card.handle_frame(bench.now, 2, raw(PEER, OWN, IPV4, &[0; 1500]));
            bench.hand(bench.head(Kind::SessionPing, 0, 0).frame(&[]));
        }
    });
    assert_fair(bytes);
}

#[test]
fn without_its_role_a_hook_lets_pass_or_holds() {
    for (unattended, passes) in [(Unattended::Pass, true), (Unattended::Hold, false)] {
        let mut bench = claimed(behind(Some(Hook { unattended, ..Hook::USUAL })));
        let inward = raw(OWN, PEER, IPV4, DROP);
        let outward = raw(PEER, OWN, IPV4, DROP);
        let unseen = |bench: &mut Bench| {
            assert_eq!(comes_out(bench, 0, inward.clone()).len(), usize::from(passes), "{unattended:?}");
            assert_eq!(comes_out(bench, 2, outward.clone()).len(), usize::from(passes), "{unattended:?}");
        };
        unseen(&mut bench);
        bench.load(1, &image(b"no streams", 0));
        unseen(&mut bench);
        bench.load(2, &image(b"bump", 0));
        assert_eq!(comes_out(&mut bench, 0, inward.clone()), [], "the role drops it");
        bench.load(3, &image(b"no streams", 0));
        unseen(&mut bench);
        assert_eq!(counters(&bench).held, if passes { 0 } else { 6 });
    }
}
