//! The order of numbers that wrap.

/// True when `a` is before `b`: less than 2^31 behind it.
pub(crate) const fn is_before(a: u32, b: u32) -> bool {
    a != b && b.wrapping_sub(a) < 1 << 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_survives_the_wrap() {
        assert!(is_before(1, 2) && !is_before(2, 1) && !is_before(2, 2));
        assert!(is_before(u32::MAX, 0) && !is_before(0, u32::MAX));
        assert!(is_before(u32::MAX - 5, 1000) && !is_before(1000, u32::MAX - 5));
    }
}
