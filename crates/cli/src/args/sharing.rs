//! Options of commands about shared boards.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use super::parse;
use crate::top::Address;

pub(super) const MANAGER_HELP: &str = "\
Examples:
  rackloom manager                            for programs on this machine
  rackloom manager --cards virtual            the cards of a rack
  rackloom manager --listen tls:0.0.0.0:7000 --tls-self-signed manager.pem --tokens tokens.txt
                                              for other machines, too; it prints ...#sha256:DIGEST
  RACKLOOM_MANAGERS=tls:10.0.0.7:7000#sha256:DIGEST clinfo
                                              a program that uses it";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom manager --metrics 127.0.0.1:9464 &  a manager to watch
  rackloom top                                 until `q` is pressed
  rackloom top node-a:9464 node-b:9464         several managers
  rackloom top --snapshot --interval 10s       one table, of the next ten seconds")]
pub(crate) struct Top {
    /// Where managers serve their metrics (`rackloom manager --metrics`), as ADDRESS:PORT or http://ADDRESS:PORT/PATH
    #[arg(value_name = "MANAGER", default_value = Address::DEFAULT)]
    pub(crate) managers: Vec<Address>,
    /// Time between updates, at least 100ms; rates are averages over this time
    #[arg(long, short, default_value = "1s", value_name = "TIME", value_parser = parse::interval)]
    pub(crate) interval: Duration,
    /// Print one table and exit; this is the default without a terminal
    #[arg(long)]
    pub(crate) snapshot: bool,
}

/// The device of a measurement, and the OpenCL libraries.
#[derive(Debug, Args)]
pub(crate) struct OpenClSite {
    /// The vendor's OpenCL library [default: the first that /etc/OpenCL/vendors names]
    #[arg(long, value_name = "LIBRARY", value_hint = ValueHint::FilePath)]
    pub(crate) runtime: Option<PathBuf>,
    /// Number of the device among those of that library
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) device: usize,
    /// Rackloom's OpenCL library [default: the one beside this program]
    #[arg(long, value_name = "LIBRARY", value_hint = ValueHint::FilePath)]
    pub(crate) library: Option<PathBuf>,
    /// Devices whose clients get a process each, as of the manager: `all` and `none` show what these cost
    #[arg(long, value_name = "WHICH", default_value = "all", hide_possible_values = true)]
    pub(crate) isolate: rackloom_manager::Isolate,
}
