//! Watches for the end of clients that need no receiving thread: those on this node, whose messages bypass their
//! socket, and those that another process serves in our place.
//!
//! Two processes may watch one client. Its end shows in both for good; a stray packet is read by one of them, which
//! then shuts the socket, and the other sees that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::core::{Link, PeerCore};
use crate::error::{Closed, Violation};
use crate::sys::socket::{self, Packet};

/// The watching thread: runs until no client is left.
pub(super) fn run(mut watched: Vec<Arc<PeerCore>>) {
    while !watched.is_empty() {
        let mut fds = Vec::new();
        files(&watched, &mut fds);
        if socket::poll_all(&mut fds, again(&watched)).is_err() {
            return;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        look(&mut watched, &ready);
    }
}

/// The files to wait for.
pub(super) fn files<'a>(watched: &'a [Arc<PeerCore>], fds: &mut Vec<PollFd<'a>>) {
    for core in watched {
        if core.is_end_seen() {
            continue; // It has hung up, and would stay ready for ever.
        }
        match &core.link {
            Link::Shm(link) => {
                fds.push(PollFd::new(&link.socket, PollFlags::IN | PollFlags::RDHUP));
                if let Some(process) = &link.process {
                    fds.push(PollFd::new(process, PollFlags::IN));
                }
            }
            // The bytes are for another process; only the end concerns us.
            Link::Tcp(link) => fds.push(PollFd::new(&link.main, PollFlags::RDHUP)),
        }
    }
}

/// When to check again at the latest: a thread was woken for the end and may have missed it.
pub(super) fn again(watched: &[Arc<PeerCore>]) -> Option<Instant> {
    watched.iter().any(|core| core.is_end_seen()).then(|| Instant::now() + REST)
}

/// Closes and forgets clients whose files are ready: after the greeting that means the end. `ready` is in the order of
/// [`files`].
pub(super) fn look(watched: &mut Vec<Arc<PeerCore>>, ready: &[bool]) {
    let mut ready = ready.iter().copied();
    watched.retain(|core| {
        let link = match &core.link {
            Link::Shm(link) => link,
            Link::Tcp(_) => {
                let gone = ready.next().unwrap_or(false);
                if gone {
                    core.set_gone();
                }
                return !gone;
            }
        };
        if core.is_end_seen() {
            return !link.wake();
        }
        let sock = ready.next().unwrap_or(false);
        let process = link.process.is_some() && ready.next().unwrap_or(false);
        if !sock && !process {
            return true;
        }
        let why = match socket::recv_packet(&link.socket, &mut [0; 1]) {
            Ok(Packet::Whole(..) | Packet::Oversize) => Violation::Socket.into(),
            Ok(Packet::None | Packet::End) | Err(_) => Closed::PeerGone,
        };
        core.close(why);
        core.set_end_seen();
        !link.wake()
    });
}

/// Time between two wake-ups of a thread that has missed one.
const REST: Duration = Duration::from_millis(20);
