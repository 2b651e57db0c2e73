//! Signed images.

use crate::bench::Bench;
use crate::{Specimen, images};

/// A card that has not been told of signers passes over signatures, right or wrong.
pub fn a_signed_image_loads_where_nobody_asks_for_signatures<S: Specimen>() {
    let right = images::signed();
    let mut wrong = right.clone();
    *wrong.last_mut().expect("it has bytes") ^= 1;
    let mut bench = Bench::<S>::claimed();
    for (seq, image) in [(1, &right), (2, &wrong)] {
        bench.load(seq, image);
        assert_eq!(bench.active_digest(), Some(*blake3::hash(image).as_bytes()));
    }
}
