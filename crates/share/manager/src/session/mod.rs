//! A client's session on a board: executes its commands in order, keeps its objects, and submits its tasks.

pub(crate) mod command_loop;
pub(crate) mod inbox;
mod object_table;
pub(crate) mod replies;
mod resolver;

use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};

use self::replies::answer_to;
use opencl_sys::{
    CL_INVALID_PROGRAM, CL_INVALID_VALUE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE,
    CL_MEM_WRITE_ONLY, CL_OUT_OF_RESOURCES,
};
use rackloom_opencl_wire::{Answer, Command, EventId, Form, Id, Image, Limits, Op, Payload, Place, decode_op, now_ns};
use rackloom_sync::lock;

use self::object_table::{BadNumber, Table};
use self::resolver::{NO_BUFFER, NO_KERNEL, NO_SAMPLER, Resolver, refused};
use crate::board::{Operation, Space};
use crate::code::Code;
use crate::quota::{Account, Charge, Purse};
use crate::schedule::dispatcher::Dispatcher;
use crate::schedule::task::{Entry, GATHERED_NS, Task, Tenant};

/// Most builds that a client may have running and queued.
const BUILDS_MAX: usize = 64;

/// The flags of buffers that are passed to a runtime.
const ACCESS: u64 = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;

/// Most operations of a task; the next ones make a new task. It bounds how long one submission holds the board.
const TASK_MAX: usize = 1024;

/// A session.
pub(crate) struct Session<S: Space> {
    dispatcher: Arc<Dispatcher<Task<S>>>,
    limits: Limits,
    charging: Charging,
    buffers: Table<S::Buffer>,
    programs: Table<S::Program>,
    kernels: Table<S::Kernel>,
    samplers: Table<S::Sampler>,
    /// The task being gathered.
    task: Vec<Entry<S>>,
    /// Tasks that came together, to run as one: so the board goes on from one to the next.
    together: Together<S>,
    /// The thread that runs builds, one after the other; started by the first.
    builder: Option<SyncSender<BuildJob>>,
    /// Dropped last: its space may become another client's.
    tenant: Arc<Tenant<S>>,
}

/// Tasks that were submitted, and how long they should take together, in nanoseconds.
struct Together<S: Space> {
    entries: Vec<Entry<S>>,
    ns: u64,
}

impl<S: Space> Default for Together<S> {
    fn default() -> Self {
        Self { entries: Vec::new(), ns: 0 }
    }
}

/// What a session's objects are charged to.
#[derive(Debug)]
pub(crate) struct Charging {
    purse: Box<dyn Purse>,
    /// Whether the board's memory is this machine's.
    has_buffers_here: bool,
    /// Charges of kernels that are gone, for the next ones.
    spare: Arc<Mutex<Vec<Charge>>>,
}

/// A kernel's charge.
#[derive(Debug)]
struct KernelCharge {
    charge: Option<Charge>,
    spare: Arc<Mutex<Vec<Charge>>>,
}

/// Kernels that a session keeps charged: some programs make one for each launch, and to ask the manager takes longer
/// than to make one.
const SPARE_MAX: usize = 16;

impl Drop for KernelCharge {
    fn drop(&mut self) {
        let mut spare = lock(&self.spare);
        if spare.len() < SPARE_MAX {
            spare.extend(self.charge.take());
        }
    }
}

impl Charging {
    pub(crate) fn new(purse: impl Purse + 'static, has_buffers_here: bool) -> Self {
        Self { purse: Box::new(purse), has_buffers_here, spare: Arc::default() }
    }

    fn kernel(&self) -> Result<Charge, Code> {
        let spare = lock(&self.spare).pop();
        let charge = Some(spare.map_or_else(|| self.pay(&[(Account::Kernels, 1)]), Ok)?);
        Ok(Charge::of(KernelCharge { charge, spare: Arc::clone(&self.spare) }))
    }

    fn pay(&self, bill: &[(Account, u64)]) -> Result<Charge, Code> {
        self.purse.pay(bill).ok_or(Code(CL_OUT_OF_RESOURCES))
    }

    /// Charges a buffer. Memory of the client's own is charged to the machine already.
    fn buffer(&self, bytes: u64, is_clients_own: bool) -> Result<Charge, Code> {
        let bill = [(Account::Buffers, 1), (Account::Memory, bytes), (Account::Host, bytes)];
        let items = if self.has_buffers_here && !is_clients_own { 3 } else { 2 };
        self.purse.pay(&bill[..items]).ok_or(Code(CL_MEM_OBJECT_ALLOCATION_FAILURE))
    }

    /// Charges an arena that the runtime pins; its memory is charged to the machine already.
    fn registered(&self, bytes: u64) -> Result<Charge, Code> {
        self.pay(&[(Account::Registered, bytes)])
    }

    /// Charges a program of so many bytes.
    fn program(&self, bytes: u64) -> Result<Charge, Code> {
        self.pay(&[(Account::Programs, 1), (Account::ProgramBytes, bytes), (Account::Host, bytes)])
    }
}

type BuildJob = Box<dyn FnOnce() + Send>;

/// A violation of the protocol by the client, which ends its session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    /// An object number that is in use, unused, or above the limit.
    #[error("invalid object number {0}: in use, unused, or above the limit")]
    Number(Id),
    /// Too many operations that have not ended.
    #[error("more than {0} operations have not ended")]
    Operations(u32),
    /// A sequence without an operation, or with something else in it, or one that moves bytes of the client's.
    #[error("a sequence that is empty, or holds more than operations on what the board has")]
    Sequence,
    /// A command that is invalid on an open board.
    #[error("a command that is invalid once a board is open")]
    Misplaced,
}

impl From<BadNumber> for Violation {
    fn from(BadNumber(id): BadNumber) -> Self {
        Self::Number(id)
    }
}

impl<S: Space> Session<S> {
    pub(crate) fn new(
        tenant: Arc<Tenant<S>>,
        dispatcher: Arc<Dispatcher<Task<S>>>,
        charging: Charging,
        limits: Limits,
    ) -> Self {
        Self {
            tenant,
            dispatcher,
            charging,
            buffers: Table::new(limits.objects, NO_BUFFER),
            programs: Table::new(limits.objects, Code(CL_INVALID_PROGRAM)),
            kernels: Table::new(limits.objects, NO_KERNEL),
            samplers: Table::new(limits.objects, NO_SAMPLER),
            limits,
            task: Vec::new(),
            together: Together::default(),
            builder: None,
        }
    }

    /// Executes a command.
    pub(crate) fn command(&mut self, command: Command<'_>, tail: &[u8]) -> Result<(), Violation> {
        match command {
            Command::Enqueue { event, waits, submit, op } => self.enqueue(event, waits, submit, op, tail)?,
            Command::Sequence { event, waits, submit } => self.sequence(event, waits, submit, tail)?,
            Command::Submit => self.submit(),
            Command::Profile => self.tenant.space.profile(),
            Command::CreateBuffer { buffer, flags, size, backing } => {
                let made = self.buffer(flags & ACCESS, size, backing);
                self.buffers.put(buffer, made)?;
            }
            Command::CreateSubBuffer { buffer, parent, flags, offset, size } => {
                let parent = self.resolver().buffer(parent);
                let made = parent.and_then(|parent| {
                    let charge = self.charging.pay(&[(Account::Buffers, 1)])?;
                    self.tenant.space.sub_buffer(&parent, flags & ACCESS, offset, size, charge)
                });
                self.buffers.put(buffer, made)?;
            }
            Command::CreateSvm { request, buffer, flags, size, backing } => {
                let (made, answer) = match self.svm(flags & ACCESS, size, backing) {
                    Ok((made, address)) => (Ok(made), Ok(Answer::Svm { address })),
                    Err(code) => (Err(code), Err(code)),
                };
                self.buffers.put(buffer, made)?;
                self.answer(request, answer);
            }
            Command::ReleaseBuffer { buffer } => self.buffers.release(buffer)?,
            Command::ImageFormats { request, flags, kind } => {
                let formats = self.tenant.space.image_formats(flags, kind);
                self.answer(request, formats.map(Answer::ImageFormats));
            }
            Command::CreateImage { image, flags, description, of } => {
                let made = self.image(flags & ACCESS, &description, of);
                self.buffers.put(image, made)?;
            }
            Command::CreateSampler { sampler, normalized, addressing, filter } => {
                let charge = self.charging.pay(&[(Account::Samplers, 1)]);
                let made = charge.and_then(|charge| self.tenant.space.sampler(normalized, addressing, filter, charge));
                self.samplers.put(sampler, made)?;
            }
            Command::ReleaseSampler { sampler } => self.samplers.release(sampler)?,
            Command::CreateProgram { program, form, bytes } => {
                let made = self.program(form, bytes, tail);
                self.programs.put(program, made)?;
            }
            Command::Created { request, program } => {
                let made = self.programs.get(program);
                let binary_type = made.map(|made| self.tenant.space.binary_type(&made));
                self.answer(request, binary_type.map(|binary_type| Answer::Created { binary_type }));
            }
            Command::ReleaseProgram { program } => self.programs.release(program)?,
            Command::Build { request, program, options } => {
                let (program, options) = (self.programs.get(program), options.to_owned());
                self.build(request, move |space| space.build(&*program?, &options).map(Answer::Built));
            }
            Command::Compile { request, program, options, headers } => {
                let (program, options) = (self.programs.get(program), options.to_owned());
                let headers = headers.into_iter().map(|(name, id)| Ok((name.to_owned(), self.programs.get(id)?)));
                let headers = headers.collect::<Result<Vec<_>, Code>>();
                self.build(request, move |space| space.compile(&*program?, &options, &headers?).map(Answer::Built));
            }
            Command::Link { request, program, options, inputs } => self.link(request, program, options, &inputs)?,
            Command::BinarySize { request, program } => {
                let program = self.programs.get(program);
                self.later(request, move |space| space.binary_size(&*program?).map(Answer::BinarySize));
            }
            Command::Binary { request, program, into } => {
                let answer = self.binary(program, into);
                self.answer(request, answer);
            }
            Command::Kernel { request, program, name } => {
                let program = self.programs.get(program);
                let answer = program.and_then(|program| self.tenant.space.kernel_info(&program, name));
                self.answer(request, answer.map(Answer::Kernel));
            }
            Command::CreateKernel { kernel, program, name } => {
                let program = self.programs.get(program);
                let made = program.and_then(|program| {
                    let charge = self.charging.kernel()?;
                    self.tenant.space.kernel(&program, name, charge)
                });
                self.kernels.put(kernel, made)?;
            }
            Command::ReleaseKernel { kernel } => self.kernels.release(kernel)?,
            Command::Hello { .. } | Command::Board { .. } | Command::Open { .. } | Command::Clock { .. } => {
                return Err(Violation::Misplaced);
            }
        }
        Ok(())
    }

    fn resolver(&self) -> Resolver<'_, S> {
        let Self { buffers, kernels, samplers, .. } = self;
        Resolver { peer: &self.tenant.peer, buffers, kernels, samplers }
    }

    fn enqueue(
        &mut self,
        event: EventId,
        waits: Vec<EventId>,
        submit: bool,
        op: Op<'_>,
        tail: &[u8],
    ) -> Result<(), Violation> {
        self.add(event, true, waits, op, tail)?;
        if submit {
            self.submit();
        }
        Ok(())
    }

    fn sequence(
        &mut self,
        event: EventId,
        mut waits: Vec<EventId>,
        submit: bool,
        mut ops: &[u8],
    ) -> Result<(), Violation> {
        let mut ends = false;
        while !ends {
            let (op, behind) = decode_op(ops).map_err(|_| Violation::Sequence)?;
            if !op.is_at_board() {
                return Err(Violation::Sequence);
            }
            ends = behind.is_empty();
            // If what the first waits for has failed, the others do not start either.
            self.add(event, ends, std::mem::take(&mut waits), op, &[])?;
            ops = behind;
        }
        if submit {
            self.submit();
        }
        Ok(())
    }

    /// Adds an operation to the task. Its event ends with it if it `ends`, else with one that follows.
    fn add(
        &mut self,
        event: EventId,
        ends: bool,
        waits: Vec<EventId>,
        op: Op<'_>,
        tail: &[u8],
    ) -> Result<(), Violation> {
        if self.tenant.pending.fetch_add(1, Ordering::AcqRel) >= self.limits.operations {
            return Err(Violation::Operations(self.limits.operations));
        }
        let operation = self.resolver().operation(op, tail);
        operation.iter().for_each(|operation| self.register_for(operation));
        self.task.push(Entry { event, ends, waits, operation });
        if self.task.len() >= TASK_MAX {
            self.submit();
        }
        Ok(())
    }

    /// Registers the arena that an operation uses, if that is worth it: once as many bytes have gone through it as it
    /// has. So nobody pays for one that is used once, and what is paid is made good by the next transfers.
    fn register_for(&self, operation: &Operation<S>) {
        let space = &self.tenant.space;
        if space.registers().is_none() {
            return;
        }
        let Some(arena) = operation.arena() else { return };
        let len = arena.len();
        if arena.count(operation.bytes()) >= len as u64 {
            arena.keep(|| space.register(arena.as_mut_ptr(), len, self.charging.registered(len as u64).ok()?));
        }
    }

    fn submit(&mut self) {
        let entries = std::mem::take(&mut self.task);
        self.tenant.send_kept();
        if entries.is_empty() {
            return;
        }
        match self.tenant.gathers(&entries) {
            Some(ns) => {
                let together = &self.together;
                if together.ns.saturating_add(ns) > GATHERED_NS || together.entries.len() + entries.len() > TASK_MAX {
                    self.run();
                }
                self.together.entries.extend(entries);
                self.together.ns += ns;
            }
            None => {
                self.run();
                self.dispatch(entries);
            }
        }
    }

    /// All messages that have come are handled: runs what was submitted. On a board behind a bus that has nothing else
    /// to do, what has come of a task begins as well: a driver takes longer to start a kernel than a client to send the
    /// next.
    pub(crate) fn rest(&mut self) {
        self.run();
        if self.tenant.begins_with(&self.task) && self.dispatcher.is_free() {
            let entries = std::mem::take(&mut self.task);
            self.tenant.keep_replies();
            self.dispatch(entries);
        }
    }

    /// Runs what was submitted.
    fn run(&mut self) {
        let Together { entries, .. } = std::mem::take(&mut self.together);
        if !entries.is_empty() {
            self.dispatch(entries);
        }
    }

    fn dispatch(&self, entries: Vec<Entry<S>>) {
        let (tenant, entries) = (Arc::clone(&self.tenant), entries.into());
        self.dispatcher.submit(Task { tenant, entries, since: now_ns() });
    }

    fn buffer(&self, flags: u64, size: u64, backing: Option<Place>) -> Result<S::Buffer, Code> {
        let charge = self.charging.buffer(size, backing.is_some())?;
        let backing = backing.map(|place| self.tenant.peer.give(&place.into()).map_err(refused)).transpose()?;
        self.tenant.space.buffer(flags, size, backing, charge)
    }

    fn svm(&self, flags: u64, size: u64, backing: Option<Place>) -> Result<(S::Buffer, u64), Code> {
        let space = &self.tenant.space;
        let charge = self.charging.buffer(space.svm_cost(size), backing.is_some())?;
        let backing = backing.map(|place| self.tenant.peer.give(&place.into()).map_err(refused)).transpose()?;
        space.svm(flags, size, backing, charge)
    }

    /// An image. A view of a buffer has no memory of its own.
    fn image(&self, flags: u64, description: &Image, of: Option<Id>) -> Result<S::Buffer, Code> {
        let of = of.map(|of| self.resolver().buffer(of)).transpose()?;
        let charge = match of {
            Some(_) => self.charging.pay(&[(Account::Buffers, 1)])?,
            None => self.charging.buffer(description.cost().ok_or(Code(CL_INVALID_VALUE))?, false)?,
        };
        self.tenant.space.image(flags, description, of.as_ref(), charge)
    }

    fn program(&self, form: Form, bytes: Payload, tail: &[u8]) -> Result<S::Program, Code> {
        let source = self.resolver().source(bytes, tail)?;
        if source.is_empty() {
            return Err(Code(CL_INVALID_VALUE)); // To a runtime, length 0 means: up to the next zero byte.
        }
        if source.len() as u64 > self.limits.program {
            return Err(Code(CL_OUT_OF_RESOURCES));
        }
        let charge = self.charging.program(source.len() as u64)?;
        // Copied out: nothing may change it while the runtime looks at it.
        self.tenant.space.program(form, source.into_vec(), charge)
    }

    fn binary(&self, program: Id, into: Place) -> Result<Answer, Code> {
        let program = self.programs.get(program)?;
        let given = self.tenant.peer.give(&into.into()).map_err(refused)?;
        self.tenant.space.binary(&program, &given)?;
        given.finish().map_err(refused)?;
        Ok(Answer::Binary)
    }

    /// Links on this thread: the new program has its number at once, but exists only when it is linked.
    fn link(&mut self, request: u32, program: Id, options: &str, inputs: &[Id]) -> Result<(), Violation> {
        let inputs: Result<Vec<_>, _> = inputs.iter().map(|id| self.programs.get(*id)).collect();
        let linked = inputs.and_then(|inputs| {
            let charge = self.charging.program(0)?; // How large it becomes is the runtime's to know.
            self.tenant.space.link(&inputs, options, charge)
        });
        let (made, answer) = match linked {
            Ok((made, build)) => (Ok(made), Ok(Answer::Built(build))),
            Err(code) => (Err(code), Err(code)),
        };
        self.programs.put(program, made)?;
        self.answer(request, answer);
        Ok(())
    }

    fn build(&mut self, request: u32, job: impl FnOnce(&S) -> Result<Answer, Code> + Send + 'static) {
        self.dispatcher.metrics.builds.inc();
        self.later(request, job);
    }

    /// Runs a job that may take long on the builder thread, which answers the request.
    fn later(&mut self, request: u32, job: impl FnOnce(&S) -> Result<Answer, Code> + Send + 'static) {
        let tenant = Arc::clone(&self.tenant);
        let job: BuildJob = Box::new(move || {
            let answer = job(&tenant.space);
            answer_to(&tenant.peer, request, answer);
        });
        if self.builder.is_none() {
            let (send, jobs) = sync_channel::<BuildJob>(BUILDS_MAX);
            let run = move || jobs.into_iter().for_each(|job| job());
            if std::thread::Builder::new().name("builder".into()).spawn(run).is_ok() {
                self.builder = Some(send);
            }
        }
        let sent = self
            .builder
            .as_ref()
            .map_or(Err(TrySendError::Full(())), |builder| builder.try_send(job).map_err(|_| TrySendError::Full(())));
        if sent.is_err() {
            self.answer(request, Err(Code(CL_OUT_OF_RESOURCES)));
        }
    }

    fn answer(&self, request: u32, answer: Result<Answer, Code>) {
        answer_to(&self.tenant.peer, request, answer);
    }
}

impl<S: Space> Drop for Session<S> {
    fn drop(&mut self) {
        self.dispatcher.forget(self.tenant.id, || self.tenant.is_gone());
        self.tenant.space.leave();
    }
}
