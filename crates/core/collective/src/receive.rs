//! What comes over a link.

use bytes::Bytes;
use rackloom_node::{Instant, Port};
use rackloom_wire::link::{CONTEXTS, Kind, Neighbour};
use rackloom_wire::{FromBytes, LinkPacket};

use crate::context::Context;
use crate::memory::Memory;
use crate::message::{Message, decode};
use crate::report::Cause;
use crate::sequencer::Sequencer;

impl Sequencer {
    /// A frame has come at a port that is a link.
    pub fn handle_frame(&mut self, now: Instant, port: Port, frame: &Bytes, memory: &mut dyn Memory) {
        self.counters.rx += 1;
        let Some(at) = self.links.iter().position(|link| link.port == port) else {
            return self.counters.malformed += 1;
        };
        let packet = LinkPacket::parse(frame).ok().filter(|packet| {
            // A cable whose two ends are in one port, or a loop behind it, is no link.
            !packet.head.src.is_multicast() && packet.head.src != self.links[at].mac
        });
        let segment = packet.and_then(|packet| decode(frame, &packet));
        let Some(segment) = segment else { return self.counters.malformed += 1 };
        let link = &mut self.links[at];
        let Ok(received) = link.connection.handle(now, segment) else { return self.counters.malformed += 1 };
        if received.is_stale {
            self.counters.stale += 1;
        } else if link.dead_at.is_some() {
            link.dead_at = Some(now + self.config.patience);
        }
        if received.restarted && link.has_begun {
            link.forget();
            link.has_begun = false;
            self.fail_at(port, Cause::Restarted);
            // Programs that come to it later learn it then, those among them that have not begun.
            let begun = self.contexts.iter_mut().flatten().map(|context| &mut context.anew);
            begun.chain(self.expected.iter_mut().map(|(_, anew)| anew)).for_each(|anew| *anew |= 1 << port);
        }
        let link = &mut self.links[at];
        if link.connection.is_established() && !link.has_begun {
            link.has_begun = true;
            // The neighbour learns who is here.
            link.beat(&self.config);
        }
        for message in received.payloads {
            // Taken at once, whatever becomes of it.
            self.links[at].connection.consume(now, 1);
            if !self.deliver(at, &message, memory) {
                self.counters.stray += 1;
            }
        }
    }

    /// A payload has come, in its turn. False: nothing has become of it.
    fn deliver(&mut self, at: usize, message: &Message, memory: &mut dyn Memory) -> bool {
        let (port, key) = (self.links[at].port, message.key);
        if message.slot >= CONTEXTS {
            return false;
        }
        let slot = usize::from(message.slot);
        match message.kind {
            Kind::LinkData => self.take_data(at, message, memory),
            Kind::LinkReady => {
                let put = self.contexts.iter_mut().flatten().find_map(|context| {
                    let put = context.puts.iter_mut().find(|p| p.link == port && p.key == key)?;
                    Some((put, &mut context.is_ready))
                });
                match put {
                    Some((put, _)) => put.may_go = true,
                    None => self.links[at].early[slot].ready = Some(key),
                }
                true
            }
            Kind::LinkDone => self.contexts.iter_mut().flatten().any(|context| {
                let Some(i) = context.puts.iter().position(|p| p.link == port && p.key == key) else { return false };
                if context.puts[i].is_sent && context.puts[i].length == message.total {
                    context.puts.remove(i);
                    context.is_ready = true;
                } else {
                    context.fail(Cause::Protocol, port);
                }
                true
            }),
            Kind::LinkFailed => {
                let mut concerned = self.contexts.iter_mut().flatten().filter(|c| c.key(0).is_with(key));
                match concerned.find(|c| c.awaits(port)) {
                    Some(context) => context.fail(Cause::PeerFailed, port),
                    None => self.links[at].early[slot].failed = Some(key),
                }
                true
            }
            Kind::LinkBeat => {
                let Ok(body) = Neighbour::ref_from_bytes(&message.payload) else { return false };
                self.links[at].neighbour = Some((body.mac, body.port));
                self.contexts.iter_mut().flatten().filter(|c| c.survey.is_some()).for_each(|c| c.is_ready = true);
                true
            }
            Kind::LinkAck | Kind::LinkNack | Kind::LinkUnack => false,
        }
    }

    /// Bytes of a message: to where a command takes them, or kept if they are few.
    fn take_data(&mut self, at: usize, message: &Message, memory: &mut dyn Memory) -> bool {
        let (port, key) = (self.links[at].port, message.key);
        #[cfg(feature = "planted-bugs")]
        let planted = self.planted;
        let is_it = |context: &Context| {
            context.fault.is_none()
                && context.takes.iter().any(|t| {
                    #[cfg(feature = "planted-bugs")]
                    if planted == Some(crate::PlantedBug::WrongGroup) {
                        return t.link == port && t.key.tag == key.tag;
                    }
                    t.link == port && t.key == key
                })
        };
        let Some(context) = self.contexts.iter_mut().flatten().find(|c| is_it(c)) else {
            #[cfg(feature = "planted-bugs")]
            if planted == Some(crate::PlantedBug::LostSignal) {
                self.links[at].early[usize::from(message.slot)].messages.retain(|kept| kept.total > 0);
            }
            return self.links[at].keep(message);
        };
        let i = context.takes.iter().position(|t| t.link == port).expect("it takes this message");
        let take = &mut context.takes[i];
        if message.total != take.length {
            context.fail(Cause::Mismatch, port);
            return true;
        }
        let length = message.payload.len() as u32;
        if message.offset != take.come || length > take.length - take.come {
            context.fail(Cause::Protocol, port);
            return true;
        }
        if memory.write(take.addr + u64::from(take.come), &message.payload).is_err() {
            context.fail(Cause::MemoryFailed, 0);
            return true;
        }
        take.come += length;
        #[cfg(feature = "planted-bugs")]
        let is_early = planted == Some(crate::PlantedBug::EarlyCompletion);
        #[cfg(not(feature = "planted-bugs"))]
        let is_early = false;
        if take.come == take.length || is_early {
            let (taken, length) = (take.key, take.length);
            context.takes.swap_remove(i);
            context.is_ready = true;
            self.links[at].say(Message::word(Kind::LinkDone, 0, taken, length));
        }
        true
    }
}
