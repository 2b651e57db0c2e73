//! The card model: the shell of a network-attached FPGA, as a state machine behind a wire.
//!
//! [`Card`] is what SAF calls the custom shell: a packet analyzer and behind it the blocks for discovery, claims,
//! loading, memory, launches and results. Its role is a [`Role`](rackloom_role::Role) that a
//! [`Sandbox`](rackloom_role::Sandbox) makes from the image's part. The gateware is checked against this model, so each
//! mechanism is one that fits in hardware: bitmaps, counters, fixed windows and tables of a few entries. The suite that
//! both pass, and the model's own tests, are in `crates/check/conformance`.
//!
//! ```text
//!            +----------+    discovery  session
//! frame ---> | analyzer | -> loader (staging, digest) -> configuration port -> role, or flash
//!            +----------+    memory (window)  <-> DDR <-> role
//!                            launches -> results          each sends through one transmit FIFO
//! ```
//!
//! The card knows no socket, clock or thread: see [`rackloom_node::Node`] for the law of its use.
#![forbid(unsafe_code)]

mod analyzer;
mod backlog;
mod bitmap;
mod bridge;
mod card;
mod collectives;
mod config;
mod counters;
mod digest;
mod discovery;
mod ethernet;
mod event;
mod flash;
mod frame_queue;
mod gather;
mod guard;
mod keys;
mod launches;
mod loader;
mod memory;
mod nic;
mod pairs;
#[cfg(feature = "planted-bugs")]
mod planted;
mod ports;
mod ready;
mod results;
mod session;
mod shell;
mod signed;
mod spent;
mod staging;
mod turns;

pub use analyzer::{Claimed, Filter};
pub use card::Card;
pub use config::{Config, ConfigError, FirmwareTimes, MEMORY_UNIT, Pace, RESEND_AFTER_MAX, STAGE_FIFO};
pub use counters::Counters;
pub use event::{CardEvent, ReleaseReason};
pub use flash::FlashConfig;
pub use guard::{Guard, Verdict as GuardVerdict};
pub use keys::{HOSTS_MAX, HostKeys, Keys};
pub use launches::{Turn, check_launch, parse_launch};
pub use memory::check_access;
pub use nic::{Hook, Nic, NicCounters, NicDrop, NicPath, Passed, Side, Unattended};
#[cfg(feature = "planted-bugs")]
pub use planted::PlantedBug;
pub use ports::{PortConfig, PortService};
