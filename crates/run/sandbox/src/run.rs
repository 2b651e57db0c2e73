//! Runs kernels in slices.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use rackloom_ddr::Ddr;
use rackloom_image::Kernel;
use rackloom_node::Instant;
use rackloom_role::{
    ROLE_PRIVATE, RemoteAccess, RemoteFault, Role, RoleError, RoleFault, RoleOutput, Step, StreamError,
};
use wasmtime::{ExternType, Func, Instance, Module, Store, StoreLimitsBuilder, Trap, Val, ValType};

use crate::engine::{Shared, engine_error};
use crate::imports::{self, Meter, RemoteFailed};
use crate::inspect::{TABLE_ELEMENTS_MAX, TABLES_MAX};
use crate::mailbox::{Mailbox, STREAMS};
use crate::remote::Remote;

/// A role whose kernels are functions of a module's instance.
pub(crate) struct WasmRole {
    shared: Arc<Shared>,
    module: Module,
    kernels: Arc<[Kernel]>,
    ddr: Ddr,
    state: State,
    /// None: the module has no streams and no handlers.
    mailbox: Option<Mailbox>,
    remote: Remote,
}

enum State {
    /// The instance waits for a launch.
    Idle(Live),
    /// A kernel is between two slices; the future owns the instance.
    Running(Running),
    /// The last kernel was ended before it returned and has left what the instance keeps, such as C's stack pointer, as
    /// it was. The next launch gets a fresh instance.
    Stale,
}

struct Running {
    future: Pin<Box<dyn Future<Output = (Live, wasmtime::Result<u64>)> + Send>>,
    charged: Arc<AtomicU64>,
    slices: u64,
    bound: u64,
}

impl WasmRole {
    pub(crate) fn new(
        shared: Arc<Shared>,
        module: Module,
        kernels: Arc<[Kernel]>,
        ddr: Ddr,
    ) -> Result<Self, RoleError> {
        let mailbox = (module.imports().any(|i| i.name() == "receive")
            || Handler::ALL.iter().any(|h| h.is_in(&module)))
        .then(Mailbox::default);
        let mut role = Self { shared, module, kernels, ddr, state: State::Stale, mailbox, remote: Remote::default() };
        role.state = State::Idle(role.fresh()?);
        Ok(role)
    }

    /// A new instance on private memory that is zero but for the module's constants.
    fn fresh(&self) -> Result<Live, RoleError> {
        let private = usize::try_from(ROLE_PRIVATE).expect("1 MiB");
        let guard = self.ddr.lock();
        self.ddr.discard(private).map_err(|e| RoleError::Engine(e.to_string()))?;
        drop(guard);
        let mailbox = self.mailbox.clone().unwrap_or_default();
        let desks = (mailbox, self.remote.clone());
        Live::new(&self.shared, &self.module, &self.kernels, &self.ddr, desks).map_err(engine_error)
    }

    /// Calls a handler of the module, if no kernel runs and the module has it. A handler that goes wrong loses its
    /// message; the instance it leaves behind is not used again.
    fn handle(&mut self, handler: Handler, args: &[u64]) {
        if matches!(self.state, State::Running(_)) || !handler.is_in(&self.module) {
            return;
        }
        let live = match core::mem::replace(&mut self.state, State::Stale) {
            State::Idle(live) => Some(live),
            _ => self.fresh().ok(), // A host out of memory loses the message.
        };
        let Some(live) = live else { return };
        let guard = self.ddr.lock();
        // Its fuel bounds the slices.
        let (live, result) = finished(live.call_handler(handler, args.to_vec()));
        drop(guard);
        if result.is_ok() {
            self.state = State::Idle(live);
        }
    }

    /// Calls the handler for the messages that wait. Bounded: the inbox is.
    fn read_mail(&mut self, now: Instant) {
        let Some(mailbox) = self.mailbox.clone() else { return };
        if matches!(self.state, State::Running(_)) || !Handler::Message.is_in(&self.module) {
            return; // A kernel receives by itself, or the messages wait for it to end.
        }
        while let Some((stream, length)) = mailbox.begin(now) {
            self.handle(Handler::Message, &[stream.into(), length as u64]);
        }
    }

    /// The outcome of a kernel that ended by itself or by a fault.
    fn finish(&mut self, live: Live, result: wasmtime::Result<u64>, bound: u64) -> Step {
        let cycles = live.cycles(bound);
        self.remote.clear();
        match result {
            Ok(value) => {
                self.state = State::Idle(live);
                Step::Done { value, cycles }
            }
            Err(error) => match error.downcast_ref::<Trap>() {
                Some(Trap::OutOfFuel) => {
                    let text = format!("the kernel ran longer than its bound of {bound} cycles");
                    Step::Failed { fault: RoleFault::Fuel, text, cycles }
                }
                Some(trap) => Step::Failed { fault: RoleFault::Trap, text: trap.to_string(), cycles },
                None => {
                    let fault = if error.is::<RemoteFailed>() { RoleFault::Remote } else { RoleFault::Trap };
                    Step::Failed { fault, text: error.to_string(), cycles }
                }
            },
        }
    }
}

impl Role for WasmRole {
    fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    fn start(&mut self, kernel: usize, args: &[u64], bound: u64) -> Result<(), RoleError> {
        if matches!(self.state, State::Running(_)) {
            return Err(RoleError::Running);
        }
        let Some(about) = self.kernels.get(kernel) else {
            return Err(RoleError::UnknownKernel { kernel, kernels: self.kernels.len() });
        };
        if args.len() != about.args.len() {
            return Err(RoleError::Arguments {
                kernel: about.name.clone(),
                takes: about.args.len(),
                given: args.len(),
            });
        }
        let live = match core::mem::replace(&mut self.state, State::Stale) {
            State::Idle(live) => live,
            State::Stale => self.fresh()?,
            State::Running(_) => unreachable!("refused above"),
        };
        let most = self.shared.config.bound;
        let bound = if bound == 0 { most } else { bound.min(most) };
        let charged = live.store.data().charged.clone();
        let future = Box::pin(live.call(kernel, args.to_vec(), bound));
        self.state = State::Running(Running { future, charged, slices: 0, bound });
        Ok(())
    }

    fn step(&mut self) -> Step {
        let State::Running(running) = &mut self.state else { panic!("no kernel was started") };
        if self.remote.is_awaited() {
            return Step::Waiting;
        }
        let guard = self.ddr.lock();
        let poll = running.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(guard);
        match poll {
            // It has not used its slice up.
            Poll::Pending if self.remote.is_awaited() => Step::Waiting,
            Poll::Pending => {
                running.slices += 1;
                Step::Running
            }
            Poll::Ready((live, result)) => {
                let bound = running.bound;
                self.state = State::Stale;
                self.finish(live, result, bound)
            }
        }
    }

    fn cancel(&mut self) -> Option<Step> {
        let running = match core::mem::replace(&mut self.state, State::Stale) {
            State::Running(running) => running,
            other => {
                self.state = other;
                return None;
            }
        };
        self.remote.clear();
        let cycles = match running.charged.load(Ordering::Relaxed) {
            // Every slice so far was a full one.
            0 => running.slices.saturating_mul(self.shared.config.slice_fuel),
            charged => charged,
        };
        let text = "the launch was cancelled".into();
        Some(Step::Failed { fault: RoleFault::Cancelled, text, cycles: cycles.min(running.bound) })
    }

    fn poll_remote(&mut self) -> Option<RemoteAccess> {
        self.remote.poll()
    }

    fn handle_remote(&mut self, number: u32, result: Result<Bytes, RemoteFault>) {
        self.remote.settle(number, result);
    }

    fn reset(&mut self) {
        self.state = State::Stale;
        self.remote.clear();
        if let Some(mailbox) = &self.mailbox {
            mailbox.clear();
        }
    }

    fn streams(&self) -> u8 {
        if self.mailbox.is_some() { STREAMS } else { 0 }
    }

    fn handle_message(&mut self, now: Instant, stream: u8, message: Bytes) -> Result<(), StreamError> {
        self.mailbox.as_ref().ok_or(StreamError::Unknown)?.post(now, stream, message)?;
        self.read_mail(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if !matches!(self.state, State::Running(_)) && self.mailbox.as_ref().is_some_and(|m| m.take_wake(now)) {
            self.handle(Handler::Wake, &[]);
        }
    }

    fn poll(&mut self, now: Instant) -> Option<RoleOutput> {
        // What came while a kernel ran.
        if self.mailbox.as_ref().is_some_and(Mailbox::has_mail) {
            self.read_mail(now);
        }
        self.mailbox.as_ref()?.poll(now)
    }

    fn next_deadline(&self) -> Option<Instant> {
        // While a kernel runs the module cannot be called; the end of the kernel is a turn of its own.
        if matches!(self.state, State::Running(_)) { None } else { self.mailbox.as_ref()?.wake_at() }
    }
}

impl fmt::Debug for WasmRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Idle(_) => "idle",
            State::Running(_) => "running",
            State::Stale => "stale",
        };
        f.debug_struct("WasmRole").field("kernels", &self.kernels.len()).field("state", &state).finish()
    }
}

/// An instance of a module on a DDR.
pub(crate) struct Live {
    store: Store<Meter>,
    instance: Instance,
    kernels: Vec<Func>,
}

/// A function that a module may export beside its kernels.
#[derive(Clone, Copy)]
enum Handler {
    /// A message has come: its stream and its length, which `receive` copies.
    Message,
    /// The time asked for with `wake` has come.
    Wake,
}

impl Handler {
    const ALL: [Self; 2] = [Self::Message, Self::Wake];

    const fn name(self) -> &'static str {
        match self {
            Self::Message => "on_message",
            Self::Wake => "on_wake",
        }
    }

    const fn takes(self) -> usize {
        match self {
            Self::Message => 2,
            Self::Wake => 0,
        }
    }

    /// Whether the module exports it, as a function of i64 that returns nothing.
    fn is_in(self, module: &Module) -> bool {
        let Some(ExternType::Func(func)) = module.get_export(self.name()) else { return false };
        func.params().len() == self.takes()
            && func.params().all(|p| matches!(p, ValType::I64))
            && func.results().len() == 0
    }
}

impl Live {
    /// Instantiates the module; its data segments go into `ddr`.
    pub(crate) fn new(
        shared: &Shared,
        module: &Module,
        kernels: &[Kernel],
        ddr: &Ddr,
        (mailbox, remote): (Mailbox, Remote),
    ) -> wasmtime::Result<Self> {
        let limits = StoreLimitsBuilder::new()
            .table_elements(usize::try_from(TABLE_ELEMENTS_MAX).expect("it is small"))
            .tables(usize::try_from(TABLES_MAX).expect("it is small"))
            .build();
        let meter =
            Meter { charged: Arc::default(), bound: 0, limits, mailbox, remote, is_kernel: false, memory: None };
        let mut store = Store::new(&shared.engine, meter);
        store.limiter(|meter| &mut meter.limits);
        let memory = shared.memories.memory_of(&shared.engine, &mut store, ddr)?;
        let imports = imports::resolve(&mut store, module, memory);
        store.set_fuel(INSTANTIATE_FUEL)?;
        let guard = ddr.lock();
        // Nothing of the module runs, so there is nothing to wait for; but a module that may wait wants this call.
        let instance = finished(Instance::new_async(&mut store, module, &imports))?;
        drop(guard);
        store.fuel_async_yield_interval(Some(shared.config.slice_fuel))?;
        let kernels = kernels
            .iter()
            .map(|kernel| instance.get_func(&mut store, &kernel.name).expect("the export was checked"))
            .collect();
        Ok(Self { store, instance, kernels })
    }

    /// The value of an exported global.
    pub(crate) fn global(&mut self, name: &str) -> Option<Val> {
        let global = self.instance.get_global(&mut self.store, name)?;
        Some(global.get(&mut self.store))
    }

    /// Calls a kernel and gives the instance back with what it returned.
    async fn call(mut self, kernel: usize, args: Vec<u64>, bound: u64) -> (Self, wasmtime::Result<u64>) {
        let mut results = [Val::I64(0)];
        let func = self.kernels[kernel];
        self.store.data_mut().is_kernel = true;
        let result = self.run(func, args, &mut results, bound).await;
        (self, result.map(|()| results[0].unwrap_i64().cast_unsigned()))
    }

    /// The same for a handler.
    async fn call_handler(mut self, handler: Handler, args: Vec<u64>) -> (Self, wasmtime::Result<()>) {
        let func = self.instance.get_func(&mut self.store, handler.name()).expect("the export was checked");
        self.store.data_mut().is_kernel = false;
        let result = self.run(func, args, &mut [], HANDLER_FUEL).await;
        (self, result)
    }

    async fn run(&mut self, func: Func, args: Vec<u64>, results: &mut [Val], bound: u64) -> wasmtime::Result<()> {
        let params: Vec<Val> = args.into_iter().map(|word| Val::I64(word.cast_signed())).collect();
        let meter = self.store.data_mut();
        meter.charged.store(0, Ordering::Relaxed);
        meter.bound = bound;
        self.store.set_fuel(bound).expect("fuel is on");
        func.call_async(&mut self.store, &params, results).await
    }

    /// Role clock cycles of the call that ended.
    fn cycles(&self, bound: u64) -> u64 {
        let cycles = match self.store.data().charged.load(Ordering::Relaxed) {
            0 => bound - self.store.get_fuel().expect("fuel is on"),
            charged => charged,
        };
        cycles.min(bound)
    }
}

/// Runs to its end what waits for nothing but its slices.
fn finished<T>(future: impl Future<Output = T>) -> T {
    let mut future = core::pin::pin!(future);
    loop {
        if let Poll::Ready(ended) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return ended;
        }
    }
}

/// Fuel for placing constants: a unit a byte, far more than the largest module has.
const INSTANTIATE_FUEL: u64 = 1 << 30;
/// Fuel, and cycles, of a call of a handler: some ten microseconds. A stranger's messages must not hold up the cards
/// that share a thread with this one.
const HANDLER_FUEL: u64 = 1 << 16;
