//! A tenant's space on a card, and its objects there.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, Weak};

use rackloom_ipc::Given;

use super::built::Built;
use super::claim::{Block, Card};
use super::consent::TenantGone;
use super::tenancy::{Sharing, TenantNumber};
use super::transfer::Range;
use crate::code::Code;
use crate::quota::Charge;

/// A tenant's space on a card.
pub struct CardSpace {
    pub(super) card: Arc<Card>,
    pub(super) tenant: TenantNumber,
    /// The tenant's name, and its instance at the registry.
    pub(super) name: Arc<str>,
    pub(super) gone: TenantGone,
}

/// A buffer or sub-buffer in a card's memory.
pub struct CardBuffer {
    pub(super) block: Arc<Block>,
    /// Offset of the first byte in the block.
    pub(super) offset: u64,
    pub(super) size: u64,
    /// The client's memory behind the buffer. A sub-buffer has none: its parent is mapped.
    pub(super) backing: Option<Given>,
    pub(super) mappings: Mutex<Vec<Mapping>>,
    /// A sub-buffer's; that of a buffer is the block's.
    pub(super) _charge: Option<Charge>,
}

/// A mapped range of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) offset: u64,
    pub(super) len: u64,
    /// Whether it is mapped for writing.
    pub(super) writes: bool,
}

/// A kernel and its arguments.
#[derive(Debug)]
pub struct CardKernel {
    pub(super) built: Arc<Built>,
    pub(super) card: Arc<Card>,
    /// Its index in the image.
    pub(super) number: u16,
    pub(super) slots: Mutex<Vec<Option<Slot>>>,
    /// Duration of its last launch in nanoseconds; 0 before the first.
    pub(super) last_ns: AtomicU64,
    pub(super) _charge: Charge,
}

/// The value of an argument.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    /// An extent or a number.
    Word(u64),
    /// An array. The program may release the buffer while the kernel lives; then the argument is unset.
    Buffer(Weak<CardBuffer>),
    /// None for this argument, for this reason.
    Wrong(Code),
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
        if self.card.sharing == Sharing::Exclusive {
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
