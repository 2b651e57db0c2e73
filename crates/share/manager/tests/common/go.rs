//! Builds of Go programs, for tests that run them.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The Go command, in the folder of the registry's sources.
pub fn go() -> Command {
    // Programs of several crates include this file, at several depths.
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let top = above.find(|folder| folder.join("Cargo.lock").exists()).expect("a crate is in a workspace");
    let found = Command::new(top.join("scripts/go.sh")).output().expect("scripts/go.sh is there");
    let folder = String::from_utf8(found.stdout).unwrap();
    let program = Path::new(folder.trim()).join("go");
    let help = "these tests build the registry, which is written in Go: install Go, or run `make setup`";
    assert!(found.status.success() && program.exists(), "{help}\n{}", String::from_utf8_lossy(&found.stderr));
    let mut go = Command::new(program);
    go.current_dir(top.join("cloud")).env("CGO_ENABLED", "0");
    go
}

/// The registry's program, built once.
pub fn registry_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build_registry("rackloom-registry", &[]))
}

/// The registry's program with the detector of data races, built once.
pub fn racing_registry() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build_registry("rackloom-registry-race", &["-race"]))
}

fn build_registry(name: &str, options: &[&str]) -> PathBuf {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut build = go();
    // The detector is written in C.
    build.env("CGO_ENABLED", if options.is_empty() { "0" } else { "1" });
    build.arg("build").args(options).arg("-o").arg(&to).arg("./cmd/rackloom-registry");
    let built = build.output().unwrap();
    assert!(built.status.success(), "go build: {}", String::from_utf8_lossy(&built.stderr));
    to
}
