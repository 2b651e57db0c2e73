//! The studies by their names.

use rackloom_report::{Progress, StudyReport};

use crate::error::{Result, StudyError};
use crate::names::NAMES;
use crate::{cost, ondemand, reconfigure, scaling};
use rackloom_rack::Kind;

/// The settings that all studies share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Run a part of the study that takes seconds.
    pub quick: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The kind of cards and the largest number of them, instead of the study's own.
    pub cards: Option<(Kind, usize)>,
}

/// Runs the study of this name with its own defaults.
///
/// # Errors
/// If the name is unknown, an option is invalid, or the study cannot be finished.
pub fn run(name: &str, settings: Settings, progress: &mut dyn Progress) -> Result<Box<dyn StudyReport>> {
    let Settings { quick, seed, cards } = settings;
    if cards.is_some() && name != "saf-reconfigure" && NAMES.contains(&name) {
        return Err(StudyError::Option { option: "card", why: "the study saf-reconfigure with it".into() });
    }
    match name {
        "saf-cost" => Ok(Box::new(cost::run(&cost::Options, progress)?)),
        "saf-ondemand" => {
            let options = if quick { ondemand::Options::quick() } else { ondemand::Options::default() };
            Ok(Box::new(ondemand::run(&ondemand::Options { seed, ..options }, progress)?))
        }
        "saf-reconfigure" => {
            let options = if quick { reconfigure::Options::quick() } else { reconfigure::Options::default() };
            let options = match cards {
                Some((kind, most)) => options.with_cards(kind, most),
                None => options,
            };
            Ok(Box::new(reconfigure::run(&reconfigure::Options { seed, ..options }, progress)?))
        }
        "saf-scaling" => {
            let options = if quick { scaling::Options::quick() } else { scaling::Options::default() };
            Ok(Box::new(scaling::run(&scaling::Options { seed, ..options }, progress)?))
        }
        name => Err(StudyError::Unknown { name: name.to_owned() }),
    }
}
