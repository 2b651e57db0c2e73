//! `rackloom key`: from a rack's key those of its cards, and those of its hosts.

use crate::args::KeyAction;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::keys::{self, RackFile};

pub(super) fn run(cx: &Context, action: &KeyAction) -> Result<Exit> {
    match action {
        KeyAction::New { out } => {
            keys::write(out, &RackFile::draw()?)?;
            cx.ui.say(format!("{} has the rack's key: keep it where no card and no host is", out.display()));
        }
        KeyAction::Cards { rack, hosts, out, cards } => {
            let hosts = hosts.iter().map(|host| (host.number, host.generation)).collect();
            keys::write(out, &keys::read::<RackFile>(rack)?.cards(cards, hosts)?)?;
            cx.ui.say(format!("{} has the keys of {} cards", out.display(), cards.len()));
        }
        KeyAction::Host { rack, host, out, cards } => {
            keys::write(out, &keys::read::<RackFile>(rack)?.host(host.number, host.generation, cards)?)?;
            cx.ui.say(format!("{} has the keys of host {} for {} cards", out.display(), host.number, cards.len()));
        }
    }
    Ok(Exit::Ok)
}
