//! The only way to the terminal: results go to stdout, messages and progress to stderr.

mod progress;
mod steps;

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use serde::Serialize;

pub(crate) use self::progress::{Amount, Progress};
pub(crate) use self::steps::Steps;
use crate::args::Global;
use crate::failure::Failure;

/// What the user wants to see, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    json: bool,
    quiet: bool,
    live: bool,
}

impl Ui {
    /// For errors in the options themselves, if --json is among them.
    pub(crate) const JSON: Self = Self { json: true, quiet: true, live: false };

    pub(crate) fn new(global: &Global) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        Self { json: global.json, quiet: global.quiet, live: stderr().is_terminal() && !dumb }
    }

    /// Whether results go to a terminal whose screen can be redrawn.
    pub(crate) fn is_screen(self) -> bool {
        !self.json && self.live && stdout().is_terminal()
    }

    /// Prints a result: as JSON if that was asked for, else as text.
    pub(crate) fn result(self, value: &impl Serialize, text: impl FnOnce() -> String) {
        if self.json { self.json(value) } else { self.text(text()) }
    }

    /// Prints a value as JSON on one line.
    pub(crate) fn json(self, value: &impl Serialize) {
        self.text(serde_json::to_string(value).expect("reports have string keys"));
    }

    /// Prints text that is a result.
    pub(crate) fn text(self, text: impl Display) {
        let text = text.to_string();
        self.bytes(text.as_bytes());
        if !text.is_empty() && !text.ends_with('\n') {
            self.bytes(b"\n");
        }
    }

    /// Writes bytes that are a result.
    pub(crate) fn bytes(self, bytes: &[u8]) {
        let mut out = stdout().lock();
        if let Err(e) = out.write_all(bytes).and_then(|()| out.flush()) {
            // It is not an error if the reader stops early; any other error of stdout has no reader.
            std::process::exit(if e.kind() == ErrorKind::BrokenPipe { 0 } else { 2 });
        }
    }

    /// Prints what is going on.
    pub(crate) fn say(self, text: impl Display) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    /// Prints a warning.
    pub(crate) fn warn(self, text: impl Display) {
        let _ = writeln!(anstream::stderr(), "\x1b[1;33mwarning\x1b[0m: {text}");
    }

    /// Prints an error in its three parts, and as JSON too if that was asked for.
    pub(crate) fn error(self, failure: &Failure) {
        let mut err = anstream::stderr();
        let _ = writeln!(err, "\x1b[1;31merror\x1b[0m: {}", failure.what);
        for cause in &failure.causes {
            let _ = writeln!(err, "  caused by: {cause}");
        }
        if let Some(help) = &failure.help {
            let _ = writeln!(err, "\x1b[1;36mhelp\x1b[0m: {help}");
        }
        if self.json {
            self.json(&failure.report());
        }
    }

    /// Progress of something that may take a while.
    pub(crate) fn progress(self, what: &str, total: u64, amount: Amount) -> Progress {
        Progress::new(what, total, amount, !self.quiet, self.live)
    }
}
