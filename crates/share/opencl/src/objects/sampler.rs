//! Samplers. No sampler exists, since images are not supported.

use opencl_sys::{CL_INVALID_SAMPLER, cl_int};

use crate::handle::{Live, ObjectKind};
use crate::process::PerProcess;

/// Has no values: every handle of a sampler is invalid.
pub enum Sampler {}

impl ObjectKind for Sampler {
    const INVALID: cl_int = CL_INVALID_SAMPLER;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Sampler>> = PerProcess::new();
        LIVE.get()
    }
}
