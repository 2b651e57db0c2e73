//! Whether one card speaks under an address, or two.
//!
//! A card draws a boot number at each start, so an address whose boot number changes is a card that has started again.
//! Two cards of one address look alike at first: theirs changes, too. But of a card that has started again the former
//! boot is over, and nobody answers in its name what was asked after the new one had been heard. Where somebody does,
//! both are alive: two cards have one address. Copies of frames, however late, never prove that: they answer what was
//! asked before. What a card announces of its build tells at once, since it never changes under one boot number.

use rackloom_node::{Duration, Instant};

use crate::card_info::CardInfo;

/// The boots of one address.
#[derive(Debug)]
pub(crate) struct Boots {
    present: u32,
    /// Questions from this number on were asked after the present boot had been heard.
    since: u32,
    /// The boots before, newest last.
    former: Vec<u32>,
    /// Two cards have this address: until then, unless more proof comes.
    shared_until: Option<Instant>,
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
const FORMER_MAX: usize = 8;

/// An address is taken for shared for this long after the last proof: longer than three announcements that come by
/// themselves are apart. Then only one of the two is left.
const SHARED_FOR: Duration = Duration::from_secs(40);

impl Boots {
    /// An address whose card was heard for the first time.
    pub(crate) const fn new(boot: u32) -> Self {
        Self { present: boot, since: 0, former: Vec::new(), shared_until: None }
    }

    /// A frame has told a boot number. `answers`: the number of this host's question, if it is the answer to one;
    /// `next`: the number of its next question.
    pub(crate) fn hear(&mut self, now: Instant, boot: u32, answers: Option<u32>, next: u32) -> Heard {
        if boot == self.present {
            return Heard::Present;
        }
        if let Some(at) = self.former.iter().position(|b| *b == boot) {
            let asked_since = |seq: u32| seq.wrapping_sub(self.since) < next.wrapping_sub(self.since);
            if !answers.is_some_and(asked_since) {
                return Heard::Late;
            }
            // The one that speaks last is the present one, so that the other one's next answer proves it again.
            self.former.remove(at);
            self.turn(boot, next);
            self.share(now);
            return Heard::Rival;
        }
        self.turn(boot, next);
        Heard::New
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

    fn turn(&mut self, boot: u32, next: u32) {
        if self.former.len() == FORMER_MAX {
            self.former.remove(0);
        }
        self.former.push(std::mem::replace(&mut self.present, boot));
        self.since = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_copy_of_a_former_boot_proves_nothing() {
        let mut boots = Boots::new(1);
        assert_eq!(boots.hear(Instant::ZERO, 2, Some(4), 5), Heard::New);
        for answers in [None, Some(1), Some(4)] {
            assert_eq!(boots.hear(Instant::ZERO, 1, answers, 9), Heard::Late, "{answers:?}");
        }
        // A number that this host has not asked under yet is nobody's answer.
        assert_eq!(boots.hear(Instant::ZERO, 1, Some(9), 9), Heard::Late);
        assert!(!boots.are_shared(Instant::ZERO));
        assert_eq!(boots.hear(Instant::ZERO, 2, Some(8), 9), Heard::Present);
    }

    #[test]
    fn a_former_boot_that_answers_a_later_question_is_another_card() {
        let mut boots = Boots::new(1);
        assert_eq!(boots.hear(Instant::ZERO, 2, None, 5), Heard::New);
        assert_eq!(boots.hear(Instant::ZERO, 1, Some(5), 6), Heard::Rival);
        assert!(boots.are_shared(Instant::ZERO + SHARED_FOR / 2));
        assert!(!boots.are_shared(Instant::ZERO + SHARED_FOR));
        assert_eq!(boots.hear(Instant::ZERO, 2, Some(6), 7), Heard::Rival);
    }

    #[test]
    fn numbers_of_questions_may_wrap_around() {
        let mut boots = Boots::new(1);
        assert_eq!(boots.hear(Instant::ZERO, 2, None, u32::MAX), Heard::New);
        assert_eq!(boots.hear(Instant::ZERO, 1, Some(u32::MAX - 1), 3), Heard::Late);
        assert_eq!(boots.hear(Instant::ZERO, 1, Some(1), 3), Heard::Rival);
    }

    #[test]
    fn any_number_of_starts_is_remembered_in_bounded_room() {
        let mut boots = Boots::new(0);
        for boot in 1..1000 {
            assert_eq!(boots.hear(Instant::ZERO, boot, None, boot), Heard::New);
        }
        assert_eq!(boots.former.len(), FORMER_MAX);
    }
}
