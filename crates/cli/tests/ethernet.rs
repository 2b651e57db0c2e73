//! The same on an Ethernet: racks and a host in network namespaces, joined by a bridge, with raw sockets.
//!
//! Needs root; without it the tests are skipped with a message.

mod common;
mod lab;

use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Burn, Finished, Matrix, parse, strings, wait_until};
use lab::{Lab, netns};

/// Cards without keys: the host's are of one rack, and these are two.
fn up(lab: &Lab, machine: usize, cards: &str) -> lab::Up {
    lab.up(machine, &["--clocked", "--cards", cards, "--insecure-open"])
}

fn a_matrix_is_transposed_by_all(mtu: u32) {
    let lab = Lab::new(3, mtu);
    let _racks = [up(&lab, 0, "3"), up(&lab, 1, "1")];
    let host = 2;
    assert_eq!(lab.json(host, &["ls"])["cards"].as_array().unwrap().len(), 4);
    let load = lab.json(host, &["load", "ptrans", "--insecure-open"]);
    assert!(load["cards"].as_array().unwrap().iter().all(|c| c["ok"] == true), "{load}");

    // While the job runs, a card of one rack goes and another rack gets one more.
    let (a, b) = (Matrix::random(1201, 999, 1), Matrix::random(999, 1201, 2));
    a.save(&lab.files.path("a.npy"));
    b.save(&lab.files.path("b.npy"));
    let args = ["run", "ptrans", "a.npy", "b.npy", "-o", "c.npy", "--tile", "i=32", "--tile", "j=32", "--json"];
    let args = [&args[..], &["--insecure-open"]].concat();
    let run = lab.command(host, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    lab.json(0, &["card", "rm", "card2"]);
    lab.json(1, &["card", "add"]);
    let done = Finished::of(run.wait_with_output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let c = Matrix::load(&lab.files.path("c.npy"), 999, 1201);
    for i in 0..999 {
        for j in 0..1201 {
            assert_eq!(c.at(i, j), b.at(i, j) + a.at(j, i), "at {i},{j}");
        }
    }
    let ls = lab.json(host, &["ls"]);
    assert_eq!(strings(&ls["cards"], "name").len(), 4, "{ls}");
}

/// A job that takes one card 4 s, on cards that keep to their clock, continues while a card is added, a whole rack is
/// plugged into the bridge, and that rack's power fails.
fn a_rack_that_comes_makes_a_run_end_sooner() {
    let lab = Lab::new(3, 9000);
    let _first = up(&lab, 0, "1");
    let host = 2;
    let work = Burn::save(&lab.files);
    lab.json(host, &["load", "burn", "--insecure-open"]);
    let begun = Instant::now();
    let run = lab
        .command(host, &[&Burn::RUN[..], &["--insecure-open"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the card to run", || {
        strings(&lab.json(host, &["ls"])["cards"], "state").iter().any(|state| state == "running")
    });
    lab.json(0, &["card", "add", "2"]);
    let second = up(&lab, 1, "2");
    std::thread::sleep(Duration::from_millis(300));
    drop(second); // Killed, as by a power failure: no goodbye.
    let done = Finished::of(run.wait_with_output().unwrap());
    let took = begun.elapsed();
    assert_eq!(done.code, 0, "{}", done.stderr);
    work.check(&lab.files);
    let report = parse(&done.stdout);
    let cards = report["cards"].as_array().unwrap();
    assert_eq!(cards.len(), 5, "{report}");
    // Others may have computed the tiles of the two that are gone before the host takes them for vanished.
    assert!(cards.iter().filter(|c| c["left"].is_string()).count() <= 2, "{report}");
    assert!(took < Duration::from_millis(3800), "{took:?}, where one card alone needs 4 s: {report}");
}

#[test]
fn cards_that_come_and_go() {
    if netns::permitted() {
        a_rack_that_comes_makes_a_run_end_sooner();
    }
}

#[test]
fn standard_frames() {
    if netns::permitted() {
        a_matrix_is_transposed_by_all(1500);
    }
}

#[test]
fn jumbo_frames() {
    if netns::permitted() {
        a_matrix_is_transposed_by_all(9000);
    }
}
