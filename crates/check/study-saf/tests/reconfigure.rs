//! The claims of `saf-reconfigure` on a tenth of the image.

mod common;

use rackloom_rack::Kind;
use rackloom_study_saf::reconfigure::{Options, Point, Report, run};
use rackloom_study_saf::{Silent, StudyError, StudyReport};

fn quick() -> Options {
    Options { cards: vec![1, 20, 256], ..Options::quick() }
}

fn measure(options: &Options) -> Report {
    run(options, &mut Silent).unwrap()
}

#[test]
fn broadcast_keeps_what_is_promised_on_a_tenth_of_the_image() {
    let report = measure(&quick());
    common::check(&report, "rackloom.study.saf-reconfigure/2", 6);
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

/// What the model says of large racks is worth what it says of small ones: each load of gateware takes what the same
/// load of models does, within 5 percent.
#[test]
fn the_models_time_is_that_of_gateware() {
    let two = Options { losses: vec![0.0], ..Options::default().with_cards(Kind::Rtl, 2) };
    let report = measure(&two);
    common::check(&report, "rackloom.study.saf-reconfigure/2", 1);
    assert_eq!(report.claims()[0].name, "largest_difference_to_the_models_time_percent");
    let cards = |points: &[Point]| points.iter().map(|p| (p.cards, p.data_frames)).collect::<Vec<_>>();
    assert_eq!(cards(&report.broadcast), cards(&report.model), "the same image for both");
    for (gateware, model) in report.broadcast.iter().zip(&report.model) {
        assert!(gateware.seconds != model.seconds, "both were simulated, and not one of them twice");
        let phases = |p: &Point| {
            let h = p.phases;
            [h.begin_s, h.send_s, h.verify_s, h.configure_s]
        };
        for (g, m) in phases(gateware).into_iter().zip(phases(model)) {
            // Of a single phase a tenth, and what is drawn at random in it.
            assert!((g - m).abs() < 0.1 * m + 10e-6, "{:?} and {:?}", gateware.phases, model.phases);
        }
    }
}

/// The comparison finds models that are not like the gateware: with a port of another rate than was asked for.
#[test]
fn a_model_that_is_another_card_is_found() {
    let options = Options { losses: vec![0.0], ..Options::default().with_cards(Kind::Rtl, 1) };
    let gateware = measure(&options);
    let model = measure(&Options { kind: Kind::Model, config_rate: options.config_rate / 2, ..options });
    let apart = (model.broadcast[0].seconds / gateware.broadcast[0].seconds - 1.0).abs();
    assert!(apart > 0.05, "{apart}");
}
