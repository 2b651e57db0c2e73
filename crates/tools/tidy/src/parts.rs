//! The README's table of crates, made from the descriptions in their manifests.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::Finding;
use crate::repo::File;

/// The file that holds the table.
pub const README: &str = "README.md";

/// The lines around the table.
const MARKS: [&str; 2] = [
    "<!-- parts: made from the crates' descriptions by `cargo run -p rackloom-tidy -- --write` -->",
    "<!-- end of parts -->",
];

/// The shelves in the order of the table; crates that stand on none come last.
const SHELVES: [&str; 6] = ["core", "run", "api", "share", "check", "tools"];

/// A crate as the table shows it.
struct Part {
    shelf: String,
    name: String,
    description: String,
}

/// What the table lacks or says wrongly, and descriptions that are missing or more than a line.
///
/// # Errors
/// When a manifest is not TOML.
pub fn check(files: &[File]) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for part in parts(files)? {
        let description = part.description.as_str();
        if description.is_empty() || description.contains('\n') || description.ends_with('.') {
            let folder = format!("{}/{}", part.shelf, part.name);
            found.push(Finding {
                file: format!("crates/{}/Cargo.toml", folder.trim_start_matches('/')),
                line: 0,
                what: format!("the description is {description:?}"),
                remedy: "write one line that says what the crate is, without a full stop",
            });
        }
    }
    let readme = files.iter().find(|file| file.path == README).map_or("", |file| &file.text);
    if written(readme, files)?.as_deref() != Some(readme) {
        found.push(Finding {
            file: README.to_owned(),
            line: 0,
            what: "its table of parts is not what the crates' descriptions give".to_owned(),
            remedy: "cargo run -p rackloom-tidy -- --write",
        });
    }
    Ok(found)
}

/// The README with the table as it should be; `None` if it lacks the marks around the table.
///
/// # Errors
/// When a manifest is not TOML.
pub fn written(readme: &str, files: &[File]) -> Result<Option<String>> {
    let Some((before, rest)) = readme.split_once(MARKS[0]) else { return Ok(None) };
    let Some((_, after)) = rest.split_once(MARKS[1]) else { return Ok(None) };
    let mut out = format!("{before}{}\n| shelf | crate | what it is |\n|---|---|---|\n", MARKS[0]);
    let mut shelf = None;
    for part in parts(files)? {
        // Each shelf is named once, before its first crate.
        let first = shelf.as_ref() != Some(&part.shelf) && !part.shelf.is_empty();
        let cell = if first { format!(" `{}` ", part.shelf) } else { " ".to_owned() };
        writeln!(out, "|{cell}| `{}` | {} |", part.name, part.description)?;
        shelf = Some(part.shelf);
    }
    Ok(Some(out + MARKS[1] + after))
}

/// All crates in the order of the table.
fn parts(files: &[File]) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for file in files {
        let folder = file.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml"));
        let Some(folder) = folder else { continue };
        let manifest: toml::Table = file.text.parse().with_context(|| file.path.clone())?;
        let description = manifest.get("package").and_then(|package| package.get("description"));
        let description = description.and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        let (shelf, name) = folder.split_once('/').unwrap_or(("", folder));
        parts.push(Part { shelf: shelf.to_owned(), name: name.to_owned(), description });
    }
    let place = |part: &Part| SHELVES.iter().position(|shelf| *shelf == part.shelf).unwrap_or(SHELVES.len());
    parts.sort_by_key(place);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn crates() -> Vec<File> {
        let manifest = |description| format!("[package]\nname = \"x\"\ndescription = \"{description}\"\n");
        vec![
            file("crates/cli/Cargo.toml", &manifest("The command")),
            file("crates/core/a/Cargo.toml", &manifest("A")),
            file("crates/core/b/Cargo.toml", &manifest("B")),
            file("crates/run/c/Cargo.toml", &manifest("C")),
        ]
    }

    #[test]
    fn the_table_is_written_between_its_marks_and_then_right() {
        let mut files = crates();
        let readme = format!("# X\n{}\nold\n{}\nafter\n", MARKS[0], MARKS[1]);
        let new = written(&readme, &files).unwrap().unwrap();
        let table = "| shelf | crate | what it is |\n|---|---|---|\n| `core` | `a` | A |\n| | `b` | B |\n\
                     | `run` | `c` | C |\n| | `cli` | The command |\n";
        assert_eq!(new, format!("# X\n{}\n{table}{}\nafter\n", MARKS[0], MARKS[1]));
        files.push(file(README, &new));
        assert_eq!(check(&files).unwrap(), []);
    }

    #[test]
    fn a_stale_table_missing_marks_and_bad_descriptions_are_found() {
        let mut files = crates();
        files.push(file(README, "# X\n"));
        assert_eq!(check(&files).unwrap().len(), 1);
        files.push(file("crates/run/d/Cargo.toml", "[package]\nname = \"d\"\n"));
        files.push(file("crates/run/e/Cargo.toml", "[package]\ndescription = \"E.\"\n"));
        let found: Vec<_> = check(&files).unwrap().iter().map(|f| f.file.clone()).collect();
        assert_eq!(found, ["crates/run/d/Cargo.toml", "crates/run/e/Cargo.toml", "README.md"]);
    }
}
