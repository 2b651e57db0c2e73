//! Hosts behind cards: which card has one, and the interface of this machine that is its network interface.

use core::fmt;
use core::str::FromStr;
use std::io;

use rackloom_card::{Hook, NicCounters, Unattended};
use rackloom_live::{BATCH, Cable, MTU_STANDARD, Port, Tap, TapError, Uplink};
use rackloom_wire::MacAddr;

/// A host behind a card, written `CARD=INTERFACE`: this machine, or a namespace of it, by an interface of its own.
/// `CARD=INTERFACE,hook` has the card's role hooked in between, and `,hook=hold` lets nothing pass while there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicPlug {
    /// Unit number of the card.
    pub unit: u16,
    /// Name of the interface, which is made.
    pub interface: String,
    /// Whether the card's role sees the frames on its streams [`Hook::USUAL`], and what becomes of them without one.
    pub hook: Option<Unattended>,
}

/// The text names no host behind a card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid network interface `{0}`: expected CARD=INTERFACE, such as 0=rl0, or CARD=INTERFACE,hook")]
pub struct NicSyntax(String);

impl NicPlug {
    /// The hook as a card is configured with it.
    pub(crate) fn hook(&self) -> Option<Hook> {
        self.hook.map(|unattended| Hook { unattended, ..Hook::USUAL })
    }
}

impl fmt::Display for NicPlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hook = match self.hook {
            None => "",
            Some(Unattended::Pass) => ",hook",
            Some(Unattended::Hold) => ",hook=hold",
        };
        write!(f, "{}={}{hook}", self.unit, self.interface)
    }
}

impl FromStr for NicPlug {
    type Err = NicSyntax;

    fn from_str(text: &str) -> Result<Self, NicSyntax> {
        let syntax = || NicSyntax(text.to_owned());
        let (unit, rest) = text.split_once('=').ok_or_else(syntax)?;
        let (interface, hook) = match rest.split_once(',') {
            None => (rest, None),
            Some((interface, "hook" | "hook=pass")) => (interface, Some(Unattended::Pass)),
            Some((interface, "hook=hold")) => (interface, Some(Unattended::Hold)),
            Some(_) => return Err(syntax()),
        };
        if interface.is_empty() {
            return Err(syntax());
        }
        Ok(Self { unit: unit.parse().map_err(|_| syntax())?, interface: interface.to_owned(), hook })
    }
}

/// An interface and the cable from it to a card's port. It is there whether the card is or not: without it, it is an
/// interface whose cable goes nowhere.
#[derive(Debug)]
pub(crate) struct LiveNic {
    plug: NicPlug,
    mac: MacAddr,
    cable: Cable,
    uplink: Uplink,
}

/// A host behind a card of a rack, and what became of its frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicReport {
    /// Which it is.
    pub plug: NicPlug,
    /// The interface's address.
    pub mac: MacAddr,
    /// What the card has counted; `None` if the card is not there.
    pub counters: Option<NicCounters>,
}

/// Why an interface cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum NicError {
    /// The interface cannot be had.
    #[error(transparent)]
    Tap(#[from] TapError),
    /// No thread can be started for it.
    #[error("cannot start the uplink to {interface}")]
    Uplink {
        /// The interface.
        interface: String,
        /// The reason.
        source: io::Error,
    },
}

impl LiveNic {
    /// Makes the interface.
    pub(crate) fn open(plug: &NicPlug, mac: MacAddr) -> Result<Self, NicError> {
        let tap = Tap::open(&plug.interface, mac, MTU_STANDARD)?;
        let cable = Cable::holding(BATCH / 2);
        let end = cable.end(&plug.interface).expect("both ends are free");
        let uplink = Uplink::spawn_for_host(end, tap);
        let uplink = uplink.map_err(|source| NicError::Uplink { interface: plug.interface.clone(), source })?;
        Ok(Self { plug: plug.clone(), mac, cable, uplink })
    }

    /// The card's end of the cable.
    pub(crate) fn end(&self, name: &str) -> Port {
        self.cable.end(name).expect("one card of this number is there at a time")
    }

    /// Why the interface is gone, if it is. Reported once.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.uplink.failure()
    }

    pub(crate) fn report(&self, counters: Option<NicCounters>) -> NicReport {
        NicReport { plug: self.plug.clone(), mac: self.mac, counters }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_behind_cards_are_read_as_they_are_written() {
        for text in ["0=rl0", "17=host-17,hook", "3=x,hook=hold"] {
            assert_eq!(text.parse::<NicPlug>().unwrap().to_string(), text);
        }
        assert_eq!("1=a,hook=pass".parse::<NicPlug>().unwrap().to_string(), "1=a,hook");
        for bad in ["", "0", "0=", "=rl0", "x=rl0", "-1=rl0", "0=rl0,", "0=rl0,hold", "65536=a", "0=,hook"] {
            assert_eq!(bad.parse::<NicPlug>(), Err(NicSyntax(bad.to_owned())), "{bad}");
        }
    }
}
