//! Operations as anybody would write them down, to compare with what cards computed. Shares no arithmetic with them.

use bytes::Bytes;
use rackloom::{Datatype, Op, Operation, OperationKind as Kind};

/// What this rank has to get; empty where it gets nothing.
pub(super) fn expected(operation: &Operation, inputs: &[Bytes], rank: usize) -> Vec<u8> {
    let (b, root) = (operation.bytes() as usize, operation.root);
    let block = |bytes: &[u8], i: usize| bytes[i * b..(i + 1) * b].to_vec();
    let folded = |part: &dyn Fn(usize) -> Vec<u8>| {
        (1..inputs.len()).fold(part(0), |sum, i| fold(operation.op, operation.datatype, &sum, &part(i)))
    };
    match operation.kind {
        Kind::Barrier => Vec::new(),
        Kind::Send { to } if to != rank => Vec::new(),
        Kind::Gather | Kind::Reduce if rank != root => Vec::new(),
        Kind::Send { .. } | Kind::Broadcast => inputs[root].to_vec(),
        Kind::Sendrecv { by } => inputs[(rank + inputs.len() - by % inputs.len()) % inputs.len()].to_vec(),
        Kind::Scatter => block(&inputs[root], rank),
        Kind::Gather | Kind::Allgather => inputs.concat(),
        Kind::Alltoall => inputs.iter().flat_map(|given| block(given, rank)).collect(),
        Kind::Reduce | Kind::Allreduce => folded(&|i| inputs[i].to_vec()),
        Kind::ReduceScatter => folded(&|i| block(&inputs[i], rank)),
    }
}

fn each<const N: usize, T>(
    a: &[u8],
    b: &[u8],
    read: impl Fn([u8; N]) -> T,
    write: impl Fn(T) -> [u8; N],
    op: impl Fn(T, T) -> T,
) -> Vec<u8> {
    let pairs = a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0);
    pairs.flat_map(|(a, b)| write(op(read(*a), read(*b)))).collect()
}

fn fold(op: Op, datatype: Datatype, a: &[u8], b: &[u8]) -> Vec<u8> {
    macro_rules! integers {
        ($t:ty) => {
            each(a, b, <$t>::from_le_bytes, <$t>::to_le_bytes, |a, b| match op {
                Op::Sum => a.wrapping_add(b),
                Op::Min => a.min(b),
                Op::Max => a.max(b),
                Op::Prod => a.wrapping_mul(b),
                Op::And => a & b,
                Op::Or => a | b,
                Op::Xor => a ^ b,
            })
        };
    }
    macro_rules! floats {
        ($t:ty) => {
            each(a, b, <$t>::from_le_bytes, <$t>::to_le_bytes, |a, b| match op {
                Op::Sum => a + b,
                Op::Prod => a * b,
                // Of a number and none the number, and of two zeros the first.
                Op::Min => {
                    if b < a || a.is_nan() {
                        b
                    } else {
                        a
                    }
                }
                _ => {
                    if b > a || a.is_nan() {
                        b
                    } else {
                        a
                    }
                }
            })
        };
    }
    macro_rules! halves {
        ($fraction:literal) => {
            each(a, b, u16::from_le_bytes, u16::to_le_bytes, |a, b| {
                let (x, y) = (value(a, $fraction), value(b, $fraction));
                match op {
                    Op::Sum => nearest(x + y, $fraction),
                    Op::Prod => nearest(x * y, $fraction),
                    Op::Min => nearest(if y < x || x.is_nan() { y } else { x }, $fraction),
                    _ => nearest(if y > x || x.is_nan() { y } else { x }, $fraction),
                }
            })
        };
    }
    match datatype {
        Datatype::F16 => halves!(10),
        Datatype::Bf16 => halves!(7),
        Datatype::I8 => integers!(i8),
        Datatype::I16 => integers!(i16),
        Datatype::I32 => integers!(i32),
        Datatype::I64 => integers!(i64),
        Datatype::F32 => floats!(f32),
        Datatype::F64 => floats!(f64),
    }
}

/// The value of a number of 16 bits, as IEEE 754 defines it.
fn value(bits: u16, fraction: i32) -> f64 {
    let bias = (1 << (14 - fraction)) - 1;
    let (exponent, low) = (i32::from(bits & 0x7fff) >> fraction, f64::from(bits & ((1 << fraction) - 1)));
    let size = match exponent {
        0 => low * 2f64.powi(1 - bias - fraction),
        _ if exponent > 2 * bias && low > 0.0 => f64::NAN,
        _ if exponent > 2 * bias => f64::INFINITY,
        _ => (1.0 + low * 2f64.powi(-fraction)) * 2f64.powi(exponent - bias),
    };
    size.copysign(if bits >> 15 == 0 { 1.0 } else { -1.0 })
}

/// The number of 16 bits that is nearest, of two the even one. Numbers are in the order of their bits, so it is found
/// by halving; one that would come after the largest stands for infinity.
fn nearest(wanted: f64, fraction: i32) -> u16 {
    let infinity = ((1u16 << (15 - fraction)) - 1) << fraction;
    let sign = if wanted.is_sign_negative() { 0x8000 } else { 0 };
    if wanted.is_nan() {
        return sign | infinity | 1 << (fraction - 1);
    }
    let bias = (1 << (14 - fraction)) - 1;
    let at = |bits: u16| if bits == infinity { 2f64.powi(bias + 1) } else { value(bits, fraction) };
    let (mut low, mut high, size) = (0, infinity, wanted.abs());
    if size >= at(infinity) {
        return sign | infinity;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if at(middle) <= size { low = middle } else { high = middle }
    }
    let (below, above) = (size - at(low), at(high) - size);
    sign | if below < above || (below == above && low & 1 == 0) { low } else { high }
}

/// The first element that differs, if there is one: its number, and both in hexadecimal, as numbers are written.
pub(super) fn differs(datatype: Datatype, got: &[u8], want: &[u8]) -> Option<String> {
    let wide = datatype.size() as usize;
    if got.len() != want.len() {
        return Some(format!("{} elements, where {} were due", got.len() / wide, want.len() / wide));
    }
    let at = got.chunks(wide).zip(want.chunks(wide)).position(|(a, b)| a != b)?;
    let hex = |bytes: &[u8]| bytes[at * wide..][..wide].iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
    Some(format!("element {at} is 0x{}, where 0x{} was due", hex(got), hex(want)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_go_where_they_belong_and_are_reduced_in_order() {
        let inputs = [Bytes::from_static(&[1, 2, 3, 4]), Bytes::from_static(&[10, 20, 30, 40])];
        let of = |kind, root, rank| {
            let count = if matches!(kind, Kind::Alltoall | Kind::ReduceScatter | Kind::Scatter) { 2 } else { 4 };
            expected(&Operation { kind, count, datatype: Datatype::I8, op: Op::Sum, root }, &inputs, rank)
        };
        assert_eq!(of(Kind::Alltoall, 0, 1), [3, 4, 30, 40]);
        assert_eq!(of(Kind::ReduceScatter, 0, 1), [33, 44]);
        assert_eq!(of(Kind::Scatter, 1, 0), [10, 20]);
        assert_eq!(of(Kind::Send { to: 0 }, 1, 0), [10, 20, 30, 40]);
        assert!(of(Kind::Reduce, 1, 0).is_empty() && of(Kind::Barrier, 0, 0).is_empty());
        let big = [1e8f32, 1.0, -1e8].map(|x| Bytes::from(x.to_le_bytes().to_vec()));
        let sum = Operation { kind: Kind::Allreduce, count: 1, datatype: Datatype::F32, op: Op::Sum, root: 0 };
        assert_eq!(expected(&sum, &big, 0), 0f32.to_le_bytes(), "one is lost in the first sum");
    }

    #[test]
    fn halves_are_rounded_to_the_nearest() {
        let sum = |datatype, a: u16, b: u16| fold(Op::Sum, datatype, &a.to_le_bytes(), &b.to_le_bytes());
        assert_eq!(sum(Datatype::F16, 0x6800, 0x3c00), 0x6800u16.to_le_bytes(), "2048 + 1");
        assert_eq!(sum(Datatype::F16, 0x6800, 0x4200), 0x6802u16.to_le_bytes(), "2048 + 3");
        assert_eq!(sum(Datatype::F16, 0x7bff, 0x7bff), 0x7c00u16.to_le_bytes(), "more than the largest");
        assert_eq!(sum(Datatype::Bf16, 0x4380, 0x3f80), 0x4380u16.to_le_bytes(), "256 + 1");
        assert_eq!(sum(Datatype::F16, 0x0001, 0x0001), 2u16.to_le_bytes(), "the least of all");
    }

    #[test]
    fn the_first_difference_is_named() {
        let says = differs(Datatype::I16, &[1, 0, 2, 0x10], &[1, 0, 3, 0x10]);
        assert_eq!(says.as_deref(), Some("element 1 is 0x1002, where 0x1003 was due"));
        assert_eq!(differs(Datatype::I16, &[1, 0], &[1, 0]), None);
        assert!(differs(Datatype::I16, &[], &[1, 0]).is_some());
    }
}
