//! What every command gets: the terminal, the global options, and the connection to a rack.

use rackloom::{MacAddr, Rack, RackOptions};

use crate::args::Global;
use crate::failure::Result;
use crate::ui::Ui;

/// What every command gets.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) ui: Ui,
    pub(crate) global: Global,
}

impl Context {
    /// Connects to the segment that the user named.
    pub(crate) fn connect(&self) -> Result<Rack> {
        let options = RackOptions { deadline: self.global.timeout, jumbo: true, ..RackOptions::default() };
        Ok(Rack::connect(&self.global.net, options)?)
    }

    /// Claims cards; returns those that granted the claim, and those that did not with the reason.
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
