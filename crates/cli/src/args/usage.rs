//! Wrong usage, as a failure like any other: what is wrong, why, and what to do.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::ErrorKind;

use crate::failure::Failure;

/// Whether `--json` is among the arguments, which may not parse. What follows `--` is not an option.
pub(crate) fn is_json(arguments: &[OsString]) -> bool {
    let options = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    options.map(|option| option.to_string_lossy()).any(|option| option == "--json" || option.starts_with("--json="))
}

/// An error of clap, in parts. Its text has paragraphs: the error, tips, the usage, and where to find more.
pub(crate) fn failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let (mut what, mut help) = match error.kind() {
        // Its text is the help of the command.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ("an argument is missing".to_owned(), Vec::new()),
        _ => first(paragraphs.next().unwrap_or_default()),
    };
    let cause = error.source().map(ToString::to_string);
    if let Some(head) = cause.as_ref().and_then(|cause| what.strip_suffix(&format!(": {cause}"))) {
        what = head.to_owned();
    }
    let rest: Vec<_> = paragraphs.flat_map(str::lines).map(str::trim).collect();
    help.extend(rest.iter().filter_map(|line| line.strip_prefix("tip: ")).map(str::to_owned));
    help.extend(rest.iter().filter_map(|line| line.strip_prefix("Usage: ")).map(|usage| format!("usage: {usage}")));
    if help.is_empty() {
        help.push("for more information, try '--help'".to_owned());
    }
    Failure { causes: cause.into_iter().collect(), ..Failure::new(what).help(help.join("; ")) }
}

/// The paragraph of the error: what is wrong, with the list of missing arguments, and the lists of valid values in
/// brackets.
fn first(paragraph: &str) -> (String, Vec<String>) {
    let mut lines = paragraph.lines().map(str::trim);
    let head = lines.next().unwrap_or_default();
    let (right, wrong): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with('['));
    let head = head.strip_prefix("error: ").unwrap_or(head);
    let what = if wrong.is_empty() { head.to_owned() } else { format!("{head} {}", wrong.join(", ")) };
    (what, right.into_iter().map(|line| line.trim_matches(['[', ']']).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn failing(line: &str) -> Failure {
        failure(&crate::args::parse(&arguments(line)).unwrap_err())
    }

    #[test]
    fn json_is_an_option_anywhere_but_after_two_dashes() {
        for line in ["rackloom --json", "rackloom nosuch -q --json", "rackloom ls --json=yes"] {
            assert!(is_json(&arguments(line)), "{line}");
        }
        for line in ["rackloom ls", "rackloom ls -- --json", "rackloom ls --jsonl", "--json ls"] {
            assert!(!is_json(&arguments(line)), "{line}");
        }
    }

    #[test]
    fn a_failure_says_what_is_wrong_why_and_what_to_do() {
        let f = failing("rackloom up --hotplug soon+1");
        assert_eq!(f.what, "invalid value 'soon+1' for '--hotplug <SCRIPT>'");
        assert!(f.causes[0].contains("TIME+N"), "{f:?}");
        let f = failing("rackloom lod");
        assert_eq!(f.what, "unrecognized subcommand 'lod'");
        let help = f.help.unwrap();
        assert!(help.contains("'load'") && help.ends_with("; usage: rackloom [OPTIONS] <COMMAND>"), "{help}");
        let f = failing("rackloom mem read card0");
        assert_eq!(f.what, "the following required arguments were not provided: <ADDR>, <LEN>");
        let f = failing("rackloom completions fisch");
        assert_eq!(f.what, "invalid value 'fisch' for '<SHELL>'");
        assert!(f.help.unwrap().starts_with("possible values: bash, elvish, fish"));
        let f = failing("rackloom card");
        assert_eq!(f.what, "an argument is missing");
        assert_eq!(f.help.as_deref(), Some("usage: rackloom card [OPTIONS] <COMMAND>"));
    }
}
