//! Groups of hosts.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rackloom_collective::{Datatype, Kind, Op, Operation};
use rackloom_sync::lock;

use crate::operate::operate;
use crate::patience::looks;
use crate::ring::{Rings, Turn};
use crate::roster::Roster;
use crate::segment::{Place, Segment};
use crate::{HostError, HostPrepared, Start, meet};

/// A group of processes, of which this is one. All do the same operations in the same order; operations of one group
/// that several threads of a process begin take turns.
#[derive(Debug)]
pub struct HostGroup {
    roster: Roster,
    limit: Duration,
    /// That its ranks may use, all together: the same on all ranks.
    processors: usize,
    state: Mutex<State>,
    /// Whether this process has joined the smaller group that goes on.
    shrunk: AtomicBool,
}

#[derive(Debug)]
struct State {
    rings: Rings,
    /// An operation has failed.
    is_broken: bool,
}

impl HostGroup {
    /// Joins the others of a start, and waits until all have come. A process is one rank of a start.
    ///
    /// # Errors
    /// [`HostError`]: somebody has not come in time, or the place to meet is not this user's alone.
    pub fn join(start: &Start) -> Result<Self, HostError> {
        let segment = Arc::new(meet::meet(start)?);
        if start.is_direct {
            segment.try_direct();
        }
        let all = |segment| Roster::new(segment, Segment::all()).expect("all ranks of the start are members");
        let mut group = Self::of(all(Arc::clone(&segment)), start.limit);
        let barrier = Operation { kind: Kind::Barrier, count: 0, datatype: Datatype::I8, op: Op::Sum, root: 0 };
        group.run(&barrier, &[], &mut [])?;
        // All have tried now.
        group.roster.is_direct = segment.is_direct();
        Ok(group)
    }

    fn of(roster: Roster, limit: Duration) -> Self {
        let size = roster.members.len();
        let state = Mutex::new(State { rings: Rings::new(size), is_broken: false });
        // Not what this process may use alone: launchers bind each rank to a processor of its own.
        let processors = roster.segment.processors(&roster.members);
        Self { roster, limit, processors, state, shrunk: AtomicBool::new(false) }
    }

    /// This process's rank.
    pub const fn rank(&self) -> usize {
        self.roster.rank
    }

    /// Ranks.
    pub fn size(&self) -> usize {
        self.roster.members.len()
    }

    /// The number of a rank's process.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn process(&self, rank: usize) -> u32 {
        self.roster.process(rank)
    }

    /// Looks at an operation: with `counts`, at one whose blocks differ (elements of each; for alltoall, from each rank
    /// for each, row by row), whose own count says nothing.
    ///
    /// # Errors
    /// There is no such operation in this group.
    pub fn prepare(&self, operation: &Operation, counts: Option<&[u64]>) -> Result<HostPrepared, HostError> {
        HostPrepared::new(operation, self.size(), counts)
    }

    /// Does an operation. This rank gives `give` and gets `get`; either is empty where the operation says nothing of
    /// it for this rank.
    ///
    /// # Errors
    /// [`HostError`] names the rank that is gone, that waits for another operation, or that has not come in time. The
    /// group does nothing more then.
    pub fn run(&self, operation: &Operation, give: &[u8], get: &mut [u8]) -> Result<(), HostError> {
        self.run_prepared(&self.prepare(operation, None)?, give, get)
    }

    /// Does an operation whose blocks differ. See [`prepare`](Self::prepare).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_blocks(
        &self,
        operation: &Operation,
        counts: &[u64],
        give: &[u8],
        get: &mut [u8],
    ) -> Result<(), HostError> {
        self.run_prepared(&self.prepare(operation, Some(counts))?, give, get)
    }

    /// Does an operation that was looked at before.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_prepared(&self, prepared: &HostPrepared, give: &[u8], get: &mut [u8]) -> Result<(), HostError> {
        let length = |verb, needs: u64, has: usize| match has as u64 == needs {
            true => Ok(()),
            false => Err(HostError::Length { verb, needs, has: has as u64 }),
        };
        if prepared.size != self.size() {
            return Err(HostError::Blocks(format!("it was prepared for a group of {}", prepared.size)));
        }
        length("gives", prepared.gives(self.rank()), give.len())?;
        length("gets", prepared.gets(self.rank()), get.len())?;
        // SAFETY: the slices have as many bytes as the operation needs, and are apart.
        unsafe { self.run_at(prepared, give.as_ptr(), get.as_mut_ptr()) }
    }

    /// As [`run_prepared`](Self::run_prepared), where this rank gives what `both` begins with, and gets what it gets to
    /// the same place.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_in_place(&self, prepared: &HostPrepared, both: &mut [u8]) -> Result<(), HostError> {
        if prepared.size != self.size() {
            return Err(HostError::Blocks(format!("it was prepared for a group of {}", prepared.size)));
        }
        let (gives, gets) = (prepared.gives(self.rank()), prepared.gets(self.rank()));
        let (verb, needs) = if gives > gets { ("gives", gives) } else { ("gets", gets) };
        if (both.len() as u64) < needs {
            return Err(HostError::Length { verb, needs, has: both.len() as u64 });
        }
        let at = both.as_mut_ptr();
        // SAFETY: there are as many bytes as it gives, and room for what it gets.
        unsafe { self.run_at(prepared, at, at) }
    }

    /// As [`run_prepared`](Self::run_prepared), where the bytes are at addresses, which may be the same.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Safety
    /// `give` has the bytes that this rank gives, and `get` room for those that it gets; nobody else uses them before
    /// the call returns. The group is of as many ranks as the operation was prepared for.
    pub unsafe fn run_at(&self, prepared: &HostPrepared, give: *const u8, get: *mut u8) -> Result<(), HostError> {
        assert_eq!(prepared.size, self.size(), "it is of a group of another size");
        let mut state = lock(&self.state);
        if state.is_broken {
            return Err(HostError::Broken);
        }
        let (gives, gets) = (prepared.gives(self.rank()) as usize, prepared.gets(self.rank()) as usize);
        let overlap = give.addr() < get.addr() + gets && get.addr() < give.addr() + gives;
        let copy = match overlap && !(std::ptr::eq(give, get) && prepared.is_done_in_place(self.roster.is_direct)) {
            // SAFETY: the caller has so many bytes there.
            true => unsafe { std::slice::from_raw_parts(give, gives) }.to_vec(),
            false => Vec::new(),
        };
        let give = if copy.is_empty() { give } else { copy.as_ptr() };
        let rings = &mut state.rings;
        let number = rings.done;
        let meant = prepared.meant.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (processors, looks) = (self.processors, looks(self.size(), self.processors));
        let mut turn = Turn { roster: &self.roster, rings, meant, limit: self.limit, processors, looks };
        // SAFETY: as the caller says, and what may not be done in place has its input elsewhere.
        match unsafe { operate(&mut turn, prepared, give, get) } {
            Ok(()) => {
                state.rings.done = number + 1;
                let done = self.roster.segment.done(self.roster.place, self.rank());
                done.store(number + 1, Ordering::Release);
                Ok(())
            }
            Err(error) => {
                state.is_broken = true;
                self.roster.fail(&error);
                Err(error)
            }
        }
    }

    /// The group of the ranks with this rank's colour, in the order of their keys and then of their ranks here; without
    /// a colour, none. All ranks call it.
    ///
    /// # Errors
    /// As [`run`](Self::run); and there are too many groups already.
    pub fn split(&self, colour: Option<u32>, key: i64) -> Result<Option<Self>, HostError> {
        let mut own = [0; 16];
        own[..8].copy_from_slice(&colour.map_or(0, |colour| u64::from(colour) + 1).to_le_bytes());
        own[8..].copy_from_slice(&key.to_le_bytes());
        let told = self.tell(&own)?;
        let of = |rank: usize| (u64::from_le_bytes(told[rank][..8].try_into().expect("eight bytes")), rank);
        let key = |rank: usize| i64::from_le_bytes(told[rank][8..].try_into().expect("eight bytes"));
        let colour = of(self.rank()).0;
        let mut mine: Vec<usize> = (0..self.size()).filter(|rank| of(*rank).0 == colour).collect();
        let first = mine[0];
        mine.sort_by_key(|rank| (key(*rank), *rank));
        let members: Vec<_> = mine.iter().map(|rank| self.roster.members[*rank]).collect();
        let makes = colour != 0 && first == self.rank();
        let made = if makes { Some(self.roster.segment.allot(&members)) } else { None };
        let mut place = [0; 16];
        if let Some(Ok(made)) = &made {
            place[..8].copy_from_slice(&made.number().to_le_bytes());
        }
        let told = self.tell(&place)?;
        if let Some(Err(error)) = made {
            return Err(error);
        }
        if colour == 0 {
            return Ok(None);
        }
        let number = u64::from_le_bytes(told[first][..8].try_into().expect("eight bytes"));
        let lost = || HostError::GivenUp { rank: first, process: self.process(first) };
        let place = Place::of(number).ok_or_else(lost)?;
        Ok(Some(self.go_on(place)?))
    }

    /// Sixteen bytes of each rank.
    fn tell(&self, own: &[u8; 16]) -> Result<Vec<[u8; 16]>, HostError> {
        let count = own.len() as u64;
        let all = Operation { kind: Kind::Allgather, count, datatype: Datatype::I8, op: Op::Sum, root: 0 };
        let mut got = vec![0; own.len() * self.size()];
        self.run(&all, own, &mut got)?;
        Ok(got.as_chunks().0.to_vec())
    }

    /// The group of those who are left: of the ranks whose processes run and have not freed this group, in their order.
    /// Not of one that an operation has failed for because it was stopped, and that is stopped still.
    /// All of them call it; those whose operations have not failed yet learn it at their next one. If one of them is
    /// lost meanwhile, operations of the new group say so, and it can shrink in turn.
    ///
    /// # Errors
    /// There are too many groups already.
    pub fn shrink(&self) -> Result<Self, HostError> {
        let Roster { segment, place, members, .. } = &self.roster;
        // From now on nobody waits for this process in the old group.
        lock(&self.state).is_broken = true;
        self.roster.give_up();
        let next = segment.next(*place);
        if next.load(Ordering::SeqCst) == 0 {
            let holders = segment.holders(*place).load(Ordering::SeqCst);
            let stopped = self.roster.stopped();
            let is_left = |rank: &usize| holders >> rank & 1 != 0 && segment.is_there(*rank) && Some(*rank) != stopped;
            let left: Vec<_> = members.iter().copied().filter(is_left).collect();
            let made = segment.allot(&left)?;
            match next.compare_exchange(0, made.number(), Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    // Who has freed the old group since does not come to the new one.
                    let gone = holders & !segment.holders(*place).load(Ordering::SeqCst);
                    segment.holders(made).fetch_and(!gone, Ordering::SeqCst);
                }
                // Another was first: what it has made counts.
                Err(_) => segment.holders(made).store(0, Ordering::SeqCst),
            }
        }
        let place = Place::of(next.load(Ordering::SeqCst)).expect("one was made");
        let group = self.go_on(place)?;
        self.shrunk.store(true, Ordering::SeqCst);
        Ok(group)
    }

    fn go_on(&self, place: Place) -> Result<Self, HostError> {
        let roster = Roster::new(Arc::clone(&self.roster.segment), place);
        let lost = || HostError::Start("this process was taken for lost".to_owned());
        Ok(Self::of(roster.ok_or_else(lost)?, self.limit))
    }
}

impl Drop for HostGroup {
    fn drop(&mut self) {
        let Roster { segment, place, .. } = &self.roster;
        let own = !(1u64 << segment.rank());
        segment.holders(*place).fetch_and(own, Ordering::SeqCst);
        if let Some(next) = Place::of(segment.next(*place).load(Ordering::SeqCst))
            && !self.shrunk.load(Ordering::SeqCst)
        {
            segment.holders(next).fetch_and(own, Ordering::SeqCst);
        }
    }
}
