//! Makes every form of the protocol from its families, `protocol/*.toml`, and every form of the shell's address map
//! from `protocol/registers.toml`.
//!
//! A description is read and checked in `model` or `registers`; each form has its own module, which turns the checked
//! description into text and knows nothing of files. The binary writes the forms; the tests fail when one is stale.
#![forbid(unsafe_code)]

mod c;
mod docs;
mod lua;
mod model;
mod python;
mod recognition;
mod registers;
mod rules;
mod rust;
mod rust_index;
mod sv;
mod text;
pub mod tshark;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use anyhow::{Context, Result, bail, ensure};

use crate::model::Family;

/// The folder of the descriptions, from the repository's root. Every `.toml` in it but [`REGISTERS`] is a family.
pub const PROTOCOL: &str = "protocol";
/// The description of the shell's registers.
pub const REGISTERS: &str = "protocol/registers.toml";

/// The description of a family of frames.
#[derive(Debug, Clone)]
pub struct Source {
    /// The family's name, which is its file's without `.toml`.
    pub name: String,
    /// What the file holds.
    pub text: String,
}

/// Reads every family's description under `root`, in the order of their names.
///
/// # Errors
/// When a file cannot be read, or there is no family.
pub fn sources(root: &Path) -> Result<Vec<Source>> {
    let registers = root.join(REGISTERS);
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(PROTOCOL)).context("reading protocol/")? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "toml") || path == registers {
            continue;
        }
        let name = path.file_stem().and_then(|s| s.to_str()).with_context(|| format!("name of {}", path.display()))?;
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        found.push(Source { name: name.to_owned(), text });
    }
    ensure!(!found.is_empty(), "no family in {}", root.join(PROTOCOL).display());
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// One form of a description.
#[derive(Debug)]
pub struct Form {
    /// Its file, from the repository's root.
    pub path: String,
    /// What the file has to hold.
    pub text: String,
}

impl Form {
    fn new(path: impl Into<String>, text: String) -> Self {
        Self { path: path.into(), text }
    }

    /// True when the file under `root` holds something else, or does not exist.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    pub fn is_stale(&self, root: &Path) -> Result<bool> {
        match fs::read_to_string(root.join(&self.path)) {
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
        let file = root.join(&self.path);
        fs::create_dir_all(file.parent().expect("a file in a folder"))?;
        fs::write(&file, &self.text).with_context(|| format!("writing {}", self.path))
    }
}

/// Every form of these families.
///
/// # Errors
/// When a description breaks one of its rules, or two families claim the same EtherType or name: the message names the
/// file, the place and the rule. Or when rustfmt cannot run.
pub fn forms(sources: &[Source]) -> Result<Vec<Form>> {
    let families = parse(sources)?;
    let generated = "crates/core/wire/src/generated";
    let mut forms = vec![
        Form::new(
            format!("{generated}/mod.rs"),
            rust_index::emit(&families, &rustfmt(&rust_index::families(&families))?),
        ),
        Form::new(format!("{generated}/rules.rs"), rustfmt(&rust_index::rules())?),
        Form::new("gateware/tb/protocol.py", python::emit(&families)),
        Form::new("protocol/rackloom.lua", lua::emit(&families)),
    ];
    for family in &families {
        let names = &family.family.names;
        forms.extend([
            Form::new(format!("{generated}/{}.rs", family.family.name), rustfmt(&rust::emit(family))?),
            Form::new(format!("gateware/rtl/common/{}.sv", names.package), sv::emit(family)),
            Form::new(format!("docs/src/reference/{}.md", names.page), docs::emit(family)),
        ]);
        forms.extend(c::emit(family).map(|(file, text)| Form::new(format!("gateware/firmware/{file}"), text)));
    }
    Ok(forms)
}

/// Every form of this description of the shell's registers.
///
/// # Errors
/// When the description breaks one of its rules: the message names the rule and the place.
pub fn register_forms(description: &str) -> Result<Vec<Form>> {
    let map = registers::Map::parse(description)?;
    Ok(vec![
        Form::new("gateware/rtl/common/rl_csr_pkg.sv", registers::sv::emit(&map)),
        Form::new("gateware/firmware/csr.h", registers::c::emit(&map)),
        Form::new("docs/src/reference/registers.md", registers::docs::emit(&map)),
    ])
}

/// Checks the rules of these families alone.
///
/// # Errors
/// As [`forms`].
pub fn check(sources: &[Source]) -> Result<()> {
    parse(sources).map(drop)
}

fn parse(sources: &[Source]) -> Result<Vec<Family>> {
    let families: Vec<_> = sources.iter().map(|s| Family::parse(&s.name, &s.text)).collect::<Result<_>>()?;
    model::check_all(&families)?;
    Ok(families)
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
