//! Serves a segment to other processes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rackloom_sync::lock;
use rustix::event::{Timespec, epoll};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::client::{GREETING_TIMEOUT, enlarge_buffers};
use super::connection::{Connection, Serviced, answer};
use super::record::{Answer, Receiver};
use super::{SegmentError, SegmentPath, path};
use crate::doorbell::Doorbell;
use crate::switch::Switch;
use crate::wire::RETRY;

/// A thread that gives each process which connects a port of a switch. Dropping it takes the segment down.
#[derive(Debug)]
pub struct SegmentServer {
    path: SegmentPath,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Held, not used: its lock says that the segment is served.
    _lock: File,
}

/// What a server counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerStats {
    /// Clients attached now.
    pub attached: u64,
    /// Connections accepted so far.
    pub accepted: u64,
    /// Connections refused: another user's, no port free, no greeting, or no file descriptor left.
    pub refused: u64,
    /// Messages that were no records, or only in part.
    pub malformed: u64,
}

#[derive(Debug)]
struct Shared {
    bell: Arc<Doorbell>,
    /// Connections whose port has something for them.
    ready: Mutex<Vec<u64>>,
    stats: Mutex<ServerStats>,
    stop: AtomicBool,
}

impl SegmentServer {
    /// Serves `switch` at `path`, to at most `clients` processes of this user at a time.
    ///
    /// # Errors
    /// The segment is served already; or its directory is not safe; or the operating system refuses.
    pub fn spawn(path: SegmentPath, switch: Switch, clients: usize) -> Result<Self, SegmentError> {
        path.make_directory()?;
        let lock = take_lock(&path)?;
        let file = path.socket();
        let fail = |what| {
            let file = file.clone();
            move |e: Errno| SegmentError::Io { what, path: file, source: e.into() }
        };
        // We hold the lock, so nobody serves this socket: it is left over from a server that was killed.
        match rustix::fs::unlink(&file) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => return Err(fail("remove the stale socket")(e)),
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(fail("make a socket for"))?;
        let address = SocketAddrUnix::new(&file).map_err(fail("name a socket"))?;
        rustix::net::bind(&listener, &address).map_err(fail("bind"))?;
        rustix::net::listen(&listener, BACKLOG).map_err(fail("listen at"))?;
        let io = |source| SegmentError::Io { what: "serve", path: path.socket(), source };
        let shared = Arc::new(Shared {
            bell: Doorbell::new().map_err(io)?,
            ready: Mutex::default(),
            stats: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let service = Service::new(Arc::clone(&shared), listener, switch, clients).map_err(|e| io(e.into()))?;
        let thread =
            std::thread::Builder::new().name("rackloom-segment".to_owned()).spawn(move || service.run()).map_err(io)?;
        Ok(Self { path, shared, thread: Some(thread), _lock: lock })
    }

    /// Where it serves.
    #[must_use]
    pub const fn path(&self) -> &SegmentPath {
        &self.path
    }

    /// What was counted so far.
    #[must_use]
    pub fn stats(&self) -> ServerStats {
        *lock(&self.shared.stats)
    }
}

impl Drop for SegmentServer {
    fn drop(&mut self) {
        // Unlink while the lock is held: the next server's socket must not be the one that goes.
        let _ = std::fs::remove_file(self.path.socket());
        self.shared.stop.store(true, Ordering::Release);
        self.shared.bell.waker().wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // A panic has printed its message already.
        }
    }
}

/// Takes the lock that says that the segment is served, and notes by whom.
fn take_lock(path: &SegmentPath) -> Result<File, SegmentError> {
    let fail = |source| SegmentError::Io { what: "lock", path: path.lock(), source };
    let mut file =
        File::options().read(true).write(true).create(true).truncate(false).open(path.lock()).map_err(fail)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid); // For the message only.
            let pid = if pid.is_empty() { "?".to_owned() } else { pid };
            return Err(SegmentError::AlreadyUp { name: path.name().to_owned(), pid });
        }
        Err(e) => return Err(fail(e.into())),
    }
    file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(fail)?;
    Ok(file)
}

/// The serving thread's own.
struct Service {
    shared: Arc<Shared>,
    listener: OwnedFd,
    epoll: OwnedFd,
    switch: Switch,
    clients: usize,
    connections: BTreeMap<u64, Connection>,
    receiver: Receiver,
    next: u64,
    /// No file descriptor was left; accepting goes on at this time.
    pause: Option<Instant>,
}

impl Service {
    fn new(shared: Arc<Shared>, listener: OwnedFd, switch: Switch, clients: usize) -> rustix::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (fd, id) in [(listener.as_fd(), LISTENER), (shared.bell.as_fd(), BELL)] {
            epoll::add(&epoll, fd, epoll::EventData::new_u64(id), epoll::EventFlags::IN)?;
        }
        let (connections, receiver) = (BTreeMap::new(), Receiver::new());
        Ok(Self { shared, listener, epoll, switch, clients, connections, receiver, next: FIRST, pause: None })
    }

    fn run(mut self) {
        let mut events = Vec::with_capacity(64);
        let mut busy: Vec<u64> = Vec::new();
        while !self.shared.stop.load(Ordering::Acquire) {
            events.clear();
            let timeout = self.timeout(!busy.is_empty());
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => panic!("epoll on our own descriptors: {e}"),
            }
            let mut todo = std::mem::take(&mut busy);
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept(),
                    BELL => _ = self.shared.bell.silence(),
                    id => todo.push(id),
                }
            }
            todo.append(&mut lock(&self.shared.ready));
            // What waits for the switch is tried again each time: a stuck port does not tell when its grace is over.
            todo.extend(self.connections.iter().filter(|(_, c)| c.inward_full).map(|(&id, _)| id));
            todo.sort_unstable();
            todo.dedup();
            for id in todo {
                if self.service(id) {
                    busy.push(id);
                }
            }
            self.expire();
        }
    }

    /// Serves one connection; true if it wants more at once.
    fn service(&mut self, id: u64) -> bool {
        let Some(connection) = self.connections.get_mut(&id) else { return false };
        let before = (connection.inward_full, connection.outward_full);
        let serviced = connection.service(&mut self.receiver);
        if connection.malformed > 0 {
            let malformed = std::mem::take(&mut connection.malformed);
            self.count(|s| s.malformed += malformed);
        }
        if serviced == Serviced::Close {
            self.close(id);
            return false;
        }
        let connection = &self.connections[&id];
        if (connection.inward_full, connection.outward_full) != before && self.watch(id).is_err() {
            self.close(id);
            return false;
        }
        serviced == Serviced::Busy
    }

    /// Watches a connection for what it can make use of now.
    fn watch(&self, id: u64) -> rustix::io::Result<()> {
        let c = &self.connections[&id];
        let mut flags = epoll::EventFlags::empty();
        flags.set(epoll::EventFlags::IN, !c.inward_full);
        flags.set(epoll::EventFlags::OUT, c.outward_full);
        epoll::modify(&self.epoll, &c.socket, epoll::EventData::new_u64(id), flags)
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            match rustix::net::accept_with(&self.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(socket) => {
                    let welcome = self.admit(socket);
                    self.count(|s| if welcome { s.accepted += 1 } else { s.refused += 1 });
                }
                Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS) => {
                    // The connection stays in the backlog and would wake us at once, again and again.
                    self.count(|s| s.refused += 1);
                    self.pause = Some(Instant::now() + ACCEPT_PAUSE);
                    self.listen(epoll::EventFlags::empty());
                    return;
                }
                Err(_) => return, // None waits, or it has gone again.
            }
        }
    }

    fn listen(&self, flags: epoll::EventFlags) {
        let result = epoll::modify(&self.epoll, &self.listener, epoll::EventData::new_u64(LISTENER), flags);
        result.expect("the listener is in the set");
    }

    /// Gives a new connection a port, unless it must not have one.
    fn admit(&mut self, socket: OwnedFd) -> bool {
        let peer = rustix::net::sockopt::socket_peercred(&socket);
        if peer.map(|p| p.uid.as_raw()) != Ok(path::own_uid()) {
            return false;
        }
        let id = self.next;
        let port =
            (self.connections.len() < self.clients).then(|| self.switch.attach(&format!("client-{}", id - FIRST)));
        let Some(Ok(mut port)) = port else {
            let _ = answer(&socket, Answer::Full); // If it cannot be told, it sees the end.
            return false;
        };
        port.set_waker(Waker::from(Arc::new(PortWaker { shared: Arc::clone(&self.shared), id })));
        enlarge_buffers(&socket);
        if epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(id), epoll::EventFlags::IN).is_err() {
            return false;
        }
        self.next += 1;
        self.connections.insert(id, Connection::new(socket, port, Instant::now()));
        self.count(|s| s.attached += 1);
        true
    }

    fn close(&mut self, id: u64) {
        // Counted first: whoever sees the connection closed finds it no longer counted.
        if self.connections.contains_key(&id) {
            self.count(|s| s.attached -= 1);
            self.connections.remove(&id);
        }
    }

    /// Closes connections that never greeted, and accepts again after a pause.
    fn expire(&mut self) {
        let now = Instant::now();
        let silent =
            |c: &Connection| c.ungreeted.is_some_and(|at| now.saturating_duration_since(at) > GREETING_TIMEOUT);
        while let Some(id) = self.connections.iter().find_map(|(&id, c)| silent(c).then_some(id)) {
            self.close(id);
            self.count(|s| s.refused += 1);
        }
        if self.pause.is_some_and(|at| at <= now) {
            self.pause = None;
            self.listen(epoll::EventFlags::IN);
        }
    }

    fn timeout(&self, busy: bool) -> Option<Timespec> {
        let wait = if busy {
            Duration::ZERO
        } else if self.connections.values().any(|c| c.inward_full) {
            RETRY
        } else if self.pause.is_some() || self.connections.values().any(|c| c.ungreeted.is_some()) {
            ACCEPT_PAUSE
        } else {
            return None;
        };
        Some(Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() })
    }

    fn count(&self, f: impl FnOnce(&mut ServerStats)) {
        f(&mut lock(&self.shared.stats));
    }
}

/// Wakes the serving thread for one connection.
struct PortWaker {
    shared: Arc<Shared>,
    id: u64,
}

impl Wake for PortWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        lock(&self.shared.ready).push(self.id);
        self.shared.bell.wake_by_ref();
    }
}

const LISTENER: u64 = 0;
const BELL: u64 = 1;
const FIRST: u64 = 2;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 64;

/// Most connections accepted before others have their turn.
const ACCEPTS_MAX: usize = 16;

/// How long accepting rests when no file descriptor is left; also how often silent connections are looked for.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
