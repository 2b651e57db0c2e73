//! Functions of extensions, which no loader has in its table: programs ask for them by name.

use std::ffi::c_void;

use crate::api::{command_buffer, record};

macro_rules! functions {
    ($($module:ident: $($name:ident)*;)*) => {
        /// The function of a name; null if the name is unknown.
        pub fn find(name: &[u8]) -> *mut c_void {
            match str::from_utf8(name).unwrap_or_default() {
                $($(stringify!($name) => $module::$name as *mut c_void,)*)*
                _ => std::ptr::null_mut(),
            }
        }
    };
}

functions! {
    command_buffer:
        clCreateCommandBufferKHR clFinalizeCommandBufferKHR clRetainCommandBufferKHR clReleaseCommandBufferKHR
        clEnqueueCommandBufferKHR clGetCommandBufferInfoKHR;
    record:
        clCommandBarrierWithWaitListKHR clCommandCopyBufferKHR clCommandCopyBufferRectKHR clCommandCopyBufferToImageKHR
        clCommandCopyImageKHR clCommandCopyImageToBufferKHR clCommandFillBufferKHR clCommandFillImageKHR
        clCommandNDRangeKernelKHR clCommandSVMMemcpyKHR clCommandSVMMemFillKHR;
}
