//! As much of Rust as the rules have to understand: comments, strings, paths.

/// The text with comments, strings and character literals blanked, each line in its place.
pub fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let before = out.chars().next_back();
        let skip = literal(rest, before);
        if skip == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(rest[..skip].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[skip..];
        }
    }
    out
}

/// Bytes of the comment or literal that `rest` begins with; 0 if it begins with code.
fn literal(rest: &str, before: Option<char>) -> usize {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if let Some(string) = rest.strip_prefix('"') {
        return 1 + until_quote(string, '"');
    }
    if rest.starts_with('\'') {
        return character(rest);
    }
    // r"..", r#".."#, br"..": the prefixes of b"" and c"" need no rule, since the quote begins a string anyway.
    let hashes = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r')).filter(|_| !in_word);
    if let Some(after) = hashes {
        let count = after.len() - after.trim_start_matches('#').len();
        if after[count..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(count));
            let open = rest.len() - after.len() + count + 1;
            return rest[open..].find(&end).map_or(rest.len(), |at| open + at + end.len());
        }
    }
    0
}

/// Bytes of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Bytes up to and with the closing quote.
fn until_quote(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

/// Bytes of a character literal; 0 for a lifetime or label.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => 1 + until_quote(&rest[1..], '\''),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// Code, as [`code_only`] leaves it, with each item under `cfg(test)` blanked; and the names of the modules among them
/// that are files of their own.
pub fn without_tests(code: &str) -> (String, Vec<String>) {
    let mut out = String::with_capacity(code.len());
    let mut modules = Vec::new();
    let mut rest = code;
    while let Some(at) = ["#[cfg(test)]", "#[cfg(all(test"].iter().filter_map(|mark| rest.find(mark)).min() {
        out += &rest[..at];
        let item = &rest[at..at + item_len(&rest[at..])];
        let words: Vec<_> = tokens(item).into_iter().map(|token| token.1).collect();
        if let [.., "mod", name, ";"] = words[..] {
            modules.push(name.to_owned());
        }
        out.extend(item.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[at + item.len()..];
    }
    (out + rest, modules)
}

/// Bytes of the item that `code` begins with, its attributes included.
fn item_len(code: &str) -> usize {
    let mut rest = code.trim_start();
    while rest.starts_with('#') {
        rest = rest[balanced(rest)..].trim_start();
    }
    let first = code.len() - rest.len();
    let is_item = ITEMS.iter().any(|item| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next() == Some(item));
    let mut depth = 0usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return first + at, // Of what surrounds a field or an arm.
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (matches!(c, ';' | '}') || c == ',' && !is_item) {
            return first + at + 1;
        }
    }
    code.len()
}

/// First words of items, whose commas at the outside stand between generic arguments.
const ITEMS: [&str; 14] = [
    "pub", "fn", "impl", "mod", "use", "struct", "enum", "trait", "const", "static", "type", "unsafe", "async",
    "extern",
];

/// Bytes up to and with the bracket that closes the first one.
fn balanced(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// A path as code names it, such as `std::net::TcpStream` or `std::*`, with use trees spread out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath {
    /// Its line, from 1.
    pub line: usize,
    /// Its segments; a glob is `*`.
    pub segments: Vec<String>,
    /// The modules within the file that it stands in, outermost first.
    pub within: Vec<String>,
    /// It stands in a `use`.
    pub imported: bool,
    /// That `use` is public, in the crate at least.
    pub public: bool,
    /// The name that `as` gives it.
    pub alias: Option<String>,
}

impl NamedPath {
    /// The name by which a `use` brings it into scope; a glob's is `*`.
    pub fn name(&self) -> &str {
        let last = self.segments.iter().rfind(|segment| *segment != "self").map_or("self", String::as_str);
        self.alias.as_deref().unwrap_or(last)
    }
}

/// Every path of two or more segments in this code, and all that `use` names.
pub fn paths(text: &str) -> Vec<NamedPath> {
    let code = code_only(text);
    let tokens = tokens(&code);
    let mut found: Vec<NamedPath> = Vec::new();
    let mut at = 0;
    let mut depth = 0;
    let mut modules: Vec<(usize, String)> = Vec::new();
    while at < tokens.len() {
        let first = found.len();
        if tokens[at].1 == "use" {
            let public = is_public(&tokens[..at]);
            at = use_tree(&tokens, at + 1, &mut Vec::new(), &mut found);
            found[first..].iter_mut().for_each(|path| path.public = public);
        } else if is_word(tokens[at].1) {
            let line = tokens[at].0;
            if let ("mod", Some((_, name)), Some((_, "{"))) = (tokens[at].1, tokens.get(at + 1), tokens.get(at + 2)) {
                modules.push((depth + 1, (*name).to_owned()));
            }
            let mut segments = vec![tokens[at].1.to_owned()];
            while at + 2 < tokens.len() && tokens[at + 1].1 == "::" && is_word(tokens[at + 2].1) {
                segments.push(tokens[at + 2].1.to_owned());
                at += 2;
            }
            if segments.len() > 1 {
                found.push(NamedPath {
                    line,
                    segments,
                    imported: false,
                    public: false,
                    alias: None,
                    within: Vec::new(),
                });
            }
            at += 1;
        } else {
            match tokens[at].1 {
                "{" => depth += 1,
                "}" => {
                    modules.retain(|(opened, _)| *opened < depth);
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            at += 1;
        }
        for path in &mut found[first..] {
            path.within = modules.iter().map(|(_, name)| name.clone()).collect();
        }
    }
    found
}

/// Whether these tokens end with `pub` or `pub(..)`.
fn is_public(before: &[(usize, &str)]) -> bool {
    let end = match before.last() {
        Some((_, ")")) => before.iter().rposition(|token| token.1 == "(").unwrap_or(0),
        _ => before.len(),
    };
    end > 0 && before[end - 1].1 == "pub"
}

/// Reads one use tree from `at`; gives where it ends: at `;`, `,`, `}` or the end.
fn use_tree(tokens: &[(usize, &str)], mut at: usize, stem: &mut Vec<String>, found: &mut Vec<NamedPath>) -> usize {
    let depth = stem.len();
    let mut group = false;
    while let Some((line, token)) = tokens.get(at).copied() {
        match token {
            "::" => {}
            "{" => {
                group = true;
                at += 1;
                while tokens.get(at).is_some_and(|t| t.1 != "}") {
                    at = use_tree(tokens, at, stem, found);
                    at += usize::from(tokens.get(at).is_some_and(|t| t.1 == ","));
                }
            }
            "as" => {
                at += 1;
                let alias = tokens.get(at).map(|token| token.1.to_owned());
                if let Some(path) = found.last_mut() {
                    path.alias = alias;
                }
            }
            _ if token == "*" || is_word(token) => stem.push(token.to_owned()),
            _ => break,
        }
        // What a name without a group behind it stands for is known when the next token ends it.
        let next = tokens.get(at + 1).map_or(";", |t| t.1);
        if !group && matches!(next, ";" | "," | "}" | "as") && (token == "*" || is_word(token)) && token != "as" {
            let segments = stem.clone();
            found.push(NamedPath { line, segments, imported: true, public: false, alias: None, within: Vec::new() });
        }
        at += 1;
    }
    stem.truncate(depth);
    at
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Words, `::` and single other characters, with their lines.
fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut line = 1;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("::") {
            2
        } else if is_word(rest) {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            c.len_utf8()
        };
        if c == '\n' {
            line += 1;
        } else if !c.is_whitespace() {
            out.push((line, &rest[..length]));
        }
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_code_stays() {
        let cases = [
            ("a // b", "a     "),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("f(\"x\\\"y\") + 'c' + '\\'' + b", "f(      ) +     +      + b"),
            ("r#\"a\"b\"# c", "         c"),
            ("let for_r = br\"\\\"; x", "let for_r =      ; x"),
            ("fn a<'b>(x: &'b u8) {}", "fn a<'b>(x: &'b u8) {}"),
            ("\"a\nb\" c", "  \n   c"),
            ("var\"s\"", "var   "),
        ];
        for (text, wanted) in cases {
            assert_eq!(code_only(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn items_for_tests_are_blanked() {
        let cases = [
            ("a; #[cfg(test)] mod tests { fn f() { x } } b", "a;                                           b", &[][..]),
            ("#[cfg(test)]\nmod bench;\nb", "            \n          \nb", &["bench"]),
            ("#[cfg(test)] #[x] use a::{b, c}; d", "                                 ; d", &[]),
            ("S { #[cfg(test)] a: b, c: d }", "S {                    c: d }", &[]),
            (
                "#[cfg(all(test, x))] fn f<A, B>(a: [u8; 2]) {} g",
                "                                              g",
                &[],
            ),
        ];
        for (code, wanted, modules) in cases {
            let (blanked, found) = without_tests(code);
            assert_eq!(
                (blanked.split_whitespace().collect::<Vec<_>>(), found.as_slice()),
                (wanted.split_whitespace().collect(), &modules.iter().map(|m| (*m).to_owned()).collect::<Vec<_>>()[..]),
                "{code}"
            );
            assert_eq!(blanked.len(), code.len(), "{code}");
        }
    }

    #[test]
    fn a_use_knows_its_name_and_who_may_see_it() {
        let found = paths("use a::b as c; pub use d::{e, f::self}; pub(crate) use g::*; fn h() { i::j(); } use k::l;");
        let found: Vec<_> = found.iter().map(|p| (p.name(), p.public)).collect();
        let wanted = [("c", false), ("e", true), ("f", true), ("*", true), ("j", false), ("l", false)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn use_trees_are_spread_out() {
        let text =
            "use std::{fs, net::{self, TcpStream as T}, time::*};\nuse tokio;\npub use a::b as c;\nlet x = d::e(f);";
        let found: Vec<_> = paths(text).iter().map(|p| (p.line, p.segments.join("::"), p.imported)).collect();
        let wanted = [
            (1, "std::fs", true),
            (1, "std::net::self", true),
            (1, "std::net::TcpStream", true),
            (1, "std::time::*", true),
            (2, "tokio", true),
            (3, "a::b", true),
            (4, "d::e", false),
        ];
        assert_eq!(found, wanted.map(|(line, path, imported)| (line, path.to_owned(), imported)));
    }
}
