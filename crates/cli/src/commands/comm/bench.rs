//! `rackloom comm bench`: operations from small to large, of live cards or processes beside a memcpy of this machine,
//! or in virtual time beside a cable.

use std::time::{Duration, Instant};

use rackloom::{ClaimOptions, Communicator, MacAddr, Operation, OperationKind as Kind, Rack, RackOptions};
use rackloom_rack::{GroupSpec, Kind as CardKind, SimGroup};
use rackloom_report::{Chart, Legend, Progress as _, Series, Style, Table};
use rackloom_sim::{Cable, Faults};
use rackloom_wire::BULK_JUMBO;
use schemars::JsonSchema;
use serde::Serialize;

use super::host_bench;
use crate::args::{CommBench, OperationName as Name};
use crate::bench::process::processor;
use crate::bench::warn_if_debug;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::format;
use crate::rack::{self, LiveRack, Pace, Shape, Topology};
use crate::ui::Steps;

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommBenchReport {
    /// `rackloom.comm-bench/1`
    schema: &'static str,
    /// The processor.
    processor: String,
    /// Processors that this process may use.
    threads: usize,
    /// Whether this is an optimised build.
    release: bool,
    /// Ranks.
    ranks: usize,
    /// Whether ranks are processes of this machine, and not cards.
    processes: bool,
    /// How links join them, if the rack was started for this.
    links: Option<String>,
    /// What elements are.
    datatype: &'static str,
    /// How they are reduced.
    op: &'static str,
    /// The MPI library that did the same in turn, if it was asked for.
    mpi: Option<String>,
    /// Plain copies of 64 MiB in this process, bytes a second; not in virtual time.
    memcpy: Option<f64>,
    /// What a cable carries in each direction, bytes a second; in virtual time.
    cable: Option<f64>,
    /// The operations, each from small to large.
    rows: Vec<Row>,
}

/// One operation of one size.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// The operation.
    operation: &'static str,
    /// Its size as nccl-tests count it: all elements of a rank; of all blocks, where there are blocks.
    bytes: u64,
    /// Elements of each rank, or of each block.
    count: u64,
    /// Times that it was done.
    times: u32,
    /// The median of the longest times that a card's program ran, seconds; of processes, of the longest times that a
    /// rank took for one of several, begun one after the other.
    seconds: f64,
    /// `bytes` a second.
    algbw: f64,
    /// `algbw` by the part of `bytes` that every rank has to send or receive, as nccl-tests define it.
    busbw: f64,
    /// `busbw` by `memcpy`, or by `cable`.
    ratio: f64,
    /// The same of the MPI library's ranks as `seconds`.
    mpi_seconds: Option<f64>,
    /// `mpi_seconds` by `seconds`: from 1 on the MPI library is not faster.
    of_mpi: Option<f64>,
}

/// What was measured of an operation.
pub(super) struct Timed {
    /// Sorted, and at least one.
    pub(super) times: Vec<Duration>,
    /// How often it was done.
    pub(super) done: u32,
    /// The median of the MPI library.
    pub(super) mpi: Option<Duration>,
}

/// Memory of a card, of which only what is touched costs anything.
const MEMORY: u64 = 4 << 30;
/// Bytes of a plain copy.
const COPY: usize = 64 << 20;
/// An operation is done again while it has taken less than this, and at least three times.
const ENOUGH: Duration = Duration::from_millis(300);

/// What measures an operation.
type Timer<'a> = &'a mut dyn FnMut(&Operation) -> Result<Timed>;

/// What busbw is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Yardstick {
    Memcpy(f64),
    Cable(f64),
}

impl Yardstick {
    const fn rate(self) -> f64 {
        match self {
            Self::Memcpy(rate) | Self::Cable(rate) => rate,
        }
    }
}

pub(crate) fn run(cx: &Context, args: &CommBench) -> Result<Exit> {
    if host_bench::is_rank() {
        return host_bench::rank();
    }
    if args.from == 0 || args.from > args.up_to {
        return Err(Failure::new("no size is between --from and --up-to").help("give --from at least 1 byte"));
    }
    if args.in_virtual {
        return in_virtual(cx, args);
    }
    warn_if_debug(cx);
    if let Some(size) = args.hosts {
        return host_bench::run(cx, size.into(), args);
    }
    if args.ranks.is_empty() {
        let (local, rack, cards) = own(cx, args)?;
        let done = live(cx, args, &rack, &cards, Some(args.links.to_string()));
        drop(rack);
        drop(local);
        return done;
    }
    let rack = cx.connect()?;
    let (_, cards) = super::claim(cx, &rack, &args.ranks)?;
    live(cx, args, &rack, &cards, None)
}

/// Cards in virtual time. Nothing is drawn there, so the second time is as good as any later; in the first links begin.
fn in_virtual(cx: &Context, args: &CommBench) -> Result<Exit> {
    let cable = Cable { rate_bps: args.rate.get(), ..Cable::TEN_GIGABIT };
    Topology::default().with_links(&args.links, args.cards).map_err(|e| Failure::of(&e))?;
    let mut group = SimGroup::new(&GroupSpec {
        kinds: [CardKind::Model; 2],
        cards: args.cards,
        links: args.links.clone(),
        memory: MEMORY,
        cable,
        faults: Faults::NONE,
        seed: 1,
    });
    let mut timer = |operation: &Operation| match group.time(operation).and_then(|_| group.time(operation)) {
        Ok(time) => Ok(Timed { times: vec![time], done: 1, mpi: None }),
        Err(e) => Err(Failure::of(&e).help("ask for smaller ones with --up-to, or fewer cards with --cards")),
    };
    let rate = Yardstick::Cable(args.rate.get() as f64 / 8.0);
    measure(cx, args, &mut timer, args.cards.into(), (Some(args.links.to_string()), None), rate)
}

fn live(cx: &Context, args: &CommBench, rack: &Rack, cards: &[MacAddr], links: Option<String>) -> Result<Exit> {
    let comm = Communicator::new(rack, cards, cx.global.timeout)?;
    let mut timer = |operation: &Operation| timed(&comm, operation, args.times).map_err(Failure::from);
    measure(cx, args, &mut timer, cards.len(), (links, None), Yardstick::Memcpy(copies()))
}

/// A rack of this process, and a host on it that has claimed all cards.
fn own(cx: &Context, args: &CommBench) -> Result<(LiveRack, Rack, Vec<MacAddr>)> {
    let shape = Shape { memory: Some(MEMORY), bulk: BULK_JUMBO, seed: 1, pace: Pace::Live, rate: None };
    let topology = Topology::default().with_links(&args.links, args.cards).map_err(|e| Failure::of(&e))?;
    let mut local = rack::local(shape, topology)?;
    for _ in 0..args.cards {
        local.add(rack::Kind::Model)?;
    }
    let options = RackOptions { jumbo: true, deadline: cx.global.timeout, ..RackOptions::default() };
    let rack = rack::connect(&local, options)?;
    rack::discover_all(&local, &rack, cx.global.discover)?;
    let cards: Vec<_> = local.units().map(|unit| local.mac(unit)).collect();
    rack.claim(&cards, ClaimOptions::default()).wait_all()?;
    Ok((local, rack, cards))
}

/// Measures all operations and sizes, of so many ranks, and prints them.
pub(super) fn measure(
    cx: &Context,
    args: &CommBench,
    timer: Timer<'_>,
    ranks: usize,
    (links, mpi): (Option<String>, Option<String>),
    yardstick: Yardstick,
) -> Result<Exit> {
    let names = match args.operations.is_empty() {
        // It moves nothing, and cards say no more of it than of a small operation.
        true => args
            .hosts
            .map(|_| Name::Barrier)
            .into_iter()
            .chain([
                Name::Send,
                Name::Sendrecv,
                Name::Broadcast,
                Name::Scatter,
                Name::Gather,
                Name::Allgather,
                Name::Alltoall,
                Name::Reduce,
                Name::Allreduce,
                Name::ReduceScatter,
            ])
            .collect(),
        false => args.operations.clone(),
    };
    let sizes = std::iter::successors(Some(args.from), |size| size.checked_mul(args.factor));
    let sizes: Vec<_> = sizes.take_while(|size| *size <= args.up_to).collect();
    let mut progress = Steps::new(cx.ui, "comm bench");
    let mut rows: Vec<Row> = Vec::new();
    for name in &names {
        // Sizes too small for a block of one element each are one size.
        let mut sizes: Vec<_> = sizes.iter().map(|size| sized(args, *name, ranks, *size)).collect();
        sizes.dedup_by_key(|(_, bytes)| *bytes);
        for (operation, bytes) in sizes {
            progress.step(rows.len(), names.len() * sizes_of(args), name.name());
            let timed =
                timer(&operation).map_err(|e| e.during(format!("cannot measure {} of {bytes} bytes", name.name())))?;
            rows.push(row(*name, &operation, bytes, ranks, &timed, yardstick.rate()));
        }
    }
    progress.finish();
    let report = CommBenchReport {
        schema: "rackloom.comm-bench/1",
        processor: processor(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        release: !cfg!(debug_assertions),
        ranks,
        processes: args.hosts.is_some(),
        links,
        datatype: args.datatype.name(),
        op: args.op.name(),
        mpi,
        memcpy: if let Yardstick::Memcpy(rate) = yardstick { Some(rate) } else { None },
        cable: if let Yardstick::Cable(rate) = yardstick { Some(rate) } else { None },
        rows,
    };
    if let Some(file) = &args.svg {
        std::fs::write(file, chart(&report)).during(format!("cannot write {}", file.display()))?;
    }
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

fn sizes_of(args: &CommBench) -> usize {
    std::iter::successors(Some(args.from), |s| s.checked_mul(args.factor)).take_while(|s| *s <= args.up_to).count()
}

/// The operation of about this size, and its size: a whole number of elements, and at least one.
fn sized(args: &CommBench, name: Name, ranks: usize, size: u64) -> (Operation, u64) {
    let kind = name.kind(1, 1);
    let blocks = match kind {
        Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::Alltoall | Kind::ReduceScatter => ranks as u64,
        _ => 1,
    };
    let count = if kind == Kind::Barrier { 0 } else { (size / (blocks * args.datatype.size())).max(1) };
    let operation = Operation { kind, count, datatype: args.datatype, op: args.op, root: 0 };
    (operation, operation.bytes() * blocks)
}

/// Times of the operation, sorted, after one that warms up.
fn timed(
    comm: &Communicator<&Rack>,
    operation: &Operation,
    most: u32,
) -> std::result::Result<Timed, rackloom::CommError> {
    comm.repeat(operation, 1)?;
    let mut times = Vec::new();
    while times.len() < most as usize && (times.len() < 3 || times.iter().sum::<Duration>() < ENOUGH) {
        times.append(&mut comm.repeat(operation, 1)?);
    }
    times.sort();
    Ok(Timed { done: times.len() as u32, times, mpi: None })
}

fn row(name: Name, operation: &Operation, bytes: u64, ranks: usize, timed: &Timed, beside: f64) -> Row {
    let seconds = timed.times[timed.times.len() / 2].as_secs_f64();
    let n = ranks as f64;
    let part = match operation.kind {
        Kind::Allreduce => 2.0 * (n - 1.0) / n,
        Kind::Scatter | Kind::Gather | Kind::Allgather | Kind::Alltoall | Kind::ReduceScatter => (n - 1.0) / n,
        _ => 1.0,
    };
    let algbw = bytes as f64 / seconds.max(1e-9);
    let busbw = algbw * part;
    let (operation, count) = (name.name(), operation.count);
    let mpi_seconds = timed.mpi.map(|mpi| mpi.as_secs_f64());
    let of_mpi = mpi_seconds.map(|mpi| mpi / seconds.max(1e-9));
    let ratio = busbw / beside;
    Row { operation, bytes, count, times: timed.done, seconds, algbw, busbw, ratio, mpi_seconds, of_mpi }
}

/// Bytes a second of plain copies: the best of five, to memory that was touched before.
pub(super) fn copies() -> f64 {
    let (from, mut to) = (vec![0x5a_u8; COPY], vec![1_u8; COPY]);
    let copy = |_| {
        let started = Instant::now();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&to);
        started.elapsed()
    };
    let best = (0..5).map(copy).min().expect("five of them");
    COPY as f64 / best.as_secs_f64()
}

fn text(r: &CommBenchReport) -> String {
    let rate = |bytes: f64| format!("{}/s", format::bytes(bytes as u64));
    let time = |seconds: f64| format::time(Duration::from_secs_f64(seconds));
    let table = if r.mpi.is_some() {
        let mut table = Table::new(&["OPERATION", ">BYTES", ">TIME", ">ALGBW", ">BUSBW", ">MPI'S TIME", ">OF MPI"]);
        for row in &r.rows {
            table.row([
                row.operation.to_owned(),
                row.bytes.to_string(),
                time(row.seconds),
                rate(row.algbw),
                rate(row.busbw),
                time(row.mpi_seconds.unwrap_or_default()),
                format!("{:.2}", row.of_mpi.unwrap_or_default()),
            ]);
        }
        table
    } else {
        let of = if r.cable.is_some() { ">OF CABLE" } else { ">OF MEMCPY" };
        let mut table = Table::new(&["OPERATION", ">BYTES", ">COUNT", ">TIME", ">ALGBW", ">BUSBW", of]);
        for row in &r.rows {
            table.row([
                row.operation.to_owned(),
                row.bytes.to_string(),
                row.count.to_string(),
                time(row.seconds),
                rate(row.algbw),
                rate(row.busbw),
                format!("{:.3}", row.ratio),
            ]);
        }
        table
    };
    let links = r.links.as_ref().map(|links| format!(", links {links}")).unwrap_or_default();
    let mpi = r.mpi.as_ref().map_or_else(|| "; ".to_owned(), |mpi| format!("; beside {mpi}\n"));
    let beside = match (r.memcpy, r.cable) {
        (Some(memcpy), _) => format!("memcpy {}\n{} threads of {}", rate(memcpy), r.threads, r.processor),
        (_, cable) => format!("in virtual time, cables of {}", rate(cable.unwrap_or_default())),
    };
    format!("{table}{} ranks{links}, {} by {}{mpi}{beside}\n", r.ranks, r.datatype, r.op)
}

fn chart(r: &CommBenchReport) -> String {
    let mut names: Vec<_> = r.rows.iter().map(|row| row.operation).collect();
    names.dedup();
    let points = |name: &str| {
        r.rows.iter().filter(|row| row.operation == name).map(|row| (row.bytes as f64, row.busbw / 1e9)).collect()
    };
    let ours = names.iter().enumerate().map(|(i, name)| Series {
        name: (*name).to_owned(),
        points: points(name),
        style: Style::Ours(i),
    });
    Chart {
        title: &format!("Operations of {} {}", r.ranks, if r.processes { "processes" } else { "cards" }),
        x: "bytes",
        y: "bus bandwidth, GB/s",
        log: true,
        legend: Legend::UpperLeft,
        series: ours.collect(),
    }
    .svg()
}
