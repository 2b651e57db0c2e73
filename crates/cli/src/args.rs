//! The command line: one definition for parsing, help, completions, manual pages and the reference.

mod bench;
mod bridge;
mod comm;
mod groups;
mod key;
mod parse;
mod rack;
mod sharing;
mod study;
mod usage;
mod work;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};
use rackloom::Net;

pub(crate) use self::bench::{Bench, Overhead};
pub(crate) use self::bridge::{
    Node, Right, RmaAction, RmaAdd, RmaMap, RmaOpen, RmaRead, RmaWrite, StreamAction, StreamConnect, StreamEnd,
    StreamReceive, StreamSend,
};
pub(crate) use self::comm::{CommAction, CommBench, CommRun, CommTopology, OperationName, SlotOrder};
pub(crate) use self::key::KeyAction;
pub(crate) use self::parse::{CardCount, Step};
pub(crate) use self::rack::{CardAction, Demo, Ls, NicAction, Up};
pub(crate) use self::sharing::{OpenClSite, Top};
pub(crate) use self::study::{BlastFunctionSharing, Calculated, Simulated, Study, StudyName};
pub(crate) use self::usage::{failure as usage_failure, is_json};
pub(crate) use self::work::{Cards, ExchangeWay, ImageAction, Load, MemAction, MemRead, MemWrite, Run};

/// Run a rack of network-attached FPGA cards as one machine.
#[derive(Debug, Parser)]
#[command(name = "rackloom", version, propagate_version = true, max_term_width = 100, styles = STYLES)]
#[command(after_help = AFTER_HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The definition, with the list of commands in groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let template = groups::template(&command, &STYLES);
    command.help_template(template)
}

/// Parses the arguments, the first of which is the program.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = command();
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

const STYLES: Styles =
    Styles::styled().header(AnsiColor::Green.on_default().bold()).literal(AnsiColor::Cyan.on_default().bold());

const AFTER_HELP: &str = "\
Try it without hardware:
  rackloom demo                           a rack of 20 cards at work
  rackloom up --cards 4                   a rack that other terminals can use
  rackloom ls                             the cards of that rack
  rackloom run vadd A.npy B.npy -o C.npy  a kernel on arrays, on all cards

`rackloom help COMMAND` explains a command, or one of two topics: exit-codes
and environment.";

/// Options that mean the same with every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The network segment: virtual, virtual:NAME, or eth:INTERFACE
    #[arg(long, global = true, env = "RACKLOOM_NET", value_name = "NET", default_value = "virtual")]
    #[arg(help_heading = groups::EVERYWHERE)]
    pub(crate) net: Net,
    /// This host's keys, from `rackloom key host`: only their cards are claimed, and what they say has to have a tag
    #[arg(long, global = true, env = "RACKLOOM_KEY", value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = groups::EVERYWHERE)]
    pub(crate) key: Option<PathBuf>,
    /// Encrypt what goes between this host and its cards, and use no card that cannot; with `up --keys`, cards take
    /// claims of such hosts only
    #[arg(long, global = true, help_heading = groups::EVERYWHERE)]
    pub(crate) encrypt: bool,
    /// Run without keys on an interface. Whoever is on its network can then take cards over, read what is on them and
    /// forge results
    #[arg(long, global = true, help_heading = groups::EVERYWHERE)]
    pub(crate) insecure_open: bool,
    /// The policy of signed images: with `up`, cards run no others; with other commands, this host sends no others
    #[arg(long, global = true, env = "RACKLOOM_SIGNERS", value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = groups::EVERYWHERE)]
    pub(crate) signers: Option<PathBuf>,
    /// Print the result, or the error, as JSON with a documented schema
    #[arg(long, global = true, help_heading = groups::EVERYWHERE)]
    pub(crate) json: bool,
    /// Print only results and errors
    #[arg(long, short, global = true, help_heading = groups::EVERYWHERE)]
    pub(crate) quiet: bool,
    /// Time limit for the command's operations on cards
    #[arg(long, global = true, value_name = "TIME", default_value = "120s", value_parser = parse::duration)]
    #[arg(help_heading = groups::EVERYWHERE)]
    pub(crate) timeout: Duration,
    /// How long to look for cards
    #[arg(long, global = true, value_name = "TIME", default_value = "1s", value_parser = parse::duration)]
    #[arg(help_heading = groups::EVERYWHERE)]
    pub(crate) discover: Duration,
}

/// All commands, in the order of [`groups::GROUPS`].
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a rack of emulated cards and keep it up
    Up(Up),
    /// Plug cards into a rack that is up, or pull them out
    Card {
        #[command(subcommand)]
        action: CardAction,
    },
    /// Show the network interfaces through the cards of a rack
    Nic {
        #[command(subcommand)]
        action: NicAction,
    },
    /// Make keys for cards and hosts, so that they know each other
    Key {
        #[command(subcommand)]
        action: KeyAction,
    },
    /// List the cards that answer
    Ls(Ls),
    /// Run a rack in this process, and check what it computes
    Demo(Demo),
    /// Show one card: what it announces, its kernels, its counters
    Info {
        /// The card, by name, unit number or address
        card: String,
    },
    /// Build, show or check role images
    Image {
        #[command(subcommand)]
        action: ImageAction,
    },
    /// Load an image into cards, all at once
    Load(Load),
    /// Run a role's kernel on .npy files, spread over cards
    Run(Run),
    /// Read or write a card's memory
    Mem {
        #[command(subcommand)]
        action: MemAction,
    },
    /// Read or write the memory of other nodes through windows
    Rma {
        #[command(subcommand)]
        action: RmaAction,
    },
    /// Send messages to streams of other nodes, or receive them
    Stream {
        #[command(subcommand)]
        action: StreamAction,
    },
    /// Have groups of cards work together over their links
    Comm {
        #[command(subcommand)]
        action: CommAction,
    },
    /// Share OpenCL devices, or cards, among programs
    #[command(after_help = sharing::MANAGER_HELP)]
    Manager(Box<rackloom_manager::Options>),
    /// Watch the boards, tenants and queues of managers
    Top(Top),
    /// Allocate the boards of a cluster: run the registry, or query it
    #[command(disable_help_flag = true)]
    Registry {
        /// Arguments of `rackloom-registry`; without a command among them, `serve`. `rackloom registry help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
    /// Repeat the evaluation of a paper
    Study(Study),
    /// Measure this machine
    Bench {
        #[command(subcommand)]
        bench: Bench,
    },
    /// Check that this machine has what Rackloom needs
    Doctor,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages
    Man {
        /// The folder for them; created if missing
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
    },
    /// Print the JSON Schema of what --json prints
    Schema {
        /// A schema, such as rackloom.ls/1; without it, list all schemas
        name: Option<String>,
    },
    /// Print the reference pages of the documentation
    #[command(hide = true)]
    Reference {
        /// The page
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

/// The help topic.
pub(crate) const ENVIRONMENT: &str = "\
RACKLOOM_NET    the network segment, unless --net names one
RACKLOOM_KEY    the file with this host's keys, unless --key names one
XDG_STATE_HOME  in rackloom/eth-INTERFACE there, or else in ~/.local/state, are the keys of
                the rack on that interface
RACKLOOM_INSECURE_OPEN  if set and neither empty nor 0: programs with the C libraries run
                without keys on interfaces, as commands do with --insecure-open
RACKLOOM_SIGNERS  the policy of signed images, unless --signers names one
RACKLOOM_RUN    directory of the virtual segments' sockets; it must be yours alone (mode
                700). Default: $XDG_RUNTIME_DIR/rackloom, or /tmp/rackloom-UID
RACKLOOM_CLANG  the clang that `image build` uses. Default: the first one that runs
NO_COLOR        if set and not empty: no colours";
