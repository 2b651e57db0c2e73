//! Contexts.

use std::sync::{Arc, Mutex};

use opencl_sys::{CL_INVALID_CONTEXT, cl_context_properties, cl_int};
use rackloom_sync::lock;

use crate::callback::{self, Call};
use crate::handle::{Live, ObjectKind, Ref};
use crate::objects::device::Device;
use crate::process::PerProcess;
use crate::session::Session;

/// Most devices of a context.
pub const DEVICES_MAX: usize = 64;

/// A context.
pub struct Context {
    pub devices: Vec<Ref<Device>>,
    /// As the program gave them, with the terminating zero; empty if it gave none.
    pub properties: Vec<cl_context_properties>,
    /// The function that the program wants errors reported to.
    pub notify: Option<Notify>,
    pub destructors: Mutex<Vec<Call>>,
    /// Calls that end user events which the program released before it had set them.
    pub orphans: Mutex<Vec<Call>>,
}

/// A function that takes the text of an error.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

impl ObjectKind for Context {
    const INVALID: cl_int = CL_INVALID_CONTEXT;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Context>> = PerProcess::new();
        LIVE.get()
    }

    fn released(this: &Ref<Self>) {
        this.end_orphans();
    }
}

impl Context {
    /// Ends user events that nobody can set any more, and with them what waits for them. The specification lets that
    /// wait forever. So does the library while the program has the context, for a program may set an event that it has
    /// released.
    pub fn end_orphans(&self) {
        let orphans = std::mem::take(&mut *lock(&self.orphans));
        orphans.into_iter().for_each(|end| end());
    }

    /// The index of a device in it.
    pub fn index(&self, device: &Ref<Device>) -> Option<usize> {
        self.devices.iter().position(|d| d.handle() == device.handle())
    }

    /// Its device, if it has only one.
    pub fn single(&self) -> Option<&Ref<Device>> {
        if let [only] = &self.devices[..] { Some(only) } else { None }
    }
}

/// Tells the program that the connection of a session is lost, by each context with a device of it.
pub fn report_loss(session: &Session, text: &str) {
    for context in Context::live().all() {
        let Some(notify) = context.notify.clone() else { continue };
        if context.devices.iter().any(|d| std::ptr::eq(&*d.board().session, session)) {
            let text = text.to_owned();
            let call: Call = Box::new(move || {
                // Whoever releases a context may free what its function works with.
                if context.references() > 0 {
                    notify(&text);
                }
            });
            callback::call([call]);
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The last one set is called first.
        callback::call(lock(&self.destructors).drain(..).rev());
    }
}
