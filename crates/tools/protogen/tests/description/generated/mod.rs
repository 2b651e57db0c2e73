//! The second family's Rust form, where the crate of the frames has those of its own families.

#[expect(dead_code, reason = "a test needs little of it")]
pub(crate) mod toy;

pub(crate) use rackloom_wire::rules;
