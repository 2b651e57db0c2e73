//! The steps of a study or a bench, as a bar.

use super::{Amount, Progress, Ui};

/// Shows the progress of something that reports its steps.
pub(crate) struct Steps {
    ui: Ui,
    name: String,
    bar: Option<Progress>,
}

impl Steps {
    pub(crate) fn new(ui: Ui, name: &str) -> Self {
        Self { ui, name: name.to_owned(), bar: None }
    }

    pub(crate) fn finish(&self) {
        self.bar.iter().for_each(Progress::finish);
    }
}

impl rackloom_report::Progress for Steps {
    fn step(&mut self, done: usize, total: usize, what: &str) {
        let bar = self.bar.get_or_insert_with(|| self.ui.progress(&self.name, total as u64, Amount::Steps));
        bar.set(done as u64, what);
    }
}
