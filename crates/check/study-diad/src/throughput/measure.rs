//! One point: bytes over time.

use std::collections::VecDeque;

use bytes::Bytes;
use rackloom_bridge::{NotTaken, Rights, Ticket, Window};
use rackloom_node::{Duration, Either, Instant};
use rackloom_rack::Slot;
use rackloom_wire::MacAddr;

use super::options::Options;
use super::report::{Point, Way};
use crate::error::{Result, StudyError, check};
use crate::lab::{CARD_BASE, Lab};
use crate::latencies::Stand;
use crate::latency::{PACKET, pattern};
use crate::peer::PeerEvent;

/// Bytes of memory that requests go round in.
const AREA: usize = 1 << 20;
/// Requests of one message under way.
const MESSAGE_DEPTH: usize = 16;
/// Longest message of a stream.
const STREAM: usize = rackloom_bridge::STREAM_MESSAGE_MAX;

pub(super) fn measure(way: Way, options: &Options) -> Result<Point> {
    let mut lab = Lab::new(options.latencies, options.seed);
    let asker = lab.add_peer(Stand::Fabric, 0);
    let (bytes, took) = match way {
        Way::Stream { bytes } => stream(&mut lab, asker, bytes, options.bytes)?,
        Way::Requests { reads, bytes, depth } => {
            let mut run = Memory::new(&mut lab, asker)?;
            run.go_round(reads, bytes, depth, usize::MAX, options.bytes)?
        }
        Way::Messages { bytes } => {
            let mut run = Memory::new(&mut lab, asker)?;
            run.go_round(false, PACKET, MESSAGE_DEPTH, bytes, options.bytes)?
        }
    };
    Ok(Point::new(way, bytes, took, &options.latencies))
}

/// A node that reads and writes a card's memory.
struct Memory<'a> {
    lab: &'a mut Lab,
    asker: Slot,
    card: MacAddr,
    content: Bytes,
}

impl<'a> Memory<'a> {
    fn new(lab: &'a mut Lab, asker: Slot) -> Result<Self> {
        let card = lab.add_card(|_| {})?;
        lab.open(card, 0, CARD_BASE, AREA as u64, Rights::READ | Rights::WRITE)?;
        let content = pattern(AREA, 0);
        Ok(Self { lab, asker, card: card.mac, content })
    }

    /// Requests of `bytes` from the area's beginning to its end and again, `depth` at a time; where a message of
    /// `message` bytes ends, the next one waits for its last answer. The bytes, and the time.
    fn go_round(
        &mut self,
        reads: bool,
        bytes: usize,
        depth: usize,
        message: usize,
        total: usize,
    ) -> Result<(usize, Duration)> {
        if reads {
            self.lab.write(self.asker, self.card, CARD_BASE, &self.content.clone(), PACKET)?;
        } else {
            // Both ends know each other.
            self.lab.write(self.asker, self.card, CARD_BASE, &self.content.slice(..8), PACKET)?;
        }
        self.lab.rest(Duration::from_micros(200));
        let start = self.lab.now();
        let mut open: VecDeque<(Ticket, usize)> = VecDeque::new();
        let (mut begun, mut done) = (0, 0);
        while done < total {
            let ends = if message == usize::MAX { total } else { (done / message + 1) * message };
            while open.len() < depth && begun < ends.min(total) {
                let at = begun % (AREA - AREA % bytes);
                let (ticket, length) = self.begin(reads, at, bytes.min(ends - begun))?;
                open.push_back((ticket, at));
                begun += length;
            }
            // Answers come in the order of the requests.
            let (ticket, at) = open.pop_front().expect("something is under way");
            let answer = self.lab.finish(self.asker, ticket)?;
            let length = if reads { answer.len() } else { bytes.min(ends - done) };
            let is_right = !reads || answer == self.content.slice(at..at + length);
            check(is_right, || format!("{length} bytes read at {at} are others"))?;
            done += length;
        }
        let took = self.lab.now() - start;
        if !reads {
            let written = total.min(AREA - AREA % bytes);
            let there = self.lab.read(self.asker, self.card, CARD_BASE, written, PACKET)?;
            check(there == self.content.slice(..written), || "what was written is not there".into())?;
        }
        Ok((done, took))
    }

    fn begin(&mut self, reads: bool, at: usize, length: usize) -> Result<(Ticket, usize)> {
        let (card, addr) = (self.card, CARD_BASE + at as u64);
        let part = self.content.slice(at..at + length);
        let begun = self.lab.with(self.asker, |peer, now| match reads {
            true => peer.endpoint.read(now, card, addr, length as u32),
            false => peer.endpoint.write(now, card, addr, part),
        });
        Ok((begun?, length))
    }
}

/// Messages to another fabric's stream, as fast as they are taken: the bytes, and the time from the first frame to the
/// end of the last message.
fn stream(lab: &mut Lab, from: Slot, bytes: usize, total: usize) -> Result<(usize, Duration)> {
    let to = lab.add_peer(Stand::Fabric, 0);
    let window = Window { base: 0, length: 1, peer: MacAddr::ZERO, rights: Rights::STREAM };
    lab.with(to, |peer, _| peer.endpoint.windows().set(0, Some(window)));
    let message = pattern(bytes.min(STREAM), 1);
    lab.with(from, |peer, now| peer.endpoint.send(now, to.mac, 0, &message.slice(..8)))?;
    lab.rest(Duration::from_micros(200));
    let start = lab.now();
    // Small messages cost time to simulate and soon show their rate.
    let count = total.div_ceil(message.len()).min(MESSAGES_MAX);
    let (mut sent, mut heard) = (0, 0);
    let mut end = start;
    while heard < count {
        lab.with(from, |peer, now| {
            while sent < count {
                match peer.endpoint.send(now, to.mac, 0, &message) {
                    Err(NotTaken::Full) => break,
                    taken => taken?,
                }
                sent += 1;
            }
            Ok::<(), StudyError>(())
        })?;
        // The queue has room again at the latest when the half of it has arrived.
        end = next_message(lab, to, &message)?;
        heard += 1;
    }
    Ok((count * message.len(), end - start))
}

fn next_message(lab: &mut Lab, to: Slot, message: &Bytes) -> Result<Instant> {
    let mut is_right = false;
    let at = lab.run_until("a message", |node, told| match told {
        Either::A(Either::B(PeerEvent::Message(_, _, bytes))) if node == to.node => {
            is_right = bytes == message;
            true
        }
        _ => false,
    })?;
    check(is_right, || "a message has changed on its way".into())?;
    Ok(at)
}

/// Messages of a measurement.
const MESSAGES_MAX: usize = 20_000;
