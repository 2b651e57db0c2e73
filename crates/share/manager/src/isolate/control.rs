//! What the manager and a worker say to each other, with files, by a socket between the two.
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

/// To a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker {
    /// What it will be for. Said first; it opens the device and is [`FromWorker::Ready`].
    OpenDevice(WorkerSetup),
    /// A client, with its files. Said once.
    Serve(Box<Assignment>),
    /// The client is to leave, for this reason.
    Disconnect(String),
    /// To [`FromWorker::TakeMemory`]: whether there was so much.
    MemoryTaken(bool),
}

/// From a worker.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FromWorker {
    /// The device is open, and whether the system keeps the worker from all that is not its own; or why not.
    Ready(Result<bool, String>),
    /// It has a task for the board, which it has not.
    RequestBoard,
    /// It gives the board back.
    ReturnBoard,
    /// So many bytes of memory, under a number of its own.
    TakeMemory(u64, u64),
    /// Those of this number are free.
    GiveMemory(u64),
}

/// A worker's place in the system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WorkerSetup {
    /// Its device.
    pub(super) origin: DeviceOrigin,
    /// The folder that is its own.
    pub(super) own: PathBuf,
    /// What it may read.
    pub(super) access: ReadAccess,
}

/// What a worker may read of the system's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum ReadAccess {
    /// Those that the manager's user may: its client is a process of the same user, and its sources include them.
    User,
    /// Those that a runtime needs.
    Runtime,
}

/// Which device a board is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceOrigin {
    /// The runtime's library.
    pub(crate) library: PathBuf,
    /// Number of the platform in it.
    pub(crate) platform: usize,
    /// Number of the device in that.
    pub(crate) device: usize,
    /// Whether it is a processor, which has no file of its own.
    pub(crate) is_processor: bool,
}

/// A client to serve. Its page is the first file, its channel's files are the others.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    /// Where its channel stands.
    pub(super) channel: Vec<u8>,
    /// Number of its request for the board, which is to be answered.
    pub(super) request: u32,
    pub(super) limits: Limits,
    /// Whether the manager counts its memory, since it shares a quota with others.
    pub(super) shares_memory: bool,
    /// How long a task may have the board, in nanoseconds.
    pub(super) task_ns: Option<u64>,
    /// The boards that are there for it, and which of them this is.
    pub(super) boards: Vec<BoardInfo>,
    pub(super) name: String,
}

/// Bytes of a packet: what a socket takes at least, unless its system is configured otherwise. Descriptions of boards are
/// some kilobytes each.
const PACKET_MAX: usize = 160 << 10;

/// Files of a packet.
const FILES_MAX: usize = 8;

/// Two ends.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    Ok(rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)?)
}

/// Sends a packet. Waits for room.
pub(super) fn send(socket: impl AsFd, what: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = postcard::to_stdvec(what).map_err(io::Error::other)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("more files than a packet takes"));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives packets.
#[derive(Debug)]
pub(super) struct Receiver(Box<[u8]>);

impl Receiver {
    pub(super) fn new() -> Self {
        Self(vec![0; PACKET_MAX].into())
    }

    /// The next packet, with its files; waits for it. None if the other end is gone.
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
    fn packets_come_whole_with_their_files() {
        let (here, there) = pair().unwrap();
        let mut receiver = Receiver::new();
        let file = rustix::event::eventfd(3, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        send(&here, &FromWorker::TakeMemory(1, 1 << 40), &[file.as_fd(), here.as_fd()]).unwrap();
        send(&here, &FromWorker::Ready(Err("no".to_owned())), &[]).unwrap();
        let (word, files) = receiver.next::<FromWorker>(&there).unwrap().unwrap();
        assert_eq!((word, files.len()), (FromWorker::TakeMemory(1, 1 << 40), 2));
        let mut count = [0; 8];
        rustix::io::read(&files[0], &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 3);
        drop(files);
        let (word, files) = receiver.next::<FromWorker>(&there).unwrap().unwrap();
        assert_eq!((word, files.len()), (FromWorker::Ready(Err("no".to_owned())), 0));
        rustix::net::send(&here, &[77; 3], SendFlags::empty()).unwrap();
        assert!(receiver.next::<FromWorker>(&there).is_err(), "nonsense");
        drop(here);
        assert!(receiver.next::<FromWorker>(&there).unwrap().is_none());
    }
}
