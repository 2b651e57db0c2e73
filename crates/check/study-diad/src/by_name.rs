//! The studies by their names.

use rackloom_report::{Progress, StudyReport};

use crate::error::{Result, StudyError};
use crate::{features, latency, multichase, throughput};

/// The settings that all studies share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Run a part of the study.
    pub quick: bool,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Runs the study of this name with its own defaults.
///
/// # Errors
/// If the name is unknown, or the study cannot be finished.
pub fn run(name: &str, settings: Settings, progress: &mut dyn Progress) -> Result<Box<dyn StudyReport>> {
    let Settings { quick, seed } = settings;
    match name {
        "diad-latency" => {
            let options = if quick { latency::Options::quick() } else { latency::Options::default() };
            Ok(Box::new(latency::run(&latency::Options { seed, ..options }, progress)?))
        }
        "diad-throughput" => {
            let options = if quick { throughput::Options::quick() } else { throughput::Options::default() };
            Ok(Box::new(throughput::run(&throughput::Options { seed, ..options }, progress)?))
        }
        "diad-multichase" => {
            let options = if quick { multichase::Options::quick() } else { multichase::Options::default() };
            Ok(Box::new(multichase::run(&multichase::Options { seed, ..options }, progress)?))
        }
        "diad-features" => Ok(Box::new(features::run(&features::Options { seed }, progress)?)),
        name => Err(StudyError::Unknown { name: name.to_owned() }),
    }
}
