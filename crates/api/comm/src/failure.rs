//! Why calls fail: the codes of the header, and what `rl_comm_error` says.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_int};
use std::fmt::Write as _;

use rackloom::{Cause, CommError, Error, HostError, PlanError};

/// Why a call of the library fails.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An argument, or a handle.
    Invalid(String),
    /// No card of a name, or one that cannot be had.
    Card(String),
    /// The connection.
    Rack(Error),
    /// The group.
    Comm(CommError),
    /// The group of hosts.
    Host(HostError),
}

/// Success, and reasons, as the header has them.
pub(crate) const OK: c_int = 0;
const INVALID: c_int = 1;
const NETWORK: c_int = 2;
const CARD: c_int = 3;
const APART: c_int = 4;
const SIZE: c_int = 5;
const TYPE: c_int = 6;
const FAILED: c_int = 7;
const TIMEOUT: c_int = 8;
const LOST: c_int = 9;

impl Failure {
    pub(crate) const fn code(&self) -> c_int {
        match self {
            Self::Invalid(_) => INVALID,
            Self::Card(_) | Self::Comm(CommError::Card { .. } | CommError::Report { .. }) => CARD,
            Self::Rack(error) | Self::Comm(CommError::Rack(error)) => match error {
                Error::Op(_) => CARD,
                _ => NETWORK,
            },
            Self::Host(error) => match error {
                HostError::Meet { .. } | HostError::Refused(_) | HostError::Missing { .. } => NETWORK,
                HostError::Memory(_) | HostError::Groups(_) => SIZE,
                HostError::Type { .. } => TYPE,
                HostError::Timeout { .. } | HostError::Stopped { .. } => TIMEOUT,
                HostError::Gone { .. }
                | HostError::Left { .. }
                | HostError::GivenUp { .. }
                | HostError::Read { .. }
                | HostError::Broken => LOST,
                _ => INVALID,
            },
            Self::Comm(CommError::Plan { source, .. }) => match source {
                PlanError::Apart { .. } => APART,
                PlanError::Long { .. } | PlanError::Commands { .. } => SIZE,
                PlanError::Type { .. } => TYPE,
                _ => INVALID,
            },
            Self::Comm(CommError::Memory { .. }) => SIZE,
            Self::Comm(CommError::Failed { cause: Cause::Timeout, .. }) => TIMEOUT,
            Self::Comm(_) => FAILED,
        }
    }

    /// What is wrong, and the causes.
    pub(crate) fn text(&self) -> String {
        let error: &dyn std::error::Error = match self {
            Self::Invalid(text) | Self::Card(text) => return text.clone(),
            Self::Rack(error) => error,
            Self::Comm(error) => error,
            Self::Host(error) => error,
        };
        let mut text = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            let _ = write!(text, ": {cause}");
            next = cause.source();
        }
        text
    }
}

impl From<CommError> for Failure {
    fn from(error: CommError) -> Self {
        Self::Comm(error)
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Rack(error)
    }
}

thread_local! {
    /// Of the last call of this thread that failed.
    static LAST: RefCell<CString> = RefCell::new(c"no call has failed".to_owned());
}

/// Keeps a text for this thread.
pub(crate) fn keep(text: &str) {
    LAST.set(CString::new(text.replace('\0', " ")).expect("it has no zeros left"));
}

/// Lets `f` see the text.
pub(crate) fn with<R>(f: impl FnOnce(&CStr) -> R) -> R {
    LAST.with_borrow(|text| f(text))
}
