//! The registry's consent to a reconfiguration: asked for when a program is built, and once more before the load if
//! that was long ago.
//!
//! What is granted keeps the board for its image, so a grant is used, reported, or given back: when nobody has a
//! program of it any more, or who has one wants another image first.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rackloom_registry_client::{Attendant, Verdict};

use super::tenancy::Digest;
use crate::sync::lock;

/// How long the registry may take to answer when a program is built.
const ANSWER: Duration = Duration::from_secs(5);

/// How long it may take when the board is held for a launch.
const ANSWER_HELD: Duration = Duration::from_secs(2);

/// How long a build may wait for others to leave.
const WAIT: Duration = Duration::from_secs(180);

/// How long a grant is relied on. The registry forgets it after its `reconfigure_timeout`, usually five minutes.
const FRESH: Duration = Duration::from_secs(60);

/// A card's way to ask, if it has a registry.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    attendant: OnceLock<Arc<Attendant>>,
    grant: Mutex<Option<Grant>>,
}

/// Something that may be loaded.
#[derive(Debug, Clone)]
pub(super) struct Wanted<'a> {
    /// The instance that wants it.
    pub(super) instance: &'a str,
    /// NAME@VERSION.
    pub(super) accelerator: &'a str,
    /// Of its file: there may be several of one name and version.
    pub(super) digest: Digest,
}

/// What was granted, and has not been used.
#[derive(Debug)]
struct Grant {
    digest: Digest,
    /// Whether the registry keeps the board for it; else it takes it for configured.
    is_flagged: bool,
    since: Instant,
}

/// Whether who waits has left; to be waited for.
#[derive(Debug, Default)]
pub(super) struct TenantGone {
    is_so: Mutex<bool>,
    changed: Condvar,
}

impl Consent {
    /// From now on a registry is asked.
    pub(crate) fn ask_through(&self, attendant: Arc<Attendant>) {
        let _ = self.attendant.set(attendant); // A board is attended once.
    }

    /// Grants end with the lease under which they were given.
    pub(crate) fn registered_anew(&self) {
        *lock(&self.grant) = None;
    }

    /// Whether anybody has to be asked.
    pub(super) fn is_needed(&self) -> bool {
        self.attendant.get().is_some()
    }

    /// The image of a grant that has not been used.
    pub(super) fn unused(&self) -> Option<Digest> {
        lock(&self.grant).as_ref().map(|grant| grant.digest)
    }

    /// Asks for a program that is built, and waits for others to leave as long as its tenant is there.
    ///
    /// # Errors
    /// It may not be loaded; why, for people.
    pub(super) fn ask(&self, wanted: &Wanted<'_>, gone: &TenantGone) -> Result<(), String> {
        let Some(attendant) = self.attendant.get() else { return Ok(()) };
        let until = Instant::now() + WAIT;
        loop {
            let Some((retry, reason)) = self.ask_once(attendant, wanted, ANSWER)? else { return Ok(()) };
            if Instant::now() + retry > until {
                return Err(format!("others have not left after {} s: {reason}", WAIT.as_secs()));
            }
            if gone.within(retry) {
                return Err("the program has ended".to_owned());
            }
        }
    }

    /// Makes sure of a grant before a load.
    ///
    /// # Errors
    /// As for [`Self::ask`].
    pub(super) fn confirm(&self, wanted: &Wanted<'_>) -> Result<(), String> {
        let Some(attendant) = self.attendant.get() else { return Ok(()) };
        let is_fresh = |grant: &Grant| grant.digest == wanted.digest && grant.since.elapsed() < FRESH;
        if lock(&self.grant).as_ref().is_some_and(is_fresh) {
            return Ok(());
        }
        match self.ask_once(attendant, wanted, ANSWER_HELD)? {
            None => Ok(()),
            Some((_, reason)) => Err(format!("others have to leave first: {reason}")),
        }
    }

    /// None if it was granted; else when to ask again, and why.
    fn ask_once(
        &self,
        attendant: &Attendant,
        wanted: &Wanted<'_>,
        patience: Duration,
    ) -> Result<Option<(Duration, String)>, String> {
        let verdict = attendant.validate(wanted.instance, wanted.accelerator, patience);
        match verdict.map_err(|why| format!("the registry cannot be asked: {why}"))? {
            verdict @ (Verdict::Granted | Verdict::Unneeded) => {
                let is_flagged = verdict == Verdict::Granted;
                *lock(&self.grant) = Some(Grant { digest: wanted.digest, is_flagged, since: Instant::now() });
                Ok(None)
            }
            Verdict::Wait { retry, reason } => Ok(Some((retry, reason))),
            Verdict::Refused(reason) => Err(format!("the registry refuses: {reason}")),
        }
    }

    /// A load has ended; what is configured now, and why it failed if it did.
    pub(super) fn loaded(&self, accelerator: &str, failure: Option<&str>) {
        let Some(attendant) = self.attendant.get() else { return };
        *lock(&self.grant) = None;
        attendant.report(accelerator, failure);
    }

    /// Gives a grant of this image back, if there is one. `accelerator` is what is configured.
    pub(super) fn withdraw(&self, digest: &Digest, accelerator: &str) {
        let Some(attendant) = self.attendant.get() else { return };
        let unused = lock(&self.grant).take_if(|grant| grant.digest == *digest);
        if unused.is_some_and(|grant| grant.is_flagged) {
            attendant.report(accelerator, Some("it is not wanted any more"));
        }
    }

    /// Says that the card is there again, and empty.
    pub(super) fn found(&self) {
        if let Some(attendant) = self.attendant.get() {
            attendant.found("");
        }
    }

    /// Says that it is not there any more.
    pub(super) fn lost(&self) {
        if let Some(attendant) = self.attendant.get() {
            attendant.lost();
        }
    }
}

impl TenantGone {
    /// Who waits has left.
    pub(super) fn set(&self) {
        *lock(&self.is_so) = true;
        self.changed.notify_all();
    }

    /// Waits so long; whether it has left.
    pub(super) fn within(&self, time: Duration) -> bool {
        let waiting = self.changed.wait_timeout_while(lock(&self.is_so), time, |is_so| !*is_so);
        *waiting.unwrap_or_else(PoisonError::into_inner).0
    }
}
