//! Claims, and who may make them: on an interface, where anybody may be, a host needs keys.

use rackloom_host::{ClaimOptions, Outcome};
use rackloom_live::Net;
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

/// Whether who speaks on this network needs keys. A virtual segment is its user's alone; on an interface is whoever
/// has come to it, unless the user has said that this does not matter.
pub(crate) fn needs_keys(net: &Net, insecure_open: bool) -> bool {
    net.interface().is_some() && !insecure_open
}

/// Whether the environment says that a program without options of its own may run open on interfaces: it does if
/// `RACKLOOM_INSECURE_OPEN` is neither empty nor 0.
pub fn insecure_open_by_environment() -> bool {
    std::env::var_os("RACKLOOM_INSECURE_OPEN").is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_needs_keys_and_a_segment_does_not() {
        let needs = |net: &str, insecure_open| needs_keys(&net.parse().unwrap(), insecure_open);
        assert!(needs("eth:enp1s0", false) && !needs("eth:enp1s0", true));
        assert!(!needs("virtual", false) && !needs("virtual:eth-enp1s0", false));
    }
}
