//! The client's side of TCP: a connection for messages, and one for bulk.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use rackloom_sync::{lock, wait};
use rustix::event::{EventfdFlags, PollFlags};

use super::core::Core;
use super::wire::Wire;
use crate::batch::Batch;
use crate::control::{BULK_DROP, DROPS_MAX};
use crate::error::{ChannelError, Closed, Violation};
use crate::frame::{self, Decoder, MESSAGE_HEAD, Piece};
use crate::hello::{Hello, Role, Token, Welcome};
use crate::limits::{GRACE, GREETING_TIMEOUT, LAST_WORDS, Spin};
use crate::spare::Spare;
use crate::spin::Spinner;
use crate::sys::map::Block;
use crate::sys::socket;
use crate::tls::Trust;

/// A connection over TCP.
#[derive(Debug)]
pub(super) struct TcpLink {
    main: Wire,
    bulk: Wire,
    /// Messages that leave with the next one.
    tx: Mutex<Vec<u8>>,
    rx: Mutex<Decoder>,
    spinner: Mutex<Spinner>,
    /// Wakes the client's own thread.
    poke: OwnedFd,
    /// That thread sleeps for a long time, because another thread reads.
    parked: AtomicBool,
    /// One transfer at a time: pieces of two must not wait for each other's space at the server.
    bulk_tx: Mutex<u64>,
    expected: Mutex<BTreeMap<u64, Expected>>,
    arrived: Condvar,
    /// Transfers that the server may forget.
    dropped: Mutex<Vec<u64>>,
    held: Mutex<(u64, usize)>,
    /// Memory of past transfers from the server.
    spare: Mutex<Spare>,
    bytes_max: u64,
    count_max: usize,
}

/// Where a transfer from the server goes.
#[derive(Debug, Clone)]
struct Expected {
    block: Arc<Block>,
    offset: u64,
    len: u64,
    done: u64,
    whole: bool,
}

impl TcpLink {
    /// Connects to one of these addresses, and says nothing before the connection is secure if that is wanted.
    pub(super) fn connect(
        to: &[SocketAddr],
        trust: Option<&Trust>,
        token: Token,
        features: u64,
        spin: Spin,
    ) -> Result<Self, ChannelError> {
        let mut hello = Hello { role: Role::Messages, features, token, session: [0; 16] };
        let (main, welcome) = greet(to, trust, &hello)?;
        hello.role = Role::Bulk;
        hello.session = welcome.session;
        let (bulk, _) = greet(to, trust, &hello)?;
        let poke = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            main,
            bulk,
            tx: Mutex::default(),
            rx: Mutex::default(),
            spinner: Mutex::new(Spinner::by_calls(spin)),
            poke: poke.map_err(|e| ChannelError::io("make an event")(e.into()))?,
            parked: AtomicBool::new(false),
            bulk_tx: Mutex::new(1),
            expected: Mutex::default(),
            arrived: Condvar::new(),
            dropped: Mutex::default(),
            held: Mutex::new((0, 0)),
            spare: Mutex::default(),
            bytes_max: welcome.bulk_bytes_max,
            count_max: welcome.bulk_count_max as usize,
        })
    }

    /// Writes a message in one call; only what the socket has no room for follows in others.
    pub(super) fn send(&self, core: &Core, kind: u32, body: &[u8]) -> Result<(), Closed> {
        let mut held = lock(&self.tx);
        let head = frame::message_head(kind, body.len());
        if held.is_empty() {
            return self.write_all(core, &self.main, &head, body);
        }
        held.extend_from_slice(&head);
        let sent = self.write_all(core, &self.main, &held, body);
        held.clear();
        sent
    }

    /// Keeps a message that the server need not have before the next one, or before somebody waits: a call of the
    /// system costs more than most messages.
    pub(super) fn send_later(&self, core: &Core, kind: u32, body: &[u8]) -> Result<(), Closed> {
        let mut held = lock(&self.tx);
        if held.len() + MESSAGE_HEAD + body.len() > HELD_MAX {
            drop(held);
            return self.send(core, kind, body);
        }
        held.extend_from_slice(&frame::message_head(kind, body.len()));
        held.extend_from_slice(body);
        Ok(())
    }

    /// Sends what was kept.
    pub(super) fn flush(&self, core: &Core) -> Result<(), Closed> {
        let mut held = lock(&self.tx);
        let sent = if held.is_empty() { Ok(()) } else { self.write_all(core, &self.main, &held, &[]) };
        held.clear();
        sent
    }

    fn write_all(&self, core: &Core, to: &Wire, head: &[u8], body: &[u8]) -> Result<(), Closed> {
        let mut done = 0;
        while done < head.len() + body.len() {
            if let Some(why) = core.closed() {
                return Err(why);
            }
            let sent = to.send_some(&head[done.min(head.len())..], &body[done.saturating_sub(head.len())..])?;
            if sent == 0 {
                socket::poll([(to.fd(), PollFlags::OUT)], None)?;
            }
            done += sent;
        }
        while !to.flush()? {
            socket::poll([(to.fd(), PollFlags::OUT)], None)?;
            if let Some(why) = core.closed() {
                return Err(why);
            }
        }
        Ok(())
    }

    pub(super) fn drain(&self, batch: &mut Batch) -> Result<(), Closed> {
        let mut rx = lock(&self.rx);
        while rx.take(batch)? == 0 {
            match self.main.recv_some(rx.room())? {
                None => break,
                Some(0) => return Err(Closed::PeerGone),
                Some(got) => rx.filled(got),
            }
        }
        Ok(())
    }

    /// Whether messages have come for which the socket does not become ready.
    fn holds_messages(&self) -> bool {
        lock(&self.rx).has_message() || self.main.has_unread()
    }

    /// Whether a new leader waits before it looks: a look is a call of the system, and the answer to what was just sent
    /// is not there yet.
    pub(super) fn waits_first(&self) -> bool {
        !self.holds_messages()
    }

    pub(super) fn sleep(&self, core: &Core, deadline: Option<Instant>) {
        let mut rx = lock(&self.rx);
        let come = lock(&self.spinner).until(|| match self.main.recv_some(rx.room()) {
            Ok(Some(got)) => {
                rx.filled(got);
                true
            }
            Ok(None) => core.closed().is_some(),
            Err(_) => true, // Whoever reads next gets the same.
        });
        if come {
            return;
        }
        if deadline.is_none()
            && let Some(come) = self.main.recv_waiting(rx.room())
        {
            // An end, or an error, is there for whoever reads next.
            rx.filled(come.unwrap_or(0));
            return;
        }
        drop(rx);
        if socket::poll([(self.main.fd(), PollFlags::IN)], deadline).is_err() {
            core.close(Closed::PeerGone);
        }
    }

    pub(super) fn leave(&self) {
        if self.parked.swap(false, Ordering::AcqRel) || self.holds_messages() {
            self.poke();
        }
    }

    fn poke(&self) {
        let _ = rustix::io::write(&self.poke, &1u64.to_ne_bytes());
    }

    pub(super) fn shut(&self) {
        self.main.shut();
        self.bulk.shut();
        drop(lock(&self.expected));
        self.arrived.notify_all();
        self.poke();
    }

    /// The client's own thread: reads messages while no other thread does, and so notices the end.
    pub(super) fn run(&self, core: &Core) {
        let (mut calls_seen, mut idle_looks) = (0, 0);
        while core.closed().is_none() {
            let calls = core.dispatcher.calls();
            let led = core.dispatcher.is_led();
            let poke = (self.poke.as_fd(), PollFlags::IN);
            let polled = if led && idle_looks >= LOOKS {
                // Another thread reads, and will for some time: sleep until it leaves.
                self.parked.store(true, Ordering::SeqCst);
                if core.dispatcher.is_led() { socket::poll([poke], None) } else { Ok([PollFlags::IN]) }
                    .map(|[poke]| (poke, false))
            } else if led || calls != calls_seen {
                socket::poll([poke], Some(Instant::now() + GRACE)).map(|[poke]| (poke, false))
            } else if self.holds_messages() {
                Ok((PollFlags::empty(), true))
            } else {
                let files = [poke, (self.main.fd(), PollFlags::IN)];
                socket::poll(files, None).map(|[poke, main]| (poke, !main.is_empty()))
            };
            idle_looks = if led && calls == calls_seen { idle_looks + 1 } else { 0 };
            calls_seen = calls;
            let Ok((poked, readable)) = polled else { break };
            if !poked.is_empty() {
                let _ = rustix::io::read(&self.poke, &mut [0; 8]);
            }
            if readable {
                core.dispatcher.handle_now(core);
            }
        }
    }

    /// A second thread: reads bulk into the places that expect it.
    pub(super) fn run_bulk(&self, core: &Core) {
        let why = loop {
            match self.piece(core) {
                Ok(()) => {}
                Err(why) => break why,
            }
        };
        if why == Closed::PeerGone {
            // The server ends both connections, this one after it has said why on the other.
            socket::wait_for_end(self.main.fd(), LAST_WORDS);
        }
        core.close(why);
    }

    fn piece(&self, core: &Core) -> Result<(), Closed> {
        let mut head = [0; Piece::HEAD];
        self.read_all(core, &mut head)?;
        let piece = Piece::decode(&head).ok_or(Violation::Bulk)?;
        let place = lock(&self.expected).get(&piece.id).cloned();
        let Some(place) = place else {
            // Forgotten meanwhile; the bytes must be read all the same.
            let mut left = piece.len as usize;
            let mut waste = vec![0; left.min(64 * 1024)];
            while left > 0 {
                let part = left.min(waste.len());
                self.read_all(core, &mut waste[..part])?;
                left -= part;
            }
            return Ok(());
        };
        if piece.total != place.len || piece.offset != place.done || place.whole {
            return Err(Violation::Bulk.into());
        }
        let at = (place.offset + piece.offset) as usize;
        place.block.with(at, piece.len as usize, |to| self.read_all(core, to))?;
        if let Some(place) = lock(&self.expected).get_mut(&piece.id) {
            place.done += u64::from(piece.len);
            place.whole = place.done == place.len;
            if place.whole {
                self.arrived.notify_all();
            }
        }
        Ok(())
    }

    fn read_all(&self, core: &Core, mut out: &mut [u8]) -> Result<(), Closed> {
        while !out.is_empty() {
            match self.bulk.recv_some(out)? {
                Some(0) => return Err(core.closed().unwrap_or(Closed::PeerGone)),
                Some(got) => out = &mut out[got..],
                None => self.bulk.wait_for(out.len())?,
            }
        }
        Ok(())
    }

    /// Counts bytes that the server will have to hold.
    pub(super) fn reserve(&self, len: u64) -> Result<(), ChannelError> {
        let mut held = lock(&self.held);
        if held.1 >= self.count_max || len > self.bytes_max - held.0 {
            return Err(ChannelError::Quota { asked: len });
        }
        *held = (held.0 + len, held.1 + 1);
        Ok(())
    }

    /// Memory for bytes of the server.
    pub(super) fn block(&self, len: u64) -> std::io::Result<Arc<Block>> {
        lock(&self.spare).take(len as usize)
    }

    /// Undoes [`Self::reserve`] and [`Self::block`], and forgets the transfers.
    pub(super) fn release(&self, core: &Core, len: u64, block: Option<&Arc<Block>>, transfers: &[u64]) {
        {
            let mut expected = lock(&self.expected);
            transfers.iter().for_each(|id| drop(expected.remove(id)));
        }
        if let Some(block) = block {
            lock(&self.spare).keep(block);
        }
        self.forget(core, transfers);
        let mut held = lock(&self.held);
        *held = (held.0 - len, held.1 - 1);
    }

    pub(super) fn forget(&self, core: &Core, transfers: &[u64]) {
        let mut dropped = lock(&self.dropped);
        dropped.extend(transfers);
        while dropped.len() >= DROPS_MAX / 2 {
            let some = dropped.len().min(DROPS_MAX);
            let body: Vec<u8> = dropped.drain(..some).flat_map(u64::to_le_bytes).collect();
            let _ = core.send_any(BULK_DROP, &body);
        }
    }

    /// Sends a transfer; returns its number.
    pub(super) fn put(&self, core: &Core, bytes: &[u8]) -> Result<u64, Closed> {
        let mut next = lock(&self.bulk_tx);
        let id = *next;
        *next += 1;
        let (mut done, total) = (0, bytes.len() as u64);
        while done < total {
            let piece = Piece::next(id, total, done);
            let from = done as usize;
            self.write_all(core, &self.bulk, &piece.encode(), &bytes[from..from + piece.len as usize])?;
            done += u64::from(piece.len);
        }
        Ok(id)
    }

    /// Prepares memory for a transfer from the server; returns its number.
    pub(super) fn expect(&self, block: &Arc<Block>, offset: u64, len: u64) -> u64 {
        let id = {
            let mut next = lock(&self.bulk_tx);
            *next += 1;
            *next - 1
        };
        let place = Expected { block: Arc::clone(block), offset, len, done: 0, whole: false };
        lock(&self.expected).insert(id, place);
        id
    }

    /// Waits until a transfer has arrived; returns its place.
    pub(super) fn settle(&self, core: &Core, id: u64) -> Result<Option<u64>, ChannelError> {
        let mut expected = lock(&self.expected);
        loop {
            match expected.get(&id) {
                None => return Ok(None),
                Some(place) if place.whole => return Ok(Some(place.offset)),
                Some(_) => core.check()?,
            }
            expected = wait(&self.arrived, expected);
        }
    }
}

/// Bytes of messages that are kept to leave together.
const HELD_MAX: usize = 16 * 1024;

/// Checks, a grace period apart, after which the client's own thread assumes that the leader stays.
const LOOKS: u32 = 4;

fn greet(to: &[SocketAddr], trust: Option<&Trust>, hello: &Hello) -> Result<(Wire, Welcome), ChannelError> {
    let deadline = Instant::now() + GREETING_TIMEOUT;
    let wire = Wire::connect(to, trust, deadline)?;
    wire.send_some(&hello.encode(), &[]).map_err(ChannelError::io("greet"))?; // The connection is new: there is room.
    let (mut answer, mut have) = ([0; Welcome::LEN], 0);
    while have < answer.len() {
        match wire.recv_some(&mut answer[have..]).map_err(ChannelError::io("read the greeting"))? {
            Some(0) => return Err(Closed::PeerGone.into()),
            Some(got) => have += got,
            None if Instant::now() >= deadline => return Err(ChannelError::Timeout),
            None => {
                let wait = socket::poll([(wire.fd(), PollFlags::IN)], Some(deadline));
                wait.map_err(ChannelError::io("wait for the greeting"))?;
            }
        }
    }
    let welcome = Welcome::decode(&answer).ok_or(ChannelError::NotOurs)?.map_err(ChannelError::Refused)?;
    Ok((wire, welcome))
}

const _: () = assert!(MESSAGE_HEAD == crate::ring::HEAD as usize, "one head for both transports");
