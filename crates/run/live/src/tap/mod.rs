//! A network interface of this machine whose cable ends in this process: a Linux TAP device.
//!
//! What programs send by the interface comes in at the [`Tap`], and what is sent to the [`Tap`] they receive, as if a
//! cable went from the interface to a port of a card. The interface goes with the [`Tap`].

mod offload;
mod packet;
mod sys;

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use rackloom_node::Frame;
use rackloom_wire::MacAddr;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::doorbell::Doorbell;
use crate::wire::{BATCH, ETHERNET_HEADER, MTU_JUMBO, Wire, fits};

use self::offload::{HEAD, Head, LONGEST, cut, join};

/// A [`Wire`] to a TAP interface of its own.
#[derive(Debug)]
pub struct Tap {
    interface: String,
    device: OwnedFd,
    bell: Arc<Doorbell>,
    full: bool,
    /// What the kernel hands over, and what it is handed.
    buffer: Vec<u8>,
    joined: Vec<u8>,
    /// Frames that have come and found no room in a batch.
    left: VecDeque<Frame>,
    stats: TapStats,
}

/// What a TAP wire counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TapStats {
    /// Frames handed to the interface.
    pub tx_frames: u64,
    /// Frames that programs have sent by the interface.
    pub rx_frames: u64,
    /// Frames not handed over because no Ethernet frame has their length.
    pub tx_bad_length: u64,
    /// Frames not handed over because the interface was down or the kernel had no memory.
    pub tx_refused: u64,
    /// Frames received that are longer than a jumbo frame: dropped.
    pub rx_oversize: u64,
    /// What the kernel has handed over and is no frame, nor can be cut into some: dropped.
    pub rx_malformed: u64,
}

/// Why there is no such interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapError {
    /// Another interface has the name.
    #[error(
        "there is an interface {interface} already; choose another name, or remove it with `ip link del {interface}`"
    )]
    InUse {
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
    /// No interface can have this name.
    #[error("invalid interface name `{interface}`: expected 1 to 15 letters, digits, `-`, `_` or `.`, such as rl0")]
    Name {
        /// What was asked for.
        interface: String,
    },
    /// The kernel has no TAP devices, or a container does not show them.
    #[error(
        "cannot make interface {interface}: there is no {DEVICE}; load the kernel's module with `modprobe tun`, or \
         start the container with `--device {DEVICE}`"
    )]
    NoDevice {
        /// The interface.
        interface: String,
    },
    /// To make interfaces is a privilege.
    #[error(
        "cannot make interface {interface}: that needs the capability CAP_NET_ADMIN; run as root, or once \
         `sudo setcap cap_net_admin+ep` on this program"
    )]
    NotPermitted {
        /// The interface.
        interface: String,
    },
}

impl Tap {
    /// Makes the interface, with this address and MTU, and switches it on. Its MTU may be changed later, up to that of
    /// jumbo frames.
    ///
    /// # Errors
    /// The name is invalid or taken, the machine has no TAP devices, or this process may not make one.
    pub fn open(interface: &str, mac: MacAddr, mtu: usize) -> Result<Self, TapError> {
        let interface = interface.to_owned();
        if !is_name(&interface) {
            return Err(TapError::Name { interface });
        }
        let fail = |what| {
            let interface = interface.clone();
            move |source: io::Error| match source.raw_os_error() {
                Some(libc::EPERM | libc::EACCES) => TapError::NotPermitted { interface },
                Some(libc::EBUSY) => TapError::InUse { interface },
                _ => TapError::Io { what, interface, source },
            }
        };
        let device = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE);
        let device = match device {
            Ok(device) => OwnedFd::from(device),
            // ENODEV, ENXIO: a node of the file system without a driver behind it.
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::ENXIO)) => {
                return Err(TapError::NoDevice { interface });
            }
            Err(e) => return Err(fail("open the device for")(e)),
        };
        sys::create(&device, &interface).map_err(fail("make"))?;
        let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(|e| fail("open a socket for")(e.into()))?;
        sys::set_address(&socket, &interface, mac).map_err(fail("set the address of"))?;
        sys::set_mtu(&socket, &interface, mtu).map_err(fail("set the MTU of"))?;
        sys::bring_up(&socket, &interface).map_err(fail("bring up"))?;
        let bell = Doorbell::new().map_err(fail("make a bell for"))?;
        let buffer = vec![0; HEAD + LONGEST + 1];
        let (joined, left, stats) = (Vec::new(), VecDeque::new(), TapStats::default());
        Ok(Self { interface, device, bell, full: false, buffer, joined, left, stats })
    }

    /// The interface's name when it was made.
    #[must_use]
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// What was counted so far.
    #[must_use]
    pub const fn stats(&self) -> TapStats {
        self.stats
    }

    fn removed(&self) -> io::Error {
        io::Error::new(io::ErrorKind::NotConnected, format!("interface {} was removed", self.interface))
    }

    /// Takes what has been sent by the interface, without waiting; how many frames. A call of the system gives one, or
    /// many frames' worth of TCP.
    fn take(&mut self, out: &mut Vec<Frame>) -> io::Result<usize> {
        let before = out.len();
        while self.left.len() < BATCH {
            match rustix::io::read(&self.device, &mut self.buffer[..]) {
                Ok(length) if length <= HEAD || length > HEAD + LONGEST => self.stats.rx_malformed += 1,
                Ok(length) => {
                    let (head, packet) = self.buffer[..length].split_at_mut(HEAD);
                    let head = Head::read((&*head).try_into().expect("its length"));
                    let (left, stats) = (&mut self.left, &mut self.stats);
                    let frame = |frame: Frame| match frame.len() > MTU_JUMBO + ETHERNET_HEADER {
                        true => stats.rx_oversize += 1,
                        false => left.push_back(frame),
                    };
                    if cut(head, packet, frame).is_none() {
                        self.stats.rx_malformed += 1;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // What came before is delivered first.
                Err(_) if !self.left.is_empty() => break,
                Err(Errno::BADFD) => return Err(self.removed()),
                Err(e) => return Err(e.into()),
            }
        }
        out.extend(self.left.drain(..self.left.len().min(BATCH)));
        let n = out.len() - before;
        self.stats.rx_frames += n as u64;
        Ok(n)
    }
}

impl Wire for Tap {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        self.full = false;
        let mut taken = 0;
        while let Some(frame) = frames.get(taken) {
            if !fits(frame.len(), MTU_JUMBO) {
                self.stats.tx_bad_length += 1;
                taken += 1;
                continue;
            }
            let (count, head) = join(&frames[taken..], &mut self.joined);
            let bytes: &[u8] = if count > 1 { &self.joined } else { frame };
            match rustix::io::writev(&self.device, &[IoSlice::new(&head.bytes()), IoSlice::new(bytes)]) {
                Ok(_) => self.stats.tx_frames += count as u64,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    self.full = true;
                    break;
                }
                Err(Errno::BADFD) => return Err(self.removed()),
                Err(Errno::INVAL) => self.stats.tx_bad_length += count as u64,
                // An interface that is down loses frames, as one with a pulled cable does; it does not end the node.
                Err(Errno::IO | Errno::NOMEM | Errno::NOBUFS) => self.stats.tx_refused += count as u64,
                Err(e) => return Err(e.into()),
            }
            taken += count;
        }
        Ok(taken)
    }

    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
        let woken = self.bell.take();
        if self.take(out)? > 0 || woken || deadline.is_some_and(|at| at <= Instant::now()) {
            return Ok(());
        }
        let want = if self.full { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        self.bell.wait(self.device.as_fd(), want, deadline)?;
        self.take(out)?;
        Ok(())
    }

    fn mtu(&self) -> usize {
        MTU_JUMBO
    }

    fn waker(&self) -> Waker {
        self.bell.waker()
    }
}

/// Whether an interface may have this name: what the kernel takes, and no tool misreads.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..libc::IFNAMSIZ).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !matches!(name, "." | ".." | "all" | "default")
}

/// Where TAP devices come from.
const DEVICE: &str = "/dev/net/tun";
