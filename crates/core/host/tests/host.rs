//! A host, frame by frame: what it says, what it makes of what it hears.

use rackloom_host::{
    Absurdity, CardName, ClaimOptions, Commit, Config, DownReason, Event, Host, LastSeen, Launch, OpError, OpId,
    Outcome,
};
use rackloom_node::{Duration, Frame, Instant, Node, Output, Port};
use rackloom_wire::{
    Ack, Announce, CardKind, CardState, ErrorCode, Failure, FromBytes, Grant, HOSTS, Head, ImageBegin, IntoBytes, Kind,
    MacAddr, Packet, Pong, Refusal, U16, U32, U64,
};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
const NEIGHBOUR: MacAddr = MacAddr([2, 0, 0, 0, 0, 3]);
/// What messages call it: it announces unit number 3.
const NAME: CardName = CardName { mac: CARD, unit: Some(3) };
const EPOCH: u16 = 7;
const BASE: u64 = 1 << 20;

/// A host, the cards that this test plays, and the time.
struct Bench {
    host: Host,
    now: Instant,
    events: Vec<Event>,
}

impl Bench {
    /// A host that has heard of the card.
    fn new() -> Self {
        let host = Host::new(Config::live(HOST, 1));
        let mut bench = Self { host, now: Instant::ZERO, events: Vec::new() };
        bench.announce(1);
        assert!(matches!(bench.poll().events[..], [Event::CardUp(_)]));
        bench
    }

    /// A host that has claimed it.
    fn claimed() -> Self {
        let mut bench = Self::new();
        bench.claim(CARD, EPOCH);
        bench
    }

    /// The host claims a card, which grants this epoch.
    fn claim(&mut self, card: MacAddr, epoch: u16) {
        let op = self.host.claim(self.now, card, ClaimOptions::default());
        let claim = self.sent(Kind::SessionClaim);
        self.grant_from(card, epoch, &claim);
        assert_eq!(self.result(op), Ok(Outcome::Claimed { epoch }));
    }

    fn hear(&mut self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        self.hear_from(CARD, EPOCH, kind, seq, addr, payload);
    }

    fn hear_from(&mut self, src: MacAddr, epoch: u16, kind: Kind, seq: u32, addr: u64, payload: &[u8]) {
        let head = Head { dst: HOST, src, kind, flags: 0, epoch, seq, addr };
        self.host.handle_frame(self.now, 0, head.frame(&[payload]));
    }

    fn announce(&mut self, boot: u32) {
        self.announce_from(CARD, 0, boot);
    }

    fn announce_from(&mut self, card: MacAddr, port: Port, boot: u32) {
        self.announce_with(card, port, |a| a.boot = U32::new(boot));
    }

    fn announce_with(&mut self, card: MacAddr, port: Port, change: impl FnOnce(&mut Announce)) {
        let mut body = Announce::read_from_bytes(&[0; size_of::<Announce>()]).unwrap();
        (body.mac0, body.boot, body.memory) = (card, U32::new(1), U64::new(4 << 20));
        body.unit = U16::new(3);
        (body.card_kind, body.state, body.bulk) = (CardKind::Model.into(), CardState::Active.into(), U16::new(1472));
        change(&mut body);
        let kind = Kind::DiscoveryAnnounce;
        let head = Head { dst: HOSTS, src: card, kind, flags: 0, epoch: 0, seq: 1, addr: 0 };
        self.host.handle_frame(self.now, port, head.frame(&[body.as_bytes()]));
    }

    fn grant(&mut self, claim: &Frame) {
        self.grant_from(CARD, EPOCH, claim);
    }

    fn grant_from(&mut self, card: MacAddr, epoch: u16, claim: &Frame) {
        let packet = Packet::parse(claim).unwrap();
        let nonce = packet.view::<rackloom_wire::Claim>().unwrap().0.nonce;
        let body = Grant { nonce, lease_ms: U32::new(5000), boot: U32::new(1) };
        self.hear_from(card, epoch, Kind::SessionGrant, packet.head.seq, 0, body.as_bytes());
    }

    fn poll(&mut self) -> Polled {
        let mut polled = Polled::default();
        while let Some(output) = self.host.poll(self.now) {
            match output {
                Output::Transmit(_, frame) => polled.frames.push(frame),
                Output::Event(event) => polled.events.push(event),
            }
        }
        self.events.extend(polled.events.iter().cloned());
        polled
    }

    /// The only frame that it sends now, which has this kind.
    fn sent(&mut self, kind: Kind) -> Frame {
        let frames = self.poll().frames;
        let kinds: Vec<_> = frames.iter().map(|f| Packet::parse(f).unwrap().head.kind).collect();
        assert_eq!(kinds, [kind]);
        frames.into_iter().next().unwrap()
    }

    /// How an operation ended; it has to have, once.
    fn result(&mut self, op: OpId) -> Result<Outcome, OpError> {
        self.poll();
        let ends = self.events.iter().filter_map(|e| match e {
            Event::Completed { op: o, result } if *o == op => Some(result.clone()),
            _ => None,
        });
        let ends: Vec<_> = ends.collect();
        assert_eq!(ends.len(), 1, "{op:?} ended {} times", ends.len());
        ends.into_iter().next().unwrap()
    }

    fn pass(&mut self, time: Duration) {
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
struct Polled {
    frames: Vec<Frame>,
    events: Vec<Event>,
}

fn refused(code: ErrorCode) -> impl Fn(&Result<Outcome, OpError>) -> bool {
    move |result| matches!(result, Err(OpError::Refused { code: c, .. }) if *c == code)
}

#[test]
fn a_second_claim_on_the_way_is_refused() {
    let mut bench = Bench::new();
    let first = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let claim = bench.sent(Kind::SessionClaim);
    let second = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    assert!(refused(ErrorCode::Busy)(&bench.result(second)));
    bench.grant(&claim);
    bench.grant(&claim);
    assert_eq!(bench.result(first), Ok(Outcome::Claimed { epoch: EPOCH }));
}

#[test]
fn a_grant_of_another_nonce_is_not_believed() {
    let mut bench = Bench::new();
    bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let claim = bench.sent(Kind::SessionClaim);
    let seq = Packet::parse(&claim).unwrap().head.seq;
    let body = Grant { nonce: U64::new(99), lease_ms: U32::new(5000), boot: U32::new(1) };
    bench.hear(Kind::SessionGrant, seq, 0, body.as_bytes());
    assert_eq!(bench.host.claim_epoch(CARD), None);
}

#[test]
fn memory_beyond_the_card_is_refused_before_anything_is_sent() {
    let mut bench = Bench::claimed();
    for (addr, len) in [(0, 8), (BASE - 1, 8), ((4 << 20) - 7, 8), (u64::MAX - 3, 8)] {
        let write = bench.host.write(bench.now, CARD, addr, vec![0; len as usize].into());
        let read = bench.host.read(bench.now, CARD, addr, len);
        assert!(bench.poll().frames.is_empty());
        for op in [write, read] {
            assert!(refused(ErrorCode::BadAddress)(&bench.result(op)), "{addr:#x}");
        }
    }
}

#[test]
fn a_card_is_in_one_load_at_a_time() {
    let mut bench = Bench::claimed();
    let first = bench.host.load(bench.now, &[CARD], vec![1; 5000].into(), Commit::Each);
    bench.sent(Kind::ImageBegin);
    let second = bench.host.load(bench.now, &[CARD], vec![2; 5000].into(), Commit::Each);
    assert!(refused(ErrorCode::Busy)(&bench.result(second)));
    bench.host.cancel(bench.now, first);
    let Ok(Outcome::Loaded(report)) = bench.result(first) else { panic!("a load ends with its report") };
    assert!(report.cards[&CARD].is_err());
}

#[test]
fn a_cancel_waits_until_the_card_has_the_launch() {
    let mut bench = Bench::claimed();
    let first = bench.host.launch(bench.now, CARD, Launch::default());
    bench.sent(Kind::ExecLaunch);
    bench.host.cancel(bench.now, first);
    assert_eq!(bench.result(first), Err(OpError::Cancelled { card: NAME }));
    assert!(bench.poll().frames.is_empty(), "the launch may still be on its way");
    // A word on another launch, late: the one on offer keeps its number.
    let no = Refusal { code: U16::new(ErrorCode::UnknownLaunch.into()), holder: MacAddr::ZERO, detail: U64::ZERO };
    bench.hear(Kind::ResultRefused, 1, 0, no.as_bytes());
    let second = bench.host.launch(bench.now, CARD, Launch::default());
    assert!(bench.poll().frames.is_empty(), "its turn comes when the first is answered");
    bench.hear(Kind::ResultAccepted, 1, 0, &[]);
    let kinds: Vec<_> = bench.poll().frames.iter().map(|f| Packet::parse(f).unwrap().head).collect();
    assert!(kinds.iter().any(|h| (h.kind, h.seq) == (Kind::ExecCancel, 1)), "{kinds:?}");
    assert!(kinds.iter().any(|h| (h.kind, h.seq) == (Kind::ExecLaunch, 2)), "{kinds:?}");
    let pending = bench.host.pending();
    assert_eq!(pending, 1, "{second:?} alone is under way");
}

#[test]
fn a_silent_card_is_gone_after_its_time_and_takes_its_operations_with_it() {
    let mut bench = Bench::claimed();
    let write = bench.host.write(bench.now, CARD, BASE, vec![1; 100].into());
    bench.pass(Duration::from_millis(1900));
    assert!(bench.host.card(CARD).is_some());
    bench.pass(Duration::from_millis(200));
    assert!(bench.host.card(CARD).is_none());
    // Pings at 500, 1000 and 1500 ms had no answer.
    let seen = LastSeen { state: CardState::Active, silent: Duration::from_secs(2), pings: 3 };
    let gone = OpError::Vanished { card: NAME, reason: DownReason::Silent, seen };
    assert_eq!(gone.reason(), "vanished: silent for 2.0 s, 3 pings unanswered, last state active");
    assert_eq!(bench.result(write), Err(gone));
    assert!(bench.events.contains(&Event::CardDown { card: CARD, reason: DownReason::Silent }));
    // It comes back with another boot: up again, and no claim.
    bench.announce(2);
    assert!(matches!(bench.poll().events[..], [Event::CardUp(_)]));
    assert_eq!(bench.host.claim_epoch(CARD), None);
}

#[test]
fn a_restart_ends_the_claim_at_once() {
    let mut bench = Bench::claimed();
    let read = bench.host.read(bench.now, CARD, BASE, 8);
    bench.announce(2);
    let gone = bench.result(read).unwrap_err();
    assert!(matches!(gone, OpError::Vanished { card: NAME, reason: DownReason::Restarted, .. }), "{gone}");
    assert!(bench.host.card(CARD).is_some());
}

/// A stranger on the cable in another port ends no claim by saying that the card has restarted.
#[test]
fn what_comes_in_on_another_port_reaches_no_service_and_is_counted() {
    let mut bench = Bench::claimed();
    let ignored = bench.host.ignored();
    bench.announce_from(CARD, 1, 2);
    assert_eq!((bench.host.claim_epoch(CARD), bench.host.ignored()), (Some(EPOCH), ignored + 1));
    bench.announce_from(CARD, 0, 2);
    assert_eq!(bench.host.claim_epoch(CARD), None);
}

#[test]
fn an_operation_ends_at_its_deadline() {
    let mut bench = Bench::claimed();
    let read = bench.host.read(bench.now, CARD, BASE, 8);
    bench.host.set_deadline(read, bench.now + Duration::from_millis(50));
    bench.pass(Duration::from_millis(49));
    assert_eq!(bench.host.pending(), 1);
    bench.pass(Duration::from_millis(2));
    let waited = Duration::from_millis(50);
    let seen = Some(LastSeen { state: CardState::Active, silent: waited, pings: 0 });
    assert_eq!(bench.result(read), Err(OpError::Deadline { card: NAME, waited, seen }));
}

#[test]
fn a_stale_epoch_ends_the_claim() {
    let mut bench = Bench::claimed();
    let write = bench.host.write(bench.now, CARD, BASE, vec![1; 10].into());
    bench.poll();
    let no = Refusal { code: U16::new(ErrorCode::StaleEpoch.into()), holder: MacAddr::ZERO, detail: U64::ZERO };
    bench.hear(Kind::InputConfirmNak, 1, BASE, no.as_bytes());
    assert_eq!(bench.result(write), Err(OpError::ClaimLost { card: NAME }));
    assert!(bench.events.contains(&Event::ClaimLost { card: CARD }));
}

/// A card refused a load because its claim was over. A copy of that came when the host had claimed the card anew, while
/// the load went on with another card, and the host gave up the new claim too.
#[test]
fn regression_a_late_refusal_of_a_load_ended_the_next_claim() {
    let mut bench = Bench::claimed();
    bench.announce_from(NEIGHBOUR, 0, 1);
    bench.claim(NEIGHBOUR, EPOCH);
    bench.host.load(bench.now, &[CARD, NEIGHBOUR], vec![1; 5000].into(), Commit::Each);
    let frames = bench.poll().frames;
    let begins = frames.iter().map(|frame| Packet::parse(frame).unwrap()).filter(|p| p.head.dst == CARD);
    let [begin] = begins.collect::<Vec<_>>().try_into().expect("one begin for the card");
    let group = begin.view::<ImageBegin>().unwrap().0.group.get();
    let stale = Failure { code: U16::new(ErrorCode::StaleEpoch.into()), reserved: [0; 6] };
    let refuse =
        |b: &mut Bench| b.hear_from(CARD, group, Kind::ImageConfirmFailed, begin.head.seq, 0, stale.as_bytes());
    refuse(&mut bench);
    assert_eq!(bench.host.claim_epoch(CARD), None);
    assert!(bench.poll().events.contains(&Event::ClaimLost { card: CARD }));
    bench.claim(CARD, EPOCH + 1);
    refuse(&mut bench);
    assert_eq!(bench.poll().events, []);
    assert_eq!(bench.host.claim_epoch(CARD), Some(EPOCH + 1));
    assert_eq!((bench.host.claim_epoch(NEIGHBOUR), bench.host.pending()), (Some(EPOCH), 1), "its load goes on");
}

/// Issue 17, fault 4: acknowledgements of what was never sent were ignored, and the host sent for ever what the card
/// had already, under numbers that the card did not expect.
#[test]
fn regression_a_claim_out_of_step_is_given_up_by_name() {
    let mut bench = Bench::claimed();
    let write = bench.host.write(bench.now, CARD, BASE, vec![1; 10].into());
    let read = bench.host.read(bench.now, CARD, BASE + 4096, 8);
    bench.poll();
    bench.hear(Kind::InputConfirmWriteAck, 500, 0, Ack { bitmap: [0; 32] }.as_bytes());
    let release = bench.sent(Kind::SessionRelease);
    assert_eq!(Packet::parse(&release).unwrap().head.epoch, EPOCH, "the card need not wait for the lease's end");
    for op in [write, read] {
        let why = bench.result(op).unwrap_err();
        assert!(matches!(why, OpError::OutOfStep { card: NAME, .. }) && why.is_card_loss(), "{why}");
        let text = "out of step with its claim: numbers before 500 acknowledged, but 2 is the next to be sent";
        assert_eq!(why.reason(), text);
    }
    assert!(bench.events.contains(&Event::ClaimLost { card: CARD }));
    bench.claim(CARD, EPOCH + 1);
    let again = bench.host.write(bench.now, CARD, BASE, vec![1; 10].into());
    assert_eq!(Packet::parse(&bench.sent(Kind::InputWrite)).unwrap().head.seq, 1, "it counts anew");
    bench.hear_from(CARD, EPOCH + 1, Kind::InputConfirmWriteAck, 2, 0, Ack { bitmap: [0; 32] }.as_bytes());
    assert_eq!(bench.result(again), Ok(Outcome::Written));
}

/// Issue 17, fault 2: with jumbo frames at both ends and a standard path between them, writes hung past any time-out.
#[test]
fn regression_a_path_that_drops_long_frames_is_named_and_then_kept_to() {
    let host = Host::new(Config { bulk: 8960, ..Config::live(HOST, 1) });
    let mut bench = Bench { host, now: Instant::ZERO, events: Vec::new() };
    let jumbo = |bench: &mut Bench| bench.announce_with(CARD, 0, |a| a.bulk = U16::new(8960));
    jumbo(&mut bench);
    let claim = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let asked = bench.sent(Kind::SessionClaim);
    assert_eq!(asked_beats(&asked), 140);
    bench.grant(&asked);
    assert_eq!(bench.result(claim), Ok(Outcome::Claimed { epoch: EPOCH }));
    let write = bench.host.write(bench.now, CARD, BASE, vec![1; 20_000].into());
    bench.poll();
    // The card answers what reaches it: pings.
    let (state, z) = (CardState::Active.into(), U64::ZERO);
    let pong = Pong { boot: U32::new(1), state, queued: 0, reserved: U16::ZERO, uptime_ns: z };
    let begun = bench.now;
    while bench.host.pending() > 0 {
        bench.now = bench.host.next_deadline().unwrap().max(bench.now);
        bench.host.handle_timeout(bench.now);
        for frame in bench.poll().frames {
            let head = Packet::parse(&frame).unwrap().head;
            if head.kind == Kind::SessionPing {
                bench.hear(Kind::SessionPong, head.seq, 0, pong.as_bytes());
            }
        }
        assert!(bench.now - begun < Duration::from_secs(3), "the write hangs");
    }
    let why = bench.result(write).unwrap_err();
    assert_eq!(why, OpError::Path { card: NAME, bulk: 8960 });
    assert!(why.is_card_loss(), "the same works with another claim");
    let claim = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let frames = bench.poll().frames;
    let asked = frames.iter().find(|f| Packet::parse(f).unwrap().head.kind == Kind::SessionClaim).unwrap();
    assert_eq!(asked_beats(asked), 23);
    bench.grant(asked);
    assert_eq!(bench.result(claim), Ok(Outcome::Claimed { epoch: EPOCH }));
    bench.host.write(bench.now, CARD, BASE, vec![1; 20_000].into());
    let lengths: Vec<_> = bench.poll().frames.iter().map(|f| Packet::parse(f).unwrap().payload.len()).collect();
    assert_eq!(lengths.iter().max(), Some(&1472), "{lengths:?}");
}

fn asked_beats(claim: &Frame) -> u8 {
    Packet::parse(claim).unwrap().view::<rackloom_wire::Claim>().unwrap().0.beats
}

/// Issue 17, fault 8: a card that announced no memory and frames of 64 bytes decided for all others of a load.
#[test]
fn regression_an_absurd_card_is_left_out_with_a_reason() {
    let mut bench = Bench::new();
    let absurd: [(fn(&mut Announce), _); 3] = [
        (|a| a.memory = U64::ZERO, Absurdity::Memory(0)),
        (|a| a.memory = U64::new(1 << 20), Absurdity::Memory(1 << 20)),
        (|a| a.bulk = U16::new(64), Absurdity::Bulk(64)),
    ];
    for (change, what) in absurd {
        bench.announce_with(CARD, 0, change);
        let claim = bench.host.claim(bench.now, CARD, ClaimOptions::default());
        assert!(bench.poll().frames.is_empty());
        assert_eq!(bench.result(claim), Err(OpError::Absurd { card: NAME, what }));
        assert!(bench.host.card(CARD).is_some(), "it is listed");
    }
    // When it has come to its senses it is used.
    bench.announce(1);
    bench.claim(CARD, EPOCH);
}
