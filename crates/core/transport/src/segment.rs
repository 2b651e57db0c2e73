//! What goes from one end of a connection to the other in a frame.

use crate::sack::Sack;

/// What goes from one end to the other in a frame; its format is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment<T> {
    /// Epoch of the sender's life.
    pub src: u32,
    /// Newest epoch that it knows of the receiver; 0: unknown.
    pub dst: u32,
    /// It wants an acknowledgement at once.
    pub asks: bool,
    /// It takes selective acknowledgements. Bitmaps for others would be lost on them, and are left out.
    pub selective: bool,
    /// What has arrived.
    pub ack: Option<Ack>,
    /// A payload.
    pub data: Option<Data<T>>,
}

/// What has arrived, and how far the other end may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The numbers that have arrived.
    pub sack: Sack,
    /// The first number that may not be sent.
    pub limit: u32,
    /// A negative one: all that is not acknowledged here was dropped or lost, and is wanted again.
    pub is_nack: bool,
}

/// A numbered payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data<T> {
    /// Its number.
    pub seq: u32,
    /// The payload.
    pub payload: T,
}
