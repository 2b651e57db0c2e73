//! Who sends next, of several who share a wire.

/// Deficit round robin over bytes, paid afterwards: who has credit sends, and what was sent is taken off, so a frame's
/// length need not be known before it is made. A frame may run into debt; the debt is paid in the rounds that follow.
/// Among those who always have something to send, each gets the same share of bytes, whatever the lengths of its
/// frames; who has nothing costs the others nothing, and saves up no more than one round's credit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turns<const N: usize> {
    turn: usize,
    credit: [i64; N],
}

impl<const N: usize> Turns<N> {
    pub(crate) const fn new() -> Self {
        Self { turn: 0, credit: [QUANTUM; N] }
    }

    /// The next thing to send, by whomever; `None` if nobody has any. `take` gives what a number's owner has, with its
    /// bytes.
    pub(crate) fn next<T>(&mut self, mut take: impl FnMut(usize) -> Option<(T, usize)>) -> Option<T> {
        let mut idle = [false; N];
        while idle.contains(&false) {
            let at = self.turn;
            if self.credit[at] > 0 && !idle[at] {
                match take(at) {
                    Some((item, bytes)) => {
                        self.credit[at] -= i64::try_from(bytes.max(BYTES_LEAST)).expect("a frame is short");
                        return Some(item);
                    }
                    None => idle[at] = true,
                }
            }
            self.turn = (at + 1) % N;
            self.credit[self.turn] = (self.credit[self.turn] + QUANTUM).min(QUANTUM);
        }
        None
    }
}

/// Bytes that each may send in a round: a standard frame, and some.
const QUANTUM: i64 = 2048;
/// What is shorter costs as much as Ethernet's shortest frame. So does what is no frame: it took a turn as well.
const BYTES_LEAST: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that each sends of a million, with frames of these lengths; 0: it has none.
    fn shares<const N: usize>(lengths: [usize; N]) -> [usize; N] {
        let (mut turns, mut sent) = (Turns::<N>::new(), [0; N]);
        while sent.iter().sum::<usize>() < 1_000_000 {
            let (at, bytes) = turns.next(|at| (lengths[at] > 0).then_some(((at, lengths[at]), lengths[at]))).unwrap();
            sent[at] += bytes;
        }
        sent
    }

    #[test]
    fn bytes_are_shared_equally_whatever_the_lengths() {
        for lengths in [[60, 1514, 9014], [9014, 9014, 60], [61, 62, 63]] {
            for share in shares(lengths) {
                assert!((320_000..350_000).contains(&share), "{share} of {lengths:?}");
            }
        }
    }

    #[test]
    fn who_has_nothing_costs_nothing_and_saves_nothing() {
        assert_eq!(shares([0, 1000, 0]), [0, 1_000_000, 0]);
        let mut turns = Turns::<2>::new();
        for _ in 0..1000 {
            assert_eq!(turns.next(|at| (at == 1).then_some((at, 1500))), Some(1));
        }
        // The other one comes back, and gets no more than its half.
        let first: Vec<usize> = (0..10).map(|_| turns.next(|at| Some((at, 1500))).unwrap()).collect();
        assert!((4..=6).contains(&first.iter().sum::<usize>()), "{first:?}");
        assert_eq!(turns.next(|_| None::<((), usize)>), None);
    }

    #[test]
    fn a_long_frame_now_and_then_gets_no_more_than_its_share() {
        // One sends jumbo frames, each only after the last has left; the other always has a short one.
        let (mut turns, mut sent, mut ready) = (Turns::<2>::new(), [0; 2], true);
        for _ in 0..100_000 {
            let take = |at: usize| match at {
                0 => std::mem::take(&mut ready).then_some((0, 9014)),
                _ => Some((1, 60)),
            };
            let at = turns.next(take).unwrap();
            sent[at] += [9014, 60][at];
            ready |= at == 1;
        }
        assert!(sent[0] * 100 <= sent[1] * 105, "{sent:?}");
    }
}
