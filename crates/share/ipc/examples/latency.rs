//! How long a message and bulk take, between two processes, beside the plainest things that could be done instead.
//!
//! `cargo run --release -p rackloom-ipc --example latency [ROUNDS [ROW]]`, where ROW is a part of the
//! names of the rows to measure. All rows are of one run, measured in turn several
//! times, so that a noisy neighbour disturbs all of them alike; the best and the median of the turns' medians are
//! shown.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rackloom_ipc::{
    Batch, BulkRef, Client, ClientConfig, Endpoint, Handler, Limits, Peer, Server, ServerConfig, Spin, TlsIdentity,
};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;

const QUIET: u32 = 0;
const ECHO: u32 = 1;
const UP: u32 = 2;
const DOWN: u32 = 3;

/// Turns of all rows.
const TURNS: usize = 7;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|a| a == "--serve") {
        return serve(Path::new(&args[2]));
    }
    let rounds: usize = args.get(1).map_or(5000, |n| n.parse().expect("a number of rounds"));
    let folder = tempfile::tempdir().expect("a folder");
    let words =
        std::fs::File::options().read(true).write(true).create(true).truncate(true).open(folder.path().join("words"));
    words.and_then(|f| f.set_len(4096)).expect("a file for the bare futex");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .arg("--serve")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a second process");
    let mut ports = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut ports).expect("its ports");
    measure(folder.path(), ports.trim(), rounds, args.get(2).map_or("", String::as_str));
    drop(child.stdin.take());
    let _ = child.wait();
}

/// The words of the bare futex: one for each way.
fn words(folder: &Path) -> &'static [AtomicU32; 64] {
    let file = std::fs::File::options().read(true).write(true).open(folder.join("words")).expect("the file of words");
    // SAFETY: a new map of a file of that length, never unmapped; both processes use it as atomics only.
    unsafe {
        let at = rustix::mm::mmap(null_mut(), 4096, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0);
        &*at.expect("a map").cast::<[AtomicU32; 64]>()
    }
}

/// Waits until `word` is no longer `seen`, as plainly as can be.
fn futex_wait(word: &AtomicU32, seen: u32) {
    while word.load(Ordering::Acquire) == seen {
        let _ = futex::wait(word, futex::Flags::empty(), seen, None);
    }
}

fn futex_add(word: &AtomicU32) {
    word.fetch_add(1, Ordering::Release);
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}

fn serve(folder: &Path) {
    let bind = |to: &Endpoint, spin| {
        let limits = Limits { spin, ..Limits::default() };
        let tls = matches!(to, Endpoint::Tls(_)).then(|| identity(folder));
        Server::bind(to, ServerConfig { limits, tls, ..ServerConfig::default() }).expect("an endpoint to listen at")
    };
    let on = Spin { us_max: 50 };
    let tcp = bind(&Endpoint::Tcp("127.0.0.1:0".parse().expect("an address")), Spin::OFF);
    let tls = bind(&"tls:127.0.0.1:0".parse().expect("an address"), Spin::OFF);
    let ports = [&tcp, &tls].map(|server| server.endpoint().to_string()).join(" ");
    let servers = [
        bind(&Endpoint::Unix(folder.join("off")), Spin::OFF),
        bind(&Endpoint::Unix(folder.join("default")), Spin::default()),
        bind(&Endpoint::Unix(folder.join("on")), on),
        tcp,
        tls,
    ];
    for server in servers {
        std::thread::spawn(move || {
            while let Ok(Some(peer)) = server.accept(None) {
                std::thread::spawn(move || answer(&peer));
            }
        });
    }
    let plain = UnixListener::bind(folder.join("plain")).expect("a plain socket");
    std::thread::spawn(move || {
        let (mut stream, _) = plain.accept().expect("a connection");
        let mut bytes = [0; 72];
        while stream.read_exact(&mut bytes).and_then(|()| stream.write_all(&bytes)).is_ok() {}
    });
    let words = words(folder);
    std::thread::spawn(move || {
        for n in 0u32.. {
            futex_wait(&words[0], n);
            futex_add(&words[32]);
        }
    });
    println!("{ports}"); // Now that all listen.
    let _ = std::io::stdin().read(&mut [0]); // Until the other process ends.
}

/// A key of its own.
fn identity(folder: &Path) -> TlsIdentity {
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = rcgen::CertificateParams::new(Vec::new()).and_then(|params| params.self_signed(&key));
    let file = folder.join("key.pem");
    std::fs::write(&file, key.serialize_pem() + &certificate.expect("a certificate").pem()).expect("a file");
    TlsIdentity::open_pinned(&file, Box::new(|why| panic!("{why}"))).expect("what was written")
}

fn answer(peer: &Peer) {
    let mut batch = Batch::new();
    let device = vec![7u8; 16 << 20];
    loop {
        batch.clear();
        if peer.recv(None, &mut batch).is_err() {
            return;
        }
        for (kind, body) in batch.iter() {
            let reference = || BulkRef::decode(body.try_into().expect("a reference"));
            let done = match kind {
                QUIET => Ok(()),
                UP => peer.take(&reference(), None).and_then(|_| peer.send(UP, &[])),
                DOWN => peer.give(&reference()).and_then(|given| {
                    given.write(0, &device[..given.len()]);
                    given.finish()?;
                    peer.send(DOWN, &[])
                }),
                _ => peer.send(kind, body),
            };
            if done.is_err() {
                return;
            }
        }
    }
}

/// Counts answers.
#[derive(Clone, Default)]
struct Count(Arc<AtomicU64>);

impl Handler for Count {
    fn message(&self, _: u32, _: &[u8]) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Caller {
    client: Client,
    count: Count,
    asked: u64,
}

impl Caller {
    fn new(to: &Endpoint, spin: Spin) -> Self {
        let count = Count::default();
        let config = ClientConfig { spin, ..ClientConfig::default() };
        let client = Client::connect(to, &config, Box::new(count.clone())).expect("a connection");
        Self { client, count, asked: 0 }
    }

    fn call(&mut self, kind: u32, body: &[u8]) {
        self.client.send(kind, body).expect("to send");
        self.asked += 1;
        let (count, asked) = (&self.count.0, self.asked);
        self.client.wait(None, || (count.load(Ordering::Relaxed) >= asked).then_some(())).expect("an answer");
    }
}

type Row<'a> = (&'a str, usize, f64, Box<dyn FnMut() + 'a>);

fn measure(folder: &Path, ports: &str, rounds: usize, only: &str) {
    let (tcp, tls) = ports.split_once(' ').expect("two endpoints");
    let [tcp, tls]: [Endpoint; 2] = [tcp, tls].map(|text| text.parse().expect("its endpoint"));
    let unix = |name| Endpoint::Unix(folder.join(name));
    let on = Spin { us_max: 50 };
    let caller = |to: &Endpoint, spin| Caller::new(to, spin);
    let mut pings = [
        caller(&unix("off"), Spin::OFF),
        caller(&unix("default"), Spin::default()),
        caller(&unix("on"), on),
        caller(&tcp, Spin::OFF),
        caller(&tls, Spin::OFF),
    ];
    let mut tens = [
        caller(&unix("off"), Spin::OFF),
        caller(&unix("default"), Spin::default()),
        caller(&tcp, Spin::OFF),
        caller(&tls, Spin::OFF),
    ];
    let words = words(folder);
    let mut plain = UnixStream::connect(folder.join("plain")).expect("the plain socket");
    let body = [5; 64];
    let mut rows: Vec<Row<'_>> = Vec::new();
    rows.push((
        "64 B there and back: bare futex",
        rounds,
        1.0,
        Box::new(move || {
            let seen = words[32].load(Ordering::Acquire);
            futex_add(&words[0]);
            futex_wait(&words[32], seen);
        }),
    ));
    rows.push((
        "  plain Unix socket, blocking",
        rounds,
        1.0,
        Box::new(move || {
            let mut bytes = [0; 72];
            plain.write_all(&bytes).and_then(|()| plain.read_exact(&mut bytes)).expect("an echo");
        }),
    ));
    let names = ["  shm, no spin", "  shm, default spin", "  shm, spin 50 us", "  TCP loopback", "  TLS loopback"];
    for (name, caller) in names.into_iter().zip(&mut pings) {
        rows.push((name, rounds, 1.0, Box::new(|| caller.call(ECHO, &body))));
    }
    let names =
        ["10 messages, one answer; each: shm, no spin", "  shm, default spin", "  TCP loopback", "  TLS loopback"];
    for (name, caller) in names.into_iter().zip(&mut tens) {
        rows.push((
            name,
            rounds / 4,
            10.0,
            Box::new(|| {
                (0..9).for_each(|_| caller.client.send(QUIET, &body).expect("to send"));
                caller.call(ECHO, &body);
            }),
        ));
    }
    bulk(&mut rows, "1 MiB", 1 << 20, 200, [("shm", &unix("default")), ("TCP", &tcp), ("TLS", &tls)]);
    bulk(&mut rows, "16 MiB", 16 << 20, 12, [("shm", &unix("default")), ("TCP", &tcp), ("TLS", &tls)]);

    rows.retain(|(name, ..)| name.contains(only));
    let mut found: BTreeMap<usize, Vec<(Duration, Duration)>> = BTreeMap::new();
    for _ in 0..TURNS {
        for (i, (_, rounds, _, act)) in rows.iter_mut().enumerate() {
            act();
            let mut times: Vec<Duration> = (0..*rounds)
                .map(|_| {
                    let start = Instant::now();
                    act();
                    start.elapsed()
                })
                .collect();
            times.sort_unstable();
            found.entry(i).or_default().push((times[times.len() / 2], times[times.len() * 99 / 100]));
        }
    }
    println!("{:<48} {:>10} {:>10} {:>10}   us; {TURNS} turns", "", "best p50", "p50", "p99");
    for (i, (name, _, each, _)) in rows.iter().enumerate() {
        let turns = &found[&i];
        let us = |time: Duration| time.as_secs_f64() * 1e6 / each;
        let median = |mut times: Vec<Duration>| {
            times.sort_unstable();
            us(times[times.len() / 2])
        };
        let best = us(turns.iter().map(|t| t.0).min().unwrap_or_default());
        let p50 = median(turns.iter().map(|t| t.0).collect());
        let p99 = median(turns.iter().map(|t| t.1).collect());
        println!("{name:<48} {best:>10.2} {p50:>10.2} {p99:>10.2}");
    }
}

fn bulk<'a>(rows: &mut Vec<Row<'a>>, name: &'static str, len: usize, rounds: usize, all: [(&str, &Endpoint); 3]) {
    let from = vec![3u8; len];
    let mut to = vec![0u8; len];
    let title = |what: &str| Box::leak(format!("{name} {what}").into_boxed_str());
    let source = from.clone();
    rows.push((
        title("memcpy"),
        rounds,
        1.0,
        Box::new(move || {
            to.copy_from_slice(&source);
            std::hint::black_box(&to);
        }),
    ));
    for (transport, endpoint) in all {
        let mut caller = Caller::new(endpoint, Spin::default());
        let bulk = caller.client.bulk(len as u64).expect("bulk");
        let bytes = from.clone();
        rows.push((
            title(&format!("{transport}: put, answer (1 copy)")),
            rounds,
            1.0,
            Box::new(move || {
                let reference = bulk.put(0, &bytes).expect("to put");
                caller.call(UP, &reference.encode());
            }),
        ));
        let mut caller = Caller::new(endpoint, Spin::default());
        let bulk = caller.client.bulk(len as u64).expect("bulk");
        let mut back = vec![0; len];
        rows.push((
            title(&format!("{transport}: filled there, got (2 copies)")),
            rounds,
            1.0,
            Box::new(move || {
                let reference = bulk.expect(0, len as u64).expect("a place");
                caller.call(DOWN, &reference.encode());
                bulk.get(&reference, 0, &mut back).expect("the bytes");
            }),
        ));
        let mut caller = Caller::new(endpoint, Spin::default());
        let bulk = caller.client.bulk(len as u64).expect("bulk");
        rows.push((
            title(&format!("{transport}: written in place, answer (0 copies)")),
            rounds,
            1.0,
            Box::new(move || {
                let reference = bulk.publish(0, len as u64).expect("to publish");
                caller.call(UP, &reference.encode());
            }),
        ));
    }
}
