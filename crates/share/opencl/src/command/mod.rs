//! What a command does, with all that it needs until it has ended.

pub mod dispatch;
pub mod local;
pub mod migrate;
pub mod send;
pub mod wait_list;

use std::sync::Arc;

use rackloom_opencl_wire::Rect;

use crate::command::migrate::Use;
use crate::handle::Ref;
use crate::host_memory::{Host, HostMemory, Region};
use crate::mapping::Mapping;
use crate::objects::event::Event;
use crate::objects::kernel::Launch;
use crate::objects::memory::Buffer;
use crate::session::board::Board;

/// A command for a board. It holds all objects that it uses.
pub struct Order {
    pub board: Arc<Board>,
    pub event: Ref<Event>,
    pub waits: Vec<Ref<Event>>,
    pub work: Work,
    /// Closes the task behind it.
    pub submit: bool,
    /// Memory of ours that the work points into.
    pub _keep: Option<Arc<HostMemory>>,
}

/// A buffer's memory at the order's board: always that of a buffer which is no part of another.
pub type Memory = Ref<Buffer>;

/// What to do. Offsets count from the beginning of the whole buffer.
pub enum Work {
    /// Nothing, in its turn.
    Marker,
    /// From the program's memory into a buffer.
    Write { to: Memory, region: Region, host: Host },
    /// From a buffer into the program's memory.
    Read { from: Memory, region: Region, host: Host },
    /// Between buffers.
    Copy { from: Memory, from_offset: u64, to: Memory, to_offset: u64, len: u64 },
    /// Boxes between buffers.
    CopyRect { from: Memory, source: Rect, to: Memory, target: Rect },
    /// A pattern into a buffer.
    Fill { to: Memory, offset: u64, len: u64, pattern: Vec<u8> },
    /// A part of a buffer into memory that the program gets to see.
    Show { from: Memory, offset: u64, mapping: Arc<Mapping> },
    /// And back.
    TakeBack { to: Memory, offset: u64, mapping: Arc<Mapping> },
    /// The same where this memory is the buffer's backing.
    Map { buffer: Memory, flags: u64, offset: u64, len: u64 },
    /// And back.
    Unmap { buffer: Memory, offset: u64, len: u64 },
    /// Nothing, once the buffers are at the board.
    Migrate { buffers: Vec<Memory>, does: Use },
    /// A kernel.
    Launch(Launch),
}

impl Work {
    /// The buffers that it uses, and how.
    pub fn uses(&self) -> Vec<(Memory, Use)> {
        let change =
            |buffer: &Memory, replaces: bool| (buffer.clone(), if replaces { Use::Replaces } else { Use::Changes });
        match self {
            Self::Marker => Vec::new(),
            Self::Write { to, region, host } => {
                vec![change(to, *region == Region::Linear(0) && host.len() as u64 == to.size)]
            }
            Self::Read { from, .. } | Self::Show { from, .. } => vec![(from.clone(), Use::Reads)],
            Self::Copy { from, to, len, .. } => vec![(from.clone(), Use::Reads), change(to, *len == to.size)],
            Self::CopyRect { from, to, .. } => vec![(from.clone(), Use::Reads), change(to, false)],
            Self::Fill { to, len, .. } => vec![change(to, *len == to.size)],
            Self::TakeBack { to, mapping, .. } => vec![change(to, mapping.len as u64 == to.size)],
            Self::Map { buffer, .. } => vec![(buffer.clone(), Use::Reads)],
            Self::Unmap { buffer, .. } => vec![change(buffer, false)],
            Self::Migrate { buffers, does } => buffers.iter().map(|b| (b.clone(), *does)).collect(),
            Self::Launch(launch) => launch.uses(),
        }
    }

    /// Bytes that go through bulk memory in pieces.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Write { host, .. } | Self::Read { host, .. } => host.len() as u64,
            _ => 0,
        }
    }
}
