//! The objects that a program holds.

pub mod content;
pub mod context;
pub mod device;
pub mod device_info;
pub mod event;
pub mod image;
pub mod kernel;
pub mod memory;
pub mod platform;
pub mod program;
pub mod queue;
pub mod sampler;
pub mod svm;
