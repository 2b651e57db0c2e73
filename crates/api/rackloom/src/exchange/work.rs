//! Matrices on cards that exchange blocks themselves: who holds what, and who reads it from whom.
//!
//! Each matrix is cut by rows, one strip for each card, as equal as rows allow; each kind of array lies at the same
//! address on all cards. The kernels are those of the role `exchange` (`device/roles/exchange`), which cut alike.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use rackloom_host::{Launch, Share, Step};
use rackloom_image::{Dir, Dtype, Kernel};
use rackloom_wire::ROLE_PRIVATE;
use rackloom_wire::bridge::STREAMS;

use crate::array_work::{Array, ArrayError, extents};

/// What the cards compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `c[ij] = b[ij] + a[ji]`: a card fetches the columns of A that are its rows of C.
    Ptrans,
    /// `c[ij] = sum a[ik] b[kj]`: a card fetches all of B, as many columns at a time as it has room for.
    Gemm,
}

impl Form {
    /// That of a kernel of the roles `ptrans` and `gemm`.
    fn of(kernel: &Kernel) -> Option<Self> {
        let is = |indices: [&str; 3]| {
            let arrays = kernel.arrays.iter().map(|a| (a.name.as_str(), a.index.as_str(), a.dir, a.dtype));
            let dirs = [Dir::In, Dir::In, Dir::Out];
            arrays.eq(["a", "b", "c"].into_iter().zip(indices).zip(dirs).map(|((n, i), d)| (n, i, d, Dtype::F32)))
        };
        match kernel.name.as_str() {
            "ptrans" if is(["ji", "ij", "ij"]) => Some(Self::Ptrans),
            "gemm" if is(["ik", "kj", "ij"]) => Some(Self::Gemm),
            _ => None,
        }
    }

    /// Number of its kernel in the role `exchange`.
    const fn kernel(self) -> u16 {
        match self {
            Self::Ptrans => 0,
            Self::Gemm => 1,
        }
    }
}

/// The work of `ptrans` or `gemm` on cards that fetch from each other what they need.
#[derive(Debug)]
pub struct ExchangeWork {
    form: Form,
    a: Array,
    b: Array,
    /// Rows and columns of C.
    shape: [usize; 2],
    cards: usize,
    layout: Layout,
    c: Vec<u8>,
}

/// Where things lie in each card's memory.
#[derive(Debug, Clone, Copy)]
struct Layout {
    a: u64,
    b: u64,
    c: u64,
    /// What was fetched from others.
    room: u64,
    room_bytes: u64,
    /// `gemm`: columns of B that are fetched at a time.
    width: usize,
}

impl ExchangeWork {
    /// The work of `kernel`, of the role `ptrans` or `gemm`, on these inputs, for at most `cards` cards with `memory`
    /// bytes each. Matrices of fewer rows than there are cards take as many cards as rows.
    ///
    /// # Errors
    /// The kernel has no exchange among cards; an array is missing or does not fit the kernel and the other arrays; or
    /// the strips and what is fetched do not fit into the memory.
    pub fn new(
        kernel: &Kernel,
        mut inputs: BTreeMap<String, Array>,
        cards: usize,
        memory: u64,
    ) -> Result<Self, ArrayError> {
        let form = Form::of(kernel).ok_or_else(|| ArrayError::NoExchange { kernel: kernel.name.clone() })?;
        let extents = extents::infer(kernel, &inputs)?;
        let mut take = |name: &str| inputs.remove(name).expect("its extents were inferred");
        let (a, b) = (take("a"), take("b"));
        let shape = [extents[&'i'], extents[&'j']];
        let cards = cards.max(1).min(shape[0]).min(a.shape[0]).min(b.shape[0]);
        let layout = Layout::new(kernel, form, [&a.shape, &b.shape, &shape], cards, memory)?;
        let bytes = shape[0].checked_mul(shape[1]).and_then(|n| n.checked_mul(ELEMENT));
        let bytes = bytes.ok_or_else(|| ArrayError::TooLarge { array: "c".into() })?;
        Ok(Self { form, a, b, shape, cards, layout, c: vec![0; bytes] })
    }

    /// Cards that it takes.
    pub const fn cards(&self) -> usize {
        self.cards
    }

    /// Bytes that pass between cards.
    pub fn exchanged(&self) -> u64 {
        let all = |n: usize| n as u64;
        match self.form {
            Form::Ptrans => {
                let own: u64 = (0..self.cards)
                    .map(|r| {
                        all(strip(self.shape[0], r, self.cards).len()) * all(strip(self.shape[1], r, self.cards).len())
                    })
                    .sum();
                (all(self.shape[0]) * all(self.shape[1]) - own) * ELEMENT as u64
            }
            Form::Gemm => self.b.data.len() as u64 * (self.cards as u64 - 1),
        }
    }

    /// What each card does.
    pub fn shares(&self) -> Vec<Share> {
        (0..self.cards).map(|place| self.share(place)).collect()
    }

    fn share(&self, place: usize) -> Share {
        let part = |array: &Array| array.data.slice(bytes_of(&array.shape, place, self.cards));
        let (a, b) = (part(&self.a), part(&self.b));
        let open = match self.form {
            Form::Ptrans => (self.layout.a, a.len() as u64),
            Form::Gemm => (self.layout.b, b.len() as u64),
        };
        let c = bytes_of(&self.shape, place, self.cards);
        Share {
            writes: vec![(self.layout.a, a), (self.layout.b, b)],
            open,
            steps: self.steps(place),
            output: (self.layout.c, c.len() as u64),
        }
    }

    /// One launch reads the memory of as many cards as there are streams; `gemm` has those for each part of B.
    fn steps(&self, place: usize) -> Vec<Step> {
        let step = |distances: Range<usize>, columns: Range<usize>| Step {
            launch: self.launch(place, &distances, &columns),
            peers: distances.map(|distance| (place + distance) % self.cards).collect(),
        };
        let parts = (0..self.shape[1]).step_by(self.layout.width);
        let parts = parts.map(|from| from..self.shape[1].min(from + self.layout.width));
        parts
            .flat_map(|columns| groups(self.cards).map(move |group| (group, columns.clone())))
            .map(|(g, c)| step(g, c))
            .collect()
    }

    fn launch(&self, place: usize, distances: &Range<usize>, columns: &Range<usize>) -> Launch {
        let Layout { a, b, c, room, room_bytes, .. } = self.layout;
        let [i, j] = self.shape.map(|n| n as u64);
        let group = [self.cards, place, distances.start, distances.len()].map(|n| n as u64);
        let args = match self.form {
            Form::Ptrans => [&[a, b, c, room, room_bytes, i, j], &group[..]].concat(),
            Form::Gemm => {
                let columns = [columns.start as u64, columns.len() as u64];
                [&[a, b, c, room, i, j, self.a.shape[1] as u64], &group[..], &columns].concat()
            }
        };
        Launch { kernel: self.form.kernel(), args, ..Launch::default() }
    }

    /// Takes the result of a card.
    ///
    /// # Panics
    /// If it has not the size of the card's part.
    pub fn output(&mut self, place: usize, data: &Bytes) {
        self.c[bytes_of(&self.shape, place, self.cards)].copy_from_slice(data);
    }

    /// The outputs by name, with zeros where no card's result was taken.
    pub fn into_outputs(self) -> BTreeMap<String, Array> {
        let c = Array { dtype: Dtype::F32, shape: self.shape.into(), data: self.c.into() };
        BTreeMap::from([("c".to_owned(), c)])
    }
}

impl Layout {
    fn new(
        kernel: &Kernel,
        form: Form,
        [a, b, c]: [&[usize]; 3],
        cards: usize,
        memory: u64,
    ) -> Result<Self, ArrayError> {
        let longest = |shape: &[usize]| (shape[0].div_ceil(cards) as u64).saturating_mul(row_bytes(shape));
        let after = |at: u64, shape| at.saturating_add(longest(shape)).saturating_add(63) & !63;
        let at_a = ROLE_PRIVATE;
        let at_b = after(at_a, a);
        let at_c = after(at_b, b);
        let room = after(at_c, c);
        // The kernel's own bound: what it addresses lies below 4 GiB.
        let left = memory.min(1 << 32).saturating_sub(room);
        let (least, room_bytes, width) = match form {
            // Two stripes of a row at least. Larger ones than this wait longer for their first use.
            Form::Ptrans => {
                let row = c[0].div_ceil(cards) as u64 * ELEMENT as u64;
                (2 * row, left.min((2 * row).max(STRIPES_BYTES)), c[1])
            }
            Form::Gemm => {
                let column = a[1] as u64 * ELEMENT as u64;
                let columns = (left / column).min(c[1] as u64);
                let columns = if columns > 16 && columns < c[1] as u64 { columns & !15 } else { columns };
                (column, columns * column, columns as usize)
            }
        };
        if left < least {
            let need = room.saturating_add(least).saturating_sub(ROLE_PRIVATE);
            let has = memory.min(1 << 32).saturating_sub(ROLE_PRIVATE);
            return Err(ArrayError::ExchangeRoom { kernel: kernel.name.clone(), cards, need, room: has });
        }
        Ok(Self { a: at_a, b: at_b, c: at_c, room, room_bytes, width })
    }
}

/// The distances of the cards that a launch reads, from one launch to the next; one launch if there are no others.
fn groups(cards: usize) -> impl Iterator<Item = Range<usize>> {
    let most = usize::from(STREAMS);
    let rest = (1 + most..cards).step_by(most);
    std::iter::once(1).chain(rest).map(move |first| first..cards.min(first + most))
}

/// The rows of card `place`, of `rows` that are cut over `cards`.
fn strip(rows: usize, place: usize, cards: usize) -> Range<usize> {
    let edge = |n: usize| (rows as u128 * n as u128 / cards as u128) as usize;
    edge(place)..edge(place + 1)
}

/// The bytes of these rows in a matrix.
fn bytes_of(shape: &[usize], place: usize, cards: usize) -> Range<usize> {
    let (rows, row) = (strip(shape[0], place, cards), shape[1] * ELEMENT);
    rows.start * row..rows.end * row
}

fn row_bytes(shape: &[usize]) -> u64 {
    (shape[1] as u64).saturating_mul(ELEMENT as u64)
}

/// Bytes of an element.
const ELEMENT: usize = size_of::<f32>();
/// Bytes of the two stripes that `ptrans` fetches in turn: each takes a link of 10 Gb/s 200 us, twenty round trips.
const STRIPES_BYTES: u64 = 512 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(role: &str) -> Kernel {
        let image = rackloom_builtin_roles::image(role).unwrap();
        let image = rackloom_image::Image::parse(Bytes::from_static(image)).unwrap();
        image.manifest().kernel(role).unwrap().1.clone()
    }

    fn work(role: &str, a: [usize; 2], b: [usize; 2], cards: usize, memory: u64) -> Result<ExchangeWork, ArrayError> {
        let zeros = |shape: [usize; 2]| {
            let data = Bytes::from(vec![0; shape[0] * shape[1] * ELEMENT]);
            Array::new(Dtype::F32, shape.into(), data).unwrap()
        };
        let inputs = BTreeMap::from([("a".to_owned(), zeros(a)), ("b".to_owned(), zeros(b))]);
        ExchangeWork::new(&kernel(role), inputs, cards, memory)
    }

    #[test]
    fn each_card_reads_each_other_once_and_no_more_at_a_time_than_there_are_streams() {
        for cards in [1, 2, 16, 17, 18, 40] {
            let shares = work("ptrans", [100, 200], [200, 100], cards, 1 << 30).unwrap().shares();
            assert_eq!(shares.len(), cards);
            for (place, share) in shares.iter().enumerate() {
                assert!(share.steps.iter().all(|step| step.peers.len() <= 16));
                let mut peers: Vec<_> = share.steps.iter().flat_map(|step| step.peers.clone()).collect();
                peers.sort_unstable();
                assert_eq!(peers, (0..cards).filter(|p| *p != place).collect::<Vec<_>>(), "{cards} cards");
                // Nor do more read it: each has a window of its own.
                for step in 0..share.steps.len() {
                    assert!(shares.iter().filter(|s| s.steps[step].peers.contains(&place)).count() <= 16);
                }
            }
        }
    }

    #[test]
    fn the_strips_are_the_matrices_and_only_what_others_need_is_open() {
        for (role, opened) in [("ptrans", 0), ("gemm", 1)] {
            let shares = work(role, [50, 50], [50, 50], 7, 1 << 30).unwrap().shares();
            for which in [0, 1] {
                assert_eq!(shares.iter().map(|s| s.writes[which].1.len()).sum::<usize>(), 50 * 50 * 4);
            }
            assert_eq!(shares.iter().map(|s| s.output.1).sum::<u64>(), 50 * 50 * 4);
            for share in &shares {
                assert_eq!(share.open, (share.writes[opened].0, share.writes[opened].1.len() as u64), "{role}");
                let end = share.writes[0].0 + share.writes[0].1.len() as u64;
                assert!(end <= share.writes[1].0 && share.writes[1].0 < share.output.0, "{role}: they overlap");
            }
        }
    }

    #[test]
    fn few_rows_take_few_cards_and_little_memory_takes_columns_in_parts() {
        assert_eq!(work("ptrans", [3, 9], [9, 3], 8, 1 << 30).unwrap().cards(), 3);
        let strips = ROLE_PRIVATE + 3 * 512 * 1024 * 4 / 4 + 192;
        let some = work("gemm", [512, 512], [512, 1024], 4, strips + 512 * 4 * 100).unwrap();
        assert!(some.layout.width < 1024 && some.shares()[0].steps.len() > 1, "{:?}", some.layout);
        let none = work("gemm", [512, 512], [512, 1024], 4, ROLE_PRIVATE + 1000);
        assert!(matches!(none, Err(ArrayError::ExchangeRoom { cards: 4, .. })), "{none:?}");
    }

    #[test]
    fn other_kernels_have_no_exchange() {
        let mut other = kernel("ptrans");
        other.name = "mine".into();
        let refused = ExchangeWork::new(&other, BTreeMap::new(), 2, 1 << 30);
        assert!(matches!(refused, Err(ArrayError::NoExchange { kernel }) if kernel == "mine"));
    }

    #[test]
    fn what_passes_between_cards_is_counted() {
        assert_eq!(work("ptrans", [8, 8], [8, 8], 2, 1 << 30).unwrap().exchanged(), 8 * 8 * 4 / 2);
        assert_eq!(work("gemm", [8, 8], [8, 8], 4, 1 << 30).unwrap().exchanged(), 8 * 8 * 4 * 3);
        assert_eq!(work("gemm", [8, 8], [8, 8], 1, 1 << 30).unwrap().exchanged(), 0);
    }
}
