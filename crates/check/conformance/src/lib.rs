//! What every card does, whatever runs it.
//!
//! A card of any kind is a [`Specimen`]. [`suite!`] makes the tests of one kind out of the [`cases`], which look at
//! frames, memory and counters alone; [`fuzz`] sends the same random frames to two cards and compares what came of it.
//! What may differ between kinds is said where it is compared: times, cycles, random delays, the kind itself.
#![forbid(unsafe_code)]

pub mod bench;
pub mod cases;
pub mod fuzz;
pub mod images;
pub mod pace;
mod python;
pub mod rack;
mod specimen;
mod strained;
mod suite;
mod three_ports;

pub use python::PythonCard;
pub use specimen::Specimen;
pub use strained::{CLOCKS, Strained, StrainedAt, StrainedWide};
pub use three_ports::ThreePorts;
