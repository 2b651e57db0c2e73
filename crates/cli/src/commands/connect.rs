//! `rackloom stream connect`: streams of roles, joined.

use std::collections::BTreeMap;

use rackloom::{ClaimOptions, MacAddr, Rack, Rights, Window};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{StreamConnect, StreamEnd};
use crate::cards::Roster;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::hold::hold;

/// What is joined.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct JoinedReport {
    /// `rackloom.stream-connect/1`
    schema: &'static str,
    /// Each joint, with the nodes' names.
    joints: Vec<String>,
    /// Streams that are open to others.
    inputs: Vec<String>,
}

pub(super) fn run(cx: &Context, args: &StreamConnect) -> Result<Exit> {
    let rack = cx.connect()?;
    let roster = Roster::discover(&rack, &cx.global)?;
    let card = |end: &StreamEnd| roster.find(&end.node).map(|card| card.mac);
    // A receiver that is no card opens its stream itself.
    let node = |end: &StreamEnd| match end.node.parse::<MacAddr>() {
        Ok(mac) => Ok(mac),
        Err(_) => card(end),
    };
    let is_card = |mac: MacAddr| roster.cards().iter().any(|card| card.mac == mac);
    let mut cards = Cards { rack: &rack, windows: BTreeMap::new() };
    let mut report = JoinedReport { schema: "rackloom.stream-connect/1", joints: Vec::new(), inputs: Vec::new() };
    let mut joints = Vec::new();
    for joint in &args.joints {
        let (from, to) = (card(&joint.from)?, node(&joint.to)?);
        let (there, here) = (joint.to.stream, joint.from.stream);
        report.joints.push(format!("{}:{here}={}:{there}", roster.name(from), roster.name(to)));
        joints.push((from, here, to, there));
    }
    let inputs = args.input.iter().map(|end| Ok((card(end)?, end.stream))).collect::<Result<Vec<_>>>()?;
    report.inputs = inputs.iter().map(|(card, stream)| format!("{}:{stream}", roster.name(*card))).collect();

    let mut claimed: Vec<_> = joints.iter().flat_map(|(from, _, to, _)| [*from, *to]).collect();
    claimed.extend(inputs.iter().map(|(card, _)| *card));
    claimed.retain(|mac| is_card(*mac));
    claimed.sort_unstable();
    claimed.dedup();
    rack.claim(&claimed, ClaimOptions::default()).wait_all()?;
    // Doors before what goes through them: a message to a stream that is closed would be refused. And inputs last: what
    // a role is sent before its own stream leads anywhere would be lost.
    for (from, _, to, there) in joints.iter().filter(|(_, _, to, _)| is_card(*to)) {
        cards.open(*to, *there, *from)?;
    }
    for (from, here, to, there) in joints {
        let what = || format!("cannot join stream {here} of {}", roster.name(from));
        rack.set_route(from, here, Some((to, there))).wait().during(what())?;
    }
    for (card, stream) in inputs {
        cards.open(card, stream, args.peer.unwrap_or(MacAddr::ZERO))?;
    }
    cx.ui.result(&report, || report.joints.iter().map(|joint| format!("joined {joint}\n")).collect());
    hold(&rack, &claimed, &roster, args.time)
}

/// The windows of each card that are in use.
struct Cards<'a> {
    rack: &'a Rack,
    windows: BTreeMap<MacAddr, u16>,
}

impl Cards<'_> {
    fn open(&mut self, card: MacAddr, stream: u16, peer: MacAddr) -> Result<()> {
        let number = self.windows.entry(card).or_default();
        let window = Window { base: stream.into(), length: 1, peer, rights: Rights::STREAM };
        let opened = self.rack.set_window(card, *number, Some(window)).wait();
        *number += 1;
        opened.map_err(Failure::from)
    }
}
