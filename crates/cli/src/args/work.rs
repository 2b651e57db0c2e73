//! Options of commands that work with cards: images, kernels, memory.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::parse::{self, TileExtent};

/// The cards that a command uses.
#[derive(Debug, Clone, Args)]
pub(crate) struct Cards {
    /// A card, by name (card3), unit number (3) or address; may be repeated
    #[arg(long = "card", value_name = "CARD", conflicts_with = "all")]
    pub(crate) cards: Vec<String>,
    /// All cards that answer: the default
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImageAction {
    /// Build an image from a folder with role.toml and C files
    Build {
        /// The folder
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
        /// The image file to write
        #[arg(long, short, value_name = "FILE.rli", value_hint = ValueHint::FilePath)]
        output: PathBuf,
        /// Pad the model part to this size, to make it as large as a bitstream
        #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
        pad_to: Option<u64>,
        /// The bitstream that boards load to have this role
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        bitstream: Option<PathBuf>,
    },
    /// Show what an image contains
    Show {
        /// A file, or the name of a built-in role
        image: String,
    },
    /// Sign an image, for cards that run signed images only
    #[command(disable_version_flag = true)]
    Sign {
        /// A file, or the name of a built-in role
        image: String,
        /// The signer's keys, from `rackloom key signer`
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        signer: PathBuf,
        /// The version, from 1 up: a card that has run a version of the role runs no older one of this signer
        #[arg(long = "version", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        number: u64,
        /// The image file to write; it may be the one that is signed
        #[arg(long, short, value_name = "FILE.rli", value_hint = ValueHint::FilePath)]
        output: PathBuf,
    },
    /// Check every digest of an image, that its model part can run, its signature, and with --signers who signed it
    Verify {
        /// A file, or the name of a built-in role
        image: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Load {
    /// An image file, or the name of a built-in role: ptrans, vadd, sobel or gemm
    pub(crate) image: String,
    #[command(flatten)]
    pub(crate) cards: Cards,
    /// Activate the image on no card unless every card has verified it
    #[arg(long)]
    pub(crate) all_or_none: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom run ptrans A.npy B.npy -o C.npy
  rackloom run gemm A.npy B.npy -o C.npy --exchange cards
  rackloom run ./my.rli/blur IN.npy -o OUT.npy --card card0 --card card2")]
pub(crate) struct Run {
    /// An image file or built-in role, and one of its kernels
    #[arg(value_name = "ROLE[/KERNEL]")]
    pub(crate) role: String,
    /// The inputs, in the order of the kernel's arguments
    #[arg(value_name = "IN.npy", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// File for an output; repeat it for a kernel with several
    #[arg(long, short, value_name = "OUT.npy", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) cards: Cards,
    /// Value of a scalar of the kernel, such as alpha=0.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Extent of a tile in a dimension, such as i=128; may be repeated
    #[arg(long, value_name = "DIM=N")]
    pub(crate) tile: Vec<TileExtent>,
    /// How blocks that several cards need come to them; ptrans and gemm have both ways
    #[arg(long, value_enum, default_value_t)]
    pub(crate) exchange: ExchangeWay,
}

/// How blocks that several cards need come to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExchangeWay {
    /// From the host, with each tile: on any cards, which may come and go
    #[default]
    Host,
    /// From card to card: on model cards, all of which have to stay
    Cards,
}

impl ExchangeWay {
    /// As the option takes it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Cards => "cards",
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemAction {
    /// Read a card's memory
    Read(MemRead),
    /// Write a file to a card's memory
    Write(MemWrite),
}

#[derive(Debug, Args)]
pub(crate) struct MemRead {
    /// The card, by name, unit number or address
    pub(crate) card: String,
    /// First address, such as 0x200000 or 2M
    #[arg(value_parser = parse::bytes)]
    pub(crate) addr: u64,
    /// Number of bytes
    #[arg(value_parser = parse::bytes)]
    pub(crate) len: u64,
    /// Write the bytes to this file instead of showing them
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MemWrite {
    /// The card, by name, unit number or address
    pub(crate) card: String,
    /// First address, such as 0x200000 or 2M
    #[arg(value_parser = parse::bytes)]
    pub(crate) addr: u64,
    /// File with the bytes
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}
