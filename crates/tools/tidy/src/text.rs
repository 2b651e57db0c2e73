//! Rules for text: white space, lengths, what must not be left behind.

use crate::Finding;
use crate::repo::File;
use crate::rust::code_only;

/// Most columns of a line of Rust (as in rustfmt.toml), SystemVerilog, Python, Go and protocol buffers; the formatters
/// do not break comments.
/// Lines with a string, or of a table in a doc comment, are let pass: breaking those makes them harder to read and to
/// search for.
const COLUMNS_MAX: usize = 120;

/// Most lines of a file in crates/, gateware/ and cloud/. Above half of it, ask what the second noun is.
const LINES_MAX: usize = 700;

/// Most lines of a Rust file.
const LINES_MAX_RUST: usize = 500;

/// As many of SystemVerilog, where each port of an instance takes a line.
const LINES_MAX_SV: usize = 1000;

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

/// Lines fit the screen.
pub fn columns(file: &File) -> Vec<Finding> {
    let known =
        [".rs", ".sv", ".py", ".go", ".proto"].iter().any(|end| file.path.ends_with(end)) && !file.is_generated();
    let unbreakable = |text: &str| text.contains('"') || text.ends_with('\\') || text.trim_start().starts_with("//! |");
    let lines = (1..).zip(file.text.lines()).filter(|(_, text)| known && !unbreakable(text));
    let long = lines.map(|(line, text)| (line, text.chars().count())).filter(|(_, columns)| *columns > COLUMNS_MAX);
    long.map(|(line, columns)| {
        finding(file, line, &format!("{columns} columns, and {COLUMNS_MAX} are the most"), "break the line")
    })
    .collect()
}

/// Files in crates/, gateware/ and cloud/ have one noun each.
pub fn lines(file: &File) -> Vec<Finding> {
    let count = file.text.lines().count();
    let ends = [".rs", ".sv", ".lua", ".sh", ".py", ".c", ".h", ".html", ".css", ".js", ".go"];
    let code = ends.iter().any(|e| file.path.ends_with(e));
    let ours = ["crates/", "gateware/", "cloud/"].iter().any(|folder| file.path.starts_with(folder));
    let most = match file.path.rsplit('.').next() {
        Some("sv") => LINES_MAX_SV,
        Some("rs") => LINES_MAX_RUST,
        _ => LINES_MAX,
    };
    if count <= most || !code || !ours || file.is_generated() {
        return Vec::new();
    }
    let what = format!("{count} lines, and {most} are the most");
    vec![finding(file, 0, &what, "find its second noun and give that a file of its own")]
}

/// A file of code begins with what it is and why: `//!` of Rust, `//` of SystemVerilog, a docstring of Python.
pub fn module_doc(file: &File) -> Vec<Finding> {
    let rules = [
        (".rs", "//!", "begin with `//!`: what this is, and why"),
        (".sv", "// ", "begin with `// `: what this is, and why"),
        (".py", "\"\"\"", "begin with a docstring: what this is, and why"),
    ];
    let code =
        file.text.strip_prefix("#!").and_then(|text| text.split_once('\n')).map_or(&*file.text, |(_, rest)| rest);
    match rules.iter().find(|(end, ..)| file.path.ends_with(end)) {
        Some((_, doc, remedy)) if !code.trim_start().starts_with(doc) => {
            vec![finding(file, 1, "no module doc", remedy)]
        }
        _ => Vec::new(),
    }
}

/// A file of SystemVerilog holds one module or package, of the file's name: tools find it by that. What stands in for
/// another module in a proof bears that one's name.
pub fn module_name(file: &File) -> Vec<Finding> {
    if file.path.starts_with("gateware/formal/") {
        return Vec::new();
    }
    let Some(stem) = file.path.strip_suffix(".sv").map(|path| path.rsplit('/').next().unwrap_or_default()) else {
        return Vec::new();
    };
    let mut names = (1..).zip(file.text.lines()).filter_map(|(line, text)| {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.next().filter(|word| matches!(*word, "module" | "package" | "interface"))?;
        words.next().map(|name| (line, name))
    });
    let remedy = "one file, one module or package, of its name";
    match (names.next(), names.next()) {
        (Some((_, name)), None) if name == stem => Vec::new(),
        (Some((line, name)), None) => vec![finding(file, line, &format!("it is called `{name}`"), remedy)],
        (Some(_), Some((line, name))) => vec![finding(file, line, &format!("a second one, `{name}`"), remedy)],
        (None, _) => vec![finding(file, 0, "no module or package", remedy)],
    }
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
        assert_eq!(places(&columns(&file("a.sv", &line))), [1]);
        assert_eq!(places(&columns(&file("a.go", &line))), [1]);
        assert_eq!(
            places(&columns(&file("a.pb.go", &format!("// X.\n\n\n// Code generated by x. DO NOT EDIT.\n{line}")))),
            [0usize; 0]
        );
        let long = "//! x\n".repeat(701);
        let short = "//! x\n".repeat(500);
        assert_eq!(lines(&file("crates/a/src/b.rs", &format!("{short}//! y\n"))).len(), 1);
        assert_eq!(lines(&file("gateware/rtl/a/b.sv", &long)).len(), 0);
        assert_eq!(lines(&file("gateware/rtl/a/b.sv", &long.repeat(2))).len(), 1);
        assert_eq!(lines(&file("gateware/a/b.py", &long)).len(), 1);
        assert_eq!(lines(&file("cloud/a/b.go", &long)).len(), 1);
        assert_eq!(lines(&file("crates/a/src/b.rs", &short)).len(), 0);
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
        assert_eq!(module_doc(&file("a.sv", "module a;\n")).len(), 1);
        assert_eq!(module_doc(&file("a.sv", "// A.\nmodule a;\n")).len(), 0);
        assert_eq!(module_doc(&file("a.py", "#!/usr/bin/env python3\nimport os\n")).len(), 1);
        assert_eq!(module_doc(&file("a.py", "#!/usr/bin/env python3\n\"\"\"A.\"\"\"\n")).len(), 0);
    }

    #[test]
    fn a_file_of_systemverilog_is_named_after_its_module() {
        let name = |text: &str| module_name(&file("gateware/rl_a.sv", text));
        assert_eq!(name("// A.\nmodule rl_a #(\nendmodule\n").len(), 0);
        assert_eq!(name("// A.\npackage rl_a;\nendpackage\n").len(), 0);
        assert_eq!(places(&name("// A.\nmodule rl_b (\nendmodule\n")), [2]);
        assert_eq!(places(&name("module rl_a;\nendmodule\nmodule rl_b;\nendmodule\n")), [3]);
        assert_eq!(places(&name("// module rl_a\n")), [0]);
        assert_eq!(module_name(&file("a.rs", "module b")).len(), 0);
    }

    #[test]
    fn leftovers_are_found_in_code_and_not_in_text() {
        let text = "//! todo!() here\nfn a() { todo!() }\nlet s = \"dbg!(x)\";\n#[ignore]\n/* dbg!(1) */ dbg!(2);\n";
        assert_eq!(places(&leftovers(&file("a.rs", text))), [2, 4, 5]);
        assert_eq!(places(&leftovers(&file("a.md", text))), [0usize; 0]);
    }
}
