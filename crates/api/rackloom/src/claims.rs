//! Claims of cards, by hosts that may make them.

use rackloom_host::{ClaimOptions, Outcome};
use rackloom_wire::MacAddr;

use crate::batch::Batch;
use crate::pending::Pending;
use crate::rack::mismatch;
use crate::{Error, Rack};

impl Rack {
    /// Claims cards; each returns the epoch that it granted, or [`Error::Open`] where this host may claim none.
    pub fn claim(&self, cards: &[MacAddr], options: ClaimOptions) -> Batch<u16> {
        self.desks.forget(cards);
        if let Some(net) = &self.barred {
            let refused = |card: &MacAddr| (*card, Pending::failed(Error::Open { net: net.clone() }));
            return Batch::new(cards.iter().map(refused));
        }
        self.batch(
            cards,
            None,
            move |host, now, card| host.claim(now, card, options),
            |outcome| match outcome {
                Outcome::Claimed { epoch } => epoch,
                other => mismatch(&other),
            },
        )
    }

    /// Whether this host may claim cards at all.
    ///
    /// # Errors
    /// [`Error::Open`].
    pub(crate) fn may_claim(&self) -> Result<(), Error> {
        self.barred.as_ref().map_or(Ok(()), |net| Err(Error::Open { net: net.clone() }))
    }
}
