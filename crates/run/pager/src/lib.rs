//! Memory whose pages are fetched when they are touched, and of which what changed is written back.
//!
//! [`Pages`] is a range of this process's addresses. A load or store to a page that is not there stops its thread until
//! the page has come from the [`Source`], on a thread of the range's own; the kernel (Linux, `userfaultfd`) tells of
//! the fault. What was stored stays here until [`sync`](Pages::sync), which writes back the 8-byte words that changed
//! and nothing beside them. [`invalidate`](Pages::invalidate) drops pages, so that they are fetched anew.
//!
//! ```text
//!            load                    store                    sync
//!   absent ---------> clean ----------------------> changed ---------> clean
//!     ^                 |      (a copy of the page             |
//!     '--- invalidate --'       as it was is kept)             '-- invalidate: stays
//!     |  the source fails
//!     '---------> poisoned: SIGBUS, until invalidate
//! ```
#![deny(unsafe_code)]

mod diff;
mod error;
mod faults;
mod pages;
mod region;
mod source;
mod table;

pub use error::PagerError;
pub use pages::{Access, Pages};
pub use source::{Source, Span};
