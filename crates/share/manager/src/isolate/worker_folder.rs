//! The folder that a worker may write: where the system allows it, a file system in memory that the worker alone sees,
//! so that no tenant fills the disk. It goes when the worker and all that it began have ended.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::ptr::null;

use super::own_user::OwnUser;

/// Bytes that fit. The compiled kernels of a conformance suite with thousands of programs take some 300 MB; most
/// programs' take less than one.
pub(super) const BYTES_MAX: u64 = 512 << 20;

/// Files and folders that fit.
pub(super) const FILES_MAX: u64 = 65_536;

/// The folder in it where a runtime keeps compiled kernels.
pub(super) const KERNELS: &str = "kernels";

/// Mounts a file system of bounded size there, for this process and those that it begins. For a process in a mount
/// namespace of its own.
///
/// # Errors
/// The system does not allow it; the folder is as it was.
pub(super) fn mount(folder: &Path) -> io::Result<()> {
    // Otherwise the machine would see it, if this is root's process without a namespace of users.
    call_mount(None, c"/", None, libc::MS_SLAVE | libc::MS_REC)?;
    let place = CString::new(folder.as_os_str().as_bytes())?;
    let options = CString::new(format!("size={BYTES_MAX},nr_inodes={FILES_MAX},mode=700"))?;
    // Runtimes load what they have compiled, so code may be there. Landlock forbids programs.
    call_mount(Some(c"tmpfs"), &place, Some(&options), libc::MS_NOSUID | libc::MS_NODEV)?;
    fs::create_dir(folder.join(KERNELS))
}

fn call_mount(kind: Option<&CStr>, at: &CStr, options: Option<&CStr>, flags: libc::c_ulong) -> io::Result<()> {
    let text = |text: Option<&CStr>| text.map_or(null(), CStr::as_ptr);
    // SAFETY: all are strings that live until the call returns, or null where the system takes that.
    let result = unsafe { libc::mount(text(kind), at.as_ptr(), text(kind), flags, text(options).cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives the folder to the worker's user.
///
/// # Errors
/// The system does not allow it.
pub(super) fn give(folder: &Path, user: &OwnUser) -> io::Result<()> {
    user.own(folder)?;
    user.own(&folder.join(KERNELS))
}

/// Takes it away again, with all in it.
pub(super) fn unmount(folder: &Path) {
    let Ok(place) = CString::new(folder.as_os_str().as_bytes()) else { return };
    // SAFETY: it is a string that lives until the call returns. Where nothing is mounted it fails.
    unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) };
}

/// Whether the folder is a file system of its own.
pub(super) fn is_bounded(folder: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|data| data.dev()).ok();
    let above = folder.parent().and_then(device);
    above.is_some() && device(folder).is_some_and(|own| Some(own) != above)
}
