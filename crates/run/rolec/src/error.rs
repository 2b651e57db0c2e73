//! Why a role cannot be built.

use std::io;
use std::path::PathBuf;

use rackloom_image::ImageError;

/// Why a role cannot be built. Each says what failed, why, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RolecError {
    /// A file cannot be read or written.
    #[error("cannot access {}; check that it is there and readable", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder has no C file.
    #[error("no C file in {}; put the kernels of the role there", dir.display())]
    NoSource {
        /// The folder.
        dir: PathBuf,
    },
    /// `role.toml` is malformed.
    #[error("{} is malformed; correct it: {reason}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// No compiler runs.
    #[error(
        "cannot compile the role: no clang that runs was found (tried {tried}); \
         install it with `apt-get install clang lld`, or name one in RACKLOOM_CLANG"
    )]
    NoClang {
        /// What was tried.
        tried: String,
    },
    /// The compiler cannot make WebAssembly.
    #[error(
        "cannot compile the role: {} makes no wasm32 code or finds no wasm-ld; \
         install both with `apt-get install clang lld`, or name a clang that has them in RACKLOOM_CLANG:\n{output}",
        clang.display()
    )]
    NoTarget {
        /// The compiler.
        clang: PathBuf,
        /// What it printed.
        output: String,
    },
    /// The sources do not compile.
    #[error("the role in {} does not compile; correct it:\n{output}", dir.display())]
    Compile {
        /// The folder.
        dir: PathBuf,
        /// What the compiler printed.
        output: String,
    },
    /// The part is larger than it should become.
    #[error("cannot pad a part of {bytes} bytes to {pad_to}; give at least {least}")]
    Pad {
        /// Bytes it has.
        bytes: usize,
        /// Bytes it should have.
        pad_to: usize,
        /// The fewest that it can be padded to.
        least: usize,
    },
    /// A bitstream that fits no image.
    #[error("cannot put a bitstream of {bytes} bytes into an image; give one of 1 byte to 256 MiB")]
    Bitstream {
        /// Bytes it has.
        bytes: usize,
    },
    /// A bitstream for a role that is not in gateware.
    #[error("{} has no table `rtl`; add `rtl = {{ id = N, clock_khz = N }}` with the number of the role in the bitstream", path.display())]
    NoRtl {
        /// `role.toml`.
        path: PathBuf,
    },
    /// The part for gateware cannot have this size.
    #[error("cannot make a part for gateware of {pad_to} bytes; give a multiple of 8, at least {least}")]
    PadRtl {
        /// Bytes it should have.
        pad_to: usize,
        /// Bytes it needs.
        least: usize,
    },
    /// The manifest is not acceptable, or the image grows too large.
    #[error("what was built makes no image; correct role.toml or the sizes")]
    Image(#[from] ImageError),
}
