//! Runs Verilator.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::cache::Cache;
use super::{files, named, read, read_dir};

/// Names the folder that has Verilator's `bin` and `include`.
pub const ROOT_VARIABLE: &str = "RACKLOOM_VERILATOR_ROOT";
/// The module that becomes the card.
const TOP: &str = "rl_card_sim";
/// What Verilator compiles once for all of its places, from the repository's root.
pub const SHARED: &str = "crates/run/verilated/shim/shared.vlt";
/// The gateware, from the root of the repository.
pub const GATEWARE: &str = "gateware/rtl";
/// Folders of the gateware that a simulated card needs none of: tops of boards, with their vendors' primitives.
const BOARDS: &str = "board";
const SIMULATED_BOARD: &str = "board/sim";

/// Verilator, and the gateware that it makes C++ of.
pub struct Verilator {
    folder: PathBuf,
    root: PathBuf,
    /// Folders, and files that come first, from the root.
    folders: Vec<PathBuf>,
    packages: Vec<PathBuf>,
    top: PathBuf,
    trace: bool,
    /// Of all that decides what comes out, but for parameters.
    hash: u64,
}

impl Verilator {
    /// For the gateware in this repository.
    pub fn of(root: &Path, trace: bool) -> Result<Self, String> {
        let relative = |path: &Path| path.strip_prefix(root).expect("it is inside").to_path_buf();
        let gateware = root.join(GATEWARE);
        let top = gateware.join(SIMULATED_BOARD).join(format!("{TOP}.sv"));
        if !top.is_file() {
            return Err(format!("{} is not there: is this the whole repository?", top.display()));
        }
        let folder = folder(root)?;
        let folders = folders(&gateware)?;
        let packages = packages(&folders)?;
        let mut hash = DefaultHasher::new();
        let program = folder.join("bin/verilator_bin");
        let about = fs::metadata(&program).or_else(|_| fs::metadata(folder.join("bin/verilator")));
        let about = about.map_err(named(&program))?;
        (about.len(), about.modified().ok(), trace).hash(&mut hash);
        for of_folder in &folders {
            for source in files(of_folder, "sv")? {
                (relative(&source), read(&source)?).hash(&mut hash);
            }
        }
        read(&root.join(SHARED))?.hash(&mut hash);
        Ok(Self {
            folder,
            folders: folders.iter().map(|path| relative(path)).collect(),
            packages: packages.iter().map(|path| relative(path)).collect(),
            top: relative(&top),
            root: root.to_path_buf(),
            trace,
            hash: hash.finish(),
        })
    }

    /// The folder with its runtime and headers.
    pub fn include(&self) -> PathBuf {
        self.folder.join("include")
    }

    /// The folder with the model's C++, as a class of this name and with these parameters.
    pub fn class(&self, cache: &Cache, class: &str, parameters: &[&str]) -> Result<PathBuf, String> {
        let options = self.options(class, parameters);
        let mut hash = DefaultHasher::new();
        (self.hash, &options).hash(&mut hash);
        let hash = hash.finish();
        match cache.find(class, hash)? {
            Some(entry) => Ok(entry),
            None => cache.make(class, hash, |into| self.write(&options, into)),
        }
    }

    fn options(&self, class: &str, parameters: &[&str]) -> Vec<String> {
        let mut options = vec!["--cc", "--top-module", TOP, "--prefix", class];
        options.extend(parameters);
        // Registers that no reset touches begin with random bits, so that a test finds who relies on zeros.
        options.extend(["-O3", "--x-assign", "fast", "--x-initial", "unique", "--assert", "--output-split", "20000"]);
        // Warnings are for `make lint`, with the version of Verilator that the repository names.
        options.extend(["-Wno-fatal", "-Wno-WIDTH"]);
        if self.trace {
            options.push("--trace-fst");
        }
        options.into_iter().map(str::to_owned).collect()
    }

    /// Runs in the repository's root and has paths relative to that, which it also writes: a copy of the repository in
    /// another place has the same C++, whose objects may be in the cache.
    fn write(&self, options: &[String], into: &Path) -> Result<(), String> {
        let mut command = Command::new(self.folder.join("bin/verilator"));
        command.env("VERILATOR_ROOT", &self.folder).current_dir(&self.root);
        command.args(options).arg("--Mdir").arg(into).arg(SHARED);
        for folder in &self.folders {
            // A module is in the file that has its name.
            command.arg("-y").arg(folder);
        }
        command.args(&self.packages).arg(&self.top);
        let told = command.output().map_err(|e| format!("{} does not run: {e}", self.folder.display()))?;
        if told.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&told.stderr);
        let errors: Vec<_> = words.lines().filter(|line| line.starts_with("%Error")).collect();
        Err(format!(
            "Verilator refuses the gateware:\n{}",
            if errors.is_empty() { words.into() } else { errors.join("\n") }
        ))
    }
}

/// Where Verilator's programs and headers are: named by the environment, in the Python environment of this repository,
/// or installed.
fn folder(root: &Path) -> Result<PathBuf, String> {
    let is_root = |path: &Path| path.join("include/verilated.h").is_file();
    if let Some(named) = env::var_os(ROOT_VARIABLE).map(PathBuf::from) {
        return match is_root(&named) {
            true => Ok(named),
            false => Err(format!("{ROOT_VARIABLE} names {}, which has no include/verilated.h", named.display())),
        };
    }
    let pythons = fs::read_dir(root.join(".venv/lib")).into_iter().flatten().flatten();
    let mut found: Vec<_> = pythons.map(|python| python.path().join("site-packages/verilator")).collect();
    let installed = Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]).output();
    if let Ok(told) = installed {
        found.push(PathBuf::from(String::from_utf8_lossy(&told.stdout).trim()));
    }
    found.into_iter().find(|path| is_root(path)).ok_or_else(|| {
        format!("no Verilator: run `make setup` in {}, or name its folder in {ROOT_VARIABLE}", root.display())
    })
}

/// The folders with sources of the card.
fn folders(gateware: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![gateware.to_path_buf()];
    let mut at = 0;
    while at < found.len() {
        let mut inner: Vec<_> = read_dir(&found[at])?.into_iter().filter(|path| path.is_dir()).collect();
        inner.retain(|path| {
            let name = path.strip_prefix(gateware).expect("it is inside");
            !name.starts_with(BOARDS) || name == Path::new(BOARDS) || name.starts_with(SIMULATED_BOARD)
        });
        found.append(&mut inner);
        at += 1;
    }
    Ok(found)
}

/// All packages, each after those that it uses.
fn packages(folders: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut waiting = BTreeMap::new();
    for folder in folders {
        for path in read_dir(folder)? {
            let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
            if name.ends_with("_pkg") && path.extension() == Some(OsStr::new("sv")) {
                let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                waiting.insert(name, (path, text));
            }
        }
    }
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let uses_waiting =
            |name: &str, text: &str| waiting.keys().any(|other| other != name && text.contains(&format!("{other}::")));
        let next = waiting.iter().find(|(name, (_, text))| !uses_waiting(name, text)).map(|(name, _)| name.clone());
        let name = next.ok_or_else(|| format!("packages that use one another: {:?}", waiting.keys()))?;
        order.extend(waiting.remove(&name).map(|(path, _)| path));
    }
    Ok(order)
}
