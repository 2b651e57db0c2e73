//! A card on a bench: one cable, a clock, and everything that came out.

mod payloads;

use std::collections::VecDeque;

use rackloom_card::{Config, Pace};
use rackloom_node::{Duration, Frame, Instant, Node, Output, Port};
use rackloom_wire::{
    self as wire, Announce, CARDS, CardState, Counter, ErrorCode, Family, FromBytes, Head, IntoBytes, Kind, MacAddr,
    Packet, Solicit, U16, U32, U64,
};

pub use self::payloads::{Out, ack_body, begin_body, launch_payload};
use crate::{Specimen, images};

/// The card's address.
pub const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
/// The host whose card it is, most of the time.
pub const HOST: MacAddr = MacAddr([2, 0, 0, 0, 9, 9]);
/// A host that would have it.
pub const RIVAL: MacAddr = MacAddr([2, 0, 0, 0, 8, 8]);
/// Who looks at counters and announcements, and at nothing else.
pub const OBSERVER: MacAddr = MacAddr([2, 0, 0, 0, 7, 7]);
/// Bytes of the hosts' memory: little, for gateware takes its time to zero it.
pub const MEMORY: u64 = 2 << 20;
/// First byte that a host may touch.
pub const BASE: u64 = wire::ROLE_PRIVATE;
/// Group of the claim.
pub const CLAIM_GROUP: u16 = 0x77;
/// Group of loads.
pub const GROUP: u16 = 0x1234;
/// What hosts take in a frame, in beats: more than any card sends.
pub const BEATS: u8 = (wire::BULK_JUMBO / wire::BEAT) as u8;
/// Payload bytes of an image's frames.
pub const CHUNK: u16 = wire::BULK_STANDARD;

/// A frame that the card sent.
#[derive(Debug, Clone)]
pub struct Sent {
    /// When it came.
    pub at: Instant,
    /// Its head.
    pub head: Head,
    /// Its payload.
    pub payload: Vec<u8>,
}

impl Sent {
    /// What its payload begins with.
    pub fn body<T: FromBytes>(&self) -> T {
        T::read_from_prefix(&self.payload).expect("a payload of its kind").0
    }

    /// The code of a refusal, failure or result.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::from_wire(u16::from_be_bytes([self.payload[0], self.payload[1]])).expect("a code of the protocol")
    }
}

/// A card on a bench.
#[derive(Debug)]
pub struct Bench<S: Node> {
    /// The card.
    pub card: S,
    /// The time.
    pub now: Instant,
    /// Epoch of the present claim.
    pub epoch: u16,
    /// Most payload bytes that the card may send in a frame; [`CHUNK`] unless set.
    pub bulk: u16,
    /// Ports that it may send on: port 0 alone unless set.
    pub ports: u8,
    /// A host is behind the card: what leaves at port 0 may be the host's.
    pub passes: bool,
    /// What the card said on port 0 and was not looked at.
    pub sent: VecDeque<Sent>,
    /// What came on its other ports, what passed to port 0, and frames of the bridge.
    pub others: Vec<(Port, Frame)>,
    /// The card goes on by itself for ever: whoever lets time pass does not wait until it rests.
    pub restless: bool,
    /// What it reported beside its frames: gateware what its role does, models more.
    pub events: Vec<S::Event>,
}

/// The configuration of a card on a bench. It has no bridge: `tests/bridge` is for cards that have one.
pub fn config() -> Config {
    let base = Config { bridge: false, ..Config::new(CARD, Pace::Virtual) };
    Config { memory: MEMORY, staging_max: 2 << 20, digest_rate: 0, fuel_max: 1 << 30, ..base }
}

impl<S: Specimen> Bench<S> {
    /// A card that was just switched on.
    pub fn new(config: Config) -> Self {
        Self::of(S::plug(config))
    }

    /// A card that is switched on now.
    pub fn of(card: S) -> Self {
        let (sent, others, events) = (VecDeque::new(), Vec::new(), Vec::new());
        let (now, passes, restless) = (Instant::ZERO, false, false);
        let mut bench = Self { card, now, epoch: 0, bulk: CHUNK, ports: 1, passes, sent, others, restless, events };
        bench.drain();
        bench
    }

    /// Claimed by `HOST`, with nothing left to look at.
    pub fn claimed() -> Self {
        Self::claimed_with(config())
    }

    /// As [`claimed`](Self::claimed).
    pub fn claimed_with(config: Config) -> Self {
        let mut bench = Self::new(config);
        bench.claim(HOST, 1);
        bench.clear();
        bench
    }

    /// As [`claimed`](Self::claimed), with `probe` active.
    pub fn with_role() -> Self {
        Self::with_role_and(config())
    }

    /// As [`with_role`](Self::with_role).
    pub fn with_role_and(config: Config) -> Self {
        let mut bench = Self::claimed_with(config);
        bench.load(1, &images::probe(1, 0));
        bench.clear();
        bench
    }

    /// Takes everything that the card has to say now, and lets it do nothing else. Returns whether a frame was there.
    pub fn take(&mut self) -> bool {
        let mut came = false;
        while let Some(output) = self.card.poll(self.now) {
            match output {
                Output::Transmit(0, frame) if Family::of(&frame) == Some(Family::Bridge) => {
                    self.others.push((0, frame));
                }
                Output::Transmit(0, frame) if !self.passes || frame[6..12] == CARD.0 => {
                    self.sent.push_back(self.received(&frame));
                }
                Output::Transmit(port, frame) => {
                    assert!(port < self.ports, "a frame on port {port}");
                    self.others.push((port, frame));
                }
                Output::Event(event) => {
                    self.events.push(event);
                    continue;
                }
            }
            came = true;
        }
        self.card.check();
        came
    }

    /// Takes everything that the card has to say now. A card that computes is given a while.
    pub fn drain(&mut self) {
        let mut rounds = 0;
        loop {
            if self.take() {
                rounds = 0;
            }
            if rounds == PATIENCE || self.card.next_deadline().is_none_or(|at| at > self.now) {
                return;
            }
            self.card.handle_timeout(self.now);
            rounds += 1;
        }
    }

    /// Forgets all that came.
    pub fn clear(&mut self) {
        self.sent.clear();
        self.others.clear();
        self.events.clear();
    }

    /// As [`drain`](Self::drain), until the card has come to rest.
    ///
    /// # Panics
    /// If it does not.
    pub fn settle(&mut self) {
        for _ in 0..PATIENCE_TO_REST {
            self.drain();
            if self.card.next_deadline().is_none_or(|at| at > self.now) {
                return;
            }
        }
        panic!("the card does not come to rest");
    }

    fn received(&self, frame: &[u8]) -> Sent {
        let packet = Packet::parse(frame).expect("a card sends sound frames");
        assert!(packet.head.kind.is_from_card());
        assert_eq!(packet.head.src, CARD);
        assert!((60..=32 + usize::from(self.bulk)).contains(&frame.len()), "{} bytes", frame.len());
        Sent { at: self.now, head: packet.head, payload: packet.payload.to_vec() }
    }

    /// A frame arrives, and the card does what it can at once.
    pub fn frame(&mut self, frame: Frame) {
        self.hand(frame);
        self.drain();
    }

    /// As [`frame`](Self::frame), on another port.
    pub fn frame_at(&mut self, port: Port, frame: Frame) {
        self.card.handle_frame(self.now, port, frame);
        self.drain();
    }

    /// A frame arrives, and others on its heels.
    pub fn hand(&mut self, frame: Frame) {
        self.card.handle_frame(self.now, 0, frame);
    }

    /// Lets time pass, waking the card when it wants.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        let mut wakes = 0;
        self.drain();
        while let Some(at) = self.card.next_deadline().filter(|&at| at <= end) {
            if self.restless && self.now == end {
                break;
            }
            // Time goes on for a card that computes.
            self.now = if at > self.now { at } else { end.min(self.now + STEP) };
            self.card.handle_timeout(self.now);
            self.drain();
            wakes += 1;
            assert!(wakes < 1_000_000, "the card never sleeps");
        }
        self.now = end;
        self.drain();
    }

    /// As [`pass`](Self::pass), in milliseconds.
    pub fn pass_ms(&mut self, ms: u64) {
        self.pass(Duration::from_millis(ms));
    }

    /// Head of a unicast frame of the owner in the present epoch.
    pub const fn head(&self, kind: Kind, seq: u32, addr: u64) -> Head {
        Head { dst: CARD, src: HOST, kind, flags: 0, epoch: self.epoch, seq, addr }
    }

    /// Head of a frame of the owner to the load's group.
    pub const fn group_head(&self, kind: Kind, seq: u32, addr: u64) -> Head {
        let head = self.head(kind, seq, addr);
        Head { dst: MacAddr::group(GROUP), epoch: GROUP, ..head }
    }

    /// Sends a unicast frame of the owner.
    pub fn send(&mut self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        self.frame(self.head(kind, seq, addr).frame(&[payload]));
    }

    /// Sends a frame of the owner to the load's group.
    pub fn send_group(&mut self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        self.frame(self.group_head(kind, seq, addr).frame(&[payload]));
    }

    /// The next frame, which must be of this kind; announcements are passed over.
    pub fn expect(&mut self, kind: Kind) -> Sent {
        loop {
            let sent = self.sent.pop_front().unwrap_or_else(|| panic!("nothing came, not {}", kind.name()));
            if sent.head.kind != Kind::DiscoveryAnnounce || kind == Kind::DiscoveryAnnounce {
                assert_eq!(sent.head.kind.name(), kind.name(), "{sent:?}");
                return sent;
            }
        }
    }

    /// Nothing but announcements has come.
    pub fn expect_nothing(&mut self) {
        self.sent.retain(|s| s.head.kind != Kind::DiscoveryAnnounce);
        assert!(self.sent.is_empty(), "{:?}", self.sent);
    }

    /// All frames of a kind that have come; the others stay.
    pub fn take_all(&mut self, kind: Kind) -> Vec<Sent> {
        let (taken, left) = self.sent.drain(..).partition(|s| s.head.kind == kind);
        self.sent = left;
        let taken: VecDeque<Sent> = taken;
        taken.into()
    }

    /// The newest frame of a kind that has come; the others of it are gone.
    pub fn last(&mut self, kind: Kind) -> Sent {
        self.take_all(kind).pop().unwrap_or_else(|| panic!("no {} came", kind.name()))
    }

    /// All counters, in their order. Asking counts as well: see [`ASKING`].
    pub fn counters(&mut self) -> Vec<u64> {
        let head = Head { src: OBSERVER, epoch: 0, ..self.head(Kind::SessionCountersGet, 0, 0) };
        let answer = self.ask(head.frame(&[]), Kind::SessionCounters);
        answer.payload.chunks_exact(8).map(|v| u64::from_be_bytes(v.try_into().expect("eight bytes"))).collect()
    }

    /// One counter.
    pub fn count(&mut self, counter: Counter) -> u64 {
        self.counters()[counter as usize]
    }

    /// Frames received and dropped, for whatever reason.
    pub fn drops(&mut self) -> u64 {
        let counters = self.counters();
        DROPS.iter().map(|&c| counters[c as usize]).sum()
    }

    /// What the card says about itself.
    pub fn facts(&mut self) -> Announce {
        let body = Solicit { window_us: U32::ZERO, reserved: U32::ZERO };
        let head = Head { src: OBSERVER, dst: CARDS, epoch: 0, ..self.head(Kind::DiscoverySolicit, 0, 0) };
        self.ask(head.frame(&[body.as_bytes()]), Kind::DiscoveryAnnounce).body()
    }

    /// Whose it is.
    pub fn owner(&mut self) -> Option<MacAddr> {
        Some(self.facts().owner).filter(|mac| !mac.is_zero())
    }

    /// What it is doing.
    pub fn state(&mut self) -> CardState {
        CardState::from_wire(self.facts().state).expect("a state of the protocol")
    }

    /// Digest of its image.
    pub fn active_digest(&mut self) -> Option<[u8; 32]> {
        Some(self.facts().digest).filter(|digest| *digest != [0; 32])
    }

    /// The card's answer to an observer, taken out of what it sends.
    fn ask(&mut self, frame: Frame, kind: Kind) -> Sent {
        self.frame(frame);
        let at = self.sent.iter().position(|s| s.head.dst == OBSERVER).expect("an answer to the observer");
        let answer = self.sent.remove(at).expect("it was found");
        assert_eq!(answer.head.kind.name(), kind.name());
        answer
    }

    /// A claim as a host sends it.
    pub fn claim_frame(host: MacAddr, nonce: u64, epoch: u16) -> Frame {
        Self::claim_of(host, nonce, epoch, BEATS)
    }

    fn claim_of(host: MacAddr, nonce: u64, epoch: u16, beats: u8) -> Frame {
        let body = wire::Claim {
            nonce: U64::new(nonce),
            lease_ms: U32::new(5000),
            group: U16::new(CLAIM_GROUP),
            scrub: 0,
            beats,
        };
        let head = Head { dst: CARD, src: host, kind: Kind::SessionClaim, flags: 0, epoch, seq: nonce as u32, addr: 0 };
        head.frame(&[body.as_bytes()])
    }

    /// Claims for a host, which must be granted.
    pub fn claim(&mut self, host: MacAddr, nonce: u64) -> u16 {
        self.claim_with(host, nonce, BEATS)
    }

    /// The same for a host that takes so many beats in a frame.
    pub fn claim_with(&mut self, host: MacAddr, nonce: u64, beats: u8) -> u16 {
        self.frame(Self::claim_of(host, nonce, 0, beats));
        let grant = self.last(Kind::SessionGrant);
        assert_eq!(grant.body::<wire::Grant>().nonce.get(), nonce);
        self.epoch = grant.head.epoch;
        self.epoch
    }

    /// Begins a load of an image.
    pub fn begin(&mut self, seq: u32, image: &[u8], chunk: u16) {
        self.send(Kind::ImageBegin, seq, 0, begin_body(image, chunk).as_bytes());
    }

    /// Sends one chunk of it.
    pub fn chunk(&mut self, image: &[u8], chunk: u16, index: usize) {
        let (head, bytes) = self.chunk_of(image, chunk, index);
        self.frame(head.frame(&[bytes]));
    }

    /// Head and payload of one chunk.
    pub fn chunk_of<'a>(&self, image: &'a [u8], chunk: u16, index: usize) -> (Head, &'a [u8]) {
        let chunk = usize::from(chunk);
        let (from, to) = (index * chunk, image.len().min((index + 1) * chunk));
        (self.group_head(Kind::ImageData, 0, from as u64), &image[from..to])
    }

    /// Sends all chunks of a standard frame's size, but those that `lost` picks.
    pub fn send_but(&mut self, image: &[u8], lost: impl Fn(usize) -> bool) {
        for i in (0..image.len().div_ceil(CHUNK.into())).filter(|&i| !lost(i)) {
            self.chunk(image, CHUNK, i);
        }
    }

    /// Asks what is missing.
    pub fn poll(&mut self, seq: u32, window_us: u32) {
        let body = wire::Poll { window_us: U32::new(window_us), reserved: U32::ZERO };
        self.send_group(Kind::ImagePoll, seq, 0, body.as_bytes());
    }

    /// Lets what is staged become active.
    pub fn commit(&mut self, seq: u32) {
        self.send_group(Kind::ImageCommit, seq, 0, &[]);
    }

    /// Loads an image, which must become active. Yields its digest.
    pub fn load(&mut self, seq: u32, image: &[u8]) -> [u8; 32] {
        self.begin(seq, image, CHUNK);
        self.send_but(image, |_| false);
        self.pass_ms(1);
        self.commit(1000 + seq);
        self.pass_ms(1);
        let digest = *blake3::hash(image).as_bytes();
        assert_eq!(self.active_digest(), Some(digest));
        digest
    }

    /// Writes to memory.
    pub fn write(&mut self, seq: u32, addr: u64, bytes: &[u8]) {
        self.send(Kind::InputWrite, seq, addr, bytes);
    }

    /// Asks for memory.
    pub fn read(&mut self, seq: u32, addr: u64, length: u32) {
        let body = wire::Read { length: U32::new(length), reserved: U32::ZERO };
        self.send(Kind::InputRead, seq, addr, body.as_bytes());
    }

    /// Launches a kernel.
    pub fn launch(&mut self, seq: u32, kernel: u64, args: &[u64]) {
        self.launch_with(seq, kernel, args, Out::default());
    }

    /// As [`launch`](Self::launch), with all that a launch can say.
    pub fn launch_with(&mut self, seq: u32, kernel: u64, args: &[u64], out: Out) {
        self.send(Kind::ExecLaunch, seq, kernel, &launch_payload(args, out));
    }

    /// Acknowledges a result's end and chunks of it: all before `next` and those in `beyond`.
    pub fn ack(&mut self, seq: u32, next: u32, limit: u32, beyond: &[u32]) {
        self.send(Kind::ExecResultAck, seq, 0, ack_body(next, limit, beyond).as_bytes());
    }

    /// A word of memory.
    pub fn word(&self, addr: u64) -> u64 {
        let mut word = [0; 8];
        self.card.ddr().read(addr, &mut word).expect("an address inside");
        u64::from_le_bytes(word)
    }

    /// Bytes of memory.
    pub fn bytes(&self, addr: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.card.ddr().read(addr, &mut bytes).expect("addresses inside");
        bytes
    }
}

/// What asking for counters or facts adds to the counters: frames received and sent, bytes received.
pub const ASKING: (u64, u64) = (1, 60);

/// The counters that count dropped frames.
pub const DROPS: [Counter; 10] = [
    Counter::DropForeign,
    Counter::DropTruncated,
    Counter::DropVersion,
    Counter::DropKind,
    Counter::DropAuth,
    Counter::DropEpoch,
    Counter::DropMalformed,
    Counter::DropDuplicate,
    Counter::DropWindow,
    Counter::DropQueue,
];

/// Calls for nothing after which a card that computes is left to it: some ten thousand cycles of gateware.
const PATIENCE: u32 = 8;
/// How often it is given that until it must have come to rest: some ten million cycles.
const PATIENCE_TO_REST: u32 = 300;
/// Time that passes meanwhile.
const STEP: Duration = Duration::from_micros(25);
