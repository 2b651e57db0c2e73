//! The progress of a study or a bench.

/// Receives progress.
pub trait Progress: Send {
    /// `done` of `total` steps are done; `what` has just been finished.
    fn step(&mut self, done: usize, total: usize, what: &str);
}

/// Discards all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&mut self, _done: usize, _total: usize, _what: &str) {}
}
