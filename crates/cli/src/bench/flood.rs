//! A stranger who floods a rack with keys while something is measured.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rackloom::MacAddr;
use rackloom_live::{Port, Wire};
use rackloom_node::Frame;
use rackloom_wire::{Claim, Done, Head, Kind, with_trailer};

use crate::failure::{Explain, Result};
use crate::rack::LiveRack;

/// A flood under way. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Flood {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
    began: Instant,
}

impl Flood {
    /// Frames from a port of this rate to the cards and to their host, all in turn: claims, writes and ends of
    /// launches, under their addresses and under others, without a tag and with a wrong one, which costs a tag to find.
    pub(super) fn begin(rack: &LiveRack, host: MacAddr, rate: NonZeroU64) -> Result<Self> {
        let cards: Vec<_> = rack.units().map(|unit| rack.mac(unit)).collect();
        let frames: Vec<_> = cards.iter().flat_map(|card| forged(host, *card)).collect();
        let mut port = rack.attach("stranger")?;
        port.set_rate(rate);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let run = move || send(&mut port, &frames, &stopped);
        let thread = std::thread::Builder::new().name("stranger".to_owned()).spawn(run);
        Ok(Self { stop, thread: Some(thread.during("cannot start a thread")?), began: Instant::now() })
    }

    /// Ends it; frames a second that were sent.
    pub(super) fn end(mut self) -> f64 {
        let time = self.began.elapsed().as_secs_f64();
        self.stop.store(true, Ordering::Relaxed);
        let sent = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        sent as f64 / time
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Sends all of these again and again; how many.
fn send(port: &mut Port, frames: &[Frame], stop: &AtomicBool) -> u64 {
    let (mut sent, mut at, mut heard) = (0, 0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let batch = &frames[at..frames.len().min(at + BATCH)];
        // A segment that is gone takes no frames.
        let Ok(taken) = port.send(batch) else { return sent };
        sent += taken as u64;
        at = (at + taken) % frames.len();
        let wait = if taken < batch.len() { Duration::from_millis(1) } else { Duration::ZERO };
        if port.recv(Some(Instant::now() + wait), &mut heard).is_err() {
            return sent;
        }
        heard.clear();
    }
    sent
}

/// What a stranger sends to a card, and to its host in its name.
fn forged(host: MacAddr, card: MacAddr) -> Vec<Frame> {
    let (claim, done) = ([0; size_of::<Claim>()], [0; size_of::<Done>()]);
    let bodies: [(Kind, &[u8]); 3] =
        [(Kind::SessionClaim, &claim), (Kind::ExecQuery, &[]), (Kind::InputWrite, &[0xee; WRITE_BYTES])];
    let mut frames = Vec::new();
    let mut push = |src: MacAddr, dst: MacAddr, kind: Kind, body: &[u8]| {
        let plain = Head { dst, src, kind, flags: 0, epoch: 1, seq: 1, addr: 0 }.frame(&[body]);
        frames.extend(with_trailer(&plain, 0, |_| Some((COUNTER, [0x5a; 16]))));
        frames.push(plain);
    };
    for (kind, body) in bodies {
        push(host, card, kind, body);
        push(HIMSELF, card, kind, body);
    }
    push(card, host, Kind::ResultDone, &done);
    push(card, host, Kind::ResultData, &[0xee; WRITE_BYTES]);
    push(HIMSELF, host, Kind::ResultDone, &done);
    frames
}

/// Frames that go to the port at a time.
const BATCH: usize = 64;
/// Payload of the long ones.
const WRITE_BYTES: usize = 1408;
/// So high that no window of counters refuses it: the tag has to be computed.
const COUNTER: u64 = 1 << 62;
/// An address of nobody in the rack.
const HIMSELF: MacAddr = MacAddr([2, 0xbd, 0, 0, 0, 1]);
