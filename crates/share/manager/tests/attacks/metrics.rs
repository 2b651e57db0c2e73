//! The port of the metrics, which strangers reach.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::isolating::{Isolating, counts_to, with_kernels};
use crate::site::until;

/// How long an honest scrape may take.
const SOON: Duration = Duration::from_secs(1);

/// A manager that may open few files: who takes them from it is noticed.
fn manager() -> Isolating {
    // This test holds more connections than the usual limit of files allows.
    let had = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: had.maximum, ..had }).unwrap();
    Isolating::with_files(256, &[])
}

fn connect(manager: &Isolating, sends: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(&manager.metrics).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(sends); // Or it was closed already.
    stream
}

/// What a request is answered.
fn answer(manager: &Isolating, request: &[u8]) -> String {
    let mut said = Vec::new();
    let _ = connect(manager, request).read_to_end(&mut said); // Up to a reset.
    String::from_utf8(said).unwrap()
}

/// An honest scrape, and an honest program.
fn serves(manager: &Isolating) {
    let start = Instant::now();
    let text = manager.scrape();
    let took = start.elapsed();
    assert!(text.starts_with("HTTP/1.") && text.contains("# EOF"), "{text}");
    assert!(took < SOON, "a scrape took {took:?}");
    let program = manager.client();
    with_kernels(&program);
    counts_to(&program, 1);
}

/// Attacks a manager; it serves while what the attack returns lives, and has its files back afterwards.
fn survives<T>(attack: impl Fn(&Isolating) -> T) {
    let mut manager = manager();
    serves(&manager);
    let is_quiet = || manager.workers().len() == 1 && manager.metric("rackloom_tenants{").values().all(|n| *n == 0.0);
    until("it is quiet", is_quiet);
    let files = manager.process.files();
    let held = attack(&manager);
    let more = manager.process.files().saturating_sub(files);
    assert!(more < 80, "{more} files for connections");
    serves(&manager);
    drop(held);
    until("its files are back", || manager.process.files() <= files);
    serves(&manager);
    assert!(!manager.process.has_ended());
}

#[test]
fn what_is_no_scrape_is_refused() {
    let manager = manager();
    let status = |request: &str| answer(&manager, request.as_bytes()).lines().next().unwrap_or_default().to_owned();
    assert_eq!(status("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 200 OK");
    assert_eq!(status("GET /metrics?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"), "HTTP/1.1 200 OK");
    assert_eq!(status("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 404 Not Found");
    assert_eq!(status("POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
    let large = "GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n";
    assert_eq!(status(large), "HTTP/1.1 413 Payload Too Large");
    let endless = "GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(status(endless), "HTTP/1.1 413 Payload Too Large");
    assert_eq!(status("nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    let long = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(15 << 10));
    assert_eq!(status(&long), "HTTP/1.1 200 OK");
}

#[test]
fn a_body_of_an_absurd_length() {
    survives(|manager| {
        for length in ["99999999999999", "18446744073709551615", "18446744073709551616", "-1"] {
            let request = format!("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
            answer(manager, request.as_bytes());
        }
    });
}

#[test]
fn heads_without_end() {
    survives(|manager| {
        let mut large = b"GET /metrics HTTP/1.1\r\nX: ".to_vec();
        large.resize(32 << 20, b'x');
        let before = manager.process.resident();
        for _ in 0..4 {
            let said = answer(manager, &large);
            assert!(said.is_empty() || said.starts_with("HTTP/1.1 431"), "{said}");
        }
        let grown = manager.process.resident().saturating_sub(before);
        assert!(grown < 8 << 20, "it has grown by {grown} bytes");
    });
}

#[test]
fn requests_that_are_half_sent() {
    survives(|manager| {
        let half = b"GET /metrics HTTP/1.1\r\nHost:";
        (0..600).map(|_| connect(manager, half)).collect::<Vec<_>>()
    });
}

#[test]
fn connections_that_say_nothing() {
    survives(|manager| (0..1000).map(|_| connect(manager, b"")).collect::<Vec<_>>());
}

#[test]
fn connections_that_are_reset() {
    survives(|manager| {
        for _ in 0..1000 {
            let stream = connect(manager, b"GET /metrics");
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
        }
    });
}

#[test]
fn requests_whose_answers_nobody_reads() {
    survives(|manager| {
        let many = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000);
        (0..16).map(|_| connect(manager, &many)).collect::<Vec<_>>()
    });
}
