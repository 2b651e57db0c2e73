//! Relays a client's connection within TLS to a socket of this machine, from which whoever serves the client reads and
//! writes plain bytes.
//!
//! A process that serves a client so gets neither the server's key nor those of the connection. Each relay is a thread
//! with two buffers: what one side does not read keeps nobody else waiting. It ends when either side does; what was
//! written before an end still goes to the other side, for a limited time.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType};

use super::seats::Seat;
use crate::sys::socket;
use crate::tls::Secure;

/// Starts a relay, and returns the end for whoever serves the client. The client's seat is taken until it ends.
pub(super) fn start(client: OwnedFd, secure: Secure, seat: Arc<Seat>) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    for socket in [&ours, &theirs] {
        rustix::net::sockopt::set_socket_send_buffer_size(socket, SOCKET_SEND)?;
    }
    let mut relay = Relay {
        client,
        secure,
        server: ours,
        inward: Buffer::new(),
        outward: vec![0; CHUNK],
        client_ended: false,
        server_ended: false,
        leave_by: None,
    };
    std::thread::Builder::new().name("ipc-tls".into()).spawn(move || {
        let _ = relay.run();
        relay.end();
        drop((relay, seat));
    })?;
    Ok(theirs)
}

struct Relay {
    client: OwnedFd,
    secure: Secure,
    server: OwnedFd,
    /// From the client, for the server.
    inward: Buffer,
    outward: Vec<u8>,
    /// The client sends no more.
    client_ended: bool,
    /// The server sends no more, and the client has been told.
    server_ended: bool,
    /// The server has gone: what it has left must be sent by then.
    leave_by: Option<Instant>,
}

/// Bytes read at a time: some records.
const CHUNK: usize = 64 * 1024;

/// Bytes that wait in each of the sockets between a relay and whoever serves the client, as far as the system allows.
const SOCKET_SEND: usize = 1 << 20;

/// How long a client may take to read what was sent before the end.
const FAREWELL: Duration = Duration::from_secs(1);

impl Relay {
    /// Runs until both sides have ended, or one has gone.
    fn run(&mut self) -> io::Result<()> {
        loop {
            let moved = self.move_inward()?;
            let moved = self.move_outward()? || moved;
            if self.is_over() {
                return Ok(());
            }
            if !moved {
                self.wait()?;
            }
        }
    }

    /// From the client to the server; whether anything has moved.
    fn move_inward(&mut self) -> io::Result<bool> {
        if self.inward.is_empty() && !self.client_ended {
            match self.secure.recv_some(&self.client, self.inward.room())? {
                None => return Ok(false),
                Some(0) => {
                    self.client_ended = true;
                    let _ = rustix::net::shutdown(&self.server, Shutdown::Write); // It may have gone.
                    return Ok(true);
                }
                Some(got) => self.inward.filled(got),
            }
        }
        if self.inward.is_empty() {
            return Ok(false);
        }
        let sent = match socket::send_some(&self.server, self.inward.bytes(), &[]) {
            Err(why) if is_gone(&why) => {
                self.leave_soon();
                // Read all the same: to end a connection with bytes unread takes from the client what it was sent.
                self.inward.bytes().len()
            }
            sent => sent?,
        };
        self.inward.taken(sent);
        Ok(sent > 0)
    }

    /// From the server to the client; whether anything has moved.
    fn move_outward(&mut self) -> io::Result<bool> {
        if !self.secure.flush(&self.client)? || self.server_ended {
            return Ok(false);
        }
        let got = match socket::recv_some(&self.server, &mut self.outward) {
            Err(why) if is_gone(&why) => Some(0), // It has not read all.
            got => got?,
        };
        match got {
            None => Ok(false),
            Some(0) => {
                self.server_ended = true;
                self.secure.finish(&self.client)?;
                Ok(true)
            }
            Some(got) => {
                self.secure.send_all(&self.client, &self.outward[..got])?;
                Ok(true)
            }
        }
    }

    fn is_over(&self) -> bool {
        let told = self.server_ended && !self.secure.wants_write();
        told && self.client_ended || self.leave_by.is_some_and(|at| at <= Instant::now())
    }

    /// The server has gone: the client has some time to read what it has left, and to end.
    fn leave_soon(&mut self) {
        self.leave_by.get_or_insert_with(|| Instant::now() + FAREWELL);
    }

    /// Waits until one of the sockets is ready for what is next.
    fn wait(&mut self) -> io::Result<()> {
        let (mut client, mut server) = (PollFlags::empty(), PollFlags::empty());
        if self.secure.wants_write() {
            client |= PollFlags::OUT;
        } else if !self.server_ended {
            server |= PollFlags::IN;
        }
        if !self.inward.is_empty() {
            server |= PollFlags::OUT;
        } else if !self.client_ended {
            client |= PollFlags::IN;
        }
        let gone = PollFlags::HUP | PollFlags::ERR;
        let files = [(self.client.as_fd(), client), (self.server.as_fd(), server)];
        let [client_ready, server_ready] = if self.leave_by.is_some() {
            // The server's end stays ready for ever.
            socket::poll([files[0]], self.leave_by).map(|[client]| [client, PollFlags::empty()])
        } else {
            socket::poll(files, None)
        }?;
        if client_ready.intersects(gone) && !client.contains(PollFlags::IN) {
            return Err(io::ErrorKind::ConnectionReset.into()); // Nothing would read that it has gone.
        }
        if server_ready.intersects(gone) {
            self.leave_soon();
        }
        Ok(())
    }

    /// Wakes whoever serves the client, also if others have copies of the socket.
    fn end(&self) {
        let _ = rustix::net::shutdown(&self.server, Shutdown::Both);
        let _ = rustix::net::shutdown(&self.client, Shutdown::Both);
    }
}

/// Whether the other end of a socket of this machine has been closed.
fn is_gone(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// Bytes on their way.
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    fn new() -> Self {
        Self { bytes: vec![0; CHUNK], start: 0, end: 0 }
    }

    const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The place for new bytes, once the others are taken.
    fn room(&mut self) -> &mut [u8] {
        assert!(self.is_empty(), "bytes would be lost");
        &mut self.bytes
    }

    const fn filled(&mut self, bytes: usize) {
        (self.start, self.end) = (0, bytes);
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    const fn taken(&mut self, bytes: usize) {
        self.start += bytes;
    }
}
