//! Families that are made of finite fields.

use crate::field::Field;
use crate::graph::Graph;

/// Points of the projective plane, each with its first coordinate that is not zero a one.
pub(super) fn polar_fly(q: usize, field: &Field) -> Graph {
    let all = || 0..q;
    let points: Vec<[usize; 3]> =
        all().flat_map(|y| all().map(move |z| [1, y, z])).chain(all().map(|z| [0, 1, z])).chain([[0, 0, 1]]).collect();
    let product = |a: &[usize; 3], b: &[usize; 3]| {
        let parts = a.iter().zip(b).map(|(a, b)| field.times(*a, *b));
        parts.fold(0, |sum, part| field.plus(sum, part))
    };
    let pairs = (0..points.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    Graph::of(points.len(), pairs.filter(|(a, b)| product(&points[*a], &points[*b]) == 0))
}

/// Two squares of q columns with q cards each. Cards of a column whose places differ by a generator are joined; those
/// of the second square differ by other generators. Card (x, y) of the first is joined to (m, c) of the second if y =
/// m x + c.
pub(super) fn slim_fly(q: usize, field: &Field) -> Graph {
    let [first, second] = generators(q, &field.powers());
    let all = || (0..q).flat_map(move |a| (0..q).map(move |b| (a, b)));
    let column = |square: usize, x: usize, generators: &[usize]| {
        let card = move |y: usize| (square * q + x) * q + y;
        let ends = |y: usize| generators.iter().map(move |g| (card(y), card(field.plus(y, *g))));
        (0..q).flat_map(ends).collect::<Vec<_>>()
    };
    let columns = (0..q).flat_map(|x| [column(0, x, &first), column(1, x, &second)]).flatten();
    let across = all().flat_map(|(x, m)| {
        let end = move |c: usize| (x * q + field.plus(field.times(m, x), c), (q + m) * q + c);
        (0..q).map(end)
    });
    Graph::of(2 * q * q, columns.chain(across))
}

/// The differences within a column, of the first square and of the second: even powers and odd powers of a generator of
/// the field; with 4 n - 1 elements, where -1 is an odd power, from the middle on the other way round.
fn generators(q: usize, powers: &[usize]) -> [Vec<usize>; 2] {
    let of = |exponents: &mut dyn Iterator<Item = usize>| exponents.map(|e| powers[e % (q - 1)]).collect::<Vec<_>>();
    if q % 4 == 3 {
        let n = (q + 1) / 4;
        let first = of(&mut (0..n).map(|i| 2 * i).chain((0..n).map(|i| 2 * (n + i) - 1)));
        let second = of(&mut (0..n).map(|i| 2 * i + 1).chain((0..n).map(|i| 2 * (n + i))));
        return [first, second];
    }
    [of(&mut (0..q - 1).step_by(2)), of(&mut (1..q).step_by(2))]
}
