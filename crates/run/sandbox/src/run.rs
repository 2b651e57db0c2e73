//! Runs kernels in slices.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rackloom_ddr::Ddr;
use rackloom_image::Kernel;
use rackloom_role::{ROLE_PRIVATE, Role, RoleError, RoleFault, Step};
use wasmtime::{Caller, Extern, Func, Instance, Module, Store, StoreLimits, StoreLimitsBuilder, Trap, Val};

use crate::engine::{Shared, engine_error};
use crate::inspect::{TABLE_ELEMENTS_MAX, TABLES_MAX};

/// A role whose kernels are functions of a module's instance.
pub(crate) struct WasmRole {
    shared: Arc<Shared>,
    module: Module,
    kernels: Arc<[Kernel]>,
    ddr: Ddr,
    state: State,
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
        let mut role = Self { shared, module, kernels, ddr, state: State::Stale };
        role.state = State::Idle(role.fresh()?);
        Ok(role)
    }

    /// A new instance on private memory that is zero but for the module's constants.
    fn fresh(&self) -> Result<Live, RoleError> {
        let private = usize::try_from(ROLE_PRIVATE).expect("1 MiB");
        let guard = self.ddr.lock();
        self.ddr.discard(private).map_err(|e| RoleError::Engine(e.to_string()))?;
        drop(guard);
        Live::new(&self.shared, &self.module, &self.kernels, &self.ddr).map_err(engine_error)
    }

    /// The outcome of a kernel that ended by itself or by a fault.
    fn finish(&mut self, live: Live, result: wasmtime::Result<u64>, bound: u64) -> Step {
        let cycles = live.cycles(bound);
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
                None => Step::Failed { fault: RoleFault::Trap, text: error.to_string(), cycles },
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
        let guard = self.ddr.lock();
        let poll = running.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(guard);
        running.slices += 1;
        match poll {
            Poll::Pending => Step::Running,
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
        let cycles = match running.charged.load(Ordering::Relaxed) {
            // Every slice so far was a full one.
            0 => running.slices.saturating_mul(self.shared.config.slice_fuel),
            charged => charged,
        };
        let text = "the launch was cancelled".into();
        Some(Step::Failed { fault: RoleFault::Cancelled, text, cycles: cycles.min(running.bound) })
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

/// What belongs to an instance besides its module's own state.
struct Meter {
    /// Cycles charged in this launch. Shared with [`Running`], which reads it while the store is inside the future.
    charged: Arc<AtomicU64>,
    bound: u64,
    limits: StoreLimits,
}

impl Live {
    /// Instantiates the module; its data segments go into `ddr`.
    pub(crate) fn new(shared: &Shared, module: &Module, kernels: &[Kernel], ddr: &Ddr) -> wasmtime::Result<Self> {
        let limits = StoreLimitsBuilder::new()
            .table_elements(usize::try_from(TABLE_ELEMENTS_MAX).expect("it is small"))
            .tables(usize::try_from(TABLES_MAX).expect("it is small"))
            .build();
        let mut store = Store::new(&shared.engine, Meter { charged: Arc::default(), bound: 0, limits });
        store.limiter(|meter| &mut meter.limits);
        let memory = shared.memories.memory_of(&shared.engine, &mut store, ddr)?;
        let charge = Func::wrap(&mut store, charge);
        let imports: Vec<Extern> = module
            .imports()
            .map(|import| if import.name() == "memory" { memory.into() } else { charge.into() })
            .collect();
        store.set_fuel(INSTANTIATE_FUEL)?;
        let guard = ddr.lock();
        let instance = Instance::new(&mut store, module, &imports)?;
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
        let params: Vec<Val> = args.into_iter().map(|word| Val::I64(word.cast_signed())).collect();
        let mut results = [Val::I64(0)];
        let meter = self.store.data_mut();
        meter.charged.store(0, Ordering::Relaxed);
        meter.bound = bound;
        self.store.set_fuel(bound).expect("fuel is on");
        let func = self.kernels[kernel];
        let result = func.call_async(&mut self.store, &params, &mut results).await;
        let value = result.map(|()| results[0].unwrap_i64().cast_unsigned());
        (self, value)
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

/// The module states that its work so far takes `cycles` more of the role's clock.
fn charge(caller: Caller<'_, Meter>, cycles: i64) -> wasmtime::Result<()> {
    let Ok(cycles) = u64::try_from(cycles) else {
        return Err(wasmtime::Error::msg("the role charges a negative number of cycles"));
    };
    let meter = caller.data();
    let charged = meter.charged.load(Ordering::Relaxed).saturating_add(cycles);
    meter.charged.store(charged, Ordering::Relaxed);
    if charged > meter.bound { Err(Trap::OutOfFuel.into()) } else { Ok(()) }
}

/// Fuel for placing constants: a unit a byte, far more than the largest module has.
const INSTANTIATE_FUEL: u64 = 1 << 30;
