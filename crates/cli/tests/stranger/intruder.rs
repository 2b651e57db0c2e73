//! A stranger on a live segment: a member like any other, who hears everything and answers it with attacks.
//!
//! A switch brings frames only to whom they are for. So he first fills its table with addresses that nobody has: what
//! it cannot look up it brings to everybody, as a hub does. Then he hears all, and frames under others' addresses draw
//! nothing away from them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rackloom_live::Wire;
use rackloom_live::segment::{SegmentClient, SegmentPath};
use rackloom_node::{Frame, Rng};
use rackloom_stranger::{Attack, Stranger};
use rackloom_wire::{Counter, FromBytes, Head, Kind, MacAddr, Tagged, U64};

use crate::common::Rack;

/// Addresses in the table of a segment's switch, and some more.
const TABLE: usize = 4096 + 64;
/// Most frames that wait to be sent: if the segment takes no more, he forgets the rest.
const MIND_MAX: usize = 2048;
/// How long anything here may take on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Intruder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    path: SegmentPath,
}

struct Shared {
    stranger: Mutex<Stranger>,
    attacks: Mutex<Vec<&'static Attack>>,
    /// Frames that he sends again, a few upon each that he hears.
    recorded: Mutex<VecDeque<Frame>>,
    sent: AtomicU64,
    /// Times that he has had nothing left to send.
    rests: AtomicU64,
    stop: AtomicBool,
}

impl Intruder {
    /// Joins the rack's segment and makes a hub of it.
    pub fn join(rack: &Rack, cards: &[MacAddr], stranger: Stranger) -> Self {
        let path = SegmentPath::under(&rack.path("run"), "default").unwrap();
        let wire = overflow(&path, cards);
        let shared = Arc::new(Shared {
            stranger: Mutex::new(stranger),
            attacks: Mutex::default(),
            recorded: Mutex::default(),
            sent: AtomicU64::new(0),
            rests: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        });
        let his = Arc::clone(&shared);
        let thread = std::thread::spawn(move || his.live(wire));
        Self { shared, thread: Some(thread), path }
    }

    /// From now on he does this.
    pub fn attack(&self, attacks: &[&'static Attack]) {
        if attacks.is_empty() {
            self.shared.recorded.lock().unwrap().clear();
        }
        *self.shared.attacks.lock().unwrap() = attacks.to_vec();
    }

    /// From now on he only listens; what he had in mind he has sent when this returns.
    pub fn rest(&self) {
        self.attack(&[]);
        self.shared.recorded.lock().unwrap().clear();
        let (rests, until) = (|| self.shared.rests.load(Ordering::Acquire), Instant::now() + PATIENCE);
        // The first may have begun before.
        let enough = rests() + 2;
        while rests() < enough {
            assert!(Instant::now() < until, "he does not come to rest");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// From now on he sends all again that he has heard so far, three frames upon each that he hears.
    pub fn replay(&self) {
        let heard = self.shared.stranger.lock().unwrap().heard().cloned().collect();
        *self.shared.recorded.lock().unwrap() = heard;
    }

    /// Frames that he has sent.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::Relaxed)
    }

    /// A card's counters, which anybody may ask for.
    pub fn counters(&self, card: MacAddr) -> Vec<u64> {
        let (src, seq) = (MacAddr([2, 0xbd, 0, 0, 0, 1]), 77);
        let head = Head { dst: card, src, kind: Kind::SessionCountersGet, flags: 0, epoch: 0, seq, addr: 0 };
        let (until, mut wire) = (Instant::now() + PATIENCE, SegmentClient::connect(&self.path).unwrap());
        loop {
            send_all(&mut wire, &[head.frame(&[])]);
            let mut found = None;
            listen(&mut wire, Duration::from_millis(200), |frame| {
                let Ok(Tagged { packet, .. }) = Tagged::parse(frame) else { return false };
                let is_answer = packet.head.kind == Kind::SessionCounters && packet.head.dst == src;
                if is_answer && packet.head.src == card {
                    let values = <[U64]>::ref_from_bytes(packet.payload).expect("whole counters");
                    found = Some(values.iter().map(|v| v.get()).collect::<Vec<_>>());
                }
                found.is_some()
            });
            match found {
                Some(values) if values.len() >= Counter::COUNT => return values,
                _ => assert!(Instant::now() < until, "{card} does not tell its counters"),
            }
        }
    }
}

impl Drop for Intruder {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()));
    }
}

impl Shared {
    fn live(&self, mut wire: SegmentClient) {
        let (mut heard, mut mind) = (Vec::new(), Vec::new());
        while !self.stop.load(Ordering::Relaxed) {
            // The rack may go before him.
            if wire.recv(Some(Instant::now() + Duration::from_millis(5)), &mut heard).is_err() {
                return;
            }
            let attacks = self.attacks.lock().unwrap().clone();
            let mut stranger = self.stranger.lock().unwrap();
            for frame in heard.drain(..) {
                stranger.hear(&frame);
                mind.extend(attacks.iter().flat_map(|attack| stranger.attack(attack)));
                let mut recorded = self.recorded.lock().unwrap();
                let some = recorded.len().min(3);
                mind.extend(recorded.drain(..some));
            }
            drop(stranger);
            mind.truncate(MIND_MAX);
            let Ok(sent) = wire.send(&mind) else { return };
            self.sent.fetch_add(sent as u64, Ordering::Relaxed);
            mind.drain(..sent);
            self.rests.fetch_add(u64::from(mind.is_empty()), Ordering::Release);
        }
    }
}

/// Fills the table of the segment's switch; the wire on which it was done, and hears everything.
fn overflow(path: &SegmentPath, cards: &[MacAddr]) -> SegmentClient {
    let mut wire = SegmentClient::connect(path).unwrap();
    let (mut rng, own) = (Rng::new(1), MacAddr([2, 0xbd, 0, 0, 0, 2]));
    let mut fill = |wire: &mut SegmentClient, many: usize| {
        // To himself, at his own port: nobody else gets them.
        let frames: Vec<_> = (0..many).map(|_| plain(own, invented(&mut rng))).collect();
        send_all(wire, &frames);
    };
    send_all(&mut wire, &[plain(own, own)]);
    fill(&mut wire, TABLE);
    let until = Instant::now() + PATIENCE;
    loop {
        // Who sends under an address draws it to his port, and when he goes, the switch forgets it.
        let mut thief = SegmentClient::connect(path).unwrap();
        let stolen: Vec<_> = cards.iter().map(|card| plain(own, *card)).collect();
        send_all(&mut thief, &stolen);
        listen(&mut wire, Duration::from_millis(10), |_| false);
        drop(thief);
        listen(&mut wire, Duration::from_millis(10), |_| false);
        fill(&mut wire, 64);
        // What is for a card comes to everybody now; if not, the card has said something in between.
        let mut scout = SegmentClient::connect(path).unwrap();
        let from = MacAddr([2, 0xbd, 0, 0, 0, 3]);
        let probes: Vec<_> = cards.iter().map(|card| plain(*card, from)).collect();
        send_all(&mut scout, &probes);
        let mut come = 0;
        listen(&mut wire, Duration::from_millis(50), |frame| {
            come += usize::from(frame[6..12] == from.0);
            come == cards.len()
        });
        if come == cards.len() {
            return wire;
        }
        assert!(Instant::now() < until, "the segment's switch is no hub: {come} of {} cards", cards.len());
    }
}

/// A frame of no family of ours.
fn plain(dst: MacAddr, src: MacAddr) -> Frame {
    let head = [&dst.0[..], &src.0, &[0x88, 0xb5]].concat();
    [&head[..], &[0; 46]].concat().into()
}

fn invented(rng: &mut Rng) -> MacAddr {
    let [a, b, c, d, e, ..] = rng.next_u64().to_be_bytes();
    MacAddr([0x0a, a, b, c, d, e])
}

/// Sends all of these, and reads on while the segment takes no more.
fn send_all(wire: &mut SegmentClient, frames: &[Frame]) {
    let (mut sent, mut heard, until) = (0, Vec::new(), Instant::now() + PATIENCE);
    while sent < frames.len() {
        sent += wire.send(&frames[sent..]).unwrap();
        wire.recv(Some(Instant::now() + Duration::from_millis(u64::from(sent < frames.len()))), &mut heard).unwrap();
        heard.clear();
        assert!(Instant::now() < until, "the segment takes no frames");
    }
}

/// Reads for this long, or until `is_it` has found what it looks for.
fn listen(wire: &mut SegmentClient, time: Duration, mut is_it: impl FnMut(&Frame) -> bool) {
    let (until, mut heard) = (Instant::now() + time, Vec::new());
    while Instant::now() < until {
        wire.recv(Some(until), &mut heard).unwrap();
        if heard.drain(..).any(|frame| is_it(&frame)) {
            return;
        }
    }
}
