//! The three programs: how they are started, what a request enqueues, and how long that takes on a paced board.

use std::collections::BTreeMap;
use std::time::Duration;

use rackloom_manager::paced::Pace;

use super::paper::{UseCase, device_ms};

/// Something that a program enqueues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// So many bytes to the board.
    Write(usize),
    /// A kernel.
    Launch(&'static str),
    /// So many bytes from the board.
    Read(usize),
}

/// Bytes a second that the boards move: about what a program gets of PCI Express x8, of generation 2 on node A and 3 on
/// B and C (section IV).
const RATES: [f64; 3] = [3.3e9, 6.4e9, 6.4e9];

/// Sobel's images and the matrices have 1/36 of their bytes, and the boards 1/36 of their rate: the boards' time is the
/// same, and this machine has no gigabytes to copy in every second.
const SCALE: f64 = 36.0;

/// Sobel's image: 1/36 of the paper's 1920x1080 pixels.
const PIXELS: usize = 320 * 180;
/// Matrices of so many rows.
const ROWS: usize = 64;
/// AlexNet's input and output.
const INPUT: usize = 3 * 227 * 227;
const OUTPUT: usize = 1000;
/// AlexNet's layers: whether they pool, and whether they normalise.
const LAYERS: [(bool, bool); 8] = [
    (true, true),
    (true, true),
    (false, false),
    (false, false),
    (true, false),
    (false, false),
    (false, false),
    (false, false),
];
const FLOAT: usize = size_of::<f32>();

impl UseCase {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Sobel, Self::Matmul, Self::Alexnet];

    /// The program's file.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Sobel => "sobel",
            Self::Matmul => "matmul",
            Self::Alexnet => "alexnet",
        }
    }

    /// Its options.
    pub(super) const fn arguments(self) -> [&'static str; 2] {
        match self {
            Self::Sobel => ["--size", "320x180"],
            Self::Matmul => ["--size", "64"],
            Self::Alexnet => ["--scale", "8"],
        }
    }

    /// What a request enqueues: groups of calls, each of which the program waits for.
    pub(super) fn request(self) -> Vec<Vec<Call>> {
        match self {
            Self::Sobel => {
                let bytes = PIXELS * 4;
                vec![vec![Call::Write(bytes)], vec![Call::Launch("sobel")], vec![Call::Read(bytes)]]
            }
            Self::Matmul => {
                let write = vec![Call::Write(ROWS * ROWS * FLOAT)];
                vec![write.clone(), write, vec![Call::Launch("matmul")], vec![Call::Read(ROWS * ROWS * FLOAT)]]
            }
            Self::Alexnet => {
                let layer = |(pools, normalises)| {
                    let mut kernels = vec!["mem_read", "conv"];
                    kernels.extend(Some("pool").filter(|_| pools));
                    kernels.push("mem_write");
                    kernels.extend(Some("lrn").filter(|_| normalises));
                    kernels.into_iter().map(Call::Launch).collect()
                };
                let mut groups = vec![vec![Call::Write(INPUT * FLOAT)]];
                groups.extend(LAYERS.map(layer));
                groups.push(vec![Call::Read(OUTPUT * FLOAT)]);
                groups
            }
        }
    }

    /// The kernel that takes the time, and how often a request launches it. Of AlexNet's it is the convolution: on the
    /// FPGA the other kernels of a layer run at the same time.
    const fn long_kernel(self) -> (&'static str, u32) {
        match self {
            Self::Sobel => ("sobel", 1),
            Self::Matmul => ("matmul", 1),
            Self::Alexnet => ("conv", LAYERS.len() as u32),
        }
    }

    /// The pace of the board of a node: a request takes as long as in the paper, of which transfers take what their
    /// bytes need, and the long kernel the rest.
    pub(super) fn pace(self, node: usize) -> Pace {
        let rate = RATES[node] / if self == Self::Alexnet { 1.0 } else { SCALE };
        let (long, launches) = self.long_kernel();
        let (mut kernels, mut bytes) = (BTreeMap::new(), 0);
        for call in self.request().into_iter().flatten() {
            match call {
                Call::Write(len) | Call::Read(len) => bytes += len,
                Call::Launch(name) => {
                    kernels.insert(name.to_owned(), Duration::ZERO);
                }
            }
        }
        let seconds = device_ms(self, node) / 1e3 - bytes as f64 / rate;
        kernels.insert(long.to_owned(), Duration::from_secs_f64(seconds) / launches);
        Pace { kernels, rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_takes_what_it_takes_in_the_paper() {
        for of in UseCase::ALL {
            for node in 0..3 {
                let pace = of.pace(node);
                let seconds: f64 = of
                    .request()
                    .into_iter()
                    .flatten()
                    .map(|call| match call {
                        Call::Write(len) | Call::Read(len) => len as f64 / pace.rate,
                        Call::Launch(name) => pace.kernels[name].as_secs_f64(),
                    })
                    .sum();
                assert!((seconds * 1e3 - device_ms(of, node)).abs() < 1e-5, "{of:?} on {node}: {seconds} s");
            }
        }
    }

    #[test]
    fn alexnet_is_many_small_calls() {
        let calls: Vec<_> = UseCase::Alexnet.request().into_iter().flatten().collect();
        assert_eq!(calls.iter().filter(|call| matches!(call, Call::Launch(_))).count(), 29);
    }
}
