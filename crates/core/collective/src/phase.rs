//! Phases of an operation: which bytes go over which links, and what each rank does with them.

/// Where bytes lie on a card. The number is an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In what the rank gives.
    From(u64),
    /// In what it gets.
    To(u64),
    /// In its room for others' elements.
    Scratch(u64),
    /// On their way to another rank: the schedule finds the place.
    Relay,
}

impl Place {
    /// The place so many bytes further on.
    pub(crate) const fn plus(self, bytes: u64) -> Self {
        match self {
            Self::From(at) => Self::From(at + bytes),
            Self::To(at) => Self::To(at + bytes),
            Self::Scratch(at) => Self::Scratch(at + bytes),
            Self::Relay => Self::Relay,
        }
    }
}

/// A message over one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) source: Place,
    pub(crate) dest: Place,
    pub(crate) length: u64,
    /// The message of this phase that has to come to `from` first.
    pub(crate) after: Option<usize>,
    /// What `to` has at this place is reduced onto what has come: as the right operand.
    pub(crate) fold: Option<Place>,
}

/// What a rank does in its own memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Local {
    /// Copies bytes.
    Copy { from: Place, to: Place, length: u64 },
    /// Reduces what is at `from` onto what is at `to`.
    Reduce { from: Place, to: Place, length: u64 },
}

/// Messages that wait for each other only as they say, and for those of the phase before.
#[derive(Debug, Default)]
pub(crate) struct Phase {
    pub(crate) hops: Vec<Hop>,
    /// What ranks do while messages are under way.
    pub(crate) beside: Vec<(usize, Local)>,
    /// What they do when all of theirs have come.
    pub(crate) then: Vec<(usize, Local)>,
}

impl Phase {
    /// Sends bytes along a way, whose ranks between its ends pass them on. Yields the last message.
    pub(crate) fn send(
        &mut self,
        way: &[usize],
        source: Place,
        dest: Place,
        length: u64,
        mut after: Option<usize>,
    ) -> Option<usize> {
        let mut at = source;
        for pair in way.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let next = if Some(&to) == way.last() { dest } else { Place::Relay };
            self.hops.push(Hop { from, to, source: at, dest: next, length, after, fold: None });
            (at, after) = (next, Some(self.hops.len() - 1));
        }
        after
    }

    /// Sends bytes from `root` along a tree, all of whose ranks keep them and pass them on. `after`: they have come to
    /// the root by this message.
    pub(crate) fn spread(
        &mut self,
        tree: &[(usize, usize)],
        source: Place,
        dest: Place,
        length: u64,
        after: Option<usize>,
    ) {
        let mut came: Vec<(usize, usize)> = Vec::new();
        for &(from, to) in tree {
            let before = came.iter().find(|(rank, _)| *rank == from).map(|(_, hop)| *hop);
            let at = if before.is_some() { dest } else { source };
            self.hops.push(Hop { from, to, source: at, dest, length, after: before.or(after), fold: None });
            came.push((to, self.hops.len() - 1));
        }
    }
}
