//! Selective acknowledgement against the plainest possible model: a set of numbers that do not wrap.

use std::collections::BTreeSet;

use arbitrary::{Result, Unstructured};
use rackloom_transport::{Arrival, Sack};

/// The model. Its numbers are 64 bits wide and start beyond 2^32, so that those behind the window exist too.
struct Model {
    next: u64,
    beyond: BTreeSet<u64>,
}

impl Model {
    fn insert(&mut self, n: u64) -> Arrival {
        if n < self.next || self.beyond.contains(&n) {
            return Arrival::Duplicate;
        }
        if n > self.next + u64::from(Sack::BITS) {
            return Arrival::Beyond;
        }
        self.beyond.insert(n);
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
        Arrival::New
    }

    fn bitmap(&self) -> [u8; 32] {
        let mut out = [0; 32];
        for n in &self.beyond {
            let bit = usize::try_from(n - self.next - 1).expect("inside the window");
            out[bit / 8] |= 1 << (bit % 8);
        }
        out
    }
}

/// Target: any run of arrivals leaves both with the same answer, the same window and the same bitmap.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn agrees_with_a_set(u: &mut Unstructured<'_>) -> Result<()> {
    // Often just below the wrap.
    let low =
        if u.arbitrary()? { u64::from(u32::MAX - u.int_in_range(0..=600u32)?) } else { u.arbitrary::<u32>()?.into() };
    let first = (1 << 33) + low;
    let mut model = Model { next: first, beyond: BTreeSet::new() };
    let mut sack = Sack::new(first as u32);
    while !u.is_empty() {
        let n = match u.int_in_range(0..=9)? {
            0 => model.next,
            1..=5 => model.next + u.int_in_range(0..=u64::from(Sack::BITS) + 2)?,
            6 | 7 => model.next + u.int_in_range(0..=8u64)?,
            8 => model.next.saturating_sub(u.int_in_range(1..=1u64 << 31)?),
            _ => model.next + u.int_in_range(0..=(1u64 << 31) - 1)?,
        };
        let there = n < model.next || model.beyond.contains(&n);
        assert_eq!(sack.has(n as u32), there, "{n} with {} and {:?}", model.next, model.beyond);
        assert_eq!(sack.insert(n as u32), model.insert(n), "{n} with {} and {:?}", model.next, model.beyond);
        assert_eq!(sack.next(), model.next as u32);
        assert_eq!(sack.is_contiguous(), model.beyond.is_empty());
        assert_eq!(sack.bitmap(), model.bitmap());
        assert_eq!(Sack::from_bitmap(sack.next(), &sack.bitmap()), sack);
    }
    Ok(())
}
