//! Claims that wait for their turn.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rackloom_host::{ClaimOptions, Event, OpError};
use rackloom_wire::MacAddr;

use crate::{Error, Rack};

/// What became of a claim of each card: its epoch, or why there is none.
pub type Claimed = Vec<(MacAddr, Result<u16, Error>)>;

impl Rack {
    /// Claims cards as [`claim`](Self::claim) does, and waits for those that other hosts hold: a host that is gone
    /// holds a card until its lease ends, one that works may give it back. `waits` is called for each refusal once.
    ///
    /// Blocks, at most for `patience` and the time of a claim. Those that are claimed are kept meanwhile.
    ///
    /// # Errors
    /// [`Error::Stopped`]. What became of each card is in the result.
    pub fn claim_in_turn(
        &self,
        cards: &[MacAddr],
        options: ClaimOptions,
        patience: Duration,
        mut waits: impl FnMut(&OpError),
    ) -> Result<Claimed, Error> {
        let watch = self.watch()?;
        let end = Instant::now() + patience;
        let mut results = BTreeMap::new();
        let mut waiting: Vec<_> = cards.to_vec();
        let mut first = true;
        while !waiting.is_empty() {
            let mut lease = patience;
            let mut held = Vec::new();
            for (card, result) in self.claim(&waiting, options).wait() {
                if let Err(Error::Op(why @ OpError::Claimed { lease_ms, .. })) = &result {
                    lease = lease.min(Duration::from_millis(*lease_ms));
                    held.push(card);
                    if first {
                        waits(why);
                    }
                }
                results.insert(card, result);
            }
            first = false;
            waiting = held;
            let left = end.saturating_duration_since(Instant::now());
            if waiting.is_empty() || left.is_zero() {
                break;
            }
            // Its holder may give a card back before the lease ends, and tells so then, unless that is lost.
            let again = Instant::now() + lease.clamp(ASK_AGAIN_MIN, ASK_AGAIN_MAX).min(left);
            while let Some(time) = again.checked_duration_since(Instant::now()) {
                match watch.next_within(time) {
                    Some(Event::CardUp(info)) if waiting.contains(&info.mac) => break,
                    Some(Event::CardChanged(info)) if waiting.contains(&info.mac) && info.owner.is_none() => break,
                    _ => {}
                }
            }
        }
        // In the order that was asked for.
        Ok(cards.iter().filter_map(|card| results.remove_entry(card)).collect())
    }
}

/// Shortest and longest time after which a card that another host holds is asked for again.
const ASK_AGAIN_MIN: Duration = Duration::from_millis(20);
const ASK_AGAIN_MAX: Duration = Duration::from_secs(1);
