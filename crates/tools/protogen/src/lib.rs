//! Makes every form of the protocol from its one description, `protocol/protocol.toml`, and every form of the shell's
//! address map from `protocol/registers.toml`.
//!
//! A description is read and checked in `model` or `registers`; each form has its own module, which turns the checked
//! description into text and knows nothing of files. The binary writes the forms; the tests fail when one is stale.
#![forbid(unsafe_code)]

mod c;
mod docs;
mod lua;
mod model;
mod registers;
mod rust;
mod sv;
mod text;
pub mod tshark;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use anyhow::{Context, Result, bail};

/// Where the description lies, from the repository's root.
pub const SOURCE: &str = "protocol/protocol.toml";
/// Where the description of the shell's registers lies.
pub const REGISTERS: &str = "protocol/registers.toml";

/// One form of a description.
#[derive(Debug)]
pub struct Form {
    /// Its file, from the repository's root.
    pub path: &'static str,
    /// What the file has to hold.
    pub text: String,
}

impl Form {
    /// True when the file under `root` holds something else, or is not there.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn is_stale(&self, root: &Path) -> Result<bool> {
        match fs::read_to_string(root.join(self.path)) {
            Ok(text) => Ok(text != self.text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(e) => Err(e).with_context(|| format!("reading {}", self.path)),
        }
    }

    /// Writes the file under `root`, with the folders it needs.
    ///
    /// # Errors
    /// When a folder or the file cannot be written.
    pub fn write(&self, root: &Path) -> Result<()> {
        let file = root.join(self.path);
        fs::create_dir_all(file.parent().expect("a file in a folder"))?;
        fs::write(&file, &self.text).with_context(|| format!("writing {}", self.path))
    }
}

/// Every form of this description.
///
/// # Errors
/// When the description breaks one of its rules: the message names the rule and the place. Or when rustfmt cannot run.
pub fn forms(description: &str) -> Result<Vec<Form>> {
    let p = model::Protocol::parse(description)?;
    Ok(vec![
        Form { path: "crates/core/wire/src/generated.rs", text: rustfmt(&rust::emit(&p))? },
        Form { path: "gateware/rtl/common/rl_wire_pkg.sv", text: sv::emit(&p) },
        Form { path: "docs/src/reference/wire.md", text: docs::emit(&p) },
        Form { path: "protocol/rackloom.lua", text: lua::emit(&p) },
        Form { path: "gateware/firmware/wire.h", text: c::emit(&p) },
    ])
}

/// Every form of this description of the shell's registers.
///
/// # Errors
/// When the description breaks one of its rules: the message names the rule and the place.
pub fn register_forms(description: &str) -> Result<Vec<Form>> {
    let map = registers::Map::parse(description)?;
    Ok(vec![
        Form { path: "gateware/rtl/common/rl_csr_pkg.sv", text: registers::sv::emit(&map) },
        Form { path: "gateware/firmware/csr.h", text: registers::c::emit(&map) },
        Form { path: "docs/src/reference/registers.md", text: registers::docs::emit(&map) },
    ])
}

/// Checks a description's rules alone.
///
/// # Errors
/// As [`forms`].
pub fn check(description: &str) -> Result<()> {
    model::Protocol::parse(description).map(drop)
}

/// The generated Rust is kept in the form that `cargo fmt` leaves alone.
fn rustfmt(text: &str) -> Result<String> {
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../rustfmt.toml");
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path", config])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting rustfmt")?;
    child.stdin.take().expect("piped").write_all(text.as_bytes())?;
    let out = child.wait_with_output()?;
    if !out.status.success() {
        bail!("rustfmt refused the generated Rust");
    }
    Ok(String::from_utf8(out.stdout)?)
}
