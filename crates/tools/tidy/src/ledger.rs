//! DEPENDENCIES.md says of each crate and each Go module of others why we have it and what would replace it.

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

/// The modules that a `go.mod` requires itself, and those of the tools it names. What only these require is left out.
pub fn required(go_mod: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    let mut tools = BTreeSet::new();
    let mut block = "";
    for line in go_mod.lines().map(str::trim) {
        let words: Vec<_> = line.split_whitespace().collect();
        match (block, words.as_slice()) {
            (_, [directive, "("]) => block = directive,
            (_, [")"]) => block = "",
            ("require", [module, _, rest @ ..]) | ("", ["require", module, _, rest @ ..]) => {
                modules.insert(((*module).to_owned(), rest.contains(&"indirect")));
            }
            ("tool", [package]) | ("", ["tool", package]) => _ = tools.insert((*package).to_owned()),
            _ => {}
        }
    }
    let is_tools = |module: &str| tools.iter().any(|t| t == module || t.starts_with(&format!("{module}/")));
    modules.into_iter().filter(|(module, indirect)| !indirect || is_tools(module)).map(|(module, _)| module).collect()
}

/// Each dependency has its row, each row its dependency, and each row says something. Names with a slash are modules of
/// Go, and none of crates has one.
pub fn check(
    ledger: &str,
    declared: &BTreeSet<String>,
    workspace: &Workspace,
    modules: &BTreeSet<String>,
) -> Vec<Finding> {
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
    for module in modules.iter().filter(|module| !rows.contains_key(*module)) {
        finding(
            0,
            format!("{module}, which cloud/go.mod requires, has no row"),
            "add: module, why, what would replace it",
        );
    }
    for (name, line) in &rows {
        let (known, whose) = if name.contains('/') {
            (modules.contains(name), "cloud/go.mod")
        } else {
            (declared.contains(name), "the workspace")
        };
        if !known {
            finding(*line, format!("{name} is no dependency of {whose}"), "take the row away");
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
        let none = BTreeSet::new();
        let found: Vec<_> =
            check(ledger, &declared, &workspace, &none).iter().map(|f| (f.line, f.what.clone())).collect();
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

    #[test]
    fn modules_of_go_are_held_to_it_too() {
        let go_mod = "module x\n\ngo 1.26.0\n\nrequire example.org/one v1.0.0\n\nrequire (\n\texample.org/a/b v0.1.0\n\
                      \texample.org/c v2.0.0 // indirect\n\texample.org/t v1.0.0 // indirect\n)\n\n\
                      tool (\n\texample.org/t/cmd/t\n)\n";
        let modules = required(go_mod);
        assert_eq!(modules.iter().collect::<Vec<_>>(), ["example.org/a/b", "example.org/one", "example.org/t"]);
        let ledger = "| `example.org/one` | w | i |\n| `example.org/c` | w | i |\n| `example.org/t` | w | i |\n";
        let found = check(ledger, &BTreeSet::new(), &workspace(&[]), &modules);
        let found: Vec<_> = found.iter().map(|f| (f.line, f.what.as_str())).collect();
        let wanted = [
            (0, "example.org/a/b, which cloud/go.mod requires, has no row"),
            (2, "example.org/c is no dependency of cloud/go.mod"),
        ];
        assert_eq!(found, wanted);
    }
}
