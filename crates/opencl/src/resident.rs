//! Memory of a buffer that program and board both see.

use std::sync::Arc;

use rackloom_channel::{Bulk, BulkRef, ChannelError};

use crate::error::Result;
use crate::session::Board;

/// Bytes of bulk memory that buffers leave to transfers.
const LEFT: u64 = 128 << 20;

/// Memory of a buffer. It is free for others only when no operation that was sent while it lived is under way: the
/// manager is not asked when a buffer is released.
pub struct Resident {
    bulk: Option<Bulk>,
    board: Arc<Board>,
}

impl Resident {
    /// Gets memory; none if the manager grants not so much, or is on another node.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn new(board: &Arc<Board>, len: u64) -> Result<Option<Self>> {
        let client = board.session.client()?;
        board.reap();
        if client.shared_room() < len.saturating_add(LEFT) {
            return Ok(None);
        }
        match client.bulk(len) {
            Ok(bulk) => Ok(Some(Self { bulk: Some(bulk), board: Arc::clone(board) })),
            Err(ChannelError::Quota { .. }) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    fn bulk(&self) -> &Bulk {
        self.bulk.as_ref().expect("it is there until this is dropped")
    }

    /// Where it is.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn as_ptr(&self) -> Result<*mut u8> {
        Ok(self.bulk().as_ptr()?)
    }

    /// All of it, for the manager.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn publish(&self) -> Result<BulkRef> {
        Ok(self.bulk().publish(0, self.bulk().len())?)
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        if let Some(bulk) = self.bulk.take() {
            self.board.bury(bulk);
        }
    }
}
