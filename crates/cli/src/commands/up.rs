//! `rackloom up`: a rack that other processes can use.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rackloom::MacAddr;
use rackloom_card::Unattended;
use rackloom_live::{Capture, MTU_JUMBO};
use rackloom_rack::NicReport;
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{CardCount, Step, Up};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::keys::CardFile;
use crate::rack::access::Access;
use crate::rack::control::{ControlServer, NicSlot, Reply, Request, Slot};
use crate::rack::demands::Demands;
use crate::rack::{self, Kind, LiveRack, Network, Pace, Removal, ServedNetwork, Shape, Topology, random_seed};
use crate::{format, interrupt};

/// A rack that is up.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UpReport {
    /// `rackloom.up/1`
    schema: &'static str,
    /// The segment.
    net: String,
    /// The seed; it makes the same cards again.
    seed: u64,
    /// The cards at its start.
    cards: Vec<Slot>,
    /// The folder of this interface's keys; null if the cards have others, or none.
    keys: Option<String>,
}

/// Most processes attached at a time.
const CLIENTS_MAX: usize = 256;
/// How long a signal to stop may go unnoticed.
const TICK: Duration = Duration::from_millis(50);

pub(super) fn run(cx: &Context, args: &Up) -> Result<Exit> {
    let net = &cx.global.net;
    let kinds = match args.card.is_empty() {
        true => vec![CardCount { kind: Kind::Model, count: args.cards }],
        false => args.card.clone(),
    };
    let topology = topology(args)?;
    let access = Access::of(net, args, cx.global.insecure_open, &kinds, &topology)?;
    let network = Network::open(net)?;
    let keys = access.keys(args.seed)?;
    // A file of keys is of certain addresses.
    let seed = args.seed.or_else(|| keys.cards().and_then(CardFile::seed)).unwrap_or_else(random_seed);
    let bulk = if network.mtu() >= MTU_JUMBO { BULK_JUMBO } else { BULK_STANDARD };
    // Neighbours have to take each other's frames.
    let bulk = match topology.links().is_empty() {
        true => bulk,
        false => kinds.iter().map(|asked| asked.kind.bulk_max()).fold(bulk, u16::min),
    };
    let pace = if args.clocked { Pace::Clocked } else { Pace::Live };
    let mut rack = rack::local(Shape { memory: args.memory, bulk, seed, pace, rate: args.rate }, topology)?;
    let network = network.serve(rack.switch(), CLIENTS_MAX)?;
    let control = ControlServer::open(network.segment())?;
    let mut networks = vec![network];
    for (net, switch) in rack.networks() {
        networks.push(Network::open(net)?.serve(switch, CLIENTS_MAX)?);
    }
    let capture = match &args.capture {
        Some(file) => {
            let ui = cx.ui;
            let capture = Capture::create(file, "rackloom", move |e| ui.warn(e)).map_err(|e| Failure::of(&e))?;
            rack.switch().set_tap(Some(capture.clone()));
            Some(capture)
        }
        None => None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    interrupt::instead(move || stopped.store(true, Ordering::Release));

    let mut demands = Demands::new(args, keys.cards().cloned(), cx.global.encrypt, cx.policy()?, &rack)?;
    let mut cards = Vec::new();
    for asked in &kinds {
        cards.append(&mut add(&mut rack, *asked, &demands)?);
    }
    let kept = keys.folder().map(|folder| folder.display().to_string());
    let report = UpReport { schema: "rackloom.up/1", net: net.to_string(), seed, cards, keys: kept };
    cx.ui.result(&report, || {
        let cards: Vec<_> = kinds.iter().map(|asked| in_words(*asked, args.memory)).collect();
        format!("{} are up on {net}", cards.join(" and "))
    });
    match keys.in_words() {
        Some(said) => cx.ui.say(said),
        None if net.interface().is_some() && keys.cards().is_none() => {
            cx.ui.warn(format!("whoever is on the network of {net} can take these cards over and forge their results"));
        }
        None => {}
    }
    for nic in nics(&rack) {
        cx.ui.say(format!("{} is the interface of a host behind {}, {}", nic.interface, nic.card, nic.mac));
    }
    match args.run_for {
        Some(time) => cx.ui.say(format!("the rack stops after {}, or at Ctrl-C", format::time(time))),
        None => cx.ui.say("Ctrl-C takes the rack down"),
    }
    keep_up(cx, args, &mut rack, &mut demands, &control, &networks, &stop)?;
    cx.ui.say("taking the rack down");
    rack.clear();
    demands.keep(&rack, cx.ui);
    if let Some(capture) = capture {
        rack.switch().set_tap(None);
        capture.flush();
        let stats = capture.stats();
        cx.ui.say(format!("captured {} frames; {} are missing from the file", stats.frames, stats.lost));
    }
    drop(networks);
    Ok(Exit::Ok)
}

fn keep_up(
    cx: &Context,
    args: &Up,
    rack: &mut LiveRack,
    demands: &mut Demands,
    control: &ControlServer,
    networks: &[ServedNetwork],
    stop: &AtomicBool,
) -> Result<()> {
    let started = Instant::now();
    let mut script: Vec<_> = args.hotplug.clone();
    script.sort_by_key(|s| s.at);
    let mut warned = false;
    let mut script = VecDeque::from(script);
    loop {
        let elapsed = started.elapsed();
        if stop.load(Ordering::Acquire) || args.run_for.is_some_and(|time| elapsed >= time) {
            return Ok(());
        }
        while let Some(step) = script.pop_front_if(|s| s.at <= elapsed) {
            match step.step {
                Step::Add(cards) => {
                    let added = add(rack, cards, demands)?;
                    cx.ui.say(format!("{}: plugged in {}", format::time(elapsed), names(&added)));
                }
                Step::Remove(count) => {
                    let units: Vec<_> = rack.units().rev().take(usize::from(count)).collect();
                    let removed: Vec<_> = units.iter().map(|&unit| slot(unit, rack.mac(unit))).collect();
                    units.into_iter().for_each(|unit| _ = rack.remove(unit, Removal::Goodbye));
                    cx.ui.say(format!("{}: pulled out {}", format::time(elapsed), names(&removed)));
                }
            }
        }
        for network in networks {
            if let Some(e) = network.failure() {
                return Err(Failure::of(&e).during(format!("the connection to {} failed", network.net())));
            }
        }
        if let Some(trouble) = networks.iter().find_map(|n| if warned { None } else { n.trouble() }) {
            warned = true;
            cx.ui.warn(trouble);
        }
        if let Some((interface, e)) = rack.nic_failure() {
            cx.ui.warn(format!("{interface} is gone: {e}"));
        }
        let next = script.front().map(|s| s.at.saturating_sub(elapsed)).unwrap_or(TICK).min(TICK);
        control.wait(next);
        control.serve(|request| answer(cx, rack, demands, &request));
        demands.keep(rack, cx.ui);
    }
}

fn answer(cx: &Context, rack: &mut LiveRack, demands: &mut Demands, request: &Request) -> Reply {
    match *request {
        Request::Add { kind, count } => match add(rack, CardCount { kind, count }, demands) {
            Ok(slots) => {
                cx.ui.say(format!("plugged in {}", names(&slots)));
                Reply::Done(slots)
            }
            Err(f) => failed(f),
        },
        Request::Keys { ref file } => match demands.rekey(rack, file) {
            Ok(units) => {
                let slots: Vec<_> = units.iter().map(|unit| slot(*unit, rack.mac(*unit))).collect();
                cx.ui.say(format!("gave other keys to {}", names(&slots)));
                Reply::Done(slots)
            }
            Err(f) => failed(f),
        },
        Request::Rm { unit, yank } => {
            let gone = slot(unit, rack.mac(unit));
            if !rack.remove(unit, if yank { Removal::Yank } else { Removal::Goodbye }) {
                return Reply::Failed(format!("card{unit} is not in this rack"));
            }
            cx.ui.say(format!("{} {}", if yank { "yanked" } else { "pulled out" }, gone.name));
            Reply::Done(vec![gone])
        }
        Request::Nics => Reply::Nics(nics(rack)),
        Request::Ls => Reply::Done(rack.units().map(|unit| slot(unit, rack.mac(unit))).collect()),
    }
}

fn failed(f: Failure) -> Reply {
    Reply::Failed([&[f.what], f.causes.as_slice()].concat().join(": "))
}

fn add(rack: &mut LiveRack, asked: CardCount, demands: &Demands) -> Result<Vec<Slot>> {
    let add = |_| {
        let unit = (0..).find(|unit| rack.card(*unit).is_none()).expect("a switch has fewer ports");
        let demands = demands.of(asked.kind, unit, rack.mac(unit))?;
        let (unit, mac) = rack.add_with(asked.kind, demands)?;
        Ok(slot(unit, mac))
    };
    (0..asked.count).map(add).collect()
}

/// The cables from the command line or a file, and the hosts.
fn topology(args: &Up) -> Result<Topology> {
    let cables = match &args.topology {
        None => Topology::new(args.cable.clone()).map_err(|e| Failure::of(&e))?,
        Some(file) => {
            let text = std::fs::read_to_string(file).during(format!("cannot read {}", file.display()))?;
            Topology::parse(&text).map_err(|e| Failure::of(&e).during(format!("in {}", file.display())))?
        }
    };
    let cables = match &args.links {
        None => cables,
        Some(links) => with_links(cables, links, args)?,
    };
    cables.with_nics(args.nic.clone()).map_err(|e| Failure::of(&e))
}

/// Links of a shape, or as a file lists them.
fn with_links(cables: Topology, links: &str, args: &Up) -> Result<Topology> {
    let cards = match args.card.is_empty() {
        true => args.cards,
        false => args.card.iter().map(|asked| asked.count).sum(),
    };
    let file = std::path::Path::new(links);
    let linked = match links.parse() {
        Ok(shape) => cables.with_links(&shape, cards),
        Err(_) if file.is_file() => {
            let text = std::fs::read_to_string(file).during(format!("cannot read {}", file.display()))?;
            Topology::parse(&text).and_then(|listed| cables.with_linked(listed))
        }
        Err(e) => return Err(Failure::of(&e).help("or name a file that lists cables, one per line")),
    };
    linked.map_err(|e| Failure::of(&e))
}

/// The hosts' network interfaces, as they are now.
fn nics(rack: &LiveRack) -> Vec<NicSlot> {
    let slot = |nic: NicReport| {
        let counters = nic.counters.unwrap_or_default();
        let hook = match nic.plug.hook {
            None => "none",
            Some(Unattended::Pass) => "pass",
            Some(Unattended::Hold) => "hold",
        };
        NicSlot {
            card: format!("card{}", nic.plug.unit),
            present: nic.counters.is_some(),
            interface: nic.plug.interface,
            mac: nic.mac.to_string(),
            hook: hook.to_owned(),
            to_host_frames: counters.to_host.frames,
            to_host_bytes: counters.to_host.bytes,
            to_wire_frames: counters.to_wire.frames,
            to_wire_bytes: counters.to_wire.bytes,
            forged: counters.forged,
            reserved: counters.reserved,
            astray: counters.astray,
            overflow: counters.overflow,
            held: counters.held,
            missed: counters.missed,
            paused: counters.paused,
        }
    };
    rack.nics().into_iter().map(slot).collect()
}

/// Cards in words.
fn in_words(cards: CardCount, memory: Option<u64>) -> String {
    let memory = format::memory(memory.unwrap_or_else(|| cards.kind.memory()));
    format!("{} {} cards of {memory}", cards.count, cards.kind.name())
}

fn slot(unit: u16, mac: MacAddr) -> Slot {
    Slot { name: format!("card{unit}"), unit, mac: mac.to_string() }
}

fn names(slots: &[Slot]) -> String {
    slots.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(", ")
}
