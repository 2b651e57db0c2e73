//! Descriptions of families and of registers: their rules, the forms made from them, and what a change of one does.

// What the second family's Rust form, which is compiled here, finds in the crate of the frames.
use rackloom_wire::Format;

mod carried;
mod common;
mod families;
mod forms;
mod generated;
mod kinds;
mod register_rules;
mod rules;
mod toy_frames;
