//! What of a page has changed.

use std::ops::Range;

/// The unit in which changes are found and written: what processors store at once is not torn.
pub(crate) const WORD: usize = 8;

/// The runs of words that differ between two states of a page, in bytes and ascending order; none touches another.
/// Pages have a multiple of [`WORD`] bytes.
pub(crate) fn changed(was: &[u8], is: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (i, (was, is)) in was.chunks(WORD).zip(is.chunks(WORD)).enumerate() {
        if was == is {
            continue;
        }
        let at = i * WORD;
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += WORD,
            _ => runs.push(at..at + WORD),
        }
    }
    runs
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // Lists of one range are what is meant.
mod tests {
    use super::*;

    #[test]
    fn runs_are_whole_words_and_as_few_as_possible() {
        let was = [0u8; 64];
        let mut is = was;
        assert_eq!(changed(&was, &is), []);
        is[3] = 1;
        is[8] = 1;
        is[63] = 1;
        assert_eq!(changed(&was, &is), [0..16, 56..64]);
        is = [1; 64];
        assert_eq!(changed(&was, &is), [0..64]);
    }
}
