//! A connection within TLS over a socket, which never waits.

use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::event::PollFlags;
use rustls::Connection;

use super::TlsError;
use crate::sys::socket;

/// One end of a connection. It holds a few records at most: what was received and not read, and what was written and
/// the socket had no room for.
pub(crate) struct Secure {
    connection: Connection,
    /// Bytes of the socket that `connection` has not taken, from `start` to `end`.
    raw: Vec<u8>,
    start: usize,
    end: usize,
}

/// Reads of the socket within one call: a peer whose records hold nothing must not keep a thread.
const READS_MAX: usize = 16;

/// Bytes read of the socket at a time: two records. The connection itself would read a quarter of one.
const RAW_BYTES: usize = 32 * 1024;

impl std::fmt::Debug for Secure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secure").finish_non_exhaustive()
    }
}

impl Secure {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, raw: vec![0; RAW_BYTES], start: 0, end: 0 }
    }

    /// Makes the connection secure, before the deadline.
    ///
    /// # Errors
    /// The other end is not who it should be, or speaks no TLS 1.3; it has gone; the time has passed.
    pub(crate) fn handshake(&mut self, socket: &OwnedFd, deadline: Instant) -> Result<(), HandshakeError> {
        while !self.flush(socket)? || self.connection.is_handshaking() {
            let mut want = if self.connection.is_handshaking() { PollFlags::IN } else { PollFlags::empty() };
            want |= if self.connection.wants_write() { PollFlags::OUT } else { PollFlags::empty() };
            let [ready] = socket::poll([(socket.as_fd(), want)], Some(deadline))?;
            if ready.is_empty() && deadline <= Instant::now() {
                return Err(HandshakeError::Timeout);
            }
            if self.connection.is_handshaking() && self.take_in(socket)? == Came::End {
                return Err(HandshakeError::Gone);
            }
            while self.connection.is_handshaking() && self.start < self.end {
                self.digest(socket)?;
            }
        }
        Ok(())
    }

    /// Reads what is there: `None` if there is nothing now, 0 bytes if the other end has closed. `out` is not empty.
    pub(crate) fn recv_some(&mut self, socket: &OwnedFd, out: &mut [u8]) -> io::Result<Option<usize>> {
        for _ in 0..READS_MAX {
            loop {
                match self.connection.reader().read(out) {
                    Ok(got) => return Ok(Some(got)),
                    Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                    Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Err(e),
                    Err(_) if self.start == self.end => break,
                    Err(_) => self.digest(socket)?,
                }
            }
            match self.take_in(socket)? {
                Came::Nothing => return Ok(None),
                Came::End if self.connection.is_handshaking() => return Ok(Some(0)),
                Came::End | Came::Some => {}
            }
        }
        Ok(None)
    }

    /// Whether bytes have been received that nobody has read: the socket does not become ready for them.
    pub(crate) fn has_unread(&mut self) -> bool {
        let waits = |state: rustls::IoState| state.plaintext_bytes_to_read() > 0;
        self.start < self.end || self.connection.process_new_packets().is_ok_and(waits)
    }

    /// Writes as much of two pieces as fits; 0 if what was written before still waits for the socket. [`Self::flush`]
    /// sends the rest of what was taken.
    pub(crate) fn send_some(&mut self, socket: &OwnedFd, head: &[u8], body: &[u8]) -> io::Result<usize> {
        if !self.flush(socket)? {
            return Ok(0);
        }
        let taken = self.connection.writer().write_vectored(&[IoSlice::new(head), IoSlice::new(body)])?;
        self.flush(socket)?;
        Ok(taken)
    }

    /// Takes all of these bytes, and sends what the socket has room for. The caller bounds what waits: it brings no
    /// more while [`Self::flush`] has something left.
    pub(crate) fn send_all(&mut self, socket: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
        self.connection.set_buffer_limit(None);
        self.connection.writer().write_all(bytes)?;
        self.flush(socket).map(drop)
    }

    /// Tells the other end that no more bytes follow, as far as the socket has room.
    pub(crate) fn finish(&mut self, socket: &OwnedFd) -> io::Result<()> {
        self.connection.send_close_notify();
        self.flush(socket).map(drop)
    }

    /// Whether bytes wait for the socket.
    pub(crate) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends what waits for the socket; true if nothing is left.
    pub(crate) fn flush(&mut self, socket: &OwnedFd) -> io::Result<bool> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Raw(socket)) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Reads of the socket once, when all that was read before is taken.
    fn take_in(&mut self, socket: &OwnedFd) -> io::Result<Came> {
        assert!(self.start == self.end, "bytes would be lost");
        match socket::recv_some(socket, &mut self.raw)? {
            None => Ok(Came::Nothing),
            Some(0) => {
                self.connection.read_tls(&mut io::empty())?;
                Ok(Came::End)
            }
            Some(got) => {
                (self.start, self.end) = (0, got);
                self.digest(socket)?;
                Ok(Came::Some)
            }
        }
    }

    /// Gives the connection some of the bytes that were read, and answers what needs an answer.
    fn digest(&mut self, socket: &OwnedFd) -> io::Result<()> {
        self.start += self.connection.read_tls(&mut &self.raw[self.start..self.end])?;
        if let Err(why) = self.connection.process_new_packets() {
            let _ = self.flush(socket); // The alert that says so.
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        self.flush(socket).map(drop)
    }
}

/// What came of the socket.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Nothing,
    Some,
    End,
}

/// Why a handshake failed.
#[derive(Debug)]
pub(crate) enum HandshakeError {
    Gone,
    Timeout,
    Tls(TlsError),
    Io(io::Error),
}

impl From<io::Error> for HandshakeError {
    fn from(e: io::Error) -> Self {
        match e.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidMessage(_)) => Self::Tls(TlsError::NotTls),
            Some(rustls::Error::Other(other)) => match other.0.downcast_ref::<TlsError>() {
                Some(why) => Self::Tls(why.clone()),
                None => Self::Tls(rustls::Error::Other(other.clone()).into()),
            },
            Some(why) => Self::Tls(why.clone().into()),
            None => Self::Io(e),
        }
    }
}

/// The socket as a sink that does not wait.
struct Raw<'a>(&'a OwnedFd);

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match socket::send_pieces(self.0, pieces)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            sent => Ok(sent),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
