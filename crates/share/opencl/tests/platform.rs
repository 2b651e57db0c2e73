//! Platforms and devices, their information, and invalid handles.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use common::{Bench, info, shared};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

fn text(bytes: Vec<u8>) -> String {
    CStr::from_bytes_with_nul(&bytes).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn the_platform_and_its_devices_say_what_they_are() {
    let cl = shared();
    let of_platform = |name| info(|s, v, r| cl!(cl, clGetPlatformInfo(cl.platform, name, s, v, r))).unwrap();
    assert_eq!(text(of_platform(CL_PLATFORM_NAME)), "Rackloom");
    assert!(text(of_platform(CL_PLATFORM_VERSION)).starts_with("OpenCL 3.0 "));
    assert!(text(of_platform(CL_PLATFORM_EXTENSIONS)).contains("cl_khr_icd"));
    let devices = cl.devices();
    assert_eq!(devices.len(), 3);
    for device in devices {
        // Every parameter up to OpenCL 3.0, but for two numbers that are none.
        for name in (0x1000..0x106a).chain(0x106f..0x1073).filter(|n| ![0x1033, 0x105f].contains(n)) {
            let value = info(|s, v, r| cl!(cl, clGetDeviceInfo(device, name, s, v, r)));
            assert!(value.is_ok(), "{name:#x}: {value:?}");
        }
        let of_device = |name| info(|s, v, r| cl!(cl, clGetDeviceInfo(device, name, s, v, r))).unwrap();
        assert_eq!(of_device(CL_DEVICE_PLATFORM), cl.platform.addr().to_ne_bytes());
        assert_eq!(of_device(CL_DEVICE_AVAILABLE), 1u32.to_ne_bytes());
        assert!(text(of_device(CL_DEVICE_VERSION)).starts_with("OpenCL 3.0 "));
        assert_eq!(cl!(cl, clGetDeviceInfo(device, 0x1fff, 0, null_mut(), null_mut())), CL_INVALID_VALUE);
        ok!(cl, clRetainDevice(device));
        ok!(cl, clReleaseDevice(device));
    }
}

#[test]
fn asking_for_devices_fails_as_documented() {
    let cl = shared();
    let mut device = null_mut();
    let to = &raw mut device;
    let get = |platform, types, count, to| cl!(cl, clGetDeviceIDs(platform, types, count, to, null_mut()));
    assert_eq!(get(null_mut(), CL_DEVICE_TYPE_ALL, 1, to), CL_INVALID_PLATFORM);
    assert_eq!(get(cl.platform, 0, 1, to), CL_INVALID_DEVICE_TYPE);
    assert_eq!(get(cl.platform, 1 << 20, 1, to), CL_INVALID_DEVICE_TYPE);
    assert_eq!(get(cl.platform, CL_DEVICE_TYPE_ALL, 0, to), CL_INVALID_VALUE);
    assert_eq!(get(cl.platform, CL_DEVICE_TYPE_ALL, 0, null_mut()), CL_INVALID_VALUE);
    assert_eq!(get(cl.platform, CL_DEVICE_TYPE_CUSTOM, 1, to), CL_DEVICE_NOT_FOUND);
    assert_eq!(get(cl.platform, CL_DEVICE_TYPE_DEFAULT, 1, to), 0);
    assert_eq!(device, cl.devices()[0]);
}

#[test]
fn contexts_and_queues_are_checked_counted_and_described() {
    let cl = shared();
    let devices = cl.devices();
    let make = |properties: &[isize], count, devices: *const cl_device_id, data| {
        let list = if properties.is_empty() { null() } else { properties.as_ptr() };
        let mut code = 1;
        let made = cl!(cl, clCreateContext(list, count, devices, None, data, &raw mut code));
        assert_eq!(made.is_null(), code != 0);
        (code, made)
    };
    let named = [CL_CONTEXT_PLATFORM, cl.platform as isize, 0];
    assert_eq!(make(&[CL_CONTEXT_PLATFORM, 8, 0], 1, devices.as_ptr(), null_mut()).0, CL_INVALID_PLATFORM);
    assert_eq!(make(&[77, 8, 0], 1, devices.as_ptr(), null_mut()).0, CL_INVALID_PROPERTY);
    assert_eq!(make(&named, 0, devices.as_ptr(), null_mut()).0, CL_INVALID_VALUE);
    assert_eq!(make(&named, 1, null(), null_mut()).0, CL_INVALID_VALUE);
    assert_eq!(make(&named, 1, devices.as_ptr(), cl.platform).0, CL_INVALID_VALUE, "data for no function");
    assert_eq!(make(&named, 1, [cl.platform].as_ptr(), null_mut()).0, CL_INVALID_DEVICE);
    let (code, context) = make(&named, 2, devices.as_ptr(), null_mut());
    assert_eq!(code, 0);
    let of_context = |name| info(|s, v, r| cl!(cl, clGetContextInfo(context, name, s, v, r))).unwrap();
    assert_eq!(of_context(CL_CONTEXT_NUM_DEVICES), 2u32.to_ne_bytes());
    assert_eq!(of_context(CL_CONTEXT_DEVICES).len(), 16);
    assert_eq!(of_context(CL_CONTEXT_PROPERTIES), named.map(isize::to_ne_bytes).concat());

    let queue_with = |list: &[u64]| {
        let mut code = 1;
        let queue = cl!(cl, clCreateCommandQueueWithProperties(context, devices[1], list.as_ptr(), &raw mut code));
        (code, queue)
    };
    let name = u64::from(CL_QUEUE_PROPERTIES);
    assert_eq!(queue_with(&[name, 1 << 40, 0]).0, CL_INVALID_VALUE);
    assert_eq!(queue_with(&[5, 1, 0]).0, CL_INVALID_VALUE);
    assert_eq!(queue_with(&[name, CL_QUEUE_ON_DEVICE | 1, 0]).0, CL_INVALID_QUEUE_PROPERTIES);
    assert_eq!(refused!(cl, clCreateCommandQueue(context, cl.platform, 0)), CL_INVALID_DEVICE);
    assert_eq!(refused!(cl, clCreateCommandQueue(devices[0], devices[0], 0)), CL_INVALID_CONTEXT);
    let list = [name, CL_QUEUE_PROFILING_ENABLE, 0];
    let (code, queue) = queue_with(&list);
    assert_eq!(code, 0);
    let of_queue = |name| info(|s, v, r| cl!(cl, clGetCommandQueueInfo(queue, name, s, v, r)));
    assert_eq!(of_queue(CL_QUEUE_PROPERTIES_ARRAY).unwrap(), list.map(u64::to_ne_bytes).concat());
    assert_eq!(of_queue(CL_QUEUE_DEVICE).unwrap(), devices[1].addr().to_ne_bytes());
    assert_eq!(of_queue(CL_QUEUE_SIZE), Err(CL_INVALID_COMMAND_QUEUE));

    // The program lets its context go; it lives on in the queue, and can be had again.
    ok!(cl, clRetainContext(context));
    assert_eq!(of_context(CL_CONTEXT_REFERENCE_COUNT), 2u32.to_ne_bytes());
    ok!(cl, clReleaseContext(context));
    ok!(cl, clReleaseContext(context));
    assert_eq!(cl!(cl, clReleaseContext(context)), CL_INVALID_CONTEXT);
    assert_eq!(of_queue(CL_QUEUE_CONTEXT).unwrap(), context.addr().to_ne_bytes());
    ok!(cl, clRetainContext(context));
    ok!(cl, clReleaseCommandQueue(queue));
    assert_eq!(cl!(cl, clFinish(queue)), CL_INVALID_COMMAND_QUEUE);
    ok!(cl, clReleaseContext(context));
    assert_eq!(cl!(cl, clRetainContext(context)), CL_INVALID_CONTEXT);
}

#[test]
fn a_wrong_handle_is_an_error_and_never_followed() {
    let cl = shared();
    let bench = &Bench::each(0)[0];
    let wrong: [*mut c_void; 5] = [null_mut(), 8 as _, usize::MAX as _, bench.context, cl.platform];
    for handle in wrong {
        assert_eq!(cl!(cl, clRetainCommandQueue(handle)), CL_INVALID_COMMAND_QUEUE);
        assert_eq!(cl!(cl, clRetainMemObject(handle)), CL_INVALID_MEM_OBJECT);
        assert_eq!(cl!(cl, clRetainProgram(handle)), CL_INVALID_PROGRAM);
        assert_eq!(cl!(cl, clReleaseKernel(handle)), CL_INVALID_KERNEL);
        assert_eq!(cl!(cl, clReleaseEvent(handle)), CL_INVALID_EVENT);
        assert_eq!(cl!(cl, clReleaseSampler(handle)), CL_INVALID_SAMPLER);
        assert_eq!(cl!(cl, clGetDeviceInfo(handle, CL_DEVICE_TYPE, 0, null_mut(), null_mut())), CL_INVALID_DEVICE);
        let events = [handle];
        assert_eq!(cl!(cl, clWaitForEvents(1, events.as_ptr())), CL_INVALID_EVENT);
        let code = cl!(cl, clEnqueueMarkerWithWaitList(bench.queue(), 1, events.as_ptr(), null_mut()));
        assert_eq!(code, CL_INVALID_EVENT_WAIT_LIST);
    }
    assert_eq!(cl!(cl, clEnqueueMarkerWithWaitList(bench.queue(), 1, null(), null_mut())), CL_INVALID_EVENT_WAIT_LIST);
}

#[test]
fn what_is_not_supported_fails_as_documented() {
    let cl = shared();
    let bench = &Bench::each(0)[0];
    let context = bench.context;
    assert_eq!(refused!(cl, clCreatePipe(context, 0, 4, 4, null())), CL_INVALID_OPERATION);
    assert_eq!(refused!(cl, clCreateProgramWithIL(context, b"il".as_ptr().cast(), 2)), CL_INVALID_OPERATION);
    assert_eq!(cl!(cl, clSetCommandQueueProperty(bench.queue(), 0, 0, null_mut())), CL_INVALID_OPERATION);
    let code = cl!(cl, clCreateSubDevices(bench.devices[0], [0].as_ptr(), 0, null_mut(), null_mut()));
    assert_eq!(code, CL_INVALID_VALUE);
}
