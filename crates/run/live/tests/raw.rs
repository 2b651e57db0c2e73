//! Raw sockets on real interfaces: veth pairs and a bridge in network namespaces.

mod netns;
mod nodes;

use std::error::Error;
use std::io;
use std::num::NonZeroUsize;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use netns::{Namespace, permitted};
use nodes::{Echo, mac};
use rackloom_live::{Clock, Driver, Pool, Raw, RawError, Switch, Uplink, Wire};
use rackloom_node::Frame;
use rackloom_wire::{BridgeHead, ETHERTYPES, MacAddr, bridge};

const LONG: Duration = Duration::from_secs(60);

fn frame(dst: [u8; 6], src: [u8; 6], ethertype: u16, length: usize) -> Frame {
    let mut bytes = [&dst[..], &src, &ethertype.to_be_bytes()].concat();
    bytes.resize(length, length as u8);
    bytes.into()
}

/// Frames until there are `count`, for at most a minute.
fn receive(wire: &mut impl Wire, count: usize) -> Vec<Frame> {
    let (mut out, deadline) = (Vec::new(), Instant::now() + LONG);
    while out.len() < count && Instant::now() < deadline {
        wire.recv(Some(deadline), &mut out).unwrap();
    }
    assert_eq!(out.len(), count);
    out
}

fn pair(mtu: u32) -> (Namespace, Namespace, Raw, Raw) {
    let (a, b) = (Namespace::new(), Namespace::new());
    a.veth("port0", &b, "port0", mtu);
    let open = || Raw::open("port0").unwrap();
    let wires = (a.enter(open), b.enter(open));
    (a, b, wires.0, wires.1)
}

#[test]
fn standard_and_jumbo_frames_pass_both_ways() {
    if !permitted() {
        return;
    }
    let (_na, _nb, mut a, mut b) = pair(9000);
    assert_eq!((a.mtu(), b.mtu()), (9000, 9000));
    for length in [60, 61, 1514, 9014] {
        for dst in [mac(2), [0xff; 6], [3, 0x52, 0x4c, 0, 0, 1]] {
            let (there, back) = (frame(dst, mac(1), 0x80dd, length), frame(dst, mac(2), 0x80db, length));
            assert_eq!(a.send(std::slice::from_ref(&there)).unwrap(), 1);
            assert_eq!(receive(&mut b, 1), [there]);
            assert_eq!(b.send(std::slice::from_ref(&back)).unwrap(), 1);
            assert_eq!(receive(&mut a, 1), [back], "and not what it sent itself");
        }
    }
}

/// A host sent one jumbo frame into a pair whose other end takes standard frames, and sent nothing more, for ever.
#[test]
fn regression_a_frame_that_the_device_refuses_each_time_held_up_all_others() {
    if !permitted() {
        return;
    }
    let (_na, nb, mut a, mut b) = pair(9000);
    nb.ip(&["link", "set", "port0", "mtu", "1500"]);
    let long = frame(mac(2), mac(1), 0x80dd, 9000);
    let short = frame(mac(2), mac(1), 0x80dd, 1514);
    let mut left = vec![long.clone(), short.clone(), long.clone(), long, short.clone()];
    let (began, mut out) = (Instant::now(), Vec::new());
    while !left.is_empty() {
        let taken = a.send(&left).unwrap();
        left.drain(..taken);
        a.recv(Some(Instant::now() + Duration::from_millis(2)), &mut out).unwrap();
        assert!(began.elapsed() < LONG, "{} frames are left", left.len());
    }
    assert_eq!(receive(&mut b, 2), [short.clone(), short]);
    assert_eq!(a.stats().tx_refused, 3);
    assert_eq!((a.refused().frames, a.refused().bytes_min), (3, 9000));
}

#[test]
fn only_rackloom_frames_are_received_and_all_of_them() {
    if !permitted() {
        return;
    }
    let (_na, _nb, mut a, mut b) = pair(1500);
    for foreign in [0x0800, 0x0806, 0x86dd, 0x80ac, 0x80ee] {
        assert_eq!(a.send(&[frame([0xff; 6], mac(1), foreign, 60)]).unwrap(), 1);
    }
    let bridged = BridgeHead::new(MacAddr(mac(2)), MacAddr(mac(1)), bridge::Kind::Unack).frame(&[]);
    let mut hosts = bridged.to_vec();
    hosts[20] = 59; // No next header, RFC 8200.
    assert_eq!(a.send(&[hosts.into()]).unwrap(), 1);
    let mut ours: Vec<_> = ETHERTYPES.iter().map(|e| frame([0xff; 6], mac(1), *e, 60)).collect();
    ours.push(bridged);
    assert_eq!(a.send(&ours).unwrap(), ours.len());
    assert_eq!(receive(&mut b, ours.len()), ours);
}

#[test]
fn frames_longer_than_the_interface_allows_are_counted_and_dropped() {
    if !permitted() {
        return;
    }
    let (na, _nb, mut a, mut b) = pair(1500);
    let sizes = [1515, 60, 13, 9014, 1514];
    let frames = sizes.map(|l| if l < 14 { Frame::from(vec![0; l]) } else { frame(mac(2), mac(1), 0x80aa, l) });
    assert_eq!(a.send(&frames).unwrap(), 5);
    assert_eq!(receive(&mut b, 2), [frames[1].clone(), frames[4].clone()]);
    assert_eq!((a.stats().tx_bad_length, a.stats().tx_frames), (3, 2));
    // The MTU is made smaller behind its back.
    na.ip(&["link", "set", "port0", "mtu", "1000"]);
    assert_eq!(a.send(&frames[4..]).unwrap(), 1);
    assert_eq!(a.send(&frames[1..2]).unwrap(), 1);
    assert_eq!(receive(&mut b, 1), frames[1..2]);
    assert_eq!(a.stats().tx_bad_length, 4);
}

#[test]
fn cards_behind_an_uplink_and_a_host_meet_through_a_bridge() {
    if !permitted() {
        return;
    }
    let (host_ns, rack_ns, bridge_ns) = (Namespace::new(), Namespace::new(), Namespace::new());
    bridge_ns.ip(&["link", "add", "br0", "mtu", "9000", "type", "bridge"]);
    bridge_ns.ip(&["link", "set", "br0", "up"]);
    for (namespace, end) in [(&host_ns, "to-host"), (&rack_ns, "to-rack")] {
        bridge_ns.veth(end, namespace, "port0", 9000);
        bridge_ns.ip(&["link", "set", end, "master", "br0"]);
    }
    let clock = Clock::start();
    let switch = Switch::default();
    let uplink =
        Uplink::spawn(switch.attach("uplink").unwrap(), rack_ns.enter(|| Raw::open("port0").unwrap())).unwrap();
    let pool = Pool::new(NonZeroUsize::MIN, clock).unwrap();
    let _cards: Vec<_> = (10..14)
        .map(|n| pool.add(Echo::server(mac(n)), switch.attach(&format!("card-{n}")).unwrap(), |_| {}))
        .collect();
    let (tell, told) = channel();
    let wire = host_ns.enter(|| Raw::open("port0").unwrap());
    let host = Driver::spawn(Echo::server(mac(1)), wire, clock, move |done| tell.send(done).unwrap()).unwrap();
    for n in 10..14 {
        for length in [60, 1514, 9014] {
            host.with(move |node, _| node.start(mac(n), length, 500, 16)).unwrap();
            told.recv_timeout(LONG).unwrap();
        }
    }
    // A frame is counted after it has been sent: the last answers may be here before they are.
    let until = Instant::now() + LONG;
    let is_counted = || uplink.stats().inward >= 6000 && uplink.stats().outward >= 6000;
    while !is_counted() && Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(is_counted(), "{:?}", uplink.stats());
    assert!(uplink.failure().is_none());
}

#[test]
fn a_pulled_cable_loses_frames_and_a_removed_interface_ends_the_wire() {
    if !permitted() {
        return;
    }
    let (na, _nb, mut a, mut b) = pair(1500);
    let one = frame(mac(2), mac(1), 0x80aa, 60);
    na.ip(&["link", "set", "port0", "down"]);
    assert_eq!(a.send(std::slice::from_ref(&one)).unwrap(), 1);
    a.recv(Some(Instant::now()), &mut Vec::new()).unwrap();
    assert_eq!(a.stats().tx_down, 1);
    na.ip(&["link", "set", "port0", "up"]);
    let deadline = Instant::now() + LONG;
    let mut got = Vec::new();
    while got.is_empty() {
        assert!(Instant::now() < deadline);
        a.send(std::slice::from_ref(&one)).unwrap();
        b.recv(Some(Instant::now() + Duration::from_millis(5)), &mut got).unwrap();
    }
    assert_eq!(got[0], one);

    let waiting = std::thread::spawn(move || b.recv(None, &mut Vec::new()).map_err(|e| e.kind()));
    na.ip(&["link", "del", "port0"]); // Its peer goes with it.
    assert_eq!(waiting.join().unwrap(), Err(io::ErrorKind::NotConnected));
    let error = a.send(std::slice::from_ref(&one)).unwrap_err();
    assert_eq!(error.to_string(), "interface port0 was removed");
}

#[test]
fn what_cannot_be_opened_is_explained() {
    if !permitted() {
        return;
    }
    let (a, b) = (Namespace::new(), Namespace::new());
    a.veth("port0", &b, "port0", 1500);
    let absent = a.enter(|| Raw::open("prot0").unwrap_err());
    assert_eq!(absent.to_string(), "there is no interface prot0 here; there are: lo, port0");
    for odd in ["", "a-name-that-is-too-long", "a\0b"] {
        let refused = a.enter(|| Raw::open(odd).unwrap_err());
        assert!(matches!(refused, RawError::NoInterface { .. }), "{odd:?}: {refused:?}");
    }
    a.ip(&["link", "set", "port0", "down"]);
    let down = a.enter(|| Raw::open("port0").unwrap_err());
    assert_eq!(down.to_string(), "interface port0 is down; bring it up with `ip link set port0 up`");

    // A thread without the privilege.
    let (refused, absent) = a.enter(|| {
        use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
        let mut sets = capabilities(None).unwrap();
        sets.effective -= CapabilitySet::NET_RAW;
        set_capabilities(None, sets).unwrap();
        (Raw::open("port0").unwrap_err(), Raw::open("prot0").unwrap_err())
    });
    assert!(matches!(refused, RawError::NotPermitted { .. }), "{refused:?}");
    assert!(refused.to_string().contains("CAP_NET_RAW") && refused.source().is_none());
    assert!(matches!(absent, RawError::NoInterface { .. }), "{absent:?}");
}
