//! The main job, in small.

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
