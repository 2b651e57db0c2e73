//! Commands: what the program enqueues, with all that it needs until it has ended.

pub mod build;
pub mod command_buffer;
pub mod dispatch;
pub mod early;
pub mod enqueue;
pub mod launch;
pub mod local;
pub mod migrate;
pub mod send;
pub mod sequence;
pub mod wait_list;

use std::sync::Arc;

use opencl_sys::{CL_FALSE, cl_bool};
use rackloom_opencl_wire::{Area, Rect};

use crate::command::launch::Launch;
use crate::handle::Ref;
use crate::host_memory::{HostMemory, HostRegion, Region};
use crate::mapping::Mapping;
use crate::objects::content::Access;
use crate::objects::event::Event;
use crate::objects::memory::Buffer;
use crate::session::board::Board;
use crate::session::stream::Submit;

/// A command for a board. It holds all objects that it uses.
pub struct Command {
    pub board: Arc<Board>,
    pub event: Ref<Event>,
    pub waits: Vec<Ref<Event>>,
    pub kind: Kind,
    /// Whether it closes the task behind it.
    pub submit: Submit,
    /// Memory of the library that the command points into.
    pub _keep: Option<Arc<HostMemory>>,
}

/// Whether the call that enqueues a command waits for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallMode {
    /// The command has ended on return.
    Blocking,
    /// The call returns at once.
    NonBlocking,
}

/// A memory object at the command's board: a whole buffer, or an image.
pub type Memory = Ref<Buffer>;

/// What a command does. Offsets count bytes from the beginning of the whole buffer.
pub enum Kind {
    /// Nothing, in the order of the queue.
    Marker,
    /// From the program's memory into a buffer or an image.
    Write { to: Memory, region: Region, host: HostRegion },
    /// From a buffer or an image into the program's memory.
    Read { from: Memory, region: Region, host: HostRegion },
    /// Between buffers.
    Copy { from: Memory, from_offset: u64, to: Memory, to_offset: u64, len: u64 },
    /// Boxes between buffers.
    CopyRect { from: Memory, source: Rect, to: Memory, target: Rect },
    /// A pattern into a buffer.
    Fill { to: Memory, offset: u64, len: u64, pattern: Vec<u8> },
    /// An area between images.
    CopyImage { from: Memory, source: Area, to: Memory, target: Area },
    /// An area of an image into a buffer.
    CopyImageToBuffer { from: Memory, area: Area, to: Memory, offset: u64 },
    /// Bytes of a buffer into an area of an image.
    CopyBufferToImage { from: Memory, offset: u64, to: Memory, area: Area },
    /// A colour into an area of an image.
    FillImage { to: Memory, area: Area, color: [u8; 16] },
    /// A part of a buffer or an image into memory of its own that the program has mapped.
    MapRead { from: Memory, mapping: Arc<Mapping> },
    /// What the program has written to such memory, back.
    UnmapWrite { to: Memory, mapping: Arc<Mapping> },
    /// Maps a part of a buffer whose backing is the program's view of it.
    Map { buffer: Memory, flags: u64, offset: u64, len: u64 },
    /// Ends such a mapping.
    Unmap { buffer: Memory, offset: u64, len: u64 },
    /// Nothing, once the buffers are at the board.
    Migrate { buffers: Vec<Memory>, access: Access },
    /// A kernel.
    Launch(Launch),
    /// Several commands, each behind the one before it. An event ends with the last.
    Sequence(Arc<[Self]>),
}

impl CallMode {
    /// Of a call's parameter `blocking`.
    pub const fn of(blocking: cl_bool) -> Self {
        if blocking == CL_FALSE { Self::NonBlocking } else { Self::Blocking }
    }
}

impl Kind {
    /// The whole buffers and images that it uses, and how.
    pub fn uses(&self) -> Vec<(Memory, Access)> {
        let read = |memory: &Memory| (Buffer::root(memory).clone(), Access::Read);
        let update = |memory: &Memory| (Buffer::root(memory).clone(), Access::Update);
        let write_linear = |buffer: &Memory, len: u64| {
            if len == buffer.size { (buffer.clone(), Access::Replace) } else { update(buffer) }
        };
        let write_area = |image: &Memory, area: &Area| {
            let whole = image.parent.is_none() && image.image.is_some_and(|view| view.image.whole() == *area);
            if whole { (image.clone(), Access::Replace) } else { update(image) }
        };
        match self {
            Self::Marker => Vec::new(),
            Self::Write { to, region: Region::Image { area, .. }, .. } => vec![write_area(to, area)],
            Self::Write { to, region: Region::Linear(0), host } => vec![write_linear(to, host.len() as u64)],
            Self::Write { to, .. } => vec![update(to)],
            Self::Read { from, .. } | Self::MapRead { from, .. } => vec![read(from)],
            Self::Copy { from, to, len, .. } => vec![read(from), write_linear(to, *len)],
            Self::CopyRect { from, to, .. } => vec![read(from), update(to)],
            Self::Fill { to, len, .. } => vec![write_linear(to, *len)],
            Self::CopyImage { from, to, target, .. } => vec![read(from), write_area(to, target)],
            Self::CopyImageToBuffer { from, to, .. } => vec![read(from), update(to)],
            Self::CopyBufferToImage { from, to, area, .. } => vec![read(from), write_area(to, area)],
            Self::FillImage { to, area, .. } => vec![write_area(to, area)],
            Self::UnmapWrite { to, mapping } => match &mapping.region {
                Region::Image { area, .. } => vec![write_area(to, area)],
                _ => vec![write_linear(to, mapping.len() as u64)],
            },
            Self::Map { buffer, .. } => vec![read(buffer)],
            Self::Unmap { buffer, .. } => vec![update(buffer)],
            Self::Migrate { buffers, access } => buffers.iter().map(|b| (b.clone(), *access)).collect(),
            Self::Launch(launch) => launch.uses(),
            Self::Sequence(kinds) => kinds.iter().flat_map(Self::uses).collect(),
        }
    }

    /// Whether it works on what the board has, and moves no bytes from or to the program: as
    /// [`rackloom_opencl_wire::Op::is_at_board`].
    pub const fn is_at_board(&self) -> bool {
        match self {
            Self::Write { .. } | Self::Read { .. } | Self::MapRead { .. } | Self::UnmapWrite { .. } => false,
            Self::Map { .. } | Self::Unmap { .. } | Self::Sequence(_) => false,
            Self::Marker | Self::Migrate { .. } | Self::Launch(_) => true,
            Self::Copy { .. } | Self::CopyRect { .. } | Self::Fill { .. } => true,
            Self::CopyImage { .. } | Self::CopyImageToBuffer { .. } | Self::CopyBufferToImage { .. } => true,
            Self::FillImage { .. } => true,
        }
    }

    /// Bytes that go through bulk memory in pieces.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Write { host, .. } | Self::Read { host, .. } => host.len() as u64,
            Self::Sequence(kinds) => kinds.iter().map(Self::bytes).sum(),
            _ => 0,
        }
    }
}
