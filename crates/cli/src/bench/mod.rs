//! Measurements of this machine, beside the best that it can do.

mod flood;
mod inside;
pub(crate) mod load;
mod machines;
pub(crate) mod nic;
pub(crate) mod overhead;
pub(crate) mod process;
pub(crate) mod rma;
pub(crate) mod rtt;

use crate::args::Bench;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;

pub(crate) fn run(cx: &Context, bench: &Bench) -> Result<Exit> {
    warn_if_debug(cx);
    match *bench {
        Bench::Load { cards, bytes, times, standard, keys, flood } => {
            load::run(cx, &load::Parameters { cards, bytes, times, standard, keys, encrypt: cx.global.encrypt, flood })
        }
        Bench::Nic { time, mtu, streams } => nic::run(cx, nic::Parameters { seconds: time, mtu, streams }),
        Bench::Rtt { reads, keys } => rtt::run(cx, reads, keys),
        Bench::Rma { reads } => rma::run(cx, reads),
        Bench::OpenclOverhead(ref args) => overhead::run(cx, args),
    }
}

/// Figures of a debug build say little.
pub(crate) fn warn_if_debug(cx: &Context) {
    if cfg!(debug_assertions) {
        cx.ui.warn("this is a debug build; measure with `cargo build --release`");
    }
}
