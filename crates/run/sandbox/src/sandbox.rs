//! Checks an image's part and makes a role of it.

use core::any::Any;
use core::ops::Range;
use std::sync::Arc;

use rackloom_ddr::Ddr;
use rackloom_image::{Kernel, Manifest, TARGET_MODEL};
use rackloom_role::{Memory, MemoryError, Prepared, ROLE_PRIVATE, Role, RoleError, Sandbox};
use wasmtime::{ExternType, Module, Val, ValType};

use crate::engine::{Shared, WasmConfig};
use crate::imports;
use crate::inspect::MODULE_BYTES_MAX;
use crate::run::{Live, WasmRole};
use crate::strip::strip;

/// Runs the `model` part of images in wasmtime. Clones share the compiled modules.
#[derive(Clone, Debug)]
pub struct WasmSandbox(Arc<Shared>);

impl WasmSandbox {
    /// A sandbox with these bounds.
    ///
    /// # Errors
    /// [`RoleError::Engine`] when wasmtime does not support this machine.
    ///
    /// # Panics
    /// If a bound is 0.
    pub fn new(config: WasmConfig) -> Result<Self, RoleError> {
        assert!(config.slice_fuel > 0);
        assert!(config.bound > 0);
        assert!(config.modules > 0);
        Ok(Self(Arc::new(Shared::new(config)?)))
    }

    /// Modules that are compiled and kept.
    pub fn modules_kept(&self) -> usize {
        self.0.modules_kept()
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

    fn memory(&self, bytes: u64) -> Result<Arc<dyn Memory>, MemoryError> {
        Ok(Arc::new(Ddr::new(bytes)?))
    }

    fn prepare(&self, manifest: &Manifest, part: &[u8], memory_bytes: u64) -> Result<Box<dyn Prepared>, RoleError> {
        if memory_bytes < ROLE_PRIVATE {
            return Err(RoleError::Memory(format!(
                "a card of {memory_bytes} bytes has less than the {ROLE_PRIVATE} that belong to the role"
            )));
        }
        let module = self.0.module(part)?;
        imports::check(&module, memory_bytes)?;
        manifest.kernels.iter().try_for_each(|kernel| check_kernel(&module, kernel))?;
        let prepared = WasmPrepared { shared: self.0.clone(), module, kernels: manifest.kernels.clone().into() };
        prepared.rehearse(memory_bytes)?;
        Ok(Box::new(prepared))
    }

    fn prepare_with(
        &self,
        manifest: &Manifest,
        length: usize,
        read: &dyn Fn(Range<usize>) -> Vec<u8>,
        memory_bytes: u64,
    ) -> Result<Box<dyn Prepared>, RoleError> {
        self.prepare(manifest, &strip(length, MODULE_BYTES_MAX as usize, read)?, memory_bytes)
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
    fn rehearse(&self, memory_bytes: u64) -> Result<(), RoleError> {
        let scratch = Ddr::new(memory_bytes).map_err(|e| RoleError::Engine(e.to_string()))?;
        let mut live = Live::new(&self.shared, &self.module, &self.kernels, &scratch, Default::default())
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
    fn activate(self: Box<Self>, memory: &Arc<dyn Memory>) -> Result<Box<dyn Role>, RoleError> {
        let memory: &dyn Any = &**memory;
        let ddr = memory.downcast_ref::<Ddr>().expect("this sandbox made the memory");
        Ok(Box::new(WasmRole::new(self.shared, self.module, self.kernels, ddr.clone())?))
    }
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
