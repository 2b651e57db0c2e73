//! DEPENDENCIES.md says of each crate of others why we have it and what would replace it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use crate::Finding;
use crate::metadata::Workspace;

/// The ledger's file.
pub const FILE: &str = "DEPENDENCIES.md";

/// The names under `[workspace.dependencies]` that are not ours.
///
/// # Errors
/// When the manifest is not TOML or has no such table.
pub fn declared(manifest: &str) -> Result<BTreeSet<String>> {
    let manifest: toml::Table = manifest.parse().context("Cargo.toml")?;
    let table = manifest.get("workspace").and_then(|w| w.get("dependencies")).and_then(toml::Value::as_table);
    let table = table.context("Cargo.toml has no [workspace.dependencies]")?;
    Ok(table.iter().filter(|(_, v)| v.get("path").is_none()).map(|(name, _)| name.clone()).collect())
}

/// Each dependency has its row, each row its dependency, and each row says something.
pub fn check(ledger: &str, declared: &BTreeSet<String>, workspace: &Workspace) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut finding = |line, what: String, remedy| {
        found.push(Finding { file: FILE.to_owned(), line, what, remedy });
    };
    let mut rows = BTreeMap::new();
    for (line, cells) in (1..).zip(ledger.lines()).filter_map(|(line, text)| Some((line, row(text)?))) {
        let [name, why, instead] = cells.as_slice() else {
            finding(line, format!("a row of {} cells", cells.len()), "write: crate, why, what would replace it");
            continue;
        };
        let name = name.trim_matches('`').to_owned();
        if why.is_empty() || instead.is_empty() {
            finding(line, format!("{name} has an empty cell"), "say why we have it and what would replace it");
        }
        if let Some(first) = rows.insert(name.clone(), line) {
            finding(line, format!("{name} stands in line {first}, too"), "keep one row");
        }
    }
    // Who uses what, dev and build dependencies included: all of it is built on somebody's machine.
    let mut used: BTreeMap<&str, &str> = BTreeMap::new();
    for package in workspace.members() {
        for dep in package.dependencies.iter().filter(|d| d.source.is_some()) {
            used.entry(&dep.name).or_insert(&package.folder);
        }
    }
    for (name, by) in &used {
        if !rows.contains_key(*name) {
            finding(0, format!("{name}, which crates/{by} uses, has no row"), "add: crate, why, what would replace it");
        }
        if !declared.contains(*name) {
            let what = format!("{name}, which crates/{by} uses, is not under [workspace.dependencies] in Cargo.toml");
            finding(0, what, "declare it there, so that the workspace has one version");
        }
    }
    for (name, line) in &rows {
        if !declared.contains(name) {
            finding(*line, format!("{name} is no dependency of the workspace"), "take the row away");
        }
    }
    found
}

/// The cells of a table's row; nothing for its head, its rule and other lines.
fn row(line: &str) -> Option<Vec<&str>> {
    let cells: Vec<_> = line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
    cells[0].starts_with('`').then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::tests::workspace;

    #[test]
    fn what_is_missing_stale_or_empty_is_found() {
        let workspace = workspace(&[("rackloom-a", &["bytes", "mio", "rackloom-b", "own"]), ("rackloom-b", &[])]);
        let manifest = "[workspace.dependencies]\nbytes = \"1\"\nmio = \"1\"\nrackloom-b = { path = \"x\" }\n";
        let declared = declared(manifest).unwrap();
        assert_eq!(declared.iter().collect::<Vec<_>>(), ["bytes", "mio"]);
        let ledger = "| crate | why | instead |\n|---|---|---|\n\
                      | `bytes` | frames | |\n| `gone` | once | x |\n| `two` | x |\n\
                      | `bytes` | again | y |\n";
        let found: Vec<_> = check(ledger, &declared, &workspace).iter().map(|f| (f.line, f.what.clone())).collect();
        let wanted = [
            (3, "bytes has an empty cell"),
            (5, "a row of 2 cells"),
            (6, "bytes stands in line 3, too"),
            (0, "mio, which crates/a uses, has no row"),
            (0, "own, which crates/a uses, has no row"),
            (0, "own, which crates/a uses, is not under [workspace.dependencies] in Cargo.toml"),
            (4, "gone is no dependency of the workspace"),
        ];
        assert_eq!(found, wanted.map(|(line, what)| (line, what.to_owned())));
    }
}
