//! What the cards of a rack ask of hosts and images: keys, and signatures. And what their boards keep of the latter.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rackloom::{MacAddr, Policy};
use rackloom_card::{Config, Keys};
use rackloom_sign::Release;

use super::{Kind, LiveRack};
use crate::args::Up;
use crate::failure::{Failure, Result};
use crate::keys::{self, CardFile};
use crate::signers;
use crate::ui::Ui;

/// What all cards of a rack ask.
#[derive(Debug)]
pub(crate) struct Demands {
    keys: Option<CardFile>,
    /// Claims have to ask for encryption.
    encrypts: bool,
    policy: Option<Policy>,
    /// Where the boards keep which versions have run, and what of it is still to be written.
    kept: Option<PathBuf>,
    unwritten: Option<Vec<(MacAddr, Release)>>,
    is_warned: bool,
}

impl Demands {
    /// With these keys, and what the options ask; gives the boards of the rack what they have kept.
    pub(crate) fn new(
        args: &Up,
        keys: Option<CardFile>,
        encrypts: bool,
        policy: Option<Policy>,
        rack: &LiveRack,
    ) -> Result<Self> {
        if encrypts && keys.is_none() {
            return Err(Failure::new("without keys nothing can be encrypted").help("give the cards' with --keys FILE"));
        }
        if let Some(file) = &args.versions {
            rack.versions().restore(signers::read_versions(file)?);
        }
        Ok(Self { keys, encrypts, policy, kept: args.versions.clone(), unwritten: None, is_warned: false })
    }

    /// What this card asks, for its configuration.
    pub(crate) fn of(&self, kind: Kind, unit: u16, mac: MacAddr) -> Result<impl FnOnce(&mut Config) + use<>> {
        if kind == Kind::Rtl && self.policy.is_some() && self.keys.is_none() {
            return Err(Failure::new(format!("card{unit} is of gateware, which checks signatures where it has keys"))
                .help("give the cards' with --keys FILE, use model cards, or omit --signers"));
        }
        if kind == Kind::Rtl && self.encrypts {
            return Err(Failure::new(format!("card{unit} is of gateware, which cannot encrypt yet"))
                .help("use model cards, or omit --encrypt"));
        }
        let keys = self.keys.as_ref().map(|keys| keys.of(mac)).transpose()?;
        let keys = keys.map(|keys| keys.demanding_encryption(self.encrypts));
        keys.as_ref().map_or(Ok(()), |keys| check_room(kind, unit, keys))?;
        let (named, room) = (self.policy.iter().flat_map(Policy::signers).count(), kind.signers_max());
        if named > room {
            return Err(Failure::new(format!(
                "the policy names {named} signers, and card{unit} of kind {kind} has room for {room}"
            ))
            .help("use model cards, or make a policy of fewer signers"));
        }
        let signers = self.policy.as_ref().map(|policy| policy.of(mac, unit));
        Ok(move |config: &mut Config| (config.keys, config.signers) = (keys, signers))
    }

    /// Gives the cards, and those that come later, the keys in this file: all of them or none. Which cards have them.
    pub(crate) fn rekey(&mut self, rack: &LiveRack, file: &Path) -> Result<Vec<u16>> {
        if self.keys.is_none() {
            return Err(Failure::new("the cards of this rack have no keys: start it with `rackloom up --keys`"));
        }
        let keys: CardFile = keys::read(file)?;
        let of = |unit: u16| {
            let keys = keys.of(rack.mac(unit))?.demanding_encryption(self.encrypts);
            let kind = rack.card(unit).and_then(|card| card.with(|card, _| card.kind()).ok());
            kind.map_or(Ok(()), |kind| check_room(kind, unit, &keys))?;
            Ok((unit, keys))
        };
        let cards = rack.units().map(of).collect::<Result<Vec<_>>>()?;
        self.keys = Some(keys);
        let given: Vec<_> =
            cards.into_iter().filter_map(|(unit, keys)| rack.rekey(unit, keys).then_some(unit)).collect();
        match given.iter().find(|unit| !rack.wait_for_keys(**unit, PATIENCE)) {
            None => Ok(given),
            Some(unit) => Err(Failure::new(format!(
                "card{unit} goes on with the keys that it had: it has not taken others within {} s",
                PATIENCE.as_secs()
            ))
            .help("it may take them later; all cards were given them")),
        }
    }

    /// Writes what boards have to keep since this was called last. Where that fails it is tried again, and said once.
    pub(crate) fn keep(&mut self, rack: &LiveRack, ui: Ui) {
        let Some(file) = &self.kept else { return };
        if let Some(changes) = rack.versions().changes() {
            self.unwritten = Some(changes);
        }
        let Some(releases) = &self.unwritten else { return };
        match write(file, releases) {
            Ok(()) => (self.unwritten, self.is_warned) = (None, false),
            Err(text) if !self.is_warned => {
                self.is_warned = true;
                ui.warn(format!("{text}; until it can, older images may run after the next start"));
            }
            Err(_) => {}
        }
    }
}

/// How long a card may take until it goes by its keys. One of gateware is slow where its simulation is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Checks that a card of this kind has room for the hosts of its keys.
fn check_room(kind: Kind, unit: u16, keys: &Keys) -> Result<()> {
    let (hosts, room) = (keys.hosts().len(), kind.key_hosts_max());
    if hosts <= room {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the file of keys names {hosts} hosts, and card{unit} of kind {kind} has room for {room}, those that were \
         revoked among them"
    ))
    .help("use model cards, or make a file of fewer hosts"))
}

fn write(file: &Path, releases: &[(MacAddr, Release)]) -> std::result::Result<(), String> {
    signers::write_versions(file, releases).map_err(|f| [&[f.what], f.causes.as_slice()].concat().join(": "))
}
