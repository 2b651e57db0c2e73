//! Groups of either kind: of cards, or of hosts.

use std::sync::Arc;

use rackloom::{Communicator, HostGroup, HostPrepared, Operation, Prepared, Rack};

use crate::failure::Failure;

/// A group.
#[derive(Debug)]
pub(crate) enum Group {
    /// Of cards, and the ranks that this process has.
    Cards(Communicator<Arc<Rack>>, Vec<usize>),
    /// Of processes, of which this is one.
    Hosts(HostGroup, [usize; 1]),
}

/// An operation that such a group does.
#[derive(Debug)]
pub(crate) enum Ready {
    Cards(Prepared),
    Hosts(HostPrepared),
}

impl Ready {
    pub(crate) fn gives(&self, rank: usize) -> u64 {
        match self {
            Self::Cards(prepared) => prepared.gives(rank),
            Self::Hosts(prepared) => prepared.gives(rank),
        }
    }

    pub(crate) fn gets(&self, rank: usize) -> u64 {
        match self {
            Self::Cards(prepared) => prepared.gets(rank),
            Self::Hosts(prepared) => prepared.gets(rank),
        }
    }
}

impl Group {
    /// All of these cards are this process's.
    pub(crate) fn of_cards(group: Communicator<Arc<Rack>>) -> Self {
        let own = (0..group.cards().len()).collect();
        Self::Cards(group, own)
    }

    pub(crate) fn of_hosts(group: HostGroup) -> Self {
        let own = [group.rank()];
        Self::Hosts(group, own)
    }

    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Cards(group, _) => group.cards().len(),
            Self::Hosts(group, _) => group.size(),
        }
    }

    /// The ranks that this process has.
    pub(crate) fn own(&self) -> &[usize] {
        match self {
            Self::Cards(_, own) => own,
            Self::Hosts(_, own) => own,
        }
    }

    /// What a rank is: a card, or a process.
    pub(crate) fn name(&self, rank: usize) -> String {
        match self {
            Self::Cards(group, _) => group.cards()[rank].to_string(),
            Self::Hosts(group, _) => format!("process {}", group.process(rank)),
        }
    }

    pub(crate) fn prepare(&self, operation: &Operation, counts: Option<&[u64]>) -> Result<Ready, Failure> {
        match self {
            Self::Cards(group, _) => Ok(Ready::Cards(group.prepare(operation, counts)?)),
            Self::Hosts(group, _) => Ok(Ready::Hosts(group.prepare(operation, counts)?)),
        }
    }

    /// Groups of a colour each; colours and keys are those of this process's ranks.
    pub(crate) fn split(&self, colours: &[Option<u32>], keys: &[i64]) -> Result<Vec<Self>, Failure> {
        self.is_whole("join one of some seats")?;
        match self {
            Self::Cards(group, _) => Ok(group.split(colours, keys).into_iter().map(Self::of_cards).collect()),
            Self::Hosts(group, _) => Ok(group.split(colours[0], keys[0])?.into_iter().map(Self::of_hosts).collect()),
        }
    }

    /// The group of those who are left.
    pub(crate) fn shrink(&self) -> Result<Self, Failure> {
        self.is_whole("join one of the seats that are left")?;
        match self {
            Self::Cards(group, _) => Ok(Self::of_cards(group.shrink()?)),
            Self::Hosts(group, _) => Ok(Self::of_hosts(group.shrink()?)),
        }
    }

    /// Ranks that are cards of other processes know of no group but the one that they have joined.
    fn is_whole(&self, remedy: &str) -> Result<(), Failure> {
        match self {
            Self::Cards(_, own) if own.len() < self.size() => {
                Err(Failure::Invalid(format!("other processes have ranks of the group: {remedy}")))
            }
            _ => Ok(()),
        }
    }
}
