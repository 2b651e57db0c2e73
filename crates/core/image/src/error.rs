//! What can be wrong with an image.

use crate::{ARGS_MAX, DIMS_MAX, FORMAT, HALO_MAX, IMAGE_BYTES_MAX, KERNELS_MAX, MANIFEST_BYTES_MAX, PARTS_MAX};

/// Why bytes are not an acceptable image.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The file is larger than any card can stage.
    #[error("image of {length} bytes is larger than the limit of {IMAGE_BYTES_MAX}")]
    TooLarge {
        /// Bytes of the file.
        length: usize,
    },
    /// The file ends before its header says.
    #[error("image is truncated: {have} bytes of {need}")]
    Truncated {
        /// Bytes there are.
        have: usize,
        /// Bytes the header, or the format, calls for.
        need: u64,
    },
    /// The file is longer than its header says.
    #[error("{extra} bytes follow the end of the image")]
    Trailing {
        /// Bytes beyond the end.
        extra: u64,
    },
    /// The first bytes are not an image's.
    #[error("not a role image: it does not start with RLIMAGE")]
    Magic,
    /// The format is newer than this reader.
    #[error("image format {found}, but this reader knows only {FORMAT}")]
    Format {
        /// The version found.
        found: u16,
    },
    /// The image uses a field that this format version reserves.
    #[error("image has {found} in a field that format {FORMAT} reserves")]
    Field {
        /// The number found.
        found: u32,
    },
    /// The image needs a newer shell.
    #[error("image needs protocol version {needs} of the shell, which speaks {has}")]
    Shell {
        /// The least version the image works with.
        needs: u16,
        /// The version the shell has.
        has: u16,
    },
    /// No part, or more than [`PARTS_MAX`].
    #[error("{count} parts; an image has 1 to {PARTS_MAX}")]
    PartCount {
        /// Parts found.
        count: usize,
    },
    /// A target tag is not `[a-z][a-z0-9-]{0,15}`, or two parts share one.
    #[error("part {index} has a malformed or repeated target tag")]
    Tag {
        /// Index in the part table.
        index: usize,
    },
    /// A part or the manifest is not where the canonical form puts it, or is empty.
    #[error("{what} is misplaced: offset {found}, expected {expected}, length {length}")]
    Misplaced {
        /// `the manifest`, or `part N`.
        what: String,
        /// Offset found.
        found: u64,
        /// Offset the canonical form requires.
        expected: u64,
        /// Length found.
        length: u64,
    },
    /// A reserved field or padding is not zero.
    #[error("byte {offset} is reserved and not zero")]
    Reserved {
        /// Offset in the file.
        offset: usize,
    },
    /// The manifest is larger than [`MANIFEST_BYTES_MAX`].
    #[error("manifest of {length} bytes is larger than the limit of {MANIFEST_BYTES_MAX}")]
    ManifestTooLarge {
        /// Bytes of the manifest.
        length: u64,
    },
    /// Header, table or manifest are not what was written.
    #[error("the tag over header, part table and manifest does not match: the image is damaged")]
    HeadTag,
    /// The manifest is not acceptable.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// There is no part for this kind of card.
    #[error("image has no part for target `{wanted}`; it has {}", .has.join(", "))]
    Target {
        /// The target asked for.
        wanted: String,
        /// The targets there are.
        has: Vec<String>,
    },
    /// A part's bytes do not have the digest that the table gives.
    #[error("part `{target}` does not have the digest of the part table: the image is damaged")]
    PartDigest {
        /// The part's target.
        target: String,
    },
}

impl ImageError {
    /// The protocol's error code for this, as tools print it.
    pub fn code_name(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "image-too-large",
            Self::Truncated { .. }
            | Self::Trailing { .. }
            | Self::Magic
            | Self::PartCount { .. }
            | Self::Tag { .. }
            | Self::Misplaced { .. }
            | Self::Reserved { .. }
            | Self::ManifestTooLarge { .. }
            | Self::HeadTag
            | Self::Manifest(_) => "image-format",
            Self::Format { .. } | Self::Field { .. } | Self::Shell { .. } => "image-version",
            Self::Target { .. } => "image-target",
            Self::PartDigest { .. } => "image-part",
        }
    }
}

/// Why a manifest is not acceptable.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestError {
    /// The text is not JSON, or a field is missing or of the wrong type.
    #[error("manifest is malformed: {0}")]
    Json(String),
    /// A name breaks the rule.
    #[error("{what} name `{name}` is not of the form [a-z][a-z0-9_]{{0,31}}")]
    Name {
        /// What it names: role, kernel, array.
        what: &'static str,
        /// The name found, shortened.
        name: String,
    },
    /// A text field is too long.
    #[error("{what} of {length} bytes is longer than the limit of {limit}")]
    TextTooLong {
        /// The field.
        what: &'static str,
        /// Bytes found.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The role clock is 0 or beyond 10 GHz.
    #[error("role clock of {mhz} MHz is not in 1 to 10000")]
    Clock {
        /// The clock found, MHz.
        mhz: u32,
    },
    /// No kernel, or more than [`KERNELS_MAX`].
    #[error("{count} kernels; a role has 1 to {KERNELS_MAX}")]
    KernelCount {
        /// Kernels found.
        count: usize,
    },
    /// Two kernels, or two arrays of one kernel, or an array and a dimension have the same name.
    #[error("the name `{name}` is used twice")]
    Repeated {
        /// The name.
        name: String,
    },
    /// More than [`ARGS_MAX`] arguments.
    #[error("kernel `{kernel}` has {count} arguments; the limit is {ARGS_MAX}")]
    ArgCount {
        /// The kernel.
        kernel: String,
        /// Arguments found.
        count: usize,
    },
    /// An argument names neither an array nor a dimension.
    #[error("argument `{arg}` of kernel `{kernel}` is neither an array nor a dimension of one")]
    UnknownArg {
        /// The kernel.
        kernel: String,
        /// The argument.
        arg: String,
    },
    /// An array is not passed to the kernel.
    #[error("array `{array}` of kernel `{kernel}` is not among its arguments")]
    UnusedArray {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
    },
    /// A scalar is not passed to the kernel.
    #[error("scalar `{scalar}` of kernel `{kernel}` is not among its arguments")]
    UnusedScalar {
        /// The kernel.
        kernel: String,
        /// The scalar.
        scalar: String,
    },
    /// An index is not 1 to [`DIMS_MAX`] different letters.
    #[error("index `{index}` of array `{array}` is not 1 to {DIMS_MAX} different letters a to z")]
    Index {
        /// The array.
        array: String,
        /// The index found.
        index: String,
    },
    /// A tile extent is zero.
    #[error("kernel `{kernel}`: tile extent of dimension `{dim}` is 0")]
    TileExtent {
        /// The kernel.
        kernel: String,
        /// The dimension.
        dim: char,
    },
    /// A dimension to be split, or one with a halo, is not a dimension of the kernel.
    #[error("kernel `{kernel}` has no dimension `{dim}` to split or to extend")]
    UnknownDim {
        /// The kernel.
        kernel: String,
        /// The dimension.
        dim: char,
    },
    /// Splitting the dimension would split a sum: an output does not have it.
    #[error("kernel `{kernel}`: dimension `{dim}` cannot be split, for output `{array}` does not have it")]
    Unsplittable {
        /// The kernel.
        kernel: String,
        /// The dimension.
        dim: char,
        /// The output array.
        array: String,
    },
    /// A halo is zero, larger than [`HALO_MAX`], on an output, on a dimension that the array lacks, or on no array.
    #[error("kernel `{kernel}`: {what}; a halo is 1 to {HALO_MAX} elements on dimensions of an input")]
    Halo {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        what: String,
    },
}
