//! `rackloom bench opencl-sharing`: boards that are shared, beside boards of one's own.

use rackloom_study_blastfunction::sharing::{Options, run as measure};

use crate::args::Sharing;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::ui::Steps;

/// Seconds of a configuration in a check that all runs.
const QUICK: u32 = 1;

pub(crate) fn run(cx: &Context, args: &Sharing) -> Result<Exit> {
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).during(format!("cannot make the folder {}", folder.display()))?;
    }
    let options = Options {
        seconds: if args.quick { QUICK } else { args.seconds },
        quick: args.quick,
        policy: args.policy,
        programs: args.programs.clone(),
        library: args.site.library.clone(),
        runtime: args.site.runtime.clone(),
        device: args.site.device,
    };
    let mut steps = Steps::new(cx.ui, "measuring");
    let report = measure(&options, &mut steps);
    steps.finish();
    let report = report.map_err(|e| Failure::of(&e))?;
    if report.is_without_runtime() {
        cx.ui.warn("no OpenCL runtime is installed, so this machine's processor is left out; name one by --runtime");
    }
    if let Some(folder) = &args.svg {
        for (name, svg) in report.svgs() {
            let file = folder.join(format!("opencl-sharing-{name}.svg"));
            std::fs::write(&file, svg).during(format!("cannot write {}", file.display()))?;
        }
    }
    cx.ui.result(&report, || report.to_string());
    // A claim that does not hold is an answer, not an error.
    Ok(if report.claims().iter().all(|claim| claim.holds) { Exit::Ok } else { Exit::Negative })
}
