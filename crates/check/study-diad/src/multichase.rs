//! `diad-multichase`: figure 6. A host follows pointers through its own memory, a remote card's and a remote host's.
//!
//! The chain is a single cycle through a table of 8-byte pointers, one for each cache line, in an order drawn from the
//! seed, written into each memory through the bridge. Each thread has one read of 8 bytes under way, whose answer says
//! where the next one goes; at the end each has to be where the table says. Memory of the host's own is no business of
//! the bridge's: there the chain is walked, and a step takes what [`Latencies`] says.

mod report;

pub use report::{Place, Point, Report, SCHEMA};

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_bridge::{Rights, Ticket, Window};
use rackloom_node::{Duration, Either, Rng};
use rackloom_rack::Slot;
use rackloom_report::Progress;
use rackloom_wire::MacAddr;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, StudyError, check};
use crate::lab::{CARD_BASE, Lab};
use crate::latencies::{Latencies, Stand};
use crate::latency::PACKET;
use crate::peer::PeerEvent;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Options {
    /// Threads, each with a chain of its own.
    pub threads: Vec<usize>,
    /// Cache lines of the table.
    pub lines: usize,
    /// Steps of each thread.
    pub steps: usize,
    /// The testbed.
    pub latencies: Latencies,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: vec![1, 2, 4, 8, 16], lines: 8192, steps: 4000, latencies: Latencies::default(), seed: 1 }
    }
}

impl Options {
    /// A small table and few steps.
    pub fn quick() -> Self {
        Self { threads: vec![1, 4], lines: 512, steps: 300, ..Self::default() }
    }
}

/// Measures all points.
///
/// # Errors
/// If a read fails, or a chain ends elsewhere than the table says.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let chain = Chain::draw(options.lines, options.seed);
    let mut lab = Lab::new(options.latencies, options.seed);
    let host = lab.add_peer(Stand::Host, 0);
    let remote = lab.add_peer(Stand::HostMemory, chain.bytes());
    let card = lab.add_card(|_| {})?;
    lab.open(card, 0, CARD_BASE, chain.bytes() as u64, Rights::READ | Rights::WRITE)?;
    lab.with(remote, |peer, _| {
        let (length, rights) = (chain.bytes() as u64, Rights::READ | Rights::WRITE);
        peer.endpoint.windows().set(0, Some(Window { base: 0, length, peer: MacAddr::ZERO, rights }))
    });
    lab.write(host, card.mac, CARD_BASE, &chain.table(CARD_BASE), PACKET)?;
    lab.write(host, remote.mac, 0, &chain.table(0), PACKET)?;

    let mut points = Vec::new();
    let total = options.threads.len() * Place::ALL.len();
    for place in Place::ALL {
        for &threads in &options.threads {
            lab.rest(Duration::from_micros(200));
            let took = match place {
                Place::Local => {
                    chain.walk(&chain.table(0), threads, options.steps)?;
                    Duration::from_nanos(options.latencies.host_memory_ns * options.steps as u64)
                }
                Place::Card => chase(&mut lab, host, card.mac, CARD_BASE, &chain, threads, options.steps)?,
                Place::Host => chase(&mut lab, host, remote.mac, 0, &chain, threads, options.steps)?,
            };
            points.push(Point::new(place, threads, options.steps, took));
            progress.step(points.len(), total, &format!("{threads} threads, {}", place.name()));
        }
    }
    Ok(Report::new(options, points))
}

/// All threads go on until each has made its steps: the time.
fn chase(
    lab: &mut Lab,
    by: Slot,
    at: MacAddr,
    base: u64,
    chain: &Chain,
    threads: usize,
    steps: usize,
) -> Result<Duration> {
    let start = lab.now();
    let mut under_way: BTreeMap<Ticket, usize> = BTreeMap::new();
    let mut places: Vec<(u64, usize)> = (0..threads).map(|t| (base + chain.start(t, threads), 0)).collect();
    let step =
        |lab: &mut Lab, addr| Ok::<Ticket, StudyError>(lab.with(by, |p, now| p.endpoint.read(now, at, addr, 8))?);
    for (thread, (addr, _)) in places.iter().enumerate() {
        under_way.insert(step(lab, *addr)?, thread);
    }
    while !under_way.is_empty() {
        let mut came = None;
        lab.run_until("a step", |node, told| match told {
            Either::A(Either::B(PeerEvent::Done(ticket, result))) if node == by.node => {
                came = Some((*ticket, result.clone()));
                true
            }
            _ => false,
        })?;
        let (ticket, result) = came.expect("just seen");
        let thread = under_way.remove(&ticket).expect("nobody else reads");
        let bytes = result?;
        let (addr, done) = &mut places[thread];
        *addr = u64::from_le_bytes(bytes[..].try_into().expect("eight bytes were asked for"));
        *done += 1;
        if *done < steps {
            let addr = *addr;
            under_way.insert(step(lab, addr)?, thread);
        }
    }
    let took = lab.now() - start;
    for (thread, (addr, _)) in places.into_iter().enumerate() {
        let wanted = base + chain.after(chain.start(thread, threads), steps);
        check(addr == wanted, || format!("thread {thread} is at {addr:#x} and not at {wanted:#x}"))?;
    }
    Ok(took)
}

/// A single cycle through all lines of a table.
struct Chain {
    /// Where each line's pointer goes, as a line.
    next: Vec<usize>,
}

/// Bytes of a cache line.
const LINE: usize = 64;

impl Chain {
    /// Sattolo's algorithm.
    fn draw(lines: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut next: Vec<usize> = (0..lines).collect();
        for i in (1..lines).rev() {
            next.swap(i, rng.below(i as u64) as usize);
        }
        Self { next }
    }

    fn bytes(&self) -> usize {
        self.next.len() * LINE
    }

    /// The table for memory that begins at `base`.
    fn table(&self, base: u64) -> Bytes {
        let mut table = vec![0; self.bytes()];
        for (line, next) in table.chunks_exact_mut(LINE).zip(&self.next) {
            line[..8].copy_from_slice(&(base + (next * LINE) as u64).to_le_bytes());
        }
        table.into()
    }

    /// Where a thread begins, from the table's beginning.
    fn start(&self, thread: usize, threads: usize) -> u64 {
        (thread * self.next.len() / threads * LINE) as u64
    }

    /// Where so many steps lead.
    fn after(&self, start: u64, steps: usize) -> u64 {
        let first = start as usize / LINE;
        ((0..steps).fold(first, |line, _| self.next[line]) * LINE) as u64
    }

    /// Walks through a table at address 0.
    fn walk(&self, table: &[u8], threads: usize, steps: usize) -> Result<()> {
        for thread in 0..threads {
            let start = self.start(thread, threads);
            let end = (0..steps).fold(start, |at, _| {
                let bytes = table[at as usize..][..8].try_into().expect("eight bytes");
                u64::from_le_bytes(bytes)
            });
            check(end == self.after(start, steps), || format!("thread {thread} ends at {end:#x}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_one_cycle() {
        let chain = Chain::draw(100, 3);
        assert!((1..100).all(|steps| chain.after(0, steps) != 0));
        assert_eq!(chain.after(0, 100), 0);
        assert_ne!(chain.next, Chain::draw(100, 4).next);
        chain.walk(&chain.table(0), 7, 33).unwrap();
        assert!(chain.walk(&chain.table(64), 1, 1).is_err(), "it looks at the table");
    }
}
