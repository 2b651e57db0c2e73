//! Random inputs for a target, until its time is over or it fails.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use rackloom_node::Rng;

/// What is fuzzed: panics when a promise is broken. `Err` means that the bytes did not suffice, which is no failure.
pub type Target = fn(&mut Unstructured<'_>) -> arbitrary::Result<()>;

/// Most bytes of an input: two jumbo frames and what chooses among their shapes.
const INPUT_MAX: u64 = 20_000;

/// How long, and from where.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The campaign's seed.
    pub seed: u64,
    /// Its time.
    pub time: Duration,
    /// This input alone, by its own seed.
    pub only: Option<u64>,
}

impl Options {
    /// From `RACKLOOM_FUZZ_SEED` (default 1), `RACKLOOM_FUZZ_SECONDS` (default 5) and `RACKLOOM_FUZZ_INPUT`; decimal,
    /// or hexadecimal after 0x.
    ///
    /// # Panics
    /// If one of them is not a number.
    pub fn from_env() -> Self {
        let number = |name: &str| {
            let text = std::env::var(name).ok()?;
            let number = match text.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16),
                None => text.parse(),
            };
            Some(number.unwrap_or_else(|e| panic!("{name}={text}: {e}")))
        };
        Self {
            seed: number("RACKLOOM_FUZZ_SEED").unwrap_or(1),
            time: Duration::from_secs(number("RACKLOOM_FUZZ_SECONDS").unwrap_or(5)),
            only: number("RACKLOOM_FUZZ_INPUT"),
        }
    }
}

/// An input on which the target panicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The input's own seed.
    pub seed: u64,
    /// How many inputs went well before.
    pub after: u64,
    /// The panic's message.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, after, message } = self;
        write!(
            f,
            "input {seed:#018x} (after {after} good ones): {message}; RACKLOOM_FUZZ_INPUT={seed:#018x} repeats it"
        )
    }
}

/// Runs inputs until the time is over; gives their number. The n-th input depends on the campaign's seed and n alone.
///
/// # Errors
/// The first input that fails.
pub fn run(target: Target, options: Options) -> Result<u64, Failure> {
    if let Some(seed) = options.only {
        return one(target, seed).map(|()| 1).map_err(|message| Failure { seed, after: 0, message });
    }
    let end = Instant::now() + options.time;
    let mut seeds = Rng::new(options.seed);
    let mut after = 0;
    loop {
        let seed = seeds.next_u64();
        one(target, seed).map_err(|message| Failure { seed, after, message })?;
        after += 1;
        if Instant::now() >= end {
            return Ok(after);
        }
    }
}

/// Runs the input of this seed; an error is the panic's message.
fn one(target: Target, seed: u64) -> Result<(), String> {
    let bytes = input(seed);
    let run = || target(&mut Unstructured::new(&bytes));
    // `Err` of the target itself says that the bytes ran out in the middle: the part that ran went well.
    panic::catch_unwind(AssertUnwindSafe(run)).map(|_| ()).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message").to_owned()
    })
}

/// The bytes of this seed: short ones more often than long ones, and the bytes at which code goes wrong more often than
/// others.
fn input(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let long = rng.below(INPUT_MAX);
    let length = rng.below(long + 1);
    let edge_share = rng.below(100) as f64 / 200.0;
    let byte = |_| {
        let any = rng.next_u64() as u8;
        if rng.chance(edge_share) { [0, 1, 0x7f, 0x80, 0xff][usize::from(any) % 5] } else { any }
    };
    (0..length).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_wire::{Kind, Packet};

    fn options(seed: u64) -> Options {
        Options { seed, time: Duration::from_secs(20), only: None }
    }

    /// A card with a bug: a launch with exactly 13 arguments that carries a flag.
    fn planted(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
        let frame = crate::frame::any(u)?;
        if let Ok(packet) = Packet::parse(&frame)
            && packet.head.kind == Kind::ExecLaunch
            && packet.head.flags != 0
            && packet.view::<rackloom_wire::Launch>().is_some_and(|(l, _)| l.args.get() == 13)
        {
            panic!("planted");
        }
        Ok(())
    }

    #[test]
    fn a_planted_crash_is_found_and_its_seed_repeats_it() {
        let failure = run(planted, options(1)).expect_err("the planted crash must be found");
        assert_eq!(failure.message, "planted");
        assert!(failure.after > 10, "a crash that any input finds proves little: {failure}");
        assert_eq!(run(planted, options(1)), Err(failure.clone()), "the same seed gives the same inputs");
        let alone = Options { only: Some(failure.seed), ..options(2) };
        assert_eq!(run(planted, alone), Err(Failure { after: 0, ..failure }));
    }

    #[test]
    fn another_seed_gives_other_inputs() {
        assert_ne!(input(1), input(2));
        assert_eq!(input(3), input(3));
        assert!((0..200).any(|seed| input(seed).len() > 10_000));
        assert!((0..200).any(|seed| input(seed).len() < 60));
    }
}
