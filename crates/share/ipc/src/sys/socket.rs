//! Sockets: single calls for what takes several of `rustix`.
#![allow(unsafe_code)]

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// The peer of a Unix socket: process (0 if it is in a namespace invisible to us), user, group.
pub(crate) fn peer(socket: &OwnedFd) -> io::Result<(u32, u32, u32)> {
    let mut who = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // Not by rustix, whose type has no place for the process 0.
    // SAFETY: both pointers name values that outlive the call, and `len` says the size of the first.
    let done = unsafe {
        let fd = socket.as_raw_fd();
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut who).cast(), &raw mut len)
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok((who.pid as u32, who.uid, who.gid)) }
}

/// Random bytes, for secrets.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // SAFETY: the pointer names N bytes that outlive the call. Up to 256 bytes come whole.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), N, 0) };
    if got == N as isize { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

/// Sends one packet, with or without a file, without waiting.
pub(crate) fn send_packet(socket: &OwnedFd, bytes: &[u8], file: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let files: &[BorrowedFd<'_>] = file.as_slice();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(files)), "there is space for one file");
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    retry(|| rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)).map(|_| ())
}

/// A received packet.
#[derive(Debug)]
pub(crate) enum Packet {
    /// Its length, and the file with it.
    Whole(usize, Option<OwnedFd>),
    /// There is no packet now.
    None,
    /// It was longer than the buffer, or carried more than one file.
    Oversize,
    /// The other end has closed.
    End,
}

/// Receives one packet without waiting.
pub(crate) fn recv_packet(socket: &OwnedFd, out: &mut [u8]) -> io::Result<Packet> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let got = match retry(|| rustix::net::recvmsg(socket, &mut [IoSliceMut::new(out)], &mut control, flags)) {
        Ok(got) => got,
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(Packet::None),
        Err(e) if e.kind() == io::ErrorKind::ConnectionReset => return Ok(Packet::End),
        Err(e) => return Err(e),
    };
    let mut file = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = message {
            file = files.last();
        }
    }
    if got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Ok(Packet::Oversize);
    }
    Ok(if got.bytes == 0 { Packet::End } else { Packet::Whole(got.bytes, file) })
}

/// Sends as much of two pieces as fits now, in one call and without waiting; returns the bytes sent of both.
pub(crate) fn send_some(socket: &OwnedFd, head: &[u8], body: &[u8]) -> io::Result<usize> {
    send_pieces(socket, &[IoSlice::new(head), IoSlice::new(body)])
}

/// The same for any number of pieces.
pub(crate) fn send_pieces(socket: &OwnedFd, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut none = SendAncillaryBuffer::default();
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    match retry(|| rustix::net::sendmsg(socket, pieces, &mut none, flags)) {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(0),
        other => other,
    }
}

/// Receives what is there, without waiting: `None` if there is nothing, 0 bytes if the other end has closed.
pub(crate) fn recv_some(socket: &OwnedFd, out: &mut [u8]) -> io::Result<Option<usize>> {
    match retry(|| rustix::net::recv(socket, &mut *out, RecvFlags::DONTWAIT).map(|(got, _)| got)) {
        Ok(got) => Ok(Some(got)),
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::ConnectionReset => Ok(Some(0)),
        Err(e) => Err(e),
    }
}

/// Waits for bytes and receives what is there: 0 bytes if either end has closed.
pub(crate) fn recv_waiting(socket: &OwnedFd, out: &mut [u8]) -> io::Result<usize> {
    retry(|| rustix::net::recv(socket, &mut *out, RecvFlags::empty()).map(|(got, _)| got))
}

/// Waits for a wanted event of one of `files`, or for the deadline; returns the events of each, all empty at the
/// deadline.
pub(crate) fn poll<const N: usize>(
    files: [(BorrowedFd<'_>, PollFlags); N],
    deadline: Option<Instant>,
) -> io::Result<[PollFlags; N]> {
    let mut fds = files.map(|(fd, want)| PollFd::from_borrowed_fd(fd, want));
    poll_all(&mut fds, deadline)?;
    Ok(std::array::from_fn(|i| fds[i].revents()))
}

/// The same for any number of files.
pub(crate) fn poll_all(fds: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<()> {
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
    let left = left.map(|t| Timespec { tv_sec: t.as_secs() as i64, tv_nsec: i64::from(t.subsec_nanos()) });
    match rustix::event::poll(fds, left.as_ref()) {
        Ok(_) => Ok(()),
        Err(Errno::INTR) => {
            fds.iter_mut().for_each(PollFd::clear_revents);
            Ok(())
        }
        Err(e) => Err(e.into()),
    }
}

/// Bytes of bulk that are worth a wake-up: as many as TCP hands on at once where nothing slows it down.
const WORTH_WAKING: usize = 64 * 1024;

/// Waits for bytes of a TCP connection, of which at least `left` are still to come, or for the deadline: until
/// there are enough of them to be worth a wake-up, or all. Without, a reader that is as fast as the network wakes for
/// each segment.
pub(crate) fn poll_bulk(socket: BorrowedFd<'_>, left: usize, deadline: Option<Instant>) -> io::Result<()> {
    let low_water = left.min(WORTH_WAKING) as libc::c_int;
    // Not by rustix, which does not know it. Where it is refused, each segment wakes.
    // SAFETY: the pointer names a value that outlives the call, of this size.
    unsafe {
        let (at, len) = ((&raw const low_water).cast(), size_of::<libc::c_int>() as libc::socklen_t);
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, at, len);
    }
    poll([(socket, PollFlags::IN)], deadline).map(|_| ())
}

/// Waits until the other end sends no more, for so long at most. What came before stays to be read.
pub(crate) fn wait_for_end(socket: impl AsFd, longest: Duration) {
    let deadline = Instant::now() + longest;
    let ends = PollFlags::RDHUP | PollFlags::HUP;
    while Instant::now() < deadline && poll([(socket.as_fd(), ends)], Some(deadline)).is_ok_and(|[now]| now.is_empty())
    {
    }
}

/// Settings of a TCP connection: small messages leave at once, and a host that has vanished is noticed.
pub(crate) fn tune_tcp(socket: impl AsFd) -> io::Result<()> {
    use rustix::net::sockopt as o;
    let fd = socket.as_fd();
    o::set_tcp_nodelay(fd, true)?;
    o::set_socket_keepalive(fd, true)?;
    o::set_tcp_keepidle(fd, Duration::from_secs(5))?;
    o::set_tcp_keepintvl(fd, Duration::from_secs(2))?;
    o::set_tcp_keepcnt(fd, 3)?;
    o::set_tcp_user_timeout(fd, 15_000)?;
    Ok(())
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other.map_err(io::Error::from),
        }
    }
}
