//! The benches and their options.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::parse;
use super::sharing::OpenClSite;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Broadcast an image to cards in this process, beside a memcpy
    Load {
        /// Number of cards
        #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
        cards: u16,
        /// Size of the image
        #[arg(long, default_value = "97.4M", value_name = "BYTES", value_parser = parse::bytes)]
        bytes: u64,
        /// Number of loads, of which the median is reported
        #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
        times: u16,
        /// Use standard frames instead of jumbo frames
        #[arg(long)]
        standard: bool,
        /// Load as often into cards with keys, and compare, with --encrypt also encrypted; loads then are repeated for
        /// a second at least
        #[arg(long)]
        keys: bool,
        /// Load as often while a stranger floods the cards with keys and their host at this rate, and compare
        #[arg(long, value_name = "BITS", value_parser = parse::rate, requires = "keys", num_args = 0..=1,
            default_missing_value = "1G")]
        flood: Option<NonZeroU64>,
    },
    /// Read 8 bytes of a card's memory, again and again
    Rtt {
        /// Number of reads to measure
        #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..))]
        reads: u32,
        /// Read as often from a card with a key, and compare; with --encrypt also encrypted
        #[arg(long)]
        keys: bool,
    },
    /// Read a card's memory through the bridge, beside datagrams of UDP
    Rma {
        /// Number of reads to measure
        #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..))]
        reads: u32,
    },
    /// Send from host to host through cards, beside a veth pair (needs root)
    Nic {
        /// How long each measurement takes
        #[arg(long, default_value = "5s", value_name = "TIME", value_parser = parse::whole_seconds)]
        time: u64,
        /// MTU of the hosts' interfaces
        #[arg(long, default_value_t = 1500, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1280..=9000))]
        mtu: u16,
        /// Streams of TCP at a time
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
        streams: u16,
    },
    /// Compare OpenCL calls, transfers and programs: natively and through a manager
    OpenclOverhead(Overhead),
}

#[derive(Debug, Args)]
pub(crate) struct Overhead {
    #[command(flatten)]
    pub(crate) site: OpenClSite,
    /// Folder of the workload programs [default: out/workloads/bin]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) programs: Option<PathBuf>,
    /// Largest transfer
    #[arg(long, default_value = "1G", value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) bytes: u64,
    /// Measure iperf3 as well, in turn with transfers of 16 MiB over TCP
    #[arg(long)]
    pub(crate) iperf3: bool,
    /// Check in seconds that everything works; not a measurement
    #[arg(long)]
    pub(crate) quick: bool,
    /// Draw the round trips to this file
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
}
