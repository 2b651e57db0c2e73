//! Errors as people see them: what failed, why, and what to do.

use std::error::Error as StdError;
use std::fmt::Display;

use schemars::JsonSchema;
use serde::Serialize;

use crate::exit::Exit;
use crate::forged_report::ForgedReport;
use crate::holder;

/// The result of a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// An error in three parts.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) what: String,
    pub(crate) causes: Vec<String>,
    pub(crate) help: Option<String>,
    pub(crate) code: Option<&'static str>,
    pub(crate) exit: Exit,
    /// Boxed, since few failures have one.
    pub(crate) forged: Option<Box<ForgedReport>>,
}

/// An error, as --json prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorReport {
    /// `rackloom.error/1`
    schema: &'static str,
    /// What failed.
    error: String,
    /// Why, the immediate cause first.
    causes: Vec<String>,
    /// What to do about it, if anything can be said.
    help: Option<String>,
    /// The protocol's code, where a card has given one: errors.md has what to do.
    code: Option<&'static str>,
    /// The exit code.
    exit: u8,
    /// What posed as a card of the rack or as this host while the command ran; null if it has no key or does not watch
    /// for it.
    forged: Option<ForgedReport>,
}

impl Failure {
    pub(crate) fn new(what: impl Display) -> Self {
        Self { what: what.to_string(), causes: Vec::new(), help: None, code: None, exit: Exit::Error, forged: None }
    }

    /// An error with all its causes.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Self {
        let mut causes = Vec::new();
        let mut next = error.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        Self { causes, ..Self::new(error) }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Display) -> Self {
        self.help.get_or_insert_with(|| help.to_string());
        self
    }

    #[must_use]
    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Makes this error the cause of `what`.
    #[must_use]
    pub(crate) fn during(mut self, what: impl Display) -> Self {
        self.causes.insert(0, std::mem::replace(&mut self.what, what.to_string()));
        self
    }

    /// What came while it was done.
    #[must_use]
    pub(crate) fn meanwhile(mut self, forged: ForgedReport) -> Self {
        self.forged = Some(Box::new(forged));
        self
    }

    pub(crate) fn report(&self) -> ErrorReport {
        ErrorReport {
            schema: "rackloom.error/1",
            error: self.what.clone(),
            causes: self.causes.clone(),
            help: self.help.clone(),
            code: self.code,
            exit: self.exit as u8,
            forged: self.forged.as_deref().cloned(),
        }
    }
}

impl From<rackloom::Error> for Failure {
    fn from(error: rackloom::Error) -> Self {
        let exit = match &error {
            rackloom::Error::JobCancelled => Exit::Interrupted,
            e if e.is_timeout() => Exit::Timeout,
            _ => Exit::Error,
        };
        let mut failure = Self::of(&error).exit(exit);
        failure.causes.extend(holder::of(&error));
        if let rackloom::Error::Op(e) | rackloom::Error::NoCards { last: Some(e), .. } = &error {
            failure.code = e.code_name();
        }
        match error.help() {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}

/// Adds what was being done when something failed.
pub(crate) trait Explain<T> {
    /// Makes the error the cause of `what`.
    fn during(self, what: impl Display) -> Result<T>;
}

impl<T> Explain<T> for Result<T> {
    fn during(self, what: impl Display) -> Self {
        self.map_err(|f| f.during(what))
    }
}

impl<T> Explain<T> for std::io::Result<T> {
    fn during(self, what: impl Display) -> Result<T> {
        self.map_err(|e| Failure::of(&e).during(what))
    }
}

impl<T> Explain<T> for std::result::Result<T, rackloom::Error> {
    fn during(self, what: impl Display) -> Result<T> {
        self.map_err(|e| Failure::from(e).during(what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_help_and_every_cause_are_kept() {
        let f = Failure::new("no such file").help("check the path").during("cannot read a.npy").help("another");
        assert_eq!(f.what, "cannot read a.npy");
        assert_eq!(f.causes, ["no such file"]);
        assert_eq!(f.help.as_deref(), Some("check the path"));
    }

    #[test]
    fn causes_of_library_errors_are_listed() {
        let card = rackloom::CardName { mac: rackloom::MacAddr([2; 6]), unit: Some(3) };
        let last = rackloom::OpError::Cancelled { card };
        let waited = std::time::Duration::from_secs(1);
        let f = Failure::from(rackloom::Error::NoCards { waited, left: 1, tiles: 2, last: Some(last) });
        assert_eq!(f.exit, Exit::Timeout);
        assert_eq!(f.causes, ["card3 (02:02:02:02:02:02): the operation was cancelled"]);
        assert!(f.help.is_some());
    }
}
