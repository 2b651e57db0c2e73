//! Devices.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::status;
use crate::api::managers::Managers;
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Ref, get};
use crate::info::{Out, put};
use crate::objects::device::Device;
use crate::objects::platform::Platform;
use rackloom_opencl_wire::now_ns;

/// Names that type checks of `clGetDeviceIDs` know.
const TYPES: u64 = CL_DEVICE_TYPE_DEFAULT
    | CL_DEVICE_TYPE_CPU
    | CL_DEVICE_TYPE_GPU
    | CL_DEVICE_TYPE_ACCELERATOR
    | CL_DEVICE_TYPE_CUSTOM;

/// Devices that are of these types.
pub fn devices_of(types: cl_device_type) -> Result<Vec<Ref<Device>>> {
    ensure(types == CL_DEVICE_TYPE_ALL || types != 0 && types & !TYPES == 0, CL_INVALID_DEVICE_TYPE)?;
    let all = Managers::of_this_process().devices(Platform::the()?.table());
    let is_meant = |(at, device): &(usize, Ref<Device>)| {
        let default = types != CL_DEVICE_TYPE_ALL && types & CL_DEVICE_TYPE_DEFAULT != 0 && *at == 0;
        default || device.is_of(types)
    };
    let found: Vec<_> = all.into_iter().enumerate().filter(is_meant).map(|(_, device)| device).collect();
    if found.is_empty() { fail(CL_DEVICE_NOT_FOUND) } else { Ok(found) }
}

pub unsafe extern "C" fn clGetDeviceIDs(
    platform: cl_platform_id,
    device_type: cl_device_type,
    num_entries: cl_uint,
    devices: *mut cl_device_id,
    num_devices: *mut cl_uint,
) -> cl_int {
    status(|| {
        Platform::check(platform)?;
        ensure(devices.is_null() == (num_entries == 0), CL_INVALID_VALUE)?;
        ensure(!devices.is_null() || !num_devices.is_null(), CL_INVALID_VALUE)?;
        let found = devices_of(device_type)?;
        for (at, device) in found.iter().take(num_entries as usize).enumerate() {
            // SAFETY: the program's array has `num_entries` places.
            unsafe { put(devices.add(at), device.handle()) };
        }
        // SAFETY: the program's, or null.
        unsafe { put(num_devices, found.len() as cl_uint) };
        Ok(())
    })
}

pub unsafe extern "C" fn clGetDeviceInfo(
    device: cl_device_id,
    name: cl_device_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let device = get::<Device>(device)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        if name == CL_DEVICE_PLATFORM {
            return out.pointer(Platform::the()?.handle());
        }
        device.info(name, out)
    })
}

/// Devices are not counted: those that are no parts of others live as long as the platform.
pub unsafe extern "C" fn clRetainDevice(device: cl_device_id) -> cl_int {
    status(|| get::<Device>(device).map(|_| ()))
}

pub unsafe extern "C" fn clReleaseDevice(device: cl_device_id) -> cl_int {
    status(|| get::<Device>(device).map(|_| ()))
}

pub unsafe extern "C" fn clCreateSubDevices(
    device: cl_device_id,
    properties: *const cl_device_partition_property,
    _num_devices: cl_uint,
    _out_devices: *mut cl_device_id,
    _num_devices_ret: *mut cl_uint,
) -> cl_int {
    status(|| {
        get::<Device>(device)?;
        ensure(!properties.is_null(), CL_INVALID_VALUE)?;
        // No way of partition is supported.
        fail(CL_INVALID_VALUE)
    })
}

pub unsafe extern "C" fn clGetDeviceAndHostTimer(
    device: cl_device_id,
    device_timestamp: *mut cl_ulong,
    host_timestamp: *mut cl_ulong,
) -> cl_int {
    status(|| {
        let device = get::<Device>(device)?;
        ensure(!device_timestamp.is_null() && !host_timestamp.is_null(), CL_INVALID_VALUE)?;
        device.board().session.check()?;
        // Profiling counts in the clock of this process.
        let time = now_ns();
        // SAFETY: the program's.
        unsafe {
            put(device_timestamp, time);
            put(host_timestamp, time);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn clGetHostTimer(device: cl_device_id, host_timestamp: *mut cl_ulong) -> cl_int {
    status(|| {
        get::<Device>(device)?;
        ensure(!host_timestamp.is_null(), CL_INVALID_VALUE)?;
        // SAFETY: the program's.
        unsafe { put(host_timestamp, now_ns()) };
        Ok(())
    })
}

pub unsafe extern "C" fn clSetDefaultDeviceCommandQueue(
    context: cl_context,
    device: cl_device_id,
    _queue: cl_command_queue,
) -> cl_int {
    status(|| {
        let context = get::<crate::objects::context::Context>(context)?;
        let device = get::<Device>(device)?;
        context.index(&device).ok_or(Error(CL_INVALID_DEVICE))?;
        // No device has queues of its own.
        fail(CL_INVALID_OPERATION)
    })
}
