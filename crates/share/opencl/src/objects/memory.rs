//! Buffers, sub-buffers and images.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

use opencl_sys::*;
use rackloom_ipc::Bulk;
use rackloom_opencl_wire::{self as wire, Id};
use rackloom_sync::lock;

use crate::callback::{self, Call, UserData};
use crate::error::{Result, fail};
use crate::handle::{Live, ObjectKind, Ref};
use crate::host_memory::{HostMemory, Region};
use crate::mapping::Mapping;
use crate::objects::content::Content;
use crate::objects::context::Context;
use crate::objects::image::ImageView;
use crate::process::PerProcess;
use crate::session::board::Board;
use crate::session::numbers::ObjectTable;
use crate::session::remote::Remote;
use crate::svm_region::SvmRegion;

/// A buffer, a sub-buffer or an image.
pub struct Buffer {
    /// At each device of the context, from its first use there on. Dropped before the parent.
    remotes: Box<[OnceLock<Remote>]>,
    making: Mutex<()>,
    pub context: Ref<Context>,
    pub flags: cl_mem_flags,
    pub size: u64,
    /// The buffer of which this is a sub-buffer or a view.
    pub parent: Option<Ref<Self>>,
    /// First byte in the whole buffer.
    pub offset: u64,
    pub side: HostSide,
    /// What is an image of it.
    pub image: Option<ImageView>,
    pub properties: Vec<cl_mem_properties>,
    pub maps: Mutex<Vec<Arc<Mapping>>>,
    pub destructors: Mutex<Vec<Call>>,
    /// Which devices have the current content. Of a sub-buffer the parent's counts.
    pub content: Mutex<Content>,
}

/// The program's view of a buffer when it is mapped.
pub enum HostSide {
    /// Memory that exists only while it is mapped.
    None,
    /// Memory of the program (`CL_MEM_USE_HOST_PTR`).
    User(UserData),
    /// Shared virtual memory: the program's at the address where the board has its own.
    Svm(SvmRegion),
    /// Memory of the library (`CL_MEM_ALLOC_HOST_PTR`) that no manager sees.
    Own(HostMemory),
    /// The buffer's own memory at the manager, too (`CL_MEM_ALLOC_HOST_PTR`).
    Backing(Arc<Bulk>),
    /// The same at a board that works right in it: nothing has to be mapped.
    Shared(Arc<Bulk>),
}

/// Flags that are sent to a manager.
const SENT_FLAGS: u64 = CL_MEM_READ_WRITE
    | CL_MEM_READ_ONLY
    | CL_MEM_WRITE_ONLY
    | CL_MEM_HOST_READ_ONLY
    | CL_MEM_HOST_WRITE_ONLY
    | CL_MEM_HOST_NO_ACCESS;

impl ObjectKind for Buffer {
    const INVALID: cl_int = CL_INVALID_MEM_OBJECT;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Buffer>> = PerProcess::new();
        LIVE.get()
    }
}

impl Buffer {
    /// A buffer that no manager knows yet.
    pub fn new(
        context: Ref<Context>,
        flags: cl_mem_flags,
        size: u64,
        side: HostSide,
        properties: Vec<cl_mem_properties>,
    ) -> Self {
        Self {
            remotes: context.devices.iter().map(|_| OnceLock::new()).collect(),
            making: Mutex::default(),
            context,
            flags,
            size,
            parent: None,
            offset: 0,
            side,
            image: None,
            properties,
            maps: Mutex::default(),
            destructors: Mutex::default(),
            content: Mutex::default(),
        }
    }

    /// Shared virtual memory, which the board has made already.
    pub fn svm(context: Ref<Context>, flags: cl_mem_flags, size: u64, region: SvmRegion, remote: Remote) -> Self {
        let mut this = Self::new(context, flags, size, HostSide::Svm(region), Vec::new());
        this.remotes = Box::new([OnceLock::from(remote)]);
        this
    }

    /// A sub-buffer of a buffer that is not itself a sub-buffer.
    pub fn part(parent: Ref<Self>, flags: cl_mem_flags, offset: u64, size: u64) -> Self {
        let mut this = Self::new(parent.context.clone(), flags, size, HostSide::None, Vec::new());
        (this.parent, this.offset) = (Some(parent), offset);
        this
    }

    /// An image that no manager knows yet.
    pub fn image(
        context: Ref<Context>,
        flags: cl_mem_flags,
        size: u64,
        side: HostSide,
        image: ImageView,
        properties: Vec<cl_mem_properties>,
    ) -> Self {
        let mut this = Self::new(context, flags, size, side, properties);
        this.image = Some(image);
        this
    }

    /// A view of a buffer or sub-buffer as an image.
    pub fn image_of(
        parent: Ref<Self>,
        flags: cl_mem_flags,
        size: u64,
        image: ImageView,
        properties: Vec<cl_mem_properties>,
    ) -> Self {
        let mut this = Self::image(parent.context.clone(), flags, size, HostSide::None, image, properties);
        (this.offset, this.parent) = (parent.offset, Some(parent));
        this
    }

    /// Whether it is a part or a view of another one that the program has made. A buffer in shared virtual memory is
    /// none.
    pub fn is_part(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| parent.parent.is_some() || !matches!(parent.side, HostSide::Svm(_)))
    }

    /// Its first byte in the buffer of which it is a part.
    pub fn offset_in_parent(&self) -> u64 {
        let parent = self.parent.as_ref().filter(|_| self.is_part());
        parent.map_or(0, |parent| self.offset - parent.offset)
    }

    /// The whole buffer.
    pub fn root(mut this: &Ref<Self>) -> &Ref<Self> {
        while let Some(parent) = &this.parent {
            this = parent;
        }
        this
    }

    /// Whether a write has reached it at a board, which so has memory for it: some give none before.
    pub fn has_memory(&self, board: &Arc<Board>) -> bool {
        self.remote(board).is_some_and(|remote| remote.has_memory.load(Ordering::Relaxed))
    }

    /// A write has reached it at a board.
    pub fn was_written(&self, board: &Arc<Board>) {
        self.remote(board).iter().for_each(|remote| remote.has_memory.store(true, Ordering::Relaxed));
    }

    /// At a board, if it was used there.
    fn remote(&self, board: &Arc<Board>) -> Option<&Remote> {
        self.remotes.iter().filter_map(OnceLock::get).find(|remote| Arc::ptr_eq(&remote.board, board))
    }

    /// All of it, for a command.
    pub fn whole(&self) -> Region {
        self.image.map_or(Region::Linear(0), |view| view.whole())
    }

    /// Its number at a board, where it is made at its first use.
    ///
    /// # Errors
    /// The quota is used up; the connection is lost; no device of the context is on the board.
    pub fn on(&self, board: &Arc<Board>) -> Result<Id> {
        let place = self.context.devices.iter().position(|d| Arc::ptr_eq(d.board(), board));
        let Some(slot) = place.map(|at| &self.remotes[at]) else { return fail(CL_INVALID_CONTEXT) };
        if let Some(remote) = slot.get() {
            return Ok(remote.id);
        }
        let _making = lock(&self.making);
        if let Some(remote) = slot.get() {
            return Ok(remote.id);
        }
        let remote = self.make(board)?;
        Ok(slot.get_or_init(|| remote).id)
    }

    fn make(&self, board: &Arc<Board>) -> Result<Remote> {
        let (flags, size, offset) = (self.flags & SENT_FLAGS, self.size, self.offset);
        if let Some(ImageView { image: description, .. }) = self.image {
            let of = self.parent.as_ref().map(|parent| parent.on(board)).transpose()?;
            let cost = if of.is_some() { 0 } else { description.cost().unwrap_or(u64::MAX) };
            let image = |image| wire::Command::CreateImage { image, flags, description, of };
            return Remote::new(board, ObjectTable::Buffers(cost), image, &[]);
        }
        if let Some(parent) = &self.parent {
            // A board has no parts of parts, as a buffer in shared virtual memory may have.
            let parent = parent.parent.as_ref().unwrap_or(parent).on(board)?;
            let part = |buffer| wire::Command::CreateSubBuffer { buffer, parent, flags, offset, size };
            return Remote::new(board, ObjectTable::Buffers(0), part, &[]);
        }
        let backing = match &self.side {
            HostSide::Backing(bulk) | HostSide::Shared(bulk) => Some(bulk.publish(0, bulk.len())?.into()),
            _ => None,
        };
        let whole = |buffer| wire::Command::CreateBuffer { buffer, flags, size, backing };
        Remote::new(board, ObjectTable::Buffers(size), whole, &[])
    }

    /// Where the program sees it when it is mapped, if that is always the same address.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn host_pointer(&self) -> Result<Option<*mut u8>> {
        let mut whole = self;
        while let Some(parent) = &whole.parent {
            whole = parent;
        }
        let base = match &whole.side {
            HostSide::None => return Ok(None),
            HostSide::User(data) => data.pointer().cast::<u8>(),
            HostSide::Svm(region) => region.as_ptr(),
            HostSide::Own(memory) => memory.as_ptr(),
            HostSide::Backing(bulk) | HostSide::Shared(bulk) => bulk.as_ptr()?,
        };
        Ok(Some(base.wrapping_add(self.offset as usize)))
    }

    /// Whether its memory is the board's own, which may be used without the manager while no operation is under way.
    pub fn is_shared(&self) -> bool {
        self.image.is_none()
            && match self.parent.as_ref().map_or(&self.side, |p| &p.side) {
                HostSide::Shared(_) => true,
                HostSide::Svm(region) => region.is_shared(),
                _ => false,
            }
    }

    /// Whether the manager has to map it.
    pub fn is_backed(&self) -> bool {
        let side = self.parent.as_ref().map_or(&self.side, |p| &p.side);
        self.is_shared() || self.image.is_none() && matches!(side, HostSide::Backing(_))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // The last one set is called first.
        callback::call(lock(&self.destructors).drain(..).rev());
    }
}
