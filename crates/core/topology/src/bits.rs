//! Sets of cards.

/// A set of numbers below a bound that all of its operands share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// An empty set of numbers below `size`.
    pub(crate) fn new(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)])
    }

    pub(crate) fn insert(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    /// Adds all of another.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// Takes away all of another.
    pub(crate) fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        ones(self.0.iter().copied())
    }

    /// The numbers that are in both.
    pub(crate) fn both<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        ones(self.0.iter().zip(&other.0).map(|(a, b)| a & b))
    }
}

fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    let next = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
    let of = move |(i, word): (usize, u64)| {
        let rests = std::iter::successors(Some(word).filter(|word| *word != 0), next);
        rests.map(move |rest| i * 64 + rest.trailing_zeros() as usize)
    };
    words.enumerate().flat_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_what_was_put_in() {
        let of = |numbers: &[usize]| {
            let mut bits = Bits::new(200);
            numbers.iter().for_each(|n| bits.insert(*n));
            bits
        };
        let (a, b) = (of(&[0, 63, 64, 199]), of(&[1, 64, 199]));
        assert_eq!(a.iter().collect::<Vec<_>>(), [0, 63, 64, 199]);
        assert_eq!(a.both(&b).collect::<Vec<_>>(), [64, 199]);
        let mut sum = a.clone();
        sum.add(&b);
        assert_eq!(sum, of(&[0, 1, 63, 64, 199]));
        sum.remove(&a);
        assert!(sum == of(&[1]));
        sum.remove(&b);
        assert!(sum.is_empty());
    }
}
