//! Hands a client over from the process that accepted it to the one that serves it.
//!
//! Copies of the connection's files are handed over, and a short record of where to continue. Afterwards nothing stands
//! between the client and its new server, and the client notices nothing. The old handle keeps the client's seat:
//! dropping it ends the connection, whatever the other process does.
//!
//! The record comes from a process of ours, but its reader trusts it no further than not to panic.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::net::{AddressFamily, SocketType};

use super::config::{Grant, Identity};
use super::core::{Link, PeerCore};
use super::peer::Peer;
use super::resume::{FILES_MAX, Positions};
use super::shm::ShmPeer;
use super::tcp::TcpPeer;
use super::watch;
use crate::error::ChannelError;
use crate::hello::Token;
use crate::le::le_u32;
use crate::limits::{Limits, Spin};
use crate::shared;
use crate::sys::map::Mapping;

/// A client's channel in transit to another process. If it is dropped, the client waits until the handle that it came
/// from is closed.
pub struct Handover {
    identity: Identity,
    token: Token,
    limits: Limits,
    /// The state of the rings; `None` over TCP.
    at: Option<Positions>,
    /// The socket, the rings' file, and the client's process if the system lets us watch it; over TCP the connections
    /// for messages and for bulk.
    files: Vec<OwnedFd>,
}

/// Without the secret.
impl fmt::Debug for Handover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, at, files, .. } = self;
        let mut out = f.debug_struct("Handover");
        out.field("identity", identity).field("at", at).field("files", files).finish_non_exhaustive()
    }
}

impl Peer {
    /// What another process needs to serve this client from now on in our place. This handle keeps the client's
    /// seat: [`Self::close`], or dropping it, shuts the connection for the other process and the client;
    /// [`Self::closed`] still reports when the client is gone, or was closed by the other process. It neither
    /// receives nor sends any more: that gives [`Closed::HandedOver`](crate::Closed::HandedOver).
    ///
    /// Messages that arrive after the call go to the other process.
    ///
    /// # Errors
    /// The channel is in use, and continues unchanged ([`ChannelError::Busy`]): a thread receives, messages are unread
    /// or wait for the client, it holds arenas, or it has moved bulk over TCP. The channel is closed, or was handed
    /// over before. The system is out of files or threads.
    pub fn hand_over(&self) -> Result<Handover, ChannelError> {
        let core = &self.core;
        if let Some(why) = core.closed() {
            return Err(why.into());
        }
        let (at, files) = match &core.link {
            Link::Shm(link) => {
                let (at, files) = link.hand_over(core)?;
                (Some(at), files)
            }
            Link::Tcp(link) => (None, link.hand_over(core, || watch(core))?),
        };
        Ok(Handover { identity: core.identity, token: core.token, limits: core.limits, at, files })
    }
}

impl Handover {
    /// Most files of a handover.
    pub const FILES_MAX: usize = FILES_MAX;
    /// Length of [`Self::state`], bytes.
    pub const STATE_LEN: usize = 136;

    /// The files to send along, in this order.
    #[must_use]
    pub fn files(&self) -> Vec<BorrowedFd<'_>> {
        self.files.iter().map(AsFd::as_fd).collect()
    }

    /// The files to poll, and the events: any of them means that the client is gone or the other process has closed.
    #[must_use]
    pub fn ends(&self) -> Vec<(BorrowedFd<'_>, PollFlags)> {
        let flags = if self.at.is_some() {
            [PollFlags::RDHUP, PollFlags::empty(), PollFlags::IN] // Nothing happens to the rings' file.
        } else {
            [PollFlags::RDHUP, PollFlags::RDHUP, PollFlags::empty()]
        };
        let files = self.files.iter().map(AsFd::as_fd).zip(flags);
        files.filter(|(_, flags)| !flags.is_empty()).collect()
    }

    /// Most arenas and transfers of the client at a time.
    #[must_use]
    pub const fn bulk_count_max(&self) -> usize {
        self.limits.bulk_count_max
    }

    /// The rest of what the other process needs. It contains the client's token: a secret.
    #[must_use]
    pub fn state(&self) -> Vec<u8> {
        let Self { identity, token, limits, at, files } = self;
        let mut out = Vec::with_capacity(Self::STATE_LEN);
        let (kind, who) = match identity {
            Identity::Unix { pid, uid, gid } => (UNIX, [*pid, *uid, *gid, 0, 0, 0, 0]),
            Identity::Tcp { from } => {
                let (kind, ip, flow, scope) = match from {
                    SocketAddr::V4(from) => (TCP_V4, from.ip().to_ipv6_mapped(), 0, 0),
                    SocketAddr::V6(from) => (TCP_V6, *from.ip(), from.flowinfo(), from.scope_id()),
                };
                let ip = ip.octets();
                let [a, b, c, d] = [0, 4, 8, 12].map(|i| le_u32(&ip, i));
                (kind, [a, b, c, d, from.port().into(), flow, scope])
            }
        };
        out.extend(MAGIC);
        out.extend([VERSION, kind, files.len() as u8, 0]);
        out.extend(token);
        out.extend(who.iter().flat_map(|n| n.to_le_bytes()));
        let at = at.unwrap_or(Positions { read: 0, written: 0, freed: 0, arena: 0 });
        let Limits { ring_bytes, queue_messages_max, queue_bytes_max, bulk_bytes_max, bulk_count_max, stall, spin } =
            limits;
        let nanos = stall.subsec_nanos();
        let short = [at.read, at.written, at.freed, at.arena, *ring_bytes, spin.us_max, nanos];
        out.extend(short.iter().flat_map(|n| n.to_le_bytes()));
        let sizes = [queue_messages_max, queue_bytes_max, bulk_count_max].map(|n| *n as u64);
        let long = [sizes[0], sizes[1], sizes[2], *bulk_bytes_max, stall.as_secs()];
        out.extend(long.iter().flat_map(|n| n.to_le_bytes()));
        assert_eq!(out.len(), Self::STATE_LEN, "as the reader expects");
        out
    }

    /// The handover from the files and the record that the other process received.
    ///
    /// # Errors
    /// The record is malformed, of another version, or does not fit the files ([`ChannelError::BadHandover`]).
    pub fn from_parts(files: Vec<OwnedFd>, state: &[u8]) -> Result<Self, ChannelError> {
        let bad = |what| Err(ChannelError::BadHandover(what));
        let mut state = Reader(state);
        if state.0.len() != Self::STATE_LEN || state.take() != MAGIC {
            return bad("the record is none");
        }
        let [version, kind, count, zero] = state.take();
        if version != VERSION || zero != 0 {
            return bad("the record is of another version");
        }
        let token = state.take();
        let who = state.numbers();
        let [read, written, freed, arena, ring_bytes, us_max, nanos] = state.numbers();
        let long: [u64; 5] = [(); 5].map(|()| u64::from_le_bytes(state.take()));
        let [Ok(queue_messages_max), Ok(queue_bytes_max), Ok(bulk_count_max), _, _] = long.map(usize::try_from) else {
            return bad("a limit is too large");
        };
        let (bulk_bytes_max, seconds) = (long[3], long[4]);
        let Some(identity) = identity(kind, &who) else { return bad("the client is of no known kind") };
        let stall = Duration::new(seconds, 0).checked_add(Duration::from_nanos(nanos.into()));
        let Some(stall) = stall.filter(|stall| Instant::now().checked_add(*stall).is_some()) else {
            return bad("the time for a transfer is invalid");
        };
        let spin = Spin { us_max };
        let limits =
            Limits { ring_bytes, queue_messages_max, queue_bytes_max, bulk_bytes_max, bulk_count_max, stall, spin };
        if !shared::ring_bytes_ok(ring_bytes) {
            return bad("rings cannot have that size");
        }
        if files.len() != usize::from(count) {
            return bad("not all of its files are there");
        }
        let is_tcp = matches!(identity, Identity::Tcp { .. });
        let at = Positions { read, written, freed, arena };
        let fit = if is_tcp {
            files.len() == 2 && files.iter().all(|file| is_socket(file, is_tcp))
        } else {
            (2..=Self::FILES_MAX).contains(&files.len())
                && is_socket(&files[0], is_tcp)
                && Mapping::new(&files[1], shared::bytes(ring_bytes)).is_ok()
        };
        if !fit {
            return bad("the files are others");
        }
        let whole = [read, written, freed].iter().all(|at| at.is_multiple_of(8));
        if !is_tcp && (!whole || written.wrapping_sub(freed) > ring_bytes) {
            return bad("the rings' positions are invalid");
        }
        Ok(Self { identity, token, limits, at: (!is_tcp).then_some(at), files })
    }

    /// Serves the client. `grant` decides on arenas, as with [`ServerConfig`](crate::ServerConfig).
    ///
    /// # Errors
    /// The system is out of memory, files or threads; the client's channel may be closed then.
    pub fn into_peer(self, grant: Box<Grant>) -> Result<Peer, ChannelError> {
        let Self { identity, token, limits, at, files } = self;
        let mut files = files.into_iter();
        let (Some(first), Some(second)) = (files.next(), files.next()) else { unreachable!("each has two files") };
        let link = match at {
            Some(at) => {
                let link = ShmPeer::resume(first, second, files.next(), &limits, at);
                Link::Shm(Box::new(link.map_err(ChannelError::io("map the rings"))?))
            }
            None => {
                let link = TcpPeer::new(first, second, &limits);
                Link::Tcp(Arc::new(link.map_err(ChannelError::io("make an event"))?))
            }
        };
        let is_shm = at.is_some();
        let peer = Peer::new(Arc::new(PeerCore::new(identity, token, limits, Arc::new(grant), link, None)));
        if is_shm {
            // In this process no acceptor does it.
            watch(&peer.core)?;
        }
        Ok(peer)
    }
}

/// Starts a thread that watches for the end of this client alone.
fn watch(core: &Arc<PeerCore>) -> Result<(), ChannelError> {
    let watched = vec![Arc::clone(core)];
    core.spawn("ipc-watch", move |_| watch::run(watched)).map_err(ChannelError::io("start a thread"))
}

/// Whether it is a socket as clients of that kind have them. One over TCP may be relayed to a socket of this machine.
fn is_socket(file: &OwnedFd, is_tcp: bool) -> bool {
    use rustix::net::sockopt::{socket_domain, socket_type};
    let sort = if is_tcp { SocketType::STREAM } else { SocketType::SEQPACKET };
    (is_tcp || socket_domain(file) == Ok(AddressFamily::UNIX)) && socket_type(file) == Ok(sort)
}

fn identity(kind: u8, who: &[u32; 7]) -> Option<Identity> {
    let [a, b, c, d, port, flow, scope] = *who;
    if kind == UNIX {
        return Some(Identity::Unix { pid: a, uid: b, gid: c });
    }
    let mut ip = [0; 16];
    ip.chunks_exact_mut(4).zip([a, b, c, d]).for_each(|(to, n)| to.copy_from_slice(&n.to_le_bytes()));
    let (ip, port) = (Ipv6Addr::from(ip), u16::try_from(port).ok()?);
    let from = match kind {
        TCP_V4 => SocketAddr::new(IpAddr::V4(ip.to_ipv4_mapped()?), port),
        TCP_V6 => SocketAddrV6::new(ip, port, flow, scope).into(),
        _ => return None,
    };
    Some(Identity::Tcp { from })
}

/// Parses a record whose length was checked.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().expect("the length was checked");
        self.0 = rest;
        *first
    }

    fn numbers(&mut self) -> [u32; 7] {
        [(); 7].map(|()| u32::from_le_bytes(self.take()))
    }
}

const MAGIC: [u8; 4] = *b"RLho";
/// The version of the record: both processes must be of one build, or the receiver refuses.
const VERSION: u8 = 1;

const UNIX: u8 = 0;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 2;
