//! An image that a tenant has built and may launch kernels of.

use std::sync::Arc;

use rackloom_image::Image;

use super::claim::Card;
use super::consent::Wanted;
use super::tenancy::{Digest, TenantNumber};
use crate::quota::Charge;

/// A built image. As long as it lives, no other tenant can build a different image for the card.
pub(super) struct Built {
    pub(super) image: Image,
    pub(super) digest: Digest,
    /// NAME@VERSION, as the registry calls it.
    pub(super) accelerator: String,
    /// The tenant's instance at the registry.
    pub(super) instance: Arc<str>,
    pub(super) card: Arc<Card>,
    pub(super) tenant: TenantNumber,
    /// The program's.
    pub(super) _charge: Arc<Charge>,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built").field("image", &self.image.manifest().name).finish_non_exhaustive()
    }
}

impl Built {
    /// The image, as a request to the registry.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        Wanted { instance: &self.instance, accelerator: &self.accelerator, digest: self.digest }
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        self.card.release(self.tenant, &self.digest);
    }
}
