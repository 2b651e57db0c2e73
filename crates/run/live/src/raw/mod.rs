//! Any Ethernet interface of this machine, by a Linux packet socket.
//!
//! It sees only Rackloom's EtherTypes; the kernel drops the rest. It puts the interface into promiscuous mode, because
//! nodes have addresses of their own. It does not see what other sockets of this machine send on the same interface:
//! processes of one machine meet on a [`segment`](crate::segment), or on two ends of a veth pair.

mod refusal;
mod sys;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom_node::Frame;
use rackloom_wire::{CARRIERS, ETHERTYPES};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::doorbell::Doorbell;
use crate::wire::{BATCH, ETHERNET_HEADER, MTU_JUMBO, Refused, Wire, fits};
use refusal::Refusal;

/// A [`Wire`] to a network interface.
#[derive(Debug)]
pub struct Raw {
    interface: String,
    index: u32,
    socket: OwnedFd,
    bell: Arc<Doorbell>,
    mtu: usize,
    full: Option<Full>,
    refusal: Refusal,
    buffers: Vec<Vec<u8>>,
    stats: RawStats,
}

/// What a raw wire counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawStats {
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames received.
    pub rx_frames: u64,
    /// Frames not sent because no frame of this interface has their length.
    pub tx_bad_length: u64,
    /// Frames not sent because the device had no room for them for so long that it takes none of their length.
    pub tx_refused: u64,
    /// Frames not sent because the interface was down.
    pub tx_down: u64,
    /// Frames received that are longer than the interface's MTU: dropped.
    pub rx_oversize: u64,
    /// Frames the kernel dropped because they came faster than they were read.
    pub rx_missed: u64,
}

/// Why an interface cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RawError {
    /// It is switched off.
    #[error("interface {interface} is down; bring it up with `ip link set {interface} up`")]
    Down {
        /// The interface.
        interface: String,
    },
    /// The operating system refused.
    #[error("cannot {what} interface {interface}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The interface.
        interface: String,
        /// What it says.
        source: io::Error,
    },
    /// There is no interface of this name.
    #[error("there is no interface {interface} here; there are: {}", there.join(", "))]
    NoInterface {
        /// What was asked for.
        interface: String,
        /// What there is.
        there: Vec<String>,
    },
    /// Raw sockets are a privilege.
    #[error(
        "cannot open interface {interface}: raw sockets need the capability CAP_NET_RAW; run as root, or once \
         `sudo setcap cap_net_raw+ep` on this program, or use a virtual segment"
    )]
    NotPermitted {
        /// The interface.
        interface: String,
    },
}

/// What has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    /// The socket, which tells when it has room again.
    Socket,
    /// The device behind it, which does not.
    Device,
}

impl Raw {
    /// Opens the interface for Rackloom's families of frames.
    ///
    /// # Errors
    /// It does not exist, is down, or may not be used by this process.
    pub fn open(interface: &str) -> Result<Self, RawError> {
        let fail = |what| {
            let interface = interface.to_owned();
            move |source| RawError::Io { what, interface, source }
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Protocol 0: nothing is received before the filter is in place.
        let socket = match rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None) {
            Ok(socket) => socket,
            // Tell a typing mistake first, for which no privilege is needed.
            Err(Errno::PERM | Errno::ACCESS) if sys::interfaces().iter().any(|i| i == interface) => {
                return Err(RawError::NotPermitted { interface: interface.to_owned() });
            }
            Err(Errno::PERM | Errno::ACCESS) => return Err(Self::no_interface(interface)),
            Err(e) => return Err(fail("open a socket for")(e.into())),
        };
        let index = match rustix::net::netdevice::name_to_index(&socket, interface) {
            Ok(index) => index,
            Err(Errno::NODEV) => return Err(Self::no_interface(interface)),
            Err(e) => return Err(fail("find")(e.into())),
        };
        let found = sys::interface(&socket, interface).map_err(fail("ask about"))?;
        if !found.up {
            return Err(RawError::Down { interface: interface.to_owned() });
        }
        sys::attach_filter(&socket, &ETHERTYPES, &CARRIERS).map_err(fail("attach a filter to"))?;
        sys::hasten(&socket);
        enlarge_buffers(&socket);
        sys::promiscuous(&socket, index).map_err(fail("make promiscuous"))?;
        sys::bind(&socket, index).map_err(fail("bind to"))?;
        let mtu = found.mtu.min(MTU_JUMBO);
        let buffers = (0..sys::VECTOR).map(|_| Vec::with_capacity(mtu + ETHERNET_HEADER)).collect();
        let bell = Doorbell::new().map_err(fail("make a bell for"))?;
        let (interface, stats) = (interface.to_owned(), RawStats::default());
        Ok(Self { interface, index, socket, bell, mtu, full: None, refusal: Refusal::default(), buffers, stats })
    }

    /// What was counted so far.
    #[must_use]
    pub fn stats(&mut self) -> RawStats {
        self.stats.rx_missed += sys::drops(&self.socket);
        self.stats
    }

    fn no_interface(interface: &str) -> RawError {
        RawError::NoInterface { interface: interface.to_owned(), there: sys::interfaces() }
    }

    /// An interface that is down comes up again; one that was removed is gone for good.
    fn check_there(&self) -> io::Result<()> {
        match rustix::net::netdevice::index_to_name(&self.socket, self.index) {
            Ok(_) => Ok(()),
            Err(_) => {
                let text = format!("interface {} was removed", self.interface);
                Err(io::Error::new(io::ErrorKind::NotConnected, text))
            }
        }
    }

    /// Takes what has arrived, without waiting; how many frames.
    fn take(&mut self, out: &mut Vec<Frame>) -> io::Result<usize> {
        let before = out.len();
        let stats = &mut self.stats;
        while out.len() - before + sys::VECTOR <= BATCH {
            let received = sys::recv(&self.socket, &mut self.buffers, |buffer, longer| {
                if longer {
                    stats.rx_oversize += 1;
                    return;
                }
                // A long frame keeps its buffer; a short one is copied, lest 60 bytes pin 9 KiB.
                out.push(if buffer.len() > buffer.capacity() / 2 {
                    let fresh = Vec::with_capacity(buffer.capacity());
                    std::mem::replace(buffer, fresh).into()
                } else {
                    Bytes::copy_from_slice(buffer)
                });
            });
            match received.as_ref().map_err(io::Error::raw_os_error) {
                Ok(&sys::VECTOR) => {}
                Ok(_) | Err(Some(libc::EAGAIN | libc::EINTR)) => break,
                Err(Some(libc::ENETDOWN)) => {
                    self.check_there()?;
                    break;
                }
                Err(_) => return received,
            }
        }
        let n = out.len() - before;
        self.stats.rx_frames += n as u64;
        Ok(n)
    }
}

impl Wire for Raw {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        let mut taken = 0;
        self.full = None;
        while taken < frames.len() {
            let rest = &frames[taken..];
            let run = rest.iter().take_while(|f| fits(f.len(), self.mtu)).count();
            if run == 0 {
                self.stats.tx_bad_length += 1;
                taken += 1;
                continue;
            }
            let sent = sys::send(&self.socket, &rest[..run]);
            match sent.as_ref().map_err(io::Error::raw_os_error) {
                Ok(&sent) => {
                    self.refusal.sent(&rest[..sent]);
                    self.stats.tx_frames += sent as u64;
                    taken += sent;
                }
                Err(Some(libc::EAGAIN)) => self.full = Some(Full::Socket),
                Err(Some(libc::ENOBUFS)) if self.refusal.is_final(rest[0].len(), Instant::now()) => {
                    self.stats.tx_refused += 1;
                    taken += 1;
                }
                Err(Some(libc::ENOBUFS)) => self.full = Some(Full::Device),
                Err(Some(libc::EINTR)) => {}
                // The MTU was made smaller since the interface was opened.
                Err(Some(libc::EMSGSIZE)) => {
                    self.stats.tx_bad_length += 1;
                    taken += 1;
                }
                // A pulled cable loses frames; it does not end the node.
                Err(Some(libc::ENETDOWN | libc::ENXIO)) => {
                    self.check_there()?;
                    self.stats.tx_down += rest.len() as u64;
                    taken = frames.len();
                }
                Err(_) => return sent,
            }
            if self.full.is_some() {
                break;
            }
        }
        Ok(taken)
    }

    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
        let woken = self.bell.take();
        if self.take(out)? > 0 || woken || deadline.is_some_and(|at| at <= Instant::now()) {
            return Ok(());
        }
        let (want, retry) = match self.full {
            None => (PollFlags::IN, None),
            Some(Full::Socket) => (PollFlags::IN | PollFlags::OUT, None),
            Some(Full::Device) => (PollFlags::IN, Some(Instant::now() + DEVICE_RETRY)),
        };
        let deadline = [deadline, retry].into_iter().flatten().min();
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

    fn refused(&self) -> Refused {
        Refused { frames: self.stats.tx_refused, bytes_min: self.refusal.bytes_min() }
    }
}

/// Asks for socket buffers that hold a burst; the kernel grants what it allows.
fn enlarge_buffers(socket: &OwnedFd) {
    use rustix::net::sockopt as opt;
    let _ = opt::set_socket_recv_buffer_size_force(socket, RECV_BUFFER)
        .or_else(|_| opt::set_socket_recv_buffer_size(socket, RECV_BUFFER));
    let _ = opt::set_socket_send_buffer_size_force(socket, SEND_BUFFER)
        .or_else(|_| opt::set_socket_send_buffer_size(socket, SEND_BUFFER));
}

/// Bytes of received frames the kernel keeps for us: 13 ms at 10 Gb/s, longer than a thread is usually kept from
/// running.
const RECV_BUFFER: usize = 16 << 20;

/// Bytes of frames on their way out.
const SEND_BUFFER: usize = 4 << 20;

/// How long a busy device is left alone: 14 jumbo frames at 10 Gb/s.
const DEVICE_RETRY: Duration = Duration::from_micros(100);
