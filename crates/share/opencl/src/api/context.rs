//! Contexts.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use opencl_sys::*;
use rackloom_sync::lock;

use super::{object, status};
use crate::api::device::devices_of;
use crate::callback::UserData;
use crate::error::{Error, Result, ensure, fail};
use crate::handle::{Object, Ref, get, get_all, release, retain};
use crate::info::{Out, list, properties};
use crate::objects::context::{Context, DEVICES_MAX, Notify};
use crate::objects::device::Device;
use crate::objects::platform::Platform;

type ErrorNotify = Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>;

/// Checks properties and gives them as `CL_CONTEXT_PROPERTIES` does.
///
/// # Safety
/// `given` is null or a list of properties.
unsafe fn check(given: *const cl_context_properties) -> Result<Vec<cl_context_properties>> {
    // SAFETY: as the caller says.
    let pairs = unsafe { properties(given) };
    let mut kept = Vec::new();
    for (at, (name, value)) in pairs.iter().enumerate() {
        ensure(pairs[..at].iter().all(|(other, _)| other != name), CL_INVALID_PROPERTY)?;
        match *name {
            CL_CONTEXT_PLATFORM => Platform::check(std::ptr::without_provenance_mut(value.cast_unsigned()))?,
            CL_CONTEXT_INTEROP_USER_SYNC => ensure(*value == 0 || *value == 1, CL_INVALID_PROPERTY)?,
            _ => return fail(CL_INVALID_PROPERTY),
        }
        kept.extend([*name, *value]);
    }
    if !given.is_null() {
        kept.push(0);
    }
    Ok(kept)
}

/// The function for errors as one that takes their text.
fn notifier(notify: ErrorNotify, user_data: *mut c_void) -> Result<Option<Notify>> {
    ensure(notify.is_some() || user_data.is_null(), CL_INVALID_VALUE)?;
    let data = UserData(user_data);
    Ok(notify.map(|notify| -> Notify {
        Arc::new(move |text| {
            let text = CString::new(text).unwrap_or_default();
            // SAFETY: the program gave the function for this call; there is no binary information.
            unsafe { notify(text.as_ptr(), std::ptr::null(), 0, data.pointer()) };
        })
    }))
}

fn create(
    devices: Vec<Ref<Device>>,
    properties: Vec<cl_context_properties>,
    notify: Option<Notify>,
) -> Result<*mut c_void> {
    let mut distinct: Vec<Ref<Device>> = Vec::new();
    for device in devices {
        if distinct.iter().all(|d| d.handle() != device.handle()) {
            distinct.push(device);
        }
    }
    ensure(distinct.len() <= DEVICES_MAX, CL_OUT_OF_RESOURCES)?;
    let (destructors, orphans) = Default::default();
    let context =
        Object::new(Platform::the()?.table(), Context { devices: distinct, properties, notify, destructors, orphans });
    let handle = Object::list(&context);
    // A loss before the context was listed has not been reported to it.
    if let Err(why) = context.devices.iter().try_for_each(|device| device.board().session.check()) {
        release::<Context>(handle)?;
        return Err(why);
    }
    Ok(handle)
}

pub unsafe extern "C" fn clCreateContext(
    properties: *const cl_context_properties,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    notify: ErrorNotify,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_context {
    let make = || {
        // SAFETY: the program's, as the specification asks.
        let properties = unsafe { check(properties) }?;
        ensure(!devices.is_null() && num_devices > 0, CL_INVALID_VALUE)?;
        let notify = notifier(notify, user_data)?;
        // SAFETY: as above.
        let devices = get_all(&unsafe { list(devices, num_devices as usize) })?;
        create(devices, properties, notify)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clCreateContextFromType(
    properties: *const cl_context_properties,
    device_type: cl_device_type,
    notify: ErrorNotify,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_context {
    let make = || {
        // SAFETY: the program's, as the specification asks.
        let properties = unsafe { check(properties) }?;
        let notify = notifier(notify, user_data)?;
        create(devices_of(device_type)?, properties, notify)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clRetainContext(context: cl_context) -> cl_int {
    status(|| retain::<Context>(context))
}

pub unsafe extern "C" fn clReleaseContext(context: cl_context) -> cl_int {
    status(|| release::<Context>(context))
}

pub unsafe extern "C" fn clGetContextInfo(
    context: cl_context,
    name: cl_context_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let context = get::<Context>(context)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_CONTEXT_REFERENCE_COUNT => out.uint(context.references()),
            CL_CONTEXT_NUM_DEVICES => out.uint(context.devices.len() as u32),
            CL_CONTEXT_DEVICES => out.sizes(context.devices.iter().map(|d| d.handle().addr())),
            CL_CONTEXT_PROPERTIES => out.sizes(context.properties.iter().map(|p| p.cast_unsigned())),
            _ => fail(CL_INVALID_VALUE),
        }
    })
}

pub unsafe extern "C" fn clSetContextDestructorCallback(
    context: cl_context,
    notify: Option<unsafe extern "C" fn(cl_context, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    status(|| {
        let handle = UserData(context);
        let context = get::<Context>(context)?;
        let notify = notify.ok_or(Error(CL_INVALID_VALUE))?;
        let data = UserData(user_data);
        lock(&context.destructors).push(Box::new(move || {
            // SAFETY: the program gave the function for this call; the handle is only a name by then.
            unsafe { notify(handle.pointer(), data.pointer()) };
        }));
        Ok(())
    })
}
