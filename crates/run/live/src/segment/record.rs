//! What travels over a segment's socket: a greeting each way, then records.
//!
//! The socket keeps the bounds of messages (SOCK_SEQPACKET). One message is one record: frames, each with its length
//! (u16, big-endian) before it. A record holds many frames so that many share one system call.
//!
//! ```text
//!   client: "rackloom" version:u16                      server: "rackloom" version:u16 answer:u16 mtu:u16
//!   record: { length:u16 frame:[u8; length] }*          at most RECORD_BYTES, RECORD_FRAMES
//! ```

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

use bytes::Bytes;
use rackloom_node::Frame;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};

use crate::wire::{MTU_JUMBO, fits};

/// What a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Welcome; frames of this MTU.
    Welcome { mtu: usize },
    /// No port is free.
    Full,
}

/// A client's greeting.
pub(super) fn greeting() -> Vec<u8> {
    [MAGIC, &VERSION.to_be_bytes()].concat()
}

/// Whether this is a greeting of this version.
pub(super) fn is_greeting(bytes: &[u8]) -> bool {
    bytes == greeting()
}

impl Answer {
    pub(super) fn encode(self) -> Vec<u8> {
        let (code, mtu) = match self {
            Self::Welcome { mtu } => (0u16, u16::try_from(mtu).expect("no MTU is that large")),
            Self::Full => (1, 0),
        };
        [&greeting()[..], &code.to_be_bytes(), &mtu.to_be_bytes()].concat()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&greeting()[..])?;
        let (code, mtu) = rest.split_first_chunk::<2>()?;
        match (u16::from_be_bytes(*code), usize::from(u16::from_be_bytes(mtu.try_into().ok()?))) {
            (0, mtu) if (1..=MTU_JUMBO).contains(&mtu) => Some(Self::Welcome { mtu }),
            (1, 0) => Some(Self::Full),
            _ => None,
        }
    }
}

/// Sends a first part of `frames` as one record; returns how many frames, 0 when the socket is full. The frames have
/// been checked to be no longer than the MTU.
pub(super) fn send(socket: BorrowedFd<'_>, frames: &[Frame]) -> io::Result<usize> {
    let mut lengths = [[0u8; 2]; RECORD_FRAMES];
    let (mut count, mut bytes) = (0, 0);
    for (frame, length) in frames.iter().zip(&mut lengths) {
        bytes += 2 + frame.len();
        if bytes > RECORD_BYTES {
            break;
        }
        *length = u16::try_from(frame.len()).expect("no frame is that long").to_be_bytes();
        count += 1;
    }
    if count == 0 {
        assert!(frames.is_empty(), "a record holds any one frame");
        return Ok(0);
    }
    let parts: Vec<_> =
        lengths[..count].iter().zip(frames).flat_map(|(l, f)| [IoSlice::new(l), IoSlice::new(f)]).collect();
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    match rustix::net::sendmsg(socket, &parts, &mut SendAncillaryBuffer::default(), flags) {
        Ok(_) => Ok(count),
        // The kernel is short of memory for the moment: as good as full.
        Err(Errno::WOULDBLOCK | Errno::INTR | Errno::NOBUFS | Errno::NOMEM) => Ok(0),
        Err(e) => Err(e.into()),
    }
}

/// What a socket gave.
#[derive(Debug)]
pub(super) enum Received {
    /// A message.
    Message(Bytes),
    /// A message longer than a record may be; it is lost.
    Oversize,
    /// Nothing at present.
    Nothing,
    /// The other end has closed, or sent an empty message, which looks the same.
    End,
}

/// Takes messages off a socket.
#[derive(Debug)]
pub(super) struct Receiver {
    buffer: Vec<u8>,
}

impl Receiver {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::with_capacity(RECORD_BYTES) }
    }

    /// The next message, without waiting.
    pub(super) fn next(&mut self, socket: BorrowedFd<'_>) -> io::Result<Received> {
        let length = match self.recv(socket) {
            // Told first, once, when the other end closed before it had read everything; what it had sent is still
            // there.
            Err(Errno::CONNRESET) => self.recv(socket),
            other => other,
        };
        match length {
            Ok(0) | Err(Errno::CONNRESET) => Ok(Received::End),
            Ok(length) if length > self.buffer.len() => Ok(Received::Oversize),
            // Frames share the allocation of their record. A short record is copied, lest one kept frame of 60 bytes
            // pins 64 KiB; a long one is handed over as it is.
            Ok(length) if length < RECORD_BYTES / 2 => Ok(Received::Message(Bytes::copy_from_slice(&self.buffer))),
            Ok(_) => {
                let full = std::mem::replace(&mut self.buffer, Vec::with_capacity(RECORD_BYTES));
                Ok(Received::Message(full.into()))
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(Received::Nothing),
            Err(e) => Err(e.into()),
        }
    }

    /// Fills the buffer with the next message; its true length, which may be more.
    fn recv(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        self.buffer.clear();
        let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        rustix::net::recv(socket, rustix::buffer::spare_capacity(&mut self.buffer), flags).map(|(_, length)| length)
    }
}

/// Takes a record apart; false if it is malformed, in which case the frames before the fault are good.
pub(super) fn split(mut record: Bytes, mtu: usize, out: &mut Vec<Frame>) -> bool {
    for _ in 0..RECORD_FRAMES {
        if record.is_empty() {
            return true;
        }
        let Some((length, rest)) = record.split_first_chunk::<2>() else { return false };
        let length = usize::from(u16::from_be_bytes(*length));
        if !fits(length, mtu) || length > rest.len() {
            return false;
        }
        out.push(record.slice(2..2 + length));
        record = record.slice(2 + length..);
    }
    record.is_empty()
}

const MAGIC: &[u8] = b"rackloom";

/// Version of this framing, which has nothing to do with that of the frames.
const VERSION: u16 = 1;

/// Longest record: seven jumbo frames. Longer ones save few system calls more, and the default socket buffer of 208 KiB
/// must hold several.
pub(super) const RECORD_BYTES: usize = 65_536;

/// Most frames in a record: a quarter of what a wire may return at once.
pub(super) const RECORD_FRAMES: usize = 64;

const _: () = assert!(RECORD_BYTES >= 2 + MTU_JUMBO + crate::wire::ETHERNET_HEADER);
const _: () = assert!(RECORD_FRAMES * 4 == crate::wire::BATCH);

#[cfg(test)]
mod tests {
    use super::*;

    fn record(lengths: &[u16]) -> Vec<u8> {
        lengths.iter().flat_map(|&l| [&l.to_be_bytes()[..], &vec![l as u8; l.into()]].concat()).collect()
    }

    #[test]
    fn a_record_is_taken_apart() {
        let mut out = Vec::new();
        assert!(split(record(&[60, 14, 1514]).into(), 1500, &mut out));
        assert_eq!(out.iter().map(Bytes::len).collect::<Vec<_>>(), [60, 14, 1514]);
        assert!(out[2].iter().all(|&b| b == 1514u16 as u8));
        assert!(split(Bytes::new(), 1500, &mut out));
        assert!(split(record(&[60; RECORD_FRAMES]).into(), 1500, &mut out));
    }

    #[test]
    fn a_malformed_record_keeps_the_frames_before_its_fault() {
        let good = record(&[60, 61]);
        let cases: [(&str, Vec<u8>); 6] = [
            ("too long a frame", [&good[..], &record(&[1515])].concat()),
            ("too short a frame", [&good[..], &record(&[13])].concat()),
            ("an empty frame", [&good[..], &record(&[0])].concat()),
            ("half a length", [&good[..], &[0]].concat()),
            ("a length without its frame", [&good[..], &60u16.to_be_bytes()].concat()),
            ("a frame cut off", [&good[..], &record(&[60])[..61]].concat()),
        ];
        for (what, bytes) in cases {
            let mut out = Vec::new();
            assert!(!split(bytes.into(), 1500, &mut out), "{what}");
            assert_eq!(out.iter().map(Bytes::len).collect::<Vec<_>>(), [60, 61], "{what}");
        }
        let mut out = Vec::new();
        assert!(!split(record(&[60; RECORD_FRAMES + 1]).into(), 1500, &mut out), "too many frames");
        assert_eq!(out.len(), RECORD_FRAMES);
    }

    #[test]
    fn greetings_round_trip_and_others_are_none() {
        assert!(is_greeting(&greeting()));
        assert!(!is_greeting(b"rackloom\x00\x02") && !is_greeting(b"") && !is_greeting(b"GET / HTTP/1.1"));
        for answer in [Answer::Welcome { mtu: 9000 }, Answer::Welcome { mtu: 1500 }, Answer::Full] {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
        let mut odd = Answer::Welcome { mtu: 9000 }.encode();
        assert_eq!(Answer::decode(&odd[..odd.len() - 1]), None);
        odd[9] = 9; // Another version.
        assert_eq!(Answer::decode(&odd), None);
    }
}
