//! Runs clang.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::error::RolecError;

/// Compiles and links `sources` to a WebAssembly module.
pub(crate) fn compile(dir: &Path, sources: &[PathBuf], clang: Option<&Path>) -> Result<Vec<u8>, RolecError> {
    let clang = match clang {
        Some(path) => path.into(),
        None => find()?,
    };
    let file_error = |path: &Path, source| RolecError::File { path: path.into(), source };
    let scratch = tempfile::tempdir().map_err(|e| file_error(&std::env::temp_dir(), e))?;
    let header = scratch.path().join("rackloom.h");
    std::fs::write(&header, HEADER).map_err(|e| file_error(&header, e))?;
    let module = scratch.path().join("role.wasm");
    let output = Command::new(&clang)
        .args(FLAGS)
        .arg("-I")
        .arg(scratch.path())
        .args(sources)
        .arg("-o")
        .arg(&module)
        .output()
        .map_err(|e| RolecError::NoClang { tried: format!("{}: {e}", clang.display()) })?;
    if !output.status.success() {
        return Err(failure(dir, clang, &output));
    }
    std::fs::read(&module).map_err(|e| file_error(&module, e))
}

/// Tells a compiler that cannot work from sources that do not compile.
fn failure(dir: &Path, clang: PathBuf, output: &Output) -> RolecError {
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    let unfit = ["unable to execute command", "No available targets", "unknown target triple", "invalid linker name"];
    if unfit.iter().any(|text| output.contains(text)) {
        return RolecError::NoTarget { clang, output };
    }
    RolecError::Compile { dir: dir.into(), output }
}

fn find() -> Result<PathBuf, RolecError> {
    if let Some(path) = std::env::var_os("RACKLOOM_CLANG") {
        return Ok(path.into());
    }
    let runs = |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    match NAMES.iter().find(runs) {
        Some(name) => Ok(name.into()),
        None => Err(RolecError::NoClang { tried: NAMES.join(", ") }),
    }
}

/// What kernels are written with; part of this crate, so that roles build outside the source tree too.
const HEADER: &str = include_str!("../../../../device/include/rackloom.h");

/// Names under which distributions install clang.
const NAMES: [&str; 8] = ["clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-14"];

const FLAGS: [&str; 17] = [
    "--target=wasm32",
    "-std=c17",
    "-O3",
    // No extension but vectors. With bulk memory the linker would zero statics in a start function, which the sandbox
    // refuses.
    "-mcpu=mvp",
    "-msimd128",
    "-ffreestanding",
    "-ffp-contract=off", // Sums are the same bits everywhere.
    "-Wall",
    "-Wextra",
    "-nostdlib",
    "-Wl,--no-entry",
    "-Wl,--import-memory",
    "-Wl,--export=__heap_base", // The sandbox checks that constants and stack end within the role's own memory.
    "-Wl,--stack-first",        // A stack that overflows traps below 0 instead of overwriting constants.
    "-Wl,-z,stack-size=65536",
    "-Wl,--strip-all",
    "-Wl,--fatal-warnings",
];
