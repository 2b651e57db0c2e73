//! TAP interfaces in network namespaces: frames, names, rights, and interfaces that go.

mod netns;

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use netns::{Namespace, permitted};
use rackloom_live::{MTU_STANDARD, Tap, TapError, Wire};
use rackloom_node::Frame;
use rackloom_wire::MacAddr;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

const MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 5]);
const PEER: MacAddr = MacAddr([2, 0, 0, 0, 0, 6]);
const LONG: Duration = Duration::from_secs(60);

fn open(namespace: &Namespace, name: &str) -> Result<Tap, TapError> {
    namespace.enter(|| Tap::open(name, MAC, MTU_STANDARD))
}

/// The next frame of this EtherType, for at most a minute; others, which the kernel sends by itself, are passed over.
fn receive(tap: &mut Tap, ethertype: u16) -> Frame {
    let deadline = Instant::now() + LONG;
    while Instant::now() < deadline {
        let mut frames = Vec::new();
        tap.recv(Some(deadline), &mut frames).unwrap();
        if let Some(frame) = frames.into_iter().find(|frame| frame[12..14] == ethertype.to_be_bytes()) {
            return frame;
        }
    }
    panic!("no frame of {ethertype:#x}");
}

/// A question for 10.0.0.1 and its answer, by the interface as the kernel made it.
#[test]
fn the_kernel_answers_by_the_interface() {
    if !permitted() {
        return;
    }
    let namespace = Namespace::new();
    let mut tap = open(&namespace, "rl0").unwrap();
    namespace.ip(&["addr", "add", "10.0.0.1/24", "dev", "rl0"]);
    let [a, b, c, d, e, f] = PEER.0;
    let head = [0, 1, 8, 0, 6, 4, 0, 1, a, b, c, d, e, f, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1];
    let ask = [&[0xff; 6][..], &PEER.0, &[8, 6], &head].concat();
    assert_eq!(tap.send(&[ask.into()]).unwrap(), 1);
    let answer = receive(&mut tap, 0x0806);
    assert_eq!((&answer[..6], &answer[6..12]), (&PEER.0[..], &MAC.0[..]), "the interface has the address asked for");
    assert_eq!(answer[20..22], [0, 2]);
    let stats = tap.stats();
    assert_eq!((stats.tx_frames, stats.tx_bad_length, stats.tx_refused), (1, 0, 0));
    assert!(stats.rx_frames >= 1);
}

/// Frames of all lengths that programs may send, several for each time that the reader wakes.
#[test]
fn standard_and_jumbo_frames_come_whole() {
    if !permitted() {
        return;
    }
    let namespace = Namespace::new();
    let mut tap = open(&namespace, "rl0").unwrap();
    namespace.ip(&["link", "set", "rl0", "mtu", "9000"]);
    namespace.ip(&["addr", "add", "10.0.0.1/24", "dev", "rl0"]);
    namespace.ip(&["neigh", "add", "10.0.0.2", "lladdr", &PEER.to_string(), "dev", "rl0"]);
    namespace.enter(|| {
        let socket = std::net::UdpSocket::bind("10.0.0.1:1000").unwrap();
        for length in [1_usize, 100, 1472, 4000, 4700, 8972] {
            let sent: Vec<u8> = (0..length).map(|i| i as u8).collect();
            socket.send_to(&sent, "10.0.0.2:1000").unwrap();
            let frame = receive(&mut tap, 0x0800);
            assert_eq!((frame.len(), &frame[42..]), (length + 42, &sent[..]));
            assert_eq!((&frame[..6], &frame[6..12]), (&PEER.0[..], &MAC.0[..]));
        }
        for n in 0..50_u8 {
            socket.send_to(&[n], "10.0.0.2:1000").unwrap();
        }
    });
    let mut frames = Vec::new();
    tap.recv(Some(Instant::now()), &mut frames).unwrap();
    let numbers: Vec<u8> = frames.iter().filter(|f| f[12..14] == [8, 0]).map(|f| f[42]).collect();
    assert_eq!(numbers, (0..50).collect::<Vec<_>>(), "all at once, in order");
}

#[test]
fn what_is_no_frame_and_an_interface_that_is_down_cost_frames_and_no_more() {
    if !permitted() {
        return;
    }
    let namespace = Namespace::new();
    let mut tap = open(&namespace, "rl0").unwrap();
    let frame = |length: usize| {
        let mut bytes = [&MAC.0[..], &PEER.0, &[8, 0]].concat();
        bytes.resize(length, 0);
        Frame::from(bytes)
    };
    assert_eq!(tap.send(&[frame(9015), frame(13), frame(60)]).unwrap(), 3);
    assert_eq!((tap.stats().tx_bad_length, tap.stats().tx_frames), (2, 1));
    namespace.ip(&["link", "set", "rl0", "down"]);
    assert_eq!(tap.send(&[frame(60), frame(60)]).unwrap(), 2);
    assert_eq!(tap.stats().tx_refused, 2);
    tap.recv(Some(Instant::now()), &mut Vec::new()).unwrap();
    namespace.ip(&["link", "set", "rl0", "up"]);
    assert_eq!(tap.send(&[frame(60)]).unwrap(), 1);
    assert_eq!(tap.stats().tx_frames, 2);

    let waiting = std::thread::spawn(move || {
        let until = Instant::now() + LONG;
        loop {
            assert!(Instant::now() < until, "it waits for ever");
            if let Err(e) = tap.recv(Some(until), &mut Vec::new()) {
                break (e.kind(), e.to_string(), tap.send(&[frame(60)]).map_err(|e| e.kind()));
            }
        }
    });
    namespace.ip(&["link", "del", "rl0"]);
    let gone = io::ErrorKind::NotConnected;
    assert_eq!(waiting.join().unwrap(), (gone, "interface rl0 was removed".to_owned(), Err(gone)));
}

#[test]
fn the_interface_goes_with_its_wire() {
    if !permitted() {
        return;
    }
    let namespace = Namespace::new();
    let shows = || {
        let show = ["-n", namespace.name(), "link", "show", "rl0"];
        Command::new("ip").args(show).output().unwrap().status.success()
    };
    let tap = open(&namespace, "rl0").unwrap();
    assert!(shows());
    drop(tap);
    // A child of this process that another test is about to start has the wire, too, until it runs its program.
    let until = Instant::now() + LONG;
    while shows() {
        assert!(Instant::now() < until, "it stays");
    }
}

#[test]
fn what_cannot_be_made_is_explained() {
    for name in ["", "a-name-of-16-let", "a/b", "a b", "a%d", "-x", ".", "all"] {
        let refused = Tap::open(name, MAC, MTU_STANDARD).unwrap_err();
        assert!(matches!(refused, TapError::Name { .. }), "{name:?}: {refused:?}");
        assert!(refused.to_string().contains("expected 1 to 15 letters"));
    }
    if !permitted() {
        return;
    }
    let namespace = Namespace::new();
    let _first = open(&namespace, "rl0").unwrap();
    for taken in ["rl0", "lo"] {
        let refused = open(&namespace, taken).unwrap_err();
        assert!(matches!(refused, TapError::InUse { .. }), "{refused:?}");
    }
    // A thread without the privilege.
    let refused = namespace.enter(|| {
        let mut sets = capabilities(None).unwrap();
        sets.effective -= CapabilitySet::NET_ADMIN;
        set_capabilities(None, sets).unwrap();
        Tap::open("rl1", MAC, MTU_STANDARD).unwrap_err()
    });
    assert!(matches!(refused, TapError::NotPermitted { .. }), "{refused:?}");
    assert!(refused.to_string().contains("CAP_NET_ADMIN"));
}
