//! An object at a manager, which is released with its owner here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opencl_sys::{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES};
use rackloom_opencl_wire::{self as wire, Id};
use rackloom_sync::lock;

use crate::error::{Error, Result, ensure};
use crate::session::board::Board;
use crate::session::numbers::ObjectTable;

/// The number of an object in a session. The manager forgets the object when this is dropped.
pub struct Remote {
    pub board: Arc<Board>,
    pub id: Id,
    table: ObjectTable,
    is_announced: bool,
    /// Of a buffer: whether a write has reached it.
    pub has_memory: AtomicBool,
}

impl Remote {
    /// Takes a number and makes the object with the message that `make` gives, without waiting for an answer.
    ///
    /// # Errors
    /// The quota is used up, or the connection lost.
    pub fn new<'a>(
        board: &Arc<Board>,
        table: ObjectTable,
        make: impl FnOnce(Id) -> wire::Command<'a>,
        tail: &[u8],
    ) -> Result<Self> {
        let mut this = Self::reserve(board, table)?;
        board.session.send(&make(this.id), tail)?;
        this.is_announced = true;
        Ok(this)
    }

    /// Takes a number that the manager does not know yet.
    ///
    /// # Errors
    /// The quota is used up.
    pub fn reserve(board: &Arc<Board>, table: ObjectTable) -> Result<Self> {
        let limits = board.session.limits();
        let id = lock(board.session.numbers(table)).take(limits.objects).ok_or(Error(CL_OUT_OF_RESOURCES))?;
        let this =
            Self { board: Arc::clone(board), id, table, is_announced: false, has_memory: AtomicBool::new(false) };
        if let ObjectTable::Buffers(bytes) = table {
            let before = board.memory.fetch_add(bytes, Ordering::Relaxed);
            ensure(before.saturating_add(bytes) <= limits.memory, CL_MEM_OBJECT_ALLOCATION_FAILURE)?;
        }
        Ok(this)
    }

    /// The manager knows of it.
    pub fn announced(&mut self) {
        self.is_announced = true;
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let command = match self.table {
            ObjectTable::Buffers(_) => wire::Command::ReleaseBuffer { buffer: self.id },
            ObjectTable::Programs => wire::Command::ReleaseProgram { program: self.id },
            ObjectTable::Kernels => wire::Command::ReleaseKernel { kernel: self.id },
            ObjectTable::Samplers => wire::Command::ReleaseSampler { sampler: self.id },
        };
        if self.is_announced {
            // A lost connection has released it already.
            let _ = self.board.session.send(&command, &[]);
        }
        if let ObjectTable::Buffers(bytes) = self.table {
            self.board.memory.fetch_sub(bytes, Ordering::Relaxed);
        }
        lock(self.board.session.numbers(self.table)).give(self.id);
    }
}
