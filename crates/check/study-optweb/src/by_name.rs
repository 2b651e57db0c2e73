//! The studies by their names.

use rackloom_report::{Progress, StudyReport};

use crate::error::{Result, StudyError};
use crate::{applications, collectives, cost, gateware, jitter, topologies};

/// The settings that all studies share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Run a part of the study that takes seconds.
    pub quick: bool,
}

/// Runs the study of this name with its own defaults.
///
/// # Errors
/// If the name is unknown, or the study cannot be finished.
pub fn run(name: &str, settings: Settings, progress: &mut dyn Progress) -> Result<Box<dyn StudyReport>> {
    let quick = settings.quick;
    match name {
        "optweb-collectives" => {
            let options = if quick { collectives::Options::quick() } else { collectives::Options::default() };
            Ok(Box::new(collectives::run(&options, progress)?))
        }
        "optweb-jitter" => {
            let options = if quick { jitter::Options::quick() } else { jitter::Options::default() };
            Ok(Box::new(jitter::run(&options, progress)?))
        }
        "optweb-gateware" => Ok(Box::new(gateware::run(&gateware::Options, progress)?)),
        "optweb-topologies" => {
            let options = if quick { topologies::Options::quick() } else { topologies::Options::default() };
            Ok(Box::new(topologies::run(&options, progress)?))
        }
        "optweb-applications" => Ok(Box::new(applications::run(&applications::Options, progress)?)),
        "optweb-cost" => Ok(Box::new(cost::run(&cost::Options, progress)?)),
        name => Err(StudyError::Unknown { name: name.to_owned() }),
    }
}
