//! Options of `rackloom key`.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};
use rackloom::MacAddr;

#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Draw a rack's key: keep it away from cards and hosts
    New {
        /// For a rack of cards whose addresses come from this seed: they need not be named then
        #[arg(long, value_name = "NUMBER")]
        seed: Option<u64>,
        /// The file to make; only you can read it
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: PathBuf,
    },
    /// Draw the next generation of a rack's key
    ///
    /// Files of cards and hosts that are made from it have the keys of this generation and of the one before, so that
    /// they can be given out one after the other.
    Next {
        /// The rack's key so far
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        rack: PathBuf,
        /// The file to make; only you can read it
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: PathBuf,
    },
    /// Make the keys of cards, for `rackloom up --keys` and `rackloom card keys`
    Cards {
        /// The rack's key
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        rack: PathBuf,
        /// Numbers of the hosts that may claim these cards; 7.1 for the second key of host 7, its first being withdrawn
        #[arg(long, value_name = "N[.GENERATION]", value_delimiter = ',', required = true)]
        hosts: Vec<HostName>,
        /// Leave out the generation before, once everybody has the newest
        #[arg(long)]
        newest_only: bool,
        /// The file to make; only you can read it
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: PathBuf,
        /// Addresses of the cards. Default: those of the seed that the rack's key is for
        #[arg(value_name = "ADDRESS")]
        cards: Vec<MacAddr>,
    },
    /// Make the keys of cards that refuse hosts, whose keys were lost
    ///
    /// All others are served as before.
    Revoke {
        /// The keys of the cards so far
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        keys: PathBuf,
        /// Numbers of the hosts
        #[arg(long, value_name = "N", value_delimiter = ',', required = true)]
        hosts: Vec<u16>,
        /// The file to make; only you can read it
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: PathBuf,
    },
    /// Draw a signer's keys, for `rackloom image sign`, and print the public one, for policies
    Signer {
        /// The file to make; only you can read it
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: PathBuf,
    },
    /// Make the keys of a host, for --key
    Host {
        /// The rack's key
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        rack: PathBuf,
        /// The host's number, from 0 to 65535; 7.1 for its second key
        #[arg(long, value_name = "N[.GENERATION]")]
        host: HostName,
        /// Leave out the generation before, once everybody has the newest
        #[arg(long)]
        newest_only: bool,
        /// The file to make; only you can read it
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: PathBuf,
        /// Addresses of the cards that it may claim. Default: those of the seed that the rack's key is for
        #[arg(value_name = "ADDRESS")]
        cards: Vec<MacAddr>,
    },
}

/// A host's number, and the generation of its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostName {
    pub(crate) number: u16,
    pub(crate) generation: u32,
}

impl std::str::FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, generation) = text.split_once('.').unwrap_or((text, "0"));
        let number = number.parse().map_err(|_| "a host's number is 0 to 65535".to_owned())?;
        let generation = generation.parse().map_err(|_| "a generation is a number".to_owned())?;
        Ok(Self { number, generation })
    }
}
