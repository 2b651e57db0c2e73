//! An endpoint and those who wait for it, as one node.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex};

use rackloom_bridge::{Endpoint, EndpointEvent, NoMemory, Ticket, Window};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_sync::lock;
use rackloom_wire::{Family, MacAddr};

use crate::RmaError;

use super::message_queue::Incoming;
use super::transfer::{Part, Transfer};

/// Transfers of one peer, and streams of this node.
#[derive(Default)]
pub(super) struct Waiting {
    transfers: BTreeMap<u64, (MacAddr, Transfer)>,
    streams: BTreeMap<u16, SyncSender<Incoming>>,
}

/// Outlives the node's thread for as long as anybody could still wait; dropping its contents ends all waiting.
pub(super) type SharedWaiting = Arc<Mutex<Waiting>>;

/// Ends all waiting when the node's wire is gone.
pub(super) struct LastWord(pub(super) SharedWaiting);

impl Drop for LastWord {
    fn drop(&mut self) {
        // Not under the lock: a completion may run a user's code.
        let left = std::mem::take(&mut *lock(&self.0));
        drop(left);
    }
}

/// What goes to one peer in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    peer: MacAddr,
    is_stream: bool,
}

/// The node.
pub(super) struct RmaNode {
    endpoint: Endpoint,
    waiting: SharedWaiting,
    next: u64,
    /// The transfer, and the offset in it, of each request under way.
    requests: BTreeMap<Ticket, (u64, u64)>,
    /// Transfers of which not all parts have begun, in order: of each peer those of memory and those of streams apart,
    /// since a peer that takes no messages still answers requests.
    to_begin: BTreeMap<Lane, VecDeque<u64>>,
    /// Peers to which messages may have been lost since the last flush.
    lost: BTreeSet<MacAddr>,
}

impl RmaNode {
    pub(super) const fn new(endpoint: Endpoint, waiting: SharedWaiting) -> Self {
        Self { endpoint, waiting, next: 0, requests: BTreeMap::new(), to_begin: BTreeMap::new(), lost: BTreeSet::new() }
    }

    pub(super) fn begin(&mut self, now: Instant, peer: MacAddr, transfer: Transfer) {
        let id = self.next;
        self.next += 1;
        let lane = Lane { peer, is_stream: transfer.is_stream() };
        lock(&self.waiting).transfers.insert(id, (peer, transfer));
        self.to_begin.entry(lane).or_default().push_back(id);
        self.go_on(now, lane);
    }

    /// Begins what the peer has room for.
    fn go_on(&mut self, now: Instant, lane: Lane) {
        let peer = lane.peer;
        let mut over = Vec::new();
        let mut waiting = lock(&self.waiting);
        let Some(queue) = self.to_begin.get_mut(&lane) else { return };
        while let Some(&id) = queue.front() {
            // It is gone if the last word was said.
            let Some((_, transfer)) = waiting.transfers.get_mut(&id) else {
                queue.pop_front();
                continue;
            };
            if transfer.is_flush() && self.lost.remove(&peer) {
                transfer.fail(RmaError::MessagesLost);
            }
            match transfer.begin(now, &mut self.endpoint, peer) {
                Part::Begun(ticket, offset) => _ = self.requests.insert(ticket, (id, offset)),
                Part::Later => break,
                Part::All => {
                    queue.pop_front();
                    if transfer.is_over() {
                        over.extend(waiting.transfers.remove(&id));
                    }
                }
            }
        }
        if queue.is_empty() {
            self.to_begin.remove(&lane);
        }
        drop(waiting);
        over.into_iter().for_each(|(peer, transfer)| transfer.conclude(peer));
    }

    fn settle(&mut self, now: Instant, event: EndpointEvent) {
        let (ticket, result) = match event {
            EndpointEvent::Done { ticket, result } => (ticket, result),
            EndpointEvent::StreamsLost { peer } => {
                self.lost.insert(peer);
                return;
            }
        };
        let Some((id, offset)) = self.requests.remove(&ticket) else { return };
        let mut waiting = lock(&self.waiting);
        let Some((peer, transfer)) = waiting.transfers.get_mut(&id) else { return };
        let peer = *peer;
        transfer.settle(offset, result);
        let over = if transfer.is_over() { waiting.transfers.remove(&id) } else { None };
        drop(waiting);
        if let Some((peer, transfer)) = over {
            transfer.conclude(peer);
        }
        self.go_on(now, Lane { peer, is_stream: false });
    }

    /// Opens a stream; false if it is open.
    pub(super) fn open_stream(&mut self, stream: u16, window: Window, queue: SyncSender<Incoming>) -> bool {
        let mut waiting = lock(&self.waiting);
        if waiting.streams.contains_key(&stream) {
            return false;
        }
        // A node has as many windows as streams, and this one opens no memory.
        self.endpoint.windows().set(stream.into(), Some(window));
        waiting.streams.insert(stream, queue);
        true
    }

    pub(super) fn close_stream(&mut self, now: Instant, stream: u16) {
        self.endpoint.windows().set(stream.into(), None);
        lock(&self.waiting).streams.remove(&stream);
        self.hand_over(now);
    }

    /// Messages go to those who wait for them, as far as there is room.
    pub(super) fn hand_over(&mut self, now: Instant) {
        let waiting = lock(&self.waiting);
        let mut left = self.endpoint.inboxes();
        while left > 0
            && let Some((peer, stream, bytes)) = self.endpoint.message()
        {
            let sent = waiting.streams.get(&stream).map(|queue| queue.try_send((peer, bytes.clone())));
            if let Some(Err(TrySendError::Full(_))) = sent {
                self.endpoint.skip_message();
                left -= 1;
            } else {
                self.endpoint.take_message(now);
                left = self.endpoint.inboxes();
            }
        }
    }

    fn after(&mut self, now: Instant) {
        while let Some(event) = self.endpoint.next_event() {
            self.settle(now, event);
        }
        self.hand_over(now);
        let lanes: Vec<_> = self.to_begin.keys().copied().collect();
        lanes.into_iter().for_each(|lane| self.go_on(now, lane));
    }
}

impl Node for RmaNode {
    type Event = ();

    fn handle_frame(&mut self, now: Instant, _: Port, frame: Frame) {
        if Family::of(&frame) == Some(Family::Bridge) {
            self.endpoint.handle_frame(now, &frame, &mut NoMemory);
            self.after(now);
        }
    }

    fn handle_starvation(&mut self) {
        self.endpoint.handle_starvation();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.endpoint.handle_timeout(now);
        self.after(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<()>> {
        self.endpoint.poll(now).map(|frame| Output::Transmit(0, frame))
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.endpoint.deadline()
    }
}
