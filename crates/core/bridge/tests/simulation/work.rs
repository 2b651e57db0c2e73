//! What nodes ask of each other and send to each other, at random.

use bytes::Bytes;
use rackloom_bridge::{Atomic, Endpoint, NotTaken, Ticket};
use rackloom_node::{Instant, Rng};
use rackloom_wire::bridge::BridgeStatus;

use crate::ledger::{ATOMICS, CELLS, Ledger, Op, PRIVATE, Place, READ_ONLY, SHARED, address};
use crate::messages::Messages;
use crate::plan::{Plan, mac};

/// Streams that nodes open.
pub const STREAMS: u16 = 12;
/// Pieces of a message, at most: credit that a node gives before its owner takes anything.
const PIECES: usize = 96;

/// A request that is drawn, and the answer that it should have.
struct Draw {
    op: Op,
    expect: Result<(), BridgeStatus>,
}

/// Makes a request of `to`. False if the endpoint takes none now.
///
/// # Errors
/// The endpoint refuses it for no reason.
pub fn ask(
    plan: &Plan,
    rng: &mut Rng,
    ledger: &mut Ledger,
    node: (usize, u32, &mut Endpoint),
    to: usize,
    now: Instant,
) -> Result<bool, String> {
    let (from, life, endpoint) = node;
    let stamp = ledger.next();
    let Draw { op, expect } = draw(plan, rng, ledger, from, to);
    let taken = issue(endpoint, now, to, stamp, &op);
    let ticket = match taken {
        Ok(ticket) => ticket,
        Err(NotTaken::Full | NotTaken::Peers) => return Ok(false),
        Err(NotTaken::Invalid) => return Err(format!("node {from} may not ask for {op:?}")),
    };
    ledger.begin((from, life, to), ticket, op, expect);
    Ok(true)
}

fn issue(endpoint: &mut Endpoint, now: Instant, to: usize, stamp: u64, op: &Op) -> Result<Ticket, NotTaken> {
    let at = |place: &Place| address(place.region, stamp, place.cell);
    match op {
        Op::Read { at: place, count } => endpoint.read(now, mac(to), at(place), *count as u32),
        Op::Atomic { at: place, atomic } => endpoint.atomic(now, mac(to), at(place), *atomic),
        Op::Write(records) => match &records[..] {
            [(place, bytes)] => endpoint.write(now, mac(to), at(place), bytes.clone()),
            records => {
                let writes: Vec<_> = records.iter().map(|(place, bytes)| (at(place), &bytes[..])).collect();
                endpoint.write_batch(now, mac(to), &writes)
            }
        },
    }
}

fn draw(plan: &Plan, rng: &mut Rng, ledger: &Ledger, from: usize, to: usize) -> Draw {
    let longest = usize::from(plan.ends[from].longest);
    let region = match ledger.private(to, from) {
        Some(private) if rng.chance(0.4) => private,
        _ => SHARED,
    };
    let count = |rng: &mut Rng, most: usize| match rng.below(4) {
        0 => most,
        1 => 1 + rng.below(16) as usize,
        _ => 1 + rng.below(most as u64) as usize,
    };
    let cell = |rng: &mut Rng, count: usize| ATOMICS + rng.below((CELLS - ATOMICS - count) as u64 + 1) as usize;
    let bytes = |rng: &mut Rng, count: usize| (0..count).map(|_| rng.next_u64() as u8).collect::<Vec<u8>>();
    let good = |op| Draw { op, expect: Ok(()) };
    match rng.below(12) {
        0..4 => {
            let region = if rng.chance(0.1) { READ_ONLY } else { region };
            let count = count(rng, longest);
            let at = Place { region, cell: cell(rng, count) };
            // One whose frames are shorter cannot answer.
            let fits = count <= plan.ends[to].longest.into();
            Draw { op: Op::Read { at, count }, expect: if fits { Ok(()) } else { Err(BridgeStatus::Malformed) } }
        }
        4..7 => {
            let count = count(rng, longest);
            let at = Place { region, cell: cell(rng, count) };
            good(Op::Write(vec![(at, bytes(rng, count).into())]))
        }
        7 => {
            let records = 2 + rng.below(3) as usize;
            // Behind a head of 16 bytes, each padded to 8.
            let most = longest / records - 24;
            let one = |rng: &mut Rng| {
                let count = count(rng, most);
                (Place { region, cell: cell(rng, count) }, Bytes::from(bytes(rng, count)))
            };
            let mut writes: Vec<_> = (0..records).map(|_| one(rng)).collect();
            if rng.chance(0.2) {
                writes.last_mut().expect("two at least").0.region = READ_ONLY;
                return Draw { op: Op::Write(writes), expect: Err(BridgeStatus::Denied) };
            }
            good(Op::Write(writes))
        }
        8..11 => {
            let adds = rng.chance(0.6);
            let place = rng.below(ATOMICS as u64 / 16) as usize * 8;
            let atomic = if adds {
                Atomic::FetchAdd(rng.next_u64())
            } else {
                Atomic::CompareSwap { expected: rng.below(2), new: rng.below(2) }
            };
            let at = Place { region, cell: if adds { place } else { ATOMICS / 2 + place } };
            good(Op::Atomic { at, atomic })
        }
        _ => forbidden(plan, rng, ledger, from, to),
    }
}

/// What no window permits.
fn forbidden(plan: &Plan, rng: &mut Rng, ledger: &Ledger, from: usize, to: usize) -> Draw {
    let bytes = Bytes::from_static(b"forbidden");
    let others = plan.peers(to).into_iter().filter(|p| *p != from);
    let others: Vec<u8> = others.filter_map(|p| ledger.private(to, p)).collect();
    if let Some(region) = others.get(rng.below(others.len().max(1) as u64) as usize)
        && rng.chance(0.5)
    {
        let at = Place { region: *region, cell: 100 };
        let op = if rng.chance(0.5) { Op::Read { at, count: 9 } } else { Op::Write(vec![(at, bytes)]) };
        return Draw { op, expect: Err(BridgeStatus::NoWindow) };
    }
    let at = Place { region: if rng.chance(0.5) { READ_ONLY } else { PRIVATE + 100 }, cell: 100 };
    let status = if at.region == READ_ONLY { BridgeStatus::Denied } else { BridgeStatus::NoWindow };
    Draw { op: Op::Write(vec![(at, bytes)]), expect: Err(status) }
}

/// Sends a message to `to`. False if the endpoint takes none now.
///
/// # Errors
/// The endpoint refuses it for no reason.
pub fn send(
    plan: &Plan,
    rng: &mut Rng,
    messages: &mut Messages,
    node: (usize, &mut Endpoint),
    to: usize,
    now: Instant,
) -> Result<bool, String> {
    let (from, endpoint) = node;
    let most = (64 << 10).min(PIECES * usize::from(plan.ends[from].longest));
    let length = match rng.below(5) {
        0 => most,
        1 => rng.below(most as u64 + 1) as usize,
        // Those that are all alike could be taken for each other where some may be missing.
        2 if !plan.is_rough() => 0,
        _ => 16 + rng.below(1500) as usize,
    };
    let mut bytes = vec![rng.next_u64() as u8; length];
    bytes.chunks_exact_mut(8).take(2).for_each(|word| word.copy_from_slice(&rng.next_u64().to_be_bytes()));
    let (bytes, stream) = (Bytes::from(bytes), rng.below(STREAMS.into()) as u16);
    match endpoint.send(now, mac(to), stream, &bytes) {
        Ok(()) => messages.sent(from, to, stream, bytes),
        Err(NotTaken::Full | NotTaken::Peers) => return Ok(false),
        Err(NotTaken::Invalid) => return Err(format!("node {from} may not send {length} bytes")),
    }
    Ok(true)
}
