//! `diad-latency`: figure 4. What a request takes, there and back, by size, and which part of the way takes how much.
//!
//! Reads and writes go from a node in a fabric to a card's memory, in packets of 4 KiB, the longest burst of AXI,
//! all of them at once. An exchange is what the paper's traffic generator does: a message from one fabric to
//! another, and one of the same size back as soon as it is there. Before each measurement everything is at rest.
//! What was read and written is compared.

mod report;

pub use report::{Operation, Point, Report, SCHEMA};

use bytes::Bytes;
use rackloom_bridge::{Rights, Window};
use rackloom_node::{Duration, Either, Instant};
use rackloom_rack::Slot;
use rackloom_report::Progress;
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::MESSAGE_JUMBO;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError, check};
use crate::lab::{CARD_BASE, Lab};
use crate::latencies::{Latencies, Stand};
use crate::peer::PeerEvent;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Options {
    /// Bytes of a request or message, 1 to 65,536.
    pub sizes: Vec<usize>,
    /// The testbed.
    pub latencies: Latencies,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        let sizes = vec![8, 64, 256, 1024, 2048, 4096, 8192, 16_384, 65_536];
        Self { sizes, latencies: Latencies::default(), seed: 1 }
    }
}

impl Options {
    /// Three sizes.
    pub fn quick() -> Self {
        Self { sizes: vec![64, 1024, 8192], ..Self::default() }
    }
}

/// Most bytes of a request: the longest burst of AXI.
pub(crate) const PACKET: usize = 4096;

/// Measures all points.
///
/// # Errors
/// If a request fails, or what was read is not what was written.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let mut lab = Lab::new(options.latencies, options.seed);
    let (asker, other) = (lab.add_peer(Stand::Fabric, 0), lab.add_peer(Stand::Fabric, 0));
    let card = lab.add_card(|_| {})?;
    lab.open(card, 0, CARD_BASE, 1 << 20, Rights::READ | Rights::WRITE)?;
    for peer in [asker, other] {
        let window = Window { base: 0, length: 1, peer: MacAddr::ZERO, rights: Rights::STREAM };
        lab.with(peer, |peer, _| peer.endpoint.windows().set(0, Some(window)));
    }
    // Both ends of each connection get to know each other.
    lab.read(asker, card.mac, CARD_BASE, 8, PACKET)?;
    exchange(&mut lab, asker, other, &pattern(8, 0))?;

    let mut points = Vec::new();
    let total = options.sizes.len() * Operation::ALL.len();
    for &size in &options.sizes {
        for operation in Operation::ALL {
            lab.rest(REST);
            let bytes = pattern(size, operation as u8);
            let took = match operation {
                Operation::Write => {
                    let took = request(&mut lab, asker, card.mac, &bytes, true)?.1;
                    let there = lab.read(asker, card.mac, CARD_BASE, size, PACKET)?;
                    check(there == bytes, || format!("{size} bytes written are not there"))?;
                    took
                }
                Operation::Read => {
                    lab.write(asker, card.mac, CARD_BASE, &bytes, PACKET)?;
                    lab.rest(REST);
                    let (read, took) = request(&mut lab, asker, card.mac, &bytes, false)?;
                    check(read == bytes, || format!("{size} bytes read are others"))?;
                    took
                }
                Operation::Exchange => exchange(&mut lab, asker, other, &bytes)?,
            };
            points.push(Point::new(operation, size, took, &options.latencies));
            progress.step(points.len(), total, &format!("{} of {size} bytes", operation.name()));
        }
    }
    Ok(Report::new(options, points))
}

/// Reads or writes in packets that are under way at the same time: what was read, and the time.
fn request(lab: &mut Lab, asker: Slot, card: MacAddr, bytes: &Bytes, writes: bool) -> Result<(Bytes, Duration)> {
    let start = lab.now();
    let mut open = Vec::new();
    for at in (0..bytes.len()).step_by(PACKET) {
        let part = bytes.slice(at..bytes.len().min(at + PACKET));
        let (addr, count) = (CARD_BASE + at as u64, part.len() as u32);
        open.push(lab.with(asker, |peer, now| {
            if writes { peer.endpoint.write(now, card, addr, part) } else { peer.endpoint.read(now, card, addr, count) }
        })?);
    }
    // Answers come in the order of the requests.
    let mut all = Vec::new();
    for ticket in open {
        all.extend_from_slice(&lab.finish(asker, ticket)?);
    }
    Ok((all.into(), lab.now() - start))
}

/// A message there and back: the time.
fn exchange(lab: &mut Lab, a: Slot, b: Slot, message: &Bytes) -> Result<Duration> {
    let start = lab.now();
    lab.with(a, |peer, now| peer.endpoint.send(now, b.mac, 0, message))?;
    let there = hear(lab, b)?;
    lab.with(b, |peer, now| peer.endpoint.send(now, a.mac, 0, &there.1))?;
    let (at, back) = hear(lab, a)?;
    check(back == *message, || format!("a message of {} bytes comes back as another", message.len()))?;
    Ok(at - start)
}

/// Runs until a node has a message.
fn hear(lab: &mut Lab, by: Slot) -> Result<(Instant, Bytes)> {
    let mut heard = None;
    let at = lab.run_until("a message", |node, told| match told {
        Either::A(Either::B(PeerEvent::Message(_, _, bytes))) if node == by.node => {
            heard = Some(bytes.clone());
            true
        }
        _ => false,
    })?;
    heard.map(|bytes| (at, bytes)).ok_or(StudyError::Stuck { what: "a message", at })
}

/// Bytes that differ from place to place.
pub(crate) fn pattern(length: usize, salt: u8) -> Bytes {
    (0..length).map(|i| (i as u32).wrapping_mul(0x9e37_79b1).to_be_bytes()[0] ^ salt).collect()
}

/// Long enough for the last acknowledgement.
const REST: Duration = Duration::from_micros(200);
/// Bytes of a stream's frame.
const PIECE: usize = MESSAGE_JUMBO as usize;
