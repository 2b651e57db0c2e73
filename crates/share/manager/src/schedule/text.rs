//! What kernels print, on its way to their client.

use std::time::{Duration, Instant};

use rackloom_ipc::Peer;
use rackloom_opencl_wire::{REPLY, Reply, encode_reply};

use crate::board::Printed;

/// The text of a task. A client that does not read holds the board up for a bounded time, at its own expense, and loses
/// text rather than its connection.
pub(super) struct Text<'a> {
    peer: &'a Peer,
    message: Vec<u8>,
    /// How long the rest of the task may wait for the client.
    patience: Duration,
}

/// Bytes of replies that the client may leave unread before text waits: a quarter of what a channel takes, so that
/// there is room for all others.
const UNREAD_MAX: usize = 1 << 20;

/// How long a task's text may wait for its client in all: many times as long as a thread waits for a processor on a
/// busy machine, and little beside what a kernel may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it looks meanwhile.
const PAUSE: Duration = Duration::from_micros(500);

impl<'a> Text<'a> {
    pub(super) const fn new(peer: &'a Peer) -> Self {
        Self { peer, message: Vec::new(), patience: PATIENCE }
    }

    pub(super) fn send(&mut self, printed: Printed<'_>) {
        match printed {
            Printed::Text(piece) if self.has_room() => self.put(piece, false),
            Printed::Text(_) | Printed::Lost => self.put(&[], true),
        }
    }

    /// Whether the client reads; waits for that a little.
    fn has_room(&mut self) -> bool {
        let start = Instant::now();
        loop {
            if self.peer.unread() <= UNREAD_MAX {
                self.patience = self.patience.saturating_sub(start.elapsed());
                return true;
            }
            if start.elapsed() >= self.patience {
                self.patience = Duration::ZERO;
                return false;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn put(&mut self, piece: &[u8], lost: bool) {
        encode_reply(&Reply::Printed { lost }, piece, &mut self.message);
        let _ = self.peer.send(REPLY, &self.message); // A client that is gone is noticed by its session.
    }
}
