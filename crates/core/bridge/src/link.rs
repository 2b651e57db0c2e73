//! What a node keeps of one peer.

use std::collections::BTreeSet;

use rackloom_node::Instant;
use rackloom_transport::Connection;
use rackloom_wire::bridge::Kind;

use crate::inbox::Inbox;
use crate::message::Message;
use crate::transactions::{Ticket, Transactions};

/// The connection to one peer on one channel.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) connection: Connection<Message>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) is_ready: bool,
    pub(crate) transactions: Transactions,
    pub(crate) inbox: Inbox,
    pub(crate) has_inbox_turn: bool,
    /// When the peer was heard last, or was first asked for something after that.
    pub(crate) heard: Instant,
}

impl Link {
    pub(crate) fn new(now: Instant, connection: Connection<Message>) -> Self {
        Self {
            connection,
            deadline: None,
            is_ready: false,
            transactions: Transactions::default(),
            inbox: Inbox::default(),
            has_inbox_turn: false,
            heard: now,
        }
    }

    /// Whether the peer owes something.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.transactions.is_empty() || !self.connection.is_idle()
    }

    /// Numbers have begun anew: what waits to be sent and means something to the peer's new life stays. Answers to its
    /// old life do not, nor the rest of a message whose beginning that life has had.
    pub(crate) fn begin_life(&mut self) -> Lost {
        self.inbox.restart();
        let mut waiting = BTreeSet::new();
        let (mut is_whole, mut cut) = (false, false);
        self.connection.retain_queued(|m| match m.kind {
            Kind::Stream => {
                is_whole |= m.addr == 0;
                cut |= !is_whole;
                is_whole
            }
            Kind::ReadResponse | Kind::WriteResponse => false,
            _ => waiting.insert(m.id),
        });
        Lost { tickets: self.transactions.abandon(|id| !waiting.contains(&id)), cut }
    }
}

/// What a new life of a peer has cost.
pub(crate) struct Lost {
    /// Requests that its old life may have carried out.
    pub(crate) tickets: Vec<Ticket>,
    /// The rest of a stream's message.
    pub(crate) cut: bool,
}
