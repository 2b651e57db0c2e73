//! `rackloom rma`: remote memory.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rackloom::{MacAddr, Rights, Rma, RmaOptions, Window};
use schemars::JsonSchema;
use serde::Serialize;

use super::memory::{SHOWN_MAX, dump};
use crate::args::{Node, Right, RmaAdd, RmaOpen, RmaRead, RmaWrite};
use crate::cards::Roster;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::format;
use crate::hold::hold;

/// A window that is open.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WindowReport {
    /// `rackloom.rma-open/1`
    schema: &'static str,
    /// The card.
    card: String,
    /// Its address as a node.
    address: String,
    /// First address of the window.
    base: u64,
    /// Its bytes.
    length: u64,
    /// The node that may use it; without one, anybody.
    peer: Option<String>,
    /// What it may do.
    rights: String,
}

/// A transfer, or an atomic operation.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RmaReport {
    /// `rackloom.rma/1`
    schema: &'static str,
    /// `read`, `write` or `add`.
    action: &'static str,
    /// The peer's address.
    peer: String,
    /// This node's address.
    node: String,
    /// First address.
    addr: u64,
    /// Bytes.
    bytes: u64,
    /// How long it took, seconds.
    seconds: f64,
    /// The file, if any.
    file: Option<PathBuf>,
    /// The bytes that were read, in hexadecimal, unless they went to a file.
    hex: Option<String>,
    /// What was there before the addition.
    before: Option<u64>,
}

pub(super) fn open(cx: &Context, args: &RmaOpen) -> Result<Exit> {
    let rack = cx.connect()?;
    let roster = Roster::discover_named(&rack, &cx.global, &[&args.card])?;
    let card = roster.find(&args.card)?;
    let (mac, name, memory) = (card.mac, roster.name(card.mac), card.memory);
    let rights = args.rights.iter().fold(Rights::NONE, |all, right| {
        all | match right {
            Right::Read => Rights::READ,
            Right::Write => Rights::WRITE,
            Right::Atomic => Rights::ATOMIC,
        }
    });
    let length = args.length.unwrap_or_else(|| memory.saturating_sub(args.base));
    let peer = args.peer.unwrap_or(MacAddr::ZERO);
    cx.claim_one(&rack, mac)?;
    let window = Window { base: args.base, length, peer, rights };
    rack.set_window(mac, 0, Some(window)).wait().during("cannot open the window")?;
    let report = WindowReport {
        schema: "rackloom.rma-open/1",
        card: name.clone(),
        address: mac.to_string(),
        base: args.base,
        length,
        peer: args.peer.map(|peer| peer.to_string()),
        rights: rights.to_string(),
    };
    cx.ui.result(&report, || {
        format!(
            "{name} ({mac}): {} from {:#x} on are open to {} for {rights}\n",
            format::bytes(length),
            args.base,
            report.peer.as_deref().unwrap_or("anybody"),
        )
    });
    hold(&rack, &[mac], &roster, args.time)
}

/// This process as a node, and the peer's address.
pub(super) fn connect(cx: &Context, node: &Node, peer: &str) -> Result<(Rma, MacAddr)> {
    let peer = match peer.parse::<MacAddr>() {
        Ok(mac) => mac,
        Err(_) => Roster::discover_named(&cx.connect()?, &cx.global, &[peer])?.find(peer)?.mac,
    };
    Ok((attach(cx, node)?, peer))
}

pub(super) fn attach(cx: &Context, node: &Node) -> Result<Rma> {
    let insecure_open = cx.global.insecure_open;
    let options = RmaOptions { mac: node.mac, jumbo: node.jumbo, insecure_open, ..RmaOptions::default() };
    Ok(Rma::connect(&cx.global.net, options)?)
}

fn report(action: &'static str, rma: &Rma, peer: MacAddr, addr: u64, bytes: u64, started: Instant) -> RmaReport {
    RmaReport {
        schema: "rackloom.rma/1",
        action,
        peer: peer.to_string(),
        node: rma.mac().to_string(),
        addr,
        bytes,
        seconds: started.elapsed().as_secs_f64(),
        file: None,
        hex: None,
        before: None,
    }
}

pub(super) fn read(cx: &Context, args: &RmaRead) -> Result<Exit> {
    if args.output.is_none() && args.len > SHOWN_MAX {
        let what = format!("{} are too much to show", format::memory(args.len));
        return Err(Failure::new(what).help("write them to a file with -o"));
    }
    let (rma, peer) = connect(cx, &args.node, &args.peer)?;
    let started = Instant::now();
    let data = rma.read(peer, args.addr, args.len).wait()?;
    let mut report = report("read", &rma, peer, args.addr, args.len, started);
    match &args.output {
        Some(file) => std::fs::write(file, &data).during(format!("cannot write {}", file.display()))?,
        None => report.hex = Some(format::hex(&data)),
    }
    report.file = args.output.clone();
    cx.ui.result(&report, || match &args.output {
        Some(file) => format!(
            "read {} from {peer} to {} ({})\n",
            format::bytes(args.len),
            file.display(),
            format::rate(args.len, Duration::from_secs_f64(report.seconds))
        ),
        None => dump(args.addr, &data),
    });
    Ok(Exit::Ok)
}

pub(super) fn write(cx: &Context, args: &RmaWrite) -> Result<Exit> {
    let data = std::fs::read(&args.file).during(format!("cannot read {}", args.file.display()))?;
    let (rma, peer) = connect(cx, &args.node, &args.peer)?;
    let started = Instant::now();
    let bytes = data.len() as u64;
    rma.write(peer, args.addr, data.into()).wait()?;
    let report = RmaReport { file: Some(args.file.clone()), ..report("write", &rma, peer, args.addr, bytes, started) };
    cx.ui.result(&report, || {
        let rate = format::rate(bytes, Duration::from_secs_f64(report.seconds));
        format!("wrote {} to {peer} ({rate})\n", format::bytes(bytes))
    });
    Ok(Exit::Ok)
}

pub(super) fn add(cx: &Context, args: &RmaAdd) -> Result<Exit> {
    let (rma, peer) = connect(cx, &args.node, &args.peer)?;
    let started = Instant::now();
    let before = rma.fetch_add(peer, args.addr, args.value).wait()?;
    let report = RmaReport { before: Some(before), ..report("add", &rma, peer, args.addr, 8, started) };
    cx.ui.result(&report, || format!("{before} + {} = {}\n", args.value, before.wrapping_add(args.value)));
    Ok(Exit::Ok)
}
