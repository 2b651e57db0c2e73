//! A process's plug into a segment.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use rackloom_node::Frame;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

use super::record::{self, Answer, Received, Receiver};
use super::{SegmentError, SegmentPath, path};
use crate::doorbell::Doorbell;
use crate::wire::{BATCH, Wire, fits};

/// A [`Wire`] to a segment that another process serves.
#[derive(Debug)]
pub struct SegmentClient {
    name: String,
    socket: OwnedFd,
    bell: Arc<Doorbell>,
    receiver: Receiver,
    mtu: usize,
    full: bool,
    stats: ClientStats,
}

/// What a client counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientStats {
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames received.
    pub rx_frames: u64,
    /// Frames not sent because no frame of this segment has their length.
    pub tx_bad_length: u64,
    /// Records from the server that were none.
    pub rx_malformed: u64,
}

impl SegmentClient {
    /// Plugs into the segment at `path`.
    ///
    /// # Errors
    /// No segment is served there; its server has no free port; or it is not one that this process may talk to.
    pub fn connect(path: &SegmentPath) -> Result<Self, SegmentError> {
        path.check_directory()?;
        let file = path.socket();
        let fail = |what| {
            let file = file.clone();
            move |e: Errno| SegmentError::Io { what, path: file, source: e.into() }
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(fail("make a socket for"))?;
        let address = SocketAddrUnix::new(&file).map_err(fail("name a socket"))?;
        let deadline = Instant::now() + GREETING_TIMEOUT;
        loop {
            match rustix::net::connect(&socket, &address) {
                Ok(()) => break,
                Err(Errno::NOENT | Errno::CONNREFUSED) => {
                    return Err(SegmentError::NoSegment { name: path.name().to_owned() });
                }
                // The server has many connections to accept first.
                Err(Errno::AGAIN | Errno::INTR) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(e) => return Err(fail("connect to")(e)),
            }
        }
        let peer = rustix::net::sockopt::socket_peercred(&socket).map_err(fail("ask who serves"))?;
        if peer.uid.as_raw() != path::own_uid() {
            let problem = format!("its socket is served by user {}", peer.uid.as_raw());
            return Err(SegmentError::Directory { path: file, problem });
        }
        enlarge_buffers(&socket);
        let bell = Doorbell::new().map_err(|source| SegmentError::Io {
            what: "make a bell for",
            path: file.clone(),
            source,
        })?;
        let mut receiver = Receiver::new();
        let mtu = greet(path, &socket, &bell, &mut receiver, deadline)?;
        let name = path.name().to_owned();
        Ok(Self { name, socket, bell, receiver, mtu, full: false, stats: ClientStats::default() })
    }

    /// What was counted so far.
    #[must_use]
    pub const fn stats(&self) -> ClientStats {
        self.stats
    }

    fn gone(&self) -> io::Error {
        let text = format!("segment {} has gone down; attach again once `rackloom up` serves it", self.name);
        io::Error::new(io::ErrorKind::ConnectionReset, text)
    }

    /// Takes what has arrived, without waiting; how many frames.
    fn take(&mut self, out: &mut Vec<Frame>) -> io::Result<usize> {
        let before = out.len();
        while out.len() - before + record::RECORD_FRAMES <= BATCH {
            match self.receiver.next(self.socket.as_fd())? {
                Received::Message(message) => {
                    self.stats.rx_malformed += u64::from(!record::split(message, self.mtu, out));
                }
                Received::Oversize => self.stats.rx_malformed += 1,
                Received::Nothing => break,
                // What came before the end is delivered first.
                Received::End if out.len() > before => break,
                Received::End => return Err(self.gone()),
            }
        }
        self.stats.rx_frames += (out.len() - before) as u64;
        Ok(out.len() - before)
    }
}

impl Wire for SegmentClient {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        let mut taken = 0;
        self.full = false;
        while taken < frames.len() && !self.full {
            let rest = &frames[taken..];
            let run = rest.iter().take_while(|f| fits(f.len(), self.mtu)).count();
            if run == 0 {
                self.stats.tx_bad_length += 1;
                taken += 1;
                continue;
            }
            let sent = match record::send(self.socket.as_fd(), &rest[..run]) {
                Ok(sent) => sent,
                Err(e) if matches!(e.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                    return Err(self.gone());
                }
                Err(e) => return Err(e),
            };
            self.stats.tx_frames += sent as u64;
            self.full = sent == 0;
            taken += sent;
        }
        Ok(taken)
    }

    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
        let woken = self.bell.take();
        if self.take(out)? > 0 || woken || deadline.is_some_and(|at| at <= Instant::now()) {
            return Ok(());
        }
        let want = if self.full { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        self.bell.wait(self.socket.as_fd(), want, deadline)?;
        self.take(out)?;
        Ok(())
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn waker(&self) -> Waker {
        self.bell.waker()
    }
}

/// Greets the server and returns the segment's MTU.
fn greet(
    path: &SegmentPath,
    socket: &OwnedFd,
    bell: &Doorbell,
    receiver: &mut Receiver,
    deadline: Instant,
) -> Result<usize, SegmentError> {
    let not_ours = || SegmentError::NotOurs { path: path.socket() };
    let fail = |source| SegmentError::Io { what: "greet", path: path.socket(), source };
    // A server that is full has answered and closed already; its answer can still be read.
    let greeted = rustix::net::send(socket, &record::greeting(), SendFlags::NOSIGNAL);
    while Instant::now() < deadline {
        match receiver.next(socket.as_fd()).map_err(fail)? {
            Received::Message(message) => {
                return match Answer::decode(&message).ok_or_else(not_ours)? {
                    Answer::Welcome { mtu } => greeted.map(|_| mtu).map_err(|e| fail(e.into())),
                    Answer::Full => Err(SegmentError::Full { name: path.name().to_owned() }),
                };
            }
            Received::Nothing => {
                bell.wait(socket.as_fd(), PollFlags::IN, Some(deadline)).map_err(fail)?;
            }
            Received::Oversize | Received::End => return Err(not_ours()),
        }
    }
    Err(not_ours())
}

/// Asks for socket buffers that hold a window of jumbo frames. The kernel grants what it allows; less only costs speed.
pub(super) fn enlarge_buffers(socket: &OwnedFd) {
    let _ = rustix::net::sockopt::set_socket_send_buffer_size_force(socket, SOCKET_BUFFER)
        .or_else(|_| rustix::net::sockopt::set_socket_send_buffer_size(socket, SOCKET_BUFFER));
}

/// Bytes a socket may hold on their way: 16 records.
const SOCKET_BUFFER: usize = 1 << 20;

/// How long the other end may take to answer a greeting.
pub(super) const GREETING_TIMEOUT: Duration = Duration::from_secs(2);
