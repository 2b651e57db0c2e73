//! Phrases that our English does not use, each with what to write instead.
//!
//! Comments, strings and pages are checked alike, and a phrase is found across the end of a line, too.

use crate::Finding;
use crate::repo::File;

/// Phrases in lower case, and what to write instead.
const PHRASES: [(&str, &str); 22] = [
    ("hither", "write `here`"),
    ("thither", "write `there`"),
    ("is to be had", "write `is available`"),
    ("not to be had", "write `unavailable`, or what failed"),
    ("there is none of this name", "write `not found`"),
    ("there is none of that name", "write `not found`"),
    ("is no endpoint", "write `invalid endpoint`, and what is expected"),
    ("is no filter", "write `invalid filter`, and what is expected"),
    ("is no number", "write `invalid number`, and what is expected"),
    ("is told", "say who notifies, reports, answers or asks"),
    ("are told", "say who notifies, reports, answers or asks"),
    ("was told", "say who notified, reported, answered or asked"),
    ("ever more seldom", "write `with exponential backoff`, or `less and less often`"),
    ("more seldom", "write `less often`"),
    ("made into something else", "write `maps`, `converts`"),
    ("belongs into", "write `belongs in`"),
    ("belong into", "write `belong in`"),
    ("at one go", "write `at once`, `in one turn`"),
    ("is awaited", "write `waits for`"),
    ("gets nobody", "write `cannot`"),
    ("of which there is none", "write `unknown`, `missing`"),
    ("nobody's will", "write `accidental`"),
];

/// Files and folders that are rewritten at this moment, from the repository's root; to be emptied.
const LATER: [&str; 12] = [
    "README.md",
    "crates/core/card/",
    "crates/core/host/",
    "crates/core/wire/",
    "crates/share/manager/",
    "crates/share/opencl/",
    "crates/tools/protogen/",
    "docs/src/internals/",
    "docs/src/introduction.md",
    "docs/src/reference/protocol/",
    "gateware/",
    "protocol/",
];

/// Every use of such a phrase.
pub fn phrases(file: &File) -> Vec<Finding> {
    let known = [".rs", ".sv", ".c", ".h", ".go", ".py", ".md", ".toml", ".proto"];
    let checked = known.iter().any(|end| file.path.ends_with(end))
        && !LATER.iter().any(|path| file.path.starts_with(path))
        && file.path != "crates/tools/tidy/src/words.rs";
    if !checked || file.is_generated() {
        return Vec::new();
    }
    let (text, lines) = running(&file.text);
    let mut found: Vec<Finding> = Vec::new();
    for (phrase, remedy) in PHRASES {
        for (at, _) in text.match_indices(phrase).filter(|(at, _)| is_whole(&text, *at, phrase.len())) {
            let line = lines.partition_point(|first| *first <= at);
            // One finding where a phrase is a part of another.
            if !found.iter().any(|f| f.line == line && f.what.contains(phrase)) {
                found.push(Finding { file: file.path.clone(), line, what: format!("`{phrase}`"), remedy });
            }
        }
    }
    found
}

/// The text in lower case and in one line, without the marks of comments; and where in it each line begins.
fn running(text: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(out.len());
        let words = line.trim_start_matches(|c: char| c.is_whitespace() || "/!#*".contains(c));
        out.push_str(&words.trim_end_matches(|c: char| c.is_whitespace() || c == '\\').to_ascii_lowercase());
        out.push(' ');
    }
    (out, lines)
}

/// Whether these bytes are not a part of longer words.
fn is_whole(text: &str, at: usize, len: usize) -> bool {
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !in_word(text[..at].chars().next_back()) && !in_word(text[at + len..].chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        phrases(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn phrases_are_found_in_comments_and_strings_and_across_lines() {
        let bad = "//! Fine.\n/// The handler is\n/// told of it.\nlet s = \"`x` Is No Endpoint\";\nlet t = \"ever more \\\n seldom\";\n";
        let found = found("crates/a/src/b.rs", bad);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/b.rs:4: `is no endpoint`: write `invalid endpoint`"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/b.rs:2: `is told`"), "{found:?}");
        assert!(found[2].starts_with("crates/a/src/b.rs:5: `ever more seldom`"), "{found:?}");
    }

    #[test]
    fn parts_of_words_other_files_and_those_of_others_are_let_be() {
        assert_eq!(found("a.rs", "// This toldo. Whithersoever.\n"), [""; 0]);
        assert_eq!(found("a.svg", "hither\n"), [""; 0]);
        assert_eq!(found("a.pb.go", "// Code generated by x. DO NOT EDIT.\n// hither\n"), [""; 0]);
        assert_eq!(found("gateware/a.sv", "// hither\n"), [""; 0]);
        assert_eq!(found("a.go", "// hither\n").len(), 1);
    }
}
