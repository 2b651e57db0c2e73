//! A card on a bench: one host's cable, a clock, and everything that came out.

use std::collections::VecDeque;
use std::sync::Arc;

use rackloom_card::{Card, CardEvent, Config, Pace};
use rackloom_node::{Duration, Frame, Instant, Node, Output, Port};
use rackloom_wire::{self as wire, Counter, FromBytes, Head, IntoBytes, Kind, MacAddr, Packet, U16, U32, U64};

use crate::native::{self, Native};

pub(crate) const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
pub(crate) const HOST: MacAddr = MacAddr([2, 0, 0, 0, 9, 9]);
pub(crate) const RIVAL: MacAddr = MacAddr([2, 0, 0, 0, 8, 8]);
pub(crate) const MEMORY: u64 = 8 << 20;
pub(crate) const BASE: u64 = wire::ROLE_PRIVATE;
pub(crate) const CLAIM_GROUP: u16 = 0x77;
pub(crate) const GROUP: u16 = 0x1234;

/// A frame that the card sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    pub(crate) head: Head,
    pub(crate) payload: Vec<u8>,
}

impl Sent {
    pub(crate) fn body<T: FromBytes>(&self) -> T {
        T::read_from_prefix(&self.payload).unwrap().0
    }

    /// The code of a refusal or failure.
    pub(crate) fn code(&self) -> wire::ErrorCode {
        wire::ErrorCode::from_wire(u16::from_be_bytes([self.payload[0], self.payload[1]])).unwrap()
    }
}

pub(crate) struct Bench {
    pub(crate) card: Card,
    pub(crate) now: Instant,
    pub(crate) epoch: u16,
    pub(crate) sent: VecDeque<Sent>,
    pub(crate) events: Vec<CardEvent>,
    /// What came out of ports beside port 0.
    pub(crate) others: Vec<(Port, Frame)>,
}

pub(crate) fn config(pace: Pace) -> Config {
    Config { memory: MEMORY, digest_rate: 0, fuel_max: 1 << 30, ..Config::new(CARD, pace) }
}

impl Bench {
    pub(crate) fn new(config: Config) -> Self {
        Self::with_card(Card::new(config, Arc::new(Native)).unwrap())
    }

    pub(crate) fn with_card(card: Card) -> Self {
        let mut bench =
            Self { card, now: Instant::ZERO, epoch: 0, sent: VecDeque::new(), events: Vec::new(), others: Vec::new() };
        bench.drain();
        bench
    }

    /// In virtual time, claimed by `HOST`, with nothing left in the queue.
    pub(crate) fn claimed() -> Self {
        Self::claimed_with(config(Pace::Virtual))
    }

    pub(crate) fn claimed_with(config: Config) -> Self {
        let mut bench = Self::new(config);
        bench.claim(HOST, 1);
        bench.clear();
        bench
    }

    /// As `claimed`, with a role active.
    pub(crate) fn with_role() -> Self {
        Self::with_role_and(config(Pace::Virtual))
    }

    pub(crate) fn with_role_and(config: Config) -> Self {
        let mut bench = Self::claimed_with(config);
        bench.load(1, b"first role", 0);
        bench.clear();
        bench
    }

    /// Takes everything that the card has to say.
    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.card.poll(self.now) {
            match output {
                Output::Transmit(0, frame) => {
                    let packet = Packet::parse(&frame).unwrap();
                    assert!(packet.head.kind.is_from_card());
                    assert_eq!(packet.head.src, CARD);
                    assert!(frame.len() <= 32 + usize::from(self.card.config().bulk));
                    self.sent.push_back(Sent { at: self.now, head: packet.head, payload: packet.payload.to_vec() });
                }
                Output::Transmit(port, frame) => self.others.push((port, frame)),
                Output::Event(event) => self.events.push(event),
            }
        }
        self.card.check_invariants();
    }

    pub(crate) fn frame(&mut self, frame: Frame) {
        self.frame_at(0, frame);
    }

    pub(crate) fn frame_at(&mut self, port: Port, frame: Frame) {
        self.hand(port, frame);
        self.drain();
    }

    /// A frame arrives, and nobody takes what the card has to say.
    pub(crate) fn hand(&mut self, port: Port, frame: Frame) {
        self.card.handle_frame(self.now, port, frame);
    }

    pub(crate) fn clear(&mut self) {
        self.sent.clear();
        self.events.clear();
        self.others.clear();
    }

    /// Lets time pass, waking the card when it wants.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        let mut wakes = 0;
        while let Some(at) = self.card.next_deadline().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.card.handle_timeout(self.now);
            self.drain();
            wakes += 1;
            assert!(wakes < 1_000_000, "the card never sleeps");
        }
        self.now = end;
        self.drain();
    }

    pub(crate) fn pass_ms(&mut self, ms: u64) {
        self.pass(Duration::from_millis(ms));
    }

    /// A unicast frame of the owner in the present epoch.
    pub(crate) fn send(&mut self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        let head = self.head(kind, seq, addr);
        self.frame(head.frame(&[payload]));
    }

    pub(crate) fn head(&self, kind: Kind, seq: u32, addr: u64) -> Head {
        Head { dst: CARD, src: HOST, kind, flags: 0, epoch: self.epoch, seq, addr }
    }

    /// A frame of the owner to the load's group.
    pub(crate) fn group_head(&self, kind: Kind, seq: u32, addr: u64) -> Head {
        Head { dst: MacAddr::group(GROUP), epoch: GROUP, ..self.head(kind, seq, addr) }
    }

    pub(crate) fn send_group(&mut self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        let head = self.group_head(kind, seq, addr);
        self.frame(head.frame(&[payload]));
    }

    /// The next frame, which must be of this kind; announcements are passed over.
    pub(crate) fn expect(&mut self, kind: Kind) -> Sent {
        loop {
            let sent = self.sent.pop_front().unwrap_or_else(|| panic!("nothing came, not {}", kind.name()));
            if sent.head.kind != Kind::DiscoveryAnnounce || kind == Kind::DiscoveryAnnounce {
                assert_eq!(sent.head.kind.name(), kind.name(), "{sent:?}");
                return sent;
            }
        }
    }

    pub(crate) fn expect_nothing(&mut self) {
        self.sent.retain(|s| s.head.kind != Kind::DiscoveryAnnounce);
        assert!(self.sent.is_empty(), "{:?}", self.sent);
    }

    /// All frames of a kind that have come; the others stay.
    pub(crate) fn take_all(&mut self, kind: Kind) -> Vec<Sent> {
        let (taken, left) = self.sent.drain(..).partition(|s| s.head.kind == kind);
        self.sent = left;
        let taken: VecDeque<Sent> = taken;
        taken.into()
    }

    pub(crate) fn count(&self, counter: Counter) -> u64 {
        self.card.counters().get(counter)
    }

    pub(crate) fn claim_frame(host: MacAddr, nonce: u64, epoch: u16) -> Frame {
        let body = wire::Claim {
            nonce: U64::new(nonce),
            lease_ms: U32::new(5000),
            group: U16::new(CLAIM_GROUP),
            scrub: 0,
            reserved: 0,
        };
        let head = Head { dst: CARD, src: host, kind: Kind::SessionClaim, flags: 0, epoch, seq: nonce as u32, addr: 0 };
        head.frame(&[body.as_bytes()])
    }

    /// Claims for a host, which must be granted.
    pub(crate) fn claim(&mut self, host: MacAddr, nonce: u64) -> u16 {
        self.frame(Self::claim_frame(host, nonce, 0));
        let grant = self.take_all(Kind::SessionGrant).pop().expect("a grant");
        assert_eq!(grant.body::<wire::Grant>().nonce.get(), nonce);
        self.epoch = grant.head.epoch;
        self.epoch
    }

    pub(crate) fn begin(&mut self, seq: u32, image: &[u8], chunk: u16) {
        let body = begin_body(image, chunk);
        self.send(Kind::ImageBegin, seq, 0, body.as_bytes());
    }

    pub(crate) fn chunk(&mut self, image: &[u8], chunk: u16, index: usize) {
        let chunk = usize::from(chunk);
        let (from, to) = (index * chunk, image.len().min((index + 1) * chunk));
        self.send_group(Kind::ImageData, 0, from as u64, &image[from..to]);
    }

    pub(crate) fn poll(&mut self, seq: u32, window_us: u32) {
        let body = wire::Poll { window_us: U32::new(window_us), reserved: U32::ZERO };
        self.send_group(Kind::ImagePoll, seq, 0, body.as_bytes());
    }

    /// Loads and activates an image with this part.
    pub(crate) fn load(&mut self, seq: u32, part: &[u8], filler: usize) -> [u8; 32] {
        let image = native::image(part, filler);
        self.begin(seq, &image, 1472);
        for i in 0..image.len().div_ceil(1472) {
            self.chunk(&image, 1472, i);
        }
        self.pass_ms(1);
        self.send_group(Kind::ImageCommit, 1000 + seq, 0, &[]);
        self.pass_ms(1);
        let digest = *blake3::hash(&image).as_bytes();
        assert_eq!(self.card.active_digest(), Some(digest));
        digest
    }

    pub(crate) fn write(&mut self, seq: u32, addr: u64, bytes: &[u8]) {
        self.send(Kind::InputWrite, seq, addr, bytes);
    }

    pub(crate) fn launch(&mut self, seq: u32, kernel: u64, args: &[u64]) {
        self.launch_with(seq, kernel, args, Out::default());
    }

    pub(crate) fn launch_with(&mut self, seq: u32, kernel: u64, args: &[u64], out: Out) {
        let payload = launch_payload(args, out);
        self.send(Kind::ExecLaunch, seq, kernel, &payload);
    }

    pub(crate) fn ack(&mut self, seq: u32, next: u32, limit: u32, done: bool, beyond: &[u32]) {
        let mut bitmap = [0u8; 32];
        for n in beyond {
            let bit = (n - next - 1) as usize;
            bitmap[bit / 8] |= 1 << (bit % 8);
        }
        let body = wire::ResultAck {
            next: U32::new(next),
            limit: U32::new(limit),
            done: done.into(),
            reserved: [0; 7],
            bitmap,
        };
        self.send(Kind::ExecResultAck, seq, 0, body.as_bytes());
    }

    pub(crate) fn word(&self, addr: u64) -> u64 {
        let mut word = [0; 8];
        self.card.ddr().read(addr, &mut word).unwrap();
        u64::from_le_bytes(word)
    }
}

/// What a launch says beyond kernel and arguments.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Out {
    pub(crate) addr: u64,
    pub(crate) length: u64,
    pub(crate) credit: u16,
    pub(crate) go: u32,
    pub(crate) fuel: u64,
}

pub(crate) fn launch_payload(args: &[u64], out: Out) -> Vec<u8> {
    let body = wire::Launch {
        fuel: U64::new(out.fuel),
        out_addr: U64::new(out.addr),
        out_length: U64::new(out.length),
        go: U32::new(out.go),
        credit: U16::new(out.credit),
        args: U16::new(args.len() as u16),
    };
    let mut payload = body.as_bytes().to_vec();
    payload.extend(args.iter().flat_map(|a| a.to_be_bytes()));
    payload
}

pub(crate) fn begin_body(image: &[u8], chunk: u16) -> wire::ImageBegin {
    wire::ImageBegin {
        length: U64::new(image.len() as u64),
        chunk: U16::new(chunk),
        group: U16::new(GROUP),
        members: U32::new(1),
        digest: *blake3::hash(image).as_bytes(),
    }
}
