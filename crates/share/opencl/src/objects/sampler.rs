//! Samplers: how kernels read images.

use std::sync::{Arc, Mutex, OnceLock};

use opencl_sys::*;
use rackloom_opencl_wire::{self as wire, Id};
use rackloom_sync::lock;

use crate::error::{Error, Result};
use crate::handle::{Live, ObjectKind, Ref};
use crate::objects::context::Context;
use crate::process::PerProcess;
use crate::session::board::Board;
use crate::session::numbers::ObjectTable;
use crate::session::remote::Remote;

/// A sampler.
pub struct Sampler {
    /// At each device of the context, from its first use there on.
    remotes: Box<[OnceLock<Remote>]>,
    making: Mutex<()>,
    pub context: Ref<Context>,
    pub normalized: bool,
    /// `CL_ADDRESS_...`.
    pub addressing: cl_addressing_mode,
    /// `CL_FILTER_...`.
    pub filter: cl_filter_mode,
    /// As the program gave them, with the terminating zero; empty if it gave none.
    pub properties: Vec<cl_sampler_properties>,
}

impl ObjectKind for Sampler {
    const INVALID: cl_int = CL_INVALID_SAMPLER;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Sampler>> = PerProcess::new();
        LIVE.get()
    }
}

impl Sampler {
    /// A sampler that no manager knows yet.
    pub fn new(
        context: Ref<Context>,
        normalized: bool,
        addressing: cl_addressing_mode,
        filter: cl_filter_mode,
        properties: Vec<cl_sampler_properties>,
    ) -> Self {
        let remotes = context.devices.iter().map(|_| OnceLock::new()).collect();
        Self { remotes, making: Mutex::default(), context, normalized, addressing, filter, properties }
    }

    /// Its number at a board, where it is made at its first use.
    ///
    /// # Errors
    /// The quota is used up; the connection is lost; no device of the context is on the board.
    pub fn on(&self, board: &Arc<Board>) -> Result<Id> {
        let place = self.context.devices.iter().position(|d| Arc::ptr_eq(d.board(), board));
        let slot = place.map(|at| &self.remotes[at]).ok_or(Error(CL_INVALID_CONTEXT))?;
        let _making = lock(&self.making);
        if let Some(remote) = slot.get() {
            return Ok(remote.id);
        }
        let Self { normalized, addressing, filter, .. } = *self;
        let make = |sampler| wire::Command::CreateSampler { sampler, normalized, addressing, filter };
        let remote = Remote::new(board, ObjectTable::Samplers, make, &[])?;
        Ok(slot.get_or_init(|| remote).id)
    }
}
