//! The segment within one process: servers, clients and their mistakes.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rackloom_node::Frame;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketType};

use super::*;
use crate::wire::{MTU_JUMBO, Wire};
use crate::{Switch, SwitchConfig};

fn frame(src: u8, length: usize, number: u32) -> Frame {
    let mut bytes = vec![0; length];
    bytes[..6].copy_from_slice(&[0xff; 6]);
    bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, src]);
    bytes[14..18].copy_from_slice(&number.to_be_bytes());
    bytes.into()
}

fn at(dir: &tempfile::TempDir, name: &str) -> SegmentPath {
    SegmentPath::under(&dir.path().join("run"), name).unwrap()
}

fn serve(path: &SegmentPath) -> SegmentServer {
    SegmentServer::spawn(path.clone(), Switch::default(), 8).unwrap()
}

/// Frames until there are `count`, for at most a minute.
fn receive(wire: &mut impl Wire, count: usize) -> Vec<Frame> {
    let (mut out, deadline) = (Vec::new(), Instant::now() + Duration::from_secs(60));
    while out.len() < count && Instant::now() < deadline {
        wire.recv(Some(deadline), &mut out).unwrap();
    }
    assert_eq!(out.len(), count);
    out
}

fn send_all(wire: &mut impl Wire, mut frames: &[Frame]) {
    while !frames.is_empty() {
        let n = wire.send(frames).unwrap();
        frames = &frames[n..];
        if !frames.is_empty() {
            wire.recv(None, &mut Vec::new()).unwrap();
        }
    }
}

fn eventually(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !ready() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn clients_and_in_process_nodes_meet_on_one_segment() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "meet");
    let switch = Switch::default();
    let server = SegmentServer::spawn(path.clone(), switch.clone(), 8).unwrap();
    let mut inside = switch.attach("inside").unwrap();
    let mut a = SegmentClient::connect(&path).unwrap();
    let mut b = SegmentClient::connect(&path).unwrap();
    assert_eq!(a.mtu(), MTU_JUMBO);
    for (length, number) in [(60, 1), (1514, 2), (9014, 3)] {
        let sent = frame(1, length, number);
        assert_eq!(a.send(std::slice::from_ref(&sent)).unwrap(), 1);
        assert_eq!(receive(&mut b, 1), std::slice::from_ref(&sent));
        assert_eq!(receive(&mut inside, 1), [sent]);
    }
    let back = frame(2, 777, 4);
    inside.send(std::slice::from_ref(&back)).unwrap();
    assert_eq!(receive(&mut a, 1), std::slice::from_ref(&back));
    assert_eq!(receive(&mut b, 1), [back]);
    assert_eq!(server.stats(), ServerStats { attached: 2, accepted: 2, refused: 0, malformed: 0 });
    drop(b);
    eventually("the server sees that b has gone", || server.stats().attached == 1);
}

#[test]
fn a_flow_is_complete_and_in_order_through_back_pressure() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "flow");
    // A queue of two records, and no drop however slow this machine is: back-pressure alone must do it.
    let config = SwitchConfig { queue_frames: 14, stall: Duration::from_secs(3600), ..SwitchConfig::default() };
    let _server = SegmentServer::spawn(path.clone(), Switch::new(config), 8).unwrap();
    let mut a = SegmentClient::connect(&path).unwrap();
    let mut b = SegmentClient::connect(&path).unwrap();
    let total = 5000;
    let sender = std::thread::spawn(move || {
        let frames: Vec<_> = (0..total).map(|i| frame(1, 60 + (i as usize * 37) % 8955, i)).collect();
        send_all(&mut a, &frames);
        a // Held until all was received: a client that leaves takes along what the server has not read.
    });
    let got = receive(&mut b, total as usize);
    for (i, f) in (0..total).zip(&got) {
        assert_eq!(*f, frame(1, 60 + (i as usize * 37) % 8955, i));
    }
    sender.join().unwrap();
}

#[test]
fn no_segment_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "lab");
    let none = "no rack is up on segment lab; start one with `rackloom up`";
    assert_eq!(SegmentClient::connect(&path).unwrap_err().to_string(), none, "no directory yet");
    drop(serve(&path));
    assert_eq!(SegmentClient::connect(&path).unwrap_err().to_string(), none, "no socket any more");
}

#[test]
fn two_servers_on_one_name_are_refused_and_a_stale_socket_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "one");
    let first = serve(&path);
    let mut client = SegmentClient::connect(&path).unwrap();
    let refused = SegmentServer::spawn(path.clone(), Switch::default(), 8).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "segment one is up already, served by process {}; stop that, or choose another name",
            std::process::id()
        )
    );
    // The refused one has not harmed the first.
    let mut other = SegmentClient::connect(&path).unwrap();
    client.send(&[frame(1, 60, 1)]).unwrap();
    receive(&mut other, 1);
    drop(first);

    // What a killed server leaves: a socket that nobody listens at, and a lock that nobody holds.
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    rustix::net::bind(&socket, &SocketAddrUnix::new(path.socket()).unwrap()).unwrap();
    drop(socket);
    assert!(path.socket().exists());
    assert!(matches!(SegmentClient::connect(&path), Err(SegmentError::NoSegment { .. })));
    let _second = serve(&path);
    SegmentClient::connect(&path).unwrap();
}

#[test]
fn a_client_sees_the_server_go_and_can_attach_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "again");
    let server = serve(&path);
    let mut client = SegmentClient::connect(&path).unwrap();
    let waiter = std::thread::spawn(move || {
        let error = client.recv(None, &mut Vec::new()).unwrap_err();
        (error.kind(), error.to_string(), client.send(&[frame(1, 60, 1)]).unwrap_err().kind())
    });
    std::thread::sleep(Duration::from_millis(20));
    drop(server);
    let (kind, text, on_send) = waiter.join().unwrap();
    assert_eq!((kind, on_send), (std::io::ErrorKind::ConnectionReset, std::io::ErrorKind::ConnectionReset));
    assert_eq!(text, "segment again has gone down; attach again once `rackloom up` serves it");

    let _server = serve(&path);
    let mut a = SegmentClient::connect(&path).unwrap();
    let mut b = SegmentClient::connect(&path).unwrap();
    a.send(&[frame(1, 60, 9)]).unwrap();
    assert_eq!(receive(&mut b, 1), [frame(1, 60, 9)]);
}

#[test]
fn what_a_server_sent_before_it_went_still_arrives() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "last");
    let switch = Switch::default();
    let server = SegmentServer::spawn(path.clone(), switch.clone(), 8).unwrap();
    let mut client = SegmentClient::connect(&path).unwrap();
    let mut inside = switch.attach("inside").unwrap();
    inside.send(&[frame(1, 60, 1), frame(1, 60, 2)]).unwrap();
    let handed_over = || switch.stats().ports.iter().map(|p| p.1.out_frames).sum::<u64>() == 2;
    eventually("the server has taken the frames from its port", handed_over);
    drop(server);
    assert_eq!(receive(&mut client, 2), [frame(1, 60, 1), frame(1, 60, 2)]);
    assert!(client.recv(None, &mut Vec::new()).is_err());
}

/// A connection without a client behind it.
fn bare(path: &Path) -> OwnedFd {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    rustix::net::connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    socket
}

#[test]
fn malformed_and_oversized_messages_are_counted_and_harm_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "bad");
    let server = serve(&path);
    let mut good = SegmentClient::connect(&path).unwrap();

    let bad = bare(&path.socket());
    let say = |bytes: &[u8]| rustix::net::send(&bad, bytes, SendFlags::NOSIGNAL).unwrap();
    say(&record::greeting());
    let mut welcome = [0; 64];
    assert!(rustix::net::recv(&bad, &mut welcome, rustix::net::RecvFlags::empty()).unwrap().1 > 0);
    for message in [vec![1], vec![0xff; 100], vec![0; 100], vec![7; record::RECORD_BYTES + 1], vec![7; 150_000]] {
        say(&message);
    }
    eventually("five malformed messages", || server.stats().malformed == 5);
    // It may still speak properly.
    say(&[&60u16.to_be_bytes()[..], &frame(3, 60, 5)].concat());
    assert_eq!(receive(&mut good, 1), [frame(3, 60, 5)]);

    // One that does not greet as a client does is shown the door.
    let stranger = bare(&path.socket());
    rustix::net::send(&stranger, b"GET / HTTP/1.1\r\n", SendFlags::NOSIGNAL).unwrap();
    assert_eq!(rustix::net::recv(&stranger, &mut welcome, rustix::net::RecvFlags::empty()).unwrap().1, 0);
    assert_eq!(server.stats().malformed, 6);
    // And so, after a while, is one that says nothing.
    let silent = bare(&path.socket());
    assert_eq!(rustix::net::recv(&silent, &mut welcome, rustix::net::RecvFlags::empty()).unwrap().1, 0);
    assert_eq!(server.stats().attached, 2);
}

#[test]
fn frames_of_impossible_length_stay_at_the_client() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "length");
    let server = serve(&path);
    let mut a = SegmentClient::connect(&path).unwrap();
    let mut b = SegmentClient::connect(&path).unwrap();
    let frames =
        [frame(1, 9015, 1), frame(1, 60, 2), Frame::from_static(&[1; 13]), frame(1, 70_000, 3), frame(1, 9014, 4)];
    assert_eq!(a.send(&frames).unwrap(), 5);
    assert_eq!(receive(&mut b, 2), [frame(1, 60, 2), frame(1, 9014, 4)]);
    assert_eq!((a.stats().tx_bad_length, a.stats().tx_frames), (3, 2));
    assert_eq!(server.stats().malformed, 0);
}

#[test]
fn a_segment_is_full_after_so_many_clients() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "full");
    let server = SegmentServer::spawn(path.clone(), Switch::default(), 2).unwrap();
    let (a, _b) = (SegmentClient::connect(&path).unwrap(), SegmentClient::connect(&path).unwrap());
    let refused = SegmentClient::connect(&path).unwrap_err();
    assert!(matches!(refused, SegmentError::Full { .. }), "{refused}");
    eventually("the refusal is counted", || server.stats().refused == 1);
    drop(a);
    eventually("a's place is free", || server.stats().attached == 1);
    SegmentClient::connect(&path).unwrap();
}

#[test]
fn a_client_that_does_not_read_loses_frames_and_stops_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let path = at(&dir, "slow");
    let switch = Switch::default();
    let _server = SegmentServer::spawn(path.clone(), switch.clone(), 8).unwrap();
    let mut a = SegmentClient::connect(&path).unwrap();
    let mut b = SegmentClient::connect(&path).unwrap();
    let mut slow = SegmentClient::connect(&path).unwrap(); // Attached, and never read until the end.
    let total = 3000;
    let sender = std::thread::spawn(move || {
        let frames: Vec<_> = (0..total).map(|i| frame(1, 9014, i)).collect();
        let began = Instant::now();
        send_all(&mut a, &frames);
        (a, began.elapsed())
    });
    let got = receive(&mut b, total as usize);
    assert!(got.iter().zip(0..).all(|(f, i)| f[14..18] == u32::to_be_bytes(i)));
    let (_a, took) = sender.join().unwrap();
    assert!(took < Duration::from_secs(20), "27 MB took {took:?}");
    let dropped: u64 = switch.stats().ports.iter().map(|p| p.1.dropped).sum();
    assert!(dropped > 0 && dropped < u64::from(total));
    // It reads at last: what was kept for it is whole and in order, then what comes new.
    let mut old = Vec::new();
    while (old.len() as u64) < u64::from(total) - dropped {
        slow.recv(Some(Instant::now() + Duration::from_secs(60)), &mut old).unwrap();
    }
    assert!(old.windows(2).all(|w| w[0][14..18] < w[1][14..18]));
}
