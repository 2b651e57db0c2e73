//! Configuration of a card: which tenants may build programs of an image, and when the image is loaded.
//!
//! The local rule decides last ([`super::tenancy`]): no program is built while another tenant has one of a different
//! image. A registry is asked before, since its decision may make that tenant leave: it moves the tenant to another
//! board, and the session here ends.

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
    /// Other tenants have programs of a different image.
    Neighbours(Taken),
    /// The registry refuses or cannot be asked.
    Registry(String),
}

/// How long tenants that lose the board may take to end their operations.
const FAREWELL: Duration = Duration::from_secs(5);

/// Period of the checks whether they have.
const FAREWELL_LOOK: Duration = Duration::from_millis(20);

impl Card {
    /// Holds the image called `name` for a tenant's program, until [`Self::release`]. If it is not the active one, asks
    /// the registry first, which may make other tenants leave, and waits for that.
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
        // A tenant that has just lost the board may still have an operation on it.
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

    /// Gives back an unused grant for another image, unless another tenant relies on it.
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
            eprintln!("rackloom-manager: cannot load the image {name} onto {}: {why}", self.name);
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
