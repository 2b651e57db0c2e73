//! The map of decisions (`docs/src/internals/map.md`) leads where it says: each place exists and has the names.

use std::fs;
use std::path::{Path, PathBuf};

const MAP: &str = "docs/src/internals/map.md";

/// A row of the map: its line, the place it links to, and the names to be found there.
struct Row<'a> {
    line: usize,
    place: &'a str,
    names: Vec<&'a str>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The row `| question | [text](place) | names |` that a line of the page is.
fn row(line: usize, text: &str) -> Option<Row<'_>> {
    let mut cells = text.strip_prefix('|')?.split('|').skip(1);
    let (_, place) = cells.next()?.split_once("](")?;
    let (place, _) = place.split_once(')')?;
    let names = cells.next()?.split('`').skip(1).step_by(2).collect();
    Some(Row { line, place, names })
}

/// The rows of a page.
fn rows(page: &str) -> Vec<Row<'_>> {
    (1..).zip(page.lines()).filter_map(|(line, text)| row(line, text)).collect()
}

/// All text of a file, or of the files below a folder; empty if there is neither.
fn text_of(place: &Path) -> String {
    if !place.is_dir() {
        return fs::read_to_string(place).unwrap_or_default();
    }
    let mut entries: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().map(|entry| text_of(entry)).collect()
}

/// Whether a name stands in a text as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part)
            && !text[at + name.len()..].chars().next().is_some_and(is_part)
    })
}

/// What is wrong with a row.
fn faults(row: &Row<'_>) -> Vec<String> {
    let place = root().join(Path::new(MAP).parent().unwrap()).join(row.place);
    let text = text_of(&place);
    if text.is_empty() {
        return vec![format!("{MAP}:{}: {} does not exist: name the file that decides this now", row.line, row.place)];
    }
    let missing = row.names.iter().filter(|name| !has_word(&text, name));
    missing
        .map(|name| format!("{MAP}:{}: {} has no `{name}`: name what decides this now", row.line, row.place))
        .collect()
}

#[test]
fn every_question_leads_to_a_file_with_the_name() {
    let page = fs::read_to_string(root().join(MAP)).unwrap();
    let rows = rows(&page);
    assert!(rows.len() >= 40, "the map has only {} questions", rows.len());
    assert!(rows.iter().all(|row| !row.names.is_empty()), "a question without a name");
    let found: Vec<_> = rows.iter().flat_map(faults).collect();
    assert!(found.is_empty(), "{} wrong answers:\n{}", found.len(), found.join("\n"));
}

#[test]
fn wrong_answers_are_found() {
    let page = "| q | where | name |\n|---|---|---|\n| a? | [x](map.md) | `map`, `Scheduler`, `chedule` |\n| b? | [y](no.rs) | `n` |";
    let rows = rows(page);
    assert_eq!(rows.iter().map(|row| (row.line, row.place)).collect::<Vec<_>>(), [(3, "map.md"), (4, "no.rs")]);
    assert_eq!(rows[0].names, ["map", "Scheduler", "chedule"]);
    let found: Vec<_> = rows.iter().flat_map(faults).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].ends_with("map.md has no `chedule`: name what decides this now"));
    assert!(found[1].ends_with("no.rs does not exist: name the file that decides this now"));
}
