//! What a peer said that it cannot know.

use core::fmt;

/// What a peer said that it cannot know. Its mistake, or somebody's forgery: count it and drop the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerError {
    /// It acknowledges numbers before `end`; the next to be sent is `next`.
    AckBeyondSent {
        /// One past the highest number acknowledged.
        end: u32,
        /// The next number to be sent.
        next: u32,
    },
    /// It sent number `seq`, though it had credit for the numbers before `limit` only.
    BeyondCredit {
        /// The number.
        seq: u32,
        /// The first number that it may not send.
        limit: u32,
    },
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AckBeyondSent { end, next } => {
                write!(f, "numbers before {end} acknowledged, but {next} is the next to be sent")
            }
            Self::BeyondCredit { seq, limit } => write!(f, "number {seq} sent with credit up to {limit}"),
        }
    }
}

impl core::error::Error for PeerError {}
