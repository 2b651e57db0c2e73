//! `rackloom info`: one card.

use std::collections::BTreeMap;

use rackloom_image::{Dir, Kernel, Manifest};
use rackloom_wire::Counter;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cards::Roster;
use crate::commands::ls::{CardRow, learn_roles, row};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::format;

/// One card.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InfoReport {
    /// `rackloom.info/2`
    schema: &'static str,
    /// As in `rackloom ls`.
    card: CardRow,
    /// Vendor and product id.
    ids: [u16; 2],
    /// Clock of the role, kHz.
    clock_khz: u32,
    /// Rate of port 0, bits per second.
    port_rate: u64,
    /// Address of port 1, if the card has one.
    mac1: Option<String>,
    /// Rate of staging, bytes per second; 0: no limit.
    stage_rate: u64,
    /// Rate of the configuration port, bytes per second; 0: no limit.
    config_rate: u64,
    /// Most payload bytes of a frame.
    bulk: u16,
    /// A random number, drawn at each start of the card.
    boot: u32,
    /// The active role's kernels.
    kernels: Vec<KernelRow>,
    /// The card's counters by name.
    counters: BTreeMap<&'static str, u64>,
}

/// A kernel.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KernelRow {
    /// Its name.
    pub(super) name: String,
    /// Its outputs and inputs, such as `c[ij]: f32 = ptrans(a[ji]: f32, b[ij]: f32)`.
    pub(super) signature: String,
}

pub(super) fn run(cx: &Context, card: &str) -> Result<Exit> {
    let rack = cx.connect()?;
    let roster = Roster::discover_named(&rack, &cx.global, &[card])?;
    let info = roster.find(card)?;
    let counters = rack.counters(&[info.mac]).wait_all()?;
    let manifest = match info.digest {
        Some(_) => rack.manifest(&[info.mac]).wait_all()?.first().and_then(|m| Manifest::from_json(m).ok()),
        None => None,
    };
    let mut roles = BTreeMap::new();
    learn_roles(&rack, std::slice::from_ref(info), &mut roles);
    let report = InfoReport {
        schema: "rackloom.info/2",
        card: row(&roster, info, &roles),
        ids: [info.vendor, info.product],
        clock_khz: info.clock_khz,
        port_rate: info.port_rate,
        mac1: (info.ports > 1).then(|| info.mac1.to_string()),
        stage_rate: info.stage_rate,
        config_rate: info.config_rate,
        bulk: info.bulk,
        boot: info.boot,
        kernels: manifest.iter().flat_map(|m| m.kernels.iter().map(kernel_row)).collect(),
        counters: Counter::NAMES.into_iter().zip(counters.into_iter().flatten()).collect(),
    };
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

pub(super) fn kernel_row(kernel: &Kernel) -> KernelRow {
    let of = |dir| {
        let arrays = kernel.arrays.iter().filter(move |a| a.dir == dir);
        arrays.map(|a| format!("{}[{}]: {}", a.name, a.index, dtype(a.dtype)))
    };
    let scalars = kernel.scalars.iter().map(|s| format!("{}: {}", s.name, dtype(s.dtype)));
    let outputs: Vec<_> = of(Dir::Out).collect();
    let inputs: Vec<_> = of(Dir::In).chain(scalars).collect();
    let signature = format!("{} = {}({})", outputs.join(", "), kernel.name, inputs.join(", "));
    KernelRow { name: kernel.name.clone(), signature }
}

fn dtype(dtype: rackloom_image::Dtype) -> String {
    format!("{dtype:?}").to_lowercase()
}

fn text(r: &InfoReport) -> String {
    use std::fmt::Write;
    let c = &r.card;
    let mut out = String::new();
    let mut line = |key: &str, value: String| _ = writeln!(out, "{key:<12}{value}");
    line("name", c.name.clone());
    line("address", c.mac.clone());
    line("kind", format!("{} {:04x}:{:04x}, unit {}", c.kind, r.ids[0], r.ids[1], c.unit));
    line("state", c.state.clone());
    line("owner", c.owner.clone().unwrap_or_else(|| "-".to_owned()));
    if !c.asks.is_empty() {
        line("asks for", c.asks.join(", "));
    }
    line("memory", format::memory(c.memory));
    line("port", format!("{:.1} Gb/s, payloads up to {} bytes", r.port_rate as f64 / 1e9, r.bulk));
    if c.ports > 1 {
        line("ports", format!("{}, numbered from 0", c.ports));
    }
    let config =
        if r.config_rate == 0 { "instantly".to_owned() } else { format!("{}/s", format::bytes(r.config_rate)) };
    line("configures", config);
    line("clock", format!("{} MHz", f64::from(r.clock_khz) / 1e3));
    line("role", c.role.clone().unwrap_or_else(|| "-".to_owned()));
    line("digest", c.digest.clone().unwrap_or_else(|| "-".to_owned()));
    for (i, k) in r.kernels.iter().enumerate() {
        line(if i == 0 { "kernels" } else { "" }, k.signature.clone());
    }
    let counted: Vec<_> = r.counters.iter().filter(|(_, n)| **n > 0).collect();
    for (i, (name, n)) in counted.into_iter().enumerate() {
        line(if i == 0 { "counters" } else { "" }, format!("{n:>14} {name}"));
    }
    out
}
