//! `rackloom rma map`: a program with a window of a card's memory.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use rackloom::{Access, Rights, random_mac};
use rackloom_rma::{GIVEN, NODE, Window};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::RmaMap;
use crate::cards::Roster;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::interrupt;

/// A program that has run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MapReport {
    /// `rackloom.rma-map/1`
    schema: &'static str,
    /// The card.
    card: String,
    /// Its address as a node.
    address: String,
    /// The program's address as a node.
    node: String,
    /// First address of the window.
    base: u64,
    /// Its bytes.
    length: u64,
    /// Whether the program could store.
    writable: bool,
    /// The program.
    program: String,
    /// How long it ran, seconds.
    seconds: f64,
    /// Its exit code, unless a signal has ended it.
    exit: Option<i32>,
    /// The signal that has ended it.
    signal: Option<i32>,
}

pub(super) fn run(cx: &Context, args: &RmaMap) -> Result<Exit> {
    let (program, arguments) = args.program.split_first().expect("the parser wants a program");
    let rack = cx.connect()?;
    let roster = Roster::discover_named(&rack, &cx.global, &[&args.card])?;
    let card = roster.find(&args.card)?;
    let (mac, name) = (card.mac, roster.name(card.mac));
    let length = args.length.unwrap_or_else(|| card.memory.saturating_sub(args.base));
    let node = args.mac.unwrap_or_else(random_mac);
    let (rights, access) = match args.read_only {
        true => (Rights::READ, Access::Read),
        false => (Rights::READ | Rights::WRITE, Access::ReadWrite),
    };
    cx.claim_one(&rack, mac)?;
    let window = rackloom::Window { base: args.base, length, peer: node, rights };
    rack.set_window(mac, 0, Some(window)).wait().during("cannot open the window")?;

    let given = Window { node: mac, base: args.base, length, access };
    let mut command = Command::new(program);
    command.args(arguments).env("RACKLOOM_NET", cx.global.net.to_string());
    command.env(GIVEN, given.to_string()).env(NODE, node.to_string());
    if cx.global.insecure_open {
        command.env("RACKLOOM_INSECURE_OPEN", "1");
    }
    if cx.global.json {
        // Our own output is one report.
        command.stdout(Stdio::from(std::io::stderr()));
    }
    let program = program.to_string_lossy().into_owned();
    let started = Instant::now();
    let mut child = command.spawn().during(format!("cannot start {program}"))?;
    let pid = rustix::process::Pid::from_child(&child);
    // The program ends, and this command with it.
    interrupt::instead(move || _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM));
    let status = child.wait().during(format!("cannot wait for {program}"))?;
    let report = MapReport {
        schema: "rackloom.rma-map/1",
        card: name.clone(),
        address: mac.to_string(),
        node: node.to_string(),
        base: args.base,
        length,
        writable: access == Access::ReadWrite,
        program: program.clone(),
        seconds: started.elapsed().as_secs_f64(),
        exit: status.code(),
        signal: status.signal(),
    };
    if cx.global.json {
        cx.ui.json(&report);
    } else if status.signal() == Some(rustix::process::Signal::BUS.as_raw()) {
        let lost = Failure::new(format!("{program} was ended by SIGBUS"));
        cx.ui.error(&lost.help(format!("{name} or its window is lost, if the program has done nothing else wrong")));
    }
    // The claim ends before this process does.
    drop(rack);
    match code(status) {
        0 => Ok(Exit::Ok),
        code => std::process::exit(code),
    }
}

/// The exit code, as a shell would have it.
fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(Exit::Error as i32)
}
