//! Cards and hosts with keys, as real processes.

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::{Rack, strings};

/// The addresses of a rack of two cards of this seed; then the same cards with keys, and the files' folder.
fn keyed() -> (Rack, tempfile::TempDir) {
    let shape = ["--cards", "2", "--seed", "5"];
    let cards = strings(&Rack::up(&shape).json(&["ls"])["cards"], "mac");
    assert_eq!(cards.len(), 2);
    let files = tempfile::tempdir().unwrap();
    let plain = Rack::none();
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let key = |args: &[&str], cards: &[String]| {
        let mut command = plain.command(&[&["key"], args].concat());
        assert!(command.args(cards).status().unwrap().success(), "{args:?}");
    };
    key(&["new", "-o", &path("rack")], &[]);
    key(&["cards", "--rack", &path("rack"), "--hosts", "1", "-o", &path("cards")], &cards);
    key(&["host", "--rack", &path("rack"), "--host", "1", "-o", &path("host")], &cards);
    key(&["host", "--rack", &path("rack"), "--host", "1.1", "-o", &path("later")], &cards);
    key(&["host", "--rack", &path("rack"), "--host", "1", "-o", &path("one")], &cards[..1]);
    (Rack::up(&[&shape[..], &["--keys", &path("cards")]].concat()), files)
}

#[test]
fn cards_with_keys_serve_their_host_and_nobody_else() {
    let (rack, files) = keyed();
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let host = file("host");
    std::fs::write(rack.path("bytes"), [7; 5000]).unwrap();
    let write = ["mem", "write", "card0", "2M", "bytes"];
    let done = rack.run(&[&write[..], &["--key", &host]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let loaded = rack.run(&["load", "vadd", "--key", &host]);
    assert_eq!(loaded.code, 0, "{}", loaded.stderr);
    assert!(!loaded.stderr.contains("somebody poses"), "{}", loaded.stderr);
    let read = rack.run(&["mem", "read", "card0", "2M", "5000", "-o", "back", "--key", &host]);
    assert_eq!(read.code, 0, "{}", read.stderr);
    assert_eq!(std::fs::read(rack.path("back")).unwrap(), [7; 5000]);
    // Who has no key, another one, or none for this card.
    for (key, says) in
        [("", "asks for a key: give --key FILE"), ("later", "has not answered a claim"), ("one", "has none")]
    {
        let card = if key == "one" { "card1" } else { "card0" };
        let mut command = rack.command(&["mem", "read", card, "2M", "64"]);
        if !key.is_empty() {
            command.args(["--key", &file(key)]);
        }
        let refused = common::Finished::of(command.output().unwrap());
        assert!(refused.code != 0 && refused.stderr.contains(says), "{key}: {}", refused.stderr);
    }
    let info = rack.json(&["info", "card0"]);
    let counters = info["counters"].as_object().unwrap_or_else(|| panic!("{info}"));
    assert!(counters["auth_untagged"].as_u64() > Some(0), "{info}");
}

#[test]
fn a_file_of_keys_that_others_can_read_is_refused() {
    let (rack, files) = keyed();
    let host = files.path().join("host");
    std::fs::set_permissions(&host, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = rack.run(&["mem", "read", "card0", "2M", "64", "--key", host.to_str().unwrap()]);
    assert!(refused.code != 0 && refused.stderr.contains("others may read it"), "{}", refused.stderr);
}
