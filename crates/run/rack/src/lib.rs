//! Racks of emulated cards.
//!
//! A [`Card`](AnyCard) is of a [`Kind`]: the model, or the gateware in Verilator; a [`Maker`] makes either from one
//! configuration. A [`Topology`] says which ports of which cards have a cable between them, or to a network, and which
//! cards have a host behind them ([`NicPlug`]). A
//! [`LiveRack`] runs cards on a few threads of this process in real time, and a [`Network`] opens one of its switches
//! to other processes and to an interface; a [`SimRack`] runs them, and hosts of any type, in virtual time with
//! seeded faults, and a [`RackSpec`] describes such a rack as a whole; a
//! [`SimGroup`] is one whose cards do operations together. The command, the studies, the conformance suite
//! and the seeded swarm all build their racks here.
#![forbid(unsafe_code)]

mod any_card;
mod group;
mod kind;
mod live;
mod maker;
mod network;
mod nic;
mod simulated;
mod spec;
mod topology;
mod versions;

pub use any_card::AnyCard;
pub use group::{GroupError, GroupSpec, SimGroup};
pub use kind::{Kind, UnknownKind};
pub use live::{LiveRack, RackError, Removal, Shape, card_address};
pub use maker::Maker;
pub use network::{Network, NetworkError, ServedNetwork, segment_of};
pub use nic::{NicError, NicPlug, NicReport, NicSyntax};
pub use simulated::{Place, SimRack, Slot};
pub use spec::RackSpec;
pub use topology::{CableEnds, CardPort, FarEnd, Links, Topology, TopologyError};
pub use versions::BoardVersions;
