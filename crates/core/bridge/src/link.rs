//! What a node keeps of one peer.

use std::collections::BTreeSet;

use rackloom_node::Instant;
use rackloom_transport::{Connection, Segment};
use rackloom_wire::bridge::Kind;

use crate::config::STREAM_CREDIT;
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
    /// When its place was confirmed last; `None`: it is a stranger's.
    pub(crate) kept: Option<Instant>,
    /// Numbers have begun: something may have been taken, or sent, under the connection's epoch.
    pub(crate) has_begun: bool,
    /// When patience with the peer ends, if we wait for it then: counted from when it last did what it owed, or spoke
    /// while it owed nothing, or was first asked for something after that.
    pub(crate) gives_up: Instant,
    #[cfg(feature = "planted-bugs")]
    planted: Option<crate::PlantedBug>,
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
            kept: None,
            has_begun: false,
            gives_up: now,
            #[cfg(feature = "planted-bugs")]
            planted: None,
        }
    }

    /// Whether the peer owes us an answer or an acknowledgement. It does not where all that waits is for its credit.
    pub(crate) fn owes(&self) -> bool {
        !self.transactions.is_empty() || self.connection.in_flight() > 0
    }

    /// Whether a segment of the peer may be taken. While messages of its earlier lives fill the inbox, no further life
    /// is heard: each begins with credit for as many.
    pub(crate) fn has_room_for<T>(&self, segment: &Segment<T>) -> bool {
        self.inbox.waiting() <= STREAM_CREDIT.into() || self.connection.is_current(segment.src, segment.dst)
    }

    /// Whether we wait for something of the peer.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.transactions.is_empty() || !self.connection.is_idle()
    }

    /// Makes it suffer from a bug, as numbers begin anew.
    #[cfg(feature = "planted-bugs")]
    pub(crate) fn suffer_life(&mut self, bug: crate::PlantedBug, lost: &[Message]) {
        self.planted = Some(bug);
        self.inbox.keeps_partial = bug == crate::PlantedBug::KeepPartial;
        let asks = |m: &&Message| !matches!(m.kind, Kind::ReadResponse | Kind::WriteResponse | Kind::Stream);
        if bug == crate::PlantedBug::AskAgain {
            lost.iter().filter(asks).for_each(|m| drop(self.connection.push(m.clone())));
        }
    }

    /// Whether the peer may not leave for another, however long it has been silent.
    pub(crate) fn is_in_use(&self) -> bool {
        self.inbox.front().is_some() || self.is_waiting()
    }

    /// When it has to be looked at.
    pub(crate) fn wants(&self) -> Option<Instant> {
        let patience = self.is_waiting().then_some(self.gives_up);
        [self.connection.deadline(), patience].into_iter().flatten().min()
    }

    /// Numbers have begun anew: what waits to be sent and means something to the peer's new life stays. Answers to its
    /// old life do not, nor the rest of a message whose beginning that life has had.
    pub(crate) fn begin_life(&mut self) -> Lost {
        self.has_begun |= self.connection.is_established();
        self.inbox.restart();
        let mut waiting = BTreeSet::new();
        let (mut is_whole, mut cut) = (false, false);
        self.connection.retain_queued(|m| match m.kind {
            Kind::Stream => {
                is_whole |= m.addr == 0;
                cut |= !is_whole;
                is_whole
            }
            #[cfg(feature = "planted-bugs")]
            Kind::ReadResponse | Kind::WriteResponse => self.planted == Some(crate::PlantedBug::AnswerOldLife),
            #[cfg(not(feature = "planted-bugs"))]
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
