//! Runs this program again in an environment with a manager and its device, where benches of OpenCL run.

use std::process::Command;

use clap::ValueEnum;
use rackloom_study_blastfunction::site::{Site, SiteOptions};

use crate::args::OpenClSite;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};

/// Set in the environment of a site.
const MARK: &str = "RACKLOOM_BENCH_INSIDE";

/// Whether this process was started by [`run`].
pub(super) fn is() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Starts a manager, and this command again inside its site.
pub(super) fn run(options: &OpenClSite) -> Result<Exit> {
    let this = std::env::current_exe().during("cannot find this program")?;
    let isolate = options.isolate.to_possible_value().expect("no value is hidden");
    let site = Site::start(&SiteOptions {
        manager: vec![
            this.clone().into(),
            "manager".into(),
            "--quiet".into(),
            "--isolate".into(),
            isolate.get_name().into(),
        ],
        library: options.library.clone(),
        runtime: options.runtime.clone(),
    });
    let site = site.map_err(|e| Failure::of(&e))?;
    let mut again = Command::new(this);
    again.args(std::env::args_os().skip(1)).envs(site.environment()).env(MARK, "1");
    let status = again.status().during("cannot start this program again")?;
    // The inner command has printed everything.
    Ok(match status.code() {
        Some(0) => Exit::Ok,
        Some(1) => Exit::Negative,
        Some(130) | None => Exit::Interrupted,
        Some(_) => Exit::Error,
    })
}
