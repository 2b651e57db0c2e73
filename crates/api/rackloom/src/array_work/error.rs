//! Why arrays do not fit a kernel.

use rackloom_image::Dtype;

/// Why arrays do not fit a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The number of bytes does not match the shape.
    #[error("{length} bytes are not an array of shape {shape:?}")]
    Length {
        /// The shape given.
        shape: Vec<usize>,
        /// Bytes given.
        length: usize,
    },
    /// An input of the kernel was not given.
    #[error("kernel `{kernel}` needs input `{array}`, which is missing; its inputs are {inputs}")]
    Missing {
        /// The kernel.
        kernel: String,
        /// The input.
        array: String,
        /// All inputs, as `a[ij], b[ij]`.
        inputs: String,
    },
    /// The kernel has no such input.
    #[error("kernel `{kernel}` has no input `{array}`; its inputs are {inputs}")]
    Unknown {
        /// The kernel.
        kernel: String,
        /// What was given.
        array: String,
        /// All inputs.
        inputs: String,
    },
    /// A scalar of the kernel was not given, or the kernel has no such scalar.
    #[error(
        "kernel `{kernel}` {} scalar `{scalar}`; its scalars are {scalars}",
        if *given { "has no" } else { "needs" }
    )]
    Scalar {
        /// The kernel.
        kernel: String,
        /// The scalar.
        scalar: String,
        /// True if it was given and is unknown, false if it is missing.
        given: bool,
        /// All scalars with their types, or `none`.
        scalars: String,
    },
    /// The elements have another type.
    #[error("array `{array}` holds {} but the kernel takes {}", got.numpy(), expected.numpy())]
    Dtype {
        /// The array.
        array: String,
        /// What the kernel takes.
        expected: Dtype,
        /// What was given.
        got: Dtype,
    },
    /// The array has another number of dimensions.
    #[error("array `{array}` has {got} dimensions, but its index `{index}` has {}", index.len())]
    Rank {
        /// The array.
        array: String,
        /// Its index.
        index: String,
        /// Dimensions given.
        got: usize,
    },
    /// Two arrays do not agree on an extent.
    #[error("array `{array}` has extent {got} in dimension `{dim}`, but `{other}` has {expected}")]
    Extent {
        /// The array.
        array: String,
        /// The dimension.
        dim: char,
        /// What the other array has.
        expected: usize,
        /// What it has.
        got: usize,
        /// The other array.
        other: String,
    },
    /// A dimension has no element.
    #[error("array `{array}` is empty: its extent in dimension `{dim}` is 0")]
    Empty {
        /// The array.
        array: String,
        /// The dimension.
        dim: char,
    },
    /// No input has this dimension of an output.
    #[error("the extent of dimension `{dim}` of output `{array}` is unknown: no input has that dimension")]
    Unbound {
        /// The output.
        array: String,
        /// The dimension.
        dim: char,
    },
    /// An output is larger than this machine can address.
    #[error("output `{array}` is too large for this machine")]
    TooLarge {
        /// The output.
        array: String,
    },
    /// The kernel has no exchange among cards.
    #[error("kernel `{kernel}` has no exchange among cards; those of the roles `ptrans` and `gemm` have one")]
    NoExchange {
        /// The kernel.
        kernel: String,
    },
    /// The strips of so many cards do not fit, or there is no room beside them for what they fetch from each other.
    #[error(
        "kernel `{kernel}` on {cards} cards that exchange blocks needs {need} bytes on each, but a card has room for {room}"
    )]
    ExchangeRoom {
        /// The kernel.
        kernel: String,
        /// Cards.
        cards: usize,
        /// Bytes that the largest strips need.
        need: u64,
        /// Bytes there are.
        room: u64,
    },
    /// Even the smallest tile does not fit.
    #[error("the smallest tile of kernel `{kernel}` needs {need} bytes, but a card has room for {room}")]
    Room {
        /// The kernel.
        kernel: String,
        /// Bytes of the smallest tile.
        need: u64,
        /// Bytes there are.
        room: u64,
    },
}
