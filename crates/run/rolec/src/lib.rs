//! Builds role images: a folder with `role.toml` and C files becomes an `.rli` file.
//!
//! `role.toml` holds the fields of the image's manifest. All `*.c` files of the folder are compiled together by clang
//! for wasm32 and linked by wasm-ld into the image's `model` part; `rackloom.h` is on their include path. The same
//! sources and the same clang give the same bytes. A role that is in the gateware too says so in a table `rtl`, and its
//! image gets an `rtl` part.
#![forbid(unsafe_code)]

mod ballast;
mod clang;
mod error;
mod rtl;

use std::path::{Path, PathBuf};

use rackloom_image::{ImageBuilder, Manifest, TARGET_MODEL, TARGET_RTL};
use serde::Deserialize;

pub use ballast::{pad_image, pad_part};
pub use error::RolecError;
pub use rtl::{RTL_BYTES_MIN, RTL_MAGIC, Rtl, rtl_part, rtl_part_of, rtl_part_with};

/// How to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The compiler; `None`: the environment variable `RACKLOOM_CLANG`, else the first of the usual names that runs.
    pub clang: Option<PathBuf>,
    /// Bytes to which the part grows by ballast, so that loading it takes as long as loading a vendor's bitstream.
    pub pad_to: Option<usize>,
    /// The bitstream that boards load, for the image's `rtl` part.
    pub bitstream: Option<Vec<u8>>,
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
    let rtl = match (gateware.rtl, &options.bitstream) {
        (Some(rtl), Some(bitstream)) => Some(rtl_part_with(rtl, &rtl::args(&manifest), bitstream)?),
        (Some(rtl), None) => Some(rtl_part(rtl, &manifest, None)?),
        (None, Some(_)) => return Err(RolecError::NoRtl { path: file }),
        (None, None) => None,
    };
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
