//! The OpenCL loader that programs get, and the variable in which it takes a library.
//!
//! They differ: ocl-icd takes a library's path in `OCL_ICD_VENDORS`; Khronos' and the one that CUDA installs before the
//! system's read a folder there, and take libraries in `OCL_ICD_FILENAMES`. With the wrong one, a loader says nothing,
//! and programs see no board.

use std::path::{Path, PathBuf};

/// The variables, by the loaders that take a library's path in them: Khronos', ocl-icd.
const VARIABLES: [&str; 2] = ["OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"];

/// The loader that this process gets, as any program does; it loads it. `None` if there is none.
pub(crate) fn of_this_process() -> Option<PathBuf> {
    if !cl3::is_opencl_runtime_available() {
        return None;
    }
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(path_of_loader)
}

/// The file that a line of `/proc/PID/maps` names, if it is a loader.
fn path_of_loader(line: &str) -> Option<PathBuf> {
    let path = Path::new(&line[line.find('/')?..]);
    path.file_name()?.to_str()?.starts_with("libOpenCL.so").then(|| path.to_owned())
}

/// The variable in which this loader takes a library's path, which it has among its strings; `None` if in none.
pub(crate) fn variable(loader: &Path) -> Option<&'static str> {
    let bytes = std::fs::read(loader).ok()?;
    VARIABLES.into_iter().find(|name| bytes.windows(name.len()).any(|at| at == name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_is_known_by_its_name_and_its_variable_by_its_bytes() {
        let line = "7f0a-7f0b r-xp 00000000 fd:00 12 /opt/cuda/lib/libOpenCL.so.1.0.0";
        assert_eq!(path_of_loader(line), Some("/opt/cuda/lib/libOpenCL.so.1.0.0".into()));
        assert_eq!(path_of_loader("7f0a-7f0b r-xp 00000000 fd:00 12 /usr/lib/libc.so.6"), None);
        assert_eq!(path_of_loader("7f0a-7f0b rw-p 00000000 00:00 0 [stack]"), None);

        let folder = tempfile::tempdir().unwrap();
        let loader = folder.path().join("libOpenCL.so.1");
        for (bytes, name) in [
            (&b"\0/etc/OpenCL/vendors/\0OCL_ICD_FILENAMES\0OCL_ICD_VENDORS\0"[..], Some("OCL_ICD_FILENAMES")),
            (b"\0/etc/OpenCL/vendors\0OCL_ICD_VENDORS\0", Some("OCL_ICD_VENDORS")),
            (b"\0/etc/OpenCL/vendors\0", None),
        ] {
            std::fs::write(&loader, bytes).unwrap();
            assert_eq!(variable(&loader), name);
        }
        assert_eq!(variable(&folder.path().join("none")), None);
    }
}
