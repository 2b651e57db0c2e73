//! The control channel between the manager and a worker: packets with files over a socket.
#![allow(unsafe_code)]

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rackloom_opencl_wire::{BoardInfo, Limits};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType,
};
use serde::{Deserialize, Serialize};

use super::layers::Layers;
use crate::quota::Account;

/// A message to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker {
    /// Its setup; the first message. The worker opens the device and answers [`FromWorker::Ready`].
    OpenDevice(WorkerSetup),
    /// A client to serve, with its files. Sent once.
    Serve(Box<Assignment>),
    /// Disconnect the client, for this reason.
    Disconnect(String),
    /// Answer to [`FromWorker::Charge`]: whether the quotas had that much left.
    Charged(bool),
    /// Answer to [`FromWorker::BeginBuild`]: now is the time.
    Build,
}

/// A message from a worker.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FromWorker {
    /// What confines it; and the device is open, or why it could not be opened. With the folder of compiled kernels.
    Ready(Layers, Result<(), String>),
    /// It has a task and does not hold the board.
    RequestBoard,
    /// It returns the board.
    ReturnBoard,
    /// It makes something: a number that it chose, and what that is charged to.
    Charge(u64, Vec<(Account, u64)>),
    /// What was charged under this number is free.
    GiveBack(u64),
    /// It is about to build a program, whose source and options have this hash, and waits for [`ToWorker::Build`].
    BeginBuild(u64),
    /// It has built that.
    EndBuild,
}

/// The setup of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WorkerSetup {
    /// Its device.
    pub(super) origin: DeviceOrigin,
    /// The folder that it may write.
    pub(super) own: PathBuf,
    /// What it may read.
    pub(super) access: ReadAccess,
    /// Bytes of memory that its client may have.
    pub(super) memory: u64,
}

/// The files that a worker may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum ReadAccess {
    /// All that the manager's user may read: the client is a process of the same user, and its sources include them.
    User,
    /// Those that a runtime needs.
    Runtime,
}

/// Where a board's device is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceOrigin {
    /// The runtime's library.
    pub(crate) library: PathBuf,
    /// Index of the platform in the library.
    pub(crate) platform: usize,
    /// Index of the device in the platform.
    pub(crate) device: usize,
    /// Whether it is a processor, which has no device file.
    pub(crate) is_processor: bool,
    /// If arenas are registered: bytes that it moves in a second from and to them.
    pub(crate) registers: Option<u64>,
}

/// A client to serve. The first file is the shared page, the others are the channel's.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    /// The state of its channel.
    pub(super) channel: Vec<u8>,
    /// Its request to open the board, still to be answered.
    pub(super) request: u32,
    pub(super) limits: Limits,
    /// How long a task may hold the board, in nanoseconds; `None` for no bound.
    pub(super) task_ns: Option<u64>,
    /// The boards that it sees.
    pub(super) boards: Vec<BoardInfo>,
    pub(super) name: String,
}

/// Most bytes of a packet: below a socket's default buffer size. Descriptions of boards are some kilobytes each.
const PACKET_MAX: usize = 160 << 10;

/// Most files of a packet.
const FILES_MAX: usize = 8;

/// Makes the two ends of a control channel.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    Ok(rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)?)
}

/// Sends a packet to a worker: one that has left no room, because it does not read, gets an error.
pub(super) fn send(socket: impl AsFd, what: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_with(socket, what, files, SendFlags::DONTWAIT)
}

/// Sends a packet to the manager; waits for room.
pub(super) fn tell(socket: impl AsFd, what: &FromWorker) -> io::Result<()> {
    tell_with(socket, what, &[])
}

/// The same with files.
pub(super) fn tell_with(socket: impl AsFd, what: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_with(socket, what, files, SendFlags::empty())
}

fn send_with(socket: impl AsFd, what: &impl Serialize, files: &[BorrowedFd<'_>], flags: SendFlags) -> io::Result<()> {
    let bytes = postcard::to_stdvec(what).map_err(io::Error::other)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("more files than a packet takes"));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(&bytes)], &mut ancillary, flags | SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives packets.
#[derive(Debug)]
pub(super) struct Receiver(Box<[u8]>);

impl Receiver {
    pub(super) fn new() -> Self {
        Self(vec![0; PACKET_MAX].into())
    }

    /// Waits for the next packet and its files; `None` if the other end is gone.
    pub(super) fn next<T: serde::de::DeserializeOwned>(
        &mut self,
        socket: impl AsFd,
    ) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let Self(room) = self;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(room)], &mut ancillary, flags)?;
        let files = |message| match message {
            RecvAncillaryMessage::ScmRights(files) => files.collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let files = ancillary.drain().flat_map(files).collect();
        if got.bytes == 0 {
            return Ok(None);
        }
        let what = postcard::from_bytes(&room[..got.bytes]).map_err(io::Error::other)?;
        Ok(Some((what, files)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_worker_that_does_not_read() {
        let (here, _there) = pair().unwrap();
        let sent = (0..10_000).map(|_| send(&here, &ToWorker::Charged(true), &[])).find_map(Result::err);
        assert_eq!(sent.unwrap().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn packets_come_whole_with_their_files() {
        let (here, there) = pair().unwrap();
        let mut receiver = Receiver::new();
        let file = rustix::event::eventfd(3, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        send(&here, &ToWorker::Charged(true), &[file.as_fd(), here.as_fd()]).unwrap();
        let layers = Layers { namespaces: true, landlock: true, ..Layers::default() };
        tell(&here, &FromWorker::Ready(layers, Err("no".to_owned()))).unwrap();
        let (word, files) = receiver.next::<ToWorker>(&there).unwrap().unwrap();
        assert!(matches!(word, ToWorker::Charged(true)) && files.len() == 2);
        let mut count = [0; 8];
        rustix::io::read(&files[0], &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 3);
        drop(files);
        let (word, files) = receiver.next::<FromWorker>(&there).unwrap().unwrap();
        assert_eq!((word, files.len()), (FromWorker::Ready(layers, Err("no".to_owned())), 0));
        rustix::net::send(&here, &[77; 3], SendFlags::empty()).unwrap();
        assert!(receiver.next::<FromWorker>(&there).is_err(), "nonsense");
        drop(here);
        assert!(receiver.next::<FromWorker>(&there).unwrap().is_none());
    }
}
