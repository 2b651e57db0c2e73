//! Cards that come and go while work is under way.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{Burn, Finished, Matrix, Rack, is_product, parse, strings, wait_until};
use serde_json::Value;

/// Order of a matrix product that takes a few seconds on one card.
const ORDER: usize = 2048;

struct Long {
    rack: Rack,
    a: Matrix,
    b: Matrix,
    run: Child,
}

/// Starts a long product, and waits until a card computes.
fn begin(cards: &str) -> Long {
    let rack = Rack::up(&["--cards", cards]);
    let (a, b) = (Matrix::random(ORDER, ORDER, 1), Matrix::random(ORDER, ORDER, 2));
    a.save(&rack.path("a.npy"));
    b.save(&rack.path("b.npy"));
    let args = ["run", "gemm", "a.npy", "b.npy", "-o", "c.npy", "--tile", "i=64", "--tile", "j=64", "--json"];
    let run = rack.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    rack.wait_for_state("running");
    Long { rack, a, b, run }
}

/// Waits for the end, checks the product, and returns the report.
fn end(long: Long) -> (Rack, Value) {
    let done = Finished::of(long.run.wait_with_output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let c = Matrix::load(&long.rack.path("c.npy"), ORDER, ORDER);
    assert!(is_product(&long.a, &long.b, &c), "the product is wrong");
    (long.rack, parse(&done.stdout))
}

fn card<'a>(report: &'a Value, name: &str) -> &'a Value {
    let cards = report["cards"].as_array().unwrap();
    cards.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("{name} is not in {report}"))
}

#[test]
fn a_card_that_is_added_takes_its_share() {
    let mut long = begin("1");
    let added = long.rack.json(&["card", "add", "2"]);
    assert_eq!(strings(&added["cards"], "name"), ["card1", "card2"]);
    assert!(long.run.try_wait().unwrap().is_none(), "the job was over before the cards came");
    let (_rack, report) = end(long);
    for name in ["card1", "card2"] {
        let card = card(&report, name);
        assert!(card["tiles"].as_u64().unwrap() > 0, "{report}");
        assert!(card["joined"].as_f64().unwrap() > 0.0);
    }
}

/// Runs 4 s of work on a rack whose cards keep to their clock; `meanwhile` happens once it is under way.
fn burn(meanwhile: impl FnOnce(&Rack)) -> Duration {
    let rack = Rack::up(&["--cards", "1", "--clocked"]);
    let work = Burn::save(&rack);
    rack.json(&["load", "burn"]);
    let begun = Instant::now();
    let run = rack.command(&Burn::RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    rack.wait_for_state("running");
    meanwhile(&rack);
    let done = Finished::of(run.wait_with_output().unwrap());
    let took = begun.elapsed();
    assert_eq!(done.code, 0, "{}", done.stderr);
    work.check(&rack);
    took
}

#[test]
fn a_card_that_is_added_makes_a_run_end_sooner() {
    let alone = burn(|_| {});
    // The cost model determines how long it takes, not this machine.
    assert!(alone >= Duration::from_secs(4), "{alone:?}");
    let helped = burn(|rack| {
        rack.json(&["card", "add", "3"]);
    });
    assert!(helped < alone * 3 / 4, "{helped:?} with four cards, {alone:?} with one");
}

#[test]
fn a_card_that_is_pulled_out_loses_nothing() {
    let mut long = begin("3");
    long.rack.json(&["card", "rm", "card1"]);
    assert!(long.run.try_wait().unwrap().is_none(), "the job was over before the card went");
    let (rack, report) = end(long);
    assert!(card(&report, "card1")["left"].as_str().unwrap().contains("vanished: it said goodbye"), "{report}");
    assert_eq!(rack.names(), ["card0", "card2"]);
}

#[test]
fn a_card_whose_power_fails_loses_nothing() {
    let mut long = begin("2");
    long.rack.json(&["card", "rm", "1", "--yank"]);
    assert!(long.run.try_wait().unwrap().is_none(), "the job was over before the card went");
    let (_rack, report) = end(long);
    let left = card(&report, "card1")["left"].as_str().unwrap();
    assert!(left.starts_with("vanished: silent for ") && left.contains("pings unanswered"), "{report}");
}

#[test]
fn an_interrupted_job_gives_its_cards_back() {
    let mut long = begin("1");
    common::interrupt(&long.run);
    assert_eq!(long.run.wait().unwrap().code(), Some(130));
    let ls = long.rack.json(&["ls"]);
    assert_eq!(ls["cards"][0]["owner"], Value::Null, "{ls}");
    assert!(!long.rack.path("c.npy").exists());
}

#[test]
fn a_script_plugs_and_pulls_by_the_clock() {
    let rack = Rack::up(&["--cards", "1", "--hotplug", "300ms+3,900ms-2"]);
    wait_until("four cards", || rack.names().len() == 4);
    wait_until("two cards", || rack.names().len() == 2);
    assert_eq!(rack.names(), ["card0", "card1"]);
}

#[test]
fn a_card_that_goes_silent_is_noticed_within_two_seconds() {
    let rack = Rack::up(&["--cards", "1"]);
    let args = ["ls", "--watch", "--for", "8s", "--json"];
    let mut watch = rack.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(|line| parse(&line.unwrap()));
    lines.next().unwrap();
    let gone = Instant::now();
    rack.json(&["card", "rm", "card0", "--yank"]);
    let event = lines.next().unwrap();
    let took = gone.elapsed();
    assert_eq!((&event["event"], &event["reason"]), (&"down".into(), &"silent".into()), "{event}");
    // The card's last frame may be half a second old when it is pulled, and this machine may be busy.
    assert!(took > Duration::from_millis(1400) && took < Duration::from_millis(2600), "{took:?}");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn a_watch_reports_cards_that_come_and_go() {
    let rack = Rack::up(&["--cards", "1"]);
    let args = ["ls", "--watch", "--for", "3s", "--json"];
    let mut watch = rack.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(|line| parse(&line.unwrap()));
    let first = lines.next().unwrap();
    assert_eq!((&first["schema"], first["cards"].as_array().unwrap().len()), (&"rackloom.ls/1".into(), 1));
    rack.json(&["card", "add"]);
    rack.json(&["card", "rm", "card0"]);
    let rest: Vec<_> = lines.collect();
    assert!(rest.iter().all(|l| l["schema"] == "rackloom.ls-event/1"));
    let events: Vec<_> = rest.iter().map(|l| (l["event"].as_str().unwrap(), l["reason"].as_str())).collect();
    assert_eq!(events, [("up", None), ("down", Some("goodbye"))]);
    assert_eq!((&rest[0]["name"], &rest[1]["name"]), (&"card1".into(), &"card0".into()));
    assert_eq!(rest[0]["card"]["name"], "card1");
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}
