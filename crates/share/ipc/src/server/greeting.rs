//! A connection until its greeting has come, and the answer to it.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::PollFlags;

use super::config::Identity;
use super::relay;
use super::seats::Seat;
use crate::hello::{Hello, Refusal, Welcome};
use crate::sys::socket::{self, Packet};
use crate::tls::Secure;

/// A connection that has not sent its greeting yet.
pub(super) struct Greeting {
    pub(super) line: Line,
    pub(super) identity: Identity,
    pub(super) deadline: Instant,
    bytes: [u8; Hello::LEN],
    have: usize,
}

/// What came in place of a greeting, or as one.
pub(super) enum Came {
    End,
    Hello(Result<Hello, Refusal>),
}

impl Greeting {
    pub(super) const fn new(line: Line, identity: Identity, deadline: Instant) -> Self {
        Self { line, identity, deadline, bytes: [0; Hello::LEN], have: 0 }
    }

    /// Reads what is there; `None` while the greeting is not complete.
    pub(super) fn read(&mut self) -> Option<Came> {
        loop {
            let rest = &mut self.bytes[self.have..];
            let got = match &mut self.line {
                Line::Packets(socket) => {
                    return match socket::recv_packet(socket, &mut self.bytes) {
                        Ok(Packet::None) => None,
                        Ok(Packet::Whole(len, None)) => Some(Came::Hello(Hello::decode(&self.bytes[..len]))),
                        Ok(Packet::Whole(_, Some(_)) | Packet::Oversize) => Some(Came::Hello(Err(Refusal::Malformed))),
                        Ok(Packet::End) | Err(_) => Some(Came::End),
                    };
                }
                Line::Plain(socket) => socket::recv_some(socket, rest),
                // The handshake is part of the greeting's time.
                Line::Secure(socket, secure) => secure.recv_some(socket, rest),
            };
            match got {
                Ok(None) => return None,
                Ok(Some(0)) | Err(_) => return Some(Came::End),
                Ok(Some(got)) => self.have += got,
            }
            if self.have == Hello::LEN {
                return Some(Came::Hello(Hello::decode(&self.bytes)));
            }
        }
    }
}

/// A new connection, by its transport.
pub(super) enum Line {
    /// On this node.
    Packets(OwnedFd),
    /// TCP.
    Plain(OwnedFd),
    /// TCP within TLS.
    Secure(OwnedFd, Box<Secure>),
}

impl Line {
    pub(super) const fn socket(&self) -> &OwnedFd {
        match self {
            Self::Packets(socket) | Self::Plain(socket) | Self::Secure(socket, _) => socket,
        }
    }

    /// The events that it waits for.
    pub(super) fn wants(&self) -> PollFlags {
        match self {
            Self::Secure(_, secure) if secure.wants_write() => PollFlags::IN | PollFlags::OUT,
            _ => PollFlags::IN,
        }
    }

    /// Answers the greeting. The socket is new: there is room. A client that has gone needs no answer.
    pub(super) fn answer(&mut self, answer: &Result<Welcome, Refusal>, file: Option<&OwnedFd>) {
        let bytes = Welcome::encode(answer);
        match self {
            Self::Packets(socket) | Self::Plain(socket) => {
                let _ = socket::send_packet(socket, &bytes, file.map(AsFd::as_fd));
            }
            Self::Secure(socket, secure) => {
                let _ = secure.send_some(socket, &bytes, &[]);
            }
        }
    }

    /// The socket, for whoever serves the client. Within TLS that is one of this machine, which a thread relays.
    ///
    /// # Errors
    /// The system is out of files or threads.
    pub(super) fn into_socket(self, seat: &Arc<Seat>) -> std::io::Result<OwnedFd> {
        match self {
            Self::Packets(socket) | Self::Plain(socket) => Ok(socket),
            Self::Secure(socket, secure) => relay::start(socket, *secure, Arc::clone(seat)),
        }
    }
}
