//! Where the content of a buffer is, and what commands do to it.

use std::sync::Weak;

use crate::handle::Object;
use crate::objects::event::Event;

/// Where the content of a buffer is.
#[derive(Default)]
pub struct Content {
    /// Bit set of the context's devices that have it; 0 if nothing was ever written.
    pub valid: u64,
    /// The command that wrote it last.
    pub writer: Option<Weak<Object<Event>>>,
}

/// What a command does to a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It needs the content.
    Read,
    /// It needs and changes it, or changes a part.
    Update,
    /// It replaces all of it.
    Replace,
}
