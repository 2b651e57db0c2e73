//! Progress: bars on a terminal, a line for each tenth elsewhere, and nothing for what is done within half a second.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    Bytes,
    Steps,
    Tiles,
}

/// Progress of one task, and of the cards that work on it. Clones share it.
#[derive(Clone)]
pub(crate) struct Progress(Option<Arc<Mutex<State>>>);

struct State {
    what: String,
    total: u64,
    done: u64,
    amount: Amount,
    started: Instant,
    /// Tenths printed so far.
    tenths: u64,
    bars: Option<Bars>,
    is_live: bool,
}

struct Bars {
    multi: MultiProgress,
    all: ProgressBar,
    cards: BTreeMap<String, ProgressBar>,
}

/// A task that is done sooner gets no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most bars for cards; further cards get none.
const CARD_BARS_MAX: usize = 24;

impl Progress {
    pub(super) fn new(what: &str, total: u64, amount: Amount, shown: bool, is_live: bool) -> Self {
        let state = State {
            what: what.to_owned(),
            total: total.max(1),
            done: 0,
            amount,
            started: Instant::now(),
            tenths: 0,
            bars: None,
            is_live,
        };
        Self(shown.then(|| Arc::new(Mutex::new(state))))
    }

    /// Sets how much is done.
    pub(crate) fn set(&self, done: u64, phase: &str) {
        self.with(|s| s.set(done, phase));
    }

    /// Sets how much this card has done, of its expected share.
    pub(crate) fn card(&self, card: &str, done: u64, share: u64) {
        self.with(|s| s.card(card, done, share));
    }

    /// Prints a line that stays above the bars.
    pub(crate) fn note(&self, text: impl fmt::Display) {
        self.with(|s| match &s.bars {
            Some(bars) => _ = bars.multi.println(text.to_string()),
            None => _ = writeln!(anstream::stderr(), "{text}"),
        });
    }

    /// Removes the bars.
    pub(crate) fn finish(&self) {
        self.with(|s| {
            if let Some(bars) = s.bars.take() {
                let _ = bars.multi.clear();
            }
        });
    }

    fn with(&self, f: impl FnOnce(&mut State)) {
        if let Some(state) = &self.0 {
            f(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl State {
    fn set(&mut self, done: u64, phase: &str) {
        self.done = done.min(self.total);
        if self.started.elapsed() < PATIENCE {
            return;
        }
        if self.is_live {
            let bars = self.bars();
            bars.all.set_position(done);
            bars.all.set_message(phase.to_owned());
            return;
        }
        let tenths = self.done * 10 / self.total;
        if tenths > self.tenths && tenths < 10 {
            self.tenths = tenths;
            let rate = self.done as f64 / self.started.elapsed().as_secs_f64();
            let left = (self.total - self.done) as f64 / rate;
            let rate = match self.amount {
                Amount::Bytes => format!("{:.0} MB/s", rate / 1e6),
                Amount::Steps => format!("{} of {}", self.done, self.total),
                Amount::Tiles => format!("{rate:.0} tiles/s"),
            };
            let what = &self.what;
            let _ = writeln!(anstream::stderr(), "{what}: {} %, {rate}, {left:.1} s left {phase}", tenths * 10);
        }
    }

    fn card(&mut self, card: &str, done: u64, share: u64) {
        if !self.is_live || self.started.elapsed() < PATIENCE {
            return;
        }
        let elapsed = self.started.elapsed();
        let bars = self.bars();
        if !bars.cards.contains_key(card) {
            if bars.cards.len() >= CARD_BARS_MAX {
                return;
            }
            let style = ProgressStyle::with_template("  {prefix:8} [{bar:24}] {pos:>6} tiles  {msg:>10} {eta:>4}");
            let bar = ProgressBar::new(share.max(1)).with_style(style.expect("a constant")).with_elapsed(elapsed);
            let bar = bars.multi.insert_before(&bars.all, bar).with_prefix(card.to_owned());
            bars.cards.insert(card.to_owned(), bar);
        }
        let bar = &bars.cards[card];
        bar.set_length(share.max(done));
        bar.set_position(done);
        bar.set_message(format!("{:.1}/s", done as f64 / elapsed.as_secs_f64()));
    }

    fn bars(&mut self) -> &mut Bars {
        let (what, total, amount) = (&self.what, self.total, self.amount);
        let elapsed = self.started.elapsed();
        self.bars.get_or_insert_with(|| {
            let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            let template = match amount {
                Amount::Bytes => "{prefix} [{bar:24}] {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}",
                Amount::Steps => "{prefix} [{bar:24}] {pos}/{len} {eta} {msg}",
                Amount::Tiles => "{prefix} [{bar:24}] {pos}/{len} tiles {eta} {msg}",
            };
            let style = ProgressStyle::with_template(template).expect("a constant");
            let bar = ProgressBar::new(total).with_style(style).with_prefix(what.clone()).with_elapsed(elapsed);
            let all = multi.add(bar);
            Bars { multi, all, cards: BTreeMap::new() }
        })
    }
}
