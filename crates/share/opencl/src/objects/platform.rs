//! The platform: all boards of all managers.
//!
//! A loader asks for the platform once, and a child of a fork goes on with the handle of its parent. So the platform is
//! one object without a state, the same for both; the connections are each process' own.

use std::sync::OnceLock;

use opencl_sys::{CL_INVALID_PLATFORM, cl_int, cl_platform_id};

use crate::error::{Error, Result, ensure};
use crate::handle::{FunctionTable, Live, Object, ObjectKind, Ref};
use crate::process::PerProcess;

/// The one platform.
pub struct Platform;

static THE: OnceLock<Ref<Platform>> = OnceLock::new();

impl ObjectKind for Platform {
    const INVALID: cl_int = CL_INVALID_PLATFORM;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Platform>> = PerProcess::new();
        LIVE.get()
    }
}

impl Platform {
    /// The platform, which is made with this table when a loader first asks for it.
    pub fn with_table(table: &'static FunctionTable) -> &'static Ref<Self> {
        THE.get_or_init(|| Object::new(table, Self))
    }

    /// The platform.
    ///
    /// # Errors
    /// No loader has asked for it yet.
    pub fn the() -> Result<&'static Ref<Self>> {
        THE.get().ok_or(Error(CL_INVALID_PLATFORM))
    }

    /// Whether the handle is the platform's.
    ///
    /// # Errors
    /// It is not.
    pub fn check(handle: cl_platform_id) -> Result<()> {
        ensure(handle == Self::the()?.handle(), CL_INVALID_PLATFORM)
    }
}
