//! A card that the manager claims: the claim, the memory under it, and the active image.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use opencl_sys::{CL_INVALID_PROGRAM_EXECUTABLE, CL_MEM_OBJECT_ALLOCATION_FAILURE};
use rackloom::{CardInfo, Commit, Error, LaunchReport, MacAddr, Rack};
use rackloom_sync::{lock, wait_for};
use rackloom_wire::{CardKind, ROLE_PRIVATE};

use super::consent::Consent;
use super::failure::{self, GONE};
use super::inflight::InFlightOperations;
use super::memory::Memory;
use super::tenancy::{Digest, Sharing, Tenancy};
use crate::code::Code;
use crate::metrics::Reconfigurations;
use crate::quota::Charge;

/// Number of a claim of the card: what belongs to one claim is invalid under the next.
pub(super) type ClaimNumber = u64;

/// A card.
pub(super) struct Card {
    pub(super) kind: CardKind,
    /// Its display name.
    pub(super) name: String,
    pub(super) sharing: Sharing,
    /// Whether it zeroes its memory when it is claimed.
    pub(super) zeroes: bool,
    state: Mutex<State>,
    was_claimed: Condvar,
    tenancy: Mutex<Tenancy>,
    /// The registry's consent to reconfigurations.
    pub(super) consent: Arc<Consent>,
    pub(super) in_flight: InFlightOperations,
    reconfigurations: Reconfigurations,
}

struct State {
    /// Our host on its segment; replaced after a reconnection.
    rack: Arc<Rack>,
    /// Its address there; changes when the card is replaced.
    mac: MacAddr,
    claim: ClaimNumber,
    /// Whether that claim is still held, as far as is known.
    is_claimed: bool,
    /// Whether the card must be released before it is claimed again.
    is_retired: bool,
    memory: Memory,
    /// The image loaded last under this claim, and its name at the registry.
    active: Option<(Digest, String)>,
    /// Whether a kernel timed out and may still write. The card runs launches in order: when a later one has
    /// succeeded, that one has ended.
    has_runaway: bool,
    /// Blocks that were freed meanwhile.
    held_back: Vec<(u64, u64)>,
}

/// A piece of a card's memory; free again when dropped.
pub(super) struct Block {
    pub(super) card: Arc<Card>,
    pub(super) claim: ClaimNumber,
    /// Its address.
    pub(super) at: u64,
    /// Its bytes.
    pub(super) size: u64,
    /// Whether it is free of bytes of earlier owners.
    is_scrubbed: AtomicBool,
    _charge: Charge,
}

impl Card {
    /// A card without a claim.
    pub(super) fn new(
        rack: &Arc<Rack>,
        info: &CardInfo,
        name: String,
        sharing: Sharing,
        zeroes: bool,
        reconfigurations: Reconfigurations,
    ) -> Self {
        let state = State {
            rack: Arc::clone(rack),
            mac: info.mac,
            claim: 0,
            is_claimed: false,
            is_retired: false,
            memory: Memory::new(0, 0, false),
            active: None,
            has_runaway: false,
            held_back: Vec::new(),
        };
        Self {
            kind: info.kind,
            name,
            sharing,
            zeroes,
            state: Mutex::new(state),
            was_claimed: Condvar::new(),
            tenancy: Mutex::default(),
            consent: Arc::default(),
            in_flight: InFlightOperations::default(),
            reconfigurations,
        }
    }

    /// Whether the manager's policy lets this card have an image.
    ///
    /// # Errors
    /// It does not, or the card is not there.
    pub(super) fn admits(&self, image: &[u8]) -> Result<(), Error> {
        let (rack, mac) = {
            let state = lock(&self.state);
            (Arc::clone(&state.rack), state.mac)
        };
        rack.admits(mac, image)
    }

    /// This host has claimed the card anew.
    pub(super) fn claimed(&self, rack: &Arc<Rack>, info: &CardInfo) {
        let mut state = lock(&self.state);
        state.rack = Arc::clone(rack);
        state.mac = info.mac;
        state.claim += 1;
        (state.is_claimed, state.is_retired) = (true, false);
        state.memory = Memory::new(ROLE_PRIVATE, info.memory, self.zeroes);
        state.active = None;
        state.has_runaway = false;
        state.held_back.clear();
        drop(state);
        self.consent.found();
        self.was_claimed.notify_all();
    }

    /// The claim is lost.
    pub(super) fn lost(&self) {
        self.lose(&mut lock(&self.state));
    }

    fn lose(&self, state: &mut State) {
        (state.is_claimed, state.active) = (false, None);
        self.consent.lost();
    }

    /// The tenant of an exclusive card has left.
    pub(super) fn retire(&self) {
        let mut state = lock(&self.state);
        self.lose(&mut state);
        state.is_retired = true;
    }

    pub(super) fn is_claimed(&self) -> bool {
        lock(&self.state).is_claimed
    }

    pub(super) fn is_retired(&self) -> bool {
        lock(&self.state).is_retired
    }

    /// Waits until the card is claimed.
    pub(super) fn wait_for_claim(&self, time: Duration) -> Result<(), Code> {
        let until = Instant::now() + time;
        let mut state = lock(&self.state);
        while !state.is_claimed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(GONE);
            }
            state = wait_for(&self.was_claimed, state, left);
        }
        Ok(())
    }

    pub(super) fn mac(&self) -> MacAddr {
        lock(&self.state).mac
    }

    pub(super) fn tenancy(&self) -> MutexGuard<'_, Tenancy> {
        lock(&self.tenancy)
    }

    /// The registry's name of the active image; empty for none.
    pub(super) fn accelerator(&self) -> String {
        lock(&self.state).active.as_ref().map(|(_, name)| name.clone()).unwrap_or_default()
    }

    /// Sends something to the card under this claim, and under no later one.
    pub(super) fn send<T>(&self, claim: ClaimNumber, send: impl FnOnce(&Rack, MacAddr) -> T) -> Result<T, Code> {
        let state = lock(&self.state);
        if !state.is_claimed || state.claim != claim {
            return Err(GONE);
        }
        // Still locked: what is passed to the rack now precedes the next claim of the card.
        Ok(send(&state.rack, state.mac))
    }

    /// The code of an operation's error under this claim. Notes a loss of the claim.
    pub(super) fn judge(&self, claim: ClaimNumber, error: &Error) -> Code {
        let mut state = lock(&self.state);
        if failure::is_loss(error) && state.claim == claim {
            self.lose(&mut state);
        }
        failure::code(error)
    }

    /// A launch under this claim has ended, or has timed out.
    pub(super) fn launched(&self, claim: ClaimNumber, result: &Result<LaunchReport, Error>) {
        let mut state = lock(&self.state);
        match result {
            _ if state.claim != claim => {}
            Err(why) if failure::is_unfinished(why) => state.has_runaway = true,
            // A failed launch may have been refused out of order.
            Err(_) => {}
            Ok(_) => state.nothing_runs_away(),
        }
    }

    /// Allocates a block of its memory.
    pub(super) fn take(self: &Arc<Self>, size: u64, charge: Charge) -> Result<Block, Code> {
        let mut state = lock(&self.state);
        if !state.is_claimed {
            return Err(GONE);
        }
        let (at, is_clean) = state.memory.take(size).ok_or(Code(CL_MEM_OBJECT_ALLOCATION_FAILURE))?;
        let (card, claim, is_scrubbed) = (Arc::clone(self), state.claim, AtomicBool::new(is_clean));
        Ok(Block { card, claim, at, size, is_scrubbed, _charge: charge })
    }

    /// The present claim.
    pub(super) fn claim(&self) -> Result<ClaimNumber, Code> {
        let state = lock(&self.state);
        if state.is_claimed { Ok(state.claim) } else { Err(GONE) }
    }

    /// Whether the image is active.
    pub(super) fn has_active(&self, digest: &Digest) -> bool {
        lock(&self.state).active.as_ref().is_some_and(|(active, _)| active == digest)
    }

    /// Loads an image file.
    ///
    /// # Errors
    /// The code for the program, and the reason for people.
    pub(super) fn load(
        &self,
        claim: ClaimNumber,
        file: Bytes,
        digest: Digest,
        accelerator: &str,
    ) -> Result<(), (Code, String)> {
        let began = Instant::now();
        // A load that fails leaves the old image in most cases, and none in some.
        lock(&self.state).active = None;
        let loading = self.send(claim, |rack, mac| (mac, rack.load(&[mac], file, Commit::AllOrNone, |_, _, _| {})));
        let (mac, loading) = loading.map_err(|code| (code, "the card is gone".to_owned()))?;
        let loaded = loading.wait().map_err(|why| (self.judge(claim, &why), why.to_string()))?;
        let silent = (Code(CL_INVALID_PROGRAM_EXECUTABLE), "the card did not report the outcome".to_owned());
        let outcome = loaded.cards.get(&mac).ok_or(silent)?;
        outcome.clone().map_err(|why| (self.judge(claim, &why.clone().into()), why.to_string()))?;
        self.reconfigurations.count(began.elapsed());
        let mut state = lock(&self.state);
        if state.claim == claim {
            state.active = Some((digest, accelerator.to_owned()));
            state.nothing_runs_away(); // Loading has stopped the old role.
        }
        Ok(())
    }

    fn give(&self, claim: ClaimNumber, at: u64, size: u64) {
        let mut state = lock(&self.state);
        if state.claim != claim {
            return; // All its memory was freed when the claim was lost.
        }
        if state.has_runaway {
            state.held_back.push((at, size));
        } else {
            state.memory.give(at, size);
        }
    }
}

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

impl State {
    /// A kernel that timed out has certainly ended.
    fn nothing_runs_away(&mut self) {
        self.has_runaway = false;
        for (at, size) in std::mem::take(&mut self.held_back) {
            self.memory.give(at, size);
        }
    }
}

impl Block {
    pub(super) fn is_scrubbed(&self) -> bool {
        self.is_scrubbed.load(Ordering::Relaxed)
    }

    /// All of it was overwritten since.
    pub(super) fn mark_scrubbed(&self) {
        self.is_scrubbed.store(true, Ordering::Relaxed);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.card.give(self.claim, self.at, self.size);
    }
}
