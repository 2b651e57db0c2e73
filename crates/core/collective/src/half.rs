//! Floating-point numbers of 16 bits.

/// A format: one bit of sign, then exponent, then fraction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Half {
    fraction: u32,
    bias: u64,
}

/// IEEE 754 binary16.
pub(crate) const F16: Half = Half { fraction: 10, bias: 15 };
/// The upper half of a binary32.
pub(crate) const BF16: Half = Half { fraction: 7, bias: 127 };

/// Of binary64.
const FRACTION: u32 = 52;
const BIAS: u64 = 1023;
const SIGN: u64 = 1 << 63;

impl Half {
    /// All bits of the exponent: infinity.
    const fn infinity(self) -> u64 {
        ((2 * self.bias) + 1) << self.fraction
    }

    /// Its value.
    pub(crate) fn widen(self, half: u16) -> f64 {
        let (sign, rest) = (u64::from(half) >> 15 << 63, u64::from(half) & 0x7fff);
        let (exponent, fraction) = (rest >> self.fraction, rest & ((1 << self.fraction) - 1));
        let bits = if exponent == 0 {
            // Less than one in the lowest place of the least exponent.
            let one = f64::from_bits((BIAS + 1 - self.bias - u64::from(self.fraction)) << FRACTION);
            (fraction as f64 * one).to_bits()
        } else if rest >= self.infinity() {
            f64::INFINITY.to_bits() | fraction << (FRACTION - self.fraction)
        } else {
            (exponent + BIAS - self.bias) << FRACTION | fraction << (FRACTION - self.fraction)
        };
        f64::from_bits(bits | sign)
    }

    /// The nearest to a value; of two, the even one.
    pub(crate) const fn narrow(self, value: f64) -> u16 {
        let (sign, rest) = ((value.to_bits() >> 63) << 15, value.to_bits() & !SIGN);
        let infinity = self.infinity();
        if value.is_nan() {
            return (sign | infinity | 1 << (self.fraction - 1)) as u16;
        }
        let exponent = rest >> FRACTION;
        // The exponent of the least number that has all its places.
        let least = BIAS + 1 - self.bias;
        let (whole, drop) = if exponent >= least {
            (rest - ((BIAS - self.bias) << FRACTION), FRACTION - self.fraction)
        } else {
            let whole = rest & ((1 << FRACTION) - 1) | if exponent == 0 { 0 } else { 1 << FRACTION };
            let drop = (least - exponent) + (FRACTION - self.fraction) as u64;
            // Beyond that nothing of it is left.
            (whole, if drop > 60 { 60 } else { drop as u32 })
        };
        let half = 1 << (drop - 1);
        let rounded = (whole + half - 1 + (whole >> drop & 1)) >> drop;
        (sign | if rounded > infinity { infinity } else { rounded }) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        for format in [F16, BF16] {
            for bits in 0..=u16::MAX {
                let value = format.widen(bits);
                match value.is_nan() {
                    true => assert!(format.widen(format.narrow(value)).is_nan()),
                    false => assert_eq!(format.narrow(value), bits, "{value}"),
                }
            }
        }
        for bits in 0..=u16::MAX {
            let wide = f32::from_bits(u32::from(bits) << 16);
            assert!(wide.is_nan() || BF16.widen(bits) == f64::from(wide));
        }
        assert_eq!(F16.widen(0x3555), 0.333_251_953_125);
        assert_eq!(F16.widen(1), 5.960_464_477_539_063e-8);
        assert_eq!(F16.widen(0x7bff), 65504.0);
    }

    #[test]
    fn what_lies_between_two_goes_to_the_nearer_and_a_tie_to_the_even_one() {
        for format in [F16, BF16] {
            for bits in (0..format.infinity() as u16 - 1).step_by(7) {
                let (a, b) = (format.widen(bits), format.widen(bits + 1));
                let middle = f64::midpoint(a, b);
                assert_eq!(format.narrow(middle), bits + (bits & 1), "{middle}");
                assert_eq!(format.narrow(middle.next_down()), bits);
                assert_eq!(format.narrow(-middle.next_up()), 0x8000 | (bits + 1));
            }
            assert_eq!(u64::from(format.narrow(f64::MAX)), format.infinity());
            assert_eq!(format.narrow(f64::from_bits(1)), 0);
        }
        assert_eq!(F16.narrow(65519.99), 0x7bff);
        assert_eq!(F16.narrow(65520.0), 0x7c00);
    }
}
