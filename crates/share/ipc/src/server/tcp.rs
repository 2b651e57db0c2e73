//! The server's side of TCP.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use rackloom_sync::{lock, wait, wait_until};
use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::net::Shutdown;

use super::bulk::{Given, Remote, Taken};
use super::core::PeerCore;
use super::resume::{copy, idle};
use super::store::Store;
use crate::batch::Batch;
use crate::bulkref::BulkRef;
use crate::control::{BULK_DROP, DROPS_MAX};
use crate::error::{ChannelError, Closed, Violation};
use crate::frame::{self, Decoder, MESSAGE_HEAD, Piece};
use crate::le::le_u64;
use crate::limits::{LAST_WORDS, Limits};
use crate::spin::Spinner;
use crate::sys::map::Block;
use crate::sys::socket;

/// The client's two connections, and the transfers in progress.
#[derive(Debug)]
pub(super) struct TcpPeer {
    pub(super) main: OwnedFd,
    bulk: OwnedFd,
    /// The threads of the bulk connection run. They start at its first use, so that nobody has read from it before.
    bulk_started: AtomicBool,
    /// Wakes the receiving thread: there is something to write, or the channel is closed.
    wake: OwnedFd,
    rx: Mutex<Rx>,
    tx: Mutex<Tx>,
    store: Mutex<Store<Remote>>,
    /// Something in `store` has changed.
    store_changed: Condvar,
    limits: Limits,
}

#[derive(Debug)]
struct Rx {
    decoder: Decoder,
    spinner: Spinner,
}

#[derive(Debug, Default)]
struct Tx {
    /// Bytes that the socket had no room for.
    queue: VecDeque<u8>,
}

impl TcpPeer {
    pub(super) fn new(main: OwnedFd, bulk: OwnedFd, limits: &Limits) -> std::io::Result<Self> {
        Ok(Self {
            main,
            bulk,
            bulk_started: AtomicBool::new(false),
            wake: rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            rx: Mutex::new(Rx { decoder: Decoder::default(), spinner: Spinner::by_calls(limits.spin) }),
            tx: Mutex::default(),
            store: Mutex::default(),
            store_changed: Condvar::new(),
            limits: *limits,
        })
    }

    /// Leaves both connections to another process, and returns copies of them. `watch` starts to watch for the end,
    /// which is all that is left to do here.
    pub(super) fn hand_over(
        &self,
        core: &PeerCore,
        watch: impl FnOnce() -> Result<(), ChannelError>,
    ) -> Result<Vec<OwnedFd>, ChannelError> {
        let rx = idle(&self.rx)?;
        let tx = lock(&self.tx);
        let _store = lock(&self.store); // Nobody begins to move bulk meanwhile.
        core.check_ours()?;
        let come = [(self.main.as_fd(), PollFlags::IN), (self.bulk.as_fd(), PollFlags::IN)];
        let come = socket::poll(come, Some(Instant::now())).map_err(ChannelError::io("look for messages"))?;
        if !rx.decoder.is_empty() || !come[0].is_empty() {
            return Err(ChannelError::Busy("messages are unread"));
        }
        if !tx.queue.is_empty() {
            return Err(ChannelError::Busy("messages wait for space"));
        }
        if self.bulk_started.load(Ordering::Acquire) || !come[1].is_empty() {
            return Err(ChannelError::Busy("the client has moved bulk"));
        }
        let files = copy([Some(&self.main), Some(&self.bulk), None])?;
        watch()?;
        core.set_handed_over();
        Ok(files)
    }

    /// Starts the bulk threads, unless they run or the channel is closed; closes the channel if the system is out of
    /// threads.
    fn start_bulk(self: &Arc<Self>, core: &Arc<PeerCore>) -> Result<(), Closed> {
        if self.bulk_started.load(Ordering::Acquire) {
            return Ok(());
        }
        let store = lock(&self.store);
        core.check_ours()?;
        // Another thread was faster, or the channel is closed, which callers check.
        if core.closed().is_some() || self.bulk_started.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let (reads, writes) = (Arc::clone(self), Arc::clone(self));
        let started = core
            .spawn("ipc-bulk", move |core| reads.read_bulk(core))
            .and_then(|()| core.spawn("ipc-bulk", move |core| writes.write_bulk(core)));
        drop(store); // The end takes the lock.
        started.map_err(|e| core.close(e.into()))
    }

    pub(super) fn recv(
        self: &Arc<Self>,
        core: &Arc<PeerCore>,
        deadline: Option<Instant>,
        out: &mut Batch,
    ) -> Result<usize, Closed> {
        let mut rx = lock(&self.rx);
        core.check_ours()?;
        let Rx { decoder: rx, spinner } = &mut *rx;
        let before = out.len();
        loop {
            // A client that has gone may have left messages.
            let closed = core.closed();
            if let Some(why) = closed.filter(|why| *why != Closed::PeerGone) {
                return Err(why);
            }
            if rx.take(out)? > 0 {
                out.split_control(|kind, body| self.control(kind, body))?;
                if out.len() > before {
                    return Ok(out.len() - before);
                }
                continue;
            }
            let backlog = closed.is_none() && !self.flush(&mut lock(&self.tx))?;
            let mut got = Ok(None);
            let is_there = closed.is_none()
                && !backlog
                && spinner.until(|| {
                    got = socket::recv_some(&self.main, rx.room());
                    !matches!(got, Ok(None))
                });
            if is_there {
                match got? {
                    Some(got) if got > 0 => rx.filled(got),
                    _ => return Err(Closed::PeerGone),
                }
                continue;
            }
            let want = if backlog { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            // A client may wait until its bulk is sent before it sends the message that names it.
            let mut fds = [(&self.main, want), (&self.wake, PollFlags::IN), (&self.bulk, PollFlags::IN)]
                .map(|(file, want)| PollFd::new(file, want));
            let count = if self.bulk_started.load(Ordering::Acquire) { 2 } else { 3 };
            socket::poll_all(&mut fds[..count], deadline)?;
            let [main, wake, bulk] = fds.map(|fd| fd.revents());
            if !wake.is_empty() {
                let _ = rustix::io::read(&self.wake, &mut [0; 8]);
            }
            if main.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) || closed.is_some() {
                match socket::recv_some(&self.main, rx.room())? {
                    Some(0) => return Err(Closed::PeerGone),
                    Some(got) => rx.filled(got),
                    None => {
                        if let Some(why) = closed {
                            return Err(why);
                        }
                    }
                }
            } else if [main, wake, bulk].iter().all(PollFlags::is_empty)
                && deadline.is_some_and(|at| at <= Instant::now())
            {
                return Ok(0);
            }
            if !bulk.is_empty() {
                self.start_bulk(core)?;
            }
        }
    }

    pub(super) fn send(&self, core: &PeerCore, kind: u32, body: &[u8]) -> Result<(), Closed> {
        let head = frame::message_head(kind, body.len());
        let mut tx = lock(&self.tx);
        core.check_ours()?;
        let mut sent = 0;
        if self.flush(&mut tx)? {
            sent = socket::send_some(&self.main, &head, body)?;
            if sent == head.len() + body.len() {
                return Ok(());
            }
        }
        if tx.queue.len() + head.len() + body.len() > core.limits.queue_bytes_max {
            return Err(Closed::Overflow);
        }
        tx.queue.extend(&head[sent.min(head.len())..]);
        tx.queue.extend(&body[sent.saturating_sub(head.len())..]);
        drop(tx);
        self.wake_receiver();
        Ok(())
    }

    /// Writes messages in one call, as far as the socket has room.
    pub(super) fn send_all(&self, core: &PeerCore, kind: u32, bodies: &[Vec<u8>]) -> Result<(), Closed> {
        let mut tx = lock(&self.tx);
        core.check_ours()?;
        let bytes: usize = bodies.iter().map(|body| MESSAGE_HEAD + body.len()).sum();
        self.flush(&mut tx)?;
        if tx.queue.len() + bytes > core.limits.queue_bytes_max {
            return Err(Closed::Overflow);
        }
        for body in bodies {
            tx.queue.extend(&frame::message_head(kind, body.len()));
            tx.queue.extend(body);
        }
        if !self.flush(&mut tx)? {
            drop(tx);
            self.wake_receiver();
        }
        Ok(())
    }

    pub(super) fn unread(&self) -> Result<usize, Closed> {
        let mut tx = lock(&self.tx);
        self.flush(&mut tx)?;
        Ok(tx.queue.len())
    }

    /// Writes what is queued; true if nothing is left.
    fn flush(&self, tx: &mut Tx) -> Result<bool, Closed> {
        while !tx.queue.is_empty() {
            let (first, second) = tx.queue.as_slices();
            let sent = socket::send_some(&self.main, first, second)?;
            if sent == 0 {
                return Ok(false);
            }
            tx.queue.drain(..sent);
        }
        Ok(true)
    }

    fn wake_receiver(&self) {
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    fn control(&self, kind: u32, body: &[u8]) -> Result<(), Closed> {
        if kind != BULK_DROP || !body.len().is_multiple_of(8) || body.len() > 8 * DROPS_MAX {
            return Err(Violation::Control.into());
        }
        for id in body.chunks_exact(8).map(|id| le_u64(id, 0)) {
            let forgotten = lock(&self.store).incoming.remove(&id);
            drop(forgotten); // Outside the lock, which its end takes.
        }
        Ok(())
    }

    pub(super) fn shut(&self) {
        let _ = rustix::net::shutdown(&self.main, Shutdown::Both);
        let _ = rustix::net::shutdown(&self.bulk, Shutdown::Both);
        lock(&self.store).closed = Some(Closed::Here); // Any reason: waiters ask the channel for the right one.
        self.store_changed.notify_all();
        self.wake_receiver();
    }

    pub(super) fn bulk_bytes(&self) -> u64 {
        lock(&self.store).bytes
    }

    /// Takes a whole transfer out, waiting for it.
    pub(super) fn take(
        self: &Arc<Self>,
        core: &Arc<PeerCore>,
        what: &BulkRef,
        deadline: Option<Instant>,
    ) -> Result<Taken, ChannelError> {
        self.start_bulk(core)?;
        let mut store = lock(&self.store);
        loop {
            if let Some(remote) = store.incoming.remove(&what.id) {
                drop(store);
                if what.offset != 0 || remote.len != what.len {
                    return Err(ChannelError::BadReference { id: what.id, offset: what.offset, len: what.len });
                }
                return Ok(Taken::remote(remote));
            }
            if let Some(why) = core.closed().or(store.closed) {
                return Err(why.into());
            }
            store = wait_until(&self.store_changed, store, deadline).map_err(|_| ChannelError::Timeout)?;
        }
    }

    /// A buffer for bytes that the client expects.
    pub(super) fn give(self: &Arc<Self>, core: &Arc<PeerCore>, what: &BulkRef) -> Result<Given, ChannelError> {
        let bad = ChannelError::BadReference { id: what.id, offset: what.offset, len: what.len };
        if what.offset != 0 {
            return Err(bad);
        }
        let len = usize::try_from(what.len).map_err(|_| bad)?;
        self.start_bulk(core)?;
        let mut store = lock(&self.store);
        if let Some(why) = core.closed().or(store.closed) {
            return Err(why.into());
        }
        if !store.has_room(&self.limits, what.len) {
            return Err(ChannelError::Quota { asked: what.len });
        }
        let block = store.spare.take(len).map_err(ChannelError::io("get memory for bulk"))?;
        store.add(what.len);
        Ok(Given::remote(Remote { peer: Arc::downgrade(self), id: what.id, len: what.len, block }))
    }

    /// Queues a buffer to be written.
    pub(super) fn push(&self, remote: Remote) -> Result<(), ChannelError> {
        let mut store = lock(&self.store);
        if let Some(why) = store.closed {
            drop(store);
            return Err(why.into());
        }
        store.outgoing.push_back(remote);
        drop(store);
        self.store_changed.notify_all();
        Ok(())
    }

    /// Returns a buffer's bytes to the quota.
    pub(super) fn release(&self, len: u64, block: &Arc<Block>) {
        let mut store = lock(&self.store);
        store.spare.keep(block);
        store.bytes -= len;
        store.count -= 1;
        drop(store);
        self.store_changed.notify_all();
    }

    /// A thread: reads transfers from the client.
    fn read_bulk(self: &Arc<Self>, core: &PeerCore) {
        let why = loop {
            if let Err(why) = self.transfer(core) {
                break why;
            }
        };
        self.bulk_ended(core, why);
    }

    /// Closes the channel after the connection for bulk. A client ends both connections, and what it has said on the
    /// other may still be on its way.
    fn bulk_ended(&self, core: &PeerCore, why: Closed) {
        if why == Closed::PeerGone {
            socket::wait_for_end(&self.main, LAST_WORDS);
        }
        core.close(why);
    }

    fn transfer(self: &Arc<Self>, core: &PeerCore) -> Result<(), Closed> {
        let first = self.head(core, None)?;
        if first.offset != 0 || first.total == 0 {
            return Err(Violation::Bulk.into());
        }
        if first.total > self.limits.bulk_bytes_max {
            return Err(Violation::BulkQuota.into());
        }
        let len = usize::try_from(first.total).map_err(|_| Violation::BulkQuota)?;
        let remote = {
            let mut store = lock(&self.store);
            if store.incoming.contains_key(&first.id) {
                return Err(Violation::Bulk.into());
            }
            // A client counts what it may hold, so it waits here only for transfers that are being sent.
            while !store.has_room(&self.limits, first.total) {
                if let Some(why) = core.closed().or(store.closed) {
                    return Err(why);
                }
                store = wait(&self.store_changed, store);
            }
            let block = store.spare.take(len)?;
            store.add(first.total);
            Remote { peer: Arc::downgrade(self), id: first.id, len: first.total, block }
        };
        let mut done = 0;
        let mut piece = first;
        loop {
            let stall = Some(Instant::now() + self.limits.stall);
            let (at, len) = (piece.offset as usize, piece.len as usize);
            remote.block.with(at, len, |to| self.read_all(core, to, stall))?;
            done += u64::from(piece.len);
            if done == first.total {
                break;
            }
            piece = self.head(core, Some(Instant::now() + self.limits.stall))?;
            if (piece.id, piece.total, piece.offset) != (first.id, first.total, done) {
                return Err(Violation::Bulk.into());
            }
        }
        lock(&self.store).incoming.insert(first.id, remote);
        self.store_changed.notify_all();
        Ok(())
    }

    fn head(&self, core: &PeerCore, deadline: Option<Instant>) -> Result<Piece, Closed> {
        let mut head = [0; Piece::HEAD];
        self.read_all(core, &mut head, deadline)?;
        Ok(Piece::decode(&head).ok_or(Violation::Bulk)?)
    }

    fn read_all(&self, core: &PeerCore, mut out: &mut [u8], deadline: Option<Instant>) -> Result<(), Closed> {
        while !out.is_empty() {
            match socket::recv_some(&self.bulk, out)? {
                Some(0) => return Err(core.closed().unwrap_or(Closed::PeerGone)),
                Some(got) => out = &mut out[got..],
                None if deadline.is_some_and(|at| at <= Instant::now()) => return Err(Closed::Stalled),
                None => socket::poll_bulk(self.bulk.as_fd(), out.len(), deadline)?,
            }
        }
        Ok(())
    }

    /// A thread: writes transfers to the client.
    fn write_bulk(&self, core: &PeerCore) {
        loop {
            let mut store = lock(&self.store);
            let remote = loop {
                if store.closed.is_some() {
                    // Dropped outside the lock, which their destructors take.
                    let rest = std::mem::take(&mut store.outgoing);
                    let come = std::mem::take(&mut store.incoming);
                    drop(store);
                    drop((rest, come));
                    return;
                }
                match store.outgoing.pop_front() {
                    Some(next) => break next,
                    None => store = wait(&self.store_changed, store),
                }
            };
            drop(store);
            if let Err(why) = self.write_out(&remote) {
                self.bulk_ended(core, why);
            }
        }
    }

    fn write_out(&self, remote: &Remote) -> Result<(), Closed> {
        let mut done = 0;
        while done < remote.len {
            let piece = Piece::next(remote.id, remote.len, done);
            let head = piece.encode();
            let (whole, mut sent) = (head.len() + piece.len as usize, 0);
            while sent < whole {
                let now = remote.block.with(done as usize, piece.len as usize, |body| {
                    socket::send_some(
                        &self.bulk,
                        &head[sent.min(head.len())..],
                        &body[sent.saturating_sub(head.len())..],
                    )
                })?;
                if now == 0 {
                    let deadline = Instant::now() + self.limits.stall;
                    let [ready] = socket::poll([(self.bulk.as_fd(), PollFlags::OUT)], Some(deadline))?;
                    if ready.is_empty() && deadline <= Instant::now() {
                        return Err(Closed::Stalled);
                    }
                }
                sent += now;
            }
            done += u64::from(piece.len);
        }
        Ok(())
    }
}
