//! Who may run open: a rack on a virtual segment, and one on an interface whose user has named the danger.

use std::path::PathBuf;

use rackloom::Net;

use super::{Kind, Topology};
use crate::args::{CardCount, Up};
use crate::failure::{Failure, Result};
use crate::keyring::{Held, Keyring};
use crate::keys::{self, CardFile};

/// Where the keys of a rack's cards come from.
#[derive(Debug)]
pub(crate) enum Access {
    /// They have none: whoever reaches them may claim them.
    Open,
    /// From a file that the user has named.
    Given(PathBuf),
    /// From the folder of the interface, where they are made at the first start.
    Kept(Keyring),
}

/// The keys of a rack's cards.
#[derive(Debug)]
pub(crate) enum Keyed {
    No,
    Given(CardFile),
    Kept(Keyring, Held),
}

impl Access {
    /// What the options say, before anything is opened or made.
    pub(crate) fn of(
        net: &Net,
        args: &Up,
        insecure_open: bool,
        kinds: &[CardCount],
        cables: &Topology,
    ) -> Result<Self> {
        Self::decide(Keyring::of(net), net, args, insecure_open, kinds, cables)
    }

    fn decide(
        keyring: Option<Keyring>,
        net: &Net,
        args: &Up,
        insecure_open: bool,
        kinds: &[CardCount],
        cables: &Topology,
    ) -> Result<Self> {
        if let (false, Some(far)) = (insecure_open, cables.networks().find(|far| far.interface().is_some())) {
            let what = format!("a cable leads to {far}, and frames of ports other than port 0 have no tags");
            return Err(Failure::new(what).help(DANGER));
        }
        if let Some(file) = &args.keys {
            return Ok(Self::Given(file.clone()));
        }
        let Some(interface) = net.interface() else { return Ok(Self::Open) };
        if insecure_open {
            return match keyring.filter(Keyring::is_there) {
                None => Ok(Self::Open),
                Some(keyring) => Err(keyring.excludes_open()),
            };
        }
        let is_gateware = kinds.iter().any(|asked| asked.kind == Kind::Rtl);
        if is_gateware && (!cables.links().is_empty() || cables.host_port().is_some()) {
            let what = format!(
                "cards on interface {interface} have keys, and those of kind rtl have neither links nor a host behind \
                 them beside a key"
            );
            return Err(Failure::new(what).help(format!("use model cards; or {DANGER}")));
        }
        let none = || {
            let what =
                "there is no place for the keys of this rack: neither XDG_STATE_HOME nor HOME is an absolute path";
            Failure::new(what).help(format!("set one of them; or give keys with --keys FILE; or {DANGER}"))
        };
        keyring.map(Self::Kept).ok_or_else(none)
    }

    /// Reads the keys, or makes them. `seed` is what the user has asked for.
    pub(crate) fn keys(self, seed: Option<u64>) -> Result<Keyed> {
        Ok(match self {
            Self::Open => Keyed::No,
            Self::Given(file) => Keyed::Given(keys::read(&file)?),
            Self::Kept(keyring) => {
                let held = keyring.cards(seed)?;
                Keyed::Kept(keyring, held)
            }
        })
    }
}

impl Keyed {
    /// The keys, if there are any.
    pub(crate) const fn cards(&self) -> Option<&CardFile> {
        match self {
            Self::No => None,
            Self::Given(cards) | Self::Kept(_, Held { cards, .. }) => Some(cards),
        }
    }

    /// The folder of the interface's keys, if they are from there.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::Kept(keyring, _) => Some(keyring.path()),
            Self::No | Self::Given(_) => None,
        }
    }

    /// What the user should know of where they are.
    pub(crate) fn in_words(&self) -> Option<String> {
        let Self::Kept(keyring, held) = self else { return None };
        let folder = keyring.path();
        Some(match held.are_new {
            false => format!("the cards serve hosts with the keys in {}", folder.display()),
            true => format!(
                "made the keys of this rack, in {}: its cards serve only who has them\nthis user's commands on this machine \
                 find them; for another machine copy {} there, and name it with --key",
                folder.display(),
                keyring.host_path().display()
            ),
        })
    }
}

/// The way out for who wants none of this.
const DANGER: &str = "say with --insecure-open that whoever is on the network may take the cards over";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Command};

    /// What `rackloom up` with these arguments would do, with the folder for keys in this place.
    fn up(state: &tempfile::TempDir, arguments: &str) -> Result<Access> {
        let words = ["rackloom", "up"].into_iter().chain(arguments.split_whitespace());
        let cli = args::parse(&words.map(Into::into).collect::<Vec<_>>()).unwrap();
        let Command::Up(up) = cli.command else { panic!("it is another command") };
        let cables = Topology::new(up.cable.clone()).unwrap().with_nics(up.nic.clone()).unwrap();
        let cables =
            up.links.iter().fold(cables, |cables, links| cables.with_links(&links.parse().unwrap(), 2).unwrap());
        let (net, open) = (&cli.global.net, cli.global.insecure_open);
        Access::decide(Keyring::under(state.path().to_owned(), net), net, &up, open, &up.card, &cables)
    }

    fn refused(state: &tempfile::TempDir, arguments: &str) -> String {
        let failure = up(state, arguments).unwrap_err();
        format!("{}: {}", failure.what, failure.help.unwrap_or_default())
    }

    #[test]
    fn a_rack_on_an_interface_has_keys_unless_its_user_names_the_danger() {
        let state = tempfile::tempdir().unwrap();
        for arguments in ["", "--net virtual:lab", "--links full", "--card rtl:2 --links full", "--insecure-open"] {
            assert!(matches!(up(&state, arguments), Ok(Access::Open)), "{arguments}");
        }
        for arguments in ["--net eth:e", "--net eth:e --card rtl:1,model:1", "--net eth:e --links full --nic 0=rl0"] {
            assert!(matches!(up(&state, arguments), Ok(Access::Kept(_))), "{arguments}");
        }
        for arguments in ["--keys k", "--net eth:e --keys k", "--net eth:e --keys k --insecure-open --cable 0.1-eth:f"]
        {
            assert!(matches!(up(&state, arguments), Ok(Access::Given(_))), "{arguments}");
        }
        assert!(matches!(up(&state, "--net eth:e --insecure-open"), Ok(Access::Open)));
    }

    #[test]
    fn what_has_no_keys_on_an_interface_is_refused_and_says_so() {
        let state = tempfile::tempdir().unwrap();
        for arguments in ["--net eth:e --card rtl:2 --links full", "--net eth:e --card rtl:2 --nic 0=rl0"] {
            let said = refused(&state, arguments);
            assert!(said.contains("neither links nor a host") && said.contains("--insecure-open"), "{said}");
            assert!(matches!(up(&state, &format!("{arguments} --insecure-open")), Ok(Access::Open)), "{arguments}");
        }
        for arguments in ["--cable 0.1-eth:f", "--net eth:e --keys k --cable 0.1-eth:f"] {
            let said = refused(&state, arguments);
            assert!(said.contains("a cable leads to eth:f") && said.contains("--insecure-open"), "{said}");
        }
        assert!(!state.path().join("rackloom").exists(), "nothing is made before it is known to be of use");
    }

    #[test]
    fn who_has_keys_for_an_interface_does_not_run_open_there() {
        let state = tempfile::tempdir().unwrap();
        let Ok(Access::Kept(keyring)) = up(&state, "--net eth:e") else { panic!("it has no keys") };
        let keyed = Access::Kept(keyring.clone()).keys(None).unwrap();
        let said = keyed.in_words().unwrap();
        assert!(said.contains("made the keys") && said.contains("eth-e/host.keys there"), "{said}");
        drop(keyed);
        let keyed = Access::Kept(keyring.clone()).keys(None).unwrap();
        assert!(keyed.in_words().unwrap().contains("the cards serve hosts with the keys in"));
        let said = refused(&state, "--net eth:e --insecure-open");
        assert!(said.contains("passes over no keys") && said.contains("move the folder away"), "{said}");
        // Also where they are of no use.
        std::fs::write(keyring.path().join("cards.keys"), "{").unwrap();
        assert!(refused(&state, "--net eth:e --insecure-open").contains("passes over no keys"));
    }
}
