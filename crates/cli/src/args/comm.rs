//! Options of `rackloom comm`: operations of groups of cards.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use rackloom::{Datatype, Op, OperationKind};

use rackloom_topology::Family;

use super::parse;

#[derive(Debug, Subcommand)]
pub(crate) enum CommAction {
    /// Do an operation on cards of a rack that is up, and check what they computed
    Run(CommRun),
    /// Measure operations from small to large, beside a memcpy or a cable
    Bench(CommBench),
    /// Describe an arrangement of links, and check its schedule for an alltoall
    Topology(CommTopology),
}

/// What a group does, in MPI's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationName {
    /// Nobody goes on before all have come
    Barrier,
    /// The root's elements, to rank --to
    Send,
    /// The elements of each, to the rank --by after it
    Sendrecv,
    /// The root's elements, to all
    Broadcast,
    /// A block of the root's elements to each
    Scatter,
    /// The elements of all, to the root
    Gather,
    /// The elements of all, to all
    Allgather,
    /// A block of each, to each
    Alltoall,
    /// The elements of all, reduced, to the root
    Reduce,
    /// The elements of all, reduced, to all
    Allreduce,
    /// A block of the reduced elements to each
    #[value(alias = "reduce_scatter")]
    ReduceScatter,
}

impl OperationName {
    /// As the option takes it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Send => "send",
            Self::Sendrecv => "sendrecv",
            Self::Broadcast => "broadcast",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatter => "reduce-scatter",
        }
    }

    /// The name of what the library has.
    pub(crate) const fn of(kind: OperationKind) -> Self {
        match kind {
            OperationKind::Barrier => Self::Barrier,
            OperationKind::Send { .. } => Self::Send,
            OperationKind::Sendrecv { .. } => Self::Sendrecv,
            OperationKind::Broadcast => Self::Broadcast,
            OperationKind::Scatter => Self::Scatter,
            OperationKind::Gather => Self::Gather,
            OperationKind::Allgather => Self::Allgather,
            OperationKind::Alltoall => Self::Alltoall,
            OperationKind::Reduce => Self::Reduce,
            OperationKind::Allreduce => Self::Allreduce,
            OperationKind::ReduceScatter => Self::ReduceScatter,
        }
    }

    /// As the library has it; a send goes to rank `to`, a sendrecv to the rank `by` after each.
    pub(crate) const fn kind(self, to: usize, by: usize) -> OperationKind {
        match self {
            Self::Barrier => OperationKind::Barrier,
            Self::Send => OperationKind::Send { to },
            Self::Sendrecv => OperationKind::Sendrecv { by },
            Self::Broadcast => OperationKind::Broadcast,
            Self::Scatter => OperationKind::Scatter,
            Self::Gather => OperationKind::Gather,
            Self::Allgather => OperationKind::Allgather,
            Self::Alltoall => OperationKind::Alltoall,
            Self::Reduce => OperationKind::Reduce,
            Self::Allreduce => OperationKind::Allreduce,
            Self::ReduceScatter => OperationKind::ReduceScatter,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom up --cards 4 --links full         in another terminal
  rackloom comm run allreduce                made numbers, on all cards
  rackloom comm run gather --ranks 0,2,3 --root 1 --type i16 --count 1000
  rackloom comm run allreduce a.npy b.npy --ranks 0,1 --op max -o out
  rackloom comm run --hosts 2 -- ./program   a program's processes as ranks, without cards")]
pub(crate) struct CommRun {
    /// What the cards do
    #[arg(required_unless_present = "hosts")]
    pub(crate) operation: Option<OperationName>,
    /// Start so many processes of PROGRAM on this machine instead, which join each other as ranks without cards
    #[arg(long, value_name = "N", requires = "program", conflicts_with_all = ["operation", "ranks", "output"])]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) hosts: Option<u16>,
    /// Let the system move --hosts from processor to processor. By default each has its own, if there are enough
    #[arg(long, requires = "hosts")]
    pub(crate) no_bind: bool,
    /// What each rank gives, rank by rank; for broadcast, scatter and send, what the root gives. Without files, numbers
    /// made from --seed
    #[arg(value_name = "FILE.npy", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The program that --hosts starts, and its arguments
    #[arg(last = true, value_name = "PROGRAM", requires = "hosts", value_hint = ValueHint::CommandName)]
    pub(crate) program: Vec<std::ffi::OsString>,
    /// The cards, rank by rank, by name, unit number or address. Default: all that answer
    #[arg(long, value_name = "CARD,...", value_delimiter = ',')]
    pub(crate) ranks: Vec<String>,
    /// The root, a rank
    #[arg(long, default_value_t = 0, value_name = "RANK")]
    pub(crate) root: usize,
    /// The receiver of a send, a rank
    #[arg(long, default_value_t = 1, value_name = "RANK")]
    pub(crate) to: usize,
    /// Ranks from each to the receiver of its sendrecv
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) by: usize,
    /// How elements are reduced
    #[arg(long, default_value = "sum", value_name = "OP")]
    pub(crate) op: Op,
    /// What elements are; files say it themselves
    #[arg(long = "type", default_value = "f32", value_name = "TYPE", conflicts_with = "inputs")]
    pub(crate) datatype: Datatype,
    /// Elements of each rank; of each block, where there are blocks
    #[arg(long, default_value_t = 1024, value_name = "N", conflicts_with = "inputs")]
    pub(crate) count: u64,
    /// Seed of the numbers
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Write what each rank gets to rank0.npy, rank1.npy and so on in this folder
    #[arg(long, short, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,
    /// Do not compute the same on this machine to compare
    #[arg(long)]
    pub(crate) no_check: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom comm bench
  rackloom comm bench allreduce broadcast --cards 8 --links ring --svg ring.svg
  rackloom comm bench --virtual --up-to 1M   what cables of 10 Gb/s let cards do
  rackloom comm bench --ranks 0,1,2,3        cards of the rack that is up
  rackloom comm bench --hosts 2 --beside-mpi processes as ranks, and Open MPI's in turn")]
pub(crate) struct CommBench {
    /// The operations. Default: all; of cards all but barrier, which moves nothing
    pub(crate) operations: Vec<OperationName>,
    /// Cards of the rack that is started for this
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    pub(crate) cards: u16,
    /// Its links: full, ring, or an arrangement that `rackloom comm topology` knows, such as torus:2x2
    #[arg(long, default_value = "full", value_name = "SHAPE")]
    pub(crate) links: rackloom_rack::Links,
    /// Use these cards of the rack that is up instead
    #[arg(long, value_name = "CARD,...", value_delimiter = ',', conflicts_with_all = ["cards", "links"])]
    pub(crate) ranks: Vec<String>,
    /// Measure so many processes of this machine as ranks instead, without cards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    #[arg(conflicts_with_all = ["cards", "links", "ranks", "in_virtual"])]
    pub(crate) hosts: Option<u16>,
    /// Let the system move --hosts from processor to processor. By default each has its own, if there are enough
    #[arg(long, requires = "hosts")]
    pub(crate) no_bind: bool,
    /// Measure as many ranks of Open MPI in turn with those of --hosts: the same operations on the same bytes. It is
    /// that of the mpicc and mpirun on the path
    #[arg(long, requires = "hosts")]
    pub(crate) beside_mpi: bool,
    /// In virtual time: how long cards take whose cables alone cost time, the same on every machine and every run
    #[arg(long = "virtual", conflicts_with = "ranks")]
    pub(crate) in_virtual: bool,
    /// Rate of the cables in virtual time, bits a second
    #[arg(long, default_value = "10G", value_name = "BITS", value_parser = parse::rate, requires = "in_virtual")]
    pub(crate) rate: std::num::NonZeroU64,
    /// The smallest size
    #[arg(long, default_value = "8", value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) from: u64,
    /// The largest size
    #[arg(long, default_value = "128M", value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) up_to: u64,
    /// Each size is so many times the one before
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) factor: u64,
    /// Times that each is done at most, of --hosts turns of several each; the median counts. In virtual time the second
    /// counts
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) times: u32,
    /// What elements are
    #[arg(long = "type", default_value = "f32", value_name = "TYPE")]
    pub(crate) datatype: Datatype,
    /// How elements are reduced
    #[arg(long, default_value = "sum", value_name = "OP")]
    pub(crate) op: Op,
    /// Draw the bandwidths to this file
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
}

/// Which slots blocks get first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SlotOrder {
    /// All over their first links, then over their second: fewest slots
    Link,
    /// One after the other over all links: cards keep few of others
    Block,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Arrangements, any two cards so many links apart:
  hyperx:N, hyperx:AxB     a full mesh, 1; a grid whose lines are meshes, 2
  torus:AxB, torus:AxBxC   a grid whose lines are rings
  slim-fly:Q               2 Q^2 cards, 2; Q a power of a prime
  polar-fly:Q              Q^2 + Q + 1 cards with Q + 1 links, 2; Q as before
  kautz:D                  D (D + 1) cards, D links to and D from each, 2
  dragonfly:A,H            A H + 1 groups of A cards, H links of each to others, 3

Examples:
  rackloom comm topology polar-fly:7
  rackloom comm topology slim-fly:5 --cables cables   where cables go; for `up --links cables`
  rackloom comm topology torus:4x4x4 --order block --json")]
pub(crate) struct CommTopology {
    /// The arrangement
    pub(crate) family: Family,
    /// Which slots blocks get first
    #[arg(long, value_enum, default_value = "link")]
    pub(crate) order: SlotOrder,
    /// Write the cables to this file, one per line, from port 1 of each card on
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) cables: Option<PathBuf>,
}
