//! Arguments of a card's kernel: conversion of OpenCL's values to the card's 64-bit words.
//!
//! The manifest gives the meaning of each word: the address of an array, the extent of a dimension, a number. The
//! extents give the length of each array, so a launch whose array would exceed its buffer is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencl_sys::{
    CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_BUFFER_SIZE, CL_INVALID_KERNEL_ARGS,
    CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_CONST,
    CL_KERNEL_ARG_TYPE_NONE,
};
use rackloom_image::{Arg, Array, Dir, Dtype, Kernel};
use rackloom_opencl_wire::{ArgumentInfo, KernelInfo, WorkGroup};

use super::objects::{CardBuffer, CardSpace, Slot};
use crate::board::Value;
use crate::code::Code;

/// Type of an extent: a card's word.
const EXTENT: Dtype = Dtype::U64;

/// The values of `clGetKernelInfo` and `clGetKernelArgInfo`.
pub(super) fn describe(kernel: &Kernel) -> KernelInfo {
    let arguments: Vec<_> = kernel.args.iter().zip(kernel.resolved_args()).map(|(name, arg)| info(name, arg)).collect();
    // A launch has one work-item.
    let work_group = WorkGroup { size: 1, compiled: [0; 3], local_memory: 0, preferred_multiple: 1, private_memory: 0 };
    KernelInfo {
        attributes: String::new(),
        argument_count: arguments.len() as u32,
        arguments: Some(arguments),
        work_group,
    }
}

fn info(name: &str, arg: Arg<'_>) -> ArgumentInfo {
    let (address, qualifiers, type_name) = match arg {
        Arg::Address(array) => {
            let constant = if array.dir == Dir::In { CL_KERNEL_ARG_TYPE_CONST } else { CL_KERNEL_ARG_TYPE_NONE };
            (CL_KERNEL_ARG_ADDRESS_GLOBAL, constant, format!("{}*", type_of(array.dtype)))
        }
        Arg::Extent(_) => (CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE, type_of(EXTENT).to_owned()),
        Arg::Value(scalar) => {
            (CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE, type_of(scalar.dtype).to_owned())
        }
    };
    let (access, name) = (CL_KERNEL_ARG_ACCESS_NONE, name.to_owned());
    ArgumentInfo { address, access, qualifiers: qualifiers.into(), type_name, name }
}

/// The name of a type in OpenCL C.
const fn type_of(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::I8 => "char",
        Dtype::I16 => "short",
        Dtype::I32 => "int",
        Dtype::I64 => "long",
        Dtype::U8 => "uchar",
        Dtype::U16 => "ushort",
        Dtype::U32 => "uint",
        Dtype::U64 => "ulong",
    }
}

/// Sets arguments. One that is wrong spoils no other, for the library sends each once; but until it is set anew the
/// kernel cannot be launched.
///
/// # Errors
/// The kernel has no argument of a number.
pub(super) fn set_all(
    kernel: &Kernel,
    slots: &mut [Option<Slot>],
    given: &[(u32, Value<CardSpace>)],
) -> Result<(), Code> {
    for (index, value) in given {
        let place = slots.get_mut(*index as usize).ok_or(Code(CL_INVALID_ARG_INDEX))?;
        *place = Some(slot(kernel, *index, value).unwrap_or_else(Slot::Wrong));
    }
    Ok(())
}

/// Checks an argument of a launch against the kernel's description.
fn slot(kernel: &Kernel, index: u32, value: &Value<CardSpace>) -> Result<Slot, Code> {
    let arg = kernel.resolved_args().nth(index as usize).ok_or(Code(CL_INVALID_ARG_INDEX))?;
    let word = |bytes: &[u8], dtype: Dtype| {
        if bytes.len() != dtype.bytes() {
            return Err(Code(CL_INVALID_ARG_SIZE));
        }
        let mut word = [0; 8];
        // In the low bits: values come in this machine's byte order.
        word[..bytes.len()].copy_from_slice(bytes);
        Ok(Slot::Word(u64::from_le_bytes(word)))
    };
    match (arg, value) {
        (Arg::Address(_), Value::Buffer(Some(buffer))) => Ok(Slot::Buffer(Arc::downgrade(buffer))),
        (Arg::Extent(_), Value::Plain(bytes)) => word(bytes, EXTENT),
        (Arg::Value(scalar), Value::Plain(bytes)) => word(bytes, scalar.dtype),
        (_, Value::Missing(code)) => Err(*code),
        _ => Err(Code(CL_INVALID_ARG_VALUE)),
    }
}

/// The words of a launch, and the buffers behind the addresses among them.
///
/// # Errors
/// An argument is not set, or an array exceeds its buffer.
pub(super) fn words(kernel: &Kernel, slots: &[Option<Slot>]) -> Result<(Vec<u64>, Vec<Arc<CardBuffer>>), Code> {
    let slots: Option<Vec<&Slot>> = slots.iter().map(Option::as_ref).collect();
    let slots = slots.ok_or(Code(CL_INVALID_KERNEL_ARGS))?;
    if let Some(code) = slots.iter().find_map(|slot| if let Slot::Wrong(code) = slot { Some(*code) } else { None }) {
        return Err(code);
    }
    let extents = kernel.resolved_args().zip(&slots).filter_map(|(arg, slot)| match (arg, slot) {
        (Arg::Extent(dim), Slot::Word(extent)) => Some((dim, *extent)),
        _ => None,
    });
    let extents: BTreeMap<char, u64> = extents.collect();
    let (mut words, mut buffers) = (Vec::new(), Vec::new());
    for (arg, slot) in kernel.resolved_args().zip(slots) {
        match (arg, slot) {
            (Arg::Address(array), Slot::Buffer(buffer)) => {
                let buffer = buffer.upgrade().ok_or(Code(CL_INVALID_KERNEL_ARGS))?;
                if bytes_of(kernel, array, &extents).is_none_or(|bytes| bytes > buffer.size) {
                    return Err(Code(CL_INVALID_BUFFER_SIZE));
                }
                words.push(buffer.range().address());
                buffers.push(buffer);
            }
            (_, Slot::Word(word)) => words.push(*word),
            (_, Slot::Buffer(_) | Slot::Wrong(_)) => return Err(Code(CL_INVALID_ARG_VALUE)),
        }
    }
    Ok((words, buffers))
}

/// Bytes of an array with its halo; `None` on overflow. A dimension whose extent is no argument of the kernel counts
/// once: its extent is known to the role only.
fn bytes_of(kernel: &Kernel, array: &Array, extents: &BTreeMap<char, u64>) -> Option<u64> {
    let extent = |dim| match extents.get(&dim) {
        Some(extent) => extent.checked_add(2 * u64::from(kernel.halo_of(array, dim))),
        None => Some(1),
    };
    array.dims().try_fold(array.dtype.bytes() as u64, |bytes, dim| bytes.checked_mul(extent(dim)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_image::Image;

    fn kernel(role: &'static str) -> Kernel {
        let image = Image::parse(rackloom_builtin_roles::image(role).unwrap().into()).unwrap();
        image.manifest().kernels[0].clone()
    }

    #[test]
    fn a_kernel_is_described() {
        let info = describe(&kernel("ptrans"));
        let types: Vec<_> = info.arguments.unwrap().into_iter().map(|a| (a.name, a.type_name, a.qualifiers)).collect();
        let expected =
            [("a", "float*", 1), ("b", "float*", 1), ("c", "float*", 0), ("i", "ulong", 0), ("j", "ulong", 0)];
        assert_eq!(types, expected.map(|(name, of, constant)| (name.to_owned(), of.to_owned(), constant)));
        assert_eq!(info.work_group.size, 1);
    }

    #[test]
    fn values_have_the_size_of_their_type() {
        let kernel = kernel("vadd");
        let plain = |bytes: &[u8]| Value::Plain(bytes.into());
        let set = |index, value| slot(&kernel, index, &value).map(|slot| matches!(slot, Slot::Word(0x0807)));
        assert_eq!(set(3, plain(&[7, 8, 0, 0, 0, 0, 0, 0])), Ok(true));
        assert_eq!(set(3, plain(&[7, 8, 0, 0])), Err(Code(CL_INVALID_ARG_SIZE)));
        assert_eq!(set(3, Value::Local(8)), Err(Code(CL_INVALID_ARG_VALUE)));
        assert_eq!(set(0, plain(&[0; 8])), Err(Code(CL_INVALID_ARG_VALUE)), "a client cannot choose an address");
        assert_eq!(set(0, Value::Buffer(None)), Err(Code(CL_INVALID_ARG_VALUE)));
        assert_eq!(set(4, plain(&[0; 8])), Err(Code(CL_INVALID_ARG_INDEX)));
    }

    #[test]
    fn arrays_are_as_long_as_extents_and_halo_say() {
        let sobel = kernel("sobel");
        let bytes = |kernel: &Kernel, array: usize, extents: [(char, u64); 2]| {
            bytes_of(kernel, &kernel.arrays[array], &extents.into())
        };
        let with_halo = sobel.arrays.iter().position(|a| a.halo).unwrap();
        let without = sobel.arrays.iter().position(|a| !a.halo).unwrap();
        assert_eq!(bytes(&sobel, with_halo, [('i', 10), ('j', 20)]), Some(12 * 22));
        assert_eq!(bytes(&sobel, without, [('i', 10), ('j', 20)]), Some(200));
        assert_eq!(bytes(&sobel, with_halo, [('i', u64::MAX), ('j', 1)]), None);
        assert_eq!(bytes(&kernel("ptrans"), 0, [('i', 1 << 32), ('j', 1 << 31)]), None);
        assert_eq!(bytes(&kernel("vadd"), 0, [('i', 16), ('x', 0)]), Some(64));
    }
}
