//! The studies at their quick sizes: what they claim, and what must follow from how they are built.

mod common;

use rackloom_report::{Progress, Silent};
use rackloom_study_diad::latency::{self, Operation};
use rackloom_study_diad::multichase::{self, Place};
use rackloom_study_diad::throughput::{self, Way};
use rackloom_study_diad::{Latencies, NAMES, Settings, StudyError, features, run};

#[test]
fn latency_is_the_sum_of_its_parts() {
    let report = latency::run(&latency::Options::quick(), &mut Silent).unwrap();
    common::check(&report, latency::SCHEMA, 2);
    for p in &report.points {
        let parts = p.switch_ns + p.fabric_ns + p.cable_ns + p.memory_ns + p.frames_ns + p.waits_ns;
        assert!((parts - p.round_trip_ns).abs() < 1e-6, "{p:?}");
        // Nanoseconds are rounded at each of up to four wires.
        assert!(p.waits_ns >= -4.0, "faster than the wire: {p:?}");
    }
    // Twice as slow a switch takes twice its time more, and nothing else changes.
    let fast = Latencies::default();
    let slow = latency::Options {
        latencies: Latencies { switch_ns: fast.switch_ns + 1000, ..fast },
        ..latency::Options::quick()
    };
    let slow = latency::run(&slow, &mut Silent).unwrap();
    for (a, b) in report.points.iter().zip(&slow.points).filter(|(a, _)| a.bytes <= 1024) {
        assert!((b.round_trip_ns - a.round_trip_ns - 2000.0).abs() < 2.0, "{a:?} {b:?}");
    }
    let of = |operation, bytes| {
        report.points.iter().find(|p| p.operation == operation && p.bytes == bytes).unwrap().round_trip_ns
    };
    assert!(of(Operation::Exchange, 8192) > of(Operation::Read, 8192), "a message goes both ways");
}

#[test]
fn throughput_keeps_under_what_headers_leave() {
    let report = throughput::run(&throughput::Options::quick(), &mut Silent).unwrap();
    common::check(&report, throughput::SCHEMA, 4);
    for p in &report.points {
        assert!(p.of_headers > 0.0 && p.of_headers <= 1.001 && p.of_line < p.of_headers, "{p:?}");
    }
    let gbps = |way| report.points.iter().find(|p| p.way == way).unwrap().gbps;
    for reads in [true, false] {
        let at = |depth| gbps(Way::Requests { reads, bytes: 64, depth });
        assert!((at(8) / at(1) - 8.0).abs() < 0.4, "small requests are a matter of how many are under way");
    }
}

#[test]
fn chains_lead_where_the_table_says_and_far_is_slow() {
    let report = multichase::run(&multichase::Options::quick(), &mut Silent).unwrap();
    common::check(&report, multichase::SCHEMA, 3);
    let us = |place, threads| report.points.iter().find(|p| p.place == place && p.threads == threads).unwrap().step_us;
    assert!(us(Place::Local, 1) < us(Place::Card, 1) && us(Place::Card, 1) < us(Place::Host, 1));
    // A hop more there and one back.
    let hop = us(Place::Host, 1) - us(Place::Card, 1);
    assert!((hop - 0.9).abs() < 0.02, "{hop}");
    assert!(us(Place::Card, 4) < us(Place::Card, 1) * 1.1, "threads hardly wait for each other");
}

#[test]
fn all_six_patterns_are_at_work() {
    let report = features::run(&features::Options { seed: 2 }, &mut Silent).unwrap();
    common::check(&report, features::SCHEMA, 1);
    assert_eq!(report.shown.iter().map(|s| s.pattern).collect::<Vec<_>>(), features::Pattern::ALL);
    assert!(report.shown.iter().all(|s| s.took_us > 0.5 && s.took_us < 100.0), "{:?}", report.shown);
}

#[derive(Default)]
struct Steps(Vec<(usize, usize)>);

impl Progress for Steps {
    fn step(&mut self, done: usize, total: usize, what: &str) {
        assert!(!what.is_empty());
        self.0.push((done, total));
    }
}

#[test]
fn each_name_is_a_study_that_gives_the_same_report_again() {
    for name in NAMES {
        let mut steps = Steps::default();
        let settings = Settings { quick: true, seed: 3 };
        let report = run(name, settings, &mut steps).unwrap();
        assert_eq!(report.json()["schema"], format!("rackloom.study.{name}/1"));
        let total = steps.0.len();
        assert_eq!(steps.0, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
        assert_eq!(report.json(), run(name, settings, &mut Silent).unwrap().json(), "{name}");
    }
    let error = run("diad-speed", Settings { quick: true, seed: 1 }, &mut Silent).err().unwrap();
    assert!(matches!(error, StudyError::Unknown { .. }));
    assert!(NAMES.iter().all(|name| error.to_string().contains(name)), "{error}");
}
