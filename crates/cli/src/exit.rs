//! Exit codes.

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked for.
    Ok = 0,
    /// It worked, and the answer is no.
    Negative = 1,
    /// It was used wrongly, or could not work.
    Error = 2,
    /// It worked on some cards and not on others.
    Partial = 3,
    /// Time ran out.
    Timeout = 4,
    /// It was interrupted.
    Interrupted = 130,
}

/// The help topic.
pub(crate) const TOPIC: &str = "\
  0  it worked
  1  it worked, and the answer is no: a check found something wrong
  2  wrong usage, or an error
  3  it worked on some cards and not on others
  4  time ran out
130  interrupted by Ctrl-C

A reader of the output that goes away, as `head` does, is no error.";

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
