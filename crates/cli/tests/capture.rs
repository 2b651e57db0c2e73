//! What a rack puts on the wire, as Wireshark sees it.

mod common;

use std::collections::BTreeSet;

use common::{Matrix, Rack};

#[test]
fn wireshark_names_every_frame_of_a_real_run() {
    let mut rack = Rack::up(&["--cards", "3", "--capture", "run.pcap"]);
    let (a, b) = (Matrix::random(300, 200, 1), Matrix::random(200, 300, 2));
    a.save(&rack.path("a.npy"));
    b.save(&rack.path("b.npy"));
    rack.json(&["ls"]);
    rack.json(&["load", "ptrans"]);
    rack.json(&["run", "ptrans", "a.npy", "b.npy", "-o", "c.npy"]);
    rack.json(&["info", "card0"]);
    std::fs::write(rack.path("bytes"), [5; 3000]).unwrap();
    rack.json(&["mem", "write", "card1", "2M", "bytes"]);
    assert_eq!(rack.run(&["mem", "read", "card1", "2M", "3000", "-o", "back"]).code, 0);
    assert_eq!(std::fs::read(rack.path("back")).unwrap(), [5; 3000]);
    rack.json(&["card", "rm", "card2"]);
    assert_eq!(rack.interrupt(), Some(0));

    let frames = protogen::tshark::read(&rack.path("run.pcap")).unwrap();
    assert!(frames.len() > 100, "{}", frames.len());
    let mut names = BTreeSet::new();
    for frame in &frames {
        let name = frame.name().unwrap_or_else(|| panic!("{frame:?} has no name"));
        assert!(frame.faults().is_empty(), "{name}: {:?}", frame.faults());
        names.insert(name.to_owned());
    }
    // A whole run has all of these frames.
    for name in [
        "discovery.announce",
        "discovery.solicit",
        "discovery.goodbye",
        "session.claim",
        "session.grant",
        "session.release",
        "session.released",
        "session.counters",
        "session.manifest",
        "image.begin",
        "image.data",
        "image.poll",
        "image.commit",
        "image-confirm.ready",
        "image-confirm.staged",
        "image-confirm.active",
        "input.write",
        "input.read",
        "input-confirm.write-ack",
        "input-confirm.read-data",
        "exec.launch",
        "exec.result-ack",
        "result.accepted",
        "result.done",
        "result.data",
    ] {
        assert!(names.contains(name), "no {name} among {names:?}");
    }
}
