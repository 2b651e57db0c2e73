//! A claimed card as a board.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rackloom_opencl_wire::BoardInfo;

use super::claim::Card;
use super::consent::Consent;
use super::failure::GONE;
use super::objects::CardSpace;
use super::tenancy::Sharing;
use crate::board::Board;
use crate::code::Code;

/// A card that this manager has claimed.
#[derive(Debug)]
pub struct CardBoard {
    pub(super) card: Arc<Card>,
    pub(super) info: BoardInfo,
    pub(super) tenants: AtomicU64,
}

impl CardBoard {
    /// The registry's consent to its reconfigurations.
    pub(crate) fn consent(&self) -> Arc<Consent> {
        Arc::clone(&self.card.consent)
    }

    /// How many tenants it serves at a time.
    pub(crate) fn sharing(&self) -> Sharing {
        self.card.sharing
    }

    /// Its display name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.info.name
    }
}

/// How long a tenant waits for a card that is being zeroed after its predecessor.
const SCRUB_TIMEOUT: Duration = Duration::from_secs(3);

impl Board for CardBoard {
    type Space = CardSpace;

    fn info(&self) -> &BoardInfo {
        &self.info
    }

    fn open(&self, tenant: &str) -> Result<CardSpace, Code> {
        if !self.card.tenancy().enter(self.card.sharing) {
            return Err(GONE);
        }
        let number = self.tenants.fetch_add(1, Ordering::Relaxed);
        let space = CardSpace::new(Arc::clone(&self.card), number, tenant);
        if self.card.sharing == Sharing::Exclusive {
            self.card.wait_for_claim(SCRUB_TIMEOUT)?;
        }
        Ok(space)
    }
}
