//! Topologies.

use rackloom_collective::Group;

pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
}

/// A group in which these pairs are joined, by ports in their order.
pub(crate) fn group(size: usize, pairs: &[(usize, usize)]) -> Group {
    let mut links = vec![vec![None; size]; size];
    let mut next = vec![1; size];
    for (a, b) in pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]) {
        links[a][b] = Some(next[a]);
        next[a] += 1;
    }
    Group::new(links)
}

/// All joined to all, a ring, a line, and a torus where there is one that is no ring.
pub(crate) fn shapes(n: usize) -> Vec<Shape> {
    let full: Vec<_> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect();
    let line: Vec<_> = (1..n).map(|b| (b - 1, b)).collect();
    let mut shapes = vec![Shape { name: "full", group: group(n, &full) }];
    if n > 2 {
        shapes.push(Shape { name: "line", group: group(n, &line) });
    }
    if n > 3 {
        shapes.push(Shape { name: "ring", group: group(n, &[line, vec![(n - 1, 0)]].concat()) });
    }
    if n >= 8 {
        let (rows, columns) = if n == 8 { (2, 4) } else { (8, n / 8) };
        let right = (0..n).map(|a| (a, a / columns * columns + (a + 1) % columns));
        let down = (0..n).map(|a| (a, (a + columns) % (rows * columns)));
        let mut pairs: Vec<_> = right.chain(down).map(|(a, b)| (a.min(b), a.max(b))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        shapes.push(Shape { name: "torus", group: group(n, &pairs) });
    }
    shapes
}
