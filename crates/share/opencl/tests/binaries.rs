//! When a board's runtime makes binaries: only for who asks, since that may take longer than the build.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::OsStr;
use std::path::Path;
use std::ptr::null_mut;

use common::{ADD, Bench, Manager, open};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// Shared objects under a folder: PoCL's cache has one for each kernel that is compiled to the end.
fn compiled(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let count = |path: std::path::PathBuf| {
        if path.is_dir() { compiled(&path) } else { usize::from(path.extension() == Some(OsStr::new("so"))) }
    };
    entries.map(count).sum()
}

/// Alone in its process, since it sets the environment.
#[test]
fn a_binary_is_made_when_it_is_asked_for_and_not_by_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    unsafe { std::env::set_var("POCL_CACHE_DIR", &cache) };
    let socket = format!("unix:{}", folder.path().join("m.sock").display());
    let manager = Manager::start(&[&socket], &[]);
    let cl = open(&manager.endpoints);
    let bench = Bench::of(cl, &cl.devices(), 0);
    let program = bench.built(ADD);
    assert_eq!(compiled(&cache), 0, "nobody has asked");
    let mut size = 0usize;
    ok!(cl, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 8, (&raw mut size).cast(), null_mut()));
    assert!(size > 0 && compiled(&cache) > 0);
    ok!(cl, clReleaseProgram(program));
}
