//! One operation of the user's, and the requests that it takes.

use bytes::Bytes;
use rackloom_bridge::{Atomic, Endpoint, Failure, NotTaken, Ticket};
use rackloom_node::Instant;
use rackloom_wire::MacAddr;

use crate::pending::Completer;
use crate::{Error, RmaError};

/// What is to be done, and who waits for it.
#[derive(Debug)]
pub(super) enum Work {
    Read {
        into: Vec<u8>,
        done: Completer<Bytes>,
    },
    Write {
        bytes: Bytes,
        done: Completer<()>,
    },
    Batch {
        writes: Vec<(u64, Bytes)>,
        done: Completer<()>,
    },
    Atomic {
        addr: u64,
        atomic: Atomic,
        done: Completer<u64>,
    },
    Send {
        stream: u16,
        message: Bytes,
        done: Completer<()>,
    },
    /// Waits until all messages sent before have been acknowledged.
    Flush {
        done: Completer<()>,
    },
}

/// An operation under way.
#[derive(Debug)]
pub(super) struct Transfer {
    work: Work,
    addr: u64,
    length: u64,
    /// Bytes asked for.
    begun: u64,
    /// Requests under way.
    under_way: u32,
    /// What the last request gave: of an atomic operation, what was there.
    answer: Bytes,
    failed: Option<RmaError>,
}

/// What beginning a part of a transfer gave.
pub(super) enum Part {
    /// A request is under way, for the bytes at this offset.
    Begun(Ticket, u64),
    /// All parts have begun.
    All,
    /// The peer has as many requests under way as it takes.
    Later,
}

impl Transfer {
    /// A transfer of `length` bytes from `addr` on, in as many parts as it takes.
    pub(super) fn new(addr: u64, length: u64, mut work: Work) -> Self {
        if let Work::Read { into, .. } = &mut work {
            into.resize(length as usize, 0);
        }
        Self { work, addr, length, begun: 0, under_way: 0, answer: Bytes::new(), failed: None }
    }

    /// An operation of one request.
    pub(super) fn single(work: Work) -> Self {
        Self::new(0, 1, work)
    }

    /// Begins the next part.
    pub(super) fn begin(&mut self, now: Instant, endpoint: &mut Endpoint, peer: MacAddr) -> Part {
        if self.begun == self.length || self.failed.is_some() {
            return Part::All;
        }
        let offset = self.begun;
        let part = (self.length - offset).min(endpoint.config().longest.into());
        let at = self.addr + offset;
        let begun = match &self.work {
            Work::Read { .. } => endpoint.read(now, peer, at, part as u32),
            Work::Write { bytes, .. } => {
                endpoint.write(now, peer, at, bytes.slice(offset as usize..(offset + part) as usize))
            }
            Work::Batch { writes, .. } => {
                let writes: Vec<_> = writes.iter().map(|(addr, bytes)| (*addr, &bytes[..])).collect();
                endpoint.write_batch(now, peer, &writes)
            }
            Work::Atomic { addr, atomic, .. } => endpoint.atomic(now, peer, *addr, *atomic),
            Work::Flush { .. } => {
                if !endpoint.has_sent_all(peer) {
                    return Part::Later;
                }
                self.begun = self.length;
                return Part::All;
            }
            Work::Send { stream, message, .. } => match endpoint.send(now, peer, *stream, message) {
                Ok(()) => {
                    self.begun = self.length;
                    return Part::All;
                }
                Err(e) => Err(e),
            },
        };
        match begun {
            Ok(ticket) => {
                self.begun += part;
                self.under_way += 1;
                Part::Begun(ticket, offset)
            }
            Err(NotTaken::Full) => Part::Later,
            Err(NotTaken::Peers) => self.fail(RmaError::Peers),
            Err(NotTaken::Invalid) => self.fail(RmaError::Invalid),
        }
    }

    /// Whether it is of the peer's streams.
    pub(super) const fn is_stream(&self) -> bool {
        matches!(self.work, Work::Send { .. } | Work::Flush { .. })
    }

    /// Whether it waits for messages that were sent to arrive.
    pub(super) const fn is_flush(&self) -> bool {
        matches!(self.work, Work::Flush { .. })
    }

    pub(super) fn fail(&mut self, why: RmaError) -> Part {
        self.failed.get_or_insert(why);
        Part::All
    }

    /// A request is over.
    pub(super) fn settle(&mut self, offset: u64, result: Result<Bytes, Failure>) {
        self.under_way -= 1;
        match result {
            Err(failure) => _ = self.fail(RmaError::Failed(failure)),
            Ok(bytes) => match &mut self.work {
                Work::Read { into, .. } => into[offset as usize..][..bytes.len()].copy_from_slice(&bytes),
                _ => self.answer = bytes,
            },
        }
    }

    /// Whether nothing of it is under way or to begin.
    pub(super) const fn is_over(&self) -> bool {
        self.under_way == 0 && (self.failed.is_some() || self.begun == self.length)
    }

    /// Tells who waits.
    pub(super) fn conclude(self, peer: MacAddr) {
        let error = self.failed.map(|source| Error::Remote { peer, source });
        match (self.work, error) {
            (Work::Read { done, .. }, Some(e)) => done.complete(Err(e)),
            (Work::Atomic { done, .. }, Some(e)) => done.complete(Err(e)),
            (
                Work::Write { done, .. } | Work::Batch { done, .. } | Work::Send { done, .. } | Work::Flush { done },
                e,
            ) => {
                done.complete(e.map_or(Ok(()), Err));
            }
            (Work::Read { into, done }, None) => done.complete(Ok(into.into())),
            (Work::Atomic { done, .. }, None) => {
                // The endpoint has seen to its length.
                done.complete(Ok(self.answer[..].try_into().map_or(0, u64::from_be_bytes)));
            }
        }
    }
}
