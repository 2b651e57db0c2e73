//! What happened in runs.

use std::ops::AddAssign;

use rackloom_bridge::EndpointCounters;

use crate::ledger::Tally;

macro_rules! stats {
    ($($(#[$doc:meta])* $field:ident),* $(,)?) => {
        /// What happened in a run, or in several.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Stats {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl AddAssign for Stats {
            fn add_assign(&mut self, o: Self) {
                $(self.$field = self.$field.wrapping_add(o.$field);)*
            }
        }
    };
}

stats! {
    frames,
    served,
    duplicates,
    stale,
    denied,
    malformed,
    /// Requests: carried out, refused, and without an answer; and of the latter those that were carried out.
    done,
    refused,
    restarted,
    unreachable,
    unknown,
    /// Messages.
    taken,
    losses,
    restarts,
    damaged,
    /// Damaged, and not dropped by the check sequence.
    rotten,
    ended_ns,
    hash,
}

impl Stats {
    pub fn count(&mut self, c: &EndpointCounters) {
        self.frames += c.tx;
        self.served += c.served;
        self.duplicates += c.duplicates;
        self.stale += c.stale;
        self.denied += c.denied;
        self.malformed += c.malformed;
    }

    pub fn tally(&mut self, t: Tally) {
        self.done += t.done;
        self.refused += t.refused;
        self.restarted += t.restarted;
        self.unreachable += t.unreachable;
        self.unknown += t.unknown;
    }
}
