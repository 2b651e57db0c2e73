//! The demonstration and the studies, in small.

mod common;

use common::Rack;

#[test]
fn a_rack_in_one_process_does_real_work() {
    let report = Rack::none().json(&["demo", "--cards", "8", "--order", "1000", "--image", "3M"]);
    assert_eq!((&report["ok"], &report["wrong"]), (&true.into(), &0.into()));
    assert_eq!(report["cards"], 8);
    let shares = report["shares"].as_array().unwrap();
    assert_eq!(shares.len(), 8);
    assert!(shares.iter().all(|s| s["tiles"].as_u64().unwrap() > 0), "{report}");
    // Broadcast: the image is on the wire once, not eight times.
    assert!(report["load_wire_bytes"].as_u64().unwrap() < 4_000_000, "{report}");
}

#[test]
fn a_study_prints_draws_and_serializes() {
    let rack = Rack::none();
    let report = rack.json(&["study", "saf-cost", "--svg", "cost.svg"]);
    assert!(report["schema"].is_string(), "{report}");
    assert!(std::fs::read_to_string(rack.path("cost.svg")).unwrap().contains("<svg"));
    assert!(report["claims"].as_array().unwrap().iter().all(|claim| claim["holds"] == true), "{report}");
    let text = rack.run(&["study", "saf-cost"]).stdout;
    assert!(text.contains("CLAIM") && text.lines().all(|l| l.chars().count() <= 80 && !l.ends_with('…')), "{text}");
    let list = rack.run(&["study"]).stdout;
    assert!(list.contains("saf-cost") && list.contains("blastfunction-sharing") && !list.contains('…'), "{list}");
}
