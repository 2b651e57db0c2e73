//! The studies and their options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use rackloom_manager::scheduler::Policy;

use super::parse::CardCount;
use super::sharing::OpenClSite;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom study                               list the studies
  rackloom study saf-reconfigure --svg f.svg
  rackloom study saf-reconfigure --card rtl:4  gateware, beside models
  rackloom study saf-cost --json")]
pub(crate) struct Study {
    #[command(subcommand)]
    pub(crate) study: Option<StudyName>,
}

/// The studies, each with the paper's name first.
#[derive(Debug, Subcommand)]
pub(crate) enum StudyName {
    /// SAF figure 6: an image loaded into 1 to 256 cards
    SafReconfigure {
        #[command(flatten)]
        saf: Simulated,
        /// Load 1 to N cards of a kind; rtl:4 is the gateware in Verilator, with a small image
        #[arg(long, value_name = "KIND:N")]
        card: Option<CardCount>,
    },
    /// SAF figure 7: PTRANS on 1 to 20 cards
    SafScaling(Simulated),
    /// SAF table II: what hosts and cards cost
    SafCost(Simulated),
    /// SAF table III: cards added to a running job
    SafOndemand(Simulated),
    /// DiAD figure 4: round trips to remote memory at 100 Gb/s
    DiadLatency(Simulated),
    /// DiAD figure 5: remote memory and streams at 100 Gb/s
    DiadThroughput(Simulated),
    /// DiAD figure 6: pointers chased through remote memory
    DiadMultichase(Simulated),
    /// DiAD table I: the six patterns of use, each at work
    DiadFeatures(Simulated),
    /// OPTWEB figures 10 to 15: operations over a full mesh
    OptwebCollectives(Calculated),
    /// OPTWEB figure 9: jitter of barriers
    OptwebJitter(Calculated),
    /// OPTWEB's operations: the event model beside gateware
    OptwebGateware(Calculated),
    /// OPTWEB section 5.3: more cards than links, up to 4,160
    OptwebTopologies(Calculated),
    /// OPTWEB figure 19: programs on mesh, torus and switch
    OptwebApplications(Calculated),
    /// OPTWEB figures 17 and 18: what a full mesh costs
    OptwebCost(Calculated),
    /// BlastFunction tables I to IV: functions that share boards
    BlastfunctionSharing(BlastFunctionSharing),
}

/// Options of the studies in virtual time.
#[derive(Debug, Args)]
pub(crate) struct Simulated {
    /// Run a part of the study that takes seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Draw the result to this file
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
}

/// Options of the studies that draw nothing by chance.
#[derive(Debug, Args)]
pub(crate) struct Calculated {
    /// Run a part of the study that takes seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Draw the result to this file
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rackloom study blastfunction-sharing --svg .         three minutes; charts in this folder
  rackloom study blastfunction-sharing --policy fifo   first come, first served, as in the paper")]
pub(crate) struct BlastFunctionSharing {
    #[command(flatten)]
    pub(crate) site: OpenClSite,
    /// Folder of the workload programs
    #[arg(long, value_name = "FOLDER", default_value = "out/workloads/bin", value_hint = ValueHint::DirPath)]
    pub(crate) programs: PathBuf,
    /// Seconds of load in each configuration
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// The order of tasks on the boards of the tables
    #[arg(long, value_enum, default_value_t)]
    pub(crate) policy: Policy,
    /// Run a few configurations for a second each: a check that everything works, not a measurement
    #[arg(long, conflicts_with = "seconds")]
    pub(crate) quick: bool,
    /// Draw charts into this folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) svg: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_study_in_virtual_time_is_a_command() {
        let command = crate::args::command();
        let study = command.find_subcommand("study").unwrap();
        let names = rackloom_study_saf::NAMES.into_iter().chain(rackloom_study_diad::NAMES);
        for name in names.chain(rackloom_study_optweb::NAMES) {
            assert!(study.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_commands_that_a_study_names_are_commands() {
        for pattern in rackloom_study_diad::features::Pattern::ALL {
            let words = pattern.command().split(' ');
            crate::args::command().try_get_matches_from(words).unwrap_or_else(|e| panic!("{}: {e}", pattern.command()));
        }
    }
}
