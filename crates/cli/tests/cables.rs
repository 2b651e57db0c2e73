//! Cables between the ports of a rack's cards.

mod common;

use common::{Finished, Rack};
use rackloom::MacAddr;
use rackloom_live::Wire as _;
use rackloom_live::segment::{SegmentClient, SegmentPath};

fn fails(done: &Finished, part: &str) {
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains(part), "no {part:?} in:\n{}", done.stderr);
}

#[test]
fn cards_announce_the_ports_that_their_cables_need() {
    let rack = Rack::up(&["--cards", "3", "--cable", "0.1-1.2", "--cable", "1.1-2.1"]);
    for card in ["card0", "card1", "card2"] {
        assert_eq!(rack.json(&["info", card])["card"]["ports"], 3, "all cards of a rack are alike");
    }
    let listed = rack.json(&["ls"]);
    assert!(listed["cards"].as_array().unwrap().iter().all(|card| card["ports"] == 3), "{listed}");
    let table = rack.run(&["ls"]).stdout;
    assert!(table.lines().next().unwrap().contains("  PORTS  "), "{table}");
    // A card that is pulled out leaves its cables to the next card of its number.
    rack.json(&["card", "rm", "card1"]);
    rack.json(&["card", "add"]);
    assert_eq!(rack.json(&["info", "card1"])["card"]["ports"], 3);
}

#[test]
fn a_file_lists_cables() {
    let plain = Rack::up(&["--cards", "1"]);
    assert_eq!(plain.json(&["info", "card0"])["card"]["ports"], 1);
    std::fs::write(plain.path("ring.cables"), "# two cards\n0.1-1.1\n").unwrap();
    let file = plain.path("ring.cables");
    let rack = Rack::up(&["--cards", "2", "--topology", file.to_str().unwrap()]);
    assert_eq!(rack.json(&["info", "card1"])["card"]["ports"], 2);
}

/// A frame for a card's port 1 that comes from another process, by way of the network that the port is on.
#[test]
fn a_cable_goes_to_a_network_that_others_are_on() {
    let rack = Rack::up(&["--cards", "1", "--cable", "0.1-virtual:side"]);
    let card = rack.json(&["info", "card0"]);
    let port: MacAddr = card["mac1"].as_str().unwrap().parse().unwrap();
    let foreign = || rack.json(&["info", "card0"])["counters"]["drop_foreign"].as_u64().unwrap();
    let before = foreign();
    let path = SegmentPath::under(&rack.path("run"), "side").unwrap();
    let mut wire = SegmentClient::connect(&path).unwrap();
    let frame = [&port.0[..], &[2, 0, 0, 0, 9, 9, 0x88, 0xb5], &[0; 46]].concat();
    assert_eq!(wire.send(&[frame.into()]).unwrap(), 1);
    // It has no role that would take it.
    common::wait_until("the card to count it", || foreign() == before + 1);
    assert_eq!(
        rack.json(&["ls", "--net", "virtual:side"])["cards"],
        serde_json::json!([]),
        "it answers at port 0 only"
    );
}

#[test]
fn wrong_cables_are_named() {
    let rack = Rack::none();
    let up = |args: &[&str]| rack.run(&[&["up", "--for", "1s"], args].concat());
    fails(
        &up(&["--cable", "0.1"]),
        "invalid cable `0.1`: expected CARD.PORT-CARD.PORT, such as 0.1-1.1, or CARD.PORT-NETWORK",
    );
    fails(&up(&["--cable", "0.0-1.1"]), "invalid port 0 of card 0: a cable goes into port 1 to 63");
    fails(&up(&["--cable", "0.1-1.1", "--cable", "1.1-2.1"]), "two cables end in port 1 of card 1");
    fails(&up(&["--cable", "0.1-tap:x"]), "invalid cable `0.1-tap:x`");
    fails(&up(&["--cable", "0.1-virtual:default"]), "segment default is up already");
    let gateware = up(&["--card", "rtl:1", "--cable", "0.3-1.3"]);
    fails(&gateware, "cable 0.3-1.3 ends in port 3 of card0, and a card of kind rtl has 3 ports");
    fails(&gateware, "help: use model cards, or omit the cable");
    std::fs::write(rack.path("bad.cables"), "0.1-1.1\nnonsense\n").unwrap();
    let bad = rack.path("bad.cables");
    fails(&up(&["--topology", bad.to_str().unwrap()]), "invalid cable `nonsense`");
    fails(&up(&["--topology", "nosuch.cables"]), "cannot read nosuch.cables");
}

#[test]
fn links_take_ports_beyond_those_of_cables() {
    let rack = Rack::up(&["--cards", "4", "--cable", "0.1-1.1", "--links", "torus:2x2"]);
    assert_eq!(rack.json(&["info", "card3"])["card"]["ports"], 4, "port 0, a cable's, and two links");
    std::fs::write(rack.path("links"), "0.1-1.1\n1.2-0.2\n").unwrap();
    let file = rack.path("links");
    let listed = Rack::up(&["--cards", "2", "--links", file.to_str().unwrap()]);
    assert_eq!(listed.json(&["info", "card0"])["card"]["ports"], 3);
    let none = Rack::none();
    let up = |arguments: &[&str]| none.run(&[&["up", "--for", "1s"], arguments].concat());
    fails(&up(&["--links", "mesh"]), "invalid links `mesh`: expected full, ring, torus:AxB, hyperx:AxB");
    fails(&up(&["--cards", "5", "--links", "torus:2x3"]), "torus:2x3 is made of 6 cards, and there are 5");
    fails(&up(&["--cards", "65", "--links", "full"]), "more links than its 63 ports can take");
    fails(&up(&["--card", "rtl:5", "--links", "full"]), "card0 is to have 4 links, and a card of kind rtl has 3");
}
