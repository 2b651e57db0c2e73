//! The models as a C library: what the gateware's benches and the firmware's tests compare with.
//!
//! A bench in Python drives a block and asks this library what the block must do. So the gateware is checked against
//! the code of the model itself, and there is no second model to keep in step. `gateware/tb/golden.py` declares the
//! functions for Python; they take byte buffers, numbers and the structs of [`abi`]. They hold no state, but for
//! connections, endpoints, sequencers, guards and hosts behind cards, which the caller creates, drives and frees.
//!
//! | Functions | Golden rule |
//! |---|---|
//! | [`rl_golden_digest`], [`rl_golden_chunk_values`], [`rl_golden_parent_values`] | the `blake3` crate, which hashes images for the card model |
//! | [`rl_golden_sack_insert`] | `rackloom_transport::Sack`, the window of a card's writes |
//! | [`rl_golden_connection_new`] and the others of a connection | `rackloom_transport::Connection`, in order with a fixed timeout |
//! | [`rl_golden_endpoint_new`] and the others of an endpoint | `rackloom_bridge::Endpoint`, by its frames |
//! | [`rl_golden_judge`], [`rl_golden_route`] | `rackloom_card::Filter` and `check_access`, the card's analyzer; see [`judge`] |
//! | [`rl_golden_admit`] | `rackloom_card::check_access` and `check_launch`, the card's checks of reads and launches |
//! | [`rl_golden_nic_new`] and the others of a host behind a card | `rackloom_card::NicPath` |
//! | [`rl_golden_mac`], [`rl_golden_tag`] | `rackloom_auth`, the tags of frames |
//! | [`rl_golden_guard_new`] and the others of a guard | `rackloom_card::Guard`, behind `Filter` |
//! | [`rl_golden_frame`], [`rl_golden_parse`] | `rackloom_wire::Head` and `Packet` |
//! | [`rl_golden_bridge_frame`], [`rl_golden_bridge_parse`] | `rackloom_wire::BridgeHead` and `BridgePacket` |
//! | [`rl_golden_link_frame`], [`rl_golden_link_parse`] | `rackloom_wire::LinkHead` and `LinkPacket` |
//! | [`rl_golden_sequencer_new`] and the others of a sequencer | `rackloom_collective::Sequencer`, by its frames |
//! | [`rl_golden_reduce`], [`rl_golden_plan`] | `rackloom_collective::reduce` and `Plan` |
//! | [`rl_golden_signature`], [`rl_golden_signer`], [`rl_golden_sign`] | `rackloom_sign`, signatures of images |
//! | [`rl_golden_image`], [`rl_golden_rtl_part`] | `rackloom_image` and `rackloom_rolec` |
//!
//! [`rl_golden_digest`]: abi::rl_golden_digest
//! [`rl_golden_chunk_values`]: abi::rl_golden_chunk_values
//! [`rl_golden_parent_values`]: abi::rl_golden_parent_values
//! [`rl_golden_sack_insert`]: abi::rl_golden_sack_insert
//! [`rl_golden_connection_new`]: abi::rl_golden_connection_new
//! [`rl_golden_endpoint_new`]: endpoint_abi::rl_golden_endpoint_new
//! [`rl_golden_judge`]: abi::rl_golden_judge
//! [`rl_golden_route`]: abi::rl_golden_route
//! [`rl_golden_admit`]: abi::rl_golden_admit
//! [`rl_golden_nic_new`]: nic_abi::rl_golden_nic_new
//! [`rl_golden_mac`]: auth_abi::rl_golden_mac
//! [`rl_golden_tag`]: auth_abi::rl_golden_tag
//! [`rl_golden_guard_new`]: guard_abi::rl_golden_guard_new
//! [`rl_golden_frame`]: abi::rl_golden_frame
//! [`rl_golden_parse`]: abi::rl_golden_parse
//! [`rl_golden_bridge_frame`]: abi::rl_golden_bridge_frame
//! [`rl_golden_bridge_parse`]: abi::rl_golden_bridge_parse
//! [`rl_golden_link_frame`]: link_abi::rl_golden_link_frame
//! [`rl_golden_link_parse`]: link_abi::rl_golden_link_parse
//! [`rl_golden_sequencer_new`]: link_abi::rl_golden_sequencer_new
//! [`rl_golden_reduce`]: link_abi::rl_golden_reduce
//! [`rl_golden_plan`]: link_abi::rl_golden_plan
//! [`rl_golden_signature`]: sign_abi::rl_golden_signature
//! [`rl_golden_signer`]: sign_abi::rl_golden_signer
//! [`rl_golden_sign`]: sign_abi::rl_golden_sign
//! [`rl_golden_image`]: abi::rl_golden_image
//! [`rl_golden_rtl_part`]: abi::rl_golden_rtl_part

pub mod abi;
mod admit;
pub mod auth_abi;
mod bridge_frame;
mod buffers;
mod connection;
mod digest;
mod endpoint;
pub mod endpoint_abi;
mod fault;
mod frame;
mod guard;
pub mod guard_abi;
mod image;
pub mod judge;
mod link;
pub mod link_abi;
mod link_frame;
mod nic;
pub mod nic_abi;
mod plan;
mod sack;
pub mod sign_abi;

pub use fault::Fault;
