//! Verilates the gateware and compiles the result together with the shim.

#[path = "build/cache.rs"]
mod cache;
#[path = "build/compiler.rs"]
mod compiler;
#[path = "build/verilator.rs"]
mod verilator;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs, io, thread};

use cache::Cache;
use compiler::Compiler;
use verilator::Verilator;

/// The C++ classes that the card becomes, each with these parameters.
const CLASSES: [(&str, &[&str]); 4] = [
    ("RlCard", &[]),
    ("RlCardWide", &["-GDataW=128"]),
    ("RlCardBridge", &["-GBridge=1", "-GLinks=3"]),
    ("RlCardKeys", &["-GKeys=1"]),
];

fn main() {
    if let Err(error) = build() {
        for line in error.lines() {
            println!("cargo::error={line}");
        }
        exit(1);
    }
}

fn build() -> Result<(), String> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let root = here.join("../../..").canonicalize().map_err(|e| e.to_string())?;
    let shim = here.join("shim/shim.cpp");
    for input in [&root.join(verilator::GATEWARE), &shim, &root.join(verilator::SHARED)] {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    println!("cargo::rerun-if-env-changed={}", verilator::ROOT_VARIABLE);
    let trace = env::var_os("CARGO_FEATURE_TRACE").is_some();
    let verilator = Verilator::of(&root, trace)?;
    let cache = Cache::of(&out)?;
    let classes = thread::scope(|scope| {
        let (verilator, cache) = (&verilator, &cache);
        let all = CLASSES.map(|(class, parameters)| scope.spawn(|| verilator.class(cache, class, parameters)));
        let all = all.into_iter().map(|one| one.join().expect("Verilator's own errors are no panics"));
        all.collect::<Result<Vec<_>, _>>()
    })?;

    let include = verilator.include();
    let mut runtime = vec!["verilated.cpp", "verilated_threads.cpp"];
    if trace {
        runtime.push("verilated_fst_c.cpp");
    }
    let mut sources: Vec<_> = runtime.iter().map(|file| include.join(file)).collect();
    let mut headers = files(&include, "h")?;
    for class in &classes {
        sources.append(&mut files(class, "cpp")?);
        headers.append(&mut files(class, "h")?);
    }
    sources.push(shim);
    let includes = [include.clone(), include.join("vltstd")].into_iter().chain(classes).collect();
    Compiler::new(&cache, includes, &out, trace).library("rackloom_rtl_card", &sources, &headers)?;
    cache.forget_unused()?;
    if trace {
        println!("cargo::rustc-link-lib=z");
        println!("cargo::rustc-link-lib=lz4");
    }
    Ok(())
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = read_dir(folder)?;
    found.retain(|path| path.extension() == Some(OsStr::new(extension)));
    Ok(found)
}

/// What is in a folder, in an order that is the same everywhere.
fn read_dir(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(named(folder))?;
    let found = entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>();
    let mut found = found.map_err(named(folder))?;
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(named(path))
}

/// An error says where.
fn named(path: &Path) -> impl Fn(io::Error) -> String {
    move |e| format!("{}: {e}", path.display())
}
