//! Every role against a computation of its own in Rust, through the sandbox, on odd and extreme sizes.

use bytes::Bytes;
use rackloom_ddr::Ddr;
use rackloom_image::{Image, TARGET_MODEL};
use rackloom_node::Rng;
use rackloom_role::{ROLE_PRIVATE, Role, RoleFault, Sandbox, Step};
use rackloom_sandbox::WasmSandbox;

const DDR_BYTES: u64 = 16 << 20;
/// What memory holds that no kernel should touch.
const FILL: u8 = 0xa5;

/// A card's memory and role, with an allocator that leaves gaps to be checked.
struct Card {
    ddr: Ddr,
    role: Box<dyn Role>,
    next: u64,
    gaps: Vec<(u64, u64)>,
}

impl Card {
    fn new(sandbox: &WasmSandbox, name: &str) -> Self {
        let image = Image::parse(Bytes::from_static(rackloom_builtin_roles::image(name).unwrap())).unwrap();
        let part = image.part(TARGET_MODEL).unwrap();
        let ddr = Ddr::new(DDR_BYTES).unwrap();
        let role = sandbox.prepare(image.manifest(), &part, DDR_BYTES).unwrap().activate(&ddr.handle()).unwrap();
        let mut card = Self { ddr, role, next: ROLE_PRIVATE, gaps: Vec::new() };
        card.gap(192);
        card
    }

    fn gap(&mut self, length: u64) {
        self.ddr.write(self.next, &vec![FILL; length as usize]).unwrap();
        self.gaps.push((self.next, length));
        self.next += length;
    }

    fn place(&mut self, bytes: &[u8]) -> u64 {
        let addr = self.next;
        self.ddr.write(addr, bytes).unwrap();
        self.next += bytes.len() as u64;
        // Arrays start at multiples of 4, not 16: no kernel may need more.
        self.gap(68 + (4 - self.next % 4) % 4);
        addr
    }

    /// Runs kernel 0 and returns its cycles; checks that nothing outside the arrays has changed.
    fn run(&mut self, args: &[u64]) -> u64 {
        self.role.start(0, args, 0).unwrap();
        let cycles = loop {
            match self.role.step() {
                Step::Running => {}
                Step::Done { value: 0, cycles } => break cycles,
                other => panic!("{other:?}"),
            }
        };
        for (addr, length) in &self.gaps {
            assert!(self.ddr.view(*addr, *length, |b| b.iter().all(|x| *x == FILL)).unwrap(), "{addr:#x} changed");
        }
        cycles
    }

    fn f32s(&self, addr: u64, count: usize) -> Vec<f32> {
        let decode = |b: &[u8]| b.chunks_exact(4).map(|w| f32::from_le_bytes(w.try_into().unwrap())).collect();
        self.ddr.view(addr, count as u64 * 4, decode).unwrap()
    }
}

/// Small whole numbers and eighths: sums of few of them are exact, so any order of the additions gives the same.
fn random(rng: &mut Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| (rng.below(16_001) as f32 - 8000.0) / 8.0).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

const SIZES: [(usize, usize); 12] =
    [(1, 1), (1, 17), (17, 1), (3, 5), (4, 4), (15, 16), (16, 15), (16, 16), (17, 33), (64, 48), (129, 67), (256, 256)];

#[test]
fn ptrans_adds_the_transpose() {
    let sandbox = WasmSandbox::default();
    let mut rng = Rng::new(1);
    for (i, j) in SIZES {
        let mut card = Card::new(&sandbox, "ptrans");
        let (a, b) = (random(&mut rng, i * j), random(&mut rng, i * j));
        let args = [card.place(&bytes(&a)), card.place(&bytes(&b)), card.place(&bytes(&vec![0.0; i * j]))];
        let cycles = card.run(&[args[0], args[1], args[2], i as u64, j as u64]);
        // By columns of A: column n of A is row n of its transpose.
        let mut expected = b.clone();
        for (m, row) in a.chunks(i).enumerate() {
            for (n, value) in row.iter().enumerate() {
                expected[n * j + m] += value;
            }
        }
        assert_eq!(card.f32s(args[2], i * j), expected, "{i} x {j}");
        assert_eq!(cycles, (i as u64 * j as u64 * 12).div_ceil(64));
    }
}

#[test]
fn vadd_adds() {
    let sandbox = WasmSandbox::default();
    let mut rng = Rng::new(2);
    for n in [1, 3, 4, 15, 16, 17, 1000, 65_535, 65_536, 65_537, 200_001] {
        let mut card = Card::new(&sandbox, "vadd");
        let (a, b) = (random(&mut rng, n), random(&mut rng, n));
        let args = [card.place(&bytes(&a)), card.place(&bytes(&b)), card.place(&bytes(&vec![0.0; n]))];
        let cycles = card.run(&[args[0], args[1], args[2], n as u64]);
        let expected: Vec<f32> = std::iter::zip(a, b).map(|(x, y)| x + y).collect();
        assert_eq!(card.f32s(args[2], n), expected, "{n}");
        assert_eq!(cycles, (n as u64 * 12).div_ceil(64));
    }
}

#[test]
fn burn_hashes_and_takes_the_cycles_stated() {
    let sandbox = WasmSandbox::default();
    let mut rng = Rng::new(5);
    for n in [1, 2, 7, 1000] {
        let mut card = Card::new(&sandbox, "burn");
        // Cycles in the low 40 bits, a few of them so that the sum stays below the bound; anything above.
        let work: Vec<u64> = (0..n).map(|_| rng.next_u64() << 40 | rng.below(1 << 28)).collect();
        let words = |values: &[u64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let args = [card.place(&words(&work)), card.place(&words(&vec![0; n]))];
        let cycles = card.run(&[args[0], args[1], n as u64]);
        // The generator of the host's own random numbers, each round seeded with the last one's number.
        let hash = |z: &u64| (0..64).fold(*z, |z, _| Rng::new(z).next_u64());
        let expected: Vec<u64> = work.iter().map(hash).collect();
        let found = card.ddr.view(args[1], n as u64 * 8, <[u8]>::to_vec).unwrap();
        assert_eq!(found, words(&expected), "{n}");
        assert_eq!(cycles, work.iter().map(|w| w & 0xff_ffff_ffff).sum::<u64>());
    }
}

#[test]
fn sobel_finds_edges() {
    const KERNEL: [[i32; 3]; 3] = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]];
    let sandbox = WasmSandbox::default();
    let mut rng = Rng::new(3);
    for (i, j) in SIZES {
        for extreme in [false, true] {
            let mut card = Card::new(&sandbox, "sobel");
            // Black and white only gives the largest sums there are.
            let dot = |rng: &mut Rng| if extreme { 255 * rng.below(2) as u8 } else { rng.below(256) as u8 };
            let image: Vec<u8> = (0..(i + 2) * (j + 2)).map(|_| dot(&mut rng)).collect();
            let args = [card.place(&image), card.place(&vec![0; i * j])];
            let cycles = card.run(&[args[0], args[1], i as u64, j as u64]);
            let expected: Vec<u8> = (0..i * j)
                .map(|at| {
                    let (mut gx, mut gy) = (0, 0);
                    for (y, row) in KERNEL.iter().enumerate() {
                        for (x, weight) in row.iter().enumerate() {
                            gx += weight * i32::from(image[(at / j + y) * (j + 2) + at % j + x]);
                            gy += weight * i32::from(image[(at / j + x) * (j + 2) + at % j + y]);
                        }
                    }
                    (gx.abs() + gy.abs()).min(255) as u8
                })
                .collect();
            let found = card.ddr.view(args[1], (i * j) as u64, <[u8]>::to_vec).unwrap();
            assert!(found == expected, "{i} x {j}");
            assert_eq!(cycles, (((i + 2) * (j + 2) + i * j) as u64).div_ceil(64));
        }
    }
}

#[test]
fn gemm_sums_in_the_order_of_k() {
    let sandbox = WasmSandbox::default();
    let mut rng = Rng::new(4);
    for ((i, j), k) in SIZES.into_iter().zip([1, 2, 0, 7, 4, 33, 16, 64, 100, 31, 5, 96]) {
        let mut card = Card::new(&sandbox, "gemm");
        // Thirds: almost every product and sum is rounded, so another order would show.
        let thirds = |values: Vec<f32>| values.into_iter().map(|v| v / 3.0).collect::<Vec<f32>>();
        let (a, b) = (thirds(random(&mut rng, i * k)), thirds(random(&mut rng, k * j)));
        let args = [card.place(&bytes(&a)), card.place(&bytes(&b)), card.place(&bytes(&vec![1.0; i * j]))];
        let cycles = card.run(&[args[0], args[1], args[2], i as u64, j as u64, k as u64]);
        // Outer products: k is the outermost loop here and the innermost on the card, the order of each sum is the
        // same.
        let mut expected = vec![0.0f32; i * j];
        for n in 0..k {
            for (at, sum) in expected.iter_mut().enumerate() {
                *sum += a[at / j * k + n] * b[n * j + at % j];
            }
        }
        assert_eq!(card.f32s(args[2], i * j), expected, "{i} x {j} x {k}");
        // Without a charge, as for k = 0, fuel is what counts.
        if k > 0 {
            assert_eq!(cycles, ((i * j * k) as u64).div_ceil(64));
        }
    }
}

/// The roles whose kernels take arrays and extents only.
fn array_roles() -> impl Iterator<Item = &'static str> {
    rackloom_builtin_roles::names().filter(|name| !["echo", "exchange", "probe"].contains(name))
}

/// What a host gets wrong ends in a trap, not in a wrong result elsewhere.
#[test]
fn wrong_arguments_trap() {
    let sandbox = WasmSandbox::default();
    for name in array_roles() {
        let mut card = Card::new(&sandbox, name);
        let args = card.role.kernels()[0].args.len();
        for (arrays, extents) in [
            (0, 16),                       // In the role's own memory.
            (ROLE_PRIVATE - 1, 16),        // Its last byte.
            (DDR_BYTES, 16),               // Beyond the card's memory.
            (u64::MAX, 16),                // Beyond 32 bits.
            (1 << 32, 16),                 //
            (ROLE_PRIVATE, 1 << 16),       // Larger than 4 GiB, or than the memory.
            (ROLE_PRIVATE, u64::MAX),      // Wraps round.
            (ROLE_PRIVATE, (1 << 32) + 1), // One if cut to 32 bits.
        ] {
            let arrays_in = card.role.kernels()[0].arrays.len();
            // 65536 elements are no mistake where an array has one dimension.
            let extents =
                if ["burn", "copy", "vadd"].contains(&name) && extents == 1 << 16 { 1 << 26 } else { extents };
            let words: Vec<u64> = (0..args).map(|n| if n < arrays_in { arrays } else { extents }).collect();
            card.role.start(0, &words, 0).unwrap();
            let end = loop {
                match card.role.step() {
                    Step::Running => {}
                    end => break end,
                }
            };
            assert!(matches!(end, Step::Failed { fault: RoleFault::Trap, .. }), "{name} {words:x?}: {end:?}");
        }
    }
}

#[test]
fn empty_arrays_are_no_work() {
    let sandbox = WasmSandbox::default();
    for name in array_roles() {
        let mut card = Card::new(&sandbox, name);
        let kernel = card.role.kernels()[0].clone();
        let arrays = kernel.arrays.len();
        let words: Vec<u64> = (0..kernel.args.len()).map(|n| if n < arrays { ROLE_PRIVATE } else { 0 }).collect();
        assert!(card.run(&words) < 1000, "{name}");
    }
}
