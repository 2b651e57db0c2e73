//! `rackloom manager`: the daemon that shares this machine's OpenCL devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rackloom_manager::Options;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::interrupt;

/// A running manager.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ManagerReport {
    /// `rackloom.manager/1`
    schema: &'static str,
    /// Where programs reach it: the value for RACKLOOM_MANAGERS.
    endpoints: Vec<String>,
    /// Its boards, by number.
    boards: Vec<String>,
    /// Their ids at the registry, in the same order; empty without a registry.
    devices: Vec<String>,
    /// Where it serves metrics for Prometheus.
    metrics: Option<String>,
}

/// How long a signal to stop may go unnoticed.
const TICK: Duration = Duration::from_millis(50);

pub(super) fn run(cx: &Context, options: &Options) -> Result<Exit> {
    let keys = options.cards.as_ref().map(|net| cx.keys(net)).transpose()?.flatten();
    let insecure_open = cx.global.insecure_open;
    let options = Options { signers: cx.policy()?, keys, insecure_open, ..options.clone() };
    if options.signers.is_some() && options.cards.is_none() {
        return Err(Failure::new("a policy is about images for cards, and this manager shares no cards")
            .help("give it --cards NET, or neither --signers nor RACKLOOM_SIGNERS"));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    interrupt::instead(move || stopped.store(true, Ordering::Release));
    let service = options.start().map_err(|e| Failure::of(&*e))?;
    let report = ManagerReport {
        schema: "rackloom.manager/1",
        endpoints: service.endpoints().map(ToString::to_string).collect(),
        boards: service.boards(),
        devices: service.devices(),
        metrics: service.metrics().map(|at| format!("http://{at}/metrics")),
    };
    cx.ui.result(&report, || {
        let mut lines: Vec<_> = report.endpoints.iter().map(|at| format!("listening on {at}")).collect();
        lines.extend(report.boards.iter().enumerate().map(|(number, board)| format!("board {number}: {board}")));
        lines.extend(report.devices.iter().enumerate().map(|(number, id)| format!("board {number} is device {id}")));
        lines.extend(report.metrics.iter().map(|at| format!("metrics at {at}")));
        lines.join("\n")
    });
    if report.devices.is_empty() {
        cx.ui.say(format!("programs reach it with RACKLOOM_MANAGERS={}", report.endpoints.join(",")));
    } else {
        cx.ui.say("programs reach it with the environment that `rackloom registry allocate` prints");
    }
    while !stop.load(Ordering::Acquire) {
        std::thread::sleep(TICK);
    }
    cx.ui.say("stopping, once the running tasks have ended");
    Ok(Exit::Ok)
}
