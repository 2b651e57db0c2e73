//! Sessions in a page of Markdown, and the comparison of their output with what the page shows.

/// A command, and what it must print.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its line on the page, from 1.
    pub(crate) line: usize,
    pub(crate) command: String,
    pub(crate) shown: Vec<String>,
    pub(crate) exit: i32,
}

impl Step {
    /// True if it runs in the background of the next commands.
    pub(crate) fn is_background(&self) -> bool {
        self.command.ends_with('&')
    }
}

/// All commands of a page, in order.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = None;
    for (line, text) in (1..).zip(text.lines()) {
        match (&inside, text.strip_prefix("```")) {
            (None, Some(info)) => inside = Some((info, steps.len())),
            (Some((info, first)), Some(_)) => {
                if let Some(exit) = info.strip_prefix("console exit=") {
                    assert!(steps.len() > *first, "line {line}: a session without a command");
                    steps.last_mut().expect("just seen").exit = exit.parse().expect("a number");
                }
                inside = None;
            }
            (Some((info, first)), None) if info.split(' ').next() == Some("console") => {
                let last = steps.len() > *first;
                if let Some(command) = text.strip_prefix("$ ") {
                    steps.push(Step { line, command: command.to_owned(), shown: Vec::new(), exit: 0 });
                } else if let Some(step) = steps.last_mut().filter(|_| last) {
                    match text.strip_prefix('>').filter(|_| step.shown.is_empty()) {
                        Some(more) => {
                            step.command.push('\n');
                            step.command.push_str(more.strip_prefix(' ').unwrap_or(more));
                        }
                        None => step.shown.push(text.to_owned()),
                    }
                } else {
                    panic!("line {line}: a session begins with `$ `");
                }
            }
            _ => {}
        }
    }
    steps
}

/// Whether the printed lines match those shown.
pub(crate) fn is_as_shown(shown: &[String], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "..." => {
            (0..=printed.len()).any(|skipped| is_as_shown(rest, &printed[skipped..]))
        }
        (Some((pattern, rest)), Some((line, printed))) => {
            is_line(pattern.trim_end(), line.trim_end()) && is_as_shown(rest, printed)
        }
        _ => false,
    }
}

fn is_line(pattern: &str, line: &str) -> bool {
    let Some((head, tail)) = pattern.split_once("...") else { return pattern == line };
    let Some(rest) = line.strip_prefix(head) else { return false };
    tail.is_empty() || (0..=rest.len()).any(|at| rest.is_char_boundary(at) && is_line(tail, &rest[at..]))
}

#[test]
fn commands_continuations_and_output_are_distinguished() {
    let text = "```sh\n$ no\n```\n```console exit=2\n$ a <<E\n> b\n>\n> E\nout\n> out\n$ c &\n```\n$ no\n";
    let found = steps(text);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].line, found[0].command.as_str(), found[0].exit), (5, "a <<E\nb\n\nE", 0));
    assert_eq!(found[0].shown, ["out", "> out"]);
    assert!(found[1].is_background() && found[1].exit == 2);
}

#[test]
fn dots_stand_for_text_and_for_lines() {
    let fits = |shown: &[&str], printed: &[&str]| {
        let shown: Vec<_> = shown.iter().map(|s| (*s).to_owned()).collect();
        is_as_shown(&shown, printed)
    };
    assert!(fits(&["a ... c", "...", "z"], &["a b b c", "1", "2", "z  "]));
    assert!(fits(&["...", "z"], &["z"]));
    assert!(!fits(&["a ... c"], &["a b d"]));
    assert!(!fits(&["a"], &["a", "b"]));
    assert!(!fits(&["a", "b"], &["a"]));
    assert!(!fits(&[], &["a"]));
}
