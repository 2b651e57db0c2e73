//! The role image format (`.rli`): what the host broadcasts and a card configures itself from.
//!
//! One file serves every kind of card: it holds one *part* for each target (`model`: a WebAssembly module, `rtl`: a
//! configuration stream, `ecp5-85f`: a bitstream, ...) and a manifest that tells the host which kernels there are and
//! how to cut their arrays. Gateware finds its part with a 64-byte header and a table of 64-byte entries, without a
//! JSON parser; only hosts read the manifest.
//!
//! All integers are big-endian. The form is canonical, so that one forward pass checks it and no byte is unaccounted
//! for: the table follows the header, the manifest follows the table, the parts follow in table order, each starts at
//! the next multiple of 64, and all padding, also at the end, is zero.
//!
//! ```text
//! header, bytes 0 to 63
//!    0   8  magic `RLIMAGE\0`
//!    8   2  format version, 1
//!   10   2  least protocol version of the shell
//!   12   2  parts, 1 to 16
//!   14   2  zero
//!   16   4  reserved: 0. No reader of format 1 takes another value.
//!   20   4  zero
//!   24   8  length of the file, a multiple of 64, at most 256 MiB
//!   32   8  offset of the manifest
//!   40   8  length of the manifest, 1 byte to 64 KiB
//!   48  16  tag: the first 16 bytes of the BLAKE3 of bytes 0 to 47, the part table and the manifest
//! part table, 64 bytes a part
//!    0  16  target, ASCII `[a-z][a-z0-9-]*`, padded with zeros; `signature` is a signature's, see `core/sign`
//!   16   8  offset of the part
//!   24   8  length of the part, 1 byte or more
//!   32  32  BLAKE3 digest of the part
//! manifest, JSON; then the parts
//! ```
//!
//! The tag covers the digests, so [`Layout::parse`] together with [`Layout::part`] notices any changed bit of what it
//! returns. Parsing itself hashes only the head; a card that has checked the digest of the whole file need not hash a
//! 100 MB part again and may slice [`Layout::part_range`] instead.
#![forbid(unsafe_code)]

mod builder;
mod error;
mod image;
mod layout;
mod manifest;

pub use builder::{ImageBuilder, lay_out};
pub use error::{ImageError, ManifestError};
pub use image::Image;
pub use layout::{Layout, Part, TAG_AT};
pub use manifest::{Arg, Array, Dir, Dtype, Kernel, Manifest, Scalar};

/// First bytes of every image.
pub const MAGIC: [u8; 8] = *b"RLIMAGE\0";
/// The format that this crate reads and writes.
pub const FORMAT: u16 = 1;
/// Manifest and parts start at multiples of this: one 512-bit DDR beat.
pub const ALIGN: usize = 64;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of one entry of the part table.
pub const ENTRY_BYTES: usize = 64;
/// Most bytes of an image, the protocol's `IMAGE_BYTES_MAX`: the staging area at the top of a card's DDR.
pub const IMAGE_BYTES_MAX: usize = 256 << 20;
/// Most parts: with the header, the table stays within one standard frame of 1472 bytes.
pub const PARTS_MAX: usize = 16;
/// Most bytes of a manifest: a host fetches it from a card in at most 45 standard frames.
pub const MANIFEST_BYTES_MAX: usize = 64 << 10;
/// Most kernels in one image.
pub const KERNELS_MAX: usize = 64;
/// Most arguments of a kernel, the protocol's `LAUNCH_ARGS`.
pub const ARGS_MAX: usize = 32;
/// Most dimensions of an array.
pub const DIMS_MAX: usize = 4;
/// Most letters of a kernel's or an array's name.
pub const NAME_MAX: usize = 32;
/// Most elements of halo on each side of a tile.
pub const HALO_MAX: u32 = 64;
/// Target tag of the part that a model card runs.
pub const TARGET_MODEL: &str = "model";
/// Target tag of the part that gateware configures its role region from.
pub const TARGET_RTL: &str = "rtl";
/// Target tag of a signature, which is the last part if there is one. It is no part for any card.
pub const TARGET_SIGNATURE: &str = "signature";

const _: () = assert!(HEADER_BYTES + PARTS_MAX * ENTRY_BYTES <= 1472);
const _: () = assert!(HEADER_BYTES.is_multiple_of(ALIGN));
const _: () = assert!(ENTRY_BYTES.is_multiple_of(ALIGN));
