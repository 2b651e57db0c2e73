//! What no paths can better.

use crate::bits::Bits;
use crate::graph::Graph;
use crate::paths::Paths;

/// Slots that a schedule of these cards needs at least, whatever its paths: blocks that each of some links has to carry
/// on average.
///
/// A block goes over some links of a set at least so often as any path has to; so the links of the set together carry
/// the sum of that over all pairs. The bound is the larger of two: of all links, whose sum is the mean path; and of
/// those that carry more than the mean on these paths. That is the whole truth where the paths keep to it.
pub fn bound(graph: &Graph, paths: &Paths) -> f64 {
    let mean = paths.links() as f64 / graph.links().max(1) as f64;
    let loads = paths.loads(graph);
    let is_full: Vec<_> = loads.iter().map(|load| f64::from(*load) > mean).collect();
    let full = is_full.iter().filter(|is_full| **is_full).count();
    if full == 0 {
        return mean;
    }
    let rows = |wanted: bool| {
        let of = |card: usize| {
            let mut row = Bits::new(graph.cards());
            let next = graph.neighbours(card).iter().map(|next| usize::from(*next));
            let is_wanted = |next: &usize| graph.link(card, *next).is_some_and(|link| is_full[link] == wanted);
            next.filter(is_wanted).for_each(|next| row.insert(next));
            row
        };
        (0..graph.cards()).map(of).collect::<Vec<_>>()
    };
    let (free, counted) = (rows(false), rows(true));
    let sum: u64 = (0..graph.cards()).map(|from| crossings(from, &free, &counted)).sum();
    mean.max(sum as f64 / full as f64)
}

/// Counted links that paths from a card to each other have to go over, all together.
fn crossings(from: usize, free: &[Bits], counted: &[Bits]) -> u64 {
    let mut seen = Bits::new(free.len());
    let mut front = seen.clone();
    front.insert(from);
    let (mut sum, mut links) = (0, 0);
    loop {
        // All that free links lead to are as near.
        let mut near = front.clone();
        while !front.is_empty() {
            let mut next = Bits::new(free.len());
            front.iter().for_each(|card| next.add(&free[card]));
            next.remove(&near);
            next.remove(&seen);
            near.add(&next);
            front = next;
        }
        sum += links * near.iter().count() as u64;
        seen.add(&near);
        near.iter().for_each(|card| front.add(&counted[card]));
        front.remove(&seen);
        if front.is_empty() {
            return sum;
        }
        links += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    fn of(text: &str) -> f64 {
        let family: Family = text.parse().unwrap();
        let graph = family.graph().unwrap();
        bound(&graph, &family.paths(&graph).unwrap())
    }

    #[test]
    fn bounds_are_those_that_are_known() {
        // A link along the shorter side of a grid carries a block for each card of a line along the longer side, from
        // and to: as many as there are cards for each place on its own line.
        assert!((of("hyperx:8x4") - 8.0).abs() < 1e-9);
        assert!((of("hyperx:11x22") - 22.0).abs() < 1e-9);
        // Two links across the squares of a Slim Fly for each other column, one for each card of the other square.
        assert!((of("slim-fly:13") - 37.0).abs() < 1e-9);
        // All links alike: the mean, of 49 cards at 1 or 2 links over 7 links.
        assert!((of("slim-fly:5") - 13.0).abs() < 1e-9);
        assert!((of("hyperx:6") - 1.0).abs() < 1e-9);
    }
}
