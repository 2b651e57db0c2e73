//! What there is once in a process, and what becomes of it in a child of a fork.
//!
//! A child has none of our threads, and locks may be held for good. So it begins anew with nothing: the handles of its
//! parent name nothing in it, but for the platform's, and asking that for devices connects again.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Once, OnceLock};

use crate::callback::Callbacks;
use crate::handle::Live;
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::objects::kernel::Kernel;
use crate::objects::memory::Buffer;
use crate::objects::platform::{Managers, Platform};
use crate::objects::program::Program;
use crate::objects::queue::Queue;
use crate::objects::sampler::Sampler;

/// The lists of objects, the managers, and the thread that calls the program.
#[derive(Default)]
pub struct Globals {
    pub platforms: Live<Platform>,
    pub devices: Live<Device>,
    pub contexts: Live<Context>,
    pub queues: Live<Queue>,
    pub buffers: Live<Buffer>,
    pub programs: Live<Program>,
    pub kernels: Live<Kernel>,
    pub events: Live<Event>,
    pub samplers: Live<Sampler>,
    pub callbacks: Callbacks,
    loader_data: AtomicPtr<c_void>,
    managers: OnceLock<Managers>,
}

static CURRENT: AtomicPtr<Globals> = AtomicPtr::new(std::ptr::null_mut());
static FORKS: Once = Once::new();

/// Those of this process.
pub fn globals() -> &'static Globals {
    let mut current = CURRENT.load(Ordering::Acquire);
    if current.is_null() {
        let fresh = Box::into_raw(Box::default());
        let swapped = CURRENT.compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire);
        current = swapped.map_or_else(
            |other| {
                // SAFETY: another thread was faster; nobody has seen ours.
                drop(unsafe { Box::from_raw(fresh) });
                other
            },
            |_| fresh,
        );
        FORKS.call_once(|| {
            // SAFETY: the handler takes no lock and allocates nothing.
            unsafe { libc::pthread_atfork(None, None, Some(forget_all)) };
        });
    }
    // SAFETY: what was published is never freed.
    unsafe { &*current }
}

/// In the child: leaves all that was, and lets the next call begin anew.
unsafe extern "C" fn forget_all() {
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
}

impl Globals {
    /// The managers, and the devices behind them.
    pub fn managers(&self) -> &Managers {
        self.managers.get_or_init(Managers::default)
    }

    /// The loader's word for new objects.
    pub fn loader_data(&self) -> *mut c_void {
        self.loader_data.load(Ordering::Acquire)
    }

    /// Sets the loader's word.
    pub fn set_loader_data(&self, data: *mut c_void) {
        self.loader_data.store(data, Ordering::Release);
    }
}
