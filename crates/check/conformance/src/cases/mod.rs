//! The cases, each a function for any kind of card.

pub mod discovery;
pub mod drops;
pub mod faults;
pub mod launches;
pub mod loading;
pub mod memory;
pub mod ports;
pub mod racks;
pub mod results;
pub mod rogues;
pub mod session;
pub mod signatures;
pub mod workers;
