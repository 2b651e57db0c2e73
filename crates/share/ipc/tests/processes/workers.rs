//! A client that is handed over to a worker: served by it, and ended with it.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use rackloom_ipc::{Batch, ChannelError, Client, Closed, Handover, Limits, Peer, ServerConfig};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use crate::common::{ALL, COPY, Inbox, PATIENCE, Place, Transport, deadline, serve};
use crate::role::{Role, SOON, assert_back, call, held, say};

/// The role of a process that is handed clients, one after the other, through the socket at `path`.
pub(super) fn worker(path: &str) {
    let socket = UnixStream::connect(path).unwrap();
    loop {
        let mut state = [0; Handover::STATE_LEN];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(Handover::FILES_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let iov = &mut [IoSliceMut::new(&mut state)];
        let got = rustix::net::recvmsg(&socket, iov, &mut control, RecvFlags::CMSG_CLOEXEC).unwrap();
        if got.bytes == 0 {
            return;
        }
        let files = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => files.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        let handover = Handover::from_parts(files.collect(), &state[..got.bytes]).unwrap();
        let peer = handover.into_peer(Box::new(|_, _, _, _| Some(Box::new(())))).unwrap();
        say("serving");
        say(&format!("{:?}", serve(&peer)));
    }
}

/// A worker, and the socket to it.
struct Worker {
    role: Role,
    socket: UnixStream,
    _folder: tempfile::TempDir,
}

impl Worker {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w");
        let listener = UnixListener::bind(&path).unwrap();
        let role = Role::start("--worker", &[path.to_str().unwrap()]);
        let (socket, _) = listener.accept().unwrap();
        Self { role, socket, _folder: folder }
    }

    /// Its files, threads, and maps of channels.
    fn held(&self) -> (usize, usize, usize) {
        let count = |folder| std::fs::read_dir(format!("/proc/{}/{folder}", self.role.child.id())).unwrap().count();
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.role.child.id())).unwrap();
        (count("fd"), count("task"), maps.lines().filter(|line| line.contains("rackloom-ipc")).count())
    }

    /// Hands a client over to it.
    fn serve(&mut self, peer: &Peer) {
        let handover = peer.hand_over().unwrap();
        let files = handover.files();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(Handover::FILES_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
        let state = handover.state();
        let sent = rustix::net::sendmsg(&self.socket, &[IoSlice::new(&state)], &mut control, SendFlags::empty());
        assert_eq!(sent, Ok(Handover::STATE_LEN));
        drop(handover);
        assert_eq!(self.role.line(), "serving");
    }
}

/// Some messages both ways with the process that has accepted the client.
fn greet(client: &Client, inbox: &Inbox, peer: &Peer) {
    for i in 0..5 {
        client.send(i, b"hello").unwrap();
        let mut batch = Batch::new();
        while batch.is_empty() {
            peer.recv(deadline(), &mut batch).unwrap();
        }
        peer.send(i, b"welcome").unwrap();
        assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (i, b"welcome".to_vec()));
    }
}

/// Bulk both ways, of so many bytes.
fn copy(client: &Client, inbox: &Inbox, len: usize) {
    let bytes: Vec<u8> = (0..len).map(|i| ((i * 31) ^ (i >> 8)) as u8).collect();
    let (from, to) = (client.bulk(len as u64).unwrap(), client.bulk(len as u64).unwrap());
    let place = to.expect(0, len as u64).unwrap();
    client.send(COPY, &[from.put(0, &bytes).unwrap().encode(), place.encode()].concat()).unwrap();
    assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, COPY);
    let mut back = vec![0; len];
    to.get(&place, 0, &mut back).unwrap();
    assert!(back.iter().zip(&bytes).all(|(b, a)| *b == a.wrapping_add(1)), "{len} bytes");
}

fn closes(peer: &Peer) -> Closed {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(why) = peer.closed() {
            return why;
        }
        assert!(Instant::now() < end, "the end is not noticed");
        std::thread::yield_now();
    }
}

pub(super) fn worker_serves() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let mut worker = Worker::start();
        for round in 0..3 {
            let (client, inbox, peer) = place.pair();
            greet(&client, &inbox, &peer);
            worker.serve(&peer);
            for i in 0..2000u32 {
                call(&client, &inbox, i, &vec![i as u8; (i as usize * 37) % 3000]);
            }
            let lens = [1, 64, 100_000, 5_000_000, 64 << 20];
            lens.iter().chain(&[4096; 100]).for_each(|len| copy(&client, &inbox, *len));
            // First the client goes, then its seat; or the other way around; or all at a time.
            if round == 0 {
                drop(client);
                assert_eq!(worker.role.line(), "PeerGone", "{transport:?}");
                assert_eq!(closes(&peer), Closed::PeerGone, "{transport:?}");
            } else if round == 1 {
                drop(peer);
                assert_eq!(inbox.wait_passively(|_, closed| closed), Closed::PeerGone, "{transport:?}");
                assert_eq!(worker.role.line(), "PeerGone", "{transport:?}");
            } else {
                drop((client, peer));
                assert_eq!(worker.role.line(), "PeerGone", "{transport:?}");
            }
        }
    }
}

pub(super) fn client_of_worker_is_killed() {
    for (transport, what) in
        [(Transport::Shm, "idle"), (Transport::Tcp, "idle"), (Transport::Tls, "idle"), (Transport::Shm, "orphan")]
    {
        let place = Place::new(transport, ServerConfig::default());
        let mut worker = Worker::start();
        let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), what]);
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        let line = role.line();
        assert_eq!(line == "here", what == "idle");
        worker.serve(&peer);
        assert_eq!(peer.closed(), None);
        let start = Instant::now();
        role.child.kill().unwrap();
        assert_eq!(closes(&peer), Closed::PeerGone, "{transport:?} {what}");
        assert_eq!(worker.role.line(), "PeerGone", "{transport:?} {what}");
        assert!(start.elapsed() < SOON, "{transport:?} {what}: {:?}", start.elapsed());
    }
}

pub(super) fn worker_is_killed() {
    // The flood below must not be what ends the channel.
    let limits = Limits { queue_messages_max: 1 << 20, queue_bytes_max: 1 << 30, ..Limits::default() };
    for transport in ALL {
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        for round in 0..10u64 {
            let mut worker = Worker::start();
            let (client, inbox, peer) = place.pair();
            greet(&client, &inbox, &peer);
            worker.serve(&peer);
            std::thread::scope(|s| {
                // One waits for ever, one moves bulk, one only sends.
                let waits = s.spawn(|| (client.wait(deadline(), || None::<()>), Instant::now()));
                let moves = s.spawn(|| while client.bulk(3 << 20).is_ok_and(|b| b.put(0, &[1; 3 << 20]).is_ok()) {});
                let sends = s.spawn(|| while client.send(9, &[0; 3000]).is_ok() {});
                std::thread::sleep(Duration::from_micros(round * 1237 % 9000)); // A random moment.
                worker.role.child.kill().unwrap();
                worker.role.child.wait().unwrap();
                assert_eq!(peer.closed(), None, "{transport:?}: the connection is held here");
                let dropped = Instant::now();
                drop(peer);
                let (end, at) = waits.join().unwrap();
                assert!(matches!(end, Err(ChannelError::Closed(_))), "{transport:?}: {end:?}");
                let after = at.saturating_duration_since(dropped);
                assert!(after < SOON, "{transport:?}: noticed after {after:?}");
                sends.join().unwrap();
                moves.join().unwrap();
            });
            inbox.wait_passively(|_, closed| closed);
        }
    }
}

pub(super) fn nothing_is_left_of_handovers() {
    for transport in ALL {
        let mut worker = Worker::start();
        let idle = worker.held();
        let mut round = || {
            let place = Place::new(transport, ServerConfig::default());
            let (client, inbox, peer) = place.pair();
            worker.serve(&peer);
            copy(&client, &inbox, 300_000);
            drop((peer, client));
            assert_eq!(worker.role.line(), "PeerGone");
        };
        round();
        let before = held();
        (0..20).for_each(|_| round());
        assert_back(before, &format!("{transport:?}"));
        // The worker has said that it is at the end of the last, and is about to let go of it.
        let end = Instant::now() + PATIENCE;
        while worker.held() != idle {
            assert!(Instant::now() < end, "{transport:?}: files, threads and maps {:?}, not {idle:?}", worker.held());
            std::thread::yield_now();
        }
    }
}
