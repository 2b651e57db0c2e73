//! The benches and their options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use rackloom_manager::scheduler::Policy;

use super::parse;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Broadcast an image to cards in this process, beside a memcpy
    Load {
        /// Cards
        #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
        cards: u16,
        /// Size of the image
        #[arg(long, default_value = "97.4M", value_name = "BYTES", value_parser = parse::bytes)]
        bytes: u64,
        /// Times it is done; the median counts
        #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
        times: u16,
        /// Standard frames instead of jumbo frames
        #[arg(long)]
        standard: bool,
    },
    /// Read 8 bytes of a card's memory, again and again
    Rtt {
        /// Reads that are measured
        #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..))]
        reads: u32,
    },
    /// OpenCL calls, transfers and programs, natively and through a manager
    OpenclOverhead(Overhead),
    /// Five OpenCL functions share three boards, beside three that have a board each
    OpenclSharing(Sharing),
}

/// Which device, and whose library.
#[derive(Debug, Args)]
pub(crate) struct OpenClSite {
    /// Vendor's OpenCL library; the first that /etc/OpenCL/vendors names unless told otherwise
    #[arg(long, value_name = "LIBRARY", value_hint = ValueHint::FilePath)]
    pub(crate) runtime: Option<PathBuf>,
    /// Number of the device among that library's
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: usize,
    /// Rackloom's OpenCL library; beside this program unless told otherwise
    #[arg(long, value_name = "LIBRARY", value_hint = ValueHint::FilePath)]
    pub(crate) library: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Overhead {
    #[command(flatten)]
    pub(crate) site: OpenClSite,
    /// Folder of the workloads' programs [default: out/workloads/bin]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) programs: Option<PathBuf>,
    /// Largest transfer
    #[arg(long, default_value = "1G", value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) bytes: u64,
    /// A check of seconds that all runs, and no measurement
    #[arg(long)]
    pub(crate) quick: bool,
    /// Draw the round trips to this file
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom bench opencl-sharing --svg .         three minutes, and charts here
  rackloom bench opencl-sharing --policy fifo   tasks as they come, as in the paper")]
pub(crate) struct Sharing {
    #[command(flatten)]
    pub(crate) site: OpenClSite,
    /// Folder of the workloads' programs
    #[arg(long, value_name = "FOLDER", default_value = "out/workloads/bin", value_hint = ValueHint::DirPath)]
    pub(crate) programs: PathBuf,
    /// Seconds of load in each configuration
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// The order of tasks on the boards of the tables
    #[arg(long, value_enum, default_value_t)]
    pub(crate) policy: Policy,
    /// A few configurations of a second: a check that all runs, and no measurement
    #[arg(long, conflicts_with = "seconds")]
    pub(crate) quick: bool,
    /// Draw charts into this folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) svg: Option<PathBuf>,
}
