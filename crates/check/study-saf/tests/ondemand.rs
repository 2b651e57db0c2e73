//! The claims of `saf-ondemand` on a job of an hour.

mod common;

use rackloom_study_saf::ondemand::{Options, run};
use rackloom_study_saf::{Silent, StudyError, StudyReport};

#[test]
fn cards_added_to_a_running_job_take_their_share() {
    let options = Options::quick();
    let report = run(&options, &mut Silent).unwrap();
    common::check(&report, "rackloom.study.saf-ondemand/2", 2);
    for row in &report.rows {
        let left = options.tiles * (100 - row.percent as usize) / 100;
        // Half of what is left, to a few tiles at the end.
        assert!(row.tiles_added.abs_diff(left / 2) <= 8, "{row:?}");
        let ideal = options.hours * (100.0 + f64::from(row.percent)) / 200.0;
        // Two loads and a tile on each card: nothing else may cost time, and nothing may be free.
        assert!((ideal..ideal * 1.005).contains(&row.hours), "{row:?}");
        assert_eq!(row.joining_s.is_some(), row.percent < 100);
        assert!(row.joining_s.is_none_or(|s| (0.001..0.1).contains(&s)), "{row:?}");
    }
    let waiting = &report.rows.last().unwrap().energy;
    assert!(waiting.off_until_plugged_kj < waiting.as_the_paper_kj);
    assert!(waiting.as_the_paper_kj < waiting.each_waiting_kj);
    assert!(report.findings.iter().any(|f| f.place == "100 % row, SAF energy"));
}

#[test]
fn the_report_depends_on_the_options_and_on_nothing_else() {
    let small = Options { hours: 0.1, tiles: 400, percents: vec![0, 50, 100], ..Options::quick() };
    let one = run(&Options { threads: 1, ..small.clone() }, &mut Silent).unwrap().json();
    assert_eq!(one, run(&Options { threads: 3, ..small.clone() }, &mut Silent).unwrap().json());
    let other = run(&Options { seed: 2, ..small }, &mut Silent).unwrap().json();
    assert_ne!(one["rows"], other["rows"]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let refused = |options: Options, name: &str| match run(&options, &mut Silent) {
        Err(StudyError::Option { option, .. }) => assert_eq!(option, name),
        other => panic!("{other:?}"),
    };
    refused(Options { tiles: 150, ..Options::quick() }, "tiles");
    refused(Options { percents: vec![0, 50], ..Options::quick() }, "percents");
    refused(Options { percents: vec![0, 100, 101], ..Options::quick() }, "percents");
    refused(Options { added: 0, ..Options::quick() }, "cards, added");
    refused(Options { hours: 1000.0, tiles: 100, ..Options::quick() }, "hours, tiles");
}
