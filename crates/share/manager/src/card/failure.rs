//! What a card's refusals are in OpenCL.

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_INVALID_PROGRAM_EXECUTABLE, CL_OUT_OF_RESOURCES};
use rackloom::{Error, OpError};

use crate::code::Code;

/// The card is not there, or not ours any more.
pub(super) const GONE: Code = Code(CL_DEVICE_NOT_AVAILABLE);

/// OpenCL's code for a failure.
pub(super) const fn code(error: &Error) -> Code {
    match error {
        _ if is_loss(error) => GONE,
        Error::Op(OpError::Load { .. }) => Code(CL_INVALID_PROGRAM_EXECUTABLE),
        // A kernel that trapped or took too long, and what a card refuses though it was checked here.
        _ => Code(CL_OUT_OF_RESOURCES),
    }
}

/// Whether the claim is gone, with all that was in the card's memory.
pub(super) const fn is_loss(error: &Error) -> bool {
    match error {
        Error::Op(OpError::Deadline { .. }) => false,
        Error::Op(why) => why.is_card_loss(),
        Error::Stopped => true,
        _ => false,
    }
}

/// Whether the card may still be at it.
pub(super) const fn is_unfinished(error: &Error) -> bool {
    matches!(error, Error::Op(OpError::Deadline { .. }))
}
