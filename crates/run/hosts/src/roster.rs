//! The members of a group, and how they stand.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::HostError;
use crate::segment::{Place, Segment};

/// A group's members, as ranks of the start, in the order of their ranks in the group.
#[derive(Debug)]
pub(crate) struct Roster {
    pub(crate) segment: Arc<Segment>,
    pub(crate) place: Place,
    pub(crate) members: Vec<usize>,
    /// This process's rank in the group.
    pub(crate) rank: usize,
    /// Whether members read each other's memory.
    pub(crate) is_direct: bool,
}

impl Roster {
    pub(crate) fn new(segment: Arc<Segment>, place: Place) -> Option<Self> {
        let members = segment.members(place);
        let rank = members.iter().position(|rank| *rank == segment.rank())?;
        let is_direct = segment.is_direct();
        Some(Self { segment, place, members, rank, is_direct })
    }

    pub(crate) fn process(&self, rank: usize) -> u32 {
        self.segment.process(self.members[rank])
    }

    /// Why an operation of this number can never end: a member is gone that has not done it.
    pub(crate) fn check(&self, operation: u64) -> Result<(), HostError> {
        let holders = self.segment.holders(self.place).load(Ordering::Acquire);
        let given_up = self.segment.given_up(self.place).load(Ordering::Acquire);
        for (rank, of_start) in self.members.iter().enumerate().filter(|(rank, _)| *rank != self.rank) {
            let process = self.process(rank);
            // Who has freed all it had holds no lock either.
            let error = if holders >> of_start & 1 == 0 {
                HostError::Left { rank, process }
            } else if !self.segment.is_there(*of_start) {
                HostError::Gone { rank, process }
            } else if given_up >> of_start & 1 != 0 {
                HostError::GivenUp { rank, process }
            } else {
                continue;
            };
            // Looked at after all else: who has done it first and gone then has left nobody waiting.
            if self.segment.done(self.place, rank).load(Ordering::Acquire) <= operation {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Tells the others that this process goes on with no operation of the group.
    pub(crate) fn give_up(&self) {
        self.segment.given_up(self.place).fetch_or(1 << self.segment.rank(), Ordering::AcqRel);
    }
}
