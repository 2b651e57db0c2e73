//! Which image a card is configured with: who may build programs of one, and when it is loaded.
//!
//! The last word is the local rule's ([`super::tenancy`]): no program is built while a neighbour has one of another
//! image. Where there is a registry it is asked before, since its word may make that neighbour leave: it gives him
//! another board, and his session here ends.

use std::fmt::Display;
use std::time::{Duration, Instant};

use opencl_sys::CL_INVALID_PROGRAM_EXECUTABLE;

use super::built::Built;
use super::claim::{Card, ClaimNumber};
use super::consent::{TenantGone, Wanted};
use super::tenancy::{Digest, Taken, TenantNumber};
use crate::code::Code;

/// Why a card may not be configured with an image.
pub(super) enum Denied {
    /// Others have programs of another one.
    Neighbours(Taken),
    /// The registry refuses or cannot be asked.
    Registry(String),
}

/// How long tenants that lose the board may take to end what they have on it.
const FAREWELL: Duration = Duration::from_secs(5);

/// How often it is looked whether they have.
const FAREWELL_LOOK: Duration = Duration::from_millis(20);

impl Card {
    /// A tenant has built a program of an image that people call `name`; to be paired with [`Self::release`]. If it is
    /// not the active one, the registry is asked first, and may make the neighbours leave; this waits for that.
    pub(super) fn hold(
        &self,
        tenant: TenantNumber,
        wanted: &Wanted<'_>,
        name: &str,
        gone: &TenantGone,
    ) -> Result<(), Denied> {
        let asks = self.consent.is_needed() && !self.has_active(&wanted.digest);
        if asks {
            self.withdraw_unused(tenant, &wanted.digest);
            self.consent.ask(wanted, gone).map_err(Denied::Registry)?;
        }
        // Who has just lost the board may still have an operation on it.
        let until = Instant::now() + if asks { FAREWELL } else { Duration::ZERO };
        loop {
            let held = self.tenancy().hold(tenant, wanted.digest, name);
            let Err(taken) = held else { return Ok(()) };
            if Instant::now() >= until || gone.within(FAREWELL_LOOK) {
                self.consent.withdraw(&wanted.digest, &self.accelerator());
                return Err(Denied::Neighbours(taken));
            }
        }
    }

    /// A program and all its kernels are gone.
    pub(super) fn release(&self, tenant: TenantNumber, digest: &Digest) {
        let mut tenancy = self.tenancy();
        tenancy.release(tenant, *digest);
        let is_held = tenancy.is_held(digest, None);
        drop(tenancy);
        if !is_held {
            self.consent.withdraw(digest, &self.accelerator());
        }
    }

    /// Gives back what was granted for another image and not used, unless another tenant counts on it.
    fn withdraw_unused(&self, tenant: TenantNumber, digest: &Digest) {
        let unused = self.consent.unused().filter(|unused| unused != digest);
        if let Some(unused) = unused.filter(|unused| !self.tenancy().is_held(unused, Some(tenant))) {
            self.consent.withdraw(&unused, &self.accelerator());
        }
    }

    /// Loads a program's image if it is not the active one. Launches must have ended.
    pub(super) fn configure(&self, claim: ClaimNumber, built: &Built) -> Result<(), Code> {
        if self.has_active(&built.digest) {
            return Ok(());
        }
        let name = &built.image.manifest().name;
        let complain = |why: &dyn Display| {
            eprintln!("rackloom-manager: {} does not get the image {name}: {why}", self.name);
        };
        self.withdraw_unused(built.tenant, &built.digest);
        if let Err(why) = self.consent.confirm(&built.wanted()) {
            complain(&why);
            return Err(Code(CL_INVALID_PROGRAM_EXECUTABLE));
        }
        let loaded = self.load(claim, built.image.bytes().clone(), built.digest, &built.accelerator);
        let (code, failure) = match &loaded {
            Ok(()) => (Ok(()), None),
            Err((code, why)) => (Err(*code), Some(why)),
        };
        if let Some(why) = failure {
            complain(why);
        }
        self.consent.loaded(&self.accelerator(), failure.map(String::as_str));
        code
    }
}
