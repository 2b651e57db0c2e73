//! Arguments of a kernel: their description, and the check of values before a runtime sees them.
//!
//! A runtime takes an argument as bytes. For a buffer these are a pointer of its own, which few runtimes check: bytes
//! chosen by a client must never get there.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use opencl_sys::{
    CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER,
    CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ADDRESS_CONSTANT,
    CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
    CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_ARG_TYPE_QUALIFIER,
    CL_KERNEL_ATTRIBUTES, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_NUM_ARGS,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_WORK_GROUP_SIZE, cl_device_id,
    cl_int, cl_mem, cl_sampler, cl_uint,
};
use rackloom_opencl_wire::{ArgumentInfo, KernelInfo, WorkGroup};
use rackloom_sync::lock;

use super::handles::Kernel;
use super::objects::{Held, Kind, Kinds, NativeKernel, NativeSpace};
use super::query;
use super::runtime::{Table, call};
use crate::board::Value;
use crate::code::Code;

impl Kinds {
    /// The kinds that the runtime reports or, where it has no information (linked programs and binaries), accepts.
    /// `again` makes another kernel of the function for these trials.
    pub(super) fn of(
        table: Table,
        kernel: &Kernel,
        again: impl FnOnce() -> Result<Kernel, Code>,
    ) -> Result<Self, Code> {
        let count = count(table, kernel)?;
        let told: Option<_> = (0..count).map(|index| Some(kind(&info(table, kernel, index).ok()?))).collect();
        Ok(Self(match told {
            Some(kinds) => kinds,
            None => {
                let tried = again()?;
                (0..count).map(|index| try_kind(table, &tried, index)).collect()
            }
        }))
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    fn is_buffer(&self, index: u32) -> bool {
        self.0.get(index as usize) == Some(&Kind::Buffer)
    }

    /// Checks that the value may be passed to the runtime.
    fn allow(&self, index: u32, value: &Value<NativeSpace>) -> Result<(), Code> {
        let kind = self.0.get(index as usize).ok_or(Code(CL_INVALID_ARG_INDEX))?;
        match (kind, value) {
            (_, Value::Missing(_)) => Ok(()), // It has an error of its own.
            (Kind::Buffer, Value::Buffer(Some(buffer))) if buffer.image.is_none() => Ok(()),
            (Kind::Image, Value::Buffer(Some(image))) if image.image.is_some() => Ok(()),
            (Kind::Sampler, Value::Sampler(_)) | (Kind::Local, Value::Local(_)) | (Kind::Plain, Value::Plain(_)) => {
                Ok(())
            }
            (Kind::Buffer, Value::Svm(memory, _)) if memory.svm.is_some() => Ok(()),
            (Kind::Buffer, value) if is_null(value) => Ok(()),
            _ => Err(Code(CL_INVALID_ARG_VALUE)),
        }
    }
}

/// Whether it may stand for a null buffer: a library without information about the arguments cannot tell that from
/// local memory of a handle's size, nor a null handle from the same bytes of a value.
fn is_null(value: &Value<NativeSpace>) -> bool {
    match value {
        Value::Plain(bytes) => **bytes == [0; size_of::<cl_mem>()],
        Value::Local(bytes) => *bytes == size_of::<cl_mem>() as u64,
        Value::Buffer(buffer) => buffer.is_none(),
        Value::Svm(..) | Value::Sampler(_) | Value::Missing(_) => false,
    }
}

/// Sets arguments. One that is wrong spoils no other, for the library sends each once; but until it is set anew the
/// kernel cannot be launched.
///
/// # Errors
/// The first of the wrong ones has this code.
pub(super) fn set_all(table: Table, kernel: &NativeKernel, given: &[(u32, Value<NativeSpace>)]) -> Result<(), Code> {
    let mut wrong = lock(&kernel.wrong);
    for (index, value) in given {
        match set(table, kernel, *index, value) {
            Ok(()) => drop(wrong.remove(index)),
            // No argument of this number will ever be set.
            Err(code @ Code(CL_INVALID_ARG_INDEX)) => return Err(code),
            Err(code) => drop(wrong.insert(*index, code)),
        }
    }
    wrong.values().next().map_or(Ok(()), |code| Err(*code))
}

/// Sets an argument, and keeps the object that it refers to.
fn set(table: Table, kernel: &NativeKernel, index: u32, value: &Value<NativeSpace>) -> Result<(), Code> {
    kernel.kinds.allow(index, value)?;
    let raw = kernel.kernel.raw();
    let mut held = None;
    match value {
        _ if kernel.kinds.is_buffer(index) && is_null(value) => {
            call!(table, clSetKernelArg(raw, index, size_of::<cl_mem>(), null()))?;
        }
        Value::Plain(bytes) => {
            call!(table, clSetKernelArg(raw, index, bytes.len(), bytes.as_ptr().cast()))?;
        }
        Value::Buffer(buffer) => {
            let handle = buffer.as_ref().map(|b| b.memory.raw());
            let at = handle.as_ref().map_or(null(), |handle| (&raw const *handle).cast::<c_void>());
            call!(table, clSetKernelArg(raw, index, size_of::<cl_mem>(), at))?;
            held = buffer.clone().map(Held::Buffer);
        }
        Value::Svm(memory, offset) => {
            let svm = memory.svm.as_ref().ok_or(Code(CL_INVALID_ARG_VALUE))?;
            call!(table, clSetKernelArgSVMPointer(raw, index, svm.at(*offset)))?;
            held = Some(Held::Buffer(Arc::clone(memory)));
        }
        Value::Sampler(sampler) => {
            let handle = sampler.sampler.raw();
            call!(table, clSetKernelArg(raw, index, size_of::<cl_sampler>(), (&raw const handle).cast()))?;
            held = Some(Held::Sampler { _sampler: Arc::clone(sampler) });
        }
        Value::Missing(code) => return Err(*code),
        Value::Local(bytes) => {
            call!(table, clSetKernelArg(raw, index, *bytes as usize, null()))?;
        }
    }
    let mut place = lock(&kernel.held);
    let before = std::mem::replace(&mut place[index as usize], held);
    drop(place);
    drop::<Option<Held>>(before);
    Ok(())
}

/// The full description of a kernel.
pub(super) fn describe(table: Table, device: cl_device_id, kernel: &Kernel) -> Result<KernelInfo, Code> {
    let argument_count = count(table, kernel)?;
    let ask = |parameter, size, value, size_ret| ask_kernel(table, kernel, parameter, size, value, size_ret);
    let group = |parameter: cl_uint, size, value: *mut c_void, size_ret| match table.clGetKernelWorkGroupInfo {
        // SAFETY: kernel and device live, and the query passes room for `size` bytes.
        Some(get) => unsafe { get(kernel.raw(), device, parameter, size, value, size_ret) },
        None => opencl_sys::CL_INVALID_OPERATION,
    };
    let number = |parameter| query::number(&group, parameter).unwrap_or_default();
    Ok(KernelInfo {
        attributes: query::text(&ask, CL_KERNEL_ATTRIBUTES).unwrap_or_default(),
        argument_count,
        arguments: (0..argument_count).map(|index| info(table, kernel, index).ok()).collect(),
        work_group: WorkGroup {
            size: number(CL_KERNEL_WORK_GROUP_SIZE),
            compiled: query::sizes(&group, CL_KERNEL_COMPILE_WORK_GROUP_SIZE).unwrap_or_default(),
            local_memory: number(CL_KERNEL_LOCAL_MEM_SIZE),
            preferred_multiple: number(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE),
            private_memory: number(CL_KERNEL_PRIVATE_MEM_SIZE),
        },
    })
}

fn count(table: Table, kernel: &Kernel) -> Result<u32, Code> {
    let ask = |parameter, size, value, size_ret| ask_kernel(table, kernel, parameter, size, value, size_ret);
    Ok(query::number(&ask, CL_KERNEL_NUM_ARGS)? as u32)
}

fn info(table: Table, kernel: &Kernel, index: u32) -> Result<ArgumentInfo, Code> {
    let ask = |parameter: cl_uint, size, value: *mut c_void, size_ret| match table.clGetKernelArgInfo {
        // SAFETY: the kernel lives, and the query passes room for `size` bytes.
        Some(get) => unsafe { get(kernel.raw(), index, parameter, size, value, size_ret) },
        None => opencl_sys::CL_INVALID_OPERATION,
    };
    Ok(ArgumentInfo {
        address: query::number(&ask, CL_KERNEL_ARG_ADDRESS_QUALIFIER)? as u32,
        access: query::number(&ask, CL_KERNEL_ARG_ACCESS_QUALIFIER)? as u32,
        qualifiers: query::number(&ask, CL_KERNEL_ARG_TYPE_QUALIFIER)?,
        type_name: query::text(&ask, CL_KERNEL_ARG_TYPE_NAME)?,
        name: query::text(&ask, CL_KERNEL_ARG_NAME)?,
    })
}

fn kind(info: &ArgumentInfo) -> Kind {
    let has_access = info.access != CL_KERNEL_ARG_ACCESS_NONE;
    match info.address {
        _ if info.type_name == "sampler_t" => Kind::Sampler,
        _ if has_access && info.type_name.starts_with("image") => Kind::Image,
        _ if has_access => Kind::Other,
        CL_KERNEL_ARG_ADDRESS_GLOBAL | CL_KERNEL_ARG_ADDRESS_CONSTANT => Kind::Buffer,
        CL_KERNEL_ARG_ADDRESS_LOCAL => Kind::Local,
        CL_KERNEL_ARG_ADDRESS_PRIVATE => Kind::Plain,
        _ => Kind::Other,
    }
}

/// Finds the kind of an argument by calls of `clSetKernelArg` without an object: a null pointer is valid for a buffer
/// and for local memory, a null handle for a buffer only. An argument that refuses both, and not because an object is
/// missing, takes a value.
fn try_kind(table: Table, kernel: &Kernel, index: u32) -> Kind {
    let (raw, size) = (kernel.raw(), size_of::<cl_mem>());
    match call!(table, clSetKernelArg(raw, index, size, null())) {
        Ok(()) => {
            let nothing: cl_mem = null_mut();
            let accepted = call!(table, clSetKernelArg(raw, index, size, (&raw const nothing).cast()));
            if accepted.is_ok() { Kind::Buffer } else { Kind::Local }
        }
        Err(Code(CL_INVALID_ARG_VALUE | CL_INVALID_ARG_SIZE)) => {
            let nothing: cl_mem = null_mut();
            // Those that check handles say what they expected.
            match call!(table, clSetKernelArg(raw, index, size, (&raw const nothing).cast())) {
                Err(Code(CL_INVALID_MEM_OBJECT)) => Kind::Image,
                Err(Code(CL_INVALID_SAMPLER)) => Kind::Sampler,
                _ => Kind::Plain,
            }
        }
        Err(_) => Kind::Other,
    }
}

fn ask_kernel(
    table: Table,
    kernel: &Kernel,
    parameter: cl_uint,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    match table.clGetKernelInfo {
        // SAFETY: the kernel lives, and the query passes room for `size` bytes.
        Some(get) => unsafe { get(kernel.raw(), parameter, size, value, size_ret) },
        None => opencl_sys::CL_INVALID_OPERATION,
    }
}
