//! `rackloom key`: from a rack's key those of its cards, and those of its hosts; and the keys of signers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::args::KeyAction;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::keys::{self, CardFile, Generations, RackFile};
use crate::signers::SignerFile;

/// A signer's key.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SignerReport {
    /// `rackloom.signer/1`
    schema: &'static str,
    /// The public key, as policies name it.
    key: String,
}

pub(super) fn run(cx: &Context, action: &KeyAction) -> Result<Exit> {
    match action {
        KeyAction::New { seed, out } => {
            keys::write(out, &RackFile::draw(*seed)?)?;
            cx.ui.say(format!("{} has the rack's key: keep it where no card and no host is", out.display()));
        }
        KeyAction::Next { rack, out } => {
            let next = keys::read::<RackFile>(rack)?.next()?;
            keys::write(out, &next)?;
            let (out, generation) = (out.display(), next.generation());
            cx.ui.say(format!(
                "{out} has the rack's key of generation {generation}: make the files of cards from it and give them \
                 out, then those of hosts; once all have theirs, make those of cards with --newest-only"
            ));
        }
        KeyAction::Cards { rack, hosts, newest_only, out, cards } => {
            let hosts = hosts.iter().map(|host| (host.number, host.generation)).collect();
            let rack: RackFile = keys::read(rack)?;
            let cards = rack.addresses(cards)?;
            keys::write(out, &rack.cards(&cards, hosts, which(*newest_only))?)?;
            cx.ui.say(format!("{} has the keys of {} cards", out.display(), cards.len()));
        }
        KeyAction::Revoke { keys: file, hosts, out } => {
            let mut file: CardFile = keys::read(file)?;
            file.revoke(hosts)?;
            keys::write(out, &file)?;
            let next: Vec<_> = hosts.iter().map(|host| file.next_of(*host)).collect();
            let out = out.display();
            cx.ui.say(format!(
                "{out} revokes {}: `rackloom card keys {out}` gives it to a rack that is up, `rackloom up --keys \
                 {out}` to one that starts; to let them in again, make their next keys: --host {}",
                in_words(hosts),
                next.join(", --host ")
            ));
        }
        KeyAction::Signer { out } => {
            let file = SignerFile::draw()?;
            keys::write(out, &file)?;
            cx.ui.say(format!(
                "{} signs images in your name: keep it secret; policies name its public key",
                out.display()
            ));
            let report = SignerReport { schema: "rackloom.signer/1", key: file.public().to_owned() };
            cx.ui.result(&report, || report.key.clone());
        }
        KeyAction::Host { rack, host, newest_only, out, cards } => {
            let (number, own) = (host.number, host.generation);
            let rack: RackFile = keys::read(rack)?;
            let cards = rack.addresses(cards)?;
            keys::write(out, &rack.host(number, own, &cards, which(*newest_only))?)?;
            cx.ui.say(format!("{} has the keys of host {} for {} cards", out.display(), host.number, cards.len()));
        }
    }
    Ok(Exit::Ok)
}

const fn which(newest_only: bool) -> Generations {
    if newest_only { Generations::Newest } else { Generations::Both }
}

fn in_words(hosts: &[u16]) -> String {
    let numbers: Vec<_> = hosts.iter().map(u16::to_string).collect();
    format!("host{} {}", if hosts.len() > 1 { "s" } else { "" }, numbers.join(", "))
}
