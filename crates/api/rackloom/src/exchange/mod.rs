//! Work on cards that exchange blocks themselves, without the host.

mod running;
mod work;

pub(crate) use self::running::{ExchangeStart, RunningExchange};
pub use self::work::ExchangeWork;
