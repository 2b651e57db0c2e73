//! `rackloom comm run`: one operation, on data from files or made, compared with the same on this machine.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use rackloom::{Communicator, Datatype, Operation, OperationKind as Kind};
use rackloom_report::Table;
use schemars::JsonSchema;
use serde::Serialize;

use super::{expected, numbers};
use crate::args::{CommRun, OperationName};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::format;

/// An operation that was done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CommReport {
    /// `rackloom.comm-run/1`
    schema: &'static str,
    /// The operation.
    operation: &'static str,
    /// What elements are.
    datatype: &'static str,
    /// How they were reduced, if they were.
    op: Option<&'static str>,
    /// Elements of each rank, or of each block.
    count: u64,
    /// The root, where there is one.
    root: Option<usize>,
    /// The longest time that a card's program ran, by the card's own clock, seconds.
    seconds: f64,
    /// Whether what the ranks got was compared with the same operation on this machine.
    checked: bool,
    /// The ranks.
    ranks: Vec<RankReport>,
}

/// One rank.
#[derive(Debug, Serialize, JsonSchema)]
struct RankReport {
    /// The rank.
    rank: usize,
    /// Its card.
    card: String,
    /// Elements that it gave.
    gave: u64,
    /// Elements that it got.
    got: u64,
    /// Where they are, if they were written.
    file: Option<PathBuf>,
}

pub(crate) fn run(cx: &Context, args: &CommRun) -> Result<Exit> {
    match (args.hosts, args.operation) {
        (Some(number), _) => super::hosts::run(cx, number.into(), args),
        (None, Some(operation)) => on_cards(cx, args, operation),
        (None, None) => unreachable!("the command line has one of them"),
    }
}

fn on_cards(cx: &Context, args: &CommRun, name: OperationName) -> Result<Exit> {
    let rack = cx.connect()?;
    let (roster, cards) = super::claim(cx, &rack, &args.ranks)?;
    let size = cards.len();
    for rank in [args.root].into_iter().chain((name == OperationName::Send).then_some(args.to)) {
        if rank >= size {
            let what = format!("rank {rank} is not in a group of {size}");
            return Err(Failure::new(what).help("ranks count from 0, in the order of --ranks"));
        }
    }
    let (operation, inputs) = given(args, name, size)?;
    let comm = Communicator::new(&rack, &cards, cx.global.timeout)?;
    let operated = comm.run(&operation, &inputs)?;
    let check = |rank: usize| {
        let want = expected::expected(&operation, &inputs, rank);
        match expected::differs(operation.datatype, &operated.outputs[rank], &want) {
            None => Ok(()),
            Some(how) => {
                let what = format!("rank {rank}, {}, got something else: {how}", roster.name(cards[rank]));
                Err(Failure::new(what).exit(Exit::Negative).help("please report this: results never differ"))
            }
        }
    };
    if !args.no_check {
        (0..size).try_for_each(check)?;
    }
    let files = match &args.output {
        Some(folder) => numbers::write(folder, &operation, &operated.outputs)?,
        None => vec![None; size],
    };
    let wide = operation.datatype.size();
    let rank = |(rank, file): (usize, Option<PathBuf>)| RankReport {
        rank,
        card: roster.name(cards[rank]),
        gave: inputs[rank].len() as u64 / wide,
        got: operated.outputs[rank].len() as u64 / wide,
        file,
    };
    let report = CommReport {
        schema: "rackloom.comm-run/1",
        operation: name.name(),
        datatype: operation.datatype.name(),
        op: operation.reduces().then_some(operation.op.name()),
        count: operation.count,
        root: has_root(operation.kind).then_some(operation.root),
        seconds: operated.time.as_secs_f64(),
        checked: !args.no_check,
        ranks: files.into_iter().enumerate().map(rank).collect(),
    };
    cx.ui.result(&report, || text(&report));
    Ok(Exit::Ok)
}

const fn has_root(kind: Kind) -> bool {
    matches!(kind, Kind::Send { .. } | Kind::Broadcast | Kind::Scatter | Kind::Gather | Kind::Reduce)
}

/// The operation, and what each rank gives: from files, or made.
fn given(args: &CommRun, name: OperationName, size: usize) -> Result<(Operation, Vec<Bytes>)> {
    let kind = name.kind(args.to, args.by);
    let is_blocks = matches!(kind, Kind::Scatter | Kind::Alltoall | Kind::ReduceScatter);
    let only_root = matches!(kind, Kind::Send { .. } | Kind::Broadcast | Kind::Scatter);
    let givers = if only_root { args.root..args.root + 1 } else { 0..size };
    let operation = |datatype: Datatype, count| Operation { kind, count, datatype, op: args.op, root: args.root };
    let (operation, arrays) = if args.inputs.is_empty() {
        let operation = operation(args.datatype, args.count);
        let given = operation.given(size);
        if given > rackloom::MESSAGE_MAX {
            let (given, most) = (format::memory(given), format::memory(rackloom::MESSAGE_MAX));
            let what = format!("each rank would give {given}, and may give {most}");
            return Err(Failure::new(what).help("ask for fewer with --count"));
        }
        let made = |rank: usize| {
            numbers::made(operation.datatype, given / operation.datatype.size(), args.seed.wrapping_add(rank as u64))
        };
        (operation, givers.clone().map(made).collect())
    } else {
        let (datatype, arrays) = numbers::read(&args.inputs)?;
        if kind == Kind::Barrier || arrays.len() != givers.len() {
            let due = if kind == Kind::Barrier { 0 } else { givers.len() };
            let what = format!("{} files for {}, which takes {due}", arrays.len(), name.name());
            return Err(Failure::new(what).help("each rank that gives something has one file, in the order of ranks"));
        }
        let elements = arrays[0].len() as u64 / datatype.size();
        let blocks = if is_blocks { size as u64 } else { 1 };
        if !elements.is_multiple_of(blocks) {
            let what = format!("{elements} elements do not make {blocks} blocks, one for each rank");
            return Err(Failure::new(what).help(format!("give a multiple of {blocks}")));
        }
        (operation(datatype, elements / blocks), arrays)
    };
    let mut inputs = vec![Bytes::new(); size];
    inputs[givers].iter_mut().zip(arrays).for_each(|(input, array)| *input = array);
    Ok((operation, inputs))
}

fn text(r: &CommReport) -> String {
    let mut table = Table::new(&[">RANK", "CARD", ">GAVE", ">GOT", "FILE"]);
    for rank in &r.ranks {
        let file = rank.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        table.row([rank.rank.to_string(), rank.card.clone(), rank.gave.to_string(), rank.got.to_string(), file]);
    }
    let op = r.op.map(|op| format!(" by {op}")).unwrap_or_default();
    let root = r.root.map(|root| format!(", root {root}")).unwrap_or_default();
    let time = format::time(Duration::from_secs_f64(r.seconds));
    let checked = if r.checked { "; all as computed here" } else { "" };
    format!(
        "{table}{} of {} {}{op} on {} ranks{root}: {time}{checked}\n",
        r.operation,
        r.count,
        r.datatype,
        r.ranks.len()
    )
}
