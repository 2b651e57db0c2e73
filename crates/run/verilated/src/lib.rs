//! The Verilated card: the gateware of `gateware/rtl`, compiled to C++ by Verilator, as a
//! [`Node`](rackloom_node::Node) on the same wire as the card model.
//!
//! ```text
//!              +--------------------- RtlCard ---------------------+
//! frame -----> | RxPort -- words --> +-----------+                   |
//!              |                     | rl_card_  | --> AXI4 --> Ddr  |
//! frame <----- | TxPort <- words --- |   sim.sv  |                   |
//!              | now -----> time --> +-----------+ --> alarm ------|---> deadline
//!              +---------------------------------------------------+
//! ```
//!
//! Everything outside the FPGA is Rust and safe: the MAC's side of the network port, the memory, the clocks. Only the
//! border to the Verilated C++ is not (module `ffi`). Like any other card it knows no socket, clock or thread.
#![deny(unsafe_code)]

mod axi;
mod bus;
mod card;
mod clock;
mod config;
mod edges;
mod ffi;
mod key_store;
mod marks;
mod ports;
mod sign_store;

pub use card::RtlCard;
pub use config::{Clocks, Config, DdrTiming, Stress, Width};
pub use key_store::KEY_STORE_HOSTS;
pub use marks::Marks;
pub use sign_store::{SIGN_STORE_ROLES, SIGN_STORE_SIGNERS};
