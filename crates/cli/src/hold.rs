//! Keeping what a command has claimed until it is interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rackloom::{Event, MacAddr, Rack};

use crate::cards::Roster;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::interrupt;

/// Waits for an interrupt, or until `time` is over.
///
/// # Errors
/// One of the cards, or the network, is lost.
pub(crate) fn hold(rack: &Rack, cards: &[MacAddr], roster: &Roster, time: Option<Duration>) -> Result<Exit> {
    let watch = rack.watch()?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    interrupt::instead(move || stopped.store(true, Ordering::Release));
    let end = time.map(|time| Instant::now() + time);
    while !stop.load(Ordering::Acquire) && end.is_none_or(|end| Instant::now() < end) {
        match watch.next_within(Duration::from_millis(100)) {
            Some(Event::CardDown { card, .. } | Event::ClaimLost { card } | Event::AddressShared { card })
                if cards.contains(&card) =>
            {
                return Err(Failure::new(format!("{} is lost, and what was open there with it", roster.name(card)))
                    .help("`rackloom ls` shows whether it is back, and who holds it"));
            }
            _ => {}
        }
        // A host that has stopped gives no events.
        rack.cards()?;
    }
    Ok(Exit::Ok)
}
