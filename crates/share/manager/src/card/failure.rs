//! OpenCL error codes for a card's failures.

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_INVALID_PROGRAM_EXECUTABLE, CL_OUT_OF_RESOURCES};
use rackloom::{Error, OpError};

use crate::code::Code;

/// The card is gone, or no longer ours.
pub(super) const GONE: Code = Code(CL_DEVICE_NOT_AVAILABLE);

/// The OpenCL code of a failure.
pub(super) const fn code(error: &Error) -> Code {
    match error {
        _ if is_loss(error) => GONE,
        Error::Op(OpError::Load { .. } | OpError::NotAllowed { .. }) => Code(CL_INVALID_PROGRAM_EXECUTABLE),
        // A kernel that trapped or timed out, or a refusal in spite of the checks here.
        _ => Code(CL_OUT_OF_RESOURCES),
    }
}

/// Whether the claim is lost, with the contents of the card's memory.
pub(super) const fn is_loss(error: &Error) -> bool {
    match error {
        Error::Op(OpError::Deadline { .. } | OpError::Stalled { .. }) => false,
        Error::Op(why) => why.is_card_loss(),
        Error::Stopped => true,
        _ => false,
    }
}

/// Whether the card may still be working on the operation.
pub(super) const fn is_unfinished(error: &Error) -> bool {
    matches!(error, Error::Op(OpError::Deadline { .. } | OpError::Stalled { .. }))
}
