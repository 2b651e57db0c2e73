//! `study blastfunction-sharing`: five functions share three boards, beside three functions with a board each.
//!
//! It is the evaluation of the BlastFunction paper, section IV-B: tables I to IV. The functions are the programs of
//! `workloads/`, each a process of its own, and reach their boards through the OpenCL loader, Rackloom's library and
//! managers. The boards take the time of the paper's, whatever this machine is; beside them the same is done with a
//! real runtime. What the paper does not measure comes last: a light tenant beside a greedy one.

mod direct;
mod greedy;
mod host;
mod load;
pub mod paper;
mod program;
mod report;
mod scenario;
mod stage;
#[cfg(test)]
mod tests;
mod usecase;

use std::path::PathBuf;

use rackloom_manager::installed;
use rackloom_manager::scheduler::Policy;
use rackloom_report::Progress;
use tempfile::TempDir;

use self::paper::{CONFIGURATIONS, Load, Placement, UseCase};
use self::stage::Stage;
use crate::error::{BenchError, Result};
use crate::site::find_library;

pub use greedy::LightRow;
pub use load::Latency;
pub use report::{Report, SCHEMA};
pub use scenario::{FunctionRow, Scenario};
pub use stage::{Boards, Configuration};

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Seconds of load in each configuration; the light tenant's take twice as long.
    pub seconds: u32,
    /// A few configurations only: a check that everything works, which makes no claims.
    pub quick: bool,
    /// The order of tasks on the boards of the tables.
    pub policy: Policy,
    /// Folder of the workloads' programs.
    pub programs: PathBuf,
    /// Rackloom's OpenCL library; beside this program if none is named.
    pub library: Option<PathBuf>,
    /// The OpenCL library of the real runtime; the first that is installed if none is named.
    pub runtime: Option<PathBuf>,
    /// The number of the device among that runtime's.
    pub device: usize,
}

/// What functions are started with.
struct Tools {
    programs: PathBuf,
    library: PathBuf,
    folder: TempDir,
}

impl Tools {
    /// A new folder.
    fn room(&self, name: &str) -> Result<PathBuf> {
        let room = self.folder.path().join(name);
        std::fs::create_dir(&room).map_err(BenchError::io("cannot create a folder"))?;
        Ok(room)
    }
}

/// Configurations of a real runtime. The sizes are such that two cores have enough time for all.
const PROCESSOR: [(UseCase, Load); 5] = [
    (UseCase::Sobel, Load::Low),
    (UseCase::Sobel, Load::High),
    (UseCase::Matmul, Load::High),
    (UseCase::Alexnet, Load::Medium),
    (UseCase::Alexnet, Load::High),
];

/// Configurations of paced boards in a quick run.
const QUICK: [(UseCase, Load); 3] =
    [(UseCase::Sobel, Load::High), (UseCase::Matmul, Load::Low), (UseCase::Alexnet, Load::Medium)];

/// Measures.
///
/// # Errors
/// A program or a library is missing, or fails; a result is wrong.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let library = find_library(options.library.as_deref())?;
    let runtime = options.runtime.clone().or_else(|| installed().into_iter().next());
    let folder = TempDir::with_prefix("rackloom-bench-").map_err(BenchError::io("cannot create a folder"))?;
    let tools = Tools { programs: absolute(options.programs.clone())?, library: absolute(library)?, folder };
    let paced: &[(UseCase, Load)] = if options.quick { &QUICK } else { &CONFIGURATIONS };
    let on_processor = match options.quick {
        _ if runtime.is_none() => &PROCESSOR[..0],
        true => &PROCESSOR[..1],
        false => &PROCESSOR[..],
    };
    let steps = paced.len() + usize::from(!options.quick) + 1 + on_processor.len();
    let mut done = 0;
    let mut step = |what: &str| {
        progress.step(done, steps, what);
        done += 1;
    };
    let mut configurations = Vec::new();
    step("starting functions");
    for same in paced.chunk_by(|a, b| a.0 == b.0) {
        let mut stage = Stage::paced(same[0].0, Placement::Paper, options, &tools)?;
        for (of, load) in same {
            configurations.push(stage.measure(*load, options.seconds)?);
            step(&format!("{} {load:?}", of.program()));
        }
    }
    if !options.quick {
        let mut stage = Stage::paced(UseCase::Sobel, Placement::UnderLoad, options, &tools)?;
        configurations.push(stage.measure(Load::High, options.seconds)?);
        step("sobel High, placed under load");
    }
    let light = greedy::light(options.seconds * 2, &tools)?;
    step("a light tenant");
    if let Some(runtime) = &runtime {
        for same in on_processor.chunk_by(|a, b| a.0 == b.0) {
            let mut stage = Stage::processor(same[0].0, options, &tools, runtime)?;
            for (of, load) in same {
                configurations.push(stage.measure(*load, options.seconds.div_ceil(2))?);
                step(&format!("{} {load:?} on the processor", of.program()));
            }
        }
    }
    Ok(Report::new(options, configurations, light))
}

/// For programs that are started in other folders, and loaders that look elsewhere.
fn absolute(path: PathBuf) -> Result<PathBuf> {
    let found = path.canonicalize();
    found.map_err(BenchError::io(format!("cannot find {} (`make -C workloads` builds programs)", path.display())))
}
