//! The oracle of requests: what nodes asked of each other, what their memories saw of it, and how it ended.
//!
//! Each request has a number of its own, its *stamp*, in the middle bits of its addresses, which memory does not
//! decode. So each access to memory names the request that it serves.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_bridge::{Atomic, Failure, Target, TargetFailed, Ticket};
use rackloom_node::Rng;
use rackloom_wire::bridge::BridgeStatus;

use crate::plan::Plan;

/// Bytes of a region.
pub const CELLS: usize = 1 << 14;
/// Cells that atomic operations alone change: only additions in the first half.
pub const ATOMICS: usize = 64;
/// A region for anybody, one that nobody may write, and the first of those for one peer each.
pub const SHARED: u8 = 0;
pub const READ_ONLY: u8 = 1;
pub const PRIVATE: u8 = 2;
/// Peers that have a region of their own.
pub const PRIVATES: usize = 8;

const STAMP: u32 = 16;
const REGION: u32 = 56;

/// An address in a region.
pub fn address(region: u8, stamp: u64, cell: usize) -> u64 {
    u64::from(region) << REGION | stamp << STAMP | cell as u64
}

/// A place in a node's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub region: u8,
    pub cell: usize,
}

/// What a request is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Read {
        at: Place,
        count: usize,
    },
    /// One, or a batch.
    Write(Vec<(Place, Bytes)>),
    Atomic {
        at: Place,
        atomic: Atomic,
    },
}

#[derive(Debug)]
struct Request {
    from: usize,
    life: u32,
    to: usize,
    op: Op,
    expect: Result<(), BridgeStatus>,
    /// Accesses to memory so far.
    accesses: usize,
    /// What memory held.
    seen: Bytes,
    has_failed: bool,
    done: Option<Result<(), Failure>>,
}

impl Request {
    /// Accesses to memory that carry all of it out.
    fn wants(&self) -> usize {
        match &self.op {
            Op::Read { .. } => 1,
            Op::Write(records) => records.len(),
            Op::Atomic { atomic, .. } => 1 + usize::from(self.accesses > 0 && changes(*atomic, &self.seen).is_some()),
        }
    }
}

/// What an atomic operation stores where there were these bytes.
fn changes(atomic: Atomic, seen: &[u8]) -> Option<[u8; 8]> {
    let old = u64::from_be_bytes(seen.try_into().ok()?);
    let new = match atomic {
        Atomic::FetchAdd(value) => old.wrapping_add(value),
        Atomic::CompareSwap { expected, new } if expected == old => new,
        Atomic::CompareSwap { .. } => old,
    };
    (new != old).then(|| new.to_be_bytes())
}

/// How often what happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub done: u64,
    pub refused: u64,
    pub restarted: u64,
    pub unreachable: u64,
    /// Carried out, and the requester does not know.
    pub unknown: u64,
}

pub struct Ledger {
    is_rough: bool,
    rots: bool,
    remembers: bool,
    fails: f64,
    rng: Rng,
    peers: Vec<Vec<usize>>,
    memory: BTreeMap<(usize, u8), Vec<u8>>,
    requests: Vec<Request>,
    open: BTreeMap<(usize, Ticket), u64>,
    /// The last request carried out, by who asked, in which life if lives can mix, and whom.
    last: BTreeMap<(usize, u32, usize), u64>,
    /// What is wrong.
    pub objection: Option<String>,
    pub tally: Tally,
}

impl Ledger {
    pub fn new(plan: &Plan) -> Self {
        Self {
            is_rough: plan.is_rough(),
            rots: plan.rots,
            remembers: plan.remembers,
            fails: plan.memory_fails,
            rng: Rng::new(plan.seed ^ 0x3E3),
            peers: (0..plan.nodes).map(|n| plan.peers(n)).collect(),
            memory: BTreeMap::new(),
            requests: Vec::new(),
            open: BTreeMap::new(),
            last: BTreeMap::new(),
            objection: None,
            tally: Tally::default(),
        }
    }

    /// The stamp of the next request.
    pub fn next(&self) -> u64 {
        self.requests.len() as u64
    }

    /// The region that `node` keeps for `peer`.
    pub fn private(&self, node: usize, peer: usize) -> Option<u8> {
        let place = self.peers[node].iter().position(|p| *p == peer).filter(|place| *place < PRIVATES);
        place.map(|place| PRIVATE + place as u8)
    }

    /// A request has begun, under [`next`](Self::next).
    pub fn begin(&mut self, ends: (usize, u32, usize), ticket: Ticket, op: Op, expect: Result<(), BridgeStatus>) {
        let (from, life, to) = ends;
        if self.open.insert((from, ticket), self.next()).is_some() {
            self.object(format!("node {from} has given {ticket:?} twice"));
        }
        let seen = Bytes::new();
        self.requests.push(Request { from, life, to, op, expect, accesses: 0, seen, has_failed: false, done: None });
    }

    /// A request is over.
    pub fn end(&mut self, from: usize, ticket: Ticket, result: Result<Bytes, Failure>) {
        let Some(stamp) = self.open.remove(&(from, ticket)) else {
            return self.object(format!("node {from} has an end of {ticket:?}, which is not open"));
        };
        let r = &mut self.requests[stamp as usize];
        r.done = Some(result.as_ref().map(|_| ()).map_err(|e| *e));
        let is_whole = r.accesses == r.wants();
        let right = match &result {
            Ok(bytes) => r.expect.is_ok() && is_whole && !r.has_failed && *bytes == r.seen,
            Err(Failure::Refused(BridgeStatus::MemoryFailed)) => r.has_failed,
            Err(Failure::Refused(status)) => r.expect == Err(*status) && r.accesses == 0,
            Err(Failure::Restarted | Failure::Unreachable) => self.is_rough,
            Err(Failure::WrongAnswer) => false,
        };
        match &result {
            Ok(_) => self.tally.done += 1,
            Err(Failure::Refused(_)) => self.tally.refused += 1,
            Err(Failure::Restarted) => self.tally.restarted += 1,
            Err(_) => self.tally.unreachable += 1,
        }
        self.tally.unknown +=
            u64::from(r.accesses > 0 && matches!(result, Err(Failure::Restarted | Failure::Unreachable)));
        if !right && !self.rots {
            let why = format!("request {stamp} ended with {result:?}: {:?}", self.requests[stamp as usize]);
            self.object(why);
        }
    }

    /// A node has forgotten all that it asked.
    pub fn restart(&mut self, node: usize) {
        self.open.retain(|(from, _), _| *from != node);
    }

    /// Requests that are not over.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// The node's memory, for one frame of a peer.
    pub fn memory(&mut self, node: usize, from: usize) -> Memory<'_> {
        Memory { ledger: self, node, from }
    }

    /// All additions are in memory, each once.
    pub fn check_sums(&mut self) {
        let mut sums: BTreeMap<(usize, u8, usize), u64> = BTreeMap::new();
        for r in self.requests.iter().filter(|r| r.accesses == 2 && !r.has_failed) {
            if let Op::Atomic { at, atomic: Atomic::FetchAdd(value) } = r.op
                && at.cell < ATOMICS / 2
            {
                let sum = sums.entry((r.to, at.region, at.cell)).or_default();
                *sum = sum.wrapping_add(value);
            }
        }
        for ((node, region, cell), sum) in sums {
            let has = &self.memory[&(node, region)][cell..cell + 8];
            if has != sum.to_be_bytes() && !self.rots {
                self.object(format!("cell {cell} of region {region} of node {node} is {has:x?}, and not {sum:x}"));
            }
        }
    }

    fn object(&mut self, why: String) {
        self.objection.get_or_insert(why);
    }

    /// Whether `node` lets `from` do that, by what the plan opens.
    fn permits(&self, node: usize, from: usize, region: u8, writes: bool) -> bool {
        region == SHARED || region == READ_ONLY && !writes || self.private(node, from) == Some(region)
    }

    /// An access to memory for a frame of `from`: bytes that are written, or how many are read.
    fn access(
        &mut self,
        node: usize,
        from: usize,
        addr: u64,
        what: Result<&[u8], usize>,
    ) -> Result<Bytes, TargetFailed> {
        let (region, stamp) = ((addr >> REGION) as u8, addr << 8 >> (STAMP + 8));
        let (cell, count) = ((addr & 0xffff) as usize, what.map_or_else(|n| n, <[u8]>::len));
        if !self.permits(node, from, region, what.is_ok()) {
            self.object(format!("node {from} does {what:?} at {addr:#x} of node {node}"));
            return Err(TargetFailed);
        }
        if self.rots {
            let old = Bytes::from(vec![0; count]);
            return Ok(old);
        }
        if let Err(why) = self.judge(node, from, stamp, Place { region, cell }, what) {
            self.object(format!("request {stamp}: node {from} does {what:?} at {addr:#x} of node {node}: {why}"));
            return Err(TargetFailed);
        }
        let fails = self.rng.chance(self.fails);
        let r = &mut self.requests[stamp as usize];
        r.accesses += 1;
        r.has_failed |= fails;
        let cells = self.memory.entry((node, region)).or_insert_with(|| vec![0; CELLS]);
        let cells = &mut cells[cell..cell + count];
        match what {
            _ if fails => Err(TargetFailed),
            Ok(bytes) => {
                cells.copy_from_slice(bytes);
                Ok(Bytes::new())
            }
            Err(_) => {
                r.seen = Bytes::copy_from_slice(cells);
                Ok(r.seen.clone())
            }
        }
    }

    fn judge(
        &mut self,
        node: usize,
        from: usize,
        stamp: u64,
        at: Place,
        what: Result<&[u8], usize>,
    ) -> Result<(), String> {
        let r = self.requests.get(stamp as usize).ok_or("nobody made such a request")?;
        if (r.from, r.to) != (from, node) {
            return Err(format!("it is of node {} to node {}", r.from, r.to));
        }
        if r.expect.is_err() || r.has_failed {
            return Err(format!("it is not to be carried out: {r:?}"));
        }
        if r.done == Some(Err(Failure::Restarted)) {
            return Err("its node was given it back".to_owned());
        }
        let wanted = match (&r.op, what) {
            (Op::Read { at: place, count }, Err(n)) => r.accesses == 0 && *place == at && *count == n,
            (Op::Write(records), Ok(bytes)) => {
                records.get(r.accesses).is_some_and(|(place, data)| *place == at && data[..] == *bytes)
            }
            (Op::Atomic { at: place, .. }, Err(n)) => r.accesses == 0 && *place == at && n == 8,
            (Op::Atomic { at: place, atomic }, Ok(bytes)) => {
                r.accesses == 1 && *place == at && changes(*atomic, &r.seen).is_some_and(|new| new == bytes)
            }
            _ => false,
        };
        if !wanted {
            return Err(format!("not what is wanted now: {r:?}"));
        }
        let life = if self.remembers { 0 } else { r.life };
        let before = self.last.insert((from, life, node), stamp);
        if before.is_some_and(|before| before > stamp) {
            return Err(format!("after request {before:?}"));
        }
        Ok(())
    }
}

/// A node's memory, as a peer reaches it.
pub struct Memory<'a> {
    ledger: &'a mut Ledger,
    node: usize,
    from: usize,
}

impl Target for Memory<'_> {
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
        let bytes = self.ledger.access(self.node, self.from, addr, Err(into.len()))?;
        into.copy_from_slice(&bytes);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
        self.ledger.access(self.node, self.from, addr, Ok(bytes)).map(drop)
    }
}
