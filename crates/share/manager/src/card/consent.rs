//! The registry's consent to a reconfiguration: requested when a program is built, and again before the load if that
//! was long ago.
//!
//! A grant reserves the board for its image, so it is used and reported, or given back: when no program of the image is
//! left, or its tenant wants another image first.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rackloom_registry_client::{Attendant, Verdict};
use rackloom_sync::lock;

use super::tenancy::Digest;

/// Time limit of the registry's answer when a program is built.
const ANSWER: Duration = Duration::from_secs(5);

/// Time limit of its answer while the board is held for a launch.
const ANSWER_HELD: Duration = Duration::from_secs(2);

/// How long a build waits for other tenants to leave.
const WAIT: Duration = Duration::from_secs(180);

/// How long a grant is relied on, at most half of what the registry says: it gives the board to others when the grant
/// has ended.
const FRESH: Duration = Duration::from_secs(60);

/// A card's access to the registry, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    attendant: OnceLock<Arc<Attendant>>,
    grant: Mutex<Option<Grant>>,
}

/// A request to load an image.
#[derive(Debug, Clone)]
pub(super) struct Wanted<'a> {
    /// The instance that wants it.
    pub(super) instance: &'a str,
    /// NAME@VERSION.
    pub(super) accelerator: &'a str,
    /// Digest of the image file: several may have one name and version.
    pub(super) digest: Digest,
}

/// A grant that has not been used.
#[derive(Debug)]
struct Grant {
    digest: Digest,
    /// Whether the registry reserves the board for it; otherwise it regards the image as configured.
    is_flagged: bool,
    since: Instant,
    /// How long it is relied on.
    fresh: Duration,
}

impl Grant {
    fn is_fresh(&self) -> bool {
        self.since.elapsed() < self.fresh
    }
}

/// Signals that a tenant has left while its build waits.
#[derive(Debug, Default)]
pub(super) struct TenantGone {
    is_so: Mutex<bool>,
    changed: Condvar,
}

impl Consent {
    /// Asks through this attendant from now on.
    pub(crate) fn ask_through(&self, attendant: Arc<Attendant>) {
        let _ = self.attendant.set(attendant); // A board is attended once.
    }

    /// The board was registered anew: grants of the old lease are void.
    pub(crate) fn registered_anew(&self) {
        *lock(&self.grant) = None;
    }

    /// Whether there is a registry to ask.
    pub(super) fn is_needed(&self) -> bool {
        self.attendant.get().is_some()
    }

    /// The image of the unused grant, if there is one.
    pub(super) fn unused(&self) -> Option<Digest> {
        lock(&self.grant).as_ref().map(|grant| grant.digest)
    }

    /// Requests consent for a program being built. Waits for other tenants to leave while its own tenant is there.
    ///
    /// # Errors
    /// The reason, for people, if it may not be loaded.
    pub(super) fn ask(&self, wanted: &Wanted<'_>, gone: &TenantGone) -> Result<(), String> {
        let Some(attendant) = self.attendant.get() else { return Ok(()) };
        let until = Instant::now() + WAIT;
        loop {
            let Some((retry, reason)) = self.ask_once(attendant, wanted, ANSWER)? else { return Ok(()) };
            if Instant::now() + retry > until {
                return Err(format!("other tenants have not left after {} s: {reason}", WAIT.as_secs()));
            }
            if gone.within(retry) {
                return Err("the program has ended".to_owned());
            }
        }
    }

    /// Renews the consent before a load if the grant is old.
    ///
    /// # Errors
    /// As for [`Self::ask`].
    pub(super) fn confirm(&self, wanted: &Wanted<'_>) -> Result<(), String> {
        let Some(attendant) = self.attendant.get() else { return Ok(()) };
        let is_ours = |grant: &Grant| grant.digest == wanted.digest && grant.is_fresh();
        if lock(&self.grant).as_ref().is_some_and(is_ours) {
            return Ok(());
        }
        match self.ask_once(attendant, wanted, ANSWER_HELD)? {
            None => Ok(()),
            Some((_, reason)) => Err(format!("other tenants have to leave first: {reason}")),
        }
    }

    /// `None` if it was granted; otherwise when to ask again, and why.
    fn ask_once(
        &self,
        attendant: &Attendant,
        wanted: &Wanted<'_>,
        patience: Duration,
    ) -> Result<Option<(Duration, String)>, String> {
        // From the question on, though the answer takes its time.
        let since = Instant::now();
        let verdict = attendant.validate(wanted.instance, wanted.accelerator, patience);
        let take = |is_flagged, good: Option<Duration>| {
            let fresh = good.map_or(FRESH, |good| FRESH.min(good / 2));
            *lock(&self.grant) = Some(Grant { digest: wanted.digest, is_flagged, since, fresh });
            Ok(None)
        };
        match verdict.map_err(|why| format!("the registry cannot be asked: {why}"))? {
            Verdict::Granted { good } => take(true, good),
            Verdict::Unneeded => take(false, None),
            Verdict::Wait { retry, reason } => Ok(Some((retry, reason))),
            Verdict::Refused(reason) => Err(format!("the registry refuses: {reason}")),
        }
    }

    /// Reports the end of a load: the image configured now, and the failure if there was one.
    pub(super) fn loaded(&self, accelerator: &str, failure: Option<&str>) {
        let Some(attendant) = self.attendant.get() else { return };
        *lock(&self.grant) = None;
        attendant.report(accelerator, failure);
    }

    /// Gives back the grant of this image, if there is one. `accelerator` is the image configured now.
    pub(super) fn withdraw(&self, digest: &Digest, accelerator: &str) {
        let Some(attendant) = self.attendant.get() else { return };
        let unused = lock(&self.grant).take_if(|grant| grant.digest == *digest);
        if unused.is_some_and(|grant| grant.is_flagged) {
            attendant.report(accelerator, Some("it is no longer wanted"));
        }
    }

    /// Reports that the card is back, without an image.
    pub(super) fn found(&self) {
        if let Some(attendant) = self.attendant.get() {
            attendant.found("");
        }
    }

    /// Reports that the card is lost.
    pub(super) fn lost(&self) {
        if let Some(attendant) = self.attendant.get() {
            attendant.lost();
        }
    }
}

impl TenantGone {
    /// The tenant has left.
    pub(super) fn set(&self) {
        *lock(&self.is_so) = true;
        self.changed.notify_all();
    }

    /// Waits for at most `time`; returns whether the tenant has left.
    pub(super) fn within(&self, time: Duration) -> bool {
        let waiting = self.changed.wait_timeout_while(lock(&self.is_so), time, |is_so| !*is_so);
        *waiting.unwrap_or_else(PoisonError::into_inner).0
    }
}
