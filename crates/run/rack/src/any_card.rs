//! A card of any kind, as one node.

use rackloom_card::{Card, CardEvent, Config, Keys, NicCounters};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_role::Memory;
use rackloom_verilated::RtlCard;

use crate::Kind;

/// A card of any kind.
#[derive(Debug)]
pub enum AnyCard {
    /// The card model.
    Model(Box<Card>),
    /// The gateware in Verilator.
    Rtl(Box<RtlCard>),
}

impl AnyCard {
    /// What runs it.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Model(card) if card.config().flash.is_some() => Kind::Flash,
            Self::Model(_) => Kind::Model,
            Self::Rtl(_) => Kind::Rtl,
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        match self {
            Self::Model(card) => card.config(),
            Self::Rtl(card) => card.config(),
        }
    }

    /// Its memory; what hosts may address comes first.
    pub fn ddr(&self) -> &dyn Memory {
        match self {
            Self::Model(card) => card.ddr(),
            Self::Rtl(card) => card.ddr(),
        }
    }

    /// Leaves the network in good order: says goodbye, and from then on neither hears nor says anything. Poll it empty.
    pub fn unplug(&mut self, now: Instant) {
        match self {
            Self::Model(card) => card.unplug(now),
            Self::Rtl(card) => card.unplug(now),
        }
    }

    /// Other keys for a card that has some; false if it has none, or has no room for so many hosts. See [`Card::rekey`]
    /// and [`RtlCard::rekey`].
    pub fn rekey(&mut self, now: Instant, keys: Keys) -> bool {
        match self {
            Self::Model(card) => card.rekey(now, keys),
            Self::Rtl(card) => card.rekey(now, keys),
        }
    }

    /// Whether it goes by the keys that it was given last.
    pub fn has_taken_keys(&self) -> bool {
        match self {
            Self::Model(_) => true,
            Self::Rtl(card) => card.has_taken_keys(),
        }
    }

    /// What became of the frames of the host behind it; `None` if it has none.
    pub fn nic_counters(&self) -> Option<NicCounters> {
        match self {
            Self::Model(card) => card.nic_counters(),
            Self::Rtl(card) => card.nic_counters(),
        }
    }

    /// The model, if it is one.
    pub fn as_model(&self) -> Option<&Card> {
        match self {
            Self::Model(card) => Some(card),
            Self::Rtl(_) => None,
        }
    }
}

impl Node for AnyCard {
    /// What models report; of gateware, what its role reports.
    type Event = CardEvent;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        match self {
            Self::Model(card) => card.handle_frame(now, port, frame),
            Self::Rtl(card) => card.handle_frame(now, port, frame),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Model(card) => card.handle_timeout(now),
            Self::Rtl(card) => card.handle_timeout(now),
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        match self {
            Self::Model(card) => card.poll(now),
            Self::Rtl(card) => card.poll(now),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::Model(card) => card.next_deadline(),
            Self::Rtl(card) => card.next_deadline(),
        }
    }
}
