//! `rackloom bench nic`: what a host sends through its card and another one to another host, beside what the same
//! kernel sends between the same two namespaces without cards.

use rackloom_live::{Cable, MTU_STANDARD, Tap, Uplink};
use rackloom_report::Table;
use rackloom_wire::{BULK_STANDARD, MacAddr};
use schemars::JsonSchema;
use serde::Serialize;

use super::machines::{self, Machines, Measured};
use super::process::processor;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::rack::{self, Kind, LiveRack, NicPlug, Pace, Shape, Topology};

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BenchNic {
    /// `rackloom.bench-nic/1`
    schema: &'static str,
    /// The processor.
    processor: String,
    /// Processors that this process may use.
    threads: usize,
    /// Whether this is an optimised build.
    release: bool,
    /// Seconds of each measurement.
    seconds: u64,
    /// MTU of the hosts' interfaces.
    mtu: u16,
    /// Streams of TCP at a time.
    streams: u16,
    /// Each way between the two hosts.
    ways: Vec<Way>,
    /// What the cards carry, as a part of what the veth pair carries.
    ratio: f64,
}

/// A way between two hosts.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Way {
    /// `cards`, `taps` (the same interfaces joined by a cable, without cards) or `veth` (a veth pair, through which the
    /// kernel hands up to 64 KiB of TCP at a time, where the others take each frame by itself).
    way: &'static str,
    /// TCP's payload, gigabits a second.
    gbit_per_second: f64,
    /// Segments that TCP sent again.
    retransmits: u64,
    /// Mean time of a ping and its answer, microseconds.
    ping_us: f64,
}

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameters {
    pub(crate) seconds: u64,
    pub(crate) mtu: u16,
    pub(crate) streams: u16,
}

pub(crate) fn run(cx: &Context, parameters: Parameters) -> Result<Exit> {
    machines::check()?;
    let Parameters { seconds, mtu, streams } = parameters;
    let mut ways = Vec::new();
    let mut measure = |way: &'static str, machines: &Machines| -> Result<f64> {
        let Measured { bits_per_second, retransmits, ping_us } = machines.measure(seconds, streams)?;
        ways.push(Way { way, gbit_per_second: bits_per_second / 1e9, retransmits, ping_us });
        Ok(bits_per_second)
    };
    let names = [0, 1].map(|i| format!("rlb{i}-{}", std::process::id()));
    let cards = {
        let machines = Machines::new()?;
        let _rack = two_cards(&names)?;
        machines.take([&names[0], &names[1]], mtu)?;
        measure("cards", &machines)?
    };
    {
        let machines = Machines::new()?;
        let _uplinks = two_taps(&names)?;
        machines.take([&names[0], &names[1]], mtu)?;
        measure("taps", &machines)?;
    }
    let veth = {
        let machines = Machines::new()?;
        machines.join(mtu)?;
        measure("veth", &machines)?
    };
    let report = BenchNic {
        schema: "rackloom.bench-nic/1",
        processor: processor(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        release: !cfg!(debug_assertions),
        seconds,
        mtu,
        streams,
        ways,
        ratio: cards / veth,
    };
    cx.ui.result(&report, || {
        let mut table = Table::new(&["WAY", ">GBIT/S", ">AGAIN", ">PING US"]);
        for way in &report.ways {
            let figures = [format!("{:.2}", way.gbit_per_second), way.retransmits.to_string()];
            let [rate, again] = figures;
            table.row([way.way.to_owned(), rate, again, format!("{:.0}", way.ping_us)]);
        }
        let (percent, threads) = (report.ratio * 100.0, report.threads);
        format!("{table}cards carry {percent:.0} % of veth\n{threads} threads of {}\n", report.processor)
    });
    Ok(Exit::Ok)
}

/// Two cards on one switch, with a host behind each.
fn two_cards(names: &[String; 2]) -> Result<LiveRack> {
    let plug = |(unit, name): (u16, &String)| NicPlug { unit, interface: name.clone(), hook: None };
    let nics = (0..).zip(names).map(plug).collect();
    let topology = Topology::default().with_nics(nics).map_err(|e| Failure::of(&e))?;
    let shape = Shape { memory: Some(64 << 20), bulk: BULK_STANDARD, seed: 1, pace: Pace::Live, rate: None };
    let mut rack = rack::local(shape, topology)?;
    for _ in names {
        rack.add(Kind::Model)?;
    }
    Ok(rack)
}

/// The same interfaces at the ends of a cable.
fn two_taps(names: &[String; 2]) -> Result<Vec<Uplink>> {
    let cable = Cable::new();
    let joined = (1..).zip(names).map(|(n, name)| {
        let tap = Tap::open(name, MacAddr([2, 0, 0, 0, 0, n]), MTU_STANDARD).map_err(|e| Failure::of(&e))?;
        let end = cable.end(name).map_err(|e| Failure::of(&e))?;
        Uplink::spawn_for_host(end, tap).during("cannot start an uplink")
    });
    joined.collect()
}
