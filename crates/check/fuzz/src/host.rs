//! A host with work to do, among cards that say anything.

use arbitrary::{Result, Unstructured};
use bytes::Bytes;
use rackloom_host::{ClaimOptions, Commit, Config, Host, Launch};
use rackloom_node::{Duration, Instant, Node};
use rackloom_wire::{MacAddr, Scrub};

use crate::node;
use crate::talk::{CARD, HOST};

/// Target: a host keeps the promises of a node, whatever cards say and whatever it is asked to do; in the end each
/// operation has been answered.
///
/// # Errors
/// When `u` holds too few bytes.
///
/// # Panics
/// When the host breaks one of these promises.
pub fn frames(u: &mut Unstructured<'_>) -> Result<()> {
    let mut host = Host::new(Config::simulated(HOST, u.arbitrary()?, 10_000_000_000));
    let mut now = Instant::ZERO;
    for _ in 0..u.int_in_range(1..=4)? {
        // Part of the input only, so that commands fall between frames.
        let part = u.int_in_range(0..=u.len())?;
        let mut part = Unstructured::new(u.bytes(part)?);
        // Its bytes end in the middle of something: no reason to end the input.
        let _ = node::drive(&mut host, HOST, &mut now, &mut part);
        command(&mut host, now, u)?;
    }
    let _ = node::drive(&mut host, HOST, &mut now, u);
    settle(&mut host, now);
    Ok(())
}

fn command(host: &mut Host, now: Instant, u: &mut Unstructured<'_>) -> Result<()> {
    let card = if u.ratio(7, 8)? { CARD } else { MacAddr(u.arbitrary()?) };
    let data = |u: &mut Unstructured<'_>| Ok(Bytes::from(vec![7; u.int_in_range(0..=5000)?]));
    match u.int_in_range(0..=8)? {
        0 => drop(host.claim(now, card, ClaimOptions { scrub: Scrub::Keep, ..ClaimOptions::default() })),
        1 => drop(host.release(now, card, Scrub::Zero)),
        2 => drop(host.counters(now, card)),
        3 => drop(host.manifest(now, card)),
        4 => {
            let commit = if u.arbitrary()? { Commit::AllOrNone } else { Commit::Each };
            host.load(now, &[card], data(u)?, commit);
        }
        5 => drop(host.write(now, card, u.arbitrary()?, data(u)?)),
        6 => drop(host.read(now, card, u.arbitrary()?, u.int_in_range(0..=9000)?)),
        7 => host.solicit(now, Duration::from_millis(u.int_in_range(0..=100)?)),
        _ => drop(host.launch(now, card, Launch { args: vec![1, 2], ..Launch::default() })),
    }
    Ok(())
}

/// Nobody speaks any more: within its own time limits the host gives everything up.
fn settle(host: &mut Host, mut now: Instant) {
    let end = now + Duration::from_secs(120);
    while now < end && host.pending() > 0 {
        while host.poll(now).is_some() {}
        match host.next_deadline() {
            Some(at) => now = now.max(at),
            None => break,
        }
        host.handle_timeout(now);
    }
    assert_eq!(host.pending(), 0, "two minutes of silence, and operations are still open");
}
