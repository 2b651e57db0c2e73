//! Roles as WebAssembly modules: the part that model cards run, and the [`Sandbox`](rackloom_role::Sandbox) for it.
//!
//! What a module must be:
//! - it imports its memory as `env.memory`; that memory is the card's DDR, all of it, and does not grow;
//! - it exports each kernel of the manifest as a function of as many i64 as the kernel has arguments, returning an i64;
//! - its constants and its stack lie below [`ROLE_PRIVATE`](rackloom_role::ROLE_PRIVATE): data segments do, and so does
//!   an exported `__heap_base`, the end of both in what `wasm-ld` links;
//! - it may import `rackloom.charge(i64)` and state with it how many cycles of the role's clock its work takes on the
//!   card it models. Of a kernel that charges nothing, each unit of fuel, roughly an instruction, is a cycle;
//! - it has no start function: nothing runs before a launch.
//!
//! What harms nobody: an access outside DDR traps; a kernel ends when its charged cycles or its fuel, whichever is
//! more, pass its bound; tables, functions, globals and code have limits; NaNs are canonical and relaxed SIMD is off,
//! so that every host computes the same.
//!
//! Custom sections are dropped before anything else looks at the module. They cost a card nothing, so an image may
//! carry as many bytes as the bitstream it stands in for.
#![deny(unsafe_code)]

mod engine;
mod inspect;
mod memory;
mod run;
mod sandbox;
mod strip;

pub use engine::WasmConfig;
pub use sandbox::WasmSandbox;
