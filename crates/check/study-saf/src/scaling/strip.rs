//! A strip: rows of C, and where its operands lie in a card's memory.
//!
//! Of A the strip needs the same numbers of columns: an array of `order` rows of `rows` elements. Each array is
//! contiguous.

use core::ops::Range;

use bytes::Bytes;
use rackloom_host::Launch;
use rackloom_wire::ROLE_PRIVATE;

use super::matrix::Matrix;

/// Rows of C on one card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Strip {
    pub(super) order: usize,
    pub(super) rows: Range<usize>,
}

/// Bytes that a strip of so many rows takes in a card's memory.
pub(super) const fn bytes(rows: usize, order: usize) -> u64 {
    3 * array_bytes(rows, order).next_multiple_of(64)
}

const fn array_bytes(rows: usize, order: usize) -> u64 {
    rows as u64 * order as u64 * 4
}

/// The strips of C: `count` of them, the longest at most one row longer than the shortest.
pub(super) fn cut(order: usize, count: usize) -> impl Iterator<Item = Strip> {
    let edge = move |n: usize| n * order / count;
    (0..count).map(move |n| Strip { order, rows: edge(n)..edge(n + 1) })
}

impl Strip {
    /// Bytes of each of the three arrays.
    pub(super) fn array_bytes(&self) -> u64 {
        array_bytes(self.rows.len(), self.order)
    }

    fn addr(&self, array: u64) -> u64 {
        ROLE_PRIVATE + array * self.array_bytes().next_multiple_of(64)
    }

    /// Where the result lies.
    pub(super) fn result_addr(&self) -> u64 {
        self.addr(2)
    }

    /// Bytes of both operands.
    pub(super) fn input_bytes(&self) -> u64 {
        2 * self.array_bytes()
    }

    /// A piece of the operands, from byte `at` of the two arrays: its address and its bytes.
    pub(super) fn input(&self, seed: u64, at: u64, most: u64) -> (u64, Bytes) {
        let size = self.array_bytes();
        let (array, offset) = (at / size, at % size);
        let first = (offset / 4) as usize;
        let count = (most.min(size - offset) / 4) as usize;
        let mut data = Vec::with_capacity(count * 4);
        if array == 0 {
            // A by rows of the array, that is rows of A restricted to the strip's columns.
            let (matrix, width) = (Matrix::a(seed), self.rows.len());
            walk(first, count, width, |row, columns| {
                let columns = columns.start + self.rows.start..columns.end + self.rows.start;
                data.extend(columns.flat_map(|c| matrix.at(row, c).to_le_bytes()));
            });
        } else {
            let matrix = Matrix::b(seed);
            walk(first, count, self.order, |row, columns| {
                data.extend(columns.flat_map(|c| matrix.at(row + self.rows.start, c).to_le_bytes()));
            });
        }
        (self.addr(array) + offset, Bytes::from(data))
    }

    /// Checks a piece of the result, from byte `at`: the first element that is not B + A^T, as row and column.
    pub(super) fn check(&self, seed: u64, at: u64, data: &[u8]) -> Result<(), (usize, usize)> {
        let (a, b) = (Matrix::a(seed), Matrix::b(seed));
        let mut words = data.chunks_exact(4);
        let mut wrong = None;
        walk((at / 4) as usize, data.len() / 4, self.order, |row, columns| {
            let row = row + self.rows.start;
            for column in columns {
                let word: [u8; 4] = words.next().expect("as many as elements").try_into().expect("four bytes");
                if f32::from_le_bytes(word) != b.at(row, column) + a.at(column, row) && wrong.is_none() {
                    wrong = Some((row, column));
                }
            }
        });
        wrong.map_or(Ok(()), Err)
    }

    /// The launch that computes it, held until Go `hold`.
    pub(super) fn launch(&self, hold: u32) -> Launch {
        let extents = [self.rows.len() as u64, self.order as u64];
        let args = vec![self.addr(0), self.addr(1), self.addr(2), extents[0], extents[1]];
        Launch { kernel: 0, args, fuel: 0, output: (0, 0), hold }
    }
}

/// Walks through `count` elements of an array of rows of `width` elements, from element `first`: each row, and which
/// columns.
fn walk(first: usize, count: usize, width: usize, mut visit: impl FnMut(usize, Range<usize>)) {
    let mut at = first;
    while at < first + count {
        let (row, column) = (at / width, at % width);
        let end = width.min(column + first + count - at);
        visit(row, column..end);
        at += end - column;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_are_equal_to_a_row_and_cover_all() {
        for (order, count) in [(32_768, 20), (32_768, 80), (1000, 7), (256, 256)] {
            let strips: Vec<_> = cut(order, count).collect();
            assert_eq!(strips.len(), count);
            assert_eq!((strips[0].rows.start, strips[count - 1].rows.end), (0, order));
            assert!(strips.windows(2).all(|w| w[0].rows.end == w[1].rows.start));
            let lengths = strips.iter().map(|s| s.rows.len());
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
        }
    }

    #[test]
    fn pieces_of_any_size_make_up_the_arrays_and_the_result_is_checked() {
        let strip = Strip { order: 50, rows: 10..23 };
        let whole = |most: u64| {
            let mut memory = vec![0u8; (ROLE_PRIVATE + bytes(13, 50)) as usize];
            let mut at = 0;
            while at < strip.input_bytes() {
                let (addr, data) = strip.input(7, at, most);
                memory[addr as usize..][..data.len()].copy_from_slice(&data);
                at += data.len() as u64;
            }
            memory
        };
        let memory = whole(1 << 20);
        assert!(memory == whole(64) && memory == whole(128));
        let float = |addr: u64| f32::from_le_bytes(memory[addr as usize..][..4].try_into().unwrap());
        let args = strip.launch(1).args;
        let result: Vec<u8> = (0..13 * 50)
            .flat_map(|n| {
                let (i, j) = (n / 50, n % 50);
                (float(args[1] + n * 4) + float(args[0] + (j * 13 + i) * 4)).to_le_bytes()
            })
            .collect();
        assert_eq!(strip.check(7, 0, &result), Ok(()));
        assert_eq!(strip.check(7, 400, &result[400..1000]), Ok(()));
        let mut wrong = result;
        wrong[4 * (3 * 50 + 8)] ^= 1;
        assert_eq!(strip.check(7, 0, &wrong), Err((13, 8)));
    }
}
