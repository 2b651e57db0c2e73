//! Compiles what Verilator has written, and nothing twice: the runtime of Verilator, which takes longer to compile than
//! a small design, is compiled once, and a change of the gateware compiles what it changes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use super::cache::Cache;
use super::{named, read};

/// The object in an entry of the cache.
const OBJECT: &str = "object.o";

/// Whether clang compiles the model: it takes half of GCC's time, and the model alone, without its bench, simulates 1.4
/// times as many cycles a second. Whoever names a compiler gets that one.
fn prefers_clang() -> bool {
    env::var_os("CXX").is_none() && Command::new("clang++").arg("--version").output().is_ok_and(|o| o.status.success())
}

/// How much a source is worth optimising.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// A source whose object is not in the cache.
struct Missing<'a> {
    source: &'a Path,
    speed: Speed,
    /// The header that it begins with, if that is one which Verilator has written to be read once.
    head: Option<String>,
    hash: u64,
}

/// Heads that the compiler has read, by what the sources that begin with them are compiled for.
type Heads = BTreeMap<(String, Speed), PathBuf>;

/// Compiles what is not in the cache.
pub struct Compiler<'a> {
    cache: &'a Cache,
    /// Folders of headers.
    includes: Vec<PathBuf>,
    /// For heads that have been read.
    out: &'a Path,
    trace: bool,
    prefers_clang: bool,
}

impl<'a> Compiler<'a> {
    /// For sources whose headers are in these folders; `out` is cargo's folder.
    pub fn new(cache: &'a Cache, includes: Vec<PathBuf>, out: &'a Path, trace: bool) -> Self {
        Self { cache, includes, out, trace, prefers_clang: prefers_clang() }
    }

    /// Makes a library of the sources, which need no other headers, and has cargo link it.
    pub fn library(&self, name: &str, sources: &[PathBuf], headers: &[PathBuf]) -> Result<(), String> {
        let objects = self.compile(sources, headers)?;
        self.build(Speed::Fast).objects(objects).try_compile(name).map_err(|e| e.to_string())
    }

    /// Without the folders of headers: where those are matters to no object, and what is in them is hashed.
    fn build(&self, speed: Speed) -> cc::Build {
        let mut build = cc::Build::new();
        let opt_level = match speed {
            // At 3 it takes 1.4 times as long to compile, and simulates no more cycles a second.
            Speed::Fast => 2,
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

    fn with_includes(&self, speed: Speed) -> cc::Build {
        let mut build = self.build(speed);
        build.includes(&self.includes);
        build
    }

    fn compile(&self, sources: &[PathBuf], headers: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
        let mut common = DefaultHasher::new();
        for speed in [Speed::Fast, Speed::Slow] {
            let tool = self.build(speed).get_compiler();
            (tool.path(), tool.to_command().get_args().collect::<Vec<_>>()).hash(&mut common);
        }
        for header in headers {
            read(header)?.hash(&mut common);
        }
        let mut known = Vec::new();
        let mut missing = Vec::new();
        for source in sources {
            let text = read(source)?;
            let mut hash = common.clone();
            text.hash(&mut hash);
            let hash = hash.finish();
            match self.cache.find(stem(source), hash)? {
                Some(entry) => known.push(entry.join(OBJECT)),
                None => missing.push(Missing { source, speed: Speed::of(source), head: head(&text), hash }),
            }
        }
        let heads = self.read_heads(&missing)?;
        known.extend(side_by_side(&missing, |one| self.one(one, &heads))?);
        // The order of sources, whatever was there: a library is the same for the same sources.
        known.sort();
        Ok(known)
    }

    /// All sources of a class begin with the same header, which takes longer to read than most of them to compile.
    /// Clang keeps what it has read of it.
    fn read_heads(&self, missing: &[Missing]) -> Result<Heads, String> {
        if !self.prefers_clang {
            return Ok(Heads::new());
        }
        let wanted = missing.iter().filter_map(|one| Some((one.head.clone()?, one.speed)));
        let heads: Heads = wanted
            .map(|(head, speed)| {
                let kept = self.out.join(format!("{head}.{}", if speed == Speed::Fast { "fast" } else { "slow" }));
                ((head, speed), kept)
            })
            .collect();
        let each: Vec<_> = heads.iter().collect();
        side_by_side(&each, |((head, speed), kept)| {
            let header = self.includes.iter().map(|folder| folder.join(head)).find(|header| header.is_file());
            let mut command = self.with_includes(*speed).get_compiler().to_command();
            command.args(["-x", "c++-header"]).arg(header.unwrap_or_else(|| head.into())).arg("-o").arg(kept);
            match command.status() {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("{head} does not compile: {status}")),
                Err(error) => Err(format!("{} does not run: {error}", command.get_program().display())),
            }
        })?;
        Ok(heads)
    }

    /// The object of a source.
    fn one(&self, missing: &Missing, heads: &Heads) -> Result<PathBuf, String> {
        let entry = self.cache.make(stem(missing.source), missing.hash, |folder| {
            let mut build = self.with_includes(missing.speed);
            if let Some(kept) = missing.head.as_ref().and_then(|head| heads.get(&(head.clone(), missing.speed))) {
                build.flag("-include-pch").flag(kept);
            }
            let compiled = build.file(missing.source).out_dir(folder).try_compile_intermediates();
            let made = compiled.map_err(|e| e.to_string())?;
            fs::rename(&made[0], folder.join(OBJECT)).map_err(named(folder))
        })?;
        Ok(entry.join(OBJECT))
    }
}

fn stem(source: &Path) -> &str {
    source.file_stem().and_then(OsStr::to_str).expect("named by Verilator or by us")
}

/// The header that a source begins with, if Verilator has written it to be compiled in advance.
fn head(text: &[u8]) -> Option<String> {
    let text = str::from_utf8(text).ok()?;
    let first = text.lines().find_map(|line| line.strip_prefix("#include \""))?.strip_suffix('"')?;
    first.ends_with("__pch.h").then(|| first.to_owned())
}

/// Does the work for each, on as many threads as cargo allows, and whoever is done takes the next.
fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let jobs = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let next = AtomicUsize::new(0);
    let some = || {
        let mine = std::iter::from_fn(|| items.get(next.fetch_add(1, Ordering::Relaxed)));
        mine.map(&work).collect::<Result<Vec<_>, _>>()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(some)).collect();
        let parts = threads.into_iter().map(|thread| thread.join().expect("compiling does not panic"));
        Ok(parts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
}
