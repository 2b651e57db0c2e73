//! The socket at which ranks meet: whose it is, who is at its other end, and a file that goes through it.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

/// Checks that a folder is this user's, and that no other may enter it.
pub(crate) fn own_folder(folder: &Path) -> io::Result<()> {
    let found = std::fs::metadata(folder)?;
    let refuse = |what: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("its folder {what}")));
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refuse("is another user's");
    }
    if found.mode() & 0o077 != 0 {
        return refuse("is open to others: make it one of mode 700");
    }
    Ok(())
}

/// Checks that a process of this user is at the other end; its number.
pub(crate) fn own_peer(stream: &UnixStream) -> io::Result<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    match peer.uid == rustix::process::geteuid() {
        true => Ok(peer.pid.as_raw_nonzero().get().unsigned_abs()),
        false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user's process is at its other end")),
    }
}

/// Sends a byte, and a file with it.
pub(crate) fn send(stream: &UnixStream, byte: u8, file: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = file.map(|file| [file]);
    if let Some(files) = &files {
        assert!(control.push(SendAncillaryMessage::ScmRights(files)), "there is space for it");
    }
    rustix::net::sendmsg(stream.as_fd(), &[IoSlice::new(&[byte])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a byte, and a file if one came with it.
pub(crate) fn receive(stream: &UnixStream) -> io::Result<(u8, Option<OwnedFd>)> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut byte)];
    let got = rustix::net::recvmsg(stream.as_fd(), &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut file = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = message {
            file = files.last();
        }
    }
    Ok((byte[0], file))
}
