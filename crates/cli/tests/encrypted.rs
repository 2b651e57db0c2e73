//! Hosts that encrypt, as real processes, with a capture of all that was sent.

mod common;

use common::{Finished, Rack, keyed, strings};

/// Bytes that nothing else has.
const PATTERN: [u8; 16] = *b"enciphered bytes";

/// How often the pattern is in the capture.
fn seen(capture: &[u8]) -> usize {
    capture.windows(PATTERN.len()).filter(|bytes| *bytes == PATTERN).count()
}

#[test]
fn who_encrypts_is_read_by_nobody_and_who_does_not_is_refused() {
    let (before, files) = keyed();
    drop(before);
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let host = file("host");
    for demanded in [true, false] {
        let shape = ["--cards", "2", "--seed", "5", "--keys", &file("cards"), "--capture", "all.pcap"];
        let demand: &[&str] = if demanded { &["--encrypt"] } else { &[] };
        let mut rack = Rack::up(&[&shape, demand].concat());
        std::fs::write(rack.path("bytes"), PATTERN.repeat(300)).unwrap();
        let run = |args: &[&str]| rack.run(&[args, &["--key", &host]].concat());
        let write = ["mem", "write", "card0", "2M", "bytes"];
        let clear = run(&write);
        if demanded {
            assert_eq!(clear.code, 2, "{clear:?}");
            assert!(clear.stderr.contains("it asks for encryption: give --encrypt"), "{}", clear.stderr);
            for args in [
                &["mem", "write", "card1", "2M", "bytes", "--encrypt"][..],
                &["load", "vadd", "--encrypt"],
                &["mem", "read", "card1", "2M", "4800", "-o", "back", "--encrypt"],
            ] {
                let done = run(args);
                assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
                assert!(!done.stderr.contains("somebody poses"), "{}", done.stderr);
            }
            assert_eq!(std::fs::read(rack.path("back")).unwrap(), PATTERN.repeat(300));
        } else {
            assert_eq!(clear.code, 0, "{}", clear.stderr);
        }
        assert_eq!(strings(&rack.json(&["ls"])["cards"], "name"), ["card0", "card1"]);
        assert_eq!(rack.interrupt(), Some(0));
        let capture = std::fs::read(rack.path("all.pcap")).unwrap();
        assert!(capture.len() > 5000, "{}", capture.len());
        // Some lie across frames.
        let range = if demanded { 0..1 } else { 250..301 };
        assert!(range.contains(&seen(&capture)), "demanded {demanded}: {}", seen(&capture));
        if demanded {
            wireshark_shows_ciphertext_as_such(&rack.path("all.pcap"));
        }
    }
}

fn wireshark_shows_ciphertext_as_such(capture: &std::path::Path) {
    let (mut encrypted, mut images) = (0, 0);
    for frame in protogen::tshark::read(capture).unwrap() {
        let name = frame.name().unwrap().to_owned();
        // A grant under keys has more than its struct.
        assert!(frame.faults().is_empty() || name == "session.grant", "{name}: {:?}", frame.faults());
        if frame.get("rackloom.ciphertext").is_some() {
            encrypted += 1;
            let read = ["rackloom.data", "rackloom.read.length", "rackloom.ack.bitmap", "rackloom.image_begin.digest"];
            assert!(read.iter().all(|field| frame.get(field).is_none()), "{name}: {:?}", frame.fields);
        }
        let is_secret = name.starts_with("input") || name == "image.data";
        assert!(!is_secret || frame.get("rackloom.data").is_none(), "{name}");
        images += u32::from(name == "image.data");
        assert!(name != "session.claim" || frame.get("rackloom.claim.nonce").is_some(), "a claim can be read");
    }
    assert!(encrypted > 5 && images > 0, "{encrypted} encrypted, {images} of image data");
}

#[test]
fn encryption_without_keys_is_an_error() {
    let rack = Rack::none();
    let says = |done: Finished, what: &str| assert!(done.code == 2 && done.stderr.contains(what), "{done:?}");
    says(rack.run(&["ls", "--encrypt"]), "without keys nothing can be encrypted");
    says(rack.run(&["up", "--encrypt"]), "without keys nothing can be encrypted");
}
