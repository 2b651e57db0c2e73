//! Contexts.

use std::sync::Mutex;

use opencl_sys::{CL_INVALID_CONTEXT, cl_context_properties, cl_int};

use crate::callback::Call;
use crate::globals::{Globals, globals};
use crate::handle::{Kind, Live, Ref, lock};
use crate::objects::device::Device;

/// A context.
pub struct Context {
    pub devices: Vec<Ref<Device>>,
    /// As the program gave them, with the terminating zero; empty if it gave none.
    pub properties: Vec<cl_context_properties>,
    pub destructors: Mutex<Vec<Call>>,
}

impl Kind for Context {
    const INVALID: cl_int = CL_INVALID_CONTEXT;

    fn live(globals: &Globals) -> &Live<Self> {
        &globals.contexts
    }
}

impl Context {
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
