//! The client's side of shared memory.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use rackloom_sync::{lock, wait};
use rustix::event::{EventfdFlags, PollFlags};
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType};

use super::core::Core;
use super::spans::{Arena, Spans};
use crate::batch::{BATCH_BYTES, BATCH_MAX, Batch};
use crate::control::{self, ARENA_ANSWER, PACKET_ARENA, PACKET_WAKE};
use crate::error::{ChannelError, Closed, Violation};
use crate::hello::{Hello, Role, Token, Welcome};
use crate::le::{le_u32, le_u64};
use crate::limits::{GRACE, GREETING_TIMEOUT, Spin};
use crate::ring::{Consumer, Producer, Refused};
use crate::shared::{self, Direction, Doorbell, SharedRing, WANT_BACKGROUND, WANT_LEADER};
use crate::spin::Spinner;
use crate::sys::futex;
use crate::sys::map::Mapping;
use crate::sys::socket::{self, Packet};

/// A connection through shared memory.
#[derive(Debug)]
pub(super) struct ShmLink {
    socket: OwnedFd,
    map: Arc<Mapping>,
    tx: Mutex<Producer<SharedRing>>,
    rx: Mutex<Consumer<SharedRing>>,
    spinner: Mutex<Spinner>,
    /// Wakes the client's own thread.
    poke: OwnedFd,
    /// That thread checks regularly without being woken, because the program's threads read, too.
    ticking: AtomicBool,
    /// Pending requests for arenas.
    asks: Mutex<Asks>,
    answered: Condvar,
    pub(super) spans: Mutex<Spans>,
    /// Bytes of arenas that the server grants.
    bytes_max: u64,
}

#[derive(Debug, Default)]
struct Asks {
    next: u32,
    answers: Vec<(u32, Option<Arena>)>,
}

impl ShmLink {
    pub(super) fn connect(
        path: &Path,
        token: Token,
        features: u64,
        spin: Spin,
    ) -> Result<(Self, Welcome), ChannelError> {
        let sock = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let sock = sock.map_err(|e| ChannelError::io("make a socket")(e.into()))?;
        let address = SocketAddrUnix::new(path).map_err(|e| ChannelError::io("name the socket")(e.into()))?;
        // A stopped server with a full backlog would block us in connect.
        let sending = rustix::net::sockopt::Timeout::Send;
        let _ = rustix::net::sockopt::set_socket_timeout(&sock, sending, Some(GREETING_TIMEOUT));
        rustix::net::connect(&sock, &address).map_err(|e| ChannelError::io("connect")(e.into()))?;
        let hello = Hello { role: Role::Messages, features, token, session: [0; 16] };
        // A server that is full may have answered and closed already; its answer can still be read.
        let greeted = socket::send_packet(&sock, &hello.encode(), None);
        let deadline = Instant::now() + GREETING_TIMEOUT;
        let mut answer = [0; Welcome::LEN];
        let (len, file) = loop {
            match socket::recv_packet(&sock, &mut answer).map_err(ChannelError::io("read the greeting"))? {
                Packet::Whole(len, file) => break (len, file),
                Packet::None if Instant::now() >= deadline => return Err(ChannelError::Timeout),
                Packet::None => {
                    let wait = socket::poll([(sock.as_fd(), PollFlags::IN)], Some(deadline));
                    wait.map_err(ChannelError::io("wait for the greeting"))?;
                }
                Packet::Oversize => return Err(ChannelError::NotOurs),
                Packet::End => return Err(Closed::PeerGone.into()),
            }
        };
        let answer = Welcome::decode(&answer[..len]).ok_or(ChannelError::NotOurs)?;
        let welcome = answer.map_err(ChannelError::Refused)?;
        greeted.map_err(ChannelError::io("greet"))?;
        let file = file.filter(|_| shared::ring_bytes_ok(welcome.ring_bytes)).ok_or(ChannelError::NotOurs)?;
        let map = Mapping::new(&file, shared::bytes(welcome.ring_bytes)).map_err(ChannelError::io("map the rings"))?;
        let map = Arc::new(map);
        let poke = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let half = |way| SharedRing::new(Arc::clone(&map), way, welcome.ring_bytes);
        let link = Self {
            socket: sock,
            tx: Mutex::new(Producer::new(half(Direction::ToServer), welcome.ring_start)),
            rx: Mutex::new(Consumer::new(half(Direction::ToClient), welcome.ring_start)),
            spinner: Mutex::new(Spinner::new(spin)),
            map,
            poke: poke.map_err(|e| ChannelError::io("make an event")(e.into()))?,
            ticking: AtomicBool::new(false),
            asks: Mutex::default(),
            answered: Condvar::new(),
            spans: Mutex::default(),
            bytes_max: welcome.bulk_bytes_max,
        };
        link.leave();
        Ok((link, welcome))
    }

    /// Bytes of arenas that may still be requested.
    pub(super) fn room(&self) -> u64 {
        self.bytes_max.saturating_sub(lock(&self.spans).bytes())
    }

    fn doorbell(&self, which: Doorbell) -> &AtomicU32 {
        shared::doorbell(&self.map, which)
    }

    /// Writes a message, waiting for space as long as the server needs.
    pub(super) fn send(&self, core: &Core, kind: u32, body: &[u8]) -> Result<(), Closed> {
        loop {
            let seen = {
                let mut tx = lock(&self.tx);
                let mut pushed = tx.push(kind, body);
                let seen = self.doorbell(Doorbell::Senders).load(Ordering::Acquire);
                if pushed == Err(Refused::Full) {
                    tx.want_space();
                    pushed = tx.push(kind, body);
                }
                match pushed {
                    Ok(()) => {
                        let wanted = tx.data_wanted();
                        drop(tx);
                        if wanted != 0 {
                            futex::wake_all(self.doorbell(Doorbell::Server));
                        }
                        return Ok(());
                    }
                    Err(Refused::Corrupt(why)) => return Err(why.into()),
                    Err(Refused::Full) => seen,
                }
            };
            if let Some(why) = core.closed() {
                return Err(why);
            }
            futex::wait(self.doorbell(Doorbell::Senders), seen, None);
        }
    }

    pub(super) fn enter(&self) {
        lock(&self.rx).unwant_data();
    }

    pub(super) fn drain(&self, batch: &mut Batch) -> Result<(), Closed> {
        let mut rx = lock(&self.rx);
        if rx.pop(BATCH_MAX, BATCH_BYTES, |kind, len, read| batch.push_with(kind, len, |to| read(to)))? > 0
            && rx.space_wanted()
        {
            futex::wake_all(self.doorbell(Doorbell::Server));
        }
        Ok(())
    }

    pub(super) fn sleep(&self, core: &Core, deadline: Option<Instant>) {
        let rx = lock(&self.rx);
        if lock(&self.spinner).until(|| !rx.is_empty()) {
            return;
        }
        let seen = self.doorbell(Doorbell::Leader).load(Ordering::Acquire);
        rx.want_data(WANT_LEADER);
        if rx.is_empty() && core.closed().is_none() {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            futex::wait(self.doorbell(Doorbell::Leader), seen, left);
        }
        rx.unwant_data();
    }

    pub(super) fn leave(&self) {
        if self.ticking.load(Ordering::SeqCst) {
            return;
        }
        let rx = lock(&self.rx);
        rx.want_data(WANT_BACKGROUND);
        if !rx.is_empty() && rx.unwant_data() == WANT_BACKGROUND {
            self.poke();
        }
    }

    fn poke(&self) {
        let _ = rustix::io::write(&self.poke, &1u64.to_ne_bytes());
    }

    pub(super) fn shut(&self) {
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
        futex::wake_all(self.doorbell(Doorbell::Leader));
        futex::wake_all(self.doorbell(Doorbell::Senders));
        drop(lock(&self.asks));
        self.answered.notify_all();
        self.poke();
    }

    /// The client's own thread: notices the server's end, takes arenas, and reads messages while nobody else does.
    ///
    /// If it is woken while the program's threads keep reading for themselves, it polls: it checks once per grace
    /// period and is not woken, so that an answer faster than its caller's wait costs no wake-up. It stops polling when
    /// no thread has come for a grace period.
    pub(super) fn run(&self, core: &Core) {
        let mut calls_seen = core.dispatcher.calls();
        let mut tick: Option<Instant> = None;
        while core.closed().is_none() {
            let files = [(self.socket.as_fd(), PollFlags::IN), (self.poke.as_fd(), PollFlags::IN)];
            let Ok([sock, poke]) = socket::poll(files, tick) else { break };
            let mut called = !poke.is_empty();
            if called {
                let _ = rustix::io::read(&self.poke, &mut [0; 8]);
            }
            if !sock.is_empty() {
                match self.packets() {
                    Ok(called_too) => called |= called_too,
                    Err(why) => {
                        // What it sent before it went is handled first.
                        core.dispatcher.handle_now(core);
                        core.close(why);
                        break;
                    }
                }
            }
            let due = tick.is_some_and(|at| at <= Instant::now());
            if !due && (!called || tick.is_some()) {
                continue;
            }
            let calls = core.dispatcher.calls();
            let active = calls != calls_seen;
            calls_seen = calls;
            tick = active.then(|| Instant::now() + GRACE);
            // Before the check: whoever leaves from now on asks for a wake-up.
            self.ticking.store(active, Ordering::SeqCst);
            if due || !active {
                core.dispatcher.handle_now(core);
            }
        }
    }

    /// Reads what the server sent on the socket; true if it is a wake-up.
    fn packets(&self) -> Result<bool, Closed> {
        let mut called = false;
        let mut bytes = [0; ARENA_ANSWER];
        loop {
            match socket::recv_packet(&self.socket, &mut bytes)? {
                Packet::None => return Ok(called),
                Packet::End => return Err(Closed::PeerGone),
                Packet::Whole(1, None) if bytes[0] == PACKET_WAKE => called = true,
                Packet::Whole(ARENA_ANSWER, file) if bytes[0] == PACKET_ARENA => {
                    let (request, id) = (le_u32(&bytes, 4), le_u32(&bytes, 8));
                    let arena = file.map(|file| {
                        let len = usize::try_from(le_u64(&bytes, 16)).map_err(|_| Violation::Socket)?;
                        let map = Mapping::new(&file, len)?;
                        Ok::<_, Closed>(Arena { id, map: Arc::new(map) })
                    });
                    lock(&self.asks).answers.push((request, arena.transpose()?));
                    self.answered.notify_all();
                }
                Packet::Whole(..) | Packet::Oversize => return Err(Violation::Socket.into()),
            }
        }
    }

    /// Asks for an arena and waits for the answer; `None` if the server refuses.
    pub(super) fn ask_arena(&self, core: &Core, len: u64) -> Result<Option<Arena>, ChannelError> {
        let mut asks = lock(&self.asks);
        let request = asks.next;
        asks.next = request.wrapping_add(1);
        drop(asks);
        let mut body = [0; 16];
        body[..4].copy_from_slice(&request.to_le_bytes());
        body[8..].copy_from_slice(&len.to_le_bytes());
        core.send_any(control::ARENA_ASK, &body)?;
        let mut asks = lock(&self.asks);
        loop {
            if let Some(at) = asks.answers.iter().position(|(r, _)| *r == request) {
                return Ok(asks.answers.swap_remove(at).1);
            }
            core.check()?;
            asks = wait(&self.answered, asks);
        }
    }
}
