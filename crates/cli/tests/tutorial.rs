//! The documentation's commands, run as they are written.
//!
//! A block fenced as `console` is a session: a line that begins with `$ ` is a command, lines that begin with `> `
//! continue it, and what follows is what it prints to stdout. `...` stands for any text, alone on a line for any lines.
//! Commands end with 0; the last one of a block fenced as `console exit=N` ends with N. All blocks of a page run in one
//! shell.

mod common;

#[path = "tutorial/page.rs"]
mod page;
#[path = "tutorial/shell.rs"]
mod shell;

use std::path::{Path, PathBuf};

use page::Step;
use shell::Shell;

/// Runs the sessions of a page; it must have at least this many commands, or it would prove little.
fn works(page: &str, commands: usize) {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let steps = page::steps(&text);
    assert!(steps.len() >= commands, "{page} has only {} commands", steps.len());
    let mut shell = Shell::start(&root());
    for step in &steps {
        if let Err(why) = shell.run(step) {
            panic!("{page}:{}: $ {}\n{why}", step.line, step.command);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_tutorial_works() {
    works("docs/src/start/tutorial.md", 20);
}

#[test]
fn the_readme_works() {
    works("README.md", 4);
}

#[test]
fn the_guide_to_roles_works() {
    works("docs/src/guides/write-a-role.md", 8);
}

#[test]
fn what_a_command_does_wrong_is_seen() {
    let mut shell = Shell::start(&root());
    let mut run = |session: &str| {
        let steps = page::steps(session);
        steps.iter().try_for_each(|step: &Step| shell.run(step))
    };
    run("```console\n$ echo one; x=two\none\n$ echo \\\n> $x\n...o\n```\n").unwrap();
    run("```console exit=3\n$ (sleep 0.2; echo late) &\nlate\n$ (exit 3)\n```\n").unwrap();
    assert!(run("```console\n$ echo two\none\n```\n").unwrap_err().contains("two"));
    assert!(run("```console\n$ echo said and not shown\n```\n").is_err());
    assert!(run("```console\n$ false\n```\n").unwrap_err().contains("ended with 1"));
    assert!(run("```console exit=1\n$ true\n```\n").is_err());
    assert!(run("```console exit=2\n$ rackloom ls\n```\n").is_ok(), "nobody serves the segment of this shell");
}
