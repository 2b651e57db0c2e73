//! A segment between processes: this program starts itself again as a server or a client.
//!
//! No test harness: each role is a process of its own, and a killed one must take no other test with it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rackloom_live::segment::{SegmentClient, SegmentError, SegmentPath, SegmentServer};
use rackloom_live::{Switch, Wire};
use rackloom_node::Frame;

const FRAMES: u32 = 20_000;

fn frame(dst: u8, src: u8, number: u32) -> Frame {
    let length = [60, 1514, 9014][number as usize % 3];
    let mut bytes = vec![number as u8; length];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, dst, 2, 0, 0, 0, 0, src]);
    bytes[14..18].copy_from_slice(&number.to_be_bytes());
    bytes.into()
}

/// A process in one of the roles below. Killed when dropped.
struct Role {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Role {
    fn start(directory: &Path, role: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--role", role])
            .env("RACKLOOM_RUN", directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from }
    }

    fn says(&mut self, want: &str) {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), want);
    }

    fn go(&mut self) {
        self.to.write_all(b"go\n").unwrap();
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

fn await_go() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    assert_eq!(line, "go\n");
}

fn path() -> SegmentPath {
    SegmentPath::named("processes").unwrap()
}

fn server() {
    match SegmentServer::spawn(path(), Switch::default(), 8) {
        Ok(_server) => {
            say("up");
            await_go();
        }
        Err(SegmentError::AlreadyUp { pid, .. }) => say(&format!("already up: {pid}")),
        Err(e) => panic!("{e}"),
    }
}

/// Exchanges frames with the other client, both ways at once, and checks each byte.
fn client(own: u8, other: u8) {
    let mut wire = SegmentClient::connect(&path()).unwrap();
    say("attached");
    await_go();
    let deadline = Instant::now() + Duration::from_secs(60);
    let (mut sent, mut got, mut inbox) = (0, 0, Vec::new());
    let mut outbox: Vec<Frame> = Vec::new();
    while (sent < FRAMES || got < FRAMES || !outbox.is_empty()) && Instant::now() < deadline {
        while sent < FRAMES && outbox.len() < 64 {
            outbox.push(frame(other, own, sent));
            sent += 1;
        }
        let n = wire.send(&outbox).unwrap();
        outbox.drain(..n);
        let wait = if outbox.is_empty() && sent < FRAMES { Instant::now() } else { deadline };
        if got < FRAMES || !outbox.is_empty() {
            wire.recv(Some(wait), &mut inbox).unwrap();
        }
        for f in inbox.drain(..) {
            assert_eq!(f, frame(own, other, got));
            got += 1;
        }
    }
    say(&format!("exchanged {got}"));
    // Until the server goes.
    let gone = loop {
        if let Err(e) = wire.recv(None, &mut inbox) {
            break e;
        }
    };
    say(&gone.to_string());
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--role") {
        return match arguments[at + 1].as_str() {
            "server" => server(),
            "a" => client(1, 2),
            "b" => client(2, 1),
            other => panic!("no role {other}"),
        };
    }
    if arguments.iter().any(|a| a == "--list") {
        return; // What cargo test-like tools ask of each test program.
    }
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    for round in 0..2 {
        // In the second round the socket is stale: the first round's server was killed.
        let mut server = Role::start(&run, "server");
        server.says("up");
        Role::start(&run, "server").says(&format!("already up: {}", server.child.id()));
        let (mut a, mut b) = (Role::start(&run, "a"), Role::start(&run, "b"));
        a.says("attached");
        b.says("attached");
        a.go();
        b.go();
        a.says(&format!("exchanged {FRAMES}"));
        b.says(&format!("exchanged {FRAMES}"));
        server.child.kill().unwrap();
        for client in [&mut a, &mut b] {
            client.says("segment processes has gone down; attach again once `rackloom up` serves it");
            assert!(client.child.wait().unwrap().success());
        }
        assert!(run.join("processes.sock").exists(), "a killed server leaves its socket");
        println!("round {round}: two processes exchanged {FRAMES} frames each way; both saw the server killed");
    }
    // A server that ends in good order leaves none.
    let mut server = Role::start(&run, "server");
    server.says("up");
    server.go();
    assert!(server.child.wait().unwrap().success());
    assert!(!run.join("processes.sock").exists());
    println!("test result: ok");
}
