//! Rules for text: white space, lengths, what must not be left behind.

use crate::Finding;
use crate::repo::File;
use crate::rust::code_only;

/// Most columns of a line of Rust, as in rustfmt.toml; rustfmt does not break comments. Lines with a string, or of a
/// table in a doc comment, are let pass: breaking those makes them harder to read and to search for.
const COLUMNS_MAX: usize = 120;

/// Most lines of a file in crates/. Above half of it, ask what the second noun is.
const LINES_MAX: usize = 700;

/// What says that something is not finished or was left behind, and what to do instead.
const LEFTOVERS: [(&str, &str); 4] = [
    ("todo!(", "write it, or take away what calls it"),
    ("unimplemented!(", "write it, or make the case impossible by types"),
    ("dbg!(", "take it away"),
    ("#[ignore", "make the test fast and sure enough to run always, or remove it"),
];

/// No tabs and no white space at the ends of lines.
pub fn white_space(file: &File) -> Vec<Finding> {
    // Make and Go want tabs.
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let tabs = name == "Makefile" || name.starts_with("go.") || [".mk", ".go"].iter().any(|end| name.ends_with(end));
    let mut found = Vec::new();
    for (line, text) in (1..).zip(file.text.lines()) {
        if !tabs && text.contains('\t') {
            found.push(finding(file, line, "a tab", "use spaces"));
        }
        if text.ends_with([' ', '\t']) {
            found.push(finding(file, line, "white space at the end of the line", "take it away"));
        }
    }
    found
}

/// Lines of Rust fit the screen.
pub fn columns(file: &File) -> Vec<Finding> {
    let unbreakable = |text: &str| text.contains('"') || text.ends_with('\\') || text.trim_start().starts_with("//! |");
    let lines = (1..).zip(file.text.lines()).filter(|(_, text)| file.is_rust() && !unbreakable(text));
    let long = lines.map(|(line, text)| (line, text.chars().count())).filter(|(_, columns)| *columns > COLUMNS_MAX);
    long.map(|(line, columns)| {
        finding(file, line, &format!("{columns} columns, and {COLUMNS_MAX} are the most"), "break the line")
    })
    .collect()
}

/// Files in crates/ have one noun each.
pub fn lines(file: &File) -> Vec<Finding> {
    let count = file.text.lines().count();
    let code = [".rs", ".lua", ".sh", ".py", ".c", ".h", ".html", ".css", ".js"].iter().any(|e| file.path.ends_with(e));
    if count <= LINES_MAX || !code || !file.path.starts_with("crates/") || file.is_generated() {
        return Vec::new();
    }
    let what = format!("{count} lines, and {LINES_MAX} are the most");
    vec![finding(file, 0, &what, "find its second noun and give that a file of its own")]
}

/// A module of Rust begins with what it is and why.
pub fn module_doc(file: &File) -> Vec<Finding> {
    if !file.is_rust() || file.text.trim_start().starts_with("//!") {
        return Vec::new();
    }
    vec![finding(file, 1, "no module doc", "begin with `//!`: what this is, and why")]
}

/// Nothing unfinished, no debugging aids, no test that does not run.
pub fn leftovers(file: &File) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (line, code) in (1..).zip(code_only(&file.text).lines()) {
        for (left, remedy) in LEFTOVERS {
            if code.contains(left) {
                found.push(finding(file, line, &format!("`{left}`"), remedy));
            }
        }
    }
    found
}

fn finding(file: &File, line: usize, what: &str, remedy: &'static str) -> Finding {
    Finding { file: file.path.clone(), line, what: what.to_owned(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn places(found: &[Finding]) -> Vec<usize> {
        found.iter().map(|f| f.line).collect()
    }

    #[test]
    fn tabs_and_trailing_blanks_are_found_where_they_do_not_belong() {
        assert_eq!(places(&white_space(&file("a.md", "ok\na\tb\nend \n"))), [2, 3]);
        assert_eq!(places(&white_space(&file("x/Makefile", "all:\n\techo\n\techo \n"))), [3]);
        assert_eq!(places(&white_space(&file("x/y.go", "\treturn\n"))), [0usize; 0]);
        let all = white_space(&file("a.md", "a\tb\n"));
        assert_eq!(all[0].to_string(), "a.md:1: a tab: use spaces");
    }

    #[test]
    fn long_lines_and_long_files_are_found() {
        let line = "x".repeat(121);
        assert_eq!(places(&columns(&file("a.rs", &format!("//! x\n{line}\n")))), [2]);
        assert_eq!(places(&columns(&file("a.rs", &line[1..]))), [0usize; 0]);
        assert_eq!(places(&columns(&file("a.md", &line))), [0usize; 0]);
        let long = "//! x\n".repeat(701);
        assert_eq!(lines(&file("crates/a/src/b.rs", &long)).len(), 1);
        assert_eq!(lines(&file("crates/a/src/b.rs", &long[6..])).len(), 0);
        assert_eq!(lines(&file("docs/b.rs", &long)).len(), 0);
        let made = format!("//! x\n//! Made from protocol/protocol.toml by y.\n{long}");
        assert_eq!(lines(&file("crates/a/src/b.rs", &made)).len(), 0);
    }

    #[test]
    fn a_module_without_a_doc_is_found() {
        assert_eq!(module_doc(&file("a.rs", "use x;\n")).len(), 1);
        assert_eq!(module_doc(&file("a.rs", "")).len(), 1);
        assert_eq!(module_doc(&file("a.rs", "\n//! Why.\n")).len(), 0);
        assert_eq!(module_doc(&file("a.toml", "x = 1\n")).len(), 0);
    }

    #[test]
    fn leftovers_are_found_in_code_and_not_in_text() {
        let text = "//! todo!() here\nfn a() { todo!() }\nlet s = \"dbg!(x)\";\n#[ignore]\n/* dbg!(1) */ dbg!(2);\n";
        assert_eq!(places(&leftovers(&file("a.rs", text))), [2, 4, 5]);
        assert_eq!(places(&leftovers(&file("a.md", text))), [0usize; 0]);
    }
}
