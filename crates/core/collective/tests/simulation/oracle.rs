//! What ranks give, and what they have to get.

use rackloom_collective::{Datatype, Kind, Op, Operation};
use rackloom_node::Rng;

/// What each rank gives, as whole elements that reduce exactly or not at all.
pub(crate) fn inputs(operation: &Operation, ranks: usize, seed: u64) -> Vec<Vec<u8>> {
    let (n, wide) = (operation.given(ranks) as usize, operation.datatype.size() as usize);
    let mut rng = Rng::new(seed);
    let mut element = || match operation.datatype {
        Datatype::F32 => (rng.below(4000) as f32 / 7.0 - 250.0).to_le_bytes().to_vec(),
        Datatype::F64 => (rng.below(4000) as f64 / 7.0 - 250.0).to_le_bytes().to_vec(),
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
