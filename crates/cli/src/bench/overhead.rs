//! `rackloom bench opencl-overhead`: OpenCL calls natively and through a manager.

use std::path::PathBuf;

use rackloom_study_blastfunction::overhead::{Options, run as measure};
use rackloom_study_blastfunction::site::Ways;

use super::inside;
use crate::args::Overhead;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::ui::Steps;

/// Where `make -C workloads` puts its programs.
const PROGRAMS: &str = "out/workloads/bin";

pub(crate) fn run(cx: &Context, args: &Overhead) -> Result<Exit> {
    if !inside::is() {
        return inside::run(&args.site);
    }
    let ways = Ways::find(args.site.device).map_err(|e| Failure::of(&e))?;
    let built = Some(PathBuf::from(PROGRAMS)).filter(|folder| folder.is_dir());
    let programs = args.programs.clone().or(built);
    if programs.is_none() {
        cx.ui.warn(
            "no workloads are measured; build them with `make -C workloads`, or name their folder with --programs",
        );
    }
    let bytes = usize::try_from(args.bytes).unwrap_or(usize::MAX);
    let bytes = if args.quick { bytes.min(1 << 20) } else { bytes };
    let options = Options { quick: args.quick, bytes, programs, iperf3: args.iperf3 };
    let mut steps = Steps::new(cx.ui, "measuring");
    let report = measure(&ways, &options, &mut steps);
    steps.finish();
    let report = report.map_err(|e| Failure::of(&e))?;
    if let Some(file) = &args.svg {
        std::fs::write(file, report.svg()).during(format!("cannot write {}", file.display()))?;
    }
    cx.ui.result(&report, || report.to_string());
    // A claim that does not hold is an answer, not an error.
    Ok(if report.claims().iter().all(|claim| claim.holds) { Exit::Ok } else { Exit::Negative })
}
