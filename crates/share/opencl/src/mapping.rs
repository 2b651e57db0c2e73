//! Mappings: memory in which the program sees a part of a buffer.
#![allow(unsafe_code)]

use std::sync::Arc;

use rackloom_ipc::{Bulk, BulkRef};

use crate::error::{Error, Result};

/// One call of `clEnqueueMapBuffer`.
pub struct Mapping {
    /// The address that the program got.
    pub at: *mut u8,
    /// First byte, in the whole buffer.
    pub offset: u64,
    pub len: usize,
    /// `CL_MAP_...`.
    pub flags: u64,
    /// The memory, if the buffer has none of its own.
    bulk: Option<Arc<Bulk>>,
}

// SAFETY: the pointer is only handed to the program, and compared.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// In memory that the buffer has anyway.
    pub const fn within(at: *mut u8, offset: u64, len: usize, flags: u64) -> Self {
        Self { at, offset, len, flags, bulk: None }
    }

    /// In bulk memory of its own.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn own(bulk: Arc<Bulk>, offset: u64, flags: u64) -> Result<Self> {
        Ok(Self { at: bulk.as_ptr()?, offset, len: bulk.len() as usize, flags, bulk: Some(bulk) })
    }

    /// Whether it has bulk memory of its own.
    pub const fn is_own(&self) -> bool {
        self.bulk.is_some()
    }

    /// Whether the program may write to it, so that unmapping changes the buffer.
    pub const fn writes(&self) -> bool {
        self.flags & (opencl_sys::CL_MAP_WRITE | opencl_sys::CL_MAP_WRITE_INVALIDATE_REGION) != 0
    }

    fn bulk(&self) -> Result<&Bulk> {
        self.bulk.as_deref().ok_or(Error(opencl_sys::CL_MAP_FAILURE))
    }

    /// Prepares the memory for what the manager reads.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn expect(&self) -> Result<BulkRef> {
        let bulk = self.bulk()?;
        Ok(bulk.expect(0, bulk.len())?)
    }

    /// Waits until what the manager has read has arrived.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn settle(&self, from: &BulkRef) -> Result<()> {
        Ok(self.bulk()?.settle(from)?)
    }

    /// Publishes what the program has written to the manager.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn publish(&self) -> Result<BulkRef> {
        let bulk = self.bulk()?;
        Ok(bulk.publish(0, bulk.len())?)
    }
}
