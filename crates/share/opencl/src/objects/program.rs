//! Programs, and their state at each device.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use opencl_sys::*;
use rackloom_ipc::Bulk;
use rackloom_opencl_wire::{self as wire, Answer, Build, Form, INLINE_MAX, Id, KernelInfo, Payload};
use rackloom_sync::lock;

use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Live, ObjectKind, Ref};
use crate::includes;
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::process::PerProcess;
use crate::session::board::Board;
use crate::session::log_unexpected;
use crate::session::numbers::ObjectTable;
use crate::session::remote::Remote;

/// A program.
pub struct Program {
    pub context: Ref<Context>,
    pub origin: Origin,
    /// One for each of its devices.
    pub parts: Vec<Part>,
    /// Number of its kernels: while it is not 0, the program cannot be built again.
    pub kernels: AtomicUsize,
}

/// From what a program was made.
pub enum Origin {
    /// OpenCL C.
    Source(String),
    /// A binary for each device.
    Binary,
    /// Other programs.
    Linked,
}

/// A program at one of its devices.
pub struct Part {
    pub device: Ref<Device>,
    /// Its source or binary here.
    bytes: Vec<u8>,
    form: Form,
    there: Mutex<There>,
    /// Holds the bytes until the manager has read them.
    bulk: Mutex<Option<Bulk>>,
    pub state: Mutex<State>,
    infos: Mutex<HashMap<String, Arc<KernelInfo>>>,
}

/// A program at a manager.
#[derive(Default)]
struct There {
    /// From its first use on.
    remote: Option<Remote>,
    /// Its source there, if files were put in.
    text: Option<Vec<u8>>,
}

/// The state of its last build, compilation or linking there.
#[derive(Debug, Clone)]
pub struct State {
    /// `CL_PROGRAM_BUILD_STATUS`.
    pub status: cl_build_status,
    pub options: String,
    /// The manager's answer; its log is empty before that.
    pub build: Build,
    /// Bytes of the built binary, once the manager was asked.
    binary_size: Option<u64>,
}

impl ObjectKind for Program {
    const INVALID: cl_int = CL_INVALID_PROGRAM;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Program>> = PerProcess::new();
        LIVE.get()
    }
}

impl Program {
    /// A program for these devices, which gets these bytes at each.
    pub fn new(context: Ref<Context>, origin: Origin, devices: Vec<(Ref<Device>, Vec<u8>)>) -> Self {
        let form = if matches!(origin, Origin::Source(_)) { Form::Source } else { Form::Binary };
        let part = |(device, bytes)| Part {
            device,
            bytes,
            form,
            there: Mutex::default(),
            bulk: Mutex::default(),
            state: Mutex::new(State::default()),
            infos: Mutex::default(),
        };
        Self { context, origin, parts: devices.into_iter().map(part).collect(), kernels: AtomicUsize::new(0) }
    }

    /// The program at a device.
    pub fn part(&self, device: &Ref<Device>) -> Option<&Part> {
        self.parts.iter().find(|p| p.device.handle() == device.handle())
    }

    /// Parts at devices for which it is an executable.
    pub fn executables(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|p| lock(&p.state).is_executable())
    }

    /// Properties of a kernel at a device.
    ///
    /// # Errors
    /// The program has no kernel of this name there.
    pub fn kernel_info(&self, device: &Ref<Device>, name: &str) -> Result<Arc<KernelInfo>> {
        let part = self.part(device).ok_or(Error(CL_INVALID_PROGRAM_EXECUTABLE))?;
        if let Some(info) = lock(&part.infos).get(name) {
            return Ok(Arc::clone(info));
        }
        let program = part.id()?;
        let ask = |request| wire::Command::Kernel { request, program, name };
        let info = match part.board().session.ask(None, &[], ask)? {
            Answer::Kernel(info) => info,
            other => return unexpected("Kernel", &other),
        };
        Ok(Arc::clone(lock(&part.infos).entry(name.into()).or_insert_with(|| Arc::new(info))))
    }
}

impl Part {
    /// The board of its device.
    pub fn board(&self) -> &Arc<Board> {
        self.device.board()
    }

    /// Its number there, where it is made at its first use.
    ///
    /// # Errors
    /// A quota is used up, or the connection lost.
    pub fn id(&self) -> Result<Id> {
        let mut there = lock(&self.there);
        if let Some(remote) = &there.remote {
            return Ok(remote.id);
        }
        let remote = self.make(there.text.as_deref().unwrap_or(&self.bytes))?;
        Ok(there.remote.insert(remote).id)
    }

    /// Gets its source, with the files that it includes, ready for the board's compiler: as these options ask, which
    /// may be others than before. `ours` are names that have a text already.
    pub fn bring(&self, options: &str, ours: &[&str]) {
        let (Form::Source, Ok(source)) = (self.form, std::str::from_utf8(&self.bytes)) else { return };
        let Ok(here) = std::env::current_dir() else { return };
        let expanded = includes::expand(source, options, &here, ours);
        let text = match if self.device.has_images() { expanded } else { without_images(expanded) } {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text.into_bytes()),
        };
        let mut there = lock(&self.there);
        if there.text != text {
            *there = There { remote: None, text };
        }
    }

    /// It was made there, of other programs.
    pub fn linked(&self, remote: Remote) {
        lock(&self.there).remote = Some(remote);
    }

    fn make(&self, bytes: &[u8]) -> Result<Remote> {
        let board = self.board();
        ensure(bytes.len() as u64 <= board.session.limits().program, CL_OUT_OF_RESOURCES)?;
        let form = self.form;
        let make = |from| move |program| wire::Command::CreateProgram { program, form, bytes: from };
        if bytes.len() <= INLINE_MAX {
            return Remote::new(board, ObjectTable::Programs, make(Payload::Inline), bytes);
        }
        let bulk = board.bulk(bytes.len() as u64)?;
        let place = bulk.put(0, bytes)?;
        *lock(&self.bulk) = Some(bulk);
        Remote::new(board, ObjectTable::Programs, make(Payload::Bulk(place.into())), &[])
    }

    /// Checks that the board accepts the bytes as a binary of its own.
    ///
    /// # Errors
    /// There are no bytes; the board refuses them; the connection is lost.
    pub fn check_binary(&self) -> Result<()> {
        ensure(!self.bytes.is_empty(), CL_INVALID_VALUE)?;
        let program = self.id()?;
        let created = self.board().session.ask(None, &[], |request| wire::Command::Created { request, program })?;
        let Answer::Created { binary_type } = created else { return unexpected("Created", &created) };
        lock(&self.state).build.binary_type = binary_type;
        *lock(&self.bulk) = None;
        Ok(())
    }

    /// Notes how a build, compilation or linking ended.
    pub fn end(&self, answer: std::result::Result<Answer, cl_int>) {
        *lock(&self.bulk) = None;
        lock(&self.infos).clear();
        let mut state = lock(&self.state);
        state.build = match answer {
            Ok(Answer::Built(build)) => build,
            Ok(other) => {
                log_unexpected("Built", &other);
                Build { status: CL_OUT_OF_RESOURCES, ..State::default().build }
            }
            Err(status) => Build { status, ..State::default().build },
        };
        state.status = if state.build.status == CL_SUCCESS { CL_BUILD_SUCCESS } else { CL_BUILD_ERROR };
    }

    /// The value of `CL_PROGRAM_BINARIES`: the built binary, else the one that the program gave.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn binary(&self) -> Result<Vec<u8>> {
        let len = self.binary_size()?;
        if lock(&self.state).status != CL_BUILD_SUCCESS {
            return Ok(self.bytes[..len].to_vec());
        }
        let board = self.board();
        let bulk = board.bulk(len as u64)?;
        let (program, place) = (self.id()?, bulk.expect(0, bulk.len())?);
        board.session.ask(None, &[], |request| wire::Command::Binary { request, program, into: place.into() })?;
        let mut bytes = vec![0; len];
        bulk.get(&place, 0, &mut bytes)?;
        Ok(bytes)
    }

    /// Bytes of [`Self::binary`].
    ///
    /// # Errors
    /// The connection is lost.
    pub fn binary_size(&self) -> Result<usize> {
        let (is_built, known) = {
            let state = lock(&self.state);
            (state.status == CL_BUILD_SUCCESS, state.binary_size)
        };
        match known {
            Some(size) => return Ok(size as usize),
            None if !is_built => return Ok(if self.form == Form::Binary { self.bytes.len() } else { 0 }),
            None => {}
        }
        let program = self.id()?;
        let ask = |request| wire::Command::BinarySize { request, program };
        let size = match self.board().session.ask(None, &[], ask)? {
            Answer::BinarySize(size) => size,
            other => return unexpected("BinarySize", &other),
        };
        lock(&self.state).binary_size = Some(size);
        Ok(size as usize)
    }
}

/// A source for a device without images: compilers may define what their own devices have.
fn without_images(source: Cow<'_, str>) -> Cow<'_, str> {
    const MACROS: [&str; 4] =
        ["__IMAGE_SUPPORT__", "__opencl_c_images", "__opencl_c_3d_image_writes", "__opencl_c_read_write_images"];
    let asked: Vec<_> = MACROS.into_iter().filter(|name| source.contains(name)).collect();
    if asked.is_empty() {
        return source;
    }
    let undefined: String = asked.iter().map(|name| format!("#undef {name}\n")).collect();
    format!("{undefined}#line 1\n{source}").into()
}

impl Default for State {
    fn default() -> Self {
        let build = Build {
            status: CL_SUCCESS,
            binary_type: CL_PROGRAM_BINARY_TYPE_NONE,
            log: String::new(),
            kernels: Vec::new(),
            global_variables: 0,
        };
        Self { status: CL_BUILD_NONE, options: String::new(), build, binary_size: None }
    }
}

impl State {
    /// While a task with these options is under way.
    pub fn in_progress(options: &str) -> Self {
        Self { status: CL_BUILD_IN_PROGRESS, options: options.into(), ..Self::default() }
    }

    /// Whether kernels can be made from it.
    pub fn is_executable(&self) -> bool {
        self.status == CL_BUILD_SUCCESS && self.build.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE
    }
}

fn unexpected<T>(expected: &str, came: &Answer) -> Result<T> {
    log_unexpected(expected, came);
    fail(CL_OUT_OF_RESOURCES)
}
