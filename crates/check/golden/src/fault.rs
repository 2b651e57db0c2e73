//! What can go wrong in a call, as numbers.

/// Why a call gave no result. A function returns the number in place of its result, which is never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i64)]
pub enum Fault {
    /// A null pointer, or a number out of range: a mistake of the caller.
    Argument = -1,
    /// The bytes are not what the function reads or builds: an invalid frame, or parts that make no image.
    Refused = -2,
    /// A panic in this library, which it has reported on the standard error stream.
    Internal = -3,
}
