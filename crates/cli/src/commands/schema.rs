//! `rackloom schema`: the JSON Schema of what --json prints.

use rackloom_study_diad as diad;
use rackloom_study_optweb as optweb;
use schemars::{JsonSchema, Schema, schema_for};

use super::run::RunReport;
use super::{
    card, comm, connect, demo, doctor, image, info, key, load, ls, manager, map, memory, nic, rma, stream, study, up,
};
use crate::bench;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{ErrorReport, Failure, Result};

/// A schema's name, the commands that print it, and its maker.
type Entry = (&'static str, &'static str, fn() -> Schema);

/// All of them, by name.
pub(super) const ALL: [Entry; 48] = [
    ("rackloom.bench-load/1", "bench load", of::<bench::load::BenchLoad>),
    ("rackloom.bench-nic/1", "bench nic", of::<bench::nic::BenchNic>),
    (
        rackloom_study_blastfunction::overhead::SCHEMA,
        "bench opencl-overhead",
        of::<rackloom_study_blastfunction::overhead::Report>,
    ),
    ("rackloom.bench-rma/1", "bench rma", of::<bench::rma::BenchRma>),
    ("rackloom.bench-rtt/1", "bench rtt", of::<bench::rtt::BenchRtt>),
    ("rackloom.card/1", "card add, card rm, card ls", of::<card::CardReport>),
    ("rackloom.comm-bench/1", "comm bench", of::<comm::CommBenchReport>),
    ("rackloom.comm-run/1", "comm run", of::<comm::CommReport>),
    ("rackloom.comm-topology/1", "comm topology", of::<comm::CommTopologyReport>),
    ("rackloom.demo/1", "demo", of::<demo::DemoReport>),
    ("rackloom.doctor/1", "doctor", of::<doctor::DoctorReport>),
    ("rackloom.error/1", "every command that fails", of::<ErrorReport>),
    ("rackloom.image/1", "image show, image build", of::<image::ImageReport>),
    ("rackloom.image-verify/1", "image verify", of::<image::VerifyReport>),
    ("rackloom.info/2", "info", of::<info::InfoReport>),
    ("rackloom.load/1", "load", of::<load::LoadOutcome>),
    ("rackloom.ls/1", "ls", of::<ls::LsReport>),
    ("rackloom.ls-event/1", "ls --watch, one line per event after the snapshot", of::<ls::LsEvent>),
    ("rackloom.manager/1", "manager, once it serves", of::<manager::ManagerReport>),
    ("rackloom.memory/1", "mem read, mem write", of::<memory::MemoryReport>),
    ("rackloom.nic/1", "nic ls", of::<nic::NicList>),
    ("rackloom.rma/1", "rma read, rma write, rma add", of::<rma::RmaReport>),
    ("rackloom.rma-map/1", "rma map, once the program has ended", of::<map::MapReport>),
    ("rackloom.rma-open/1", "rma open, once the window is open", of::<rma::WindowReport>),
    ("rackloom.run/1", "run", of::<RunReport>),
    ("rackloom.signer/1", "key signer", of::<key::SignerReport>),
    ("rackloom.stream-connect/1", "stream connect, once all is joined", of::<connect::JoinedReport>),
    ("rackloom.stream-message/1", "stream receive, one line per message", of::<stream::MessageReport>),
    ("rackloom.stream-sent/1", "stream send", of::<stream::SentReport>),
    ("rackloom.studies/1", "study without a name", of::<study::StudyList>),
    (
        rackloom_study_blastfunction::sharing::SCHEMA,
        "study blastfunction-sharing",
        of::<rackloom_study_blastfunction::sharing::Report>,
    ),
    (diad::features::SCHEMA, "study diad-features", of::<diad::features::Report>),
    (diad::latency::SCHEMA, "study diad-latency", of::<diad::latency::Report>),
    (diad::multichase::SCHEMA, "study diad-multichase", of::<diad::multichase::Report>),
    (diad::throughput::SCHEMA, "study diad-throughput", of::<diad::throughput::Report>),
    (optweb::applications::SCHEMA, "study optweb-applications", of::<optweb::applications::Report>),
    (optweb::collectives::SCHEMA, "study optweb-collectives", of::<optweb::collectives::Report>),
    (optweb::cost::SCHEMA, "study optweb-cost", of::<optweb::cost::Report>),
    (optweb::gateware::SCHEMA, "study optweb-gateware", of::<optweb::gateware::Report>),
    (optweb::jitter::SCHEMA, "study optweb-jitter", of::<optweb::jitter::Report>),
    (optweb::topologies::SCHEMA, "study optweb-topologies", of::<optweb::topologies::Report>),
    (rackloom_study_saf::cost::SCHEMA, "study saf-cost", of::<rackloom_study_saf::cost::Report>),
    (rackloom_study_saf::ondemand::SCHEMA, "study saf-ondemand", of::<rackloom_study_saf::ondemand::Report>),
    (rackloom_study_saf::reconfigure::SCHEMA, "study saf-reconfigure", of::<rackloom_study_saf::reconfigure::Report>),
    (rackloom_study_saf::scaling::SCHEMA, "study saf-scaling", of::<rackloom_study_saf::scaling::Report>),
    ("rackloom.text/1", "completions, help topics, reference", of::<super::docs::TextReport>),
    ("rackloom.top/1", "top, one line per interval", of::<crate::top::TopReport>),
    ("rackloom.up/1", "up, once the cards are up", of::<up::UpReport>),
];

fn of<T: JsonSchema>() -> Schema {
    schema_for!(T)
}

pub(super) fn show(cx: &Context, name: Option<&str>) -> Result<Exit> {
    let Some(name) = name else {
        let list: Vec<_> = ALL.iter().map(|(name, _, _)| *name).collect();
        cx.ui.result(&list, || list.join("\n"));
        return Ok(Exit::Ok);
    };
    let found = ALL.iter().find(|(n, _, _)| *n == name || n.trim_start_matches("rackloom.") == name);
    let (_, _, make) = found
        .ok_or_else(|| Failure::new(format!("unknown schema `{name}`")).help("`rackloom schema` lists all schemas"))?;
    cx.ui.text(serde_json::to_string_pretty(&make()).expect("schemas are JSON"));
    Ok(Exit::Ok)
}
