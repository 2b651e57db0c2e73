//! What a command does, with all that it needs until it has ended.

pub mod dispatch;
pub mod local;
pub mod migrate;
pub mod send;
pub mod wait_list;

use std::sync::Arc;

use rackloom_opencl_wire::Rect;

use crate::command::migrate::Access;
use crate::handle::Ref;
use crate::host_memory::{HostMemory, HostRegion, Region};
use crate::mapping::Mapping;
use crate::objects::event::Event;
use crate::objects::kernel::Launch;
use crate::objects::memory::Buffer;
use crate::session::board::Board;

/// A command for a board. It holds all objects that it uses.
pub struct Command {
    pub board: Arc<Board>,
    pub event: Ref<Event>,
    pub waits: Vec<Ref<Event>>,
    pub kind: Kind,
    /// Closes the task behind it.
    pub submit: bool,
    /// Memory of ours that the command points into.
    pub _keep: Option<Arc<HostMemory>>,
}

/// A buffer's memory at the command's board: always that of a buffer which is no part of another.
pub type Memory = Ref<Buffer>;

/// What to do. Offsets count from the beginning of the whole buffer.
pub enum Kind {
    /// Nothing, in its turn.
    Marker,
    /// From the program's memory into a buffer.
    Write { to: Memory, region: Region, host: HostRegion },
    /// From a buffer into the program's memory.
    Read { from: Memory, region: Region, host: HostRegion },
    /// Between buffers.
    Copy { from: Memory, from_offset: u64, to: Memory, to_offset: u64, len: u64 },
    /// Boxes between buffers.
    CopyRect { from: Memory, source: Rect, to: Memory, target: Rect },
    /// A pattern into a buffer.
    Fill { to: Memory, offset: u64, len: u64, pattern: Vec<u8> },
    /// A part of a buffer into memory that the program gets to see.
    MapRead { from: Memory, offset: u64, mapping: Arc<Mapping> },
    /// And back.
    UnmapWrite { to: Memory, offset: u64, mapping: Arc<Mapping> },
    /// The same where this memory is the buffer's backing.
    Map { buffer: Memory, flags: u64, offset: u64, len: u64 },
    /// And back.
    Unmap { buffer: Memory, offset: u64, len: u64 },
    /// Nothing, once the buffers are at the board.
    Migrate { buffers: Vec<Memory>, access: Access },
    /// A kernel.
    Launch(Launch),
}

impl Kind {
    /// The buffers that it uses, and how.
    pub fn uses(&self) -> Vec<(Memory, Access)> {
        let change =
            |buffer: &Memory, replaces: bool| (buffer.clone(), if replaces { Access::Replace } else { Access::Update });
        match self {
            Self::Marker => Vec::new(),
            Self::Write { to, region, host } => {
                vec![change(to, *region == Region::Linear(0) && host.len() as u64 == to.size)]
            }
            Self::Read { from, .. } | Self::MapRead { from, .. } => vec![(from.clone(), Access::Read)],
            Self::Copy { from, to, len, .. } => vec![(from.clone(), Access::Read), change(to, *len == to.size)],
            Self::CopyRect { from, to, .. } => vec![(from.clone(), Access::Read), change(to, false)],
            Self::Fill { to, len, .. } => vec![change(to, *len == to.size)],
            Self::UnmapWrite { to, mapping, .. } => vec![change(to, mapping.len as u64 == to.size)],
            Self::Map { buffer, .. } => vec![(buffer.clone(), Access::Read)],
            Self::Unmap { buffer, .. } => vec![change(buffer, false)],
            Self::Migrate { buffers, access } => buffers.iter().map(|b| (b.clone(), *access)).collect(),
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
