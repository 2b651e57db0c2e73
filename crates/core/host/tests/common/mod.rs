//! A host, the cards that a test plays, and the time.
#![allow(dead_code, missing_docs, unreachable_pub)] // Each test file uses a part of this.

use rackloom_host::{CardName, ClaimOptions, Config, Event, Host, OpError, OpId, Outcome};
use rackloom_node::{Duration, Frame, Instant, Node, Output, Port};
use rackloom_wire::{
    Announce, AnnounceReason, CardKind, CardState, FromBytes, Grant, HOSTS, Head, IntoBytes, Kind, MacAddr, Packet,
    Pong, Tagged, U16, U32, U64,
};

pub const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
pub const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
pub const NEIGHBOUR: MacAddr = MacAddr([2, 0, 0, 0, 0, 3]);
/// What messages call it: it announces unit number 3.
pub const NAME: CardName = CardName { mac: CARD, unit: Some(3) };
pub const EPOCH: u16 = 7;
pub const BASE: u64 = 1 << 20;

/// A host, the cards that this test plays, and the time.
pub struct Bench {
    pub host: Host,
    pub now: Instant,
    pub events: Vec<Event>,
    /// All that it has sent.
    pub frames: Vec<Frame>,
    /// What the card last announced, and grants tell.
    pub boot: u32,
    /// Digest of the image that cards announce.
    pub digest: [u8; 32],
}

impl Bench {
    /// A host that has heard of the card.
    pub fn new() -> Self {
        let mut bench = Self::with(Config::live(HOST, 1));
        bench.announce(1);
        assert!(matches!(bench.poll().events[..], [Event::CardUp(_)]));
        bench
    }

    /// A host that has heard of nobody.
    pub fn with(config: Config) -> Self {
        let host = Host::new(config);
        Self { host, now: Instant::ZERO, events: Vec::new(), frames: Vec::new(), boot: 1, digest: [0; 32] }
    }

    /// A host that has claimed it.
    pub fn claimed() -> Self {
        let mut bench = Self::new();
        bench.claim(CARD, EPOCH);
        bench
    }

    /// The host claims a card, which grants this epoch.
    pub fn claim(&mut self, card: MacAddr, epoch: u16) {
        let op = self.host.claim(self.now, card, ClaimOptions::default());
        let claim = self.sent(Kind::SessionClaim);
        self.grant_from(card, epoch, &claim);
        assert_eq!(self.result(op), Ok(Outcome::Claimed { epoch }));
    }

    pub fn hear(&mut self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        self.hear_from(CARD, EPOCH, kind, seq, addr, payload);
    }

    pub fn hear_from(&mut self, src: MacAddr, epoch: u16, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        let head = Head { dst: HOST, src, kind, flags: 0, epoch, seq, addr };
        self.host.handle_frame(self.now, 0, head.frame(&[payload]));
    }

    pub fn announce(&mut self, boot: u32) {
        self.boot = boot;
        self.announce_from(CARD, 0, boot);
    }

    pub fn announce_from(&mut self, card: MacAddr, port: Port, boot: u32) {
        self.announce_with(card, port, |a| a.boot = U32::new(boot));
    }

    pub fn announce_with(&mut self, card: MacAddr, port: Port, change: impl FnOnce(&mut Announce)) {
        let mut body = Announce::read_from_bytes(&[0; size_of::<Announce>()]).unwrap();
        (body.mac0, body.boot, body.memory) = (card, U32::new(1), U64::new(4 << 20));
        (body.unit, body.digest) = (U16::new(3), self.digest);
        (body.card_kind, body.state, body.bulk) = (CardKind::Model.into(), CardState::Active.into(), U16::new(1472));
        change(&mut body);
        let kind = Kind::DiscoveryAnnounce;
        let head = Head { dst: HOSTS, src: card, kind, flags: 0, epoch: 0, seq: 1, addr: 0 };
        self.host.handle_frame(self.now, port, head.frame(&[body.as_bytes()]));
    }

    /// The card answers the host's last solicitation, as this boot and unit.
    pub fn answer(&mut self, solicit: &Frame, boot: u32, unit: u16) {
        let mut body = Announce::read_from_bytes(&[0; size_of::<Announce>()]).unwrap();
        (body.mac0, body.boot, body.memory) = (CARD, U32::new(boot), U64::new(4 << 20));
        (body.unit, body.bulk, body.reason) = (U16::new(unit), U16::new(1472), AnnounceReason::Solicited.into());
        (body.card_kind, body.state) = (CardKind::Model.into(), CardState::Active.into());
        let seq = Packet::parse(solicit).unwrap().head.seq;
        self.hear_from(CARD, 0, Kind::DiscoveryAnnounce, seq, 0, body.as_bytes());
    }

    /// The card answers a ping, as this boot.
    pub fn pong(&mut self, ping: &Frame, boot: u32) {
        let state = CardState::Active.into();
        let body = Pong { boot: U32::new(boot), state, ..Pong::read_from_bytes(&[0; size_of::<Pong>()]).unwrap() };
        let head = Packet::parse(ping).unwrap().head;
        self.hear_from(CARD, head.epoch, Kind::SessionPong, head.seq, 0, body.as_bytes());
    }

    /// The host asks who is there.
    pub fn solicit(&mut self) -> Frame {
        self.host.solicit(self.now, Duration::from_millis(20));
        self.sent(Kind::DiscoverySolicit)
    }

    pub fn grant(&mut self, claim: &Frame) {
        self.grant_from(CARD, EPOCH, claim);
    }

    pub fn grant_from(&mut self, card: MacAddr, epoch: u16, claim: &Frame) {
        let packet = Packet::parse(claim).unwrap();
        let nonce = packet.view::<rackloom_wire::Claim>().unwrap().0.nonce;
        let body = Grant { nonce, lease_ms: U32::new(5000), boot: U32::new(if card == CARD { self.boot } else { 1 }) };
        self.hear_from(card, epoch, Kind::SessionGrant, packet.head.seq, 0, body.as_bytes());
    }

    pub fn poll(&mut self) -> Polled {
        let mut polled = Polled::default();
        while let Some(output) = self.host.poll(self.now) {
            match output {
                Output::Transmit(_, frame) => polled.frames.push(frame),
                Output::Event(event) => polled.events.push(event),
            }
        }
        self.frames.extend(polled.frames.iter().cloned());
        self.events.extend(polled.events.iter().cloned());
        polled
    }

    /// The only frame that it sends now, which has this kind.
    pub fn sent(&mut self, kind: Kind) -> Frame {
        let frames = self.poll().frames;
        let kinds: Vec<_> = frames.iter().map(|f| Tagged::parse(f).unwrap().packet.head.kind).collect();
        assert_eq!(kinds, [kind]);
        frames.into_iter().next().unwrap()
    }

    /// How an operation ended; it has to have, once.
    pub fn result(&mut self, op: OpId) -> Result<Outcome, OpError> {
        self.poll();
        let ends = self.events.iter().filter_map(|e| match e {
            Event::Completed { op: o, result } if *o == op => Some(result.clone()),
            _ => None,
        });
        let ends: Vec<_> = ends.collect();
        assert_eq!(ends.len(), 1, "{op:?} ended {} times", ends.len());
        ends.into_iter().next().unwrap()
    }

    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(at) = self.host.next_deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.host.handle_timeout(self.now);
            self.poll();
        }
        self.now = end;
    }
}

#[derive(Default)]
pub struct Polled {
    pub frames: Vec<Frame>,
    pub events: Vec<Event>,
}
