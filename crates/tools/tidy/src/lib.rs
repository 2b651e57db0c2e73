//! The rules of this repository that a machine can check, so that reviews can be about design.
//!
//! Each rule is a function from what it looks at to [`Finding`]s, tested here on bad examples; `tests/tidy.rs` applies
//! all of them to the repository.
#![forbid(unsafe_code)]

pub mod cores;
pub mod docs;
pub mod layers;
pub mod ledger;
pub mod metadata;
pub mod modules;
pub mod parts;
pub mod repo;
pub mod rooms;
pub mod rust;
pub mod text;
pub mod words;

use std::fmt;

/// A rule that is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, from the repository's root.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, what, remedy } = self;
        match line {
            0 => write!(f, "{file}: {what}: {remedy}"),
            _ => write!(f, "{file}:{line}: {what}: {remedy}"),
        }
    }
}
