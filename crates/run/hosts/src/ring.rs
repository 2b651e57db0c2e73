//! A group's rings in the course of one operation: pieces of this rank's are published, those of others taken.
//!
//! A piece is there when the word before its bytes has its number; who has taken it says so in a word of its own, and
//! the writer looks at the words of those for whom a piece was before it writes over it. Beside the number stands which
//! operation the piece belongs to: ranks that do different ones notice it.
#![allow(unsafe_code)]

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::beats::{Beats, watches_from};
use crate::patience::until;
use crate::roster::Roster;
use crate::segment::{HEAD, PIECE, SLOTS};
use crate::{HostError, direct};

/// How long a process may take to end once its memory is gone.
const ENDS: Duration = Duration::from_secs(1);

/// What a rank knows of the rings between operations. It is the same on all ranks that have done the same ones.
#[derive(Debug)]
pub(crate) struct Rings {
    /// Operations done.
    pub(crate) done: u64,
    /// The number of the next piece of each ring.
    next: Vec<u64>,
    /// For whom the pieces in this rank's ring are: a bit for each rank of the group.
    readers: [u64; SLOTS],
}

impl Rings {
    pub(crate) fn new(size: usize) -> Self {
        Self { done: 0, next: vec![0; size], readers: [0; SLOTS] }
    }
}

/// One operation under way.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) roster: &'a Roster,
    pub(crate) rings: &'a mut Rings,
    /// What all ranks have to mean alike.
    pub(crate) meant: u64,
    pub(crate) limit: Duration,
    /// That the ranks may use, all together: the same on all ranks.
    pub(crate) processors: usize,
    pub(crate) looks: u32,
}

impl Turn<'_> {
    /// All other ranks.
    pub(crate) fn others(&self) -> u64 {
        let all = u64::MAX >> (64 - self.roster.members.len());
        all & !(1 << self.roster.rank)
    }

    /// Publishes bytes for some ranks.
    ///
    /// # Safety
    /// `from` has `len` bytes that nobody writes to meanwhile.
    pub(crate) unsafe fn publish(&mut self, from: *const u8, len: usize, readers: u64) -> Result<(), HostError> {
        assert!(len <= PIECE && readers != 0);
        let Roster { segment, place, rank, .. } = self.roster;
        let index = self.rings.next[*rank];
        let slot = index as usize % SLOTS;
        let mut waiting = self.rings.readers[slot];
        while waiting != 0 {
            let reader = waiting.trailing_zeros() as usize;
            let read = segment.read(*place, *rank, reader);
            self.wait(reader, || read.load(Ordering::Acquire) + SLOTS as u64 > index)?;
            waiting &= waiting - 1;
        }
        let piece = segment.piece(*place, *rank, index);
        let to = segment.memory().at(piece + HEAD, PIECE);
        // SAFETY: the caller has the bytes, and the piece has room for them. Nobody reads it: all have said that they
        // have what was in it, and who is to read what comes waits for its number.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
        segment.memory().word(piece + 8).store(self.meant, Ordering::Relaxed);
        segment.memory().word(piece).store(index + 1, Ordering::Release);
        self.rings.readers[slot] = readers;
        self.rings.next[*rank] = index + 1;
        Ok(())
    }

    /// Waits for the next piece of another's ring, and has `f` use its bytes.
    pub(crate) fn take(&mut self, ring: usize, f: impl FnOnce(*const u8)) -> Result<(), HostError> {
        let Roster { segment, place, rank, .. } = self.roster;
        let index = self.rings.next[ring];
        let piece = segment.piece(*place, ring, index);
        let word = segment.memory().word(piece);
        self.wait(ring, || word.load(Ordering::Acquire) == index + 1)?;
        if segment.memory().word(piece + 8).load(Ordering::Relaxed) != self.meant {
            return Err(HostError::Differs { rank: ring, process: self.roster.process(ring) });
        }
        f(segment.memory().at(piece + HEAD, PIECE));
        segment.read(*place, ring, *rank).store(index + 1, Ordering::Release);
        self.rings.next[ring] = index + 1;
        Ok(())
    }

    /// Tells some ranks where bytes lie. They stay there until [`settle`](Self::settle) has returned.
    pub(crate) fn offer(&mut self, from: *const u8, readers: u64) -> Result<(), HostError> {
        let at = (from.expose_provenance() as u64).to_le_bytes();
        // SAFETY: they are there.
        unsafe { self.publish(at.as_ptr(), at.len(), readers) }
    }

    /// Reads bytes that another has offered.
    ///
    /// # Safety
    /// There is room for `len` bytes at `to`, which only this call uses.
    pub(crate) unsafe fn fetch(&mut self, ring: usize, to: *mut u8, len: usize) -> Result<(), HostError> {
        let process = self.roster.process(ring);
        let mut read = Ok(());
        let Roster { segment, place, .. } = self.roster;
        let (of_start, operation) = (self.roster.members[ring], self.rings.done);
        self.take(ring, |piece| {
            // SAFETY: pieces are aligned, and have room for an address; the caller has room for the bytes.
            read = unsafe { direct::read(process, piece.cast::<u64>().read(), to, len) };
            // Whose operation has failed uses its bytes for something else, maybe before they were read.
            if segment.given_up(*place).load(Ordering::SeqCst) >> of_start & 1 != 0 {
                read = Err(std::io::Error::other("its operation has failed"));
            }
        })?;
        read.map_err(|source| {
            // A process that ends loses its memory some time before its lock. Only then is it known to be gone.
            let end = Instant::now() + ENDS;
            loop {
                match self.roster.check(operation) {
                    Err(gone) => return gone,
                    Ok(()) if Instant::now() >= end => return HostError::Read { rank: ring, process, source },
                    Ok(()) => std::thread::sleep(Duration::from_millis(1)),
                }
            }
        })
    }

    /// Waits until all pieces of this rank were taken.
    pub(crate) fn settle(&mut self) -> Result<(), HostError> {
        let Roster { segment, place, rank, .. } = self.roster;
        let next = self.rings.next[*rank];
        for index in next.saturating_sub(SLOTS as u64)..next {
            let slot = index as usize % SLOTS;
            while self.rings.readers[slot] != 0 {
                let reader = self.rings.readers[slot].trailing_zeros() as usize;
                let read = segment.read(*place, *rank, reader);
                self.wait(reader, || read.load(Ordering::Acquire) > index)?;
                self.rings.readers[slot] &= self.rings.readers[slot] - 1;
            }
        }
        Ok(())
    }

    /// Passes over pieces of a ring that are for others.
    pub(crate) fn skip(&mut self, ring: usize, pieces: usize) {
        self.rings.next[ring] += pieces as u64;
    }

    fn wait(&self, whom: usize, ready: impl Fn() -> bool) -> Result<(), HostError> {
        let Roster { segment, place, rank, .. } = self.roster;
        let mut beats = None;
        until(self.looks, ready, |waited| {
            self.roster.check(self.rings.done)?;
            segment.beat(*place, *rank).fetch_add(1, Ordering::AcqRel);
            if waited >= watches_from(self.limit) && beats.is_none() {
                beats = Some(Beats::of(self.roster));
            } else if waited >= self.limit {
                let beats = beats.take().expect("it watches before its time is over");
                return Err(self.roster.timeout(beats.culprit(self.roster, whom, self.rings.done)));
            }
            Ok(())
        })
    }
}
