//! Verilates the gateware and compiles the result together with the shim.
//!
//! Objects are kept in cargo's folder under the hash of all that goes into them: the runtime of Verilator, which takes
//! longer to compile than a small design, is compiled once, and a change of the gateware compiles what it changes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::time::{Duration, SystemTime};
use std::{env, fs, thread};

/// The module that becomes the card, and the C++ classes that it becomes, each with these parameters.
const TOP: &str = "rl_card_sim";
const CLASSES: [(&str, &[&str]); 4] = [
    ("RlCard", &[]),
    ("RlCardWide", &["-GDataW=128"]),
    ("RlCardBridge", &["-GBridge=1", "-GLinks=3"]),
    ("RlCardKeys", &["-GKeys=1"]),
];
/// What Verilator compiles once for all of its places, from this crate's folder.
const SHARED: &str = "shim/shared.vlt";
/// The gateware, from the root of the repository.
const GATEWARE: &str = "gateware/rtl";
/// Folders of the gateware that a simulated card needs none of: tops of boards, with their vendors' primitives.
const BOARDS: &str = "board";
const SIMULATED_BOARD: &str = "board/sim";

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
    let gateware = root.join(GATEWARE);
    let shim = here.join("shim/shim.cpp");
    for input in [&gateware, &shim, &here.join(SHARED)] {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    println!("cargo::rerun-if-env-changed={ROOT_VARIABLE}");
    let trace = env::var_os("CARGO_FEATURE_TRACE").is_some();
    let verilator = verilator_root(&root)?;
    let generated = out.join("verilated");
    // What is left of a module that is gone would be compiled.
    let _ = fs::remove_dir_all(&generated);
    fs::create_dir_all(&generated).map_err(|e| format!("{}: {e}", generated.display()))?;
    thread::scope(|scope| {
        let (verilator, root, generated) = (&verilator, &root, &generated);
        let write = |(class, parameters)| move || verilate(verilator, root, generated, class, parameters, trace);
        let all = CLASSES.map(|class| scope.spawn(write(class)));
        all.into_iter().try_for_each(|one| one.join().expect("Verilator's own errors are no panics"))
    })?;

    let include = verilator.join("include");
    let mut runtime = vec!["verilated.cpp", "verilated_threads.cpp"];
    if trace {
        runtime.push("verilated_fst_c.cpp");
    }
    let runtime = runtime.iter().map(|file| include.join(file));
    let model = files(&generated, "cpp")?;
    let sources: Vec<PathBuf> = runtime.chain(model).chain([shim]).collect();
    let headers = [files(&include, "h")?, files(&generated, "h")?];
    let compiler = Compiler { include, generated, cache: out.join(OBJECTS), trace, prefers_clang: prefers_clang() };
    let objects = compiler.compile(&sources, &headers)?;
    compiler.build(Speed::Fast).objects(objects).try_compile("rackloom_rtl_card").map_err(|e| e.to_string())?;
    if trace {
        println!("cargo::rustc-link-lib=z");
        println!("cargo::rustc-link-lib=lz4");
    }
    Ok(())
}

/// Where Verilator's programs and headers are: named by the environment, in the Python environment of this repository,
/// or installed.
fn verilator_root(root: &Path) -> Result<PathBuf, String> {
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

/// Writes the model's C++ into `into`. Verilator runs in the repository's root and has paths relative to that, which it
/// also writes: a copy of the repository in another place has the same C++, whose objects may be in the cache.
fn verilate(
    verilator: &Path,
    root: &Path,
    into: &Path,
    class: &str,
    parameters: &[&str],
    trace: bool,
) -> Result<(), String> {
    let gateware = root.join(GATEWARE);
    let top = gateware.join(SIMULATED_BOARD).join(format!("{TOP}.sv"));
    if !top.is_file() {
        return Err(format!("{} is not there: is this the whole repository?", top.display()));
    }
    let mut command = Command::new(verilator.join("bin/verilator"));
    command.env("VERILATOR_ROOT", verilator).current_dir(root);
    command.args(["--cc", "--top-module", TOP, "--prefix", class, "--Mdir"]).arg(into);
    command.args(parameters);
    // Registers that no reset touches begin with random bits, so that a test finds who relies on zeros.
    command.args(["-O3", "--x-assign", "fast", "--x-initial", "unique", "--assert", "--output-split", "20000"]);
    // Warnings are for `make lint`, with the version of Verilator that the repository names.
    command.args(["-Wno-fatal", "-Wno-WIDTH"]);
    if trace {
        command.arg("--trace-fst");
    }
    let relative = |path: &Path| path.strip_prefix(root).expect("it is inside").to_path_buf();
    command.arg(Path::new("crates/run/verilated").join(SHARED));
    let folders = folders(&gateware)?;
    for folder in &folders {
        // A module is in the file that has its name.
        command.arg("-y").arg(relative(folder));
    }
    command.args(packages(&folders)?.iter().map(|path| relative(path))).arg(relative(&top));
    let told = command.output().map_err(|e| format!("{} does not run: {e}", verilator.display()))?;
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

/// Whether clang compiles the model: it takes half of GCC's time, and the model alone, without its bench, simulates 1.2
/// times as many cycles a second, 1.4 times at -O3. Whoever names a compiler gets that one.
fn prefers_clang() -> bool {
    env::var_os("CXX").is_none() && Command::new("clang++").arg("--version").output().is_ok_and(|o| o.status.success())
}

/// How much a source is worth optimising.
#[derive(Clone, Copy)]
enum Speed {
    /// It runs in each cycle.
    Fast,
    /// It runs once, as a card is made: Verilator puts that into files of their own.
    Slow,
}

impl Speed {
    fn of(source: &Path) -> Self {
        let stem = source.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        if stem.ends_with("__Slow") { Self::Slow } else { Self::Fast }
    }
}

/// Compiles what is not in the cache.
struct Compiler {
    include: PathBuf,
    generated: PathBuf,
    cache: PathBuf,
    trace: bool,
    prefers_clang: bool,
}

impl Compiler {
    /// Without the folders of headers: where those are matters to no object, and what is in them is hashed.
    fn build(&self, speed: Speed) -> cc::Build {
        let mut build = cc::Build::new();
        let opt_level = match speed {
            Speed::Fast => 3,
            Speed::Slow => 0,
        };
        build.cpp(true).std("gnu++20").opt_level(opt_level).debug(false).warnings(false);
        if self.prefers_clang {
            build.compiler("clang++");
        }
        // A failed assertion of the gateware comes back to the caller: see the shim. Verilator's runtime has some of
        // its own, one of which would need libatomic with clang.
        for name in ["VL_USER_STOP", "VL_USER_FATAL", "NDEBUG"] {
            build.define(name, None);
        }
        for name in ["VM_COVERAGE", "VM_SC", "VM_TIMING", "VM_TRACE_VCD", "VM_TRACE_SAIF"] {
            build.define(name, "0");
        }
        for name in ["VM_TRACE", "VM_TRACE_FST"] {
            build.define(name, if self.trace { "1" } else { "0" });
        }
        build
    }

    fn compile(&self, sources: &[PathBuf], headers: &[Vec<PathBuf>]) -> Result<Vec<PathBuf>, String> {
        let mut common = DefaultHasher::new();
        for speed in [Speed::Fast, Speed::Slow] {
            let tool = self.build(speed).get_compiler();
            (tool.path(), tool.to_command().get_args().collect::<Vec<_>>()).hash(&mut common);
        }
        for header in headers.iter().flatten() {
            read(header)?.hash(&mut common);
        }
        let mut objects = Vec::new();
        let mut missing = Vec::new();
        for source in sources {
            let mut hash = common.clone();
            read(source)?.hash(&mut hash);
            let stem = source.file_stem().and_then(OsStr::to_str).expect("named by Verilator or by us");
            let folder = self.cache.join(format!("{stem}-{:016x}", hash.finish()));
            let object = folder.join("object.o");
            if !object.is_file() {
                missing.push((source, folder, object.clone()));
            }
            objects.push(object);
        }
        let jobs = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
        let share = missing.len().div_ceil(jobs).max(1);
        thread::scope(|scope| {
            let parts: Vec<_> = missing
                .chunks(share)
                .map(|part| scope.spawn(move || part.iter().try_for_each(|(from, dir, to)| self.one(from, dir, to))))
                .collect();
            parts.into_iter().try_for_each(|part| part.join().expect("compiling does not panic"))
        })?;
        self.forget_unused(&objects)?;
        Ok(objects)
    }

    fn one(&self, source: &Path, folder: &Path, object: &Path) -> Result<(), String> {
        let made = self
            .build(Speed::of(source))
            .includes([&self.include, &self.include.join("vltstd"), &self.generated])
            .file(source)
            .out_dir(folder)
            .try_compile_intermediates()
            .map_err(|e| e.to_string())?;
        fs::rename(&made[0], object).map_err(|e| format!("{}: {e}", object.display()))
    }

    /// Removes what no build has used for long, and marks what this one has.
    fn forget_unused(&self, objects: &[PathBuf]) -> Result<(), String> {
        let now = SystemTime::now();
        for object in objects {
            let failed = |e| format!("{}: {e}", object.display());
            fs::File::open(object).and_then(|file| file.set_modified(now)).map_err(failed)?;
        }
        for folder in read_dir(&self.cache)? {
            let used = fs::metadata(folder.join("object.o")).and_then(|object| object.modified());
            let is_old = used.is_ok_and(|used| now.duration_since(used).is_ok_and(|since| since > UNUSED));
            if is_old {
                fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            }
        }
        Ok(())
    }
}

/// The cache, from a unit's folder: one for all units of a target folder. Those of clippy and of tests compile the
/// same.
const OBJECTS: &str = "../../rackloom-verilated-objects";

/// How long an object is kept that no build has used.
const UNUSED: Duration = Duration::from_hours(14 * 24);

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = read_dir(folder)?;
    found.retain(|path| path.extension() == Some(OsStr::new(extension)));
    Ok(found)
}

/// What is in a folder, in an order that is the same everywhere.
fn read_dir(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e| format!("{}: {e}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut found = entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Names the folder that has Verilator's `bin` and `include`.
const ROOT_VARIABLE: &str = "RACKLOOM_VERILATOR_ROOT";
