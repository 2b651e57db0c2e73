//! Differential fuzzing: two cards, the same frames, and nothing may differ that the wire promises.
//!
//! A [`Traffic`] makes bursts of frames: valid ones that carry claims, loads, writes and launches forward, copies of
//! earlier ones, some with bits turned or cut off, and noise. [`Pair`] hands each burst to both cards, lets them come
//! to rest, and compares what they sent, flow by flow, their memory and their counters.
//!
//! A card of gateware takes time where the model takes none, so what one burst may hold is limited: within a burst no
//! kernel ends, no image becomes whole before the load is called off, and so on. [`Place`] says where in a burst a
//! frame may stand. What may differ all the same is said in [`flows`].

mod burst;
pub mod flows;
mod gateware;
mod pair;
mod traffic;

pub use burst::{Burst, Place};
pub use gateware::model_and_gateware;
pub use pair::{Delivery, Difference, Pair, Side, config, seed_of_epoch};
pub use traffic::Traffic;
