//! The claims of `saf-scaling` on small matrices.

mod common;

use rackloom_study_saf::scaling::{Kind, Options, run};
use rackloom_study_saf::{Silent, StudyError, StudyReport};

#[test]
fn the_compute_phase_scales_and_every_element_is_right() {
    let options = Options::quick();
    let report = run(&options, &mut Silent).unwrap();
    common::check(&report, "rackloom.study.saf-scaling/3", 4);
    for point in &report.points {
        let h = &point.phases;
        assert_eq!(h.elements, (point.order * point.order) as u64);
        // Twelve bytes an element at 64 a cycle and 250 MHz, on the longest strip.
        let rows = point.order.div_ceil(point.cards);
        let kernel = rows as f64 * point.order as f64 * 12.0 / 64.0 / 250e6;
        assert!((h.kernel_s - kernel).abs() < 1e-6 * kernel.max(1e-3), "{point:?} {kernel}");
        assert!(h.compute_s > h.kernel_s && h.compute_s < h.kernel_s + 50e-6, "{point:?}");
        // The link carries at least the bytes themselves, and is the least that the phases can take.
        let bytes = (point.order * point.order) as u64 * 4;
        assert!(h.write_wire_bytes > 2 * bytes && h.read_wire_bytes > bytes);
        assert!(point.link_s <= h.write_s + h.read_s && h.write_s + h.read_s < point.link_s * 1.1, "{point:?}");
    }
    for e in &report.exchanges {
        // Each byte of each matrix passes the host's wire once with the cards' exchange.
        let least = 3 * 4 * e.elements;
        assert!(e.cards_wire_bytes > least && e.cards_wire_bytes < least * 11 / 10, "{e:?}");
        assert!(e.host_wire_bytes > least && (e.exchanged > 0) == (e.cards > 1), "{e:?}");
    }
    let weak = |cards| report.points.iter().find(|p| (p.kind, p.cards) == (Kind::Weak, cards)).unwrap();
    let share = |cards: usize| (weak(cards).order.pow(2) / cards) as f64;
    assert!((share(20) / share(1) - 1.0).abs() < 1e-3, "the memory of a card is not constant");
}

#[test]
fn little_memory_makes_rounds_and_the_same_result() {
    // 12 bytes an element: 512 rows of 512 take 3 MiB, of which a card has room for one.
    let memory = (2 << 20) + (64 << 10);
    let small =
        Options { order: 512, weak_order: 256, exchange_order: 128, cards: vec![1, 3], memory, ..Options::quick() };
    let report = run(&small, &mut Silent).unwrap();
    let strong: Vec<_> = report.points.iter().filter(|p| p.kind == Kind::Strong).collect();
    assert_eq!(strong.iter().map(|p| p.phases.rounds).collect::<Vec<_>>(), [3, 1]);
    assert!(strong.iter().all(|p| p.phases.elements == 512 * 512));
    // The machine's bound does the same as the cards'.
    let tight = Options { memory: 4 << 30, resident: 1 << 20, ..small };
    let report = run(&tight, &mut Silent).unwrap();
    assert_eq!(report.points.iter().find(|p| p.kind == Kind::Strong && p.cards == 3).unwrap().phases.rounds, 4);
}

#[test]
fn the_report_depends_on_the_options_and_on_nothing_else() {
    let small = Options {
        order: 300,
        weak_order: 256,
        exchange_order: 200,
        cards: vec![1, 7],
        jumbo: false,
        ..Options::quick()
    };
    let one = run(&Options { threads: 1, ..small.clone() }, &mut Silent).unwrap().json();
    assert_eq!(one, run(&Options { threads: 2, ..small }, &mut Silent).unwrap().json());
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let refused = |options: Options, name: &str| match run(&options, &mut Silent) {
        Err(StudyError::Option { option, .. }) => assert_eq!(option, name),
        other => panic!("{other:?}"),
    };
    refused(Options { cards: vec![2, 4], ..Options::quick() }, "cards");
    refused(Options { cards: vec![1, 21], ..Options::quick() }, "cards");
    refused(Options { order: 1 << 17, ..Options::quick() }, "order");
    refused(Options { exchange_order: 63, ..Options::quick() }, "exchange_order");
    refused(Options { memory: 1 << 20, ..Options::quick() }, "memory, resident");
}
