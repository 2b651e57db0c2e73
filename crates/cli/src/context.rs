//! What every command is given: the terminal, the options that all share, and the way to a rack.

use rackloom::{MacAddr, Rack, RackOptions};

use crate::args::Global;
use crate::failure::Result;
use crate::ui::Ui;

/// What all commands are given.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) ui: Ui,
    pub(crate) global: Global,
}

impl Context {
    /// Plugs into the segment that the user named.
    pub(crate) fn connect(&self) -> Result<Rack> {
        let options = RackOptions { deadline: self.global.timeout, jumbo: true, ..RackOptions::default() };
        Ok(Rack::connect(&self.global.net, options)?)
    }

    /// Claims cards; gives those that granted it, and tells of the others.
    pub(crate) fn claim(&self, rack: &Rack, cards: &[MacAddr]) -> (Vec<MacAddr>, Vec<(MacAddr, rackloom::Error)>) {
        let (mut granted, mut refused) = (Vec::new(), Vec::new());
        for (card, result) in rack.claim(cards, rackloom::ClaimOptions::default()).wait() {
            match result {
                Ok(_) => granted.push(card),
                Err(e) => refused.push((card, e)),
            }
        }
        (granted, refused)
    }
}
