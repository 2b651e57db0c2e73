//! The ports of the manager for its clients, which strangers reach: with tokens, nobody else has anything to ask there.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rackloom_ipc::Endpoint;
use rackloom_ipc::hello::{Hello, Role};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

use crate::common::Tenant;
use crate::isolating::{Isolating, counts_to, with_kernels};
use crate::seats::{OTHER, tokens};
use crate::secured::{Believing, Secured, address};
use crate::site::until;

/// How long an honest client may take to be served by a manager that has a worker ready.
const SOON: Duration = Duration::from_secs(1);

/// Most bytes by which the manager may have grown.
const GROWN_MAX: u64 = 16 << 20;

/// Files that a worker has in the manager until it is ready; no connection may keep one.
const OF_A_START: usize = 4;

/// A connection of a stranger.
enum Stranger {
    Here(OwnedFd),
    Tcp(TcpStream),
}

impl Stranger {
    fn comes(to: &Endpoint) -> Self {
        let Endpoint::Unix(path) = to else {
            return Self::Tcp(TcpStream::connect(address(to)).unwrap());
        };
        // No manager that another test starts meanwhile inherits a thousand of them.
        let flags = SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        rustix::net::connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
        Self::Here(socket)
    }

    /// Or it has been closed.
    fn says(&mut self, bytes: &[u8]) {
        match self {
            Self::Here(socket) => drop(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)),
            Self::Tcp(stream) => drop(stream.write_all(bytes)),
        }
    }

    /// Leaves at once, with a reset where there is one.
    fn resets(self) {
        if let Self::Tcp(stream) = &self {
            rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
        }
    }

    /// Whether it has been closed, or is within a while.
    fn ends(self) -> bool {
        match self {
            Self::Here(socket) => {
                rustix::net::sockopt::set_socket_timeout(
                    &socket,
                    rustix::net::sockopt::Timeout::Recv,
                    Some(Duration::from_secs(10)),
                )
                .unwrap();
                let mut buffer = [0; 256];
                loop {
                    match rustix::net::recv(&socket, &mut buffer, rustix::net::RecvFlags::empty()) {
                        Ok((_, 0)) => return true,
                        Ok(_) => {}
                        Err(e) => return e == rustix::io::Errno::CONNRESET,
                    }
                }
            }
            Self::Tcp(mut stream) => {
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                match stream.read_to_end(&mut Vec::new()) {
                    Ok(_) => true,
                    Err(e) => e.kind() == std::io::ErrorKind::ConnectionReset,
                }
            }
        }
    }
}

/// A greeting with a token that nobody has.
fn of_a_stranger(role: Role) -> [u8; Hello::LEN] {
    Hello { role, features: u64::MAX, token: [7; 32], session: [9; 16] }.encode()
}

/// A manager with tokens, and an honest client for each of its ports.
struct Ports {
    manager: Isolating,
    endpoints: [Endpoint; 3],
    files: usize,
    resident: u64,
    _kept: (tempfile::NamedTempFile, tempfile::TempDir),
}

impl Ports {
    fn open() -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        let Secured { manager, tls, folder } = Secured::start(512, &["--tokens", &tokens(&file)]);
        let endpoints = [manager.endpoint.clone(), manager.tcp.clone(), tls];
        let mut ports = Self { manager, endpoints, files: 0, resident: 0, _kept: (file, folder) };
        for endpoint in &ports.endpoints {
            drop(Tenant::opening(endpoint, OTHER));
        }
        ports.is_quiet();
        for _ in 0..3 {
            ports.serve();
        }
        ports.files = ports.manager.process.files();
        ports.resident = ports.manager.process.resident();
        ports
    }

    fn is_quiet(&self) {
        let nobody = || self.manager.metric("rackloom_tenants{").values().all(|count| *count == 0.0);
        // One worker is ready for clients of each port, if those of this user may read more.
        let ready = if self.manager.gives_users() { 1 } else { 2 };
        until("nobody is there", || nobody() && self.manager.workers().len() == ready);
    }

    /// An honest client gets in and has a board, soon, at each port.
    fn serve(&self) {
        for endpoint in &self.endpoints {
            let start = Instant::now();
            let client = Tenant::opening(endpoint, OTHER);
            let took = start.elapsed();
            assert!(took < SOON, "{endpoint}: a client waited {took:?}");
            with_kernels(&client);
            counts_to(&client, 1);
            drop(client);
            self.is_quiet(); // With a worker ready for the next one.
        }
    }

    /// Attacks each port by so many connections. Clients are served meanwhile and afterwards; nothing stays.
    fn survive<T>(&mut self, what: &str, count: usize, attack: impl Fn(Stranger) -> T) {
        for endpoint in self.endpoints.clone() {
            self.survive_at(&endpoint, what, || (0..count).map(|_| attack(Stranger::comes(&endpoint))).collect());
        }
    }

    /// The same at one port, by whatever comes there.
    fn survive_at<T>(&mut self, endpoint: &Endpoint, what: &str, attack: impl FnOnce() -> Vec<T>) {
        eprintln!("- {what}, {endpoint}");
        let held = attack();
        self.serve();
        let grown = self.manager.process.resident().saturating_sub(self.resident);
        assert!(grown < GROWN_MAX, "it has grown by {grown} bytes");
        drop(held);
        until("its files are back", || self.manager.process.files() <= self.files + OF_A_START);
        self.serve();
        assert!(!self.manager.process.has_ended());
    }
}

#[test]
fn connections_by_the_thousand() {
    let mut ports = Ports::open();
    ports.survive("silence", 1000, |stranger| stranger);
    ports.survive("half a greeting", 1000, |mut stranger| {
        stranger.says(&of_a_stranger(Role::Messages)[..30]);
        stranger
    });
    ports.survive("resets", 1000, Stranger::resets);
    ports.survive("greetings without a right", 1000, |mut stranger| {
        stranger.says(&of_a_stranger(Role::Messages));
        stranger
    });
    ports.survive("bulk of a session that there is not", 300, |mut stranger| {
        stranger.says(&of_a_stranger(Role::Bulk));
        stranger
    });
    ports.survive("another protocol", 300, |mut stranger| {
        stranger.says(&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(4));
        assert!(stranger.ends());
    });
    ports.survive("more than a greeting", 20, |mut stranger| {
        stranger.says(&of_a_stranger(Role::Messages));
        stranger.says(&vec![0; 100_000]);
        assert!(stranger.ends());
    });
}

#[test]
fn handshakes_by_the_thousand() {
    let mut ports = Ports::open();
    let tls = ports.endpoints[2].clone();
    let words = Believing::first_words();
    ports.survive_at(&tls, "half a handshake", || {
        let half = |_| {
            let mut stranger = Stranger::comes(&tls);
            stranger.says(&words[..words.len() / 2]);
            stranger
        };
        (0..1000).map(half).collect()
    });
    ports.survive_at(&tls, "a handshake that is not finished", || {
        let begun = |_| {
            let mut stranger = Stranger::comes(&tls);
            stranger.says(&words);
            stranger
        };
        (0..300).map(begun).collect()
    });
    // Those that come too late for its limit are closed before they have finished.
    let finished = |_| Believing::connect(&tls, &rustls::version::TLS13).ok();
    ports.survive_at(&tls, "silence after a handshake", || (0..300).filter_map(finished).collect());
    ports.survive_at(&tls, "a greeting without a right", || {
        let greets = |mut client: Believing| {
            client.0.write_all(&of_a_stranger(Role::Messages)).unwrap();
            client
        };
        (0..100).filter_map(finished).map(greets).collect()
    });
}
