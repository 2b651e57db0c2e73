//! What comes from peers: frames, and the payloads that connections deliver.

use bytes::Bytes;
use rackloom_node::Instant;
use rackloom_wire::bridge::{BridgeStatus, CHANNEL_STREAMS, Kind};
use rackloom_wire::{BridgePacket, Ipv6Error, ParseError};

use crate::codec::{Key, decode};
use crate::endpoint::{Endpoint, EndpointEvent};
use crate::message::Message;
use crate::serve::{Target, serve};
use crate::transactions::Failure;
use crate::window::Rights;

impl Endpoint {
    /// A frame of the bridge's family has come. `target` is this node's memory.
    pub fn handle_frame(&mut self, now: Instant, frame: &Bytes, target: &mut dyn Target) {
        self.counters.rx += 1;
        let packet = match BridgePacket::parse(frame) {
            Ok(packet) if packet.head.dst == self.config.mac && self.may_be_peer(packet.head.src) => packet,
            Err(ParseError::Ipv6(Ipv6Error::Length { .. })) => return self.counters.malformed += 1,
            Ok(_) | Err(ParseError::Foreign(_) | ParseError::Ipv6(_)) => return self.counters.foreign += 1,
            Err(_) => return self.counters.malformed += 1,
        };
        let Some((key, segment)) = decode(frame, &packet) else { return self.counters.malformed += 1 };
        if self.peers.get(&key).is_none() {
            // Nobody who may do nothing here costs a place in the table, or an answer.
            if !self.windows.admits(key.peer, key.channel == CHANNEL_STREAMS) {
                return self.counters.denied += 1;
            }
            self.admit(now, key);
        }
        let link = self.peers.get_mut(&key).expect("it was there or is admitted");
        let has_room = link.has_room_for(&segment);
        #[cfg(feature = "planted-bugs")]
        let has_room = has_room || self.planted == Some(crate::PlantedBug::PileUp);
        if !has_room {
            return self.counters.denied += 1;
        }
        let is_duplicate = segment.data.as_ref().is_some_and(|d| link.connection.has(d.seq));
        let in_flight = link.connection.in_flight();
        let received = match link.connection.handle(now, segment) {
            Ok(received) => received,
            Err(_) => return self.counters.malformed += 1,
        };
        if received.is_stale {
            self.counters.stale += 1;
        } else if is_duplicate && !received.restarted {
            self.counters.duplicates += 1;
        }
        let progresses = received.restarted || link.connection.in_flight() < in_flight;
        if progresses || !received.is_stale && !link.owes() {
            link.gives_up = now + self.config.patience;
        }
        // A place that was confirmed lately need not be confirmed for each frame.
        let is_kept = link.kept.is_some_and(|at| now - at < self.config.peers.idle / 8);
        if link.connection.is_established() && !is_kept && !self.keep(now, key) {
            return self.counters.denied += 1;
        }
        if received.restarted {
            let link = self.peers.get_mut(&key).expect("it has a place");
            #[cfg(feature = "planted-bugs")]
            if let Some(bug) = self.planted {
                link.suffer_life(bug, &received.lost);
            }
            let lost = link.begin_life();
            if key.channel == CHANNEL_STREAMS && (lost.cut || !received.lost.is_empty()) {
                self.events.push_back(EndpointEvent::StreamsLost { peer: key.peer });
            }
            self.fail(lost.tickets, Failure::Restarted);
        }
        for message in received.payloads {
            if !self.deliver(now, key, &message, target) {
                return;
            }
        }
        self.settle(key);
    }

    /// A payload has come, in its turn. False if the peer has broken the rules, and its connection has ended.
    fn deliver(&mut self, now: Instant, key: Key, message: &Message, target: &mut dyn Target) -> bool {
        let link = self.peers.get_mut(&key).expect("it speaks");
        if key.channel == CHANNEL_STREAMS {
            let permitted = message.kind == Kind::Stream
                && self.windows.check(key.peer, message.tag.into(), 1, Rights::STREAM).is_ok();
            if !permitted || link.inbox.push(message).is_err() {
                self.counters.denied += 1;
                self.cut_off(now, key);
                return false;
            }
            #[cfg(feature = "planted-bugs")]
            if self.planted == Some(crate::PlantedBug::CreditAtOnce) {
                link.connection.consume(now, 1);
            }
            if link.inbox.front().is_some() && !link.has_inbox_turn {
                link.has_inbox_turn = true;
                self.inboxes.push_back(key);
            }
            return true;
        }
        link.connection.consume(now, 1);
        match message.kind {
            Kind::ReadResponse | Kind::WriteResponse => {
                match link.transactions.complete(message) {
                    Some((ticket, result)) => {
                        link.gives_up = now + self.config.patience;
                        self.events.push_back(EndpointEvent::Done { ticket, result });
                    }
                    None => self.counters.malformed += 1,
                }
                return true;
            }
            Kind::ReadRequest | Kind::WriteRequest | Kind::AtomicRequest | Kind::WriteBatch => {}
            Kind::Stream | Kind::Ack | Kind::Nack | Kind::Unack => {
                self.counters.malformed += 1;
                self.drop_link(key);
                return false;
            }
        }
        #[cfg(feature = "planted-bugs")]
        let windows = &match self.planted {
            Some(crate::PlantedBug::IgnorePeer) => self.windows.for_anybody(),
            _ => self.windows.clone(),
        };
        #[cfg(feature = "planted-bugs")]
        if self.planted == Some(crate::PlantedBug::TornBatch) {
            crate::serve::tear_batch(windows, target, key.peer, message);
        }
        #[cfg(not(feature = "planted-bugs"))]
        let windows = &self.windows;
        let answer = serve(windows, target, key.peer, message, self.config.longest.into());
        match BridgeStatus::from_wire(answer.tag) {
            Some(BridgeStatus::Ok | BridgeStatus::MemoryFailed) => self.counters.served += 1,
            Some(BridgeStatus::Malformed) => self.counters.malformed += 1,
            _ => self.counters.denied += 1,
        }
        // Each request that may yet begin here keeps its place in the queue.
        if link.connection.queue_room() <= link.transactions.room() {
            // It asks for more at once than it may.
            self.counters.denied += 1;
            self.drop_link(key);
            return false;
        }
        link.connection.push(answer).unwrap_or_else(|_| unreachable!("there is room"));
        true
    }
}
