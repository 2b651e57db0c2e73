//! The modules of a crate and what they import from each other, read from the sources.
//!
//! Only paths count: `use` trees and paths in expressions, outside comments, strings and code under `cfg(test)`. A name
//! is followed through re-exports to the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use crate::repo::File;
use crate::rust::{NamedPath, code_only, paths, without_tests};

/// One file of a crate's `src/`.
#[derive(Debug)]
struct Source {
    /// Its path from the repository's root.
    file: String,
    /// Its module, from the crate's root.
    module: Vec<String>,
    /// The paths it names outside tests.
    paths: Vec<NamedPath>,
    /// Those of them that `use` brings into scope.
    uses: Vec<NamedPath>,
    /// The names of the items that it defines.
    defines: BTreeSet<String>,
}

/// An import of one file by another, both as paths from the repository's root, with the line of the first such import.
pub type Imports = BTreeMap<(String, String), usize>;

/// The sources of one crate.
#[derive(Debug)]
pub struct Crate {
    sources: Vec<Source>,
}

impl Crate {
    /// Reads the sources below `folder`, such as `crates/core/wire/src/`. Programs in `bin/` are crates of their own
    /// and are left out, as are files that exist for tests only.
    pub fn read(files: &[File], folder: &str) -> Self {
        let ours = files.iter().filter(|file| file.path.starts_with(folder) && file.is_rust());
        let mut sources = Vec::new();
        let mut test_only = Vec::new();
        for file in ours.filter(|file| !file.path[folder.len()..].starts_with("bin/")) {
            let module = module_of(&file.path[folder.len()..]);
            let (code, tests) = without_tests(&code_only(&file.text));
            test_only.extend(tests.into_iter().map(|name| [&module[..], &[name]].concat()));
            let paths = paths(&code);
            let uses = paths.iter().filter(|path| path.imported).cloned().collect();
            sources.push(Source { file: file.path.clone(), module, paths, uses, defines: defines(&code) });
        }
        sources.retain(|source| !test_only.iter().any(|tests| source.module.starts_with(tests)));
        Self { sources }
    }

    /// Every import of one file by another.
    pub fn imports(&self) -> Imports {
        let mut found = Imports::new();
        for source in &self.sources {
            for path in &source.paths {
                let Some(absolute) = self.absolute(source, path) else { continue };
                let Some(target) = self.defining(&absolute, DEPTH_MAX).filter(|target| target.file != source.file)
                else {
                    continue;
                };
                // What the head of other modules passes on is no import of its own: who uses the name imports it.
                if !(path.public && self.is_head(source)) {
                    found.entry((source.file.clone(), target.file.clone())).or_insert(path.line);
                }
            }
        }
        found
    }

    /// A path from the crate's root; `None` for one that leads to another crate, or begins with a name in scope, whose
    /// `use` counts already.
    fn absolute(&self, from: &Source, path: &NamedPath) -> Option<Vec<String>> {
        let (first, rest) = path.segments.split_first()?;
        let mut out = [&from.module[..], &path.within].concat();
        match first.as_str() {
            "crate" => out.clear(),
            "self" => {}
            "super" => _ = out.pop()?,
            _ => {
                out.clone_from(&from.module);
                out.push(first.clone());
                self.module(&out)?;
            }
        }
        for segment in rest {
            match segment.as_str() {
                "super" => _ = out.pop()?,
                "self" => {}
                _ => out.push(segment.clone()),
            }
        }
        Some(out)
    }

    /// Whether a source stands above others: a root, or the file of a folder.
    fn is_head(&self, source: &Source) -> bool {
        self.sources.iter().any(|s| s.module.len() > source.module.len() && s.module.starts_with(&source.module))
    }

    fn module(&self, path: &[String]) -> Option<&Source> {
        // Beside a lib.rs a main.rs is another crate of the same modules; its own names are nobody's.
        self.sources.iter().find(|source| source.module == path)
    }

    /// The file that defines what a path names, behind all re-exports.
    fn defining(&self, path: &[String], depth: usize) -> Option<&Source> {
        let known = (0..=path.len()).rev().find(|&len| self.module(&path[..len]).is_some())?;
        let module = self.module(&path[..known])?;
        let Some(name) = path.get(known).filter(|_| depth > 0) else { return Some(module) };
        if module.defines.contains(name) {
            return Some(module);
        }
        let through = |used: &NamedPath| {
            let target = self.absolute(module, used)?;
            self.defining(&target, depth - 1)
        };
        if let Some(used) = module.uses.iter().find(|used| used.name() == name) {
            return through(used).or(Some(module));
        }
        let globs = module.uses.iter().filter(|used| used.name() == "*");
        let globbed = globs.filter_map(through).find(|source| source.defines.contains(name));
        globbed.or(Some(module))
    }
}

/// Re-exports of re-exports that are followed; more than any crate has, and an end to those that go in a circle.
const DEPTH_MAX: usize = 8;

/// The module of a file below `src/`.
fn module_of(path: &str) -> Vec<String> {
    let mut parts: Vec<_> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let head = parts.last().is_some_and(|last| last == "mod") || matches!(path, "lib.rs" | "main.rs");
    parts.truncate(parts.len() - usize::from(head));
    parts
}

/// The names of the items in this code, those within functions and inner modules included.
fn defines(code: &str) -> BTreeSet<String> {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut names = BTreeSet::new();
    let mut before = "";
    for word in words {
        let item = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];
        if item.contains(&before) {
            names.insert(word.to_owned());
        }
        before = word;
    }
    names
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A crate in crates/a/ of these files below src/.
    pub(crate) fn files(texts: &[(&str, &str)]) -> Vec<File> {
        let file =
            |(path, text): &(&str, &str)| File { path: format!("crates/a/src/{path}"), text: (*text).to_owned() };
        texts.iter().map(file).collect()
    }

    fn imports(texts: &[(&str, &str)]) -> Vec<String> {
        let short = |path: &str| path.trim_start_matches("crates/a/src/").to_owned();
        let found = Crate::read(&files(texts), "crates/a/src/").imports();
        found.iter().map(|((from, to), line)| format!("{} > {}:{line}", short(from), short(to))).collect()
    }

    #[test]
    fn each_form_of_an_import_is_found() {
        let found = imports(&[
            ("lib.rs", "mod a;\nmod b;\npub use b::Thing;\npub struct Own;\npub use crate::c::*;\n"),
            ("a.rs", "use crate::{Thing, b::c};\nfn f() { super::d::g(); crate::Own; crate::Star; }\n"),
            ("b/mod.rs", "mod c;\npub use self::c::Thing;\nmod inner { use super::c::Other; }\n"),
            ("b/c.rs", "pub struct Thing; use super::super::d as e;\n"),
            ("c.rs", "pub struct Star;\n"),
            ("d.rs", "//! See crate::a.\nuse other::b; const S: &str = \"crate::a::f\";\n"),
        ]);
        let wanted = [
            "a.rs > b/c.rs:1",
            "a.rs > c.rs:2",
            "a.rs > d.rs:2",
            "a.rs > lib.rs:2",
            "b/c.rs > d.rs:1",
            "b/mod.rs > b/c.rs:3",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn tests_may_look_anywhere() {
        let found = imports(&[
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod bench;\n"),
            ("a.rs", "#[cfg(test)]\nmod tests {\n    use crate::b::x; fn f() { if a { crate::b::y() } }\n}\n"),
            ("b.rs", "#[cfg(test)] use crate::a::z;\n#[cfg(test)]\nmod tests;\n"),
            ("b/tests.rs", "use crate::a::z;\n"),
            ("bench.rs", "use crate::a::z; use crate::b::z;\n"),
            ("bin/tool.rs", "use crate::a::z;\n"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
