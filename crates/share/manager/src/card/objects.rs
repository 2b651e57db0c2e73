//! A tenant's space on a card, and its objects there.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, Weak};

use rackloom_ipc::Given;

use super::built::Built;
use super::claim::{Block, Card};
use super::consent::TenantGone;
use super::tenancy::TenantNumber;
use super::transfer::Range;

/// A tenant's part.
pub struct CardSpace {
    pub(super) card: Arc<Card>,
    pub(super) tenant: TenantNumber,
    /// To the registry it is this instance.
    pub(super) name: Arc<str>,
    pub(super) gone: TenantGone,
}

/// Memory of a card, or a part of it.
pub struct CardBuffer {
    pub(super) block: Arc<Block>,
    /// First byte of the block.
    pub(super) offset: u64,
    pub(super) size: u64,
    /// The program's own view of it; a part has none of its own, for the whole is mapped.
    pub(super) backing: Option<Given>,
    pub(super) mappings: Mutex<Vec<Mapping>>,
}

/// A part of a buffer that is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) offset: u64,
    pub(super) len: u64,
    /// Whether the program may change it.
    pub(super) writes: bool,
}

/// A kernel and its arguments.
#[derive(Debug)]
pub struct CardKernel {
    pub(super) built: Arc<Built>,
    pub(super) card: Arc<Card>,
    /// Its number in the image.
    pub(super) number: u16,
    pub(super) slots: Mutex<Vec<Option<Slot>>>,
    /// Nanoseconds of its last launch; 0 for none.
    pub(super) last_ns: AtomicU64,
}

/// An argument that is set.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// Extent or number.
    Word(u64),
    /// Array. A program may release it while the kernel lives; then it is none.
    Buffer(Weak<CardBuffer>),
}

impl std::fmt::Debug for CardSpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CardSpace").field("card", &self.card.name).field("tenant", &self.tenant).finish()
    }
}

impl std::fmt::Debug for CardBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.block.at + self.offset;
        f.debug_struct("CardBuffer").field("at", &at).field("size", &self.size).finish_non_exhaustive()
    }
}

impl CardSpace {
    pub(super) fn new(card: Arc<Card>, tenant: TenantNumber, name: &str) -> Self {
        Self { card, tenant, name: name.into(), gone: TenantGone::default() }
    }
}

impl Drop for CardSpace {
    fn drop(&mut self) {
        if self.card.is_exclusive {
            self.card.retire();
        }
        self.card.tenancy().leave();
    }
}

impl CardBuffer {
    pub(super) fn range(&self) -> Range<'_> {
        Range { block: &self.block, offset: self.offset, len: self.size }
    }
}
