//! The benches of OpenCL, of remote memory and of floods, in small: they run, and print what their schemas promise.
//! Their times are not tested: a test shares its machine.

mod common;

use common::Rack;

#[test]
fn the_overhead_of_sharing_is_measured_in_three_ways() {
    let rack = Rack::none();
    let arguments = ["bench", "opencl-overhead", "--quick", "--bytes", "1M", "--iperf3", "--svg", "o.svg"];
    let report = rack.json(&arguments);
    assert_eq!(report["schema"], "rackloom.bench-opencl-overhead/1");
    let rows = report["rows"].as_array().unwrap();
    for group in ["call", "write and read", "mapped"] {
        let of_group: Vec<_> = rows.iter().filter(|row| row["group"] == group).collect();
        assert!(of_group.len() >= 4, "{group}: {report}");
        for row in of_group {
            for way in ["native", "shared_memory", "network"] {
                assert!(row[way]["median_us"].as_f64().unwrap() > 0.0, "{row}");
            }
        }
    }
    assert!(report["sweep"].as_array().unwrap().len() > 30, "{report}");
    for rate in ["iperf3", "write", "read"] {
        assert!(report["loopback"][rate].as_f64().unwrap() > 1e6, "{rate} of {report}");
    }
    assert!(std::fs::read_to_string(rack.path("o.svg")).unwrap().contains("<svg"));
}

#[test]
fn remote_reads_are_measured_beside_datagrams() {
    let report = Rack::none().json(&["bench", "rma", "--reads", "100"]);
    assert_eq!((&report["schema"], &report["reads"]), (&"rackloom.bench-rma/1".into(), &100.into()));
    for field in ["rma_us", "udp_us", "ratio", "write_bps", "read_bps"] {
        assert!(report[field].as_f64().unwrap() > 0.0, "{field} of {report}");
    }
}

#[test]
fn a_bench_without_its_library_says_what_is_missing() {
    let rack = Rack::none();
    let finished = rack.run(&["bench", "opencl-overhead", "--quick", "--library", "/nowhere.so"]);
    assert_eq!(finished.code, 2, "{}", finished.stderr);
    assert!(finished.stderr.contains("error"), "{}", finished.stderr);
    assert!(finished.stderr.contains("/nowhere.so"), "{}", finished.stderr);
}

#[test]
fn a_flood_is_measured_beside_loads_without_it() {
    let rack = Rack::none();
    let flood = ["bench", "load", "--cards", "2", "--bytes", "1M", "--times", "1", "--keys", "--flood", "100M"];
    let report = rack.json(&flood);
    for comparison in ["keyed", "flooded"] {
        assert!(report[comparison]["times_longer"].as_f64().unwrap() > 0.0, "{report}");
    }
    assert!(report["flood_frames_per_second"].as_f64().unwrap() > 100.0, "{report}");
    let refused = rack.run(&["bench", "load", "--flood"]);
    assert!(refused.code == 2 && refused.stderr.contains("--keys"), "{}", refused.stderr);
    let reads = rack.json(&["bench", "rtt", "--keys", "--encrypt", "--reads", "200"]);
    for comparison in ["keyed_times_longer", "encrypted_times_longer"] {
        assert!(reads[comparison].as_f64().unwrap() > 0.0, "{reads}");
    }
}
