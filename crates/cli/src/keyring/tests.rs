//! The folder of an interface's keys, whatever becomes of it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use rackloom_rack::card_address;

use super::*;
use crate::keys::CARDS_OF_SEED;

fn at(state: &Path, net: &str) -> Option<Keyring> {
    Keyring::under(state.to_owned(), &net.parse().unwrap())
}

fn on_eth0(state: &tempfile::TempDir) -> Keyring {
    at(state.path(), "eth:eth0").unwrap()
}

fn why<T: std::fmt::Debug>(result: Result<T>) -> String {
    let failure = result.unwrap_err();
    [vec![failure.what], failure.causes, failure.help.into_iter().collect()].concat().join(": ")
}

#[test]
fn the_place_is_of_the_user_and_the_interface() {
    let folder = |vars: &[(&str, &str)]| {
        let env = |name: &str| vars.iter().find(|var| var.0 == name).map(|var| OsString::from(var.1));
        state_folder(env)
    };
    assert_eq!(folder(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]).unwrap(), Path::new("/s"));
    assert_eq!(folder(&[("HOME", "/h")]).unwrap(), Path::new("/h/.local/state"));
    assert_eq!(folder(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]).unwrap(), Path::new("/h/.local/state"));
    assert_eq!(folder(&[("XDG_STATE_HOME", ""), ("HOME", "")]), None);

    let path = |net: &str| at(Path::new("/s"), net).map(|keyring| keyring.path());
    assert_eq!(path("eth:enp1s0").unwrap(), Path::new("/s/rackloom/eth-enp1s0"));
    assert_eq!(path("virtual:eth-enp1s0"), path("eth:enp1s0"), "the segment of a rack on an interface");
    assert_eq!(path("eth:../../x").unwrap(), Path::new("/s/rackloom/eth-------x"), "no name leads elsewhere");
    assert_eq!((path("virtual"), path("virtual:lab")), (None, None));
}

#[test]
fn keys_are_made_once_and_found_again() {
    let state = tempfile::tempdir().unwrap();
    let keyring = on_eth0(&state);
    assert!(!keyring.is_there() && keyring.host().unwrap().is_none());
    let first = keyring.cards(None).unwrap();
    let seed = first.cards.seed().unwrap();
    assert!(first.are_new && keyring.is_there());
    let modes = [keyring.all.clone(), keyring.path(), keyring.host_path(), keyring.path().join(CARD_KEYS)]
        .map(|path| fs::metadata(path).unwrap().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o700, 0o600, 0o600]);
    drop(first);
    let second = keyring.cards(Some(seed)).unwrap();
    assert!(!second.are_new && second.cards.seed() == Some(seed));
    // Both files are of the same cards.
    let host = keyring.host().unwrap().unwrap().keys().unwrap();
    assert_eq!(host.cards().count(), usize::from(CARDS_OF_SEED));
    for unit in [0, CARDS_OF_SEED - 1] {
        let card = card_address(seed, unit);
        assert!(second.cards.of(card).is_ok() && host.cards().any(|known| known == card));
    }
    let said = why(second.cards.of(card_address(seed, CARDS_OF_SEED)).map(|_| ()));
    assert!(said.contains("the file of keys has none for"), "{said}");
    let other = at(state.path(), "eth:eth1").unwrap().cards(Some(7)).unwrap();
    assert!(other.are_new && other.cards.seed() == Some(7), "another interface has keys of its own");
}

#[test]
fn one_rack_at_a_time_has_the_keys_and_with_its_own_addresses_only() {
    let state = tempfile::tempdir().unwrap();
    let keyring = on_eth0(&state);
    let held = keyring.cards(Some(3)).unwrap();
    let said = why(keyring.cards(None));
    assert!(said.contains("another rack has the keys") && said.contains("XDG_STATE_HOME"), "{said}");
    drop(held);
    let said = why(keyring.cards(Some(4)));
    assert!(said.contains("are of cards with seed 3, not 4"), "{said}");
}

#[test]
fn of_many_that_start_at_once_one_makes_the_keys_and_all_others_find_them() {
    let state = tempfile::tempdir().unwrap();
    let keyring = on_eth0(&state);
    let made: Vec<_> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| keyring.make(None).unwrap().1)).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|is_ours| **is_ours).count(), 1);
    assert!(!keyring.cards(None).unwrap().are_new);
    assert_eq!(fs::read_dir(&keyring.all).unwrap().count(), 1, "nothing is left beside it");
}

/// Whatever is wrong with the folder is an error for the rack and for hosts: neither takes it for "no keys".
#[test]
fn what_is_spoilt_or_could_be_another_users_is_an_error_and_never_no_keys() {
    type Spoil = fn(&Keyring);
    let cut: Spoil = |keyring| {
        for name in [CARD_KEYS, HOST_KEYS] {
            let text = fs::read_to_string(keyring.path().join(name)).unwrap();
            fs::write(keyring.path().join(name), &text[..text.len() / 2]).unwrap();
        }
    };
    let readable: Spoil = |keyring| {
        for name in [CARD_KEYS, HOST_KEYS] {
            fs::set_permissions(keyring.path().join(name), Permissions::from_mode(0o644)).unwrap();
        }
    };
    let enterable: Spoil = |k| fs::set_permissions(k.path(), Permissions::from_mode(0o711)).unwrap();
    let enterable_above: Spoil = |k| fs::set_permissions(&k.all, Permissions::from_mode(0o777)).unwrap();
    let linked: Spoil = |keyring| {
        fs::rename(keyring.path(), keyring.all.join("elsewhere")).unwrap();
        symlink("elsewhere", keyring.path()).unwrap();
    };
    let dangling: Spoil = |keyring| {
        fs::remove_dir_all(keyring.path()).unwrap();
        symlink("/nowhere", keyring.path()).unwrap();
    };
    let file: Spoil = |keyring| {
        fs::remove_dir_all(keyring.path()).unwrap();
        fs::write(keyring.path(), "").unwrap();
    };
    let empty: Spoil = |keyring| {
        fs::remove_dir_all(keyring.path()).unwrap();
        Private::make(&keyring.path()).unwrap();
    };
    let files_linked: Spoil = |keyring| {
        for name in [CARD_KEYS, HOST_KEYS] {
            fs::rename(keyring.path().join(name), keyring.all.join(name)).unwrap();
            symlink(keyring.all.join(name), keyring.path().join(name)).unwrap();
        }
    };
    let link = "it is a symbolic link, or no folder";
    for (spoil, says) in [
        (cut, "EOF while parsing"),
        (readable, "its mode is 644, not 600"),
        (enterable, "its mode is 711, not 700"),
        (enterable_above, "its mode is 777, not 700"),
        (linked, link),
        (dangling, link),
        (file, link),
        (empty, "there is no "),
        (files_linked, link),
    ] {
        let state = tempfile::tempdir().unwrap();
        let keyring = on_eth0(&state);
        drop(keyring.cards(None).unwrap());
        spoil(&keyring);
        let (rack, host) = (why(keyring.cards(None)), why(keyring.host()));
        assert!(rack.contains(says) && host.contains(says), "{says}: {rack}; {host}");
        assert!(keyring.is_there());
    }
}

#[test]
fn what_cannot_be_made_leaves_nothing() {
    let state = tempfile::tempdir().unwrap();
    fs::write(state.path().join("rackloom"), "").unwrap();
    let said = why(on_eth0(&state).cards(None));
    assert!(said.contains("rackloom"), "{said}");
    let nowhere = at(&state.path().join("rackloom/below"), "eth:eth0").unwrap();
    assert!(nowhere.cards(None).is_err() && nowhere.host().is_err());
}

/// A stranger who announces open cards, or a user who allows them, brings no host that has keys to go on without.
#[test]
fn a_host_with_keys_never_goes_on_without() {
    let state = tempfile::tempdir().unwrap();
    let keyring = on_eth0(&state);
    let of = |named: Option<&Path>, open| of_host(Some(keyring.clone()), named, open);
    assert!(of(None, false).unwrap().is_none() && of(None, true).unwrap().is_none(), "it has none yet");
    drop(keyring.cards(None).unwrap());
    assert!(of(None, false).unwrap().is_some());
    let said = why(of(None, true));
    assert!(said.contains("--insecure-open passes over no keys") && said.contains("mv "), "{said}");
    // A file that is named counts before that of the interface.
    let named = keyring.host_path();
    assert!(of(Some(&named), false).unwrap().is_some() && why(of(Some(&named), true)).contains("passes over no keys"));
    assert!(why(of(Some(&state.path().join("none")), false)).contains("cannot read the keys"));
    fs::write(&named, "").unwrap();
    assert!(of(None, false).is_err() && of(None, true).is_err(), "spoilt keys are keys");
    assert!(of_host(None, None, false).unwrap().is_none(), "a virtual segment has none");
}
