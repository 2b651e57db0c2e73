//! Grids, groups and words.

use crate::graph::Graph;

pub(super) fn hyperx(sizes: &[usize]) -> Graph {
    let along = |size: usize| (0..size).flat_map(move |a| (0..size).map(move |b| (a, b))).collect();
    grid(sizes, along)
}

pub(super) fn torus(sizes: &[usize]) -> Graph {
    grid(sizes, |size| (0..size).map(|a| (a, (a + 1) % size)).collect())
}

/// The cards of a path through a grid behind its first: one coordinate after the other, in a ring the shorter way
/// round. Which is first follows from the differences of coordinates, so that paths from all cards look alike and
/// links of one direction carry the same.
pub(super) fn grid_path(sizes: &[usize], is_ring: bool, from: usize, to: usize) -> Vec<u16> {
    let mut steps = Vec::new();
    let (mut step, mut turn, mut place) = (1, 0, 0);
    for size in sizes.iter().rev() {
        let [a, b] = [from, to].map(|card| card / step % size);
        let ahead = (b + size - a) % size;
        turn += ahead;
        place += a;
        if ahead > 0 {
            steps.push((step, *size, a, ahead));
        }
        step *= size;
    }
    let count = steps.len().max(1);
    steps.rotate_left(turn % count);
    let (mut at, mut path) = (from, Vec::new());
    for (step, size, a, ahead) in steps {
        let line = at - a * step;
        // Of two ways that are as long, cards take one and the other in turn.
        let is_back = 2 * ahead > size || (2 * ahead == size && place % 2 == 1);
        let places: Vec<usize> = match (is_ring, is_back) {
            (false, _) => vec![ahead],
            (true, false) => (1..=ahead).collect(),
            (true, true) => (ahead..size).rev().collect(),
        };
        for ahead in places {
            at = line + (a + ahead) % size * step;
            path.push(at as u16);
        }
    }
    path
}

/// A grid in which those of one line are joined by these pairs of places on it.
fn grid(sizes: &[usize], along: impl Fn(usize) -> Vec<(usize, usize)>) -> Graph {
    let cards = sizes.iter().product();
    let mut pairs = Vec::new();
    let mut step = 1;
    for size in sizes.iter().rev() {
        for (a, b) in along(*size) {
            // All cards whose place on that line is the first.
            let lines = (0..cards).filter(|card| (card / step).is_multiple_of(*size));
            pairs.extend(lines.map(|card| (card + a * step, card + b * step)));
        }
        step *= size;
    }
    Graph::of(cards, pairs)
}

pub(super) fn dragonfly(cards: usize, global: usize) -> Graph {
    let groups = cards * global + 1;
    let within = (0..groups).flat_map(|group| {
        let card = move |n: usize| group * cards + n;
        (0..cards).flat_map(move |a| (0..a).map(move |b| (card(a), card(b))))
    });
    // Each group's links to others are counted from the group behind it on.
    let card = |group: usize, link: usize| group * cards + link / global;
    let between = (0..groups).flat_map(|group| {
        (0..groups - 1).map(move |link| (card(group, link), card((group + link + 1) % groups, groups - 2 - link)))
    });
    Graph::of(groups * cards, within.chain(between))
}

pub(super) fn kautz(d: usize) -> Graph {
    // Words in their order, without those of one letter twice.
    let word = |a: usize, b: usize| a * d + b - usize::from(b > a);
    let letters = || 0..=d;
    let words = letters().flat_map(|a| letters().map(move |b| (a, b))).filter(|(a, b)| a != b);
    let links = words.flat_map(|(a, b)| letters().filter(move |c| *c != b).map(move |c| (word(a, b), word(b, c))));
    Graph::directed(d * (d + 1), links)
}
