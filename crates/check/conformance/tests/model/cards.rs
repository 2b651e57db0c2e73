//! Model cards on benches, whose roles are Rust.

use std::sync::Arc;

use rackloom_card::{Card, Config, Pace};
use rackloom_conformance::bench::{self, CARD, HOST, MEMORY};

use crate::native::{Native, image};

pub(crate) type Bench = bench::Bench<Card>;

/// The configuration of a card at this pace. Digests take no time.
pub(crate) fn config(pace: Pace) -> Config {
    Config { memory: MEMORY, digest_rate: 0, fuel_max: 1 << 30, ..Config::new(CARD, pace) }
}

/// The same in virtual time.
pub(crate) fn virtual_time() -> Config {
    config(Pace::Virtual)
}

/// A card that was just switched on.
pub(crate) fn switched_on(config: Config) -> Bench {
    let (bulk, ports) = (config.bulk, 1 + config.ports.len() as u8);
    let passes = config.nic.is_some();
    let card = Card::new(config, Arc::new(Native)).unwrap();
    Bench { bulk, ports, passes, ..Bench::of(card) }
}

/// A card that is claimed by `HOST`, with nothing left to look at.
pub(crate) fn claimed(config: Config) -> Bench {
    let mut bench = switched_on(config);
    bench.claim(HOST, 1);
    bench.clear();
    bench
}

/// As [`claimed`], with a role active.
pub(crate) fn with_role(config: Config) -> Bench {
    let mut bench = claimed(config);
    bench.load(1, &image(b"first role", 0));
    bench.clear();
    bench
}
