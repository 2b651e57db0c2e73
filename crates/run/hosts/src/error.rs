//! What goes wrong among hosts.

use std::io;
use std::path::PathBuf;

use rackloom_collective::{Datatype, Op};

/// Why a group was not made, or an operation not done. After an operation has failed the group does no other; those who
/// are left can go on as a smaller one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The environment says nothing of a start, or says it wrongly.
    #[error("{0}")]
    Start(String),
    /// The place to meet is none, or not this user's alone.
    #[error("cannot meet at {}", place.display())]
    Meet {
        /// The socket.
        place: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Rank 0 does not take this process.
    #[error("rank 0 refuses this process: {0}")]
    Refused(String),
    /// Some have not come in time.
    #[error("{missing} of {size} ranks have not come in time")]
    Missing {
        /// How many.
        missing: usize,
        /// All ranks.
        size: usize,
    },
    /// The system refuses memory or a lock.
    #[error("no memory that ranks share")]
    Memory(#[source] io::Error),
    /// A rank's process is gone.
    #[error("rank {rank} is gone: its process {process} has ended")]
    Gone {
        /// In the group.
        rank: usize,
        /// Its number.
        process: u32,
    },
    /// A rank has freed its group before the others were done.
    #[error("rank {rank} (process {process}) has left the group")]
    Left {
        /// In the group.
        rank: usize,
        /// Its number.
        process: u32,
    },
    /// A rank's operation has failed, so that nobody's can go on.
    #[error("rank {rank} (process {process}) has given the operation up")]
    GivenUp {
        /// In the group.
        rank: usize,
        /// Its number.
        process: u32,
    },
    /// The system does not read a rank's memory any more.
    #[error("cannot read memory of rank {rank} (process {process})")]
    Read {
        /// In the group.
        rank: usize,
        /// Its number.
        process: u32,
        /// Why.
        source: io::Error,
    },
    /// The operation was not done within its time.
    #[error("its time is over: it waits for rank {rank} (process {process})")]
    Timeout {
        /// In the group.
        rank: usize,
        /// Its number.
        process: u32,
    },
    /// The operation was not done within its time, because a rank's process is stopped, as by `SIGSTOP`.
    #[error("its time is over: rank {rank} (process {process}) is stopped")]
    Stopped {
        /// In the group.
        rank: usize,
        /// Its number.
        process: u32,
    },
    /// Ranks do not do the same operations in the same order.
    #[error("rank {rank} (process {process}) does another operation")]
    Differs {
        /// In the group.
        rank: usize,
        /// Its number.
        process: u32,
    },
    /// An operation of this group has failed before.
    #[error("an operation of the group has failed before: make a smaller one of those who are left")]
    Broken,
    /// There is no such reduction of such elements.
    #[error("there is no {op} of {datatype}")]
    Type {
        /// What is done with elements.
        op: Op,
        /// Elements.
        datatype: Datatype,
    },
    /// A rank that the operation names is not in the group.
    #[error("rank {rank} is not in a group of {size}")]
    Rank {
        /// Which.
        rank: usize,
        /// Ranks of the group.
        size: usize,
    },
    /// The blocks are too many, too few, or too long.
    #[error("{0}")]
    Blocks(String),
    /// A buffer has another length than the operation needs.
    #[error("a buffer of {has} bytes where the rank {verb} {needs}")]
    Length {
        /// `gives` or `gets`.
        verb: &'static str,
        /// Bytes of the operation.
        needs: u64,
        /// Bytes of the buffer.
        has: u64,
    },
    /// A start has no room for more groups at a time.
    #[error("there are {0} groups already: free some")]
    Groups(usize),
}
