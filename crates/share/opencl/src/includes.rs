//! Files that a source includes, put in place of the directives that name them.
//!
//! A board's compiler runs in another process, mostly in another folder, and often on another node. So the library
//! finds the files as a compiler in this process would, reads them with the rights of the program, and sends one text.
//! Names that a macro makes are left to the board's compiler, as is what is not found.
//!
//! ```text
//! #include "a.h"   ->   #line 1 "/home/user/a.h"
//!                       ...
//!                       #line 2 "program.cl"
//! ```

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

/// Most files that a source may bring in, counted as often as they are included.
const FILES_MAX: usize = 1024;

/// Most bytes of a source with all that it brings in.
const BYTES_MAX: u64 = 16 << 20;

/// Files within files.
const DEPTH_MAX: usize = 64;

/// What a source is called in the compiler's messages once another file was named.
const SOURCE: &str = "program.cl";

/// Puts in place of each `#include` of a source the file that it names, looked for in the folder `here` and those that
/// `options` name. `ours` are names that have a text already. What would exceed the bounds is left.
pub fn expand<'a>(source: &'a str, options: &str, here: &Path, ours: &[&str]) -> Cow<'a, str> {
    if !source.contains("include") {
        return source.into(); // Nearly all of them.
    }
    let folders = folders(options).map(|folder| here.join(folder)).collect();
    let room = BYTES_MAX.saturating_sub(source.len() as u64);
    let mut expansion = Expansion { folders, ours, room, files: 0, once: Vec::new(), open: Vec::new() };
    let text = expansion.file(source, here, SOURCE);
    if expansion.files == 0 { source.into() } else { text.into() }
}

struct Expansion<'a> {
    /// Of `-I`, in their order, and then the program's own.
    folders: Vec<PathBuf>,
    ours: &'a [&'a str],
    /// Bytes left.
    room: u64,
    files: usize,
    /// Files that say `#pragma once`, each with a macro of its own.
    once: Vec<PathBuf>,
    /// Files that are being included.
    open: Vec<PathBuf>,
}

impl Expansion<'_> {
    /// The text of a file in a folder, with what it includes.
    fn file(&mut self, text: &str, folder: &Path, name: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut scanner = Scanner::default();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            match scanner.include(line).and_then(|included| self.included(included, folder)) {
                Some(included) => {
                    out += &included;
                    out += &format!("#line {} \"{name}\"\n", number + 2);
                }
                // The compiler sees one file, where this would be said of the source itself.
                None if name != SOURCE && is_once(line) => out.push('\n'),
                None => out += line,
            }
        }
        out
    }

    /// What to put in place of a directive, if the file is found and within the bounds.
    fn included(&mut self, Include { name, is_local }: Include<'_>, folder: &Path) -> Option<String> {
        if self.ours.contains(&name) || self.files >= FILES_MAX || self.open.len() >= DEPTH_MAX {
            return None;
        }
        let beside = is_local.then_some(folder);
        let places = beside.into_iter().chain(self.folders.iter().map(PathBuf::as_path));
        let (path, text) = places.map(|place| plain(&place.join(name))).find_map(|path| {
            let text = read(&path, self.room)?;
            Some((path, text))
        })?;
        let shown = path.to_str().filter(|path| !path.contains(['"', '\\', '\n']))?.to_owned();
        self.room -= text.len() as u64;
        self.files += 1;
        let once = text.lines().any(is_once).then(|| self.number_of(&path));
        let body = if self.open.contains(&path) {
            text // It has a guard, by which the compiler passes over it, or would include itself for ever.
        } else {
            let above = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
            self.open.push(path);
            let body = self.file(&text, &above, &shown);
            self.open.pop();
            body
        };
        let end = if body.ends_with('\n') { "" } else { "\n" };
        let whole = format!("#line 1 \"{shown}\"\n{body}{end}");
        Some(match once {
            Some(number) => {
                format!("#ifndef RACKLOOM_ONCE_{number}\n#define RACKLOOM_ONCE_{number}\n{whole}#endif\n")
            }
            None => whole,
        })
    }

    /// The number of a file that is to be included once.
    fn number_of(&mut self, path: &Path) -> usize {
        self.once.iter().position(|one| one == path).unwrap_or_else(|| {
            self.once.push(path.to_owned());
            self.once.len() - 1
        })
    }
}

/// The text of a file of the program's, if it has one and fits.
fn read(path: &Path, room: u64) -> Option<String> {
    // Else a pipe would hold the program up.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(room + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > room { None } else { Some(String::from_utf8_lossy(&bytes).into_owned()) }
}

/// A path without `.` and `..`, so that one file has one name. A folder that is a link is none of that.
fn plain(path: &Path) -> PathBuf {
    let has_links = || path.ancestors().skip(1).any(Path::is_symlink);
    if path.components().any(|part| part == Component::ParentDir) && has_links() {
        return path.canonicalize().unwrap_or_else(|_| path.to_owned());
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Whether a line keeps a file from being included twice.
fn is_once(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#').map(str::trim_start).and_then(|rest| rest.strip_prefix("pragma"));
    rest.is_some_and(|rest| rest.trim() == "once" && rest.starts_with([' ', '\t']))
}

/// The folders that options name for includes, and last the program's own.
fn folders(options: &str) -> impl Iterator<Item = String> {
    let mut words = words(options).into_iter();
    let named = std::iter::from_fn(move || {
        loop {
            match words.next()?.strip_prefix("-I") {
                None => {}
                Some("") => return words.next(),
                Some(folder) => return Some(folder.to_owned()),
            }
        }
    });
    named.chain([String::new()])
}

/// The words of options; blanks between quotes are part of a word.
fn words(options: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in options.chars() {
        match quote {
            Some(end) if letter == end => quote = None,
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// A file that a directive names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Include<'a> {
    name: &'a str,
    /// Between quotes: looked for beside the file that names it first.
    is_local: bool,
}

/// Finds directives, one line after the other.
#[derive(Debug, Default)]
struct Scanner {
    /// What the next line begins within.
    within: Within,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    /// A comment that has an end.
    Comment,
    /// A line that goes on.
    Line,
    /// A comment up to the line's end, which goes on.
    LineComment,
}

impl Scanner {
    /// The file that the next line of a text includes, if it does nothing else.
    fn include<'a>(&mut self, line: &'a str) -> Option<Include<'a>> {
        let line = line.trim_end_matches(['\n', '\r']);
        let before = self.within;
        self.within = end_of(line, before);
        if (before, self.within) != (Within::Nothing, Within::Nothing) {
            return None;
        }
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let is_local = rest.starts_with('"');
        let (name, after) = match rest.chars().next()? {
            '"' => rest[1..].split_once('"')?,
            '<' => rest[1..].split_once('>')?,
            _ => return None,
        };
        let after = after.trim();
        let is_all = after.is_empty() || after.starts_with("//") || after.starts_with("/*") && after.ends_with("*/");
        (is_all && !name.is_empty()).then_some(Include { name, is_local })
    }
}

/// What the line after this one begins within.
fn end_of(line: &str, begin: Within) -> Within {
    let goes_on = line.ends_with('\\');
    let mut in_comment = begin == Within::Comment;
    let mut rest = line;
    while !rest.is_empty() && begin != Within::LineComment {
        if in_comment {
            let Some((_, after)) = rest.split_once("*/") else { break };
            (rest, in_comment) = (after, false);
        } else if let Some(after) = rest.strip_prefix("/*") {
            (rest, in_comment) = (after, true);
        } else if rest.starts_with("//") {
            return if goes_on { Within::LineComment } else { Within::Nothing };
        } else if rest.starts_with(['"', '\'']) {
            rest = past_literal(rest);
        } else {
            let mut letters = rest.chars();
            letters.next();
            rest = letters.as_str();
        }
    }
    match (in_comment, goes_on) {
        (true, _) => Within::Comment,
        (false, true) if begin == Within::LineComment => begin,
        (false, true) => Within::Line,
        (false, false) => Within::Nothing,
    }
}

/// What follows a text or a letter between quotes, on the same line.
fn past_literal(text: &str) -> &str {
    let quote = &text[..1];
    let mut rest = &text[1..];
    while let Some(at) = rest.find(['\\', '"', '\'']) {
        let found = &rest[at..=at];
        let after = &rest[at + 1..];
        if found == quote {
            return after;
        }
        let mut letters = after.chars();
        if found == "\\" {
            letters.next();
        }
        rest = letters.as_str();
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    /// What is left of an expanded text without what is added: the folder's name, and directives about lines.
    fn bare(text: &str) -> String {
        text.lines().filter(|line| !line.starts_with("#line")).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn files_are_found_where_a_compiler_finds_them() {
        let files = [
            ("a.h", "a here\n"),
            ("inc/a.h", "a of inc\n"),
            ("inc/b.h", "#include \"c.h\"\n#include \"../up.h\"\n"),
            ("inc/c.h", "c beside b"),
            ("up.h", "above\n"),
            ("with blank/d.h", "d\n"),
        ];
        let folder = folder(&files);
        let expand = |source: &str, options: &str| bare(&expand(source, options, folder.path(), &[]));
        assert_eq!(expand("#include \"a.h\"\nend\n", "-Iinc"), "a here\nend\n");
        assert_eq!(expand(" # include <a.h> // it\nend\n", "-w -I inc -DX"), "a of inc\nend\n");
        assert_eq!(expand("#include <a.h>\r\n", ""), "a here\n");
        assert_eq!(expand("#include \"./a.h\" /* it */\n", ""), "a here\n");
        assert_eq!(expand("#include \"b.h\"\n", "-I./inc"), "c beside b\nabove\n");
        assert_eq!(expand("#include \"d.h\"\n", "-I \"with blank\""), "d\n");
        assert_eq!(expand("#include \"d.h\"\n", "-I\"with blank\""), "d\n");
        let absolute = folder.path().join("up.h").display().to_string();
        assert_eq!(expand(&format!("#include \"{absolute}\"\n"), ""), "above\n");
    }

    #[test]
    fn the_compiler_is_told_where_lines_come_from() {
        let folder = folder(&[("a.h", "one\ntwo")]);
        let path = folder.path().join("a.h");
        let text = expand("first\n#include \"a.h\"\nthird\n", "", folder.path(), &[]).into_owned();
        let wanted = format!("first\n#line 1 \"{}\"\none\ntwo\n#line 3 \"program.cl\"\nthird\n", path.display());
        assert_eq!(text, wanted);
    }

    #[test]
    fn what_is_no_directive_is_left() {
        let folder = folder(&[("a.h", "*/ a")]);
        let sources = [
            "/* \n#include \"a.h\"\n*/",
            "// a \\\n#include \"a.h\"\n",
            "#define X \\\n#include \"a.h\"\n",
            "#include \"a.h\" /*\n*/",
            "#include \"a.h\" and more\n",
            "#include X\n",
            "#include_next \"a.h\"\n",
            "#include \"\"\n",
            "#include \"none.h\"\n",
            "x = \"\\\"/*\"; /* \n#include \"a.h\"\n*/",
            "#include",
        ];
        for source in sources {
            assert!(matches!(expand(source, "-I", folder.path(), &[]), Cow::Borrowed(_)), "{source}");
        }
        for source in ["x = \"/*\";\n#include \"a.h\"", "// '/*\n#include \"a.h\"", "/* /* */\n#include \"a.h\""] {
            assert!(expand(source, "", folder.path(), &[]).contains("*/ a"), "{source}");
        }
        assert!(matches!(expand("#include \"a.h\"", "", folder.path(), &["a.h"]), Cow::Borrowed(_)), "a text of ours");
    }

    #[test]
    fn files_that_include_each_other_are_bounded() {
        let twice = "#include \"x.h\"\n#include \"x.h\"\n";
        let mut files: Vec<_> = (0..40).map(|n| (format!("{n}.h"), twice.replace('x', &(n + 1).to_string()))).collect();
        files.push(("self.h".to_owned(), "#ifndef S\n#define S\n#include \"self.h\"\ns\n#endif\n".to_owned()));
        files.push(("once.h".to_owned(), "#pragma once\no\n".to_owned()));
        files.push(("large.h".to_owned(), "x".repeat(BYTES_MAX as usize)));
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let folder = folder(&files);
        make_pipe(&folder.path().join("pipe"));
        let expand = |source: &str| expand(source, "", folder.path(), &[]).into_owned();
        assert_eq!(expand("#include \"0.h\"\n").matches("#line 1 ").count(), FILES_MAX);
        let own = |within: &str| format!("#ifndef S\n#define S\n{within}s\n#endif\n");
        assert_eq!(bare(&expand("#include \"self.h\"\n")), own(&own("#include \"self.h\"\n")));
        let once = "#ifndef RACKLOOM_ONCE_0\n#define RACKLOOM_ONCE_0\n\no\n#endif\n";
        assert_eq!(bare(&expand("#include \"once.h\"\n#include \"./once.h\"\n")), once.repeat(2));
        for left in ["#include \"large.h\"\n", "#include \"pipe\"\n", "#include \"/dev/zero\"\n", "#include \".\"\n"] {
            assert_eq!(expand(left), left);
        }
    }

    fn make_pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }
}
