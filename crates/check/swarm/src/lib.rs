//! Seeded racks full of faults.
//!
//! One seed draws a rack (cards, hosts, links), the faults of its cables, crashes, pulls and partitions, and a script
//! of operations; the production [`Host`](rackloom_host::Host) and [`Card`](rackloom_card::Card) then live through it
//! in virtual time, and an oracle checks what they do: every launch executed at most once, every byte of memory what
//! its history allows, no card half configured, memory bounded; and when the faults stop, everything completes.
//!
//! The fault atlas, what a run may and may not contain, is [`Plan`]'s documentation.
#![forbid(unsafe_code)]

mod bad_card;
mod cells;
mod hashes;
mod hostile;
mod images;
mod job;
mod mangler;
mod oracle;
mod plan;
mod player;
mod run;
mod slots;
mod starving;
mod world;

pub use bad_card::{BadCard, Badness};
pub use hashes::Hashes;
pub use hostile::Hostile;
pub use job::{JobSummary, run_job};
pub use mangler::Mangler;
pub use plan::{Plan, Starvation};
pub use player::Player;
pub use run::{Failure, Summary, run};
pub use world::PlantedBug;
