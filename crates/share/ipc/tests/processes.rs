//! Both ends as processes: killed, stopped, forked, and counted. This program starts itself again as one of them.
//!
//! No test harness: each role is a process of its own, and a killed one must take no other test with it.

mod common;

use std::io::{BufRead, BufReader, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{BOTH, COPY, Inbox, PATIENCE, Place, Transport, deadline, serve};
use rackloom_ipc::{
    Batch, BulkRef, ChannelError, Client, ClientConfig, Closed, Endpoint, Handover, Limits, Peer, ServerConfig,
};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--client") => return client(&args[2], &args[3]),
        Some("--server") => return server(&args[2]),
        Some("--worker") => return worker(&args[2]),
        _ => {}
    }
    let tests: [(&str, fn()); 11] = [
        ("a client killed at any moment frees all it held", client_is_killed),
        ("a server killed at any moment is noticed at once", server_is_killed),
        ("a stopped client holds nobody up", client_is_stopped),
        ("a child of a fork is refused and keeps nothing alive", client_forks),
        ("connections leave no file and no map behind", nothing_is_left),
        ("a parent's death is noticed though its child has the socket", parent_of_fork_dies),
        ("a socket full of calls keeps no arena back", calls_fill_the_socket),
        ("a client handed over is served by the other process", worker_serves),
        ("a client handed over is gone for both processes", client_of_worker_is_killed),
        ("a killed worker's client goes with the handle", worker_is_killed),
        ("handing over leaves no file and no map behind", nothing_is_left_of_handovers),
    ];
    for (name, test) in tests {
        if args.get(1).is_none_or(|only| name.contains(only.as_str())) {
            let start = Instant::now();
            test();
            println!("test {name} ... ok ({:.1} s)", start.elapsed().as_secs_f64());
        }
    }
}

/// A process in another role; killed when dropped.
struct Role {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Role {
    fn start(role: &str, args: &[&str]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(role)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { child, says }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

/// The role of a client: `busy` calls and moves bulk for ever; `idle` only connects; `fork` and `orphan` fork.
fn client(endpoint: &str, what: &str) {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    let into = common::Into::default();
    let inbox = Arc::clone(&into.0);
    let client = Client::connect(&endpoint, &ClientConfig::default(), Box::new(into)).unwrap();
    match what {
        "busy" => busy(&client, &inbox),
        "idle" => {
            say("here");
            inbox.wait_passively(|_, closed| closed);
        }
        "fork" => fork(&client, &inbox),
        "orphan" => orphan(&client),
        _ => panic!("{what}"),
    }
}

fn busy(client: &Client, inbox: &Inbox) {
    say("here");
    for i in 0u32.. {
        let len = u64::from(i % 7) * 100_000 + 10;
        let (from, to) = (client.bulk(len).unwrap(), client.bulk(len).unwrap());
        let place = to.expect(0, len).unwrap();
        let refs = [from.put(0, &vec![1; len as usize]).unwrap().encode(), place.encode()].concat();
        client.send(COPY, &refs).unwrap();
        client.wait(deadline(), || inbox.pop()).unwrap();
        to.get(&place, 0, &mut vec![0; len as usize]).unwrap();
    }
}

#[allow(unsafe_code)]
fn in_child(act: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only calls what this test is about, which takes no lock that another thread may have held, and
    // leaves by _exit.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = act();
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(code) };
    }
    pid
}

fn fork(client: &Client, inbox: &Inbox) {
    let held = client.bulk(1000).unwrap();
    let call = |i| {
        client.send(i, b"x").unwrap();
        assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, i);
    };
    call(1);
    let child = in_child(|| {
        let refused = |r: Result<(), ChannelError>| i32::from(!matches!(r, Err(ChannelError::Forked)));
        let all = refused(client.send(2, b"y"))
            + 2 * refused(client.wait(None, || None::<()>))
            + 4 * refused(client.poll())
            + 8 * refused(client.bulk(5).map(|_| ()))
            + 16 * refused(held.put(0, b"z").map(|_| ()));
        client.close();
        all
    });
    let mut status = 0;
    #[allow(unsafe_code)]
    // SAFETY: waits for the child just made; `status` outlives the call.
    unsafe {
        libc::waitpid(child, &raw mut status, 0);
    }
    assert_eq!(status, 0, "the child's calls must be refused");
    call(3);
    held.put(0, b"z").unwrap();
    say("forked");
    inbox.wait_passively(|_, closed| closed);
}

fn orphan(client: &Client) {
    let child = in_child(|| {
        // Stays until its standard input ends, with a copy of the socket.
        let _ = std::io::stdin().read_line(&mut String::new());
        0
    });
    assert_eq!(client.closed(), None);
    say(&child.to_string());
    loop {
        std::thread::park();
    }
}

/// The role of a server, for clients one after the other.
fn server(transport: &str) {
    let transport = if transport == "Shm" { Transport::Shm } else { Transport::Tcp };
    let place = Place::new(transport, ServerConfig::default());
    say(&place.server.endpoint().to_string());
    while let Ok(Some(peer)) = place.server.accept(None) {
        std::thread::spawn(move || serve(&peer));
    }
}

/// Files and maps of this process that belong to channels.
fn held() -> (usize, usize) {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (files, maps.lines().filter(|line| line.contains("rackloom-ipc")).count())
}

/// Waits until as much is held as before: threads of connections that are over may need a moment.
fn assert_back(before: (usize, usize), what: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = held();
        if now.0 <= before.0 && now.1 <= before.1 {
            return;
        }
        assert!(Instant::now() < end, "{what}: files and maps {before:?} before, {now:?} after");
        std::thread::yield_now();
    }
}

/// How soon an end must be noticed. It is microseconds; this leaves room for a machine with other work.
const SOON: Duration = Duration::from_secs(1);

fn client_is_killed() {
    for transport in BOTH {
        let place = Place::new(transport, ServerConfig::default());
        let before = held();
        for round in 0..25u64 {
            let endpoint = place.server.endpoint().to_string();
            let mut role = Role::start("--client", &[&endpoint, "busy"]);
            assert_eq!(role.line(), "here");
            let peer = place.server.accept(deadline()).unwrap().unwrap();
            let (end, killed) = std::thread::scope(|s| {
                let served = s.spawn(|| (serve(&peer), Instant::now()));
                // A random moment is what is wanted here.
                std::thread::sleep(Duration::from_micros(round * 977 % 9000));
                let killed = Instant::now();
                role.child.kill().unwrap();
                (served.join().unwrap(), killed)
            });
            assert_eq!(end.0, Closed::PeerGone, "{transport:?}");
            assert!(end.1 - killed < SOON, "{transport:?}: noticed after {:?}", end.1 - killed);
            drop(peer);
        }
        assert_back(before, &format!("{transport:?}"));
    }
}

fn server_is_killed() {
    for transport in BOTH {
        let before = held();
        for round in 0..25u64 {
            let mut role = Role::start("--server", &[&format!("{transport:?}")]);
            let endpoint: Endpoint = role.line().parse().unwrap();
            let into = common::Into::default();
            let inbox = Arc::clone(&into.0);
            let client = Client::connect(&endpoint, &ClientConfig::default(), Box::new(into)).unwrap();
            let ended = Mutex::new(None);
            std::thread::scope(|s| {
                // One waits for ever, one calls, one only sends.
                let waits = s.spawn(|| {
                    let end = client.wait(deadline(), || None::<()>);
                    *ended.lock().unwrap() = Some(Instant::now());
                    end
                });
                let sends = s.spawn(|| while client.send(9, &[0; 3000]).is_ok() {});
                std::thread::sleep(Duration::from_micros(round * 1237 % 9000)); // A random moment again.
                let killed = Instant::now();
                role.child.kill().unwrap();
                let end = waits.join().unwrap();
                assert!(matches!(end, Err(ChannelError::Closed(_))), "{transport:?}: {end:?}");
                let after = ended.lock().unwrap().unwrap().saturating_duration_since(killed);
                assert!(after < SOON, "{transport:?}: noticed after {after:?}");
                sends.join().unwrap();
            });
            inbox.wait_passively(|_, closed| closed);
            assert!(client.bulk(100).is_err());
        }
        assert_back(before, &format!("{transport:?}"));
    }
}

fn client_is_stopped() {
    for transport in BOTH {
        let limits = Limits { stall: Duration::from_millis(300), ..Limits::default() };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "idle"]);
        assert_eq!(role.line(), "here");
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        role.signal(rustix::process::Signal::STOP);
        let (other, inbox, other_peer) = place.pair();
        let longest = AtomicU32::new(0);
        std::thread::scope(|s| {
            s.spawn(|| serve(&other_peer));
            s.spawn(|| {
                while peer.closed().is_none() {
                    let start = Instant::now();
                    let _ = peer.send(1, &[0; 10_000]);
                    longest.fetch_max(start.elapsed().as_millis() as u32, Ordering::SeqCst);
                }
            });
            for i in 0..2000 {
                other.send(i, b"x").unwrap();
                assert_eq!(other.wait(deadline(), || inbox.pop()).unwrap().0, i);
            }
            let end = loop {
                if let Some(end) = peer.closed() {
                    break end;
                }
                std::thread::yield_now();
            };
            assert_eq!(end, Closed::Overflow, "{transport:?}");
            other.close();
        });
        assert!(longest.load(Ordering::SeqCst) < 1000, "a send took {longest:?} ms");
        bulk_to_stopped(transport, &place);
    }
}

/// Over TCP bulk to a stopped client is given up after the stall; in shared memory it needs no client.
fn bulk_to_stopped(transport: Transport, place: &Place) {
    let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "idle"]);
    assert_eq!(role.line(), "here");
    let peer: Peer = place.server.accept(deadline()).unwrap().unwrap();
    role.signal(rustix::process::Signal::STOP);
    if transport == Transport::Tcp {
        let mut what = [0; BulkRef::LEN];
        what[16..].copy_from_slice(&(64u64 << 20).to_le_bytes());
        peer.give(&BulkRef::decode(&what)).unwrap().finish().unwrap();
        let end = peer.recv(deadline(), &mut Batch::new());
        assert!(matches!(end, Err(ChannelError::Closed(Closed::Stalled))), "{end:?}");
    }
}

fn client_forks() {
    for transport in BOTH {
        let place = Place::new(transport, ServerConfig::default());
        let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "fork"]);
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        std::thread::scope(|s| {
            s.spawn(|| serve(&peer));
            assert_eq!(role.line(), "forked", "{transport:?}");
            peer.close();
        });
        assert!(role.child.wait().unwrap().success());
    }
}

fn parent_of_fork_dies() {
    let place = Place::new(Transport::Shm, ServerConfig::default());
    let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "orphan"]);
    let peer = place.server.accept(deadline()).unwrap().unwrap();
    let child: i32 = role.line().parse().unwrap();
    let start = Instant::now();
    role.child.kill().unwrap();
    let end = peer.recv(deadline(), &mut Batch::new());
    assert!(matches!(end, Err(ChannelError::Closed(Closed::PeerGone))), "{end:?}");
    assert!(start.elapsed() < SOON);
    assert!(std::fs::exists(format!("/proc/{child}")).unwrap(), "the child lives, so only the process told");
    drop(role); // Ends the child's standard input, too.
}

fn nothing_is_left() {
    for transport in BOTH {
        let before = held();
        for _ in 0..20 {
            let place = Place::new(transport, ServerConfig::default());
            let (client, inbox, peer) = place.pair();
            std::thread::scope(|s| {
                s.spawn(|| serve(&peer));
                let (from, to) = (client.bulk(300_000).unwrap(), client.bulk(300_000).unwrap());
                let place = to.expect(0, 300_000).unwrap();
                let refs = [from.put(0, &[1; 300_000]).unwrap().encode(), place.encode()].concat();
                client.send(COPY, &refs).unwrap();
                client.wait(deadline(), || inbox.pop()).unwrap();
                // Large enough to be given back to the server when dropped.
                drop((client.bulk(100 << 20).unwrap(), client.bulk(100 << 20).unwrap()));
                client.send(1, &[]).unwrap();
                client.wait(deadline(), || inbox.pop()).unwrap();
                if transport == Transport::Shm {
                    assert!(peer.bulk_bytes() <= 140 << 20, "{}", peer.bulk_bytes());
                }
                client.close();
            });
        }
        assert_back(before, &format!("{transport:?}"));
    }
}

/// While two processes spin for each other on two processors, the client's own thread has none, and calls of it pile up
/// in the socket that answers about arenas take, too.
fn calls_fill_the_socket() {
    let mut role = Role::start("--server", &["Shm"]);
    let endpoint: Endpoint = role.line().parse().unwrap();
    for _ in 0..100 {
        let into = common::Into::default();
        let inbox = Arc::clone(&into.0);
        let client = Client::connect(&endpoint, &ClientConfig::default(), Box::new(into)).unwrap();
        (0..200).for_each(|i| call(&client, &inbox, i, b"x"));
        client.bulk(1).unwrap();
    }
}

/// The role of a process that is handed clients, one after the other, through the socket at `path`.
fn worker(path: &str) {
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
        let peer = handover.into_peer(Box::new(|_, _, _, _| true)).unwrap();
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

fn call(client: &Client, inbox: &Inbox, kind: u32, body: &[u8]) {
    client.send(kind, body).unwrap();
    assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (kind, body.to_vec()));
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

fn worker_serves() {
    for transport in BOTH {
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

fn client_of_worker_is_killed() {
    for (transport, what) in [(Transport::Shm, "idle"), (Transport::Tcp, "idle"), (Transport::Shm, "orphan")] {
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

fn worker_is_killed() {
    // The flood below must not be what ends the channel.
    let limits = Limits { queue_messages_max: 1 << 20, queue_bytes_max: 1 << 30, ..Limits::default() };
    for transport in BOTH {
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

fn nothing_is_left_of_handovers() {
    for transport in BOTH {
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
