//! When a search for cards is complete.
//!
//! Cards answer a question at random moments of a short window. Nobody knows how many there are, so a search ends when
//! no new card has answered for a while. That is evidence only if the cards had processors to answer with and this
//! process had one to listen with. So a search measures time by a clock of its own. It asks to be called each
//! [`SLICE`], and its clock shows time itself while it is called in time. If it is called late:
//!
//! - **One slice counts at most**, however long this process had no processor.
//! - **That slice counts only in part.** Cards in other processes of this machine cannot be seen to wait for a
//!   processor. But they compete for the same ones, and the host's late timers tell that those are short.
//!
//! And it learns from the cards: where the last answer took long, in real time, the next may take as long again.

use rackloom_node::{Duration, Instant};

/// A search for the cards of a segment, without a clock or a host of its own.
///
/// Do what [`next`](Self::next) says, then ask it again.
#[derive(Debug)]
pub(crate) struct Search {
    began: Instant,
    /// Most time that may count.
    wait: Duration,
    /// Time that has counted since the first question.
    counted: Duration,
    served_at: Instant,
    /// When it wanted the next call.
    due: Instant,
    /// When it asks next, by `counted`.
    ask_at: Duration,
    ask_again: Duration,
    /// When it is complete unless a new card answers before, by `counted`; `None` while no card is known.
    complete_at: Option<Duration>,
}

/// What a search needs next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Ask all cards, then call [`Search::asked`].
    Ask,
    /// Wait for a new card, for this long at most, then call [`Search::serve`].
    Wait(Duration),
    /// It is over.
    Over,
}

impl Search {
    /// A search that begins now and lasts for `wait` at most, by its own clock.
    pub(crate) const fn new(now: Instant, wait: Duration) -> Self {
        Self {
            began: now,
            wait,
            counted: Duration::ZERO,
            served_at: now,
            due: now,
            ask_at: Duration::ZERO,
            ask_again: ASK_AGAIN,
            complete_at: None,
        }
    }

    /// What to do next.
    pub(crate) fn next(&mut self) -> Step {
        let end = self.complete_at.map_or(self.wait, |at| at.min(self.wait));
        if self.counted >= end {
            return Step::Over;
        }
        if self.counted >= self.ask_at {
            return Step::Ask;
        }
        let time = SLICE.min(end.min(self.ask_at) - self.counted);
        self.due = self.served_at + time;
        Step::Wait(time)
    }

    /// The question was sent. A card that is known already is an answer.
    pub(crate) fn asked(&mut self, knows_cards: bool) {
        // The question or an answer may be lost: it is asked again, with exponential backoff.
        self.ask_at = self.counted + self.ask_again;
        self.ask_again *= 2;
        if knows_cards && self.complete_at.is_none() {
            self.complete_at = Some(self.counted + QUIET);
        }
    }

    /// It is `now`: the wait is over, or a card has answered.
    pub(crate) fn serve(&mut self, now: Instant) {
        let passed = now - self.served_at;
        self.counted += if now - self.due > LATE { passed.min(SLICE) / STRETCH } else { passed };
        self.served_at = self.served_at.max(now);
    }

    /// A card has answered that was not known.
    pub(crate) fn found(&mut self) {
        let took = self.served_at - self.began;
        self.complete_at = Some(self.counted + QUIET.max(took * PATIENCE));
    }
}

/// Cards spread their answers over this: 256 of them send one each 80 us.
pub(crate) const ANSWER_WINDOW: Duration = Duration::from_millis(20);

/// Time until the second question; it doubles from one question to the next.
const ASK_AGAIN: Duration = Duration::from_millis(80);

/// If no new card answers for this long, all that heard the question have answered.
const QUIET: Duration = Duration::from_millis(120);

/// The quiet time after an answer is at least this many times the real time from the first question to it. Cards that
/// keep to [`ANSWER_WINDOW`] never make it longer than [`QUIET`].
const PATIENCE: u32 = 2;

/// Most time between two looks at the clock, and the most that counts when the second of them comes late.
const SLICE: Duration = Duration::from_millis(10);

/// A call that comes later than this is late. An idle machine serves a timer within a fraction of a millisecond; with
/// eight busy threads for each processor, six of seven timers of 10 ms were later than this (measured).
const LATE: Duration = Duration::from_millis(2);

/// How many times less a slice counts that ends late.
const STRETCH: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A search that is always called so late, in virtual time.
    struct Rig {
        search: Search,
        now: Duration,
        late: Duration,
        questions: Vec<Duration>,
        /// Cards that nobody has heard yet, by when their answer arrives.
        answers: Vec<Duration>,
        found: usize,
    }

    impl Rig {
        fn new(late: Duration, answers: &[Duration]) -> Self {
            let search = Search::new(Instant::ZERO, ms(1000));
            Self { search, now: Duration::ZERO, late, questions: Vec::new(), answers: answers.to_vec(), found: 0 }
        }

        /// Runs the search to its end; how long it took, and how many cards it found.
        fn run(mut self, knows_cards: bool) -> (Duration, usize, Vec<Duration>) {
            loop {
                match self.search.next() {
                    Step::Ask => {
                        self.questions.push(self.now);
                        self.search.asked(knows_cards || self.found > 0);
                    }
                    Step::Wait(time) => {
                        assert!(!time.is_zero() && time <= SLICE, "it asks for calls without end: {time:?}");
                        self.wait(time);
                    }
                    Step::Over => return (self.now, self.found, self.questions),
                }
            }
        }

        fn wait(&mut self, time: Duration) {
            let timer = self.now + time;
            let answer = self.answers.iter().position(|at| *at <= timer);
            // An answer wakes the process as a timer does, and is read as late.
            let woken = answer.map_or(timer, |i| self.answers.remove(i).max(self.now));
            self.now = woken + self.late;
            self.search.serve(Instant::ZERO + self.now);
            if answer.is_some() {
                self.found += 1;
                self.search.found();
            }
        }
    }

    #[test]
    fn in_time_it_ends_a_quiet_window_after_the_last_card() {
        let rig = Rig::new(Duration::ZERO, &[ms(3), ms(17), ms(21)]);
        assert_eq!(rig.run(false), (ms(21 + 120), 3, vec![ms(0), ms(80)]));
    }

    #[test]
    fn without_a_card_it_asks_with_backoff_and_ends_after_its_time() {
        let rig = Rig::new(Duration::ZERO, &[]);
        assert_eq!(rig.run(false), (ms(1000), 0, vec![ms(0), ms(80), ms(240), ms(560)]));
    }

    #[test]
    fn cards_that_are_known_already_are_waited_for_one_quiet_window() {
        assert_eq!(Rig::new(Duration::ZERO, &[]).run(true), (ms(120), 0, vec![ms(0), ms(80)]));
    }

    /// A timer that is a little late, as on any machine that is not starved.
    #[test]
    fn small_delays_cost_next_to_nothing() {
        let (took, found, _) = Rig::new(Duration::from_micros(200), &[ms(3), ms(21)]).run(false);
        assert!(found == 2 && took <= ms(142), "{took:?}");
    }

    /// The first answer took 90 ms, and the second comes 170 ms after it.
    #[test]
    fn cards_that_answer_slowly_are_waited_for_longer() {
        let (took, found, _) = Rig::new(Duration::ZERO, &[ms(90), ms(260)]).run(false);
        assert_eq!((took, found), (ms(260 * 3), 2));
    }

    #[test]
    fn answers_never_prolong_it_beyond_its_time() {
        let answers: Vec<_> = (1..20).map(|n| ms(50 * n)).collect();
        assert_eq!(Rig::new(Duration::ZERO, &answers).run(false).0, ms(1000));
    }

    /// On a machine with eight busy threads for each processor every timer came some 20 ms late, and gateware took a
    /// second to answer.
    #[test]
    fn regression_cards_that_starved_with_the_host_were_missed() {
        let (took, found, questions) = Rig::new(ms(20), &[ms(700), ms(1100), ms(1900), ms(3400)]).run(false);
        assert_eq!(found, 4, "after {took:?}");
        assert!(took < ms(24_000), "{took:?}");
        assert!(questions.len() <= 4, "cards that starve are not asked more often: {questions:?}");
    }

    #[test]
    fn one_long_pause_of_the_process_is_no_quiet_window() {
        let mut search = Search::new(Instant::ZERO, ms(1000));
        assert_eq!(search.next(), Step::Ask);
        search.asked(true);
        assert_eq!(search.next(), Step::Wait(SLICE));
        search.serve(Instant::ZERO + ms(5_000));
        assert_eq!(search.next(), Step::Wait(SLICE), "it was not there to listen");
        search.serve(Instant::ZERO + ms(5_010));
        assert_eq!(search.counted, SLICE / STRETCH + SLICE);
    }

    #[test]
    fn time_that_goes_back_counts_nothing() {
        let mut search = Search::new(Instant::ZERO + ms(50), ms(1000));
        search.serve(Instant::ZERO + ms(40));
        search.serve(Instant::ZERO + ms(50));
        assert_eq!(search.counted, Duration::ZERO);
    }
}
