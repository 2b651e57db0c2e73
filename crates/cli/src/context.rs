//! What every command gets: the terminal, the global options, and the connection to a rack.

use std::sync::{Mutex, PoisonError};

use rackloom::{ClaimOptions, Error, Keys, MacAddr, Net, PATIENCE, Policy, Rack, RackOptions, WireHealth};

use crate::args::Global;
use crate::failure::{Failure, Result};
use crate::holder::{self, Holder};
use crate::keyring::{self, Keyring};
use crate::keys::HostFile;
use crate::signers;
use crate::ui::Ui;

/// What every command gets.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) ui: Ui,
    pub(crate) global: Global,
    /// The connections made, and what this process has said of itself there.
    connections: Mutex<Vec<(WireHealth, Option<Holder>)>>,
}

/// Cards that were not granted, each with the reason.
pub(crate) type Refused = Vec<(MacAddr, Error)>;

impl Context {
    pub(crate) const fn new(ui: Ui, global: Global) -> Self {
        Self { ui, global, connections: Mutex::new(Vec::new()) }
    }

    /// Connects to the segment that the user named.
    pub(crate) fn connect(&self) -> Result<Rack> {
        let keys = self.keys(&self.global.net)?;
        let (deadline, policy) = (self.global.timeout, self.policy()?);
        let insecure_open = self.global.insecure_open;
        let options = RackOptions { deadline, jumbo: true, keys, insecure_open, policy, ..RackOptions::default() };
        let rack = Rack::connect(&self.global.net, options)?;
        let holder = Holder::tell(&self.global.net, rack.mac());
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push((rack.wire_health(), holder));
        Ok(rack)
    }

    /// This host's keys on a network: those that the user has named, or those of the interface. If there are any,
    /// nothing but a user who takes them away makes this host go on without.
    pub(crate) fn keys(&self, net: &Net) -> Result<Option<Keys>> {
        let encrypt = self.global.encrypt;
        let file = keyring::of_host(Keyring::of(net), self.global.key.as_deref(), self.global.insecure_open)?;
        match file {
            Some(file) => Ok(Some(HostFile::keys(&file)?.encrypting(encrypt))),
            None if encrypt => {
                Err(Failure::new("without keys nothing can be encrypted").help("give this host's with --key FILE"))
            }
            None => Ok(None),
        }
    }

    /// Who may sign images for which cards, if the user cares.
    pub(crate) fn policy(&self) -> Result<Option<Policy>> {
        self.global.signers.as_deref().map(signers::read_policy).transpose()
    }

    /// Claims cards, and waits for those that other hosts hold as a job does; returns those that granted the claim, and
    /// those that did not with the reason.
    pub(crate) fn claim(&self, rack: &Rack, cards: &[MacAddr]) -> Result<(Vec<MacAddr>, Refused)> {
        let (mut granted, mut refused) = (Vec::new(), Vec::new());
        let patience = PATIENCE.min(self.global.timeout);
        let say = |why: &rackloom::OpError| {
            let who = holder::of(&Error::Op(why.clone())).map(|who| format!(" ({who})")).unwrap_or_default();
            self.ui.say(format!("{why}{who}; waiting for up to {:.0} s", patience.as_secs_f64()));
        };
        for (card, result) in rack.claim_in_turn(cards, ClaimOptions::default(), patience, say)? {
            match result {
                Ok(_) => granted.push(card),
                Err(e) => refused.push((card, e)),
            }
        }
        Ok((granted, refused))
    }

    /// As [`claim`](Self::claim), for a command that needs one card.
    pub(crate) fn claim_one(&self, rack: &Rack, card: MacAddr) -> Result<()> {
        match self.claim(rack, &[card])?.1.pop() {
            None => Ok(()),
            Some((_, why)) => Err(why.into()),
        }
    }

    /// Adds what the network did to a command's frames, if that may be why it failed.
    pub(crate) fn explain(&self, mut failure: Failure) -> Failure {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        failure.causes.extend(connections.iter().filter_map(|(health, _)| health.trouble()));
        failure
    }
}
