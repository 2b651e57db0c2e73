//! Results of the `clGet...Info` calls, and arrays that a program passes.
#![allow(unsafe_code)]

use std::ffi::c_void;

use opencl_sys::{CL_INVALID_VALUE, cl_uint};

use crate::error::{Result, ensure};

/// Where a program wants a value: `param_value_size`, `param_value`, `param_value_size_ret`.
#[derive(Clone, Copy)]
pub struct Out {
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
}

impl Out {
    /// # Safety
    /// `value` is null or good for writing `size` bytes, and `size_ret` null or good for writing.
    pub const unsafe fn new(size: usize, value: *mut c_void, size_ret: *mut usize) -> Self {
        Self { size, value, size_ret }
    }

    /// Hands out bytes. `CL_INVALID_VALUE` if the program's place is too small.
    pub fn bytes(self, bytes: &[u8]) -> Result<()> {
        if !self.value.is_null() {
            ensure(self.size >= bytes.len(), CL_INVALID_VALUE)?;
            // SAFETY: the caller of `new` vouches for `size` bytes; the program's memory is apart from the library's.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.value.cast(), bytes.len()) };
        }
        if !self.size_ret.is_null() {
            // SAFETY: as the caller of `new` vouches; a program need not align it.
            unsafe { self.size_ret.write_unaligned(bytes.len()) };
        }
        Ok(())
    }

    /// Hands out a `cl_uint`, `cl_int`, `cl_bool` or enumeration.
    pub fn uint(self, value: cl_uint) -> Result<()> {
        self.bytes(&value.to_ne_bytes())
    }

    /// Hands out a `cl_ulong` or bit field.
    pub fn ulong(self, value: u64) -> Result<()> {
        self.bytes(&value.to_ne_bytes())
    }

    /// Hands out a `size_t`.
    pub fn size(self, value: usize) -> Result<()> {
        self.bytes(&value.to_ne_bytes())
    }

    /// Hands out several `size_t`.
    pub fn sizes(self, values: impl IntoIterator<Item = usize>) -> Result<()> {
        self.bytes(&values.into_iter().flat_map(usize::to_ne_bytes).collect::<Vec<u8>>())
    }

    /// Hands out a handle or pointer.
    pub fn pointer(self, value: *const c_void) -> Result<()> {
        self.size(value.addr())
    }

    /// Hands out a text and its terminating zero.
    pub fn text(self, value: &str) -> Result<()> {
        let mut bytes = value.as_bytes().to_vec();
        bytes.push(0);
        self.bytes(&bytes)
    }

    /// The pointers of an array, to each of which the program wants something written; none if it asked only for the
    /// size. `CL_INVALID_VALUE` if it is too small.
    pub fn pointers(self, count: usize) -> Result<Option<Vec<*mut u8>>> {
        let bytes = count * size_of::<*mut u8>();
        if !self.size_ret.is_null() {
            // SAFETY: as the caller of `new` vouches.
            unsafe { self.size_ret.write_unaligned(bytes) };
        }
        if self.value.is_null() {
            return Ok(None);
        }
        ensure(self.size >= bytes, CL_INVALID_VALUE)?;
        let from = self.value.cast::<*mut u8>();
        // SAFETY: `size` bytes from `value` on are the program's array.
        Ok(Some((0..count).map(|i| unsafe { from.add(i).read_unaligned() }).collect()))
    }
}

/// Writes where the program wants it, if it does.
///
/// # Safety
/// `to` is null or good for writing.
pub unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the caller vouches for it.
        unsafe { to.write_unaligned(value) };
    }
}

/// A program's array; empty if the pointer is null.
///
/// # Safety
/// `from` is null or good for reading `count` elements.
pub unsafe fn list<T: Copy>(from: *const T, count: usize) -> Vec<T> {
    if from.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller vouches for `count` elements.
    (0..count).map(|i| unsafe { from.add(i).read_unaligned() }).collect()
}

/// A program's list of properties, up to and without the terminating zero.
///
/// # Safety
/// `from` is null or good for reading up to a zero at an even place.
pub unsafe fn properties<T: Copy + Default + PartialEq>(from: *const T) -> Vec<(T, T)> {
    let mut found = Vec::new();
    if from.is_null() {
        return found;
    }
    loop {
        let at = found.len() * 2;
        // SAFETY: no zero came yet, so the list goes on.
        let name = unsafe { from.add(at).read_unaligned() };
        if name == T::default() {
            return found;
        }
        // SAFETY: each name has a value behind it.
        found.push((name, unsafe { from.add(at + 1).read_unaligned() }));
    }
}
