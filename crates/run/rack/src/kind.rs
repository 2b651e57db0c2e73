//! What runs a card.

use core::fmt;
use core::str::FromStr;

use rackloom_card::{Config, HOSTS_MAX, Pace};
use rackloom_verilated::{KEY_STORE_HOSTS, SIGN_STORE_SIGNERS};
use rackloom_wire::{BULK_JUMBO, BULK_STANDARD, CardKind, MacAddr};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What runs an emulated card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The card model.
    Model,
    /// The card model, of a device that restarts from its configuration flash to run another image.
    Flash,
    /// The gateware in Verilator, cycle by cycle.
    Rtl,
}

impl Kind {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Flash => "flash",
            Self::Rtl => "rtl",
        }
    }

    /// What such a card announces to be run by.
    pub const fn announced(self) -> CardKind {
        match self {
            Self::Model | Self::Flash => CardKind::Model,
            Self::Rtl => CardKind::Rtl,
        }
    }

    /// Bytes of memory of a card of which nothing else is said.
    pub fn memory(self) -> u64 {
        match self {
            Self::Model | Self::Flash => Config::new(MacAddr::ZERO, Pace::Live).memory,
            Self::Rtl => rackloom_verilated::Config::new(MacAddr::ZERO, Pace::Live).card.memory,
        }
    }

    /// Most payload bytes of a frame.
    pub const fn bulk_max(self) -> u16 {
        match self {
            Self::Model | Self::Flash => BULK_JUMBO,
            Self::Rtl => BULK_STANDARD,
        }
    }

    /// Most hosts that a card with keys knows, those that were revoked among them.
    pub const fn key_hosts_max(self) -> usize {
        match self {
            Self::Model | Self::Flash => 2 * HOSTS_MAX,
            Self::Rtl => KEY_STORE_HOSTS,
        }
    }

    /// Most signers that a card knows.
    pub const fn signers_max(self) -> usize {
        match self {
            Self::Model | Self::Flash => rackloom_sign::SIGNERS_MAX,
            Self::Rtl => SIGN_STORE_SIGNERS,
        }
    }

    /// Whether its role can be hooked in between wire and host.
    pub const fn has_hook(self) -> bool {
        match self {
            Self::Model | Self::Flash => true,
            Self::Rtl => false,
        }
    }

    /// Most ports that are links, whichever they are.
    pub const fn links_max(self) -> u8 {
        match self {
            Self::Model | Self::Flash => 63,
            Self::Rtl => 3,
        }
    }

    /// Most network ports, without those that are links on gateware.
    pub const fn ports_max(self) -> u8 {
        match self {
            Self::Model | Self::Flash => 64,
            Self::Rtl => 3,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no kind of card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of card `{0}`: expected model, flash or rtl")]
pub struct UnknownKind(String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let kinds = [Self::Model, Self::Flash, Self::Rtl];
        kinds.into_iter().find(|kind| kind.name() == text).ok_or_else(|| UnknownKind(text.to_owned()))
    }
}
