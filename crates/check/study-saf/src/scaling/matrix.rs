//! The matrices: each element follows from its indices, so that no machine has to hold all of one.

/// Elements of A and B, small multiples of an eighth: their sums are exact, and differ from place to place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix {
    key: u32,
}

impl Matrix {
    pub(super) const fn a(seed: u64) -> Self {
        Self { key: (seed as u32).wrapping_mul(0x9e37_79b1) ^ 0x51ed_270b }
    }

    pub(super) const fn b(seed: u64) -> Self {
        Self { key: (seed as u32).wrapping_mul(0x85eb_ca77) ^ 0x1b56_c4f5 }
    }

    /// The element in this row and column.
    pub(super) fn at(self, row: usize, column: usize) -> f32 {
        let mut z = (row as u32).wrapping_mul(0x9e37_79b1) ^ (column as u32).wrapping_mul(0xc2b2_ae3d) ^ self.key;
        z = (z ^ (z >> 15)).wrapping_mul(0x2c1b_3c6d);
        z ^= z >> 12;
        // 16 bits with a sign, in eighths: 19 bits of mantissa in a sum of two.
        (z as i32 >> 16) as f32 / 8.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_differ_by_row_column_matrix_and_seed() {
        let grid = |m: Matrix| (0..64).flat_map(|i| (0..64).map(move |j| m.at(i, j).to_bits())).collect::<Vec<_>>();
        let all = [Matrix::a(1), Matrix::b(1), Matrix::a(2), Matrix::b(2)].map(grid);
        for (n, one) in all.iter().enumerate() {
            let mut values = one.clone();
            values.sort_unstable();
            values.dedup();
            assert!(values.len() > 3900, "matrix {n} has {} values", values.len());
            for other in &all[n + 1..] {
                assert!(one.iter().zip(other).filter(|(a, b)| a == b).count() < 8);
            }
        }
        // Transposed, it is another matrix: a kernel that forgets to transpose is found out.
        let m = Matrix::a(1);
        assert!((0..64).all(|i| (0..i).filter(|j| m.at(i, *j) == m.at(*j, i)).count() < 4));
    }
}
