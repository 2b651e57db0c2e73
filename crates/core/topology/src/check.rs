//! The proof of a schedule: whatever made it, it moves every block, and no card or link is asked for too much.

use crate::graph::Graph;
use crate::schedule::Schedule;

/// What was found of a schedule that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Slots until the last block is there.
    pub slots: usize,
    /// Blocks of others that a card keeps at once, at most: so much memory suffices, whatever is late.
    pub kept: usize,
    /// Blocks that a link carries, at most.
    pub load: usize,
}

/// Why a schedule does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There are not the same cards.
    #[error("the schedule is for another number of cards")]
    Cards,
    /// A path ends elsewhere.
    #[error("the block from card {from} to card {to} does not get there")]
    Astray {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// A path uses a link that is not there.
    #[error("the block from card {from} to card {to} goes over a link that is not there")]
    NoLink {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// A card would send on what it has not got: it would wait for ever, or send something else.
    #[error("the block from card {from} to card {to} leaves a card before it has come")]
    Early {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// Two blocks are to go over a link at once.
    #[error("the link from card {at} to card {next} carries two blocks in slot {slot}")]
    Taken {
        /// The link's sender.
        at: usize,
        /// Its receiver.
        next: usize,
        /// The slot.
        slot: usize,
    },
}

/// Checks that each block gets to its card over links that are there, that a link carries a block a slot at most, and
/// that a block leaves a card after it has come. Then nothing waits in a circle: each waits for what has an earlier
/// slot.
///
/// # Errors
/// See [`ScheduleError`].
pub fn check(graph: &Graph, schedule: &Schedule) -> Result<Checked, ScheduleError> {
    let cards = graph.cards();
    if schedule.paths().cards() != cards {
        return Err(ScheduleError::Cards);
    }
    let mut taken = vec![Vec::new(); graph.links()];
    // By card and slot: how many more blocks of others it keeps from then on.
    let mut more = vec![0i32; cards * (schedule.len() + 1)];
    let mut last = 0;
    for (from, to) in (0..cards).flat_map(|from| (0..cards).map(move |to| (from, to))) {
        let mut at = from;
        let mut since = 0;
        for (next, slot) in schedule.paths().at(from, to).iter().zip(schedule.slots(from, to)) {
            let (next, slot) = (usize::from(*next), usize::from(*slot));
            let link = graph.link(at, next).ok_or(ScheduleError::NoLink { from, to })?;
            if slot < since || slot >= schedule.len() {
                return Err(ScheduleError::Early { from, to });
            }
            if at != from {
                more[at * (schedule.len() + 1) + since] += 1;
                more[at * (schedule.len() + 1) + slot + 1] -= 1;
            }
            let slots: &mut Vec<u16> = &mut taken[link];
            slots.push(slot as u16);
            (at, since) = (next, slot + 1);
        }
        if at != to {
            return Err(ScheduleError::Astray { from, to });
        }
        last = last.max(since);
    }
    for at in 0..cards {
        for next in graph.neighbours(at) {
            let slots = &mut taken[graph.link(at, (*next).into()).expect("it is a neighbour")];
            slots.sort_unstable();
            if let Some(twice) = slots.windows(2).find(|two| two[0] == two[1]) {
                return Err(ScheduleError::Taken { at, next: (*next).into(), slot: twice[0].into() });
            }
        }
    }
    let kept = more.chunks(schedule.len() + 1).map(|of_card| {
        let kept = of_card.iter().scan(0, |kept, more| {
            *kept += more;
            Some(*kept)
        });
        kept.max().unwrap_or(0)
    });
    let kept = kept.max().unwrap_or(0) as usize;
    Ok(Checked { slots: last, kept, load: taken.iter().map(Vec::len).max().unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, Order, Paths};

    fn schedule(text: &str, order: Order) -> (Graph, Schedule) {
        let family: Family = text.parse().unwrap();
        let graph = family.graph().unwrap();
        let schedule = Schedule::new(&graph, family.paths(&graph).unwrap(), order);
        (graph, schedule)
    }

    #[test]
    fn schedules_hold_and_links_are_hardly_idle() {
        for text in [
            "hyperx:8",
            "hyperx:4x4",
            "torus:4x4",
            "torus:3x3x3",
            "slim-fly:5",
            "slim-fly:7",
            "polar-fly:5",
            "polar-fly:8",
            "kautz:4",
            "kautz:6",
            "dragonfly:4,2",
        ] {
            let (graph, fast) = schedule(text, Order::ByLink);
            let checked = check(&graph, &fast).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(checked.slots, fast.len(), "{text}");
            assert!(checked.slots <= checked.load + 2, "{text}: {checked:?}");
            let (_, lean) = schedule(text, Order::ByBlock);
            let lean = check(&graph, &lean).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(lean.kept <= checked.kept, "{text}: {lean:?} {checked:?}");
        }
    }

    #[test]
    fn schedules_that_are_wrong_are_refused() {
        let (graph, good) = schedule("hyperx:3x3", Order::ByLink);
        let (from, to) = (0, 4);
        assert_eq!(good.slots(from, to).len(), 2);
        let with = |change: &dyn Fn(&mut [u16])| {
            let mut bad = good.clone();
            change(bad.slots_mut(from, to));
            check(&graph, &bad)
        };
        let early = ScheduleError::Early { from, to };
        assert_eq!(with(&|slots| slots[1] = slots[0]), Err(early), "it leaves as it comes");
        assert_eq!(with(&|slots| slots[1] = good.len() as u16), Err(early), "beyond the end");
        let taken = with(&|slots| slots[0] ^= 1).unwrap_err();
        assert!(matches!(taken, ScheduleError::Taken { at: 0, .. } | ScheduleError::Early { .. }), "{taken}");
        let other = Graph::of(9, (1..9).map(|card| (card - 1, card)));
        assert!(matches!(check(&other, &good), Err(ScheduleError::NoLink { .. })));
        assert_eq!(check(&Graph::of(8, [(0, 1)]), &good), Err(ScheduleError::Cards));
    }

    #[test]
    fn what_cards_keep_is_counted() {
        let line = Graph::of(4, [(0, 1), (1, 2), (2, 3)]);
        let schedule = Schedule::new(&line, Paths::shortest(&line).unwrap(), Order::ByBlock);
        let checked = check(&line, &schedule).unwrap();
        assert_eq!(checked.load, 4, "two cards on each side of the middle");
        assert!(checked.kept >= 1 && checked.slots >= 4, "{checked:?}");
    }
}
