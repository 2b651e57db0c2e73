//! The keys of the rack on an interface: drawn when it first starts there, and found again by whoever is this user on
//! this machine.
//!
//! They lie in a folder of the interface, by the name of the segment as which a rack there is served: `eth-enp1s0`
//! in `$XDG_STATE_HOME/rackloom`, or else in `~/.local/state/rackloom`. That is where what a program has made and needs
//! again belongs; it outlives a restart of the machine, and is its user's alone. The folder comes to be as a whole, by
//! one rename, and has the files that `rackloom key` would make: `rack.key`, `cards.keys` and `host.keys`.

mod private;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rackloom::Net;
use rackloom_rack::segment_of;
use serde::de::DeserializeOwned;

use self::private::Private;
use crate::failure::{Explain as _, Failure, Result};
use crate::format::hex;
use crate::keys::{self, CardFile, Generations, HostFile, RackFile};

/// Where the keys of an interface are, or will be.
#[derive(Debug, Clone)]
pub(crate) struct Keyring {
    /// The folder of all interfaces.
    all: PathBuf,
    /// The folder in it.
    name: String,
}

/// The keys of the cards of a rack that starts; nobody else starts one with them while this lives.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) cards: CardFile,
    /// They did not exist before.
    pub(crate) are_new: bool,
    _folder: Private,
}

/// The number of the host whose keys the folder has.
const HOST: u16 = 1;

const RACK_KEY: &str = "rack.key";
const CARD_KEYS: &str = "cards.keys";
const HOST_KEYS: &str = "host.keys";

impl Keyring {
    /// That of a network; none if it is no interface, or if the environment names no place.
    pub(crate) fn of(net: &Net) -> Option<Self> {
        Self::under(state_folder(|name| std::env::var_os(name))?, net)
    }

    /// The same in this folder of states.
    pub(crate) fn under(state: PathBuf, net: &Net) -> Option<Self> {
        let name = segment_of(net).ok()?.name().to_owned();
        // A rack on an interface is a segment as well, for processes of this user on its machine.
        let is_interface = net.interface().is_some() || name.starts_with("eth-");
        is_interface.then(|| Self { all: state.join("rackloom"), name })
    }

    /// The folder.
    pub(crate) fn path(&self) -> PathBuf {
        self.all.join(&self.name)
    }

    /// The file for hosts.
    pub(crate) fn host_path(&self) -> PathBuf {
        self.path().join(HOST_KEYS)
    }

    /// Whether there is anything in its place, be it of use or not.
    pub(crate) fn is_there(&self) -> bool {
        // Also what cannot be looked at.
        self.path().symlink_metadata().map_or_else(|e| e.kind() != ErrorKind::NotFound, |_| true)
    }

    /// Why nothing runs open here, whatever the user says: who has keys would never know that they were passed over.
    pub(crate) fn excludes_open(&self) -> Failure {
        let shown = self.shown();
        Failure::new(format!("there are keys for this interface in {shown}, and --insecure-open passes over no keys"))
            .help(format!(
                "omit --insecure-open; to run open here from now on, move the folder away: mv {shown} {shown}.old"
            ))
    }

    /// The keys of hosts on this machine; none if there is no folder.
    pub(crate) fn host(&self) -> Result<Option<HostFile>> {
        match self.folder()? {
            None => Ok(None),
            Some(folder) => self.parse(&folder, HOST_KEYS).map(Some),
        }
    }

    /// The keys of the cards, which are drawn if there is no folder. The seed of the cards' addresses is part of them;
    /// `seed` is what the user has asked for.
    pub(crate) fn cards(&self, seed: Option<u64>) -> Result<Held> {
        let (folder, are_new) = match self.folder()? {
            Some(folder) => (folder, false),
            None => self.make(seed)?,
        };
        if !folder.lock()? {
            let what = format!("another rack has the keys in {}, and with them the same addresses", self.shown());
            return Err(
                Failure::new(what).help("end that one; or give this one another XDG_STATE_HOME, or --keys FILE")
            );
        }
        let cards: CardFile = self.parse(&folder, CARD_KEYS)?;
        match (seed, cards.seed()) {
            (Some(asked), Some(own)) if asked != own => {
                let what = format!("the keys in {} are of cards with seed {own}, not {asked}", self.shown());
                Err(Failure::new(what).help("omit --seed, or give keys of other cards with --keys FILE"))
            }
            _ => Ok(Held { cards, are_new, _folder: folder }),
        }
    }

    fn folder(&self) -> Result<Option<Private>> {
        match Private::open(&self.all)? {
            None => Ok(None),
            Some(all) => all.folder(&self.name),
        }
    }

    fn parse<T: DeserializeOwned>(&self, folder: &Private, name: &str) -> Result<T> {
        let what = || format!("cannot use the keys in {}", self.shown());
        let help = || {
            format!(
                "bring {name} back; or move the folder away, so that the next start of the rack makes new keys, which \
                 all hosts need then"
            )
        };
        let text = folder
            .read(name)?
            .ok_or_else(|| Failure::new(format!("there is no {name}")).during(what()).help(help()))?;
        serde_json::from_str(&text)
            .map_err(|e| Failure::of(&e).during(format!("in {name}")).during(what()).help(help()))
    }

    /// Draws the keys, and puts the folder where it belongs; if another process does so meanwhile, that one counts.
    fn make(&self, seed: Option<u64>) -> Result<(Private, bool)> {
        let all = Private::make(&self.all)?;
        let part = self.all.join(format!(".{}.{}.part", self.name, hex(&keys::random::<8>()?)));
        let put = || {
            let folder = Private::make(&part)?;
            let seed = seed.map_or_else(|| keys::random().map(u32::from_le_bytes).map(u64::from), Ok)?;
            let rack = RackFile::draw(Some(seed))?;
            let cards = rack.addresses(&[])?;
            let which = Generations::Newest;
            keys::write(&part.join(RACK_KEY), &rack)?;
            keys::write(&part.join(CARD_KEYS), &rack.cards(&cards, BTreeMap::from([(HOST, 0)]), which)?)?;
            keys::write(&part.join(HOST_KEYS), &rack.host(HOST, 0, &cards, which)?)?;
            folder.sync().during(format!("cannot write {}", part.display()))?;
            std::fs::rename(&part, self.path()).map_err(|e| (e.kind(), e)).map_or_else(
                |(kind, e)| match kind {
                    ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => Ok(false),
                    _ => Err(e).during(format!("cannot make {}", self.shown())),
                },
                |()| Ok(true),
            )
        };
        let is_ours = put();
        if !matches!(is_ours, Ok(true)) {
            let _ = std::fs::remove_dir_all(&part);
        }
        let is_ours = is_ours.during("cannot make the keys of this rack")?;
        all.sync().during(format!("cannot write {}", self.all.display()))?;
        let folder = all.folder(&self.name)?;
        Ok((folder.ok_or_else(|| Failure::new(format!("{} was taken away", self.shown())))?, is_ours))
    }

    fn shown(&self) -> String {
        self.path().display().to_string()
    }
}

/// The keys of a host: those in the file that its user has named, or else those of the interface, if there are any. Who
/// has keys goes nowhere on without them, whatever cards announce, and also if the user says that this may be.
pub(crate) fn of_host(keyring: Option<Keyring>, named: Option<&Path>, insecure_open: bool) -> Result<Option<HostFile>> {
    match (named, keyring) {
        (Some(_), _) if insecure_open => {
            Err(Failure::new("--insecure-open passes over no keys")
                .help("omit it; or omit --key, and unset RACKLOOM_KEY"))
        }
        (Some(file), _) => keys::read(file).map(Some),
        (None, Some(keyring)) if insecure_open && keyring.is_there() => Err(keyring.excludes_open()),
        (None, Some(keyring)) => keyring.host(),
        (None, None) => Ok(None),
    }
}

/// Where programs of this user keep what they need again.
fn state_folder(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // An empty or relative path in the environment means none: the XDG specification says so.
    let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
}

#[cfg(test)]
mod tests;
