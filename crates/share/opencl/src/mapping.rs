//! Mappings: memory in which the program sees a part of a buffer or an image.
#![allow(unsafe_code)]

use std::sync::Arc;

use rackloom_ipc::{Bulk, BulkRef};

use crate::error::{Error, Result};
use crate::host_memory::{HostRegion, Region};

/// One call of `clEnqueueMapBuffer` or `clEnqueueMapImage`.
pub struct Mapping {
    /// The address that the program got.
    pub at: *mut u8,
    /// What is mapped, in the whole buffer or in the image.
    pub region: Region,
    /// Its bytes where the program sees them.
    pub host: HostRegion,
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
    pub const fn within(at: *mut u8, region: Region, host: HostRegion, flags: u64) -> Self {
        Self { at, region, host, flags, bulk: None }
    }

    /// In bulk memory of its own.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn own(bulk: Arc<Bulk>, region: Region, flags: u64) -> Result<Self> {
        let at = bulk.as_ptr()?;
        // SAFETY: commands hold the mapping, and it the memory.
        let host = unsafe { HostRegion::linear(at, bulk.len() as usize) };
        Ok(Self { at, region, host, flags, bulk: Some(bulk) })
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.host.len()
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
