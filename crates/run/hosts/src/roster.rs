//! The members of a group, and how they stand.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::segment::{Place, Segment};
use crate::{HostError, blame, presence};

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
            // Who has given up may have ended since, which is not the reason. Who has freed all holds no lock either.
            let error = if given_up >> of_start & 1 != 0 {
                self.blamed().unwrap_or(HostError::GivenUp { rank, process })
            } else if holders >> of_start & 1 == 0 {
                HostError::Left { rank, process }
            } else if !self.segment.is_there(*of_start) {
                HostError::Gone { rank, process }
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

    /// Why an operation has failed, if another member is the reason.
    fn blamed(&self) -> Option<HostError> {
        let blame = self.segment.blame(self.place).load(Ordering::Acquire);
        blame::decode(blame, self.rank, self.members.len(), |rank| self.process(rank))
    }

    /// That the time for a member is over.
    pub(crate) fn timeout(&self, rank: usize) -> HostError {
        let process = self.process(rank);
        match presence::is_stopped(process) {
            true => HostError::Stopped { rank, process },
            false => HostError::Timeout { rank, process },
        }
    }

    /// The member that an operation has failed for, and that is still stopped, as a rank of the start.
    pub(crate) fn stopped(&self) -> Option<usize> {
        match self.blamed() {
            Some(HostError::Stopped { rank, process }) if presence::is_stopped(process) => Some(self.members[rank]),
            _ => None,
        }
    }

    /// Tells the others why this process goes on with no operation of the group. The first reason counts for all.
    pub(crate) fn fail(&self, error: &HostError) {
        let blame = self.segment.blame(self.place);
        let _ = blame.compare_exchange(0, blame::encode(error), Ordering::AcqRel, Ordering::Relaxed);
        self.give_up();
    }

    /// Tells the others that this process goes on with no operation of the group.
    pub(crate) fn give_up(&self) {
        self.segment.given_up(self.place).fetch_or(1 << self.segment.rank(), Ordering::AcqRel);
    }
}
