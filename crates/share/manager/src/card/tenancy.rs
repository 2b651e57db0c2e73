//! The tenants of a card, and the images of their programs: pure state.
//!
//! A tenant alone may have programs of several images, and its launches reconfigure the card. Where several tenants
//! have programs, all are of one image. So a launch never takes the card from another tenant.

use std::collections::BTreeMap;

/// BLAKE3 of an image's file.
pub(super) type Digest = [u8; 32];

/// A tenant of the card, by the number of its space.
pub(super) type TenantNumber = u64;

/// How many tenants a card serves at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Any number.
    Shared,
    /// One. The card is zeroed before the next.
    Exclusive,
}

/// The tenants, and the images that they hold.
#[derive(Debug, Default)]
pub(super) struct Tenancy {
    tenants: usize,
    /// How often each tenant holds each image, and the image's display name.
    holds: BTreeMap<(TenantNumber, Digest), (u32, String)>,
}

/// Other tenants have programs of a different image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    /// Display name of that image.
    pub(super) image: String,
    /// Number of tenants that have programs of it.
    pub(super) tenants: usize,
}

impl Tenancy {
    /// Admits one more tenant, onto an exclusive card only if it is unused. Returns whether it was admitted.
    pub(super) fn enter(&mut self, sharing: Sharing) -> bool {
        let free = sharing == Sharing::Shared || (self.tenants == 0 && self.holds.is_empty());
        self.tenants += usize::from(free);
        free
    }

    /// A tenant has left; its programs may live on for a moment.
    pub(super) const fn leave(&mut self) {
        self.tenants -= 1;
    }

    /// A tenant has built a program of an image. Paired with [`Self::release`].
    pub(super) fn hold(&mut self, tenant: TenantNumber, digest: Digest, image: &str) -> Result<(), Taken> {
        let mut others = self.holds.iter().filter(|((t, d), _)| *t != tenant && *d != digest);
        if let Some(((_, other), (_, image))) = others.next() {
            let tenants = self.holds.keys().filter(|(t, d)| *t != tenant && d == other).count();
            return Err(Taken { image: image.clone(), tenants });
        }
        self.holds.entry((tenant, digest)).or_insert_with(|| (0, image.to_owned())).0 += 1;
        Ok(())
    }

    /// Whether any tenant other than `except` has programs of an image.
    pub(super) fn is_held(&self, digest: &Digest, except: Option<TenantNumber>) -> bool {
        self.holds.keys().any(|(tenant, held)| held == digest && Some(*tenant) != except)
    }

    /// A program and all its kernels are gone.
    pub(super) fn release(&mut self, tenant: TenantNumber, digest: Digest) {
        let entry = self.holds.get_mut(&(tenant, digest)).expect("it was held");
        entry.0 -= 1;
        if entry.0 == 0 {
            self.holds.remove(&(tenant, digest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Digest = [1; 32];
    const B: Digest = [2; 32];

    #[test]
    fn an_image_goes_only_where_no_neighbour_has_another() {
        let mut tenancy = Tenancy::default();
        assert_eq!(tenancy.hold(1, A, "a"), Ok(()));
        assert_eq!(tenancy.hold(1, B, "b"), Ok(()), "alone it may have several");
        assert!(tenancy.hold(2, A, "a").is_err(), "the neighbour would reconfigure the card for its other one");
        tenancy.release(1, B);
        assert_eq!(tenancy.hold(2, A, "a"), Ok(()));
        assert_eq!(tenancy.hold(3, A, "a"), Ok(()));
        assert_eq!(tenancy.hold(1, B, "b"), Err(Taken { image: "a".into(), tenants: 2 }));
        tenancy.release(2, A);
        tenancy.release(3, A);
        assert_eq!(tenancy.hold(1, B, "b"), Ok(()));
    }

    #[test]
    fn a_program_counts_until_the_last_is_gone() {
        let mut tenancy = Tenancy::default();
        tenancy.hold(1, A, "a").unwrap();
        tenancy.hold(1, A, "a").unwrap();
        tenancy.release(1, A);
        assert!(tenancy.hold(2, B, "b").is_err());
        tenancy.release(1, A);
        assert_eq!(tenancy.hold(2, B, "b"), Ok(()));
    }

    #[test]
    fn alone_means_after_all_that_the_last_one_had() {
        let mut tenancy = Tenancy::default();
        assert!(tenancy.enter(Sharing::Exclusive));
        tenancy.hold(1, A, "a").unwrap();
        assert!(!tenancy.enter(Sharing::Exclusive));
        tenancy.leave();
        assert!(!tenancy.enter(Sharing::Exclusive), "a program of the last one is still there");
        tenancy.release(1, A);
        assert!(tenancy.enter(Sharing::Exclusive));
    }
}
