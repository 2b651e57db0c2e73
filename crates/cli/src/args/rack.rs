//! Options of commands about a rack.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};
use rackloom_rack::{CableEnds, NicPlug};

use super::parse::{self, CardCount, HotplugStep};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom up --cards 4
  rackloom up --card rtl:2,model:6            two are the gateware in Verilator
  rackloom up --card flash:2                  cards that restart to run an image
  rackloom up --cards 4 --cable 0.1-1.1       a cable between two cards' ports
  rackloom up --cards 4 --links full          links between all cards
  rackloom up --cable 0.1-virtual:side        port 1 of card 0 on its own network
  rackloom up --cards 2 --nic 0=rl0           a network interface through card 0
  rackloom up --cards 4 --rate 1G             cards on ports of 1 Gb/s
  rackloom up --signers policy.toml           cards that run signed images only
  rackloom up --cards 2 --hotplug 2s+4,5s-1   four more at 2 s, one less at 5 s
  rackloom up --net eth:veth0 --cards 8       on an Ethernet interface (needs CAP_NET_RAW)")]
pub(crate) struct Up {
    /// Number of model cards to start
    #[arg(long, default_value_t = 4, value_name = "N", conflicts_with = "card")]
    pub(crate) cards: u16,
    /// Cards of each kind to start, such as rtl:2,model:6. Kinds: model; flash, a model that restarts from its
    /// configuration flash to run another image; and rtl, the gateware in Verilator
    #[arg(long, value_name = "KIND:N", value_delimiter = ',')]
    pub(crate) card: Vec<CardCount>,
    /// A cable from a card's port to another card's, such as 0.1-1.1 for port 1 of cards 0 and 1, or to a network of
    /// its own, such as 0.1-virtual:side; may be repeated
    #[arg(long, value_name = "CARD.PORT-END")]
    pub(crate) cable: Vec<CableEnds>,
    /// A file that lists such cables, one per line
    #[arg(long, value_name = "FILE", conflicts_with = "cable", value_hint = ValueHint::FilePath)]
    pub(crate) topology: Option<PathBuf>,
    /// Links between the cards for operations of groups: full, ring, an arrangement that `rackloom comm topology`
    /// knows, such as torus:2x2 or polar-fly:3, or a file that lists cables, one per line; in ports beyond those of
    /// other cables
    #[arg(long, value_name = "SHAPE|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) links: Option<String>,
    /// A network interface of this machine whose cable ends in a card, such as 0=rl0 for an interface rl0 at card 0:
    /// what programs send by it goes through the card to the rack's network (needs CAP_NET_ADMIN). With 0=rl0,hook the
    /// card's role sees the frames, and with 0=rl0,hook=hold none passes without a role; may be repeated
    #[arg(long, value_name = "CARD=INTERFACE")]
    pub(crate) nic: Vec<NicPlug>,
    /// Memory of each card, such as 512M; only what is touched costs anything. Default: 4G, and 64M for rtl cards
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) memory: Option<u64>,
    /// Bits a second that each port of a card sends at most, such as 1G. Default: as many as this machine can move
    #[arg(long, value_name = "BITS", value_parser = parse::rate)]
    pub(crate) rate: Option<NonZeroU64>,
    /// Let kernels take at least the time that their role's clock and cost model give, as on a card
    #[arg(long)]
    pub(crate) clocked: bool,
    /// Plug and pull cards at set times: TIME+N, TIME+KIND:N or TIME-N, separated by commas
    #[arg(long, value_name = "SCRIPT", value_delimiter = ',')]
    pub(crate) hotplug: Vec<HotplugStep>,
    /// Seed of the cards' addresses, if the keys are not for those of another; boot numbers and epochs differ at each
    /// start all the same
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// The cards' keys, from `rackloom key cards`: they take claims of hosts with keys only. Default on an interface:
    /// keys that are made at the first start there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keys: Option<PathBuf>,
    /// With --signers, the file in which the boards keep which versions they have run, since they run nothing older;
    /// made if it is not there. Without it they forget them when the rack goes down
    #[arg(long, value_name = "FILE", requires = "signers", value_hint = ValueHint::FilePath)]
    pub(crate) versions: Option<PathBuf>,
    /// Write all frames to this file
    #[arg(long, value_name = "FILE.pcap", value_hint = ValueHint::FilePath)]
    pub(crate) capture: Option<PathBuf>,
    /// Stop after this time instead of at Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = parse::duration)]
    pub(crate) run_for: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CardAction {
    /// Plug in cards
    Add {
        /// How many cards, or the kind and how many, such as rtl:2
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
    /// List the cards that are plugged in, as the rack knows them
    Ls,
    /// Give the cards other keys, and those that are plugged in later
    ///
    /// Claims whose keys count no more end; all others go on.
    Keys {
        /// The cards' keys, from `rackloom key cards` or `rackloom key revoke`
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum NicAction {
    /// List the interfaces, with what passed and what was dropped
    Ls,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// Keep watching as cards come and go
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// With --watch, stop after this time
    #[arg(long = "for", value_name = "TIME", value_parser = parse::duration, requires = "watch")]
    pub(crate) watch_for: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Number of cards in the rack
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) cards: u16,
    /// Order of the matrices
    #[arg(long, default_value_t = 4096, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32768))]
    pub(crate) order: u32,
    /// Size of the image; the paper's bitstream has 97.4M
    #[arg(long, default_value = "97.4M", value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) image: u64,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
}
