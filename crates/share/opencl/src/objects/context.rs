//! Contexts.

use std::sync::{Arc, Mutex, Weak};

use opencl_sys::{CL_INVALID_CONTEXT, CL_INVALID_EVENT, cl_context_properties, cl_int};

use crate::callback::Call;
use crate::error::Error;
use crate::globals::{Globals, globals};
use crate::handle::{Live, Object, ObjectKind, Ref, lock};
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::session::Session;

/// A context.
pub struct Context {
    pub devices: Vec<Ref<Device>>,
    /// As the program gave them, with the terminating zero; empty if it gave none.
    pub properties: Vec<cl_context_properties>,
    /// What the program wants to be told errors by.
    pub notify: Option<Notify>,
    pub destructors: Mutex<Vec<Call>>,
    /// User events that the program has released before it has set them.
    pub orphans: Mutex<Vec<Weak<Object<Event>>>>,
}

/// A function that takes the text of an error.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

impl ObjectKind for Context {
    const INVALID: cl_int = CL_INVALID_CONTEXT;

    fn live(globals: &Globals) -> &Live<Self> {
        &globals.contexts
    }

    fn released(this: &Ref<Self>) {
        this.end_orphans();
    }
}

impl Context {
    /// Tells the program that the connection to one of its devices is lost.
    pub fn lost(this: &Ref<Self>, session: &Session, text: &str) {
        let Some(notify) = this.notify.clone() else { return };
        if this.devices.iter().any(|d| std::ptr::eq(&*d.board().session, session)) {
            let (context, text) = (Arc::clone(this), text.to_owned());
            let call: Call = Box::new(move || {
                // Whoever releases a context may free what its function works with.
                if context.references() > 0 {
                    notify(&text);
                }
            });
            globals().callbacks.push([call]);
        }
    }

    /// Ends user events that nobody can set any more, and with them what waits for them. The specification lets it wait
    /// for ever; so it does as long as the program has the context, lest one that sets an event which it has released
    /// be stopped.
    pub fn end_orphans(&self) {
        let orphans = std::mem::take(&mut *lock(&self.orphans));
        let unset = orphans.iter().filter_map(Weak::upgrade).filter(|event| event.references() == 0);
        unset.for_each(|event| event.fail(Error(CL_INVALID_EVENT)));
    }

    /// The place of a device in it.
    pub fn index(&self, device: &Ref<Device>) -> Option<usize> {
        self.devices.iter().position(|d| d.handle() == device.handle())
    }

    /// Its device, if it has only one.
    pub fn single(&self) -> Option<&Ref<Device>> {
        if let [only] = &self.devices[..] { Some(only) } else { None }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The last that was set is called first.
        globals().callbacks.push(lock(&self.destructors).drain(..).rev());
    }
}
