//! Cards' memory: for their owner's kernels, for other nodes, and shared.

use bytes::Bytes;
use rackloom_bridge::{Atomic, Rights};
use rackloom_host::{Launch, Outcome};
use rackloom_rack::Slot;
use rackloom_wire::MacAddr;

use super::Seen;
use crate::error::{Result, check};
use crate::lab::{CARD_BASE, Lab};
use crate::latencies::Stand;
use crate::latency::PACKET;

/// Elements of the vectors.
const COUNT: usize = 4096;
const BYTES: u64 = COUNT as u64 * 4;

/// `count` floats, small multiples of an eighth.
fn floats(factor: usize) -> Bytes {
    (0..COUNT).flat_map(|i| ((i * factor % 1000) as f32 / 8.0).to_le_bytes()).collect()
}

/// The launch of `vadd` on three arrays one behind the other.
fn vadd() -> Launch {
    let args = vec![CARD_BASE, CARD_BASE + BYTES, CARD_BASE + 2 * BYTES, COUNT as u64];
    Launch { args, ..Launch::default() }
}

fn is_sum(sum: &[u8]) -> Result<()> {
    let wanted = |i: usize| (i * 3 % 1000) as f32 / 8.0 + (i * 7 % 1000) as f32 / 8.0;
    let is_right = sum.chunks_exact(4).enumerate().all(|(i, word)| word == wanted(i).to_le_bytes());
    check(is_right && sum.len() as u64 == BYTES, || "a sum is wrong".into())
}

/// Loads `vadd`, launches it, and gives its cycles and the time from the launch to its end, us.
fn launch(lab: &mut Lab, card: MacAddr) -> Result<(u64, f64)> {
    let start = lab.now();
    let Outcome::Launched(report) = lab.own("a kernel", |host, now| host.launch(now, card, vadd()))? else {
        unreachable!("a launch gives a launch's outcome")
    };
    Ok((report.cycles, (lab.now() - start).as_secs_f64() * 1e6))
}

/// One host, one card: write, launch, read.
pub(super) fn compute(lab: &mut Lab) -> Result<Seen> {
    let card = lab.add_card(|_| {})?;
    lab.load("vadd", card)?;
    let mac = card.mac;
    for (at, factor) in [(0, 3), (1, 7)] {
        lab.own("a write", |host, now| host.write(now, mac, CARD_BASE + at * BYTES, floats(factor)))?;
    }
    let (cycles, took) = launch(lab, mac)?;
    let sum = lab.own("a read", |host, now| host.read(now, mac, CARD_BASE + 2 * BYTES, BYTES))?;
    let Outcome::Data(sum) = sum else { unreachable!("a read gives data") };
    is_sum(&sum)?;
    Ok((format!("vadd of {COUNT} floats in {cycles} cycles, all sums right"), took))
}

/// A card without a host: whoever launches, others bring operands and fetch results, straight to its memory.
pub(super) fn disaggregated(lab: &mut Lab) -> Result<Seen> {
    let card = lab.add_card(|_| {})?;
    lab.load("vadd", card)?;
    lab.open(card, 0, CARD_BASE, 3 * BYTES, Rights::READ | Rights::WRITE)?;
    let nodes: Vec<Slot> = (0..3).map(|_| lab.add_peer(Stand::Fabric, 0)).collect();
    for (at, factor) in [(0, 3), (1, 7)] {
        lab.write(nodes[at], card.mac, CARD_BASE + at as u64 * BYTES, &floats(factor), PACKET)?;
    }
    let (_, took) = launch(lab, card.mac)?;
    let sum = lab.read(nodes[2], card.mac, CARD_BASE + 2 * BYTES, BYTES as usize, PACKET)?;
    is_sum(&sum)?;
    Ok(("two nodes wrote the operands, a third read the sums; no host is at the card or in between".into(), took))
}

/// Two nodes change one number at the same time.
pub(super) fn shared(lab: &mut Lab) -> Result<Seen> {
    const ADDS: u64 = 500;
    let card = lab.add_card(|_| {})?;
    lab.open(card, 0, CARD_BASE, 8, Rights::READ | Rights::ATOMIC)?;
    let nodes = [lab.add_peer(Stand::Host, 0), lab.add_peer(Stand::Fabric, 0)];
    let start = lab.now();
    for _ in 0..ADDS {
        let mut under_way = Vec::new();
        for (node, value) in nodes.into_iter().zip([1, 1000]) {
            let add = Atomic::FetchAdd(value);
            let ticket = lab.with(node, |peer, now| peer.endpoint.atomic(now, card.mac, CARD_BASE, add))?;
            under_way.push((node, ticket));
        }
        // The one in the fabric is nearer, and over first.
        for (node, ticket) in under_way.into_iter().rev() {
            lab.finish(node, ticket)?;
        }
    }
    let took = (lab.now() - start).as_secs_f64() * 1e6 / ADDS as f64;
    let sum = lab.read(nodes[0], card.mac, CARD_BASE, 8, PACKET)?;
    let sum = u64::from_be_bytes(sum[..].try_into().expect("eight bytes were asked for"));
    check(sum == ADDS * 1001, || format!("the sum is {sum} and not {}", ADDS * 1001))?;
    Ok((format!("two nodes added {ADDS} times each to one number of a card's memory: none was lost"), took))
}
