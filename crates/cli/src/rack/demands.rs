//! What the cards of a rack ask of hosts and images: keys, and signatures. And what their boards keep of the latter.

use std::path::{Path, PathBuf};

use rackloom::{MacAddr, Policy};
use rackloom_card::Config;
use rackloom_live::Member;
use rackloom_rack::AnyCard;
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
    policy: Option<Policy>,
    /// Where the boards keep which versions have run, and what of it is still to be written.
    kept: Option<PathBuf>,
    unwritten: Option<Vec<(MacAddr, Release)>>,
    is_warned: bool,
}

impl Demands {
    /// Reads the files that the options name, and gives the boards of the rack what they have kept.
    pub(crate) fn read(args: &Up, policy: Option<Policy>, rack: &LiveRack) -> Result<Self> {
        if let Some(file) = &args.versions {
            rack.versions().restore(signers::read_versions(file)?);
        }
        Ok(Self {
            keys: args.keys.as_deref().map(keys::read).transpose()?,
            policy,
            kept: args.versions.clone(),
            unwritten: None,
            is_warned: false,
        })
    }

    /// What this card asks, for its configuration.
    pub(crate) fn of(&self, kind: Kind, unit: u16, mac: MacAddr) -> Result<impl FnOnce(&mut Config) + use<>> {
        if kind == Kind::Rtl && self.policy.is_some() {
            return Err(Failure::new("cards of gateware do not check signatures yet")
                .help("use model cards, or omit --signers"));
        }
        let keys = self.keys.as_ref().map(|keys| keys.of(mac)).transpose()?;
        // It would serve whoever has a key that was revoked.
        if kind == Kind::Rtl && keys.as_ref().is_some_and(|keys| !keys.revokes_none()) {
            return Err(Failure::new(
                "the file of keys has hosts whose key was revoked, which cards of gateware cannot",
            )
            .help("use model cards, or give the rack its next generation with `rackloom key next`"));
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
        let is_gateware = |card: &Member<AnyCard>| card.with(|card, _| card.kind() == Kind::Rtl).unwrap_or(false);
        if let Some(unit) = rack.units().find(|unit| rack.card(*unit).is_some_and(is_gateware)) {
            return Err(Failure::new(format!(
                "card{unit} is one of gateware, which takes no other keys while it runs"
            )));
        }
        let of = |unit: u16| Ok((unit, keys.of(rack.mac(unit))?));
        let cards = rack.units().map(of).collect::<Result<Vec<_>>>()?;
        self.keys = Some(keys);
        Ok(cards.into_iter().filter_map(|(unit, keys)| rack.rekey(unit, keys).then_some(unit)).collect())
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

fn write(file: &Path, releases: &[(MacAddr, Release)]) -> std::result::Result<(), String> {
    signers::write_versions(file, releases).map_err(|f| [&[f.what], f.causes.as_slice()].concat().join(": "))
}
