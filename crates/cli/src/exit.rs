//! Exit codes.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command worked.
    Ok = 0,
    /// The command worked, and the answer is no.
    Negative = 1,
    /// Wrong usage, or an error.
    Error = 2,
    /// The command worked on some cards and failed on others.
    Partial = 3,
    /// Time ran out.
    Timeout = 4,
    /// Interrupted by Ctrl-C.
    Interrupted = 130,
}

/// The help topic.
pub(crate) const TOPIC: &str = "\
  0  success
  1  success, and the answer is no: a check found something wrong
  2  wrong usage, or an error
  3  success on some cards, failure on others
  4  time ran out
130  interrupted by Ctrl-C

It is not an error if the reader of the output goes away, as `head` does.";

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
