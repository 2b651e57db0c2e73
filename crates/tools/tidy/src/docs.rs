//! Pages of the documentation: all in the table of contents, no dead link.

use std::collections::BTreeSet;

use crate::Finding;
use crate::repo::File;

/// The folder of the book's pages.
const BOOK: &str = "docs/src/";
/// The book's table of contents.
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// Pages that the table of contents lacks, and relative links of any page that lead to no file of the repository or to
/// no heading of a page.
pub fn pages(files: &[File]) -> Vec<Finding> {
    let mut found = Vec::new();
    let pages: Vec<_> = files.iter().filter(|f| f.path.ends_with(".md")).collect();
    let mut listed = BTreeSet::new();
    for page in &pages {
        for (line, target) in links(&page.text) {
            let mut finding = |what: String, remedy| {
                found.push(Finding { file: page.path.clone(), line, what, remedy });
            };
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let Some(path) = resolve(&page.path, path) else {
                finding(format!("the link to {target} leaves the repository"), "name a file of the repository");
                continue;
            };
            if page.path == SUMMARY {
                listed.insert(path.clone());
            }
            let is_folder = files.iter().any(|f| f.path.starts_with(&format!("{path}/")));
            match files.iter().find(|f| f.path == path) {
                None if is_folder => {}
                None => finding(format!("the link to {target} leads to no file"), "correct it, or write the page"),
                Some(to) if heading.is_empty() || headings(&to.text).contains(heading) => {}
                Some(_) => finding(format!("the link to {target} leads to no heading"), "name a heading of that page"),
            }
        }
    }
    let missing = pages.iter().filter(|p| p.path.starts_with(BOOK) && p.path != SUMMARY && !listed.contains(&p.path));
    found.extend(missing.map(|p| Finding {
        file: p.path.clone(),
        line: 0,
        what: format!("it is not in {SUMMARY}"),
        remedy: "list it there: the book shows no other pages",
    }));
    found
}

/// Relative links `[text](target)` outside code, each with its line from 1.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, text) in outside_fences(text) {
        // Between backquotes stands code.
        let mut rest = text;
        let mut code = false;
        while let Some(at) = rest.find(['`', ']']) {
            let is_link = !code && rest[at..].starts_with("](");
            code ^= rest[at..].starts_with('`');
            rest = &rest[at + 1..];
            if let Some(end) = rest.find(')').filter(|_| is_link) {
                let target = rest[1..end].split(' ').next().unwrap_or_default();
                if !target.contains("://") && !target.starts_with("mailto:") {
                    found.push((line, target));
                }
                rest = &rest[end..];
            }
        }
    }
    found
}

/// The anchors that mdBook and forges give a page's headings.
fn headings(text: &str) -> BTreeSet<String> {
    let heading = |line: &str| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        Some(kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect())
    };
    outside_fences(text).filter_map(|(_, line)| heading(line)).collect()
}

/// Lines that are not in fenced blocks, each with its number. A fence ends at one as long as it.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = 0;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let line = line.trim_start();
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            0 if ticks >= 3 => fence = ticks,
            0 => return true,
            _ if ticks >= fence && line.len() == ticks => fence = 0,
            _ => {}
        }
        false
    })
}

/// The path, from the repository's root, of a link on a page; `None` if it leads out. An empty one means the page
/// itself.
fn resolve(page: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            ".." => _ = parts.pop()?,
            "." => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        pages(&files.iter().map(file).collect::<Vec<_>>()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere_are_right() {
        let good = found(&[
            (
                "README.md",
                "[a](docs/src/a/b.md#two-words), [c](crates/), [w](https://x.org/y) `[x](no.md)` [m](#me)\n# Me!\n",
            ),
            ("crates/x.rs", ""),
            ("docs/src/SUMMARY.md", "- [B](a/b.md)\n"),
            ("docs/src/a/b.md", "## Two `words`\n[up](../../../README.md)\n````text\n```\n[x](no.md)\n```\n````\n"),
        ]);
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn links_to_nowhere_and_unlisted_pages_are_found() {
        let bad = found(&[
            ("README.md", "fine\n[a](b.md) and [out](../x.md), [h](docs/src/c.md#no)\n"),
            ("docs/src/SUMMARY.md", "- [Gone](gone.md)\n"),
            ("docs/src/c.md", "# Yes\n"),
        ]);
        assert_eq!(bad.len(), 5, "{bad:?}");
        assert!(bad[0].starts_with("README.md:2: the link to b.md leads to no file"));
        assert!(bad[1].contains("leaves the repository"));
        assert!(bad[2].contains("leads to no heading"));
        assert!(bad[3].starts_with("docs/src/SUMMARY.md:1: the link to gone.md leads to no file"));
        assert!(bad[4].starts_with("docs/src/c.md: it is not in docs/src/SUMMARY.md"));
    }
}
