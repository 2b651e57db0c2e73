//! Requests of this node that a peer has not answered.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_wire::bridge::{BridgeStatus, Kind, TRANSACTIONS};

use crate::message::Message;

/// Names a request until its completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(crate) u64);

/// Why a request was not carried out, or may not have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The peer has refused it; nothing was read or written, unless its memory failed.
    #[error("the peer refuses: {}", .0.name())]
    Refused(BridgeStatus),
    /// The peer has started anew since. It has carried the request out once, or not at all.
    #[error("the peer restarted: the request was carried out once, or not at all")]
    Restarted,
    /// The peer is silent. It has carried the request out once, or not at all.
    #[error("the peer does not answer: the request was carried out once, or not at all")]
    Unreachable,
    /// Its answer is not one to the request.
    #[error("the peer answered with what was not asked for")]
    WrongAnswer,
}

/// One request under way.
#[derive(Debug)]
struct Request {
    ticket: Ticket,
    answer: Kind,
    addr: u64,
    /// Bytes that the answer tells of.
    count: u32,
}

/// The requests under way to one peer.
///
/// Invariant: at most [`TRANSACTIONS`], each under an id of its own.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    under_way: BTreeMap<u16, Request>,
    next: u16,
}

impl Transactions {
    /// Requests that may begin now.
    pub(crate) fn room(&self) -> usize {
        TRANSACTIONS as usize - self.under_way.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Begins a request: `message` gets its id.
    ///
    /// # Panics
    /// If there is no room.
    pub(crate) fn begin(&mut self, ticket: Ticket, message: &mut Message, count: u32) {
        assert!(self.room() > 0);
        while self.under_way.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        message.id = self.next;
        let answer = match message.kind {
            Kind::ReadRequest | Kind::AtomicRequest => Kind::ReadResponse,
            _ => Kind::WriteResponse,
        };
        self.under_way.insert(self.next, Request { ticket, answer, addr: message.addr, count });
        self.next = self.next.wrapping_add(1);
    }

    /// An answer has come; `None` if nothing was asked under its id.
    pub(crate) fn complete(&mut self, answer: &Message) -> Option<(Ticket, Result<Bytes, Failure>)> {
        let asked = self.under_way.remove(&answer.id)?;
        let status = BridgeStatus::from_wire(answer.tag);
        let fits = answer.kind == asked.answer && answer.addr == asked.addr;
        let is_whole = answer.count == asked.count
            && (answer.kind == Kind::WriteResponse || answer.payload.len() == asked.count as usize);
        let result = match status {
            Some(BridgeStatus::Ok) if fits && is_whole => Ok(answer.payload.clone()),
            Some(status) if fits && status != BridgeStatus::Ok => Err(Failure::Refused(status)),
            _ => Err(Failure::WrongAnswer),
        };
        Some((asked.ticket, result))
    }

    /// Forgets those with these ids: their tickets, in the order in which they began.
    pub(crate) fn abandon(&mut self, is_lost: impl Fn(u16) -> bool) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        self.under_way.retain(|id, request| {
            let lost = is_lost(*id);
            if lost {
                tickets.push(request.ticket);
            }
            !lost
        });
        tickets.sort_unstable();
        tickets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(t: &mut Transactions, ticket: u64, addr: u64, count: u32) -> Message {
        let mut message = Message::read(0, addr, count);
        t.begin(Ticket(ticket), &mut message, count);
        message
    }

    #[test]
    fn each_answer_ends_its_own_request_once() {
        let mut t = Transactions::default();
        let (a, b) = (begin(&mut t, 1, 0x10, 4), begin(&mut t, 2, 0x20, 4));
        assert_ne!(a.id, b.id);
        let answer = Message::read_response(&b, BridgeStatus::Ok, Bytes::from_static(b"four"));
        assert_eq!(t.complete(&answer), Some((Ticket(2), Ok(Bytes::from_static(b"four")))));
        assert_eq!(t.complete(&answer), None);
        assert_eq!(t.abandon(|_| true), [Ticket(1)]);
        assert!(t.is_empty());
    }

    #[test]
    fn an_answer_to_something_else_is_no_data() {
        let wrong = |change: &dyn Fn(&mut Message)| {
            let mut t = Transactions::default();
            let asked = begin(&mut t, 1, 0x10, 4);
            let mut answer = Message::read_response(&asked, BridgeStatus::Ok, Bytes::from_static(b"four"));
            change(&mut answer);
            t.complete(&answer).unwrap().1
        };
        assert!(wrong(&|_| ()).is_ok());
        assert_eq!(wrong(&|a| a.addr = 0x18), Err(Failure::WrongAnswer));
        assert_eq!(wrong(&|a| a.kind = Kind::WriteResponse), Err(Failure::WrongAnswer));
        assert_eq!(wrong(&|a| a.payload = Bytes::from_static(b"fou")), Err(Failure::WrongAnswer));
        assert_eq!(wrong(&|a| a.tag = 999), Err(Failure::WrongAnswer));
        assert_eq!(wrong(&|a| a.tag = BridgeStatus::Denied.into()), Err(Failure::Refused(BridgeStatus::Denied)));
    }

    #[test]
    fn ids_wrap_past_one_that_is_still_under_way() {
        let mut t = Transactions::default();
        let stuck = begin(&mut t, 0, 0, 1);
        for ticket in 1..70_000 {
            let asked = begin(&mut t, ticket, 8, 1);
            assert_ne!(asked.id, stuck.id);
            let answer = Message::read_response(&asked, BridgeStatus::Ok, Bytes::from_static(b"x"));
            assert_eq!(t.complete(&answer).unwrap().0, Ticket(ticket));
        }
        assert_eq!(t.room(), TRANSACTIONS as usize - 1);
    }
}
