//! A vendor's OpenCL runtime: its library, dispatch table, platforms and devices.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use libloading::Library;
use libloading::os::unix;
use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{CL_DEVICE_TYPE_ALL, CL_SUCCESS, cl_device_id, cl_int, cl_platform_id, cl_uint};

use crate::code::Code;

/// The functions of a runtime. Runtimes stay until the process ends: few survive being unloaded.
pub type Table = &'static cl_icd_dispatch;

/// Calls a function of a table that returns a code.
macro_rules! call {
    ($table:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $table.$function {
            // SAFETY: the caller passes live handles and pointers that are good for what the function does.
            Some(function) => $crate::code::check(unsafe { function($($argument),*) }),
            None => Err($crate::code::Code(opencl_sys::CL_INVALID_OPERATION)),
        }
    };
}

/// Calls a function of a table that returns an object, and its code through the last argument, which is added here.
macro_rules! make {
    ($table:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $table.$function {
            Some(function) => {
                let mut code = opencl_sys::CL_SUCCESS;
                // SAFETY: as in `call`.
                let made = unsafe { function($($argument,)* &raw mut code) };
                match $crate::code::check(code) {
                    Ok(()) if made.is_null() => Err($crate::code::Code(opencl_sys::CL_OUT_OF_RESOURCES)),
                    Ok(()) => Ok(made),
                    Err(code) => Err(code),
                }
            }
            None => Err($crate::code::Code(opencl_sys::CL_INVALID_OPERATION)),
        }
    };
}

pub(super) use {call, make};

/// A platform of a vendor's library.
#[derive(Clone, Copy)]
pub struct Runtime {
    table: Table,
    platform: cl_platform_id,
}

// SAFETY: OpenCL's functions may be called by any thread, and its handles belong to none.
unsafe impl Send for Runtime {}
// SAFETY: as above.
unsafe impl Sync for Runtime {}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("platform", &self.platform).finish_non_exhaustive()
    }
}

/// A device's handle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device(pub(super) cl_device_id);

// SAFETY: OpenCL's handles belong to no thread; a root device is never released.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// The function that lists a library's platforms, exported or obtained by its name: the only entry point.
fn platform_ids(library: &Library) -> Option<PlatformIds> {
    type Address = unsafe extern "C" fn(*const c_char) -> *mut c_void;
    let name = c"clIcdGetPlatformIDsKHR";
    // SAFETY: the types are those of the ICD extension (cl_khr_icd).
    unsafe {
        if let Ok(exported) = library.get::<PlatformIds>(name.to_bytes_with_nul()) {
            return Some(*exported);
        }
        let address = library.get::<Address>(b"clGetExtensionFunctionAddress\0").ok()?;
        let found = address(name.as_ptr());
        (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, PlatformIds>(found))
    }
}

type PlatformIds = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;

impl Runtime {
    /// Brings a vendor's library into memory, all its symbols found, and asks nothing of it.
    ///
    /// # Errors
    /// The library cannot be opened.
    pub(crate) fn preload(library: &Path) -> anyhow::Result<()> {
        // SAFETY: as in `open`.
        let opened = unsafe { unix::Library::open(Some(library), unix::RTLD_NOW | unix::RTLD_LOCAL) };
        std::mem::forget(opened.with_context(|| format!("cannot open the runtime {}", library.display()))?);
        Ok(())
    }

    /// Opens a vendor's library, by path or by a name that the system's linker finds, and returns its platforms.
    ///
    /// # Errors
    /// The library cannot be opened, is not an OpenCL runtime, or has no platform.
    pub fn open(library: &Path) -> anyhow::Result<Vec<Self>> {
        let shown = library.display();
        // SAFETY: a vendor's library runs its initialisers; whoever names it trusts it with this process.
        let opened = unsafe { Library::new(library) }.with_context(|| format!("cannot open the runtime {shown}"))?;
        let platform_ids = platform_ids(&opened)
            .with_context(|| format!("{shown} is not an OpenCL runtime for ICD loaders (cl_khr_icd)"))?;
        std::mem::forget(opened);
        let mut count = 0;
        // SAFETY: asks for the number alone.
        let code = unsafe { platform_ids(0, null_mut(), &raw mut count) };
        if code != CL_SUCCESS || count == 0 {
            bail!(
                "the runtime {shown} has no platform (code {code}); check its hardware and the permissions of this user"
            );
        }
        let mut platforms = vec![null_mut(); count as usize];
        // SAFETY: there is room for `count`.
        let code = unsafe { platform_ids(count, platforms.as_mut_ptr(), null_mut()) };
        if code != CL_SUCCESS {
            bail!("the runtime {shown} cannot list its platforms (code {code})");
        }
        let with_table = |platform: cl_platform_id| {
            // SAFETY: each object of an ICD begins with a pointer to the table (cl_khr_icd), which stays.
            let table = unsafe { &**platform.cast::<*const cl_icd_dispatch>() };
            Self { table, platform }
        };
        let runtimes: Vec<_> = platforms.into_iter().filter(|p| !p.is_null()).map(with_table).collect();
        // A runtime makes its devices at the first question for them. PoCL answers a second thread that asks meanwhile
        // at once, with devices that are half made.
        static FIRST: Mutex<()> = Mutex::new(());
        let _alone = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        for runtime in &runtimes {
            let _ = runtime.devices(); // Who needs them asks again, and gets the error.
        }
        Ok(runtimes)
    }

    pub(super) const fn table(&self) -> Table {
        self.table
    }

    pub(super) const fn platform(&self) -> cl_platform_id {
        self.platform
    }

    /// Its devices.
    ///
    /// # Errors
    /// The runtime's code. Having no devices is not an error.
    pub(super) fn devices(&self) -> Result<Vec<cl_device_id>, Code> {
        let mut count = 0;
        match call!(self.table, clGetDeviceIDs(self.platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &raw mut count)) {
            Err(Code(opencl_sys::CL_DEVICE_NOT_FOUND)) => return Ok(Vec::new()),
            other => other?,
        }
        let mut devices = vec![null_mut(); count as usize];
        let all = CL_DEVICE_TYPE_ALL;
        call!(self.table, clGetDeviceIDs(self.platform, all, count, devices.as_mut_ptr(), null_mut()))?;
        Ok(devices)
    }
}

/// The libraries named in `/etc/OpenCL/vendors` (or in `OCL_ICD_VENDORS`, if that is a folder), except our own.
#[must_use]
pub fn installed() -> Vec<PathBuf> {
    let folder = std::env::var_os("OCL_ICD_VENDORS").map(PathBuf::from).filter(|path| path.is_dir());
    let folder = folder.unwrap_or_else(|| "/etc/OpenCL/vendors".into());
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "icd"));
    files.sort();
    let libraries = files.into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        Some(PathBuf::from(text.lines().next()?.trim()))
    });
    libraries.filter(|library| !library.to_string_lossy().contains("rackloom_opencl")).collect()
}
