//! `rackloom study blastfunction-sharing`: functions that share boards, beside functions with a board each.

use rackloom_study_blastfunction::sharing::{Options, run as measure};

use super::verdict;
use crate::args::BlastFunctionSharing;
use crate::bench::warn_if_debug;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::ui::Steps;

/// Seconds of a configuration in a quick run.
const QUICK: u32 = 1;

pub(super) fn run(cx: &Context, args: &BlastFunctionSharing) -> Result<Exit> {
    warn_if_debug(cx);
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).during(format!("cannot create the folder {}", folder.display()))?;
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
        cx.ui.warn("no OpenCL runtime is installed, so this machine's processor is not measured; --runtime names one");
    }
    if let Some(folder) = &args.svg {
        for (name, svg) in report.svgs() {
            let file = folder.join(format!("blastfunction-sharing-{name}.svg"));
            std::fs::write(&file, svg).during(format!("cannot write {}", file.display()))?;
        }
    }
    cx.ui.result(&report, || report.to_string());
    Ok(verdict(report.claims()))
}
