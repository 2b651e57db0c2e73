//! Studies chosen by their names.

mod common;

use rackloom_study_saf::{NAMES, Progress, Settings, Silent, StudyError, run};

#[derive(Default)]
struct Steps(Vec<(usize, usize)>);

impl Progress for Steps {
    fn step(&mut self, done: usize, total: usize, what: &str) {
        assert!(!what.is_empty());
        self.0.push((done, total));
    }
}

#[test]
fn each_name_is_a_study_of_its_schema() {
    // The two that take longest have tests of their own.
    for name in ["saf-cost", "saf-ondemand"] {
        assert!(NAMES.contains(&name));
        let mut steps = Steps::default();
        let report = run(name, Settings { quick: true, seed: 3, cards: None }, &mut steps).unwrap();
        common::check(&*report, &format!("rackloom.study.{name}/2"), 2);
        let total = steps.0.len();
        assert_eq!(steps.0, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
    }
}

#[test]
fn an_unknown_name_is_refused_with_a_list_of_studies() {
    let error = run("saf-speed", Settings { quick: true, seed: 1, cards: None }, &mut Silent).err().unwrap();
    assert!(matches!(error, StudyError::Unknown { .. }));
    assert!(NAMES.iter().all(|name| error.to_string().contains(name)), "{error}");
}
