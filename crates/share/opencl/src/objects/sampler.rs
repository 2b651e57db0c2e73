//! Samplers: there are none, since there are no images.

use opencl_sys::{CL_INVALID_SAMPLER, cl_int};

use crate::handle::{Live, ObjectKind};
use crate::process::PerProcess;

/// No value of this exists; any handle of one is wrong.
pub enum Sampler {}

impl ObjectKind for Sampler {
    const INVALID: cl_int = CL_INVALID_SAMPLER;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Sampler>> = PerProcess::new();
        LIVE.get()
    }
}
