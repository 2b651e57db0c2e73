//! One connection of a client to another node: in the clear, or within TLS.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::time::Instant;

use rackloom_sync::lock;
use rustix::event::PollFlags;
use rustix::net::Shutdown;

use crate::error::{ChannelError, Closed};
use crate::sys::socket;
use crate::tls::{HandshakeError, Secure, Trust};

/// A connection. Bytes that were taken may wait for the socket until [`Self::flush`].
#[derive(Debug)]
pub(super) struct Wire {
    socket: OwnedFd,
    secure: Option<Box<Mutex<Secure>>>,
}

impl Wire {
    /// Connects to the first of these addresses that answers, and makes the connection secure if that is wanted.
    pub(super) fn connect(to: &[SocketAddr], trust: Option<&Trust>, deadline: Instant) -> Result<Self, ChannelError> {
        let mut last = Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
        for address in to {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            last = TcpStream::connect_timeout(address, left);
            if last.is_ok() {
                break;
            }
        }
        let socket = OwnedFd::from(last.map_err(ChannelError::io("connect"))?);
        socket::tune_tcp(&socket).map_err(ChannelError::io("set up the connection"))?;
        let Some(trust) = trust else { return Ok(Self { socket, secure: None }) };
        let mut secure = trust.connection()?;
        secure.handshake(&socket, deadline).map_err(|why| match why {
            HandshakeError::Gone => Closed::PeerGone.into(),
            HandshakeError::Timeout => ChannelError::Timeout,
            HandshakeError::Tls(why) => why.into(),
            HandshakeError::Io(why) => ChannelError::io("make the connection secure")(why),
        })?;
        Ok(Self { socket, secure: Some(Box::new(Mutex::new(secure))) })
    }

    /// Takes as much of two pieces as there is room for now, without waiting.
    pub(super) fn send_some(&self, head: &[u8], body: &[u8]) -> io::Result<usize> {
        match &self.secure {
            None => socket::send_some(&self.socket, head, body),
            Some(secure) => lock(secure).send_some(&self.socket, head, body),
        }
    }

    /// Sends what waits for the socket; true if nothing is left.
    pub(super) fn flush(&self) -> io::Result<bool> {
        self.secure.as_ref().map_or(Ok(true), |secure| lock(secure).flush(&self.socket))
    }

    /// Receives what is there, without waiting: `None` if there is nothing, 0 bytes if the other end has closed.
    pub(super) fn recv_some(&self, out: &mut [u8]) -> io::Result<Option<usize>> {
        match &self.secure {
            None => socket::recv_some(&self.socket, out),
            Some(secure) => lock(secure).recv_some(&self.socket, out),
        }
    }

    /// Waits for bytes and receives what is there, in one call of the system: 0 bytes if the other end has closed, or
    /// this one by [`Self::shut`]. `None` within TLS, where what comes need not be bytes for us.
    pub(super) fn recv_waiting(&self, out: &mut [u8]) -> Option<io::Result<usize>> {
        self.secure.is_none().then(|| socket::recv_waiting(&self.socket, out))
    }

    /// Waits for some of at least `left` bytes that are still to come.
    pub(super) fn wait_for(&self, left: usize) -> io::Result<()> {
        match self.secure {
            None => socket::poll_bulk(self.fd(), left, None),
            // Part of a record may be here already, so fewer bytes may be to come.
            Some(_) => socket::poll([(self.fd(), PollFlags::IN)], None).map(|_| ()),
        }
    }

    /// Whether bytes have come that nobody has received, and for which [`Self::fd`] does not become ready.
    pub(super) fn has_unread(&self) -> bool {
        self.secure.as_ref().is_some_and(|secure| lock(secure).has_unread())
    }

    /// What to poll.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn shut(&self) {
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }
}
