//! The command line: one definition for parsing, help, completions, manual pages and the reference.

mod bench;
mod parse;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueHint};
use rackloom::Net;
use rackloom_rack::CableEnds;

pub(crate) use self::bench::{Bench, OpenClSite, Overhead, Sharing};
pub(crate) use self::parse::{CardCount, HotplugStep, Step, TileExtent};
use crate::top::Address;

/// Weaves a rack of network-attached FPGA cards into one machine.
#[derive(Debug, Parser)]
#[command(name = "rackloom", version, propagate_version = true, max_term_width = 100, styles = STYLES)]
#[command(after_help = AFTER_HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const STYLES: Styles =
    Styles::styled().header(AnsiColor::Green.on_default().bold()).literal(AnsiColor::Cyan.on_default().bold());

const AFTER_HELP: &str = "\
Try it without hardware:
  rackloom demo                           a rack of 20 cards, reconfigured and put to work
  rackloom up --cards 4                   a rack that other terminals attach to
  rackloom ls                             the cards of that rack
  rackloom run vadd A.npy B.npy -o C.npy  a kernel on arrays, spread over all cards

`rackloom help exit-codes` and `rackloom help environment` tell more.";

/// Options that mean the same with every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The segment: virtual, virtual:NAME, or eth:INTERFACE
    #[arg(long, global = true, env = "RACKLOOM_NET", value_name = "NET", default_value = "virtual")]
    #[arg(help_heading = "Everywhere")]
    pub(crate) net: Net,
    /// Print the result as JSON, with a documented schema
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// Tell nothing but results and errors
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub(crate) quiet: bool,
    /// Most time for the command's operations on cards
    #[arg(long, global = true, value_name = "TIME", default_value = "120s", value_parser = parse::duration)]
    #[arg(help_heading = "Everywhere")]
    pub(crate) timeout: Duration,
    /// How long to look for cards
    #[arg(long, global = true, value_name = "TIME", default_value = "1s", value_parser = parse::duration)]
    #[arg(help_heading = "Everywhere")]
    pub(crate) discover: Duration,
}

/// Which cards.
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
pub(crate) enum Command {
    /// Start a rack of cards and keep it up
    #[command(display_order = 1)]
    Up(Up),
    /// Plug cards into a rack that is up, or pull them out
    #[command(display_order = 2)]
    Card {
        #[command(subcommand)]
        action: CardAction,
    },
    /// List the cards that answer
    #[command(display_order = 3)]
    Ls(Ls),
    /// Show one card: what it announces, its kernels, its counters
    #[command(display_order = 4)]
    Info {
        /// The card, by name, unit number or address
        card: String,
    },
    /// Build, show or check role images
    #[command(display_order = 5)]
    Image {
        #[command(subcommand)]
        action: ImageAction,
    },
    /// Load an image into cards, all at once
    #[command(display_order = 6)]
    Load(Load),
    /// Run a role's kernel on .npy files, spread over cards
    #[command(display_order = 7)]
    Run(Run),
    /// Read a card's memory
    #[command(display_order = 8)]
    Read(Read),
    /// Write a file to a card's memory
    #[command(display_order = 9)]
    Write(Write),
    /// Share this machine's OpenCL devices, or cards, among programs, here and on other machines
    #[command(display_order = 10, after_help = MANAGER_HELP)]
    Manager(Box<rackloom_manager::Options>),
    /// Watch boards, tenants and queues of managers
    #[command(display_order = 11)]
    Top(Top),
    /// Allocate the boards of a cluster: be the registry, or ask the one that is
    #[command(display_order = 12, disable_help_flag = true)]
    Registry {
        /// What `rackloom-registry` is given; nothing or options alone: serve. `rackloom registry help` tells more
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
    /// A rack of cards in this process does real work, checked
    #[command(display_order = 13)]
    Demo(Demo),
    /// Redo the evaluation of the SAF paper, in virtual time
    #[command(display_order = 14)]
    Study(Study),
    /// Measure this machine
    #[command(display_order = 15)]
    Bench {
        #[command(subcommand)]
        bench: Bench,
    },
    /// Check what Rackloom needs on this machine
    #[command(display_order = 16)]
    Doctor,
    /// Print a completion script for a shell
    #[command(display_order = 17)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages
    #[command(display_order = 18)]
    Man {
        /// The folder for them; made if missing
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
    },
    /// Print the JSON Schema of what --json prints
    #[command(display_order = 19)]
    Schema {
        /// One schema, such as rackloom.ls/1; without it, the list of them
        name: Option<String>,
    },
    /// Print the reference pages of the documentation
    #[command(hide = true)]
    Reference {
        /// Which page
        #[arg(value_parser = ["cli", "json"])]
        page: String,
    },
    /// What the exit codes mean
    #[command(hide = true, name = "exit-codes", long_about = crate::exit::TOPIC)]
    ExitCodes,
    /// Environment variables
    #[command(hide = true, name = "environment", long_about = ENVIRONMENT)]
    Environment,
}

const MANAGER_HELP: &str = "\
Examples:
  rackloom manager                                     for programs of this machine
  rackloom manager --listen tcp:0.0.0.0:7000 --tokens tokens.txt   for others, too
  rackloom manager --cards virtual                     the cards of a rack
  RACKLOOM_MANAGERS=tcp:10.0.0.7:7000 clinfo           a program that uses it";

/// The help topic.
pub(crate) const ENVIRONMENT: &str = "\
RACKLOOM_NET    the segment when --net is not given
RACKLOOM_RUN    directory of virtual segments' sockets; it must be yours alone (mode
                700). Default: $XDG_RUNTIME_DIR/rackloom, or /tmp/rackloom-UID
RACKLOOM_CLANG  the clang that `image build` uses; default: the first that runs
NO_COLOR        set to anything but nothing: no colours";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom up --cards 4
  rackloom up --card rtl:2,model:6            two are the gateware in Verilator
  rackloom up --cards 4 --cable 0.1-1.1       a cable between two cards' ports
  rackloom up --cable 0.1-virtual:side        port 1 of card 0 on a network of its own
  rackloom up --cards 2 --hotplug 2s+4,5s-1   at 2 s four more, at 5 s one less
  rackloom up --net eth:veth0 --cards 8       on an Ethernet interface (needs CAP_NET_RAW)")]
pub(crate) struct Up {
    /// Model cards to start
    #[arg(long, default_value_t = 4, value_name = "N", conflicts_with = "card")]
    pub(crate) cards: u16,
    /// Cards of each kind to start, such as rtl:2,model:6: model cards, and the gateware in Verilator
    #[arg(long, value_name = "KIND:N", value_delimiter = ',')]
    pub(crate) card: Vec<CardCount>,
    /// A cable from a card's port to another card's, such as 0.1-1.1 for port 1 of cards 0 and 1, or to a network of its
    /// own, such as 0.1-virtual:side; may be repeated
    #[arg(long, value_name = "CARD.PORT-END")]
    pub(crate) cable: Vec<CableEnds>,
    /// A file of such cables, one a line
    #[arg(long, value_name = "FILE", conflicts_with = "cable", value_hint = ValueHint::FilePath)]
    pub(crate) topology: Option<PathBuf>,
    /// Memory of each card, such as 512M, which costs only what is touched; default: 4G, and 64M for rtl cards
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) memory: Option<u64>,
    /// Kernels take no less time than their role's clock and cost model state, as on a card
    #[arg(long)]
    pub(crate) clocked: bool,
    /// Plug and pull by the clock: TIME+N, TIME+KIND:N or TIME-N, separated by commas
    #[arg(long, value_name = "SCRIPT", value_delimiter = ',')]
    pub(crate) hotplug: Vec<HotplugStep>,
    /// Seed of the cards' addresses and random numbers
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Write all frames to this file
    #[arg(long, value_name = "FILE.pcap", value_hint = ValueHint::FilePath)]
    pub(crate) capture: Option<PathBuf>,
    /// Stop after this time; without it, at Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = parse::duration)]
    pub(crate) run_for: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CardAction {
    /// Plug in cards
    Add {
        /// How many, or of which kind and how many, such as rtl:2
        #[arg(value_name = "N|KIND:N", default_value = "1")]
        cards: CardCount,
    },
    /// Pull a card out
    Rm {
        /// The card, by name, unit number or address
        card: String,
        /// Without a goodbye, as when its power fails
        #[arg(long)]
        yank: bool,
    },
    /// List what is plugged in, as the rack knows it
    Ls,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom manager --metrics 127.0.0.1:9464 &  a manager to look at
  rackloom top                                 until `q`
  rackloom top node-a:9464 node-b:9464         of several managers
  rackloom top --snapshot --interval 10s       one table, of the next ten seconds")]
pub(crate) struct Top {
    /// Where managers serve their metrics (`rackloom manager --metrics`), as ADDRESS:PORT or http://ADDRESS:PORT/PATH
    #[arg(value_name = "MANAGER", default_value = Address::DEFAULT)]
    pub(crate) managers: Vec<Address>,
    /// Time between looks, at least 100ms; rates are of this time
    #[arg(long, short, default_value = "1s", value_name = "TIME", value_parser = parse::interval)]
    pub(crate) interval: Duration,
    /// Print one table and end; so it is without a terminal, too
    #[arg(long)]
    pub(crate) snapshot: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// Go on showing, as cards come and go
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// With --watch, stop after this time
    #[arg(long = "for", value_name = "TIME", value_parser = parse::duration, requires = "watch")]
    pub(crate) watch_for: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImageAction {
    /// Build an image from a folder with role.toml and C files
    Build {
        /// The folder
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
        /// The image to write
        #[arg(long, short, value_name = "FILE.rli", value_hint = ValueHint::FilePath)]
        output: PathBuf,
        /// Grow the model part to this size, as large as a bitstream
        #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
        pad_to: Option<u64>,
    },
    /// Show what is in an image
    Show {
        /// A file, or the name of a role that comes with Rackloom
        image: String,
    },
    /// Check every digest of an image, and that its model part can run
    Verify {
        /// A file, or the name of a role that comes with Rackloom
        image: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Load {
    /// An image file, or ptrans, vadd, sobel or gemm
    pub(crate) image: String,
    #[command(flatten)]
    pub(crate) cards: Cards,
    /// Activate it nowhere unless every card has verified it
    #[arg(long)]
    pub(crate) all_or_none: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom run ptrans A.npy B.npy -o C.npy
  rackloom run ./my.rli/blur IN.npy -o OUT.npy --card card0 --card card2")]
pub(crate) struct Run {
    /// ROLE or ROLE/KERNEL: an image file or built-in role, and one of its kernels
    #[arg(value_name = "ROLE[/KERNEL]")]
    pub(crate) role: String,
    /// The inputs, in the order of the kernel's arguments
    #[arg(value_name = "IN.npy", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where an output goes; repeated for kernels with several
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
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    /// The card, by name, unit number or address
    pub(crate) card: String,
    /// First address; 0x and K, M, G are understood
    #[arg(value_parser = parse::bytes)]
    pub(crate) addr: u64,
    /// Bytes
    #[arg(value_parser = parse::bytes)]
    pub(crate) len: u64,
    /// Write the bytes here instead of showing them
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Write {
    /// The card, by name, unit number or address
    pub(crate) card: String,
    /// First address; 0x and K, M, G are understood
    #[arg(value_parser = parse::bytes)]
    pub(crate) addr: u64,
    /// The bytes
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Cards in the rack
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) cards: u16,
    /// Order of the matrices
    #[arg(long, default_value_t = 4096, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32768))]
    pub(crate) order: u32,
    /// Size of the image; that of the paper's bitstream is 97.4M
    #[arg(long, default_value = "97.4M", value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) image: u64,
    /// Seed of everything random
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom study                             the list of studies
  rackloom study saf-reconfigure --svg f.svg
  rackloom study saf-reconfigure --card rtl:4 the same of gateware, beside models
  rackloom study saf-cost --json")]
pub(crate) struct Study {
    /// Which; without it, the list of them
    pub(crate) name: Option<String>,
    /// A part of it that takes seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Cards of saf-reconfigure: 1 to N of a kind, such as rtl:4, the gateware in Verilator with a small image
    #[arg(long, value_name = "KIND:N")]
    pub(crate) card: Option<CardCount>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Draw the result to this file
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
}
