//! The claims of `saf-reconfigure` on a tenth of the image.

mod common;

use rackloom_studies::reconfigure::{Options, Report, run};
use rackloom_studies::{Silent, StudyError, StudyReport};

fn quick() -> Options {
    Options { cards: vec![1, 20, 256], ..Options::quick() }
}

fn measure(options: &Options) -> Report {
    run(options, &mut Silent).unwrap()
}

#[test]
fn broadcast_keeps_what_is_promised_on_a_tenth_of_the_image() {
    let report = measure(&quick());
    common::check(&report, "rackloom.study.saf-reconfigure/1", 6);
    // 6,617 chunks of 1472 bytes, 1528 on the wire, and a last one.
    assert_eq!(report.limit.frames, 6618);
    assert!((report.limit.wire_s - 0.00809).abs() < 1e-5, "{:?}", report.limit);
    assert!((report.limit.port_s - 0.02435).abs() < 1e-9);
    for point in &report.broadcast {
        let h = &point.phases;
        let sum = h.begin_s + h.send_s + h.repair_s + h.verify_s + h.configure_s;
        assert!((sum - point.seconds).abs() < 1e-5, "the phases are not the whole: {point:?}");
        assert!(point.to_limit >= 1.0, "faster than physics: {point:?}");
        assert_eq!(point.data_frames - point.repair_frames, report.limit.frames);
        // Without loss nothing is sent twice; with loss something must be.
        assert_eq!(point.repair_rounds > 0, point.loss > 0.0, "{point:?}");
        assert_eq!(point.repair_frames > 0, point.loss > 0.0, "{point:?}");
    }
    // The share of chunks that at least one of 20 cards lost, and a second time of those: 18.2 % and some.
    let lossy = report.broadcast.iter().find(|p| (p.cards, p.loss) == (20, 0.01)).unwrap();
    let share = lossy.repair_frames as f64 / report.limit.frames as f64;
    assert!((0.16..0.22).contains(&share), "{share}");
    let sequential = report.baselines.iter().find(|b| b.name == "one card after the other" && b.loss == 0.0).unwrap();
    assert_eq!(sequential.points.len(), 20);
    assert!(sequential.points.windows(2).all(|w| w[1].1 > w[0].1));
    let tree = report.baselines.iter().find(|b| b.name.starts_with("PCIe tree")).unwrap();
    assert_eq!(tree.points.last(), Some(&(20, 246.0)));
}

#[test]
fn the_report_depends_on_the_seed_and_on_nothing_else() {
    let small = Options { image_bytes: 500_000, cards: vec![1, 5], unicast_cards: 3, ..quick() };
    let one = measure(&Options { threads: 1, ..small.clone() }).json();
    assert_eq!(one, measure(&Options { threads: 2, ..small.clone() }).json());
    let other = measure(&Options { seed: 2, ..small }).json();
    assert_ne!(one["broadcast"], other["broadcast"]);
}

#[test]
fn a_slow_port_shows_as_such() {
    let small = Options { image_bytes: 500_000, cards: vec![1], unicast_cards: 1, losses: vec![0.0], ..quick() };
    let slow = Options { config_rate: small.config_rate / 10, ..small.clone() };
    let (fast, slow) = (measure(&small), measure(&slow));
    let configure = |r: &Report| r.broadcast[0].phases.configure_s;
    assert!((configure(&slow) - configure(&fast) - 0.01125).abs() < 1e-5);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let none = Options { cards: vec![2], ..quick() };
    assert!(matches!(run(&none, &mut Silent), Err(StudyError::Option { option: "cards, losses", .. })));
    let tiny = Options { image_bytes: 10, ..quick() };
    assert!(matches!(run(&tiny, &mut Silent), Err(StudyError::Image(_))));
    let certain = Options { losses: vec![0.0, 1.0], ..quick() };
    assert!(matches!(run(&certain, &mut Silent), Err(StudyError::Option { option: "loss", .. })));
}
