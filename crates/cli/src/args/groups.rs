//! The groups of commands in `rackloom --help`, in one table that a test keeps complete.

use std::fmt::Write as _;

use clap::builder::styling::Styles;

/// The visible commands, under their headings.
pub(super) const GROUPS: [(&str, &[&str]); 5] = [
    ("The rack", &["up", "card", "nic", "key", "ls", "demo"]),
    ("Cards", &["info", "image", "load", "run", "mem", "rma", "stream", "comm"]),
    ("Sharing", &["manager", "top", "registry"]),
    ("Papers and benches", &["study", "bench"]),
    ("This machine", &["doctor", "completions", "man", "schema"]),
];

/// The heading of the global options.
pub(super) const EVERYWHERE: &str = "Everywhere";

/// The template of the program's help; clap by itself lists all commands under one heading.
pub(super) fn template(command: &clap::Command, styles: &Styles) -> String {
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut out = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        let _ = writeln!(out, "\n{header}{heading}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
            let _ = writeln!(out, "  {literal}{name:<width$}{literal:#}  {}", about.unwrap_or_default());
        }
    }
    let _ = write!(out, "\n{header}{EVERYWHERE}:{header:#}\n{{options}}{{after-help}}");
    out
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn each_command_is_in_one_group_and_in_its_order() {
        let command = crate::args::Cli::command();
        let visible: Vec<_> =
            command.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name).collect();
        let listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(visible, listed, "`Command` and `GROUPS` have the same commands in the same order");
    }

    #[test]
    fn help_lists_every_command_with_what_it_does() {
        let mut command = crate::args::command();
        let help = command.render_help().to_string();
        for (heading, names) in GROUPS {
            assert!(help.contains(&format!("\n{heading}:\n")), "{heading} in\n{help}");
            for name in names {
                let about = command.find_subcommand(name).unwrap().get_about().unwrap().to_string();
                let line = help.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
                assert!(line.is_some_and(|line| line.ends_with(&about)), "{name} in\n{help}");
            }
        }
        assert!(help.contains("--json") && help.contains("Try it without hardware:"), "{help}");
    }
}
