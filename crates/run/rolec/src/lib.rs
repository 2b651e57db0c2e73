//! Builds role images: a folder with `role.toml` and C files becomes an `.rli` file.
//!
//! `role.toml` holds the fields of the image's manifest. All `*.c` files of the folder are compiled together by clang
//! for wasm32 and linked by wasm-ld into the image's `model` part; `rackloom.h` is on their include path. The same
//! sources and the same clang give the same bytes. A role that is in the gateware too says so in a table `rtl`, and its
//! image gets an `rtl` part.
#![forbid(unsafe_code)]

mod ballast;
mod clang;
mod rtl;

use std::io;
use std::path::{Path, PathBuf};

use rackloom_image::{ImageBuilder, ImageError, Manifest, TARGET_MODEL, TARGET_RTL};
use serde::Deserialize;

pub use ballast::{pad_image, pad_part};
pub use rtl::{RTL_BYTES_MIN, RTL_MAGIC, Rtl, rtl_part};

/// How to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The compiler; `None`: the environment variable `RACKLOOM_CLANG`, else the first of the usual names that runs.
    pub clang: Option<PathBuf>,
    /// Bytes to which the part grows by ballast, so that loading it takes as long as loading a vendor's bitstream.
    pub pad_to: Option<usize>,
}

/// Why a role cannot be built. Each says what failed, why, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RolecError {
    /// A file cannot be read or written.
    #[error("cannot access {}; check that it is there and readable", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder has no C file.
    #[error("no C file in {}; put the kernels of the role there", dir.display())]
    NoSource {
        /// The folder.
        dir: PathBuf,
    },
    /// `role.toml` is malformed.
    #[error("{} is malformed; correct it: {reason}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// No compiler runs.
    #[error(
        "cannot compile the role: no clang that runs was found (tried {tried}); \
         install it with `apt-get install clang lld`, or name one in RACKLOOM_CLANG"
    )]
    NoClang {
        /// What was tried.
        tried: String,
    },
    /// The compiler cannot make WebAssembly.
    #[error(
        "cannot compile the role: {} makes no wasm32 code or finds no wasm-ld; \
         install both with `apt-get install clang lld`, or name a clang that has them in RACKLOOM_CLANG:\n{output}",
        clang.display()
    )]
    NoTarget {
        /// The compiler.
        clang: PathBuf,
        /// What it printed.
        output: String,
    },
    /// The sources do not compile.
    #[error("the role in {} does not compile; correct it:\n{output}", dir.display())]
    Compile {
        /// The folder.
        dir: PathBuf,
        /// What the compiler printed.
        output: String,
    },
    /// The part is larger than it should become.
    #[error("cannot pad a part of {bytes} bytes to {pad_to}; give at least {}", bytes + ballast::SECTION_HEAD_MAX)]
    Pad {
        /// Bytes it has.
        bytes: usize,
        /// Bytes it should have.
        pad_to: usize,
    },
    /// The part for gateware cannot have this size.
    #[error("cannot make a part for gateware of {pad_to} bytes; give a multiple of 8, at least {least}")]
    PadRtl {
        /// Bytes it should have.
        pad_to: usize,
        /// Bytes it needs.
        least: usize,
    },
    /// The manifest is not acceptable, or the image grows too large.
    #[error("what was built makes no image; correct role.toml or the sizes")]
    Image(#[from] ImageError),
}

/// Builds the role in the folder `dir` and returns the image's bytes.
pub fn build_role(dir: &Path, options: &Options) -> Result<Vec<u8>, RolecError> {
    let file = dir.join("role.toml");
    let manifest = read_manifest(&file)?;
    let gateware = read_gateware(&file)?;
    let mut part = clang::compile(dir, &sources(dir)?, options.clang.as_deref())?;
    if let Some(bytes) = options.pad_to {
        part = pad_part(part, bytes)?;
    }
    let rtl = gateware.rtl.map(|rtl| rtl_part(rtl, &manifest, None)).transpose()?;
    let mut builder = ImageBuilder::new(manifest).part(TARGET_MODEL, part);
    if let Some(rtl) = rtl {
        builder = builder.part(TARGET_RTL, rtl);
    }
    Ok(builder.build()?)
}

/// What a `role.toml` holds beside the manifest.
#[derive(Debug, Deserialize)]
struct Gateware {
    rtl: Option<Rtl>,
}

fn read_gateware(path: &Path) -> Result<Gateware, RolecError> {
    let text = std::fs::read_to_string(path).map_err(|source| RolecError::File { path: path.into(), source })?;
    toml::from_str(&text).map_err(|e| RolecError::Toml { path: path.into(), reason: e.to_string() })
}

/// The manifest in a `role.toml`, validated.
pub fn read_manifest(path: &Path) -> Result<Manifest, RolecError> {
    let text = std::fs::read_to_string(path).map_err(|source| RolecError::File { path: path.into(), source })?;
    let malformed = |reason: String| RolecError::Toml { path: path.into(), reason };
    let manifest: Manifest = toml::from_str(&text).map_err(|e| malformed(e.to_string()))?;
    manifest.validate().map_err(|e| malformed(e.to_string()))?;
    Ok(manifest)
}

/// The C files of a folder in the order of their names, for the linker's output depends on it.
fn sources(dir: &Path) -> Result<Vec<PathBuf>, RolecError> {
    let file_error = |source| RolecError::File { path: dir.into(), source };
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(file_error)? {
        let path = entry.map_err(file_error)?.path();
        if path.extension().is_some_and(|ext| ext == "c") {
            sources.push(path);
        }
    }
    sources.sort();
    if sources.is_empty() { Err(RolecError::NoSource { dir: dir.into() }) } else { Ok(sources) }
}
