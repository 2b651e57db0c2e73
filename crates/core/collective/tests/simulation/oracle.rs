//! The operations that there are, what ranks give, and what they have to get.

use rackloom_collective::{Datatype, Kind, Op, Operation};
use rackloom_node::Rng;

/// One of each kind.
pub(crate) const KINDS: [Kind; 11] = [
    Kind::Barrier,
    Kind::Send { to: 1 },
    Kind::Sendrecv { by: 1 },
    Kind::Broadcast,
    Kind::Scatter,
    Kind::Gather,
    Kind::Allgather,
    Kind::Alltoall,
    Kind::Reduce,
    Kind::Allreduce,
    Kind::ReduceScatter,
];

/// What each rank gives, as whole elements that reduce exactly or not at all.
pub(crate) fn inputs(operation: &Operation, ranks: usize, seed: u64) -> Vec<Vec<u8>> {
    let (n, wide) = (operation.given(ranks) as usize, operation.datatype.size() as usize);
    let mut rng = Rng::new(seed);
    let mut element = || match operation.datatype {
        Datatype::F32 => (rng.below(4000) as f32 / 7.0 - 250.0).to_le_bytes().to_vec(),
        Datatype::F64 => (rng.below(4000) as f64 / 7.0 - 250.0).to_le_bytes().to_vec(),
        // From -2 to 2, and not too small: sums of some are rounded, and products of some stay numbers.
        Datatype::F16 => ((0x3000 + rng.below(0x1000) as u16) | ((rng.below(2) as u16) << 15)).to_le_bytes().to_vec(),
        Datatype::Bf16 => ((0x3f00 + rng.below(0x100) as u16) | ((rng.below(2) as u16) << 15)).to_le_bytes().to_vec(),
        _ => rng.next_u64().to_le_bytes()[..wide].to_vec(),
    };
    (0..ranks).map(|_| (0..n / wide).flat_map(|_| element()).collect()).collect()
}

/// The operation as anybody would write it down, without the crate's own arithmetic.
pub(crate) fn oracle(operation: &Operation, inputs: &[Vec<u8>], rank: usize) -> Option<Vec<u8>> {
    let (b, root) = (operation.bytes() as usize, operation.root);
    let block = |bytes: &[u8], i: usize| bytes[i * b..(i + 1) * b].to_vec();
    let all = |part: &dyn Fn(usize) -> Vec<u8>| (0..inputs.len()).flat_map(part).collect::<Vec<_>>();
    let folded =
        |part: &dyn Fn(usize) -> Vec<u8>| (1..inputs.len()).fold(part(0), |sum, i| fold(operation, &sum, &part(i)));
    Some(match operation.kind {
        Kind::Barrier => return None,
        Kind::Send { to } if to != rank => return None,
        Kind::Gather | Kind::Reduce if rank != root => return None,
        Kind::Send { .. } | Kind::Broadcast => inputs[root].clone(),
        Kind::Sendrecv { by } => inputs[(rank + inputs.len() - by % inputs.len()) % inputs.len()].clone(),
        Kind::Scatter => block(&inputs[root], rank),
        Kind::Gather | Kind::Allgather => inputs.concat(),
        Kind::Alltoall => all(&|i| block(&inputs[i], rank)),
        Kind::Reduce | Kind::Allreduce => folded(&|i| inputs[i].clone()),
        Kind::ReduceScatter => folded(&|i| block(&inputs[i], rank)),
    })
}

pub(crate) fn fold(operation: &Operation, a: &[u8], b: &[u8]) -> Vec<u8> {
    let wide = operation.datatype.size() as usize;
    let pairs = a.chunks_exact(wide).zip(b.chunks_exact(wide));
    pairs
        .flat_map(|(a, b)| match operation.datatype {
            Datatype::F32 => {
                let [a, b] = [a, b].map(|x| f32::from_le_bytes(x.try_into().unwrap()));
                (match operation.op {
                    Op::Sum => a + b,
                    Op::Prod => a * b,
                    Op::Min => a.min(b),
                    _ => a.max(b),
                })
                .to_le_bytes()
                .to_vec()
            }
            Datatype::F64 => {
                let [a, b] = [a, b].map(|x| f64::from_le_bytes(x.try_into().unwrap()));
                (match operation.op {
                    Op::Sum => a + b,
                    Op::Prod => a * b,
                    Op::Min => a.min(b),
                    _ => a.max(b),
                })
                .to_le_bytes()
                .to_vec()
            }
            Datatype::F16 | Datatype::Bf16 => {
                let fraction = if operation.datatype == Datatype::F16 { 10 } else { 7 };
                let [a, b] = [a, b].map(|x| value(u16::from_le_bytes(x.try_into().unwrap()), fraction));
                let c = match operation.op {
                    Op::Sum => a + b,
                    Op::Prod => a * b,
                    Op::Min => a.min(b),
                    _ => a.max(b),
                };
                nearest(c, fraction).to_le_bytes().to_vec()
            }
            _ => {
                let [a, b] = [a, b].map(|x| {
                    let sign = if x[wide - 1] & 0x80 == 0 { 0 } else { 0xff };
                    let mut full = [sign; 16];
                    full[..wide].copy_from_slice(x);
                    i128::from_le_bytes(full)
                });
                let c = match operation.op {
                    Op::Sum => a + b,
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                    Op::Prod => a.wrapping_mul(b),
                    Op::And => a & b,
                    Op::Or => a | b,
                    Op::Xor => a ^ b,
                };
                c.to_le_bytes()[..wide].to_vec()
            }
        })
        .collect()
}

/// The value of a number of 16 bits, as its definition has it.
fn value(bits: u16, fraction: i32) -> f64 {
    let bias = (1 << (14 - fraction)) - 1;
    let (exponent, low) = (i32::from(bits & 0x7fff) >> fraction, f64::from(bits & ((1 << fraction) - 1)));
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    sign * match exponent {
        0 => low * 2f64.powi(1 - bias - fraction),
        _ => (1.0 + low * 2f64.powi(-fraction)) * 2f64.powi(exponent - bias),
    }
}

/// The number of 16 bits that is nearest, found by halving: they are in order. No test has numbers beyond the largest.
fn nearest(wanted: f64, fraction: i32) -> u16 {
    let (mut low, mut high) = (0u16, 0x7bff);
    if fraction == 7 {
        high = 0x7f7f;
    }
    let size = wanted.abs();
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value(middle, fraction) <= size { low = middle } else { high = middle }
    }
    let (below, above) = (size - value(low, fraction), value(high, fraction) - size);
    let is_low = below < above || (below == above && low & 1 == 0);
    (if is_low { low } else { high }) | if wanted.is_sign_negative() { 0x8000 } else { 0 }
}
