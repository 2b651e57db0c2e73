//! Keys that a rack on an interface makes at its first start, as real processes in network namespaces.
//!
//! Needs root; without it the tests are skipped with a message.

mod common;
mod lab;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Finished, strings, wait_until};
use lab::{Lab, Up, netns};

/// The machines of the rack and of the host.
const RACK: usize = 0;
const HOST: usize = 1;

/// A manager that shares the cards on its interface.
const MANAGER: [&str; 5] = ["manager", "--cards", "eth:eth0", "--listen", "unix:manager"];

/// Where a machine has the keys of its interface.
fn folder(lab: &Lab, machine: usize) -> PathBuf {
    lab.state(machine).join("rackloom/eth-eth0")
}

/// The file for hosts goes from a folder of keys to its place among another user's state.
fn copy_keys(from: &Path, state: &Path) {
    let folder = state.join("rackloom/eth-eth0");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
    fs::copy(from.join("host.keys"), folder.join("host.keys")).unwrap();
}

fn serves(lab: &Lab, machine: usize, more: &[&str]) {
    let done = lab.run(machine, &[&["load", "vadd"], more].concat());
    assert_eq!(done.code, 0, "{more:?}: {done:?}");
}

fn refuses(done: &Finished, says: &[&str]) {
    assert_ne!(done.code, 0, "{done:?}");
    for part in says {
        assert!(done.stderr.contains(part), "no {part:?} in:\n{}", done.stderr);
    }
}

fn macs(lab: &Lab) -> Vec<String> {
    strings(&lab.json(HOST, &["ls"])["cards"], "mac")
}

#[test]
fn a_rack_makes_its_keys_at_first_start_and_serves_only_who_has_them() {
    if !netns::permitted() {
        return;
    }
    let lab = Lab::new(2, 1500);
    let first = lab.up(RACK, &["--cards", "2"]);
    wait_until("the rack to say where its keys are", || first.said().contains("--key"));
    let place = folder(&lab, RACK);
    assert!(first.said().contains(&format!("made the keys of this rack, in {}", place.display())), "{}", first.said());

    // A host without keys sees the cards, and that they ask for one; it claims none, whatever it says.
    let ls = lab.run(HOST, &["ls"]);
    assert!(ls.code == 0 && ls.stdout.contains("claims need a key: all"), "{ls:?}");
    assert_eq!(lab.run(HOST, &["info", "card0"]).code, 0);
    let unkeyed = ["this host has no keys for cards on eth:eth0", "--key FILE", "--insecure-open"];
    refuses(&lab.run(HOST, &["load", "vadd"]), &unkeyed);
    refuses(&lab.run(HOST, &["mem", "read", "card0", "2M", "64"]), &unkeyed);
    refuses(&lab.run(HOST, &["load", "vadd", "--insecure-open"]), &["asks for a key"]);
    refuses(&lab.run(HOST, &MANAGER), &["cannot share cards of eth:eth0"]);

    // By the file, by its place, and on the rack's own machine.
    let keys = place.join("host.keys");
    serves(&lab, HOST, &["--key", keys.to_str().unwrap()]);
    copy_keys(&place, &lab.state(HOST));
    serves(&lab, HOST, &[]);
    serves(&lab, RACK, &["--net", "virtual:eth-eth0"]);
    let mut manager = lab.command(HOST, &MANAGER).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(manager.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "board 1: Rackloom card 1"), "it has claimed both");
    common::interrupt(&manager);
    manager.wait().unwrap();
    refuses(&lab.run(HOST, &["load", "vadd", "--insecure-open"]), &["passes over no keys", "mv "]);

    // The same cards and the same keys at the next start, for more cards as well, and for one that is added.
    let before = macs(&lab);
    drop(first);
    let second = lab.up(RACK, &["--cards", "3", "--quiet"]);
    lab.json(RACK, &["card", "add"]);
    let after = macs(&lab);
    assert!(after.len() == 4 && after[..2] == before[..], "{after:?} {before:?}");
    serves(&lab, HOST, &[]);
    drop(second);
    let again = lab.up(RACK, &["--cards", "1"]);
    wait_until("the rack to say which keys it has", || again.said().contains("the cards serve hosts with the keys in"));
}

/// Whoever announces open cards, under the addresses of the rack's own, brings no host to use them that has keys.
#[test]
fn open_cards_are_for_hosts_that_name_the_danger_and_have_no_keys() {
    if !netns::permitted() {
        return;
    }
    let lab = Lab::new(2, 1500);
    let keyed = lab.json(RACK, &["up", "--cards", "1", "--for", "1ms"]);
    let seed = keyed["seed"].to_string();
    assert_eq!(keyed["keys"], folder(&lab, RACK).to_str().unwrap());
    refuses(&lab.run(RACK, &["up", "--insecure-open", "--for", "1ms"]), &["passes over no keys"]);
    // The stranger is another machine: he has none of the keys.
    let aside = lab.state(RACK).join("aside");
    fs::rename(folder(&lab, RACK), &aside).unwrap();
    let open: Up = lab.up(RACK, &["--cards", "1", "--seed", &seed, "--insecure-open"]);
    wait_until("the rack to warn", || open.said().contains("whoever is on the network of eth:eth0 can take these"));
    // A host with the rack's keys hears that the card asks for none. It takes its time to give up; others go on.
    let kept = lab.files.path("kept");
    fs::create_dir(&kept).unwrap();
    copy_keys(&aside, &kept);
    let mut deceived = lab.command(HOST, &["load", "vadd"]);
    deceived.env("XDG_STATE_HOME", &kept).stdout(Stdio::piped()).stderr(Stdio::piped());
    let deceived = deceived.spawn().unwrap();
    let ls = lab.run(HOST, &["ls"]);
    assert!(ls.code == 0 && !ls.stdout.contains("need a key"), "{ls:?}");

    refuses(&lab.run(HOST, &["load", "vadd"]), &["this host has no keys for cards on eth:eth0"]);
    serves(&lab, HOST, &["--insecure-open"]);
    let peer = macs(&lab).remove(0);
    let read = ["rma", "read", &peer, "2M", "64", "--timeout", "1s"];
    refuses(&lab.run(HOST, &read), &["have no tags", "--insecure-open"]);
    refuses(&lab.run(HOST, &[&read[..], &["--insecure-open"]].concat()), &["does not answer strangers"]);

    let deceived = Finished::of(deceived.wait_with_output().unwrap());
    refuses(&deceived, &["has not answered a claim under its key", "a stranger who poses as it"]);
}

#[test]
fn keys_that_are_spoilt_or_cannot_be_written_never_make_a_rack_open() {
    if !netns::permitted() {
        return;
    }
    let lab = Lab::new(2, 1500);
    // Files may not grow, as on a disk that is full.
    let up = lab.command(RACK, &["up", "--for", "1ms"]);
    let script = r#"trap '' XFSZ; ulimit -f 0; exec "$@""#;
    let mut full = std::process::Command::new("sh");
    full.args(["-c", script, "sh"]).arg(up.get_program()).args(up.get_args());
    up.get_envs().for_each(|(name, value)| _ = value.map(|value| full.env(name, value)));
    refuses(&Finished::of(full.output().unwrap()), &["cannot make the keys of this rack"]);
    assert_eq!(fs::read_dir(lab.state(RACK).join("rackloom")).unwrap().count(), 0);

    let up = ["up", "--cards", "1", "--for", "1ms"];
    assert_eq!(lab.run(RACK, &up).code, 0);
    copy_keys(&folder(&lab, RACK), &lab.state(HOST));
    for (machine, name, command) in [(RACK, "cards.keys", &up[..]), (HOST, "host.keys", &["ls"])] {
        let file = folder(&lab, machine).join(name);
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..100]).unwrap();
        refuses(&lab.run(machine, command), &["cannot use the keys in", "move the folder away"]);
        fs::write(&file, &whole).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        refuses(&lab.run(machine, command), &["its mode is 604, not 600", "chmod 600"]);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(lab.run(machine, command).code, 0);
    }
}
