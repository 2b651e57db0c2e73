//! Makes a card's DDR the memory of a module's instance.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use rackloom_ddr::{Ddr, GUARD_BYTES, RESERVED_BYTES};
use rackloom_role::PAGE_BYTES;
use rackloom_sync::lock;
use wasmtime::{AsContextMut, Engine, Instance, LinearMemory, Memory, MemoryCreator, MemoryType, Module};

use crate::inspect::{push_leb, push_section};

/// Gives the engine DDRs where it would allocate memories.
///
/// The engine asks its creator for the memories that modules define, and for no others: so a module that holds nothing
/// but a memory defines and exports it, and the role's module imports it. The request does not say for which card it
/// is, so the DDR is handed over on the side: `turn` lets one caller at a time put its DDR into `next`, from which the
/// request takes it.
#[derive(Debug, Default)]
pub(crate) struct DdrMemories {
    /// The modules that define a memory of so many pages.
    turn: Mutex<BTreeMap<u32, Module>>,
    next: Mutex<Option<Ddr>>,
}

impl DdrMemories {
    /// `ddr` as a memory of `store`.
    pub(crate) fn memory_of(
        &self,
        engine: &Engine,
        mut store: impl AsContextMut,
        ddr: &Ddr,
    ) -> wasmtime::Result<Memory> {
        let pages = u32::try_from(ddr.len() / PAGE_BYTES).expect("at most 65536 pages");
        let mut turn = lock(&self.turn);
        let module = match turn.get(&pages) {
            Some(module) => module.clone(),
            None => {
                let module = Module::from_binary(engine, &memory_module(pages))?;
                turn.insert(pages, module.clone());
                module
            }
        };
        *self.next() = Some(ddr.clone());
        let instance = Instance::new(&mut store, &module, &[]);
        let left = self.next().take();
        let memory = instance?.get_memory(&mut store, "memory").expect("the module exports it");
        assert!(left.is_none(), "the engine made a memory of its own");
        Ok(memory)
    }

    fn next(&self) -> MutexGuard<'_, Option<Ddr>> {
        lock(&self.next)
    }
}

/// A module that defines and exports a memory of exactly so many pages.
fn memory_module(pages: u32) -> Vec<u8> {
    let mut limits = vec![1, 1]; // One memory, which has a maximum.
    push_leb(&mut limits, pages);
    push_leb(&mut limits, pages);
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    push_section(&mut module, 5, &limits);
    push_section(&mut module, 7, b"\x01\x06memory\x02\0");
    module
}

/// What the engine sees; the sandbox keeps the other reference.
pub(crate) struct Creator(pub(crate) Arc<DdrMemories>);

// SAFETY: the memory returned is a DDR: page-aligned, `minimum` bytes accessible, with at least the reservation and
// guard asked for behind it, which is checked here. It may hold data already, where the trait wants zeros: nothing but
// a role that imports it looks at it, and `activate` zeroes what C code takes for zero.
unsafe impl MemoryCreator for Creator {
    fn new_memory(
        &self,
        _type: MemoryType,
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let ddr = self.0.next().take().ok_or("only a card's DDR can be a memory")?;
        let size = usize::try_from(ddr.len()).expect("at most 4 GiB");
        let fits = minimum == size
            && maximum == Some(size)
            && reserved.is_none_or(|bytes| bytes <= RESERVED_BYTES)
            && guard <= GUARD_BYTES;
        if fits { Ok(Box::new(DdrMemory(ddr))) } else { Err("the engine asks for another layout of memory".into()) }
    }
}

struct DdrMemory(Ddr);

// SAFETY: the mapping is page-aligned, never moves, and lives as long as this handle; the guard behind it is never
// accessible. Compiled code runs only while the DDR's lock is held (`Prepared::activate`, `Role::step`).
unsafe impl LinearMemory for DdrMemory {
    fn byte_size(&self) -> usize {
        usize::try_from(self.0.len()).expect("at most 4 GiB")
    }

    fn byte_capacity(&self) -> usize {
        self.byte_size()
    }

    fn grow_to(&mut self, _new_size: usize) -> wasmtime::Result<()> {
        Err(wasmtime::Error::msg("a card's DDR does not grow"))
    }

    fn as_ptr(&self) -> *mut u8 {
        self.0.base().as_ptr()
    }
}
