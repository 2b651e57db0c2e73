//! Groups of cards of an arrangement.

use rackloom_collective::Group;
use rackloom_topology::Graph;

/// The cards of an arrangement as ranks, with ports in the order of their neighbours, from 1.
pub(crate) fn of_graph(graph: &Graph) -> Group {
    let cards = graph.cards();
    let port = |from: usize, to: usize| {
        let at = graph.neighbours(from).iter().position(|next| usize::from(*next) == to);
        at.map(|at| (at + 1) as u8)
    };
    Group::new((0..cards).map(|from| (0..cards).map(|to| port(from, to)).collect()).collect())
}
