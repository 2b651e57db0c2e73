//! The board behind a session: what the program uses of it, and whether there is room for more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::CL_OUT_OF_RESOURCES;
use rackloom_ipc::{Bulk, ChannelError};
use rackloom_opencl_wire::{self as wire, BoardInfo, EventId, INLINE_MAX, ImageFormat};

use crate::error::{Error, Result};
use crate::host_memory::HostRegion;
use crate::session::Session;
use crate::session::completion::Transport;
use crate::session::pending::Pending;
use crate::session::places::Places;
use crate::session::stream::Submit;
use crate::stats;

/// The board of a session.
pub struct Board {
    pub session: Arc<Session>,
    pub info: BoardInfo,
    /// Bytes of the program's buffers there.
    pub memory: AtomicU64,
    /// Whether operations were sent since the last task was closed.
    is_open: AtomicBool,
    /// Whether the manager was asked for the board's own times.
    pub profiles: AtomicBool,
    /// Memory of the program's that the board sees.
    pub places: Places,
    /// The formats of images that it has, of those flags and kinds that the program has asked for.
    pub image_formats: Mutex<HashMap<(u64, u32), Vec<ImageFormat>>>,
}

/// Bytes of bulk memory that buffers leave to transfers.
const RESERVED: u64 = 128 << 20;

impl Board {
    /// Of a session that has opened it.
    pub fn new(session: Arc<Session>, info: BoardInfo) -> Self {
        Self {
            session,
            info,
            memory: AtomicU64::new(0),
            is_open: AtomicBool::new(false),
            profiles: AtomicBool::new(false),
            places: Places::default(),
            image_formats: Mutex::default(),
        }
    }

    /// Whether bulk goes from and to registered arenas.
    pub fn registers(&self) -> bool {
        self.info.registers && self.session.transport() == Transport::SharedMemory
    }

    /// The memory of a mapped buffer in which the program's bytes lie, where the board moves bytes from and to such
    /// memory as fast as it can.
    pub fn in_place(&self, host: &HostRegion) -> Option<(Arc<Bulk>, u64)> {
        let bytes = host.as_slice().filter(|bytes| bytes.len() > INLINE_MAX && self.registers())?;
        self.places.find(bytes)
    }

    /// Whether it works right in memory of the program's.
    pub fn shares_memory(&self) -> bool {
        self.info.shares_memory && self.session.transport() == Transport::SharedMemory
    }

    /// `len` bytes of bulk memory. Waits for operations to end while the manager grants no more.
    ///
    /// # Errors
    /// The manager never grants `len` bytes; the connection is lost.
    pub fn bulk(&self, len: u64) -> Result<Bulk> {
        let in_flight = &self.session.in_flight;
        loop {
            let before = in_flight.count();
            match self.session.client()?.bulk(len) {
                Err(ChannelError::Quota { .. }) if before > 0 => {
                    self.submit();
                    self.session.wait(None, || (in_flight.count() != before).then_some(()))?;
                }
                other => return Ok(other?),
            }
        }
    }

    /// Memory of a buffer that both the program and the board see; none if the manager does not grant `len` bytes, or
    /// is on another node. Commands hold their buffers: when it is free again no operation uses it.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn memory_for_both(&self, len: u64) -> Result<Option<Arc<Bulk>>> {
        let client = self.session.client()?;
        if client.shared_room() < len.saturating_add(RESERVED) {
            return Ok(None);
        }
        match client.bulk(len) {
            Ok(bulk) => {
                let bulk = Arc::new(bulk);
                if self.registers() {
                    self.places.add(&bulk)?;
                }
                Ok(Some(bulk))
            }
            Err(ChannelError::Quota { .. }) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    /// Counts so many operations that are about to be sent, once there is room for them.
    ///
    /// # Errors
    /// The connection is lost, or grants no so many operations at all.
    pub fn take_room(&self, operations: u32) -> Result<()> {
        let max = self.session.limits().operations;
        let take = || self.session.in_flight.take_room(operations, max);
        if take().is_some() {
            return Ok(());
        }
        if operations > max {
            return Err(Error(CL_OUT_OF_RESOURCES));
        }
        self.submit();
        Ok(self.session.wait(None, take)?)
    }

    /// Sends what `message` makes, operations for which [`Self::take_room`] was called, as the next of the board; gives
    /// their event. `message` gets that, and whether it closes the task.
    ///
    /// # Errors
    /// The connection is lost. The operation's command has learned of it.
    pub fn operate<'a>(
        &self,
        submit: Submit,
        message: impl FnOnce(EventId, bool) -> wire::Command<'a>,
        tail: &[u8],
        pending: Pending,
    ) -> Result<EventId> {
        let session = &self.session;
        let mut sending = session.stream.lock();
        let event = sending.take_event();
        stats::OPERATIONS.add(pending.operations as usize);
        session.in_flight.insert(event, pending);
        let submit = submit == Submit::Now;
        let message = message(event, submit);
        self.is_open.store(!submit, Ordering::Release);
        // The manager does nothing before the task is closed.
        let put = if submit { Session::put } else { Session::put_later };
        if let Err(why) = put(session, &mut sending, &message, tail) {
            drop(sending);
            // Unless the end of the session has taken it already.
            if let Some(pending) = session.in_flight.take(event) {
                pending.lost(&session.in_flight, why);
            }
            return Err(why);
        }
        Ok(event)
    }

    /// Closes the task, if one is open.
    pub fn submit(&self) {
        if !self.is_open.load(Ordering::Acquire) {
            return;
        }
        let mut sending = self.session.stream.lock();
        if self.is_open.swap(false, Ordering::AcqRel) {
            // If the connection is lost, so is the task.
            let _ = self.session.put(&mut sending, &wire::Command::Submit, &[]);
        }
    }
}
