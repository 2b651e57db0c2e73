//! The card model: the suite, and beside it what only a model shows, such as events, exact virtual time, a live pace,
//! and what can be wrong with a sandbox.

mod bridge;
mod bump;
mod cards;
mod flash;
mod launches;
mod loading;
mod memory;
mod native;
mod nic;
#[cfg(feature = "planted-bugs")]
mod planted;
mod ports;
mod random;
mod results;
mod session;
mod signed;
mod talker;

mod suite {
    use rackloom_card::Card;

    rackloom_conformance::suite!(Card);
}
