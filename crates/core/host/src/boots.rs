//! Whether one card speaks under an address, or two.
//!
//! A card draws a boot number at each start, so an address whose boot number changes is a card that has started again.
//! Two cards of one address look alike at first: theirs changes, too. But the boots of one card follow one another, so
//! this cannot be: one boot is heard; then another answers a question that was asked after that; then the first answers
//! one that was asked after this. Where it happens, two cards have the address. Frames that come late or twice never
//! prove it, in whatever order: they answer what was asked before. What a card announces of its build tells at once,
//! since it never changes under one boot number.

use rackloom_node::{Duration, Instant};

use crate::card_info::CardInfo;

/// The boots of one address.
#[derive(Debug)]
pub(crate) struct Boots {
    /// Those that were heard, the present one last.
    known: Vec<Boot>,
    /// Two cards have this address: until then, unless more proof comes.
    shared_until: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Boot {
    number: u32,
    /// The number of the host's next question when it was heard first.
    first: u32,
    /// The same when another boot had answered a question that was asked after this one was heard.
    passed: Option<u32>,
}

/// What a boot number tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The present boot.
    Present,
    /// The card has started again.
    New,
    /// A frame of a boot that is over, come late.
    Late,
    /// Another card has the same address.
    Rival,
}

/// Boots remembered of an address: each costs a start of a card, which takes longer than a frame lives.
const BOOTS_MAX: usize = 8;

/// An address is taken for shared for this long after the last proof: longer than three announcements that come by
/// themselves are apart. Then only one of the two is left.
const SHARED_FOR: Duration = Duration::from_secs(40);

impl Boots {
    /// An address whose card was heard for the first time. `next`: the number of the host's next question.
    pub(crate) fn new(boot: u32, next: u32) -> Self {
        Self { known: vec![Boot { number: boot, first: next, passed: None }], shared_until: None }
    }

    /// A frame has told a boot number. `answers`: the number of this host's question, if it is the answer to one;
    /// `next`: the number of its next question.
    pub(crate) fn hear(&mut self, now: Instant, number: u32, answers: Option<u32>, next: u32) -> Heard {
        let asked_since = |from: u32| answers.is_some_and(|seq| seq.wrapping_sub(from) < next.wrapping_sub(from));
        let present = self.known.last().map(|boot| boot.number);
        let at = self.known.iter().position(|boot| boot.number == number);
        let passed = at.and_then(|at| self.known[at].passed);
        let heard = match passed {
            Some(from) if asked_since(from) => Heard::Rival,
            Some(_) if present != Some(number) => Heard::Late,
            _ if present == Some(number) => Heard::Present,
            // Also a known one of which nothing shows that it is over: a late frame was taken for a new boot.
            _ => Heard::New,
        };
        if heard == Heard::Late {
            return heard;
        }
        for other in self.known.iter_mut().filter(|boot| boot.number != number && asked_since(boot.first)) {
            other.passed.get_or_insert(next);
        }
        if heard != Heard::Present {
            // It is the present one now; of two cards, the one that speaks last.
            let first = at.map_or(next, |at| self.known.remove(at).first);
            if self.known.len() == BOOTS_MAX {
                self.known.remove(0);
            }
            self.known.push(Boot { number, first, passed: None });
        }
        if heard == Heard::Rival {
            self.share(now);
        }
        heard
    }

    /// An announcement of the present boot differs from what the same boot has announced before in what no card changes
    /// while it runs.
    pub(crate) fn compare(&mut self, now: Instant, before: &CardInfo, info: &CardInfo) -> Heard {
        let build = |c: &CardInfo| (c.unit, c.memory, c.vendor, c.product, c.kind, c.ports, c.mac1, c.port_rate);
        if build(before) == build(info) {
            return Heard::Present;
        }
        self.share(now);
        Heard::Rival
    }

    /// Whether two cards have this address.
    pub(crate) fn are_shared(&self, now: Instant) -> bool {
        self.shared_until.is_some_and(|until| now < until)
    }

    /// True once, when two cards have had this address and one is left.
    pub(crate) fn take_unshared(&mut self, now: Instant) -> bool {
        self.shared_until.take_if(|until| *until <= now).is_some()
    }

    fn share(&mut self, now: Instant) {
        self.shared_until = Some(now + SHARED_FOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    #[test]
    fn late_answers_of_a_former_boot_prove_nothing() {
        let mut boots = Boots::new(1, 3);
        assert_eq!(boots.hear(NOW, 2, None, 5), Heard::New);
        assert_eq!(boots.hear(NOW, 2, Some(5), 6), Heard::Present);
        for answers in [None, Some(1), Some(5)] {
            assert_eq!(boots.hear(NOW, 1, answers, 9), Heard::Late, "{answers:?}");
        }
        // A number that this host has not asked under yet is nobody's answer.
        assert_eq!(boots.hear(NOW, 1, Some(9), 9), Heard::Late);
        assert!(!boots.are_shared(NOW));
    }

    #[test]
    fn a_boot_that_answers_after_another_has_is_another_card() {
        let mut boots = Boots::new(1, 3);
        assert_eq!(boots.hear(NOW, 2, Some(3), 5), Heard::New);
        assert_eq!(boots.hear(NOW, 1, Some(5), 6), Heard::Rival);
        assert!(boots.are_shared(NOW + SHARED_FOR / 2));
        assert!(!boots.are_shared(NOW + SHARED_FOR));
        assert_eq!(boots.hear(NOW, 2, Some(6), 7), Heard::Rival);
    }

    /// A host that had just started heard a card's new boot first, then a late announcement of the one before.
    #[test]
    fn regression_boots_that_are_heard_in_the_wrong_order_are_one_card() {
        let mut boots = Boots::new(2, 3);
        assert_eq!(boots.hear(NOW, 1, None, 4), Heard::New);
        assert_eq!(boots.hear(NOW, 2, Some(4), 5), Heard::New);
        assert_eq!(boots.hear(NOW, 2, Some(5), 6), Heard::Present);
        assert_eq!(boots.hear(NOW, 1, None, 7), Heard::Late);
        assert!(!boots.are_shared(NOW));
    }

    #[test]
    fn numbers_of_questions_may_wrap_around() {
        let mut boots = Boots::new(1, u32::MAX - 1);
        assert_eq!(boots.hear(NOW, 2, Some(u32::MAX - 1), u32::MAX), Heard::New);
        assert_eq!(boots.hear(NOW, 1, Some(u32::MAX - 1), 3), Heard::Late);
        assert_eq!(boots.hear(NOW, 1, Some(1), 3), Heard::Rival);
    }

    #[test]
    fn any_number_of_starts_is_remembered_in_bounded_room() {
        let mut boots = Boots::new(0, 0);
        for boot in 1..1000 {
            assert_eq!(boots.hear(NOW, boot, None, boot), Heard::New);
        }
        assert_eq!(boots.known.len(), BOOTS_MAX);
    }
}
