//! Errors of benches and studies.

use opencl3::error_codes::ClError;

/// The result of a bench.
pub type Result<T> = std::result::Result<T, BenchError>;

/// Why a bench could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A call of OpenCL failed.
    #[error("an OpenCL call failed: {0}")]
    OpenCl(#[from] ClError),
    /// The manager, a workload or a file.
    #[error("{what}: {why}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        why: std::io::Error,
    },
    /// Something required is missing or unusable; says what, and what to do.
    #[error("{0}")]
    Site(String),
    /// A device returned other bytes than were written, or computed a wrong result.
    #[error("{0} returned a wrong result")]
    Wrong(String),
}

impl BenchError {
    /// An input or output error, with what was tried.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |why| Self::Io { what, why }
    }
}
