//! A part of a buffer that the program sees in its own memory.
#![allow(unsafe_code)]

use rackloom_ipc::{Bulk, BulkRef};

use crate::error::{Error, Result};

/// One call of `clEnqueueMapBuffer`.
pub struct Mapping {
    /// What the program got.
    pub at: *mut u8,
    /// First byte, in the whole buffer.
    pub offset: u64,
    pub len: usize,
    /// `CL_MAP_...`.
    pub flags: u64,
    /// Where the bytes lie, if not in memory that the buffer has anyway.
    bulk: Option<Bulk>,
}

// SAFETY: the pointer is only handed to the program, and compared.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// In memory that is there.
    pub const fn within(at: *mut u8, offset: u64, len: usize, flags: u64) -> Self {
        Self { at, offset, len, flags, bulk: None }
    }

    /// In bulk memory of its own.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn own(bulk: Bulk, offset: u64, flags: u64) -> Result<Self> {
        Ok(Self { at: bulk.as_ptr()?, offset, len: bulk.len() as usize, flags, bulk: Some(bulk) })
    }

    /// Whether it has bulk memory of its own.
    pub const fn is_own(&self) -> bool {
        self.bulk.is_some()
    }

    /// Whether what the program writes becomes the buffer's content.
    pub const fn writes(&self) -> bool {
        self.flags & (opencl_sys::CL_MAP_WRITE | opencl_sys::CL_MAP_WRITE_INVALIDATE_REGION) != 0
    }

    fn bulk(&self) -> Result<&Bulk> {
        self.bulk.as_ref().ok_or(Error(opencl_sys::CL_MAP_FAILURE))
    }

    /// A place for what the manager reads.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn expect(&self) -> Result<BulkRef> {
        let bulk = self.bulk()?;
        Ok(bulk.expect(0, bulk.len())?)
    }

    /// Waits until what the manager has read is there.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn settle(&self, from: &BulkRef) -> Result<()> {
        Ok(self.bulk()?.settle(from)?)
    }

    /// What the program has written, for the manager.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn publish(&self) -> Result<BulkRef> {
        let bulk = self.bulk()?;
        Ok(bulk.publish(0, bulk.len())?)
    }
}
