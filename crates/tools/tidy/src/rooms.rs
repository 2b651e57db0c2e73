//! Arrows between the modules of a crate go down only.
//!
//! A room is a top-level module of `src/`: a file, or a folder with all in it. Rooms do not import each other in a
//! circle, so that a reader can start at the bottom and never has to know what comes later. Within a room two files may
//! share their innards; a circle of more than two has no beginning at all.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::Finding;
use crate::modules::{Crate, Imports};
use crate::repo::File;

/// An arrow of a graph, with the file and line that draw it.
type Arrows<'a> = BTreeMap<&'a str, BTreeMap<&'a str, (&'a str, usize)>>;

/// Every circle of imports in every crate.
pub fn circles(files: &[File]) -> Vec<Finding> {
    sources(files).into_iter().flat_map(|folder| of_crate(files, folder)).collect()
}

/// The `src/` folders of all crates.
fn sources(files: &[File]) -> BTreeSet<&str> {
    let source = |file: &File| {
        let at = file.path.find("/src/").filter(|_| file.path.starts_with("crates/") && file.is_rust())?;
        Some(at + "/src/".len())
    };
    files.iter().filter_map(|file| Some(&file.path[..source(file)?])).collect()
}

fn of_crate(files: &[File], folder: &str) -> Vec<Finding> {
    let imports = Crate::read(files, folder).imports();
    let mut found = Vec::new();
    let rooms = arrows(&imports, |from, to| {
        let ends = (room_of(from, folder), room_of(to, folder));
        (ends.0 != ends.1).then_some(ends)
    });
    let remedy = "arrows go down only: move what both need into a room below them, or one of them into the other";
    found.extend(cycles(&rooms, 2).iter().map(|cycle| finding(&rooms, cycle, "rooms", remedy)));
    let inner = arrows(&imports, |from, to| {
        (room_of(from, folder) == room_of(to, folder)).then_some((&from[folder.len()..], &to[folder.len()..]))
    });
    let remedy = "move what they share into a file below them";
    found.extend(cycles(&inner, 3).iter().map(|cycle| finding(&inner, cycle, "files", remedy)));
    found
}

fn room_of<'a>(file: &'a str, folder: &str) -> &'a str {
    let path = &file[folder.len()..];
    path.split_once('/').map_or(path, |(room, _)| room).trim_end_matches(".rs")
}

/// The graph of what `ends` makes of each import; the first file and line stand for an arrow.
fn arrows<'a>(imports: &'a Imports, ends: impl Fn(&'a str, &'a str) -> Option<(&'a str, &'a str)>) -> Arrows<'a> {
    let mut graph = Arrows::new();
    for ((from, to), line) in imports {
        if let Some((a, b)) = ends(from, to) {
            graph.entry(a).or_default().entry(b).or_insert((from, *line));
        }
    }
    graph
}

/// For each arrow the shortest circle of at least `least` arrows that it is part of; each circle once, from its first
/// name in the order of the alphabet.
fn cycles<'a>(graph: &Arrows<'a>, least: usize) -> BTreeSet<Vec<&'a str>> {
    let mut found = BTreeSet::new();
    for (from, tos) in graph {
        for to in tos.keys() {
            if let Some(mut cycle) = way(graph, to, from, least == 2) {
                let first = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
                cycle.rotate_left(first);
                found.insert(cycle);
            }
        }
    }
    found
}

/// The shortest way between two names, both included; one of a single arrow only if that is allowed.
fn way<'a>(graph: &Arrows<'a>, from: &'a str, to: &'a str, direct: bool) -> Option<Vec<&'a str>> {
    let mut ways = VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::from([from]);
    while let Some(way) = ways.pop_front() {
        let here = *way.last()?;
        for &next in graph.get(here).into_iter().flat_map(BTreeMap::keys) {
            if next == to && (direct || way.len() > 1) {
                return Some([&way[..], &[next]].concat());
            }
            if next != to && seen.insert(next) {
                ways.push_back([&way[..], &[next]].concat());
            }
        }
    }
    None
}

fn finding(graph: &Arrows<'_>, cycle: &[&str], what: &str, remedy: &'static str) -> Finding {
    let mut text = format!("{what} import each other in a circle: {}", cycle[0]);
    let mut first = ("", 0);
    for (at, from) in cycle.iter().enumerate() {
        let to = cycle[(at + 1) % cycle.len()];
        let (file, line) = graph[from][to];
        if at == 0 {
            first = (file, line);
        }
        text += &format!(" > {to} ({file}:{line})");
    }
    Finding { file: first.0.to_owned(), line: first.1, what: text, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::tests::files;

    fn found(texts: &[(&str, &str)]) -> Vec<String> {
        of_crate(&files(texts), "crates/a/src/").iter().map(|f| f.to_string().replace("crates/a/src/", "")).collect()
    }

    #[test]
    fn rooms_that_build_on_each_other_are_right() {
        let good = found(&[
            ("lib.rs", "pub mod a; mod b; mod c; pub use c::Low; pub struct Root;\n"),
            ("a.rs", "use crate::b::X; use crate::Low;\n"),
            ("b/mod.rs", "pub mod x; pub use x::X; use crate::c;\n"),
            ("b/x.rs", "use super::y::Y; use crate::Root; pub struct X;\n"),
            ("b/y.rs", "use super::x::X; pub struct Y;\n"),
            ("c.rs", "pub struct Low;\n#[cfg(test)]\nmod tests { use crate::a; }\n"),
        ]);
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn circles_of_rooms_are_found_with_each_import() {
        let bad = found(&[
            ("lib.rs", "mod a; mod b; mod c; pub use a::A;\n"),
            ("a.rs", "pub struct A;\nuse crate::b::low;\n"),
            ("b/mod.rs", "pub mod low;\n"),
            ("b/low.rs", "use super::super::c;\n"),
            ("c.rs", "\n\nfn f(_: crate::A) {}\n"),
        ]);
        assert_eq!(bad.len(), 1, "{bad:?}");
        let wanted = "a.rs:2: rooms import each other in a circle: a > b (a.rs:2) > c (b/low.rs:1) > a (c.rs:3): ";
        assert!(bad[0].starts_with(wanted), "{bad:?}");
    }

    #[test]
    fn a_room_may_not_import_what_a_root_builds_on_it() {
        let bad = found(&[
            ("lib.rs", "mod a;\nuse a::A;\npub struct Top(A);\n"),
            ("a.rs", "use crate::Top;\npub struct A;\n"),
        ]);
        assert_eq!(bad.len(), 1, "{bad:?}");
        assert!(bad[0].contains("a > lib (a.rs:1) > a (lib.rs:2)"), "{bad:?}");
    }

    #[test]
    fn circles_of_more_than_two_files_of_a_room_are_found() {
        let bad = found(&[
            ("lib.rs", "mod r;\n"),
            ("r/mod.rs", "mod x; mod y; mod z; mod w;\n"),
            ("r/x.rs", "use super::y::b;\n"),
            ("r/y.rs", "use super::z::c; use super::x::a;\n"),
            ("r/z.rs", "use super::x::a; use super::w::d;\n"),
            ("r/w.rs", "use super::z::c;\n"),
        ]);
        assert_eq!(bad.len(), 1, "{bad:?}");
        assert!(bad[0].contains("files import each other in a circle: r/x.rs > r/y.rs (r/x.rs:1) > r/z.rs"), "{bad:?}");
    }
}
