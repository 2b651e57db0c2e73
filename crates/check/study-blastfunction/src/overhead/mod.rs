//! `bench opencl-overhead`: what the manager adds to OpenCL calls, to transfers, and to whole programs.
//!
//! The BlastFunction paper measures this in its section IV-A (figures 4 and 5): round trips of a write and a read,
//! Sobel and matrix multiplication by size, natively and remotely, on one node.

mod calls;
mod loopback;
mod report;
mod transfers;
mod workloads;

use std::path::PathBuf;
use std::time::Duration;

use opencl3::device::{CL_DEVICE_TYPE_CPU, Device};
use rackloom_report::Progress;

use crate::error::Result;
use crate::lane::Lane;
use crate::sample::{Effort, Turns};
use crate::site::Ways;

pub use report::{Report, Row, SCHEMA};

/// What is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// A few seconds instead of minutes: a check that all runs, and no measurement.
    pub quick: bool,
    /// Largest transfer, bytes.
    pub bytes: usize,
    /// Folder of the workloads' programs; none leaves them out.
    pub programs: Option<PathBuf>,
    /// Whether iperf3 is measured beside transfers over TCP.
    pub iperf3: bool,
}

/// A bench under way.
struct Bench<'a> {
    ways: &'a Ways,
    lanes: [Lane; 3],
    options: &'a Options,
    rows: Vec<Row>,
    progress: &'a mut dyn Progress,
    steps: usize,
}

impl Bench<'_> {
    /// How much time a row gets in each way.
    fn effort(&self, least: usize, most: usize, ms: u64) -> Effort {
        if self.options.quick {
            Effort { least: 2, most: 10, time: Duration::ZERO }
        } else {
            Effort { least, most, time: Duration::from_millis(ms) }
        }
    }

    /// Notes a row.
    fn row(&mut self, group: &'static str, case: String, bytes: Option<u64>, turns: Turns<3>) {
        self.progress.step(self.rows.len() + 1, self.steps, &format!("{group} {case}"));
        let ([native, shared_memory, network], [_, shared_memory_ratio, network_ratio]) = (turns.stats, turns.ratios);
        self.rows.push(Row {
            group,
            case,
            bytes,
            native,
            shared_memory,
            shared_memory_ratio,
            network,
            network_ratio,
            transfers_us: None,
        });
    }
}

/// Measures.
///
/// # Errors
/// A call or a workload fails, or gives a wrong result.
pub fn run(ways: &Ways, options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let lanes = [Lane::open(ways.devices[0])?, Lane::open(ways.devices[1])?, Lane::open(ways.devices[2])?];
    let steps = calls::ROWS
        + transfers::rows(options)
        + options.programs.as_ref().map_or(0, |_| workloads::rows(options.quick));
    let mut bench = Bench { ways, lanes, options, rows: Vec::new(), progress, steps };
    bench.calls()?;
    let sweep = bench.sweep()?;
    bench.transfers()?;
    let loopback = options.iperf3.then(|| bench.loopback()).transpose()?;
    let copies = match &options.programs {
        Some(folder) => {
            bench.workloads(folder)?;
            Some(bench.copies(folder)?)
        }
        None => None,
    };
    let is_processor = Device::new(ways.devices[0]).dev_type()? & CL_DEVICE_TYPE_CPU != 0;
    let device = (ways.name.clone(), is_processor);
    Ok(Report::new(device, bench.rows, sweep, loopback, copies, options.quick))
}
