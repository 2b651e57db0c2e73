//! Numbered questions, each settled by an answer with its number.

use alloc::collections::BTreeMap;

use rackloom_node::{Duration, Instant};

use crate::rtt::Rtt;

/// Questions asked and not answered. Answers come in any order; a question without one is asked again.
///
/// Invariant: a timer runs only while a question waits for its answer.
#[derive(Debug)]
pub struct Requests<T> {
    next_seq: u32,
    asked: BTreeMap<u32, Asked<T>>,
    timer: Option<Instant>,
}

#[derive(Debug)]
struct Asked<T> {
    question: T,
    sent_at: Instant,
    is_first: bool,
    is_marked: bool,
}

/// A question to send now.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'a, T> {
    /// Its number.
    pub seq: u32,
    /// What is asked.
    pub question: &'a T,
}

impl<T> Requests<T> {
    /// Nothing is asked; `first` is the first number.
    pub const fn new(first: u32) -> Self {
        Self { next_seq: first, asked: BTreeMap::new(), timer: None }
    }

    /// Questions without an answer.
    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// True when every question has its answer.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// The question with this number, if it waits for its answer.
    pub fn question(&self, seq: u32) -> Option<&T> {
        self.asked.get(&seq).map(|a| &a.question)
    }

    /// Asks something new, now.
    pub fn ask(&mut self, now: Instant, timeout: Duration, question: T) -> Request<'_, T> {
        let seq = self.next_seq;
        self.next_seq = seq.wrapping_add(1);
        self.timer.get_or_insert(now + timeout);
        let asked = Asked { question, sent_at: now, is_first: true, is_marked: false };
        let asked = self.asked.entry(seq).insert_entry(asked).into_mut();
        Request { seq, question: &asked.question }
    }

    /// The next question to ask again, now.
    pub fn poll_resend(&mut self, now: Instant, timeout: Duration) -> Option<Request<'_, T>> {
        let (seq, a) = self.asked.iter_mut().find(|(_, a)| a.is_marked)?;
        (a.is_marked, a.is_first, a.sent_at) = (false, false, now);
        self.timer.get_or_insert(now + timeout);
        Some(Request { seq: *seq, question: &a.question })
    }

    /// An answer has come: the question that it settles, or `None` if that was settled before.
    pub fn answer(&mut self, now: Instant, seq: u32, rtt: &mut Rtt) -> Option<T> {
        let a = self.asked.remove(&seq)?;
        if a.is_first {
            rtt.sample(now - a.sent_at);
        } else {
            rtt.progress();
        }
        self.timer = (!self.asked.is_empty()).then(|| now + rtt.timeout());
        Some(a.question)
    }

    /// Forgets the questions that `keep` says no to.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.asked.retain(|_, a| keep(&a.question));
        if self.asked.is_empty() {
            self.timer = None;
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted.
    pub const fn deadline(&self) -> Option<Instant> {
        self.timer
    }

    /// Marks what has waited `timeout` for its answer. True if the timer has fired.
    pub fn handle_timeout(&mut self, now: Instant, timeout: Duration) -> bool {
        if self.timer.is_none_or(|t| t > now) {
            return false;
        }
        for a in self.asked.values_mut().filter(|a| now - a.sent_at >= timeout) {
            a.is_marked = true;
        }
        self.timer = Some(now + timeout * 2);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_settles_its_question_once_and_late_ones_are_asked_again() {
        let ms = Duration::from_millis;
        let at = |n| Instant::ZERO + ms(n);
        let (mut r, mut rtt) = (Requests::new(u32::MAX), Rtt::new(ms(1), ms(64)));
        assert_eq!(r.ask(at(0), ms(2), 'a'), Request { seq: u32::MAX, question: &'a' });
        assert_eq!(r.ask(at(1), ms(2), 'b').seq, 0);
        assert!(!r.handle_timeout(at(1), ms(2)));
        assert!(r.handle_timeout(at(2), ms(2)));
        assert_eq!(r.poll_resend(at(2), ms(2)), Some(Request { seq: u32::MAX, question: &'a' }));
        assert_eq!(r.poll_resend(at(2), ms(2)), None, "the second has waited for 1 ms only");
        assert_eq!(r.answer(at(2), 0, &mut rtt), Some('b'));
        assert_eq!(rtt.smoothed(), ms(1));
        assert_eq!(r.answer(at(2), 0, &mut rtt), None);
        assert_eq!(r.question(u32::MAX), Some(&'a'));
        r.retain(|q| *q != 'a');
        assert!(r.is_empty() && r.deadline().is_none());
    }
}
