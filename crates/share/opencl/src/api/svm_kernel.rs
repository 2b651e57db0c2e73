//! Shared virtual memory as kernels use it: pointers as arguments, and within other memory.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::*;

use super::status;
use crate::error::{Error, Result, ensure, fail};
use crate::handle::get;
use crate::info::list;
use crate::objects::kernel::{Kernel, Value};
use crate::objects::svm::find;

/// A kernel of a device that has shared virtual memory.
fn kernel_with_svm(kernel: cl_kernel) -> Result<crate::handle::Ref<Kernel>> {
    let kernel = get::<Kernel>(kernel)?;
    ensure(kernel.context.devices.iter().any(|device| device.svm() != 0), CL_INVALID_OPERATION)?;
    Ok(kernel)
}

pub unsafe extern "C" fn clSetKernelArgSVMPointer(kernel: cl_kernel, index: cl_uint, value: *const c_void) -> cl_int {
    status(|| {
        let kernel = kernel_with_svm(kernel)?;
        ensure(index < kernel.info.argument_count, CL_INVALID_ARG_INDEX)?;
        let known = kernel.info.arguments.as_ref().and_then(|a| a.get(index as usize));
        let takes = known.is_none_or(|argument| {
            matches!(argument.address, CL_KERNEL_ARG_ADDRESS_GLOBAL | CL_KERNEL_ARG_ADDRESS_CONSTANT)
                && argument.access == CL_KERNEL_ARG_ACCESS_NONE
        });
        ensure(takes, CL_INVALID_ARG_VALUE)?;
        if value.is_null() {
            return kernel.set(index as usize, Value::Nothing);
        }
        let (memory, offset) = find(&kernel.context, value, 1).ok_or(Error(CL_INVALID_ARG_VALUE))?;
        kernel.set(index as usize, Value::Svm(Arc::downgrade(&memory), offset))
    })
}

pub unsafe extern "C" fn clSetKernelExecInfo(
    kernel: cl_kernel,
    name: cl_kernel_exec_info,
    size: usize,
    value: *const c_void,
) -> cl_int {
    status(|| {
        let kernel = kernel_with_svm(kernel)?;
        if name == CL_KERNEL_EXEC_INFO_SVM_PTRS && size == 0 && value.is_null() {
            kernel.set_reach(&[]);
            return Ok(());
        }
        ensure(!value.is_null(), CL_INVALID_VALUE)?;
        match name {
            CL_KERNEL_EXEC_INFO_SVM_PTRS => {
                let one = size_of::<*const c_void>();
                ensure(size > 0 && size.is_multiple_of(one), CL_INVALID_VALUE)?;
                // SAFETY: the program's, as the specification asks.
                let pointers = unsafe { list(value.cast::<*const c_void>(), size / one) };
                let memories = pointers.into_iter().map(|at| find(&kernel.context, at, 1).map(|(memory, _)| memory));
                kernel.set_reach(&memories.collect::<Option<Vec<_>>>().ok_or(Error(CL_INVALID_VALUE))?);
                Ok(())
            }
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
                ensure(size == size_of::<cl_bool>(), CL_INVALID_VALUE)?;
                // SAFETY: as above.
                let wanted = unsafe { value.cast::<cl_bool>().read_unaligned() } != CL_FALSE;
                ensure(!wanted, CL_INVALID_OPERATION)
            }
            _ => fail(CL_INVALID_VALUE),
        }
    })
}
