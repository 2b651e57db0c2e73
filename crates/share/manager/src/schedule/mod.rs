//! Scheduling: the order of tasks on a board, and the thread that runs them one at a time.
//!
//! The [`scheduler`] is pure state; the [`dispatcher`] runs what it picks; a [`task`] is what a tenant runs on a board
//! at a stretch.

pub(crate) mod dispatcher;
pub mod scheduler;
pub(crate) mod task;
mod text;
pub(crate) mod think_time;
mod under_way;
