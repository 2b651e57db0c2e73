//! An image that a tenant has built, and may launch kernels of.

use std::sync::Arc;

use rackloom_image::Image;

use super::claim::Card;
use super::consent::Wanted;
use super::tenancy::{Digest, TenantNumber};

/// An image that a tenant may use: as long as this lives, no other tenant gets another one onto the card.
pub(super) struct Built {
    pub(super) image: Image,
    pub(super) digest: Digest,
    /// NAME@VERSION, as the registry calls it.
    pub(super) accelerator: String,
    /// The instance that the tenant is to the registry.
    pub(super) instance: Arc<str>,
    pub(super) card: Arc<Card>,
    pub(super) tenant: TenantNumber,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built").field("image", &self.image.manifest().name).finish_non_exhaustive()
    }
}

impl Built {
    /// As the registry is asked for it.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        Wanted { instance: &self.instance, accelerator: &self.accelerator, digest: self.digest }
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        self.card.release(self.tenant, &self.digest);
    }
}
