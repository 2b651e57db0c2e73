//! What a manager says to the registry about its boards, and hears of it (BlastFunction, section III-C).
//!
//! A [`Registry`] is a thread that speaks gRPC. Each board has an [`Attendant`] there, which registers it, sends
//! heartbeats, follows who may use it, and asks before it is reconfigured. The API is
//! `cloud/api/rackloom/v1/devices.proto`; its code is made from that file when this crate is built.
//!
//! What an attendant holds is a lease and a list, both told anew after any failure: the registry may be away or killed
//! at any time. Then the last list stays in force, and the attendant tries again for ever, at most every five seconds.

mod access;
mod attendant;
mod duty;
mod event;
mod verdict;

/// The messages of the API.
#[allow(clippy::all, missing_docs, missing_debug_implementations, unreachable_pub, reason = "made by prost")]
mod api {
    tonic::include_proto!("rackloom.v1");
}

pub use access::{Access, AccessError, Url};
pub use api::{DeviceSpec, ReconfigurationPolicy, Tenant};
pub use attendant::{Attendant, Registry, StartError};
pub use event::Event;
pub use verdict::{Unanswered, Verdict};
