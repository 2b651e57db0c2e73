//! When each message of a phase goes: in rounds, of which each link has one message at most.
//!
//! A rank takes and puts what a round has for it, waits for all of that, and goes on with the next. So a message waits
//! for messages of earlier rounds only, and the first that has not come in any state is one that nothing holds up:
//! nobody waits in a circle.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::phase::{Phase, Place};

/// Rounds of a phase.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// The messages of each round.
    pub(crate) rounds: Vec<Vec<usize>>,
    /// By message: which of its receiver's places for bytes on their way it has, if it is not for the receiver.
    pub(crate) relays: Vec<usize>,
    /// Such places that a rank needs, at most.
    pub(crate) relays_max: usize,
}

/// Messages that a link could take: by how many follow in a row, then in their order.
type Waiting = BinaryHeap<(u32, Reverse<usize>)>;

/// Messages begin as early as they can. Of those that a link could take, one comes first that most others follow.
pub(crate) fn schedule(phase: &Phase, size: usize) -> Schedule {
    let hops = &phase.hops;
    let mut followers = vec![Vec::new(); hops.len()];
    for (at, hop) in hops.iter().enumerate() {
        if let Some(before) = hop.after {
            followers[before].push(at);
        }
    }
    // A message has a higher number than the one that it follows.
    let mut height = vec![0u32; hops.len()];
    for at in (0..hops.len()).rev() {
        height[at] = followers[at].iter().map(|next: &usize| height[*next] + 1).max().unwrap_or(0);
    }
    let mut ready: BTreeMap<(usize, usize), Waiting> = BTreeMap::new();
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    let mut round_of = vec![0; hops.len()];
    let mut next: Vec<usize> = (0..hops.len()).filter(|at| hops[*at].after.is_none()).collect();
    loop {
        for at in next.drain(..) {
            ready.entry((hops[at].from, hops[at].to)).or_default().push((height[at], Reverse(at)));
        }
        let mut round = Vec::new();
        ready.retain(|_, waiting| {
            round.extend(waiting.pop().map(|(_, Reverse(at))| at));
            !waiting.is_empty()
        });
        if round.is_empty() {
            break;
        }
        for at in &round {
            round_of[*at] = rounds.len();
            next.extend_from_slice(&followers[*at]);
        }
        rounds.push(round);
    }
    let (relays, relays_max) = places(phase, size, &rounds, &round_of, &followers);
    Schedule { rounds, relays, relays_max }
}

/// Gives bytes on their way a place at each rank between, from the round in which they come to that in which they go.
fn places(
    phase: &Phase,
    size: usize,
    rounds: &[Vec<usize>],
    round_of: &[usize],
    followers: &[Vec<usize>],
) -> (Vec<usize>, usize) {
    let mut places = vec![0; phase.hops.len()];
    // By rank, for each place: the round after which it is free.
    let mut taken: Vec<Vec<usize>> = vec![Vec::new(); size];
    for (round, hops) in rounds.iter().enumerate() {
        for at in hops.iter().filter(|at| phase.hops[**at].dest == Place::Relay) {
            let until = followers[*at].iter().map(|next| round_of[*next]).max().unwrap_or(round);
            let of_rank = &mut taken[phase.hops[*at].to];
            let free = of_rank.iter().position(|busy| *busy < round).unwrap_or_else(|| {
                of_rank.push(0);
                of_rank.len() - 1
            });
            of_rank[free] = until;
            places[*at] = free;
        }
    }
    (places, taken.iter().map(Vec::len).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::Place::{From, To};

    #[test]
    fn a_link_has_one_message_at_a_time_and_long_ways_come_first() {
        let mut phase = Phase::default();
        phase.send(&[0, 1], From(0), To(0), 8, None);
        phase.send(&[0, 1, 2], From(8), To(0), 8, None);
        let schedule = schedule(&phase, 3);
        assert_eq!(schedule.rounds, [vec![1], vec![0, 2]]);
        assert_eq!(schedule.relays_max, 1);
    }

    #[test]
    fn places_of_passing_bytes_are_used_again() {
        let mut phase = Phase::default();
        (0..5).for_each(|i| _ = phase.send(&[0, 1, 2], From(i * 8), To(i * 8), 8, None));
        let schedule = schedule(&phase, 3);
        assert_eq!(schedule.rounds.len(), 6);
        assert_eq!(schedule.relays_max, 2, "one comes while another goes");
        for pair in schedule.rounds.windows(2) {
            let came = |round: &Vec<usize>| round.iter().copied().find(|at| phase.hops[*at].to == 1);
            if let (Some(a), Some(b)) = (came(&pair[0]), came(&pair[1])) {
                assert_ne!(schedule.relays[a], schedule.relays[b]);
            }
        }
    }
}
