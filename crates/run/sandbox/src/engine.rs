//! The engine that all roles of a sandbox run in, and the modules it has compiled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use rackloom_ddr::{GUARD_BYTES, RESERVED_BYTES};
use rackloom_role::RoleError;
use rackloom_sync::lock;
use wasmtime::{Config, Engine, Module};

use crate::inspect::inspect;
use crate::memory::{Creator, DdrMemories};

/// Bounds of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasmConfig {
    /// Fuel of one slice, 1 or more. A unit is about one WebAssembly instruction.
    pub slice_fuel: u64,
    /// Most role clock cycles, and most fuel, that any launch may take, 1 or more.
    pub bound: u64,
    /// Compiled modules kept, 1 or more; the one not used for longest goes first.
    pub modules: usize,
}

impl Default for WasmConfig {
    fn default() -> Self {
        // 2^22 units take half a millisecond of vector code and some milliseconds of scalar code; 2^40 about ten
        // minutes.
        Self { slice_fuel: 1 << 22, bound: 1 << 40, modules: 32 }
    }
}

/// What all roles of a sandbox share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: WasmConfig,
    pub(crate) engine: Engine,
    pub(crate) memories: Arc<DdrMemories>,
    modules: Mutex<Modules>,
}

impl Shared {
    pub(crate) fn new(config: WasmConfig) -> Result<Self, RoleError> {
        let memories = Arc::new(DdrMemories::default());
        let engine = Engine::new(&engine_config(memories.clone())).map_err(engine_error)?;
        Ok(Self { config, engine, memories, modules: Mutex::default() })
    }

    pub(crate) fn modules_kept(&self) -> usize {
        self.modules().kept.len()
    }

    fn modules(&self) -> MutexGuard<'_, Modules> {
        lock(&self.modules)
    }

    /// The compiled module of `part`. Cards that load the same image at once wait for one compilation.
    pub(crate) fn module(&self, part: &[u8]) -> Result<Module, RoleError> {
        let stripped = inspect(part)?;
        let key = *blake3::hash(&stripped).as_bytes();
        let mut modules = self.modules();
        modules.uses += 1;
        let now = modules.uses;
        if let Some((module, last_use)) = modules.kept.get_mut(&key) {
            *last_use = now;
            return Ok(module.clone());
        }
        let module = Module::from_binary(&self.engine, &stripped).map_err(|e| RoleError::Module(format!("{e:#}")))?;
        if modules.kept.len() >= self.config.modules {
            let oldest = modules.kept.iter().min_by_key(|(_, (_, last_use))| *last_use).map(|(key, _)| *key);
            modules.kept.remove(&oldest.expect("at least one is kept"));
        }
        modules.kept.insert(key, (module.clone(), now));
        Ok(module)
    }
}

/// Compiled modules by the digest of what was compiled, each with the number of its last use.
#[derive(Debug, Default)]
struct Modules {
    uses: u64,
    kept: BTreeMap<[u8; 32], (Module, u64)>,
}

fn engine_config(memories: Arc<DdrMemories>) -> Config {
    let mut config = Config::new();
    config.consume_fuel(true).concurrency_support(false);
    // The DDR is the memory: its layout, and no copy-on-write image in its place.
    config.with_host_memory(Arc::new(Creator(memories))).memory_init_cow(false);
    config.memory_reservation(RESERVED_BYTES as u64).memory_guard_size(GUARD_BYTES as u64).memory_may_move(false);
    // The same on every host.
    config.cranelift_nan_canonicalization(true).wasm_relaxed_simd(false);
    // What clang and rustc emit for wasm32, and no more.
    config.wasm_simd(true).wasm_bulk_memory(true).wasm_multi_value(true);
    config.wasm_memory64(false).wasm_multi_memory(false).wasm_tail_call(false).wasm_extended_const(false);
    // Kernels recurse little; 256 cards may run at once.
    config.max_wasm_stack(STACK_BYTES).async_stack_size(2 * STACK_BYTES).wasm_backtrace_max_frames(None);
    config
}

pub(crate) fn engine_error(error: wasmtime::Error) -> RoleError {
    RoleError::Engine(format!("{error:#}"))
}

/// Stack of a running kernel for calls and spilled registers; what C calls the stack is in DDR.
const STACK_BYTES: usize = 512 << 10;
