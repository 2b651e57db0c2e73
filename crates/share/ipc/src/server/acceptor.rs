//! The thread that accepts connections, greets clients, and watches for the end of those on this node
//! ([`super::watch`]).
//!
//! It never waits for a client: greetings are read as they arrive, a bounded number at a time, each with a deadline.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::net::SocketFlags;
use rustix::process::{Pid, PidfdFlags};

use super::config::{Grant, Identity, ServerConfig};
use super::core::{Link, PeerCore};
use super::greeting::{Came, Greeting, Line};
use super::peer::Peer;
use super::seats::{Seat, Seats, Tenant};
use super::shm::{RING_START, ShmPeer};
use super::tcp::TcpPeer;
use super::watch;
use crate::hello::{FEATURES, Hello, Refusal, Role, Welcome, same_token};
use crate::limits::{GREETING_TIMEOUT, GREETINGS_MAX, SESSION_TIMEOUT, SOCKET_SEND};
use crate::sys::socket;
use crate::tls::TlsIdentity;

/// The state of the thread.
pub(super) struct Acceptor {
    listener: OwnedFd,
    is_tcp: bool,
    /// All connections are within TLS, as this server.
    tls: Option<TlsIdentity>,
    config: ServerConfig,
    grant: Arc<Box<Grant>>,
    stop: Arc<OwnedFd>,
    ready: SyncSender<Peer>,
    seats: Arc<Seats>,
    greeting: Vec<Greeting>,
    sessions: Vec<Session>,
    watched: Vec<Arc<PeerCore>>,
    /// The system is out of files: accept no connections until then.
    rest_until: Option<Instant>,
}

/// A client over TCP whose second connection has not arrived yet.
struct Session {
    main: Line,
    identity: Identity,
    hello: Hello,
    id: [u8; 16],
    deadline: Instant,
    seat: Seat,
}

/// How long to accept no connections when the system is out of files.
const REST: Duration = Duration::from_millis(20);

impl Acceptor {
    pub(super) fn new(
        listener: OwnedFd,
        is_tcp: bool,
        tls: Option<TlsIdentity>,
        mut config: ServerConfig,
        stop: Arc<OwnedFd>,
        ready: SyncSender<Peer>,
    ) -> Self {
        let grant = Arc::new(std::mem::replace(&mut config.grant, Box::new(|_, _, _, _| None)));
        Self {
            listener,
            is_tcp,
            tls,
            config,
            grant,
            stop,
            ready,
            seats: Arc::default(),
            greeting: Vec::new(),
            sessions: Vec::new(),
            watched: Vec::new(),
            rest_until: None,
        }
    }

    /// Runs until the server stops, and then watches the clients on this node until none is left.
    pub(super) fn run(mut self) {
        let mut stopping = false;
        while !stopping {
            stopping = self.turn();
        }
        let Self { watched, listener, ready, .. } = self;
        drop((listener, ready));
        if !watched.is_empty() {
            let watch = move || watch::run(watched);
            // Without a thread, only the timeouts of the clients' own threads would notice their ends.
            let _ = std::thread::Builder::new().name("ipc-watch".into()).spawn(watch);
        }
    }

    /// Waits for an event and handles it; true to stop.
    fn turn(&mut self) -> bool {
        let now = Instant::now();
        self.rest_until = self.rest_until.filter(|at| *at > now);
        let accepting = self.rest_until.is_none();
        let mut fds = vec![
            PollFd::new(&*self.stop, PollFlags::IN),
            PollFd::new(&self.listener, if accepting { PollFlags::IN } else { PollFlags::empty() }),
        ];
        fds.extend(self.greeting.iter().map(|g| PollFd::new(g.line.socket(), g.line.wants())));
        fds.extend(self.sessions.iter().map(|s| PollFd::new(s.main.socket(), PollFlags::RDHUP)));
        watch::files(&self.watched, &mut fds);
        let deadlines = self.greeting.iter().map(|g| g.deadline).chain(self.sessions.iter().map(|s| s.deadline));
        let again = watch::again(&self.watched);
        let deadline = deadlines.chain(self.rest_until).chain(again).min();
        if socket::poll_all(&mut fds, deadline).is_err() {
            return true;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        let (head, ready) = ready.split_at(2);
        let (greeting, ready) = ready.split_at(self.greeting.len());
        let (ended, watched) = ready.split_at(self.sessions.len());
        watch::look(&mut self.watched, watched);
        let now = Instant::now();
        // Before others join or come.
        let mut ended = ended.iter();
        self.sessions.retain(|s| !ended.next().is_some_and(|ended| *ended) && s.deadline > now);
        let greeting = greeting.to_vec();
        for at in (0..greeting.len()).rev() {
            if greeting[at] {
                self.greet(at);
            } else if self.greeting[at].deadline <= now {
                self.greeting.remove(at);
            }
        }
        if accepting && head[1] {
            self.accept();
        }
        head[0]
    }

    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (sock, from) = match rustix::net::acceptfrom_with(&self.listener, flags) {
            Ok((sock, from)) => (sock, from),
            Err(e) => {
                use rustix::io::Errno as E;
                if matches!(e, E::MFILE | E::NFILE | E::NOBUFS | E::NOMEM) {
                    self.rest_until = Some(Instant::now() + REST);
                }
                return; // Or the client has gone already.
            }
        };
        let identity = if self.is_tcp {
            if socket::tune_tcp(&sock).is_err() {
                return;
            }
            let from = from.and_then(|a| SocketAddr::try_from(a).ok());
            Identity::Tcp { from: from.unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into()) }
        } else {
            let Ok((pid, uid, gid)) = socket::peer(&sock) else { return };
            if rustix::net::sockopt::set_socket_send_buffer_size(&sock, SOCKET_SEND).is_err() {
                return;
            }
            Identity::Unix { pid, uid, gid }
        };
        let deadline = Instant::now() + GREETING_TIMEOUT;
        let line = match &self.tls {
            Some(tls) => match tls.connection() {
                Ok(secure) => Line::Secure(sock, Box::new(secure)),
                Err(_) => return, // It is out of randomness or memory.
            },
            None if self.is_tcp => Line::Plain(sock),
            None => Line::Packets(sock),
        };
        if self.greeting.len() >= GREETINGS_MAX {
            self.greeting.remove(oldest_of_greediest(self.greeting.iter().map(|g| &g.identity)));
        }
        self.greeting.push(Greeting::new(line, identity, deadline));
        self.greet(self.greeting.len() - 1); // It may have come with the connection.
    }

    /// Reads a greeting, which may have arrived only in part.
    fn greet(&mut self, at: usize) {
        let Some(came) = self.greeting[at].read() else { return };
        let mut greeting = self.greeting.remove(at);
        match came {
            Came::End => {}
            Came::Hello(Err(refusal)) => greeting.line.answer(&Err(refusal), None),
            Came::Hello(Ok(hello)) => self.admit(greeting, hello),
        }
    }

    fn admit(&mut self, greeting: Greeting, hello: Hello) {
        let Greeting { mut line, identity, .. } = greeting;
        if hello.role == Role::Bulk {
            return self.join(line, &hello);
        }
        if !(self.config.admit)(&hello.token, &identity) {
            return line.answer(&Err(Refusal::NotAdmitted), None);
        }
        let Some(seat) = self.seats.take(&self.config, &hello.token, &identity) else {
            return line.answer(&Err(Refusal::Full), None);
        };
        let Ok(id) = socket::random::<16>() else { return line.answer(&Err(Refusal::Resources), None) };
        let limits = self.config.limits;
        let welcome = Welcome {
            features: hello.features & FEATURES,
            session: id,
            ring_bytes: if self.is_tcp { 0 } else { limits.ring_bytes },
            ring_start: RING_START,
            bulk_bytes_max: limits.bulk_bytes_max,
            bulk_count_max: u32::try_from(limits.bulk_count_max).unwrap_or(u32::MAX),
        };
        let Line::Packets(sock) = line else {
            line.answer(&Ok(welcome), None);
            let deadline = Instant::now() + SESSION_TIMEOUT;
            self.sessions.push(Session { main: line, identity, hello, id, deadline, seat });
            return;
        };
        let process = match identity {
            Identity::Unix { pid, .. } => {
                Pid::from_raw(pid as i32).and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok())
            }
            Identity::Tcp { .. } => None,
        };
        // The socket moves into the peer, which answers through it.
        match ShmPeer::new(sock, process, &limits) {
            Err(_) => {} // Closed with the socket: there may be no file for an answer, either.
            Ok(link) => {
                // As with any new socket, there is room.
                let _ = socket::send_packet(&link.socket, &Welcome::encode(&Ok(welcome)), Some(link.memory.as_fd()));
                let grant = Arc::clone(&self.grant);
                let seat = Some(Arc::new(seat));
                let core = PeerCore::new(identity, hello.token, limits, grant, Link::Shm(Box::new(link)), seat);
                let core = Arc::new(core);
                self.watched.push(Arc::clone(&core));
                let _ = self.ready.try_send(Peer::new(core)); // As many seats as places.
            }
        }
    }

    /// The second connection of a client over TCP.
    fn join(&mut self, mut bulk: Line, hello: &Hello) {
        let mine = |s: &Session| {
            let (mut a, mut b) = ([0; 32], [0; 32]);
            a[..16].copy_from_slice(&s.id);
            b[..16].copy_from_slice(&hello.session);
            same_token(&a, &b) && same_token(&s.hello.token, &hello.token)
        };
        let Some(at) = self.sessions.iter().position(mine) else {
            return bulk.answer(&Err(Refusal::Session), None);
        };
        let Session { main, identity, hello, id, seat, .. } = self.sessions.remove(at);
        let limits = self.config.limits;
        let welcome = Welcome {
            features: hello.features & FEATURES,
            session: id,
            ring_bytes: 0,
            ring_start: 0,
            bulk_bytes_max: limits.bulk_bytes_max,
            bulk_count_max: u32::try_from(limits.bulk_count_max).unwrap_or(u32::MAX),
        };
        bulk.answer(&Ok(welcome), None);
        let seat = Arc::new(seat);
        let sockets = main.into_socket(&seat).and_then(|main| Ok((main, bulk.into_socket(&seat)?)));
        let link = sockets.and_then(|(main, bulk)| TcpPeer::new(main, bulk, &limits));
        let Ok(link) = link else { return }; // Closed with the sockets.
        let grant = Arc::clone(&self.grant);
        let core = PeerCore::new(identity, hello.token, limits, grant, Link::Tcp(Arc::new(link)), Some(seat));
        let _ = self.ready.try_send(Peer::new(Arc::new(core))); // As many seats as places.
    }
}

/// Which one goes when there are too many: so one who brings crowds displaces its own.
fn oldest_of_greediest<'a>(all: impl Iterator<Item = &'a Identity>) -> usize {
    let from: Vec<_> = all.map(Tenant::without_token).collect();
    let crowd = |who: &Tenant| from.iter().filter(|other| *other == who).count();
    let most = from.iter().map(crowd).max().unwrap_or(0);
    from.iter().position(|who| crowd(who) == most).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_displaces_itself() {
        let tcp = |host: u8, port: u16| Identity::Tcp { from: ([10, 0, 0, host], port).into() };
        let unix = |pid| Identity::Unix { pid, uid: 7, gid: 7 };
        let goes = |all: &[Identity]| oldest_of_greediest(all.iter());
        // One who came first stays, and so do the few of others.
        assert_eq!(goes(&[tcp(1, 1), tcp(2, 1), tcp(3, 1), tcp(2, 2), tcp(3, 2), tcp(3, 3)]), 2);
        assert_eq!(goes(&[tcp(1, 1), unix(1), unix(2)]), 1, "processes of one user");
        assert_eq!(goes(&[tcp(1, 1), tcp(2, 1)]), 0, "all have as many: the oldest");
    }
}
