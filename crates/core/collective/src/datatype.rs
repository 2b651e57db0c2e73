//! What elements are, and how two of them become one.

use core::fmt;
use core::str::FromStr;

use crate::half::{BF16, F16};

/// The type of a buffer's elements, which are little-endian as the roles' are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Datatype {
    /// A signed integer of 8 bits.
    I8 = 1,
    /// A signed integer of 16 bits.
    I16 = 2,
    /// A signed integer of 32 bits.
    I32 = 3,
    /// A signed integer of 64 bits.
    I64 = 4,
    /// IEEE 754 binary32.
    F32 = 5,
    /// IEEE 754 binary64.
    F64 = 6,
    /// IEEE 754 binary16. Each result of two elements is rounded to nearest, ties to even.
    F16 = 7,
    /// The upper half of a binary32, rounded in the same way.
    Bf16 = 8,
}

impl Datatype {
    /// All of them.
    pub const ALL: [Self; 8] = [Self::I8, Self::I16, Self::I32, Self::I64, Self::F32, Self::F64, Self::F16, Self::Bf16];

    /// Bytes of an element.
    pub const fn size(self) -> u64 {
        match self {
            Self::I8 => 1,
            Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    pub(crate) fn from_byte(value: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| *t as u8 == value)
    }

    const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16 | Self::Bf16)
    }
}

/// How two elements become one. Sums and products of integers wrap. Of numbers and NaNs the least and the greatest are
/// numbers. A NaN that results is the quiet NaN without sign and payload, whatever the operands' were: which one
/// processors make differs, and results have the same bits everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// The sum.
    Sum = 1,
    /// The least.
    Min = 2,
    /// The greatest.
    Max = 3,
    /// The product.
    Prod = 4,
    /// Each bit that both have; of integers only, as the next two.
    And = 5,
    /// Each bit that either has.
    Or = 6,
    /// Each bit that one of them has.
    Xor = 7,
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Sum, Self::Min, Self::Max, Self::Prod, Self::And, Self::Or, Self::Xor];

    /// Whether there is such an operation on such elements.
    pub const fn takes(self, datatype: Datatype) -> bool {
        !datatype.is_float() || matches!(self, Self::Sum | Self::Min | Self::Max | Self::Prod)
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Prod => "prod",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }

    pub(crate) fn from_byte(value: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|op| *op as u8 == value)
    }
}

macro_rules! named {
    ($type:ty, $what:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.into_iter().find(|value| value.name() == text).ok_or_else(|| {
                    format!("unknown {} `{text}`: expected one of {}", $what, Self::ALL.map(|v| v.name()).join(", "))
                })
            }
        }
    };
}
named!(Datatype, "datatype");
named!(Op, "operation");

/// Puts `op` of each element of `into` and of `from`, in this order, into `into`. What is behind the last whole element
/// stays.
pub fn reduce(op: Op, datatype: Datatype, into: &mut [u8], from: &[u8]) {
    apply(op, datatype, Way::After { into, from });
}

/// As [`reduce`], with the element of `from` first.
pub fn reduce_before(op: Op, datatype: Datatype, into: &mut [u8], from: &[u8]) {
    apply(op, datatype, Way::Before { into, from });
}

/// Puts `op` of each element of `first` and of `second`, in this order, into `into`.
pub fn combine(op: Op, datatype: Datatype, into: &mut [u8], first: &[u8], second: &[u8]) {
    apply(op, datatype, Way::Both { into, first, second });
}

/// Which elements become one, and where.
enum Way<'a> {
    After { into: &'a mut [u8], from: &'a [u8] },
    Before { into: &'a mut [u8], from: &'a [u8] },
    Both { into: &'a mut [u8], first: &'a [u8], second: &'a [u8] },
}

fn apply(op: Op, datatype: Datatype, way: Way<'_>) {
    // What is done is chosen once and not for each element: then the compiler makes vectors of elements.
    macro_rules! integers {
        ($t:ty) => {{
            let (read, write) = (<$t>::from_le_bytes, <$t>::to_le_bytes);
            match op {
                Op::Sum => each(way, read, write, <$t>::wrapping_add),
                Op::Min => each(way, read, write, Ord::min),
                Op::Max => each(way, read, write, Ord::max),
                Op::Prod => each(way, read, write, <$t>::wrapping_mul),
                Op::And => each(way, read, write, |a, b| a & b),
                Op::Or => each(way, read, write, |a, b| a | b),
                Op::Xor => each(way, read, write, |a, b| a ^ b),
            }
        }};
    }
    macro_rules! floats {
        ($t:ty, $nan:expr) => {
            floats!(<$t>::from_le_bytes, <$t>::to_le_bytes, <$t>::from_bits($nan))
        };
        ($read:expr, $write:expr, $nan:expr) => {{
            let write = |value| $write(if is_nan(value) { $nan } else { value });
            match op {
                Op::Sum => each(way, $read, write, |a, b| a + b),
                Op::Prod => each(way, $read, write, |a, b| a * b),
                // Not `min` and `max` of the language, which may choose either of two zeros.
                Op::Min => each(way, $read, write, |a, b| if b < a || is_nan(a) { b } else { a }),
                Op::Max => each(way, $read, write, |a, b| if b > a || is_nan(a) { b } else { a }),
                Op::And | Op::Or | Op::Xor => each(way, $read, write, |a, _| a),
            }
        }};
    }
    let [(read_f16, write_f16), (read_bf16, write_bf16)] = [F16, BF16]
        .map(|half| (move |b| half.widen(u16::from_le_bytes(b)), move |value| half.narrow(value).to_le_bytes()));
    match datatype {
        Datatype::I8 => integers!(i8),
        Datatype::I16 => integers!(i16),
        Datatype::I32 => integers!(i32),
        Datatype::I64 => integers!(i64),
        Datatype::F32 => floats!(f32, QUIET_NAN_F32),
        Datatype::F64 => floats!(f64, QUIET_NAN_F64),
        // Sums and products of two such elements are exact enough in 53 bits that rounding twice is as rounding once.
        Datatype::F16 => floats!(read_f16, write_f16, f64::from_bits(QUIET_NAN_F64)),
        Datatype::Bf16 => floats!(read_bf16, write_bf16, f64::from_bits(QUIET_NAN_F64)),
    }
}

/// Whether a value of whatever type is a NaN.
#[expect(clippy::eq_op, reason = "a NaN is not equal to itself")]
fn is_nan<T: PartialEq + Copy>(value: T) -> bool {
    value != value
}

/// The NaNs that result.
const QUIET_NAN_F32: u32 = 0x7fc0_0000;
const QUIET_NAN_F64: u64 = 0x7ff8_0000_0000_0000;

fn each<const N: usize, T>(
    way: Way<'_>,
    read: impl Fn([u8; N]) -> T,
    write: impl Fn(T) -> [u8; N],
    op: impl Fn(T, T) -> T,
) {
    match way {
        Way::After { into, from } => {
            let (into, from) = (into.as_chunks_mut::<N>().0, from.as_chunks::<N>().0);
            into.iter_mut().zip(from).for_each(|(a, b)| *a = write(op(read(*a), read(*b))));
        }
        Way::Before { into, from } => {
            let (into, from) = (into.as_chunks_mut::<N>().0, from.as_chunks::<N>().0);
            into.iter_mut().zip(from).for_each(|(a, b)| *a = write(op(read(*b), read(*a))));
        }
        Way::Both { into, first, second } => {
            let into = into.as_chunks_mut::<N>().0.iter_mut();
            let from = first.as_chunks::<N>().0.iter().zip(second.as_chunks::<N>().0);
            into.zip(from).for_each(|(to, (a, b))| *to = write(op(read(*a), read(*b))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_reduced_as_the_language_does_it() {
        let mut a: Vec<u8> = [i16::MAX, -5, 6].iter().flat_map(|v| v.to_le_bytes()).collect();
        let b: Vec<u8> = [1i16, 3, -7].iter().flat_map(|v| v.to_le_bytes()).collect();
        reduce(Op::Sum, Datatype::I16, &mut a, &b);
        assert_eq!(a, [i16::MIN, -2, -1].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        reduce(Op::Xor, Datatype::I16, &mut a, &b);
        assert_eq!(a[2..4], (-2i16 ^ 3).to_le_bytes());
    }

    #[test]
    fn which_element_is_first_does_not_depend_on_where_the_result_goes() {
        for datatype in Datatype::ALL {
            for op in Op::ALL.into_iter().filter(|op| op.takes(datatype)) {
                // Zeros of both signs and NaNs are among them, of which the first counts.
                let bytes = |seed: u8| (0..=255).map(move |i: u8| i.wrapping_mul(seed) ^ i >> 3).chain([0, 0, 0, 0x80]);
                let (a, b): (Vec<u8>, Vec<u8>) = (bytes(37).collect(), bytes(91).rev().collect());
                let (mut after, mut before, mut both) = (a.clone(), b.clone(), vec![0; a.len()]);
                reduce(op, datatype, &mut after, &b);
                reduce_before(op, datatype, &mut before, &a);
                combine(op, datatype, &mut both, &a, &b);
                let whole = a.len() / datatype.size() as usize * datatype.size() as usize;
                assert_eq!(after[..whole], before[..whole], "{op} of {datatype}");
                assert_eq!(after[..whole], both[..whole], "{op} of {datatype}");
            }
        }
    }

    #[test]
    fn the_least_of_a_number_and_a_nan_is_the_number_and_of_two_zeros_the_first() {
        let least = |a: f32, b: f32| {
            let mut into = a.to_le_bytes();
            reduce(Op::Min, Datatype::F32, &mut into, &b.to_le_bytes());
            f32::from_le_bytes(into)
        };
        assert_eq!(least(f32::NAN, 2.0), 2.0);
        assert_eq!(least(2.0, f32::NAN), 2.0);
        assert!(least(-0.0, 0.0).is_sign_negative() && least(0.0, -0.0).is_sign_positive());
    }

    #[test]
    fn what_is_no_number_has_the_same_bits_whatever_it_came_from() {
        let result = |op, t, a: u64, b: u64| {
            let mut into = a.to_le_bytes();
            reduce(op, t, &mut into, &b.to_le_bytes());
            u64::from_le_bytes(into)
        };
        // A type's quiet NaN, infinity, and a NaN with sign and payload that is not quiet: of one element in 64 bits.
        let types = [
            (Datatype::F16, 0x7e00_u64, 0x7c00, 0xfc01),
            (Datatype::Bf16, 0x7fc0, 0x7f80, 0xff81),
            (Datatype::F32, 0x7fc0_0000, 0x7f80_0000, 0xff80_0001),
            (Datatype::F64, 0x7ff8 << 48, 0x7ff0 << 48, 0xfff0_0000_0000_0001),
        ];
        for (t, quiet, infinity, nan) in types {
            let sign = 1 << (8 * t.size() - 1);
            for op in [Op::Sum, Op::Min, Op::Max, Op::Prod] {
                assert_eq!(result(op, t, nan, nan), quiet, "{op} of {t}");
            }
            for op in [Op::Sum, Op::Prod] {
                assert_eq!(result(op, t, 0, nan), quiet, "{op} of {t}");
                assert_eq!(result(op, t, nan, infinity), quiet, "{op} of {t}");
            }
            assert_eq!(result(Op::Sum, t, infinity, infinity | sign), quiet);
            assert_eq!(result(Op::Prod, t, 0, infinity), quiet);
        }
    }

    #[test]
    fn halves_are_rounded_after_each_step() {
        let sum = |t, a: u16, b: u16| {
            let mut into = a.to_le_bytes();
            reduce(Op::Sum, t, &mut into, &b.to_le_bytes());
            u16::from_le_bytes(into)
        };
        // 2048 + 1 is a tie, and goes to even; so does adding one again and again.
        assert_eq!(sum(Datatype::F16, 0x6800, 0x3c00), 0x6800);
        assert_eq!(sum(Datatype::F16, 0x6800, 0x4200), 0x6802, "2048 + 3 is between 2050 and 2052");
        assert_eq!(sum(Datatype::F16, 0x7bff, 0x7bff), 0x7c00, "infinity");
        assert_eq!(sum(Datatype::Bf16, 0x4380, 0x3f80), 0x4380, "256 + 1");
        assert_eq!(sum(Datatype::Bf16, 0x8000, 0x8000), 0x8000, "minus zero");
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for t in Datatype::ALL {
            assert_eq!(t.name().parse(), Ok(t));
            assert_eq!(Datatype::from_byte(t as u8), Some(t));
        }
        for op in Op::ALL {
            assert_eq!(op.name().parse(), Ok(op));
        }
        assert!("u8".parse::<Datatype>().unwrap_err().contains("i8, i16"));
        assert!(!Op::Xor.takes(Datatype::F32) && Op::Xor.takes(Datatype::I8) && Op::Prod.takes(Datatype::F64));
    }
}
