//! Where things lie in the memory of a start: who the ranks are, and room for groups.
//!
//! ```text
//! 0         for each rank of the start: its process, where a number lies, the number, whether it reads all others',
//!           and the processors that it may use
//! TABLE     for each group: state, holders, next, who has given up, size, members, who is to blame
//! then      for each group: what each has done and how long it waits, how far each has read each ring, and the rings
//! ```

#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::chance::random;
use crate::memory::Memory;
use crate::{HostError, direct, presence};

/// Ranks of a start, at most: those that a word has bits for.
pub(crate) const RANKS_MAX: usize = 64;
/// Groups of a start at a time. A program that splits its ranks in every step frees what it made.
const GROUPS: usize = 64;
/// Pieces of a ring. A writer is ahead of its readers by so many.
pub(crate) const SLOTS: usize = 16;
/// Bytes of a piece, at most. Rings of two ranks fit in a second-level cache together.
pub(crate) const PIECE: usize = 32 << 10;
/// What a piece has before its bytes: a line of the cache.
pub(crate) const HEAD: usize = 64;

const LINE: usize = 64;
const PAGE: usize = 4096;
const ENTRY: usize = LINE * 8;
const TABLE: usize = RANKS_MAX * LINE;
const GROUP: usize = TABLE + GROUPS * ENTRY;
const RING: usize = SLOTS * (HEAD + PIECE);

/// Words of a rank's processors, a bit for each; those beyond the last share bits.
const PROCESSORS: usize = 4;

/// A group's place in the table: free, being made, in use. The rest of the word counts how often.
const FREE: u64 = 0;
const MAKING: u64 = 1;
const USED: u64 = 2;
const STATE: u64 = 3;

/// The memory of a start, as one of its ranks sees it.
#[derive(Debug)]
pub(crate) struct Segment {
    memory: Memory,
    /// Ranks of the start.
    size: usize,
    /// This process's.
    rank: usize,
    /// A number that the others find if they can read this process's memory.
    sign: Box<u64>,
}

/// A group's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(usize);

impl Place {
    /// As it stands in shared memory; 0 is none.
    pub(crate) const fn number(self) -> u64 {
        self.0 as u64 + 1
    }

    pub(crate) fn of(number: u64) -> Option<Self> {
        (1..=GROUPS as u64).contains(&number).then(|| Self(number as usize - 1))
    }
}

impl Segment {
    const fn stride(size: usize) -> usize {
        (size * LINE + size * size * LINE + size * RING).next_multiple_of(PAGE)
    }

    pub(crate) const fn bytes(size: usize) -> usize {
        (GROUP + GROUPS * Self::stride(size)).next_multiple_of(PAGE)
    }

    /// The memory of a new start, whose rank 0 this process is. Its first place is for the group of all.
    pub(crate) fn create(size: usize) -> Result<Self, HostError> {
        let memory = Memory::create(Self::bytes(size)).map_err(HostError::Memory)?;
        let made = Self { memory, size, rank: 0, sign: Box::default() };
        let made = made.appear().map_err(HostError::Memory)?;
        let all: Vec<_> = (0..size).collect();
        assert_eq!(made.allot(&all)?, Place(0));
        Ok(made)
    }

    /// What rank 0 has made.
    pub(crate) fn open(file: OwnedFd, size: usize, rank: usize) -> Result<Self, HostError> {
        let memory = Memory::open(file, Self::bytes(size)).map_err(HostError::Memory)?;
        let made = Self { memory, size, rank, sign: Box::default() };
        made.appear().map_err(HostError::Memory)
    }

    fn appear(mut self) -> io::Result<Self> {
        let mut sign = [0; 8];
        random(&mut sign)?;
        *self.sign = u64::from_le_bytes(sign);
        self.about(self.rank, 0).store(std::process::id().into(), Ordering::Release);
        self.about(self.rank, 1).store((&raw const *self.sign).expose_provenance() as u64, Ordering::Release);
        self.about(self.rank, 2).store(*self.sign, Ordering::Release);
        // If a launcher binds this process only later, the others take it for free, which does no harm.
        let allowed = sched_getaffinity(None)?;
        for processor in (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)) {
            let word = self.about(self.rank, 4 + processor / 64 % PROCESSORS);
            word.fetch_or(1 << (processor % 64), Ordering::Release);
        }
        presence::appear(self.memory.file(), self.rank)?;
        Ok(self)
    }

    /// How many processors some ranks of the start may use, all together. They have appeared.
    pub(crate) fn processors(&self, ranks: &[usize]) -> usize {
        let of = |word: usize| ranks.iter().fold(0, |all, r| all | self.about(*r, 4 + word).load(Ordering::Acquire));
        (0..PROCESSORS).map(|word| of(word).count_ones() as usize).sum()
    }

    /// A word about a rank of the start.
    fn about(&self, rank: usize, word: usize) -> &AtomicU64 {
        self.memory.word(rank * LINE + word * 8)
    }

    /// Tries to read memory of each other rank, and tells them whether it can. All have appeared.
    pub(crate) fn try_direct(&self) {
        let can = (0..self.size).filter(|rank| *rank != self.rank).all(|rank| {
            let (at, sign) = (self.about(rank, 1).load(Ordering::Acquire), self.about(rank, 2).load(Ordering::Acquire));
            let mut found = 0_u64;
            // SAFETY: there is room for a number.
            let read = unsafe { direct::read(self.process(rank), at, (&raw mut found).cast(), 8) };
            read.is_ok() && found == sign
        });
        self.about(self.rank, 3).store(can.into(), Ordering::Release);
    }

    /// Whether all ranks can read memory of all. They have met since they tried.
    pub(crate) fn is_direct(&self) -> bool {
        (0..self.size).all(|rank| self.about(rank, 3).load(Ordering::Acquire) == 1)
    }

    pub(crate) const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// This process's rank in the start.
    pub(crate) const fn rank(&self) -> usize {
        self.rank
    }

    /// The place of the group of all.
    pub(crate) const fn all() -> Place {
        Place(0)
    }

    /// The process of a rank of the start.
    pub(crate) fn process(&self, rank: usize) -> u32 {
        self.about(rank, 0).load(Ordering::Relaxed) as u32
    }

    /// Whether a rank of the start still runs.
    pub(crate) fn is_there(&self, rank: usize) -> bool {
        rank == self.rank || presence::is_there(self.memory.file(), rank)
    }

    fn entry(&self, place: Place, word: usize) -> &AtomicU64 {
        self.memory.word(TABLE + place.0 * ENTRY + word * 8)
    }

    fn state(&self, place: Place) -> &AtomicU64 {
        self.entry(place, 0)
    }

    /// Members that hold the group: a bit for each rank of the start.
    pub(crate) fn holders(&self, place: Place) -> &AtomicU64 {
        self.entry(place, 1)
    }

    /// The smaller group that its members go on as; 0: none yet.
    pub(crate) fn next(&self, place: Place) -> &AtomicU64 {
        self.entry(place, 2)
    }

    /// Members whose operation has failed: a bit for each rank of the start.
    pub(crate) fn given_up(&self, place: Place) -> &AtomicU64 {
        self.entry(place, 3)
    }

    /// The members, as ranks of the start, in the order of their ranks in the group.
    pub(crate) fn members(&self, place: Place) -> Vec<usize> {
        let size = self.entry(place, 4).load(Ordering::Acquire).min(self.size as u64) as usize;
        let byte = |i: usize| self.entry(place, 5 + i / 8).load(Ordering::Relaxed) >> (i % 8 * 8) & 0xff;
        (0..size).map(|i| byte(i) as usize % self.size).collect()
    }

    /// Room for a group of these ranks of the start: what nobody has, or nobody who still runs.
    pub(crate) fn allot(&self, members: &[usize]) -> Result<Place, HostError> {
        for place in (0..GROUPS).map(Place) {
            let state = self.state(place).load(Ordering::Acquire);
            let is_free = match state & STATE {
                FREE => true,
                USED => self.ranks(self.holders(place).load(Ordering::Acquire)).all(|rank| !self.is_there(rank)),
                _ => false,
            };
            let making = (state & !STATE).wrapping_add(STATE + 1) | MAKING;
            if !is_free
                || self.state(place).compare_exchange(state, making, Ordering::AcqRel, Ordering::Relaxed).is_err()
            {
                continue;
            }
            self.memory.clear(self.base(place), Self::stride(self.size)).map_err(HostError::Memory)?;
            for word in 1..ENTRY / 8 {
                self.entry(place, word).store(0, Ordering::Relaxed);
            }
            for (i, rank) in members.iter().enumerate() {
                self.entry(place, 5 + i / 8).fetch_or((*rank as u64) << (i % 8 * 8), Ordering::Relaxed);
            }
            self.entry(place, 4).store(members.len() as u64, Ordering::Release);
            let all = members.iter().fold(0, |bits, rank| bits | 1 << rank);
            self.holders(place).store(all, Ordering::Release);
            self.state(place).store(making & !STATE | USED, Ordering::Release);
            return Ok(place);
        }
        Err(HostError::Groups(GROUPS))
    }

    /// The ranks of the start that a word has bits for.
    pub(crate) fn ranks(&self, bits: u64) -> impl Iterator<Item = usize> + use<> {
        (0..self.size).filter(move |rank| bits >> rank & 1 != 0)
    }

    const fn base(&self, place: Place) -> usize {
        GROUP + place.0 * Self::stride(self.size)
    }

    /// How many operations a member has done.
    pub(crate) fn done(&self, place: Place, member: usize) -> &AtomicU64 {
        self.memory.word(self.base(place) + member * LINE)
    }

    /// A number that grows while a member waits.
    pub(crate) fn beat(&self, place: Place, member: usize) -> &AtomicU64 {
        self.memory.word(self.base(place) + member * LINE + 8)
    }

    /// Why the first operation failed that did, and because of whom; see `blame.rs`. 0: none has.
    pub(crate) fn blame(&self, place: Place) -> &AtomicU64 {
        self.entry(place, 5 + RANKS_MAX / 8)
    }

    /// How many pieces of a member's ring another has read.
    pub(crate) fn read(&self, place: Place, ring: usize, reader: usize) -> &AtomicU64 {
        self.memory.word(self.base(place) + (self.size + ring * self.size + reader) * LINE)
    }

    /// Where a piece of a ring lies, from the start of the memory.
    pub(crate) const fn piece(&self, place: Place, ring: usize, index: u64) -> usize {
        let rings = self.base(place) + (self.size + self.size * self.size) * LINE;
        rings + ring * RING + (index as usize % SLOTS) * (HEAD + PIECE)
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::sched_setaffinity;

    use super::*;

    #[test]
    fn ranks_that_are_bound_to_a_processor_each_have_as_many_as_they_are() {
        let before = sched_getaffinity(None).unwrap();
        let all: Vec<_> = (0..CpuSet::MAX_CPU).filter(|processor| before.is_set(*processor)).collect();
        let bind = |processor: usize| {
            let mut one = CpuSet::new();
            one.set(processor);
            sched_setaffinity(None, &one).unwrap();
        };
        // This thread alone is bound, and a new one each time is none of the harness's.
        let (first, last) = (all[0], all[all.len() - 1]);
        std::thread::spawn(move || {
            bind(first);
            let zero = Segment::create(3).unwrap();
            let open = |rank| Segment::open(zero.memory.file().try_clone_to_owned().unwrap(), 3, rank).unwrap();
            let _one = open(1);
            bind(last);
            let _two = open(2);
            assert_eq!(zero.processors(&[0, 1]), 1);
            assert_eq!(zero.processors(&[0, 1, 2]), if first == last { 1 } else { 2 });
        })
        .join()
        .unwrap();
    }
}
