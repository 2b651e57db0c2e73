//! The server's side of shared memory. It trusts nothing that the client shares.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rackloom_sync::lock;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::Shutdown;

use super::arenas::Arenas;
use super::core::PeerCore;
use super::resume::{Positions, copy, idle};
use crate::batch::{BATCH_BYTES, BATCH_MAX, Batch};
use crate::bulkref::BulkRef;
use crate::control::{self, ARENA_ANSWER, PACKET_ARENA, PACKET_WAKE};
use crate::error::{ChannelError, Closed, Violation};
use crate::le::{le_u32, le_u64};
use crate::limits::{Limits, UNREAD_TIMEOUT};
use crate::ring::{Consumer, Producer, Refused};
use crate::shared::{self, Direction, Doorbell, SharedRing, WANT_BACKGROUND, WANT_LEADER};
use crate::spin::Spinner;
use crate::sys::futex;
use crate::sys::map::{self, Mapping};
use crate::sys::socket;

/// The client's rings, and their state.
#[derive(Debug)]
pub(super) struct ShmPeer {
    pub(super) socket: OwnedFd,
    /// Its process, if the system lets us watch it: a forked child may keep the socket open.
    pub(super) process: Option<OwnedFd>,
    /// The rings' file, for the client and for a process that serves it in our place.
    pub(super) memory: OwnedFd,
    map: Arc<Mapping>,
    rx: Mutex<Rx>,
    tx: Mutex<Tx>,
    /// Messages wait for space; the receiving thread moves them on.
    backlog: AtomicBool,
    /// The receiving thread sleeps, or is about to.
    asleep: AtomicBool,
    arenas: Mutex<Arenas>,
}

#[derive(Debug)]
struct Rx {
    consumer: Consumer<SharedRing>,
    spinner: Spinner,
}

#[derive(Debug)]
struct Tx {
    producer: Producer<SharedRing>,
    queue: VecDeque<(u32, Box<[u8]>)>,
    queued_bytes: usize,
}

/// Where positions in new rings begin: not at 0, so that each test and each client passes the wrap at 2^32 early on.
pub(super) const RING_START: u32 = u32::MAX - 0xffff;

impl ShmPeer {
    /// Creates the rings.
    pub(super) fn new(socket: OwnedFd, process: Option<OwnedFd>, limits: &Limits) -> std::io::Result<Self> {
        let bytes = shared::bytes(limits.ring_bytes);
        let memory = map::create(bytes)?;
        let map = Mapping::new(&memory, bytes)?;
        shared::prepare(&map, RING_START);
        let start = Positions { read: RING_START, written: RING_START, freed: RING_START, arena: 0 };
        Ok(Self::over(socket, memory, process, map, limits, start))
    }

    /// Continues where another process stopped.
    pub(super) fn resume(
        socket: OwnedFd,
        memory: OwnedFd,
        process: Option<OwnedFd>,
        limits: &Limits,
        at: Positions,
    ) -> std::io::Result<Self> {
        let map = Mapping::new(&memory, shared::bytes(limits.ring_bytes))?;
        Ok(Self::over(socket, memory, process, map, limits, at))
    }

    fn over(
        socket: OwnedFd,
        memory: OwnedFd,
        process: Option<OwnedFd>,
        map: Mapping,
        limits: &Limits,
        at: Positions,
    ) -> Self {
        let map = Arc::new(map);
        let half = |way| SharedRing::new(Arc::clone(&map), way, limits.ring_bytes);
        Self {
            socket,
            process,
            memory,
            rx: Mutex::new(Rx {
                consumer: Consumer::new(half(Direction::ToServer), at.read),
                spinner: Spinner::new(limits.spin),
            }),
            tx: Mutex::new(Tx {
                producer: Producer::resume(half(Direction::ToClient), (at.written, at.freed)),
                queue: VecDeque::new(),
                queued_bytes: 0,
            }),
            map,
            backlog: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            arenas: Mutex::new(Arenas::after(at.arena)),
        }
    }

    /// Leaves the rings and the socket to another process; returns where it continues, and copies of the files it
    /// needs.
    pub(super) fn hand_over(&self, core: &PeerCore) -> Result<(Positions, Vec<OwnedFd>), ChannelError> {
        let rx = idle(&self.rx)?;
        let tx = lock(&self.tx);
        let arenas = lock(&self.arenas);
        core.check_ours()?;
        if !rx.consumer.is_empty() {
            return Err(ChannelError::Busy("messages are unread"));
        }
        if !tx.queue.is_empty() {
            return Err(ChannelError::Busy("messages wait for space"));
        }
        if arenas.count() > 0 {
            return Err(ChannelError::Busy("the client holds bulk"));
        }
        let files = copy([Some(&self.socket), Some(&self.memory), self.process.as_ref()])?;
        let (written, freed) = tx.producer.positions();
        core.set_handed_over();
        Ok((Positions { read: rx.consumer.position(), written, freed, arena: arenas.last() }, files))
    }

    fn doorbell(&self, which: Doorbell) -> &AtomicU32 {
        shared::doorbell(&self.map, which)
    }

    pub(super) fn recv(&self, core: &PeerCore, deadline: Option<Instant>, out: &mut Batch) -> Result<usize, Closed> {
        let mut rx = lock(&self.rx);
        core.check_ours()?;
        let Rx { consumer, spinner } = &mut *rx;
        loop {
            // Before checking the ring: what came before the end is still returned.
            let closed = core.closed();
            let before = out.len();
            let popped = match closed {
                None | Some(Closed::PeerGone) => {
                    consumer.pop(BATCH_MAX, BATCH_BYTES, |kind, len, read| out.push_with(kind, len, |to| read(to)))?
                }
                Some(_) => 0,
            };
            if popped > 0 {
                if consumer.space_wanted() {
                    futex::wake_all(self.doorbell(Doorbell::Senders));
                }
                out.split_control(|kind, body| self.control(core, kind, body))?;
                if out.len() > before {
                    return Ok(out.len() - before);
                }
                continue;
            }
            if let Some(why) = closed {
                return Err(why);
            }
            if spinner.until(|| !consumer.is_empty()) {
                continue;
            }
            let seen = self.doorbell(Doorbell::Server).load(Ordering::Acquire);
            if self.backlog.load(Ordering::Acquire) {
                self.flush(&mut lock(&self.tx))?;
            }
            self.asleep.store(true, Ordering::SeqCst);
            consumer.want_data(1);
            if consumer.is_empty() && core.closed().is_none() {
                let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
                if left.is_some_and(|left| left.is_zero()) {
                    consumer.unwant_data();
                    self.asleep.store(false, Ordering::SeqCst);
                    return Ok(0);
                }
                futex::wait(self.doorbell(Doorbell::Server), seen, left);
            }
            consumer.unwant_data();
            self.asleep.store(false, Ordering::SeqCst);
        }
    }

    pub(super) fn send(&self, core: &PeerCore, kind: u32, body: &[u8]) -> Result<(), Closed> {
        let mut tx = lock(&self.tx);
        core.check_ours()?;
        self.put(core, &mut tx, kind, body)?;
        let wanted = tx.producer.data_wanted();
        drop(tx);
        self.wake_client(wanted);
        Ok(())
    }

    pub(super) fn send_all(&self, core: &PeerCore, kind: u32, bodies: &[Vec<u8>]) -> Result<(), Closed> {
        let mut tx = lock(&self.tx);
        core.check_ours()?;
        let put = bodies.iter().try_for_each(|body| self.put(core, &mut tx, kind, body));
        let wanted = tx.producer.data_wanted();
        drop(tx);
        self.wake_client(wanted);
        put
    }

    /// Writes a message, or queues it; the caller wakes the client.
    fn put(&self, core: &PeerCore, tx: &mut Tx, kind: u32, body: &[u8]) -> Result<(), Closed> {
        if !tx.queue.is_empty() {
            self.flush(tx)?;
        }
        if tx.queue.is_empty() {
            match tx.producer.push(kind, body) {
                Ok(()) => return Ok(()),
                Err(Refused::Corrupt(why)) => return Err(why.into()),
                Err(Refused::Full) => {}
            }
        }
        let bytes = tx.queued_bytes + body.len();
        if tx.queue.len() >= core.limits.queue_messages_max || bytes > core.limits.queue_bytes_max {
            return Err(Closed::Overflow);
        }
        tx.queue.push_back((kind, body.into()));
        tx.queued_bytes = bytes;
        self.backlog.store(true, Ordering::Release);
        self.flush(tx)
    }

    pub(super) fn unread(&self) -> Result<usize, Closed> {
        let mut tx = lock(&self.tx);
        if !tx.queue.is_empty() {
            self.flush(&mut tx)?;
        }
        Ok(tx.queued_bytes)
    }

    /// Moves queued messages into the ring; if some remain, the client wakes us when there is space.
    fn flush(&self, tx: &mut Tx) -> Result<(), Closed> {
        let mut pushed = false;
        let mut asked = false;
        while let Some((kind, body)) = tx.queue.front() {
            match tx.producer.push(*kind, body) {
                Ok(()) => {
                    tx.queued_bytes -= body.len();
                    tx.queue.pop_front();
                    (pushed, asked) = (true, false);
                }
                Err(Refused::Corrupt(why)) => return Err(why.into()),
                Err(Refused::Full) if asked => break,
                Err(Refused::Full) => {
                    tx.producer.want_space();
                    asked = true;
                }
            }
        }
        self.backlog.store(!tx.queue.is_empty(), Ordering::Release);
        if pushed {
            self.wake_client(tx.producer.data_wanted());
        }
        Ok(())
    }

    /// Wakes the client's thread that asked for it.
    fn wake_client(&self, wanted: u32) {
        match wanted {
            WANT_LEADER => futex::wake_all(self.doorbell(Doorbell::Leader)),
            // If its socket is full of calls it has enough of them.
            WANT_BACKGROUND => drop(socket::send_packet(&self.socket, &[PACKET_WAKE], None)),
            _ => {} // 0, or an invalid value, which harms only the client.
        }
    }

    /// A message of the channel itself.
    fn control(&self, core: &PeerCore, kind: u32, body: &[u8]) -> Result<(), Closed> {
        match (kind, body.len()) {
            (control::ARENA_ASK, 16) => self.arena(core, le_u32(body, 0), le_u64(body, 8)),
            (control::ARENA_FREE, 4) => lock(&self.arenas).free(le_u32(body, 0)),
            _ => Err(Violation::Control.into()),
        }
    }

    /// Creates an arena, if the client may have it, and answers through the socket.
    fn arena(&self, core: &PeerCore, request: u32, len: u64) -> Result<(), Closed> {
        let mut arenas = lock(&self.arenas);
        let limits = &core.limits;
        let within = len > 0
            && len.is_multiple_of(4096)
            && arenas.count() < limits.bulk_count_max
            && len <= limits.bulk_bytes_max.saturating_sub(arenas.bytes());
        let granted = within.then(|| (core.grant)(&core.token, &core.identity, len, arenas.bytes())).flatten();
        // If the system is out of memory, the client gets the same answer.
        let made = granted.and_then(|receipt| arenas.make(len, receipt).ok());
        drop(arenas); // Only this thread creates and frees arenas; others may use theirs meanwhile.
        let mut answer = [0; ARENA_ANSWER];
        answer[0] = PACKET_ARENA;
        answer[4..8].copy_from_slice(&request.to_le_bytes());
        let mut sent = Err(Errno::TOOMANYREFS.into());
        if let Some((id, file)) = &made {
            let mut answer = answer;
            answer[8..12].copy_from_slice(&id.to_le_bytes());
            answer[16..].copy_from_slice(&len.to_le_bytes());
            sent = self.send_answer(&answer, Some(file.as_fd()));
            if sent.is_err() {
                lock(&self.arenas).free(*id)?;
            }
        }
        // The system's limit of files in transit is reached: no reason to close this channel.
        if sent.as_ref().is_err_and(|e| e.raw_os_error() == Some(Errno::TOOMANYREFS.raw_os_error())) {
            sent = self.send_answer(&answer, None);
        }
        sent.map_err(|e| if e.kind() == std::io::ErrorKind::WouldBlock { Closed::Overflow } else { e.into() })
    }

    /// Sends a packet that the client waits for. Its socket may be full of wake-ups while its own thread has no
    /// processor: that thread gets some time to read them, during which only this client's messages wait.
    fn send_answer(&self, packet: &[u8], file: Option<BorrowedFd<'_>>) -> std::io::Result<()> {
        let deadline = Instant::now() + UNREAD_TIMEOUT;
        loop {
            match socket::send_packet(&self.socket, packet, file) {
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock && Instant::now() < deadline => {
                    socket::poll([(self.socket.as_fd(), PollFlags::OUT)], Some(deadline))?;
                }
                other => return other,
            }
        }
    }

    /// The memory that a reference names.
    pub(super) fn find(&self, what: &BulkRef) -> Result<(Arc<Mapping>, usize, usize), ChannelError> {
        let found = lock(&self.arenas).find(what);
        found.ok_or(ChannelError::BadReference { id: what.id, offset: what.offset, len: what.len })
    }

    pub(super) fn bulk_bytes(&self) -> u64 {
        lock(&self.arenas).bytes()
    }

    pub(super) fn shut(&self) {
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
        self.wake();
    }

    /// Wakes the receiving thread after the end; true if it has noticed. The client can write the word, too, and could
    /// undo our change just before the thread sleeps; so the caller repeats this until the thread has noticed.
    pub(super) fn wake(&self) -> bool {
        futex::wake_all(self.doorbell(Doorbell::Server));
        !self.asleep.load(Ordering::SeqCst)
    }
}
