//! Roles as WebAssembly modules: the part that model cards run, and the [`Sandbox`](rackloom_role::Sandbox) for it.
//!
//! What a module must be:
//! - it imports its memory as `env.memory`; that memory is the card's DDR, all of it, and does not grow;
//! - it exports each kernel of the manifest as a function of as many i64 as the kernel has arguments, returning an i64;
//! - its constants and its stack lie below [`ROLE_PRIVATE`](rackloom_role::ROLE_PRIVATE): data segments do, and so does
//!   an exported `__heap_base`, the end of both in what `wasm-ld` links;
//! - it may import `rackloom.charge(i64)` and state with it how many cycles of the role's clock its work takes on the
//!   card it models. Of a kernel that charges nothing, each unit of fuel, roughly an instruction, is a cycle;
//! - it may have streams, numbered 0 to 15, and a life beside its kernels. `rackloom.receive(at, capacity)` copies the
//!   next message there and returns its length with its stream above 32 bits, 0 if there is none, the negative length
//!   if it does not fit; `rackloom.send(stream, at, length)` and `rackloom.event(word)` return 1, or 0 while the queue
//!   of 64 is full; `rackloom.wake(microseconds)` asks for a call. While no kernel runs, the exports
//!   `on_message(stream, length)` and `on_wake()` are called for each message and at that time, with 2^16 units of
//!   fuel. All of these take and return i64;
//! - its kernels may use the memory of other nodes, of which the card's owner says which: `rackloom.remote_read(stream,
//!   addr, at, length)` and `rackloom.remote_write`, the same, begin an access to the node to which the stream is
//!   routed and return its number, or 0 while 16 are under way; `rackloom.remote_wait(number)` waits for it, puts what
//!   was read in its place and returns 0, or says what went wrong, with which `rackloom.remote_fail` ends the kernel;
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
mod imports;
mod inspect;
mod mailbox;
mod memory;
mod remote;
mod run;
mod sandbox;
mod strip;

pub use engine::WasmConfig;
pub use sandbox::WasmSandbox;
