//! Samplers, and information about them.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::c_void;

use opencl_sys::*;

use super::{object, status};
use crate::error::{Result, ensure, fail};
use crate::handle::{Object, get, release, retain};
use crate::info::{Out, properties};
use crate::objects::context::Context;
use crate::objects::sampler::Sampler;

fn create(
    context: cl_context,
    normalized: cl_bool,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
    properties: Vec<cl_sampler_properties>,
) -> Result<*mut c_void> {
    let context = get::<Context>(context)?;
    ensure(context.devices.iter().any(|device| device.has_images()), CL_INVALID_OPERATION)?;
    ensure(normalized == CL_TRUE || normalized == CL_FALSE, CL_INVALID_VALUE)?;
    ensure((CL_ADDRESS_NONE..=CL_ADDRESS_MIRRORED_REPEAT).contains(&addressing), CL_INVALID_VALUE)?;
    ensure(filter == CL_FILTER_NEAREST || filter == CL_FILTER_LINEAR, CL_INVALID_VALUE)?;
    let sampler = Sampler::new(context.clone(), normalized == CL_TRUE, addressing, filter, properties);
    Ok(Object::list(&Object::new(context.table(), sampler)))
}

pub unsafe extern "C" fn clCreateSampler(
    context: cl_context,
    normalized: cl_bool,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
    errcode_ret: *mut cl_int,
) -> cl_sampler {
    // SAFETY: the program's, as the specification asks.
    unsafe { object(errcode_ret, || create(context, normalized, addressing, filter, Vec::new())) }
}

pub unsafe extern "C" fn clCreateSamplerWithProperties(
    context: cl_context,
    given: *const cl_sampler_properties,
    errcode_ret: *mut cl_int,
) -> cl_sampler {
    let make = || {
        // SAFETY: the program's, as the specification asks.
        let pairs = unsafe { properties(given) };
        let names = [CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE];
        let mut values = [CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST];
        let mut seen = [false; 3];
        for (name, value) in &pairs {
            let at = names.iter().position(|known| u64::from(*known) == *name);
            let Some(at) = at.filter(|at| !seen[*at]) else { return fail(CL_INVALID_VALUE) };
            seen[at] = true;
            values[at] = u32::try_from(*value).unwrap_or(u32::MAX);
        }
        let mut list: Vec<_> = pairs.iter().flat_map(|(name, value)| [*name, *value]).collect();
        if !given.is_null() {
            list.push(0);
        }
        let [normalized, addressing, filter] = values;
        create(context, normalized, addressing, filter, list)
    };
    // SAFETY: as above.
    unsafe { object(errcode_ret, make) }
}

pub unsafe extern "C" fn clRetainSampler(sampler: cl_sampler) -> cl_int {
    status(|| retain::<Sampler>(sampler))
}

pub unsafe extern "C" fn clReleaseSampler(sampler: cl_sampler) -> cl_int {
    status(|| release::<Sampler>(sampler))
}

pub unsafe extern "C" fn clGetSamplerInfo(
    sampler: cl_sampler,
    name: cl_sampler_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    status(|| {
        let sampler = get::<Sampler>(sampler)?;
        // SAFETY: the program's, as the specification asks.
        let out = unsafe { Out::new(size, value, size_ret) };
        match name {
            CL_SAMPLER_REFERENCE_COUNT => out.uint(sampler.references()),
            CL_SAMPLER_CONTEXT => out.pointer(sampler.context.handle()),
            CL_SAMPLER_NORMALIZED_COORDS => out.uint(sampler.normalized.into()),
            CL_SAMPLER_ADDRESSING_MODE => out.uint(sampler.addressing),
            CL_SAMPLER_FILTER_MODE => out.uint(sampler.filter),
            CL_SAMPLER_PROPERTIES => {
                out.bytes(&sampler.properties.iter().flat_map(|p| p.to_ne_bytes()).collect::<Vec<_>>())
            }
            _ => fail(CL_INVALID_VALUE),
        }
    })
}
