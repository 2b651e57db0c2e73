//! The Verilated card: the gateware of `gateware/rtl`, compiled to C++ by Verilator, as a
//! [`Node`](rackloom_node::Node) on the same wire as the card model.
//!
//! ```text
//!              +--------------------- RtlCard ---------------------+
//! frame -----> | RxPort -- words --> +-----------+ --> AXI4 port \ |
//!              |                     | rl_card_  |                Ddr
//! frame <----- | TxPort <- words --- |   sim.sv  | --> AXI4 port / |
//!              | now -----> time --> +-----------+ --> alarm ------|---> deadline
//!              +---------------------------------------------------+
//! ```
//!
//! Everything outside the FPGA is Rust and safe: the MAC's side of the network port, the memory, the clocks. Only the
//! border to the Verilated C++ is not (module `ffi`). Like any other card it knows no socket, clock or thread.
#![deny(unsafe_code)]

mod axi;
mod card;
mod clock;
mod config;
mod ffi;
mod marks;
mod ports;

pub use card::RtlCard;
pub use config::{Config, DdrTiming, Stress};
pub use marks::Marks;
