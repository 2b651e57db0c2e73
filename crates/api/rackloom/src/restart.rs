//! Loads into cards that have to restart to run another image.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom_host::{CardName, ClaimOptions, Commit, Event, LoadPhase, LoadReport, OpError};
use rackloom_wire::{ErrorCode, MacAddr, Restart};

use crate::{Error, Rack, Watch};

impl Rack {
    /// Loads an image into claimed cards as [`load`](Self::load) does, and stays with those that restart to run it: it
    /// waits for them, claims them anew with these options, and loads the image again, which makes it active at once.
    /// What their memory held is gone, and the epoch of their claim is another one.
    ///
    /// Blocks. The time that [`RackOptions`](crate::RackOptions) allows an operation is allowed to each load, and to
    /// the restart.
    ///
    /// # Errors
    /// As those of [`load`](Self::load): the report has a result for each card.
    pub fn load_through_restart(
        &self,
        cards: &[MacAddr],
        image: Bytes,
        commit: Commit,
        claim: ClaimOptions,
        progress: impl FnMut(LoadPhase, u32, u32) + Send + 'static,
    ) -> Result<LoadReport, Error> {
        let progress = Arc::new(Mutex::new(progress));
        let load = |cards: &[MacAddr]| {
            let progress = Arc::clone(&progress);
            let show = move |phase, done, total| {
                progress.lock().unwrap_or_else(PoisonError::into_inner)(phase, done, total);
            };
            self.load(cards, image.clone(), commit, show).wait()
        };
        let watch = self.watch()?;
        let mut report = load(cards)?;
        let gone = restarting(&report);
        if gone.is_empty() {
            return Ok(report);
        }
        let back = wait_for(&watch, gone.keys().copied().collect(), self.deadline);
        let mut held = Vec::new();
        let mut results = BTreeMap::new();
        for (card, result) in self.claim(&back, claim).wait() {
            match result {
                Ok(_) => held.push(card),
                Err(Error::Op(why)) => drop(results.insert(card, Err(why))),
                Err(why) => return Err(why),
            }
        }
        for (card, name) in gone.iter().filter(|(card, _)| !back.contains(card)) {
            results.insert(*card, Err(OpError::Deadline { card: *name, waited: self.deadline, seen: None }));
        }
        if !held.is_empty() {
            let again = load(&held)?;
            for (card, name) in restarting(&again) {
                // It has come back, but without the image: that has not come up, or has damaged its flash.
                let text = "it was booted, but did not stay up".to_owned();
                results.insert(card, Err(OpError::Load { card: name, code: ErrorCode::ImagePart, text }));
            }
            for (card, result) in again.cards.clone() {
                results.entry(card).or_insert(result);
            }
            report.add(&again);
        }
        report.cards.extend(results);
        Ok(report)
    }
}

/// The cards that restart by themselves to run the image.
fn restarting(report: &LoadReport) -> BTreeMap<MacAddr, CardName> {
    let names = report.cards.iter().filter_map(|(mac, result)| match result {
        Err(OpError::AwaitsRestart { card, restart: Restart::Itself }) => Some((*mac, *card)),
        _ => None,
    });
    names.collect()
}

/// Those of the cards that appear within this time.
fn wait_for(watch: &Watch, mut missing: BTreeSet<MacAddr>, time: Duration) -> Vec<MacAddr> {
    let end = Instant::now() + time;
    let mut back = Vec::new();
    while !missing.is_empty() {
        match watch.next_within(end.saturating_duration_since(Instant::now())) {
            Some(Event::CardUp(info)) if missing.remove(&info.mac) => back.push(info.mac),
            Some(_) => {}
            None => break,
        }
    }
    back
}
