//! The board behind a session: what of it the program uses, and whether there is room for more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use opencl_sys::CL_OUT_OF_RESOURCES;
use rackloom_ipc::{Bulk, ChannelError};
use rackloom_opencl_wire::BoardInfo;

use crate::error::{Error, Result};
use crate::session::Session;

/// The board of a session.
pub struct Board {
    pub session: Arc<Session>,
    pub info: BoardInfo,
    /// Bytes of buffers there.
    pub memory: AtomicU64,
    /// Operations that have not ended.
    pub operations: AtomicU32,
    /// Bytes of bulk under way in pieces.
    pub moving: AtomicU64,
    /// Operations were sent since the last task was closed.
    pub is_open: AtomicBool,
    /// The manager was asked for the board's own times.
    pub profiles: AtomicBool,
}

/// Bytes of bulk memory that buffers leave to transfers.
const LEFT: u64 = 128 << 20;

impl Board {
    /// Of a session that has opened it.
    pub fn new(session: Arc<Session>, info: BoardInfo) -> Self {
        Self {
            session,
            info,
            memory: AtomicU64::new(0),
            operations: AtomicU32::new(0),
            moving: AtomicU64::new(0),
            is_open: AtomicBool::new(false),
            profiles: AtomicBool::new(false),
        }
    }

    /// Bulk memory. Waits for operations to end while the manager grants no more.
    ///
    /// # Errors
    /// It grants not so much at all; the connection is lost.
    pub fn bulk(&self, len: u64) -> Result<Bulk> {
        loop {
            let before = self.operations.load(Ordering::Acquire);
            match self.session.client()?.bulk(len) {
                Err(ChannelError::Quota { .. }) if before > 0 => {
                    self.submit();
                    let fewer = || (self.operations.load(Ordering::Acquire) != before).then_some(());
                    self.session.wait(None, fewer)?;
                }
                other => return Ok(other?),
            }
        }
    }

    /// Memory of a buffer that program and board are both to see; none if the manager grants not so much, or is on
    /// another node. Commands hold their buffers: when it is free again no operation uses it.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn memory_for_both(&self, len: u64) -> Result<Option<Bulk>> {
        let client = self.session.client()?;
        if client.shared_room() < len.saturating_add(LEFT) {
            return Ok(None);
        }
        match client.bulk(len) {
            Ok(bulk) => Ok(Some(bulk)),
            Err(ChannelError::Quota { .. }) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    /// Counts an operation, waiting until there is room for it.
    ///
    /// # Errors
    /// The connection is lost, or grants no operation at all.
    pub fn take_room(&self) -> Result<()> {
        let max = self.session.limits().operations;
        let take = || {
            let more = |n: u32| (n < max).then_some(n + 1);
            self.operations.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| ())
        };
        if take().is_some() {
            return Ok(());
        }
        if max == 0 {
            return Err(Error(CL_OUT_OF_RESOURCES));
        }
        self.submit();
        Ok(self.session.wait(None, take)?)
    }

    /// An operation has ended.
    pub fn give_room(&self) {
        self.operations.fetch_sub(1, Ordering::AcqRel);
    }
}
