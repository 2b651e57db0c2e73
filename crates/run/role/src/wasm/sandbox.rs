//! Compiles modules and keeps what it compiled.

use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rackloom_image::{Kernel, Manifest, TARGET_MODEL};
use wasmtime::{Config, Engine, ExternType, Module, Val, ValType};

use super::inspect::{MODULE_BYTES_MAX, inspect};
use super::memory::{Creator, DdrMemories};
use super::run::{Live, WasmRole};
use super::strip::strip;
use crate::ddr::{GUARD_BYTES, RESERVED_BYTES};
use crate::{Ddr, PAGE_BYTES, Prepared, ROLE_PRIVATE, Role, RoleError, Sandbox};

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

/// Runs the `model` part of images in wasmtime. Clones share the compiled modules.
#[derive(Clone, Debug)]
pub struct WasmSandbox(Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) config: WasmConfig,
    pub(super) engine: Engine,
    pub(super) memories: Arc<DdrMemories>,
    modules: Mutex<Modules>,
}

impl WasmSandbox {
    /// A sandbox with these bounds.
    ///
    /// # Panics
    /// If a bound is 0.
    pub fn new(config: WasmConfig) -> Result<Self, RoleError> {
        assert!(config.slice_fuel > 0);
        assert!(config.bound > 0);
        assert!(config.modules > 0);
        let memories = Arc::new(DdrMemories::default());
        let engine = Engine::new(&engine_config(memories.clone())).map_err(engine_error)?;
        Ok(Self(Arc::new(Shared { config, engine, memories, modules: Mutex::default() })))
    }

    /// Modules that are compiled and kept.
    pub fn modules_kept(&self) -> usize {
        self.0.modules.lock().unwrap_or_else(PoisonError::into_inner).kept.len()
    }
}

impl Default for WasmSandbox {
    fn default() -> Self {
        Self::new(WasmConfig::default()).expect("wasmtime supports this machine")
    }
}

impl Sandbox for WasmSandbox {
    fn target(&self) -> &'static str {
        TARGET_MODEL
    }

    fn prepare(&self, manifest: &Manifest, part: &[u8], ddr_bytes: u64) -> Result<Box<dyn Prepared>, RoleError> {
        if ddr_bytes < ROLE_PRIVATE {
            return Err(RoleError::Memory(format!(
                "a card of {ddr_bytes} bytes has less than the {ROLE_PRIVATE} that belong to the role"
            )));
        }
        let module = self.0.module(part)?;
        check_imports(&module, ddr_bytes)?;
        manifest.kernels.iter().try_for_each(|kernel| check_kernel(&module, kernel))?;
        let prepared = WasmPrepared { shared: self.0.clone(), module, kernels: manifest.kernels.clone().into() };
        prepared.rehearse(ddr_bytes)?;
        Ok(Box::new(prepared))
    }

    fn prepare_with(
        &self,
        manifest: &Manifest,
        length: usize,
        read: &dyn Fn(Range<usize>) -> Vec<u8>,
        ddr_bytes: u64,
    ) -> Result<Box<dyn Prepared>, RoleError> {
        self.prepare(manifest, &strip(length, MODULE_BYTES_MAX as usize, read)?, ddr_bytes)
    }
}

#[derive(Debug)]
struct WasmPrepared {
    shared: Arc<Shared>,
    module: Module,
    kernels: Arc<[Kernel]>,
}

impl WasmPrepared {
    /// Activates the role in a memory that nobody uses: whatever would fail on the card fails here, before the commit.
    fn rehearse(&self, ddr_bytes: u64) -> Result<(), RoleError> {
        let scratch = Ddr::new(ddr_bytes).map_err(|e| RoleError::Engine(e.to_string()))?;
        let mut live = Live::new(&self.shared, &self.module, &self.kernels, &scratch)
            .map_err(|e| RoleError::Module(format!("it cannot be instantiated: {e:#}")))?;
        match live.global("__heap_base") {
            Some(Val::I32(end)) if u64::from(end.cast_unsigned()) > ROLE_PRIVATE => Err(RoleError::Memory(format!(
                "constants and stack end at {:#x}, but the role's own memory at {ROLE_PRIVATE:#x}",
                end.cast_unsigned()
            ))),
            _ => Ok(()),
        }
    }
}

impl Prepared for WasmPrepared {
    fn activate(self: Box<Self>, ddr: &Ddr) -> Result<Box<dyn Role>, RoleError> {
        Ok(Box::new(WasmRole::new(self.shared, self.module, self.kernels, ddr.clone())?))
    }
}

impl Shared {
    /// The compiled module of `part`. Cards that load the same image at once wait for one compilation.
    fn module(&self, part: &[u8]) -> Result<Module, RoleError> {
        let stripped = inspect(part)?;
        let key = *blake3::hash(&stripped).as_bytes();
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
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

fn check_imports(module: &Module, ddr_bytes: u64) -> Result<(), RoleError> {
    for import in module.imports() {
        let refuse = |why| Err(RoleError::Import { module: import.module().into(), name: import.name().into(), why });
        match (import.module(), import.name(), import.ty()) {
            ("env", "memory", ExternType::Memory(memory)) => {
                let pages = ddr_bytes / PAGE_BYTES;
                if memory.minimum() > pages || memory.maximum().is_some_and(|most| most < pages) {
                    return Err(RoleError::Memory(format!(
                        "the role is for {} to {} pages of 64 KiB, the card has {pages}",
                        memory.minimum(),
                        memory.maximum().unwrap_or(1 << 16),
                    )));
                }
            }
            ("rackloom", "charge", ExternType::Func(func)) => {
                let ok = func.params().len() == 1
                    && func.params().all(|p| matches!(p, ValType::I64))
                    && func.results().len() == 0;
                if !ok {
                    return refuse("charge takes one i64 and returns nothing");
                }
            }
            ("env", "memory", _) => return refuse("it is a memory"),
            ("rackloom", "charge", _) => return refuse("it is a function"),
            _ => return refuse("there are only env.memory and rackloom.charge"),
        }
    }
    Ok(())
}

fn check_kernel(module: &Module, kernel: &Kernel) -> Result<(), RoleError> {
    let ok = match module.get_export(&kernel.name) {
        Some(ExternType::Func(func)) => {
            func.params().len() == kernel.args.len()
                && func.params().all(|p| matches!(p, ValType::I64))
                && func.results().len() == 1
                && func.results().all(|r| matches!(r, ValType::I64))
        }
        _ => false,
    };
    if ok { Ok(()) } else { Err(RoleError::Kernel { kernel: kernel.name.clone(), args: kernel.args.len() }) }
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

pub(super) fn engine_error(error: wasmtime::Error) -> RoleError {
    RoleError::Engine(format!("{error:#}"))
}

/// Stack of a running kernel for calls and spilled registers; what C calls the stack is in DDR.
const STACK_BYTES: usize = 512 << 10;
