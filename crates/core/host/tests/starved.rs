//! A host that gets no processor: it must not take its own absence for that of its cards, and still find dead ones.

use rackloom_host::{ClaimOptions, Commit, Config, DownReason, Event, Host, OpError, OpId, Outcome};
use rackloom_node::{Duration, Frame, Instant, Node, Output};
use rackloom_wire::{
    Announce, CardKind, CardState, FromBytes, Grant, HOSTS, Head, IntoBytes, Kind, MacAddr, Packet, Pong, U16, U32, U64,
};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
const EPOCH: u16 = 7;

/// A host, a card that answers or not, and a driver that is late.
struct Rig {
    host: Host,
    now: Instant,
    /// The card answers.
    alive: bool,
    /// Each call comes so long after its deadline.
    late: Duration,
    /// The driver sees other nodes wait for a processor.
    short: bool,
    /// Somebody on the network sends nonsense every millisecond.
    noise: bool,
    pings: u32,
    calls: u32,
    events: Vec<(Instant, Event)>,
}

impl Rig {
    fn new() -> Self {
        let host = Host::new(Config::live(HOST, 1));
        let (late, now) = (Duration::ZERO, Instant::ZERO);
        let mut rig =
            Self { host, now, alive: true, late, short: false, noise: false, pings: 0, calls: 0, events: Vec::new() };
        let mut body = Announce::read_from_bytes(&[0; size_of::<Announce>()]).unwrap();
        (body.mac0, body.boot, body.memory) = (CARD, U32::new(1), U64::new(4 << 20));
        (body.card_kind, body.state, body.bulk) = (CardKind::Model.into(), CardState::Active.into(), U16::new(1472));
        rig.hear(HOSTS, Kind::DiscoveryAnnounce, 0, 1, body.as_bytes());
        rig
    }

    fn hear(&mut self, dst: MacAddr, kind: Kind, epoch: u16, seq: u32, payload: &[u8]) {
        let head = Head { dst, src: CARD, kind, flags: 0, epoch, seq, addr: 0 };
        self.host.handle_frame(self.now, 0, head.frame(&[payload]));
        self.poll();
    }

    fn poll(&mut self) {
        while let Some(output) = self.host.poll(self.now) {
            match output {
                Output::Transmit(_, frame) => self.card(&frame),
                Output::Event(event) => self.events.push((self.now, event)),
            }
        }
    }

    fn card(&mut self, frame: &Frame) {
        let packet = Packet::parse(frame).unwrap();
        self.pings += u32::from(packet.head.kind == Kind::SessionPing);
        if !self.alive {
            return;
        }
        match packet.head.kind {
            Kind::SessionPing => {
                let mut pong = Pong::read_from_bytes(&[0; size_of::<Pong>()]).unwrap();
                pong.boot = U32::new(1);
                self.hear(HOST, Kind::SessionPong, packet.head.epoch, packet.head.seq, pong.as_bytes());
            }
            Kind::SessionClaim => {
                let nonce = packet.view::<rackloom_wire::Claim>().unwrap().0.nonce;
                let body = Grant { nonce, lease_ms: U32::new(5000), boot: U32::new(1) };
                self.hear(HOST, Kind::SessionGrant, EPOCH, packet.head.seq, body.as_bytes());
            }
            _ => {}
        }
    }

    /// Time goes on; the host is called when it wants to be, or later.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due = self.host.next_deadline().map(|at| at.max(self.now) + self.late).filter(|due| *due <= end);
            let noise = self.now + Duration::from_millis(1);
            if self.noise && noise < due.unwrap_or(end) {
                self.now = noise;
                self.host.handle_frame(self.now, 0, vec![0; 64].into());
                self.poll();
            } else if let Some(due) = due {
                self.call(due);
            } else {
                self.now = end;
                return;
            }
        }
    }

    fn call(&mut self, at: Instant) {
        (self.now, self.calls) = (at, self.calls + 1);
        assert!(self.calls < 10_000, "the host asks for calls without end");
        if self.short {
            self.host.handle_starvation();
        }
        self.host.handle_timeout(at);
        self.poll();
    }

    /// When the card was given up, if it was.
    fn given_up(&self) -> Option<Instant> {
        let down = |e: &Event| matches!(e, Event::CardDown { card: CARD, reason: DownReason::Silent });
        self.events.iter().find(|(_, e)| down(e)).map(|(at, _)| *at)
    }

    fn result(&self, op: OpId) -> Option<(Instant, Result<Outcome, OpError>)> {
        self.events.iter().find_map(|(at, e)| match e {
            Event::Completed { op: o, result } if *o == op => Some((*at, result.clone())),
            _ => None,
        })
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

#[test]
fn a_dead_card_is_found_after_exactly_its_time_while_the_host_is_served() {
    let mut rig = Rig::new();
    rig.alive = false;
    rig.pass(seconds(10));
    assert_eq!((rig.given_up(), rig.pings), (Some(at(2000)), 3));
}

/// A host sent an image to twenty cards for eight seconds and was not called meanwhile. It had asked none of them
/// whether they lived, and gave all up at its next call.
#[test]
fn regression_all_cards_vanished_after_a_long_send_on_a_busy_machine() {
    let mut rig = Rig::new();
    rig.call(at(8_000));
    assert_eq!((rig.given_up(), rig.pings), (None, 1));
    rig.pass(seconds(60));
    assert_eq!(rig.given_up(), None);
}

#[test]
fn a_live_card_survives_a_host_that_is_always_late() {
    for ms in [20, 300, 2_500, 30_000] {
        let mut rig = Rig::new();
        rig.late = Duration::from_millis(ms);
        rig.pass(seconds(600));
        assert_eq!(rig.given_up(), None, "{ms} ms late");
    }
}

/// Each pause is shorter than a card's time, but together they would use it up.
#[test]
fn a_card_is_not_given_up_for_the_pauses_of_its_host() {
    let mut rig = Rig::new();
    rig.alive = false;
    for second in [2, 4, 6, 8] {
        rig.call(at(second * 1000));
    }
    assert_eq!(rig.given_up(), None);
    rig.alive = true;
    rig.pass(seconds(10));
    assert_eq!(rig.given_up(), None);
}

#[test]
fn a_dead_card_is_found_by_a_late_host_in_eight_times_the_time_that_it_ran() {
    for ms in [20, 300, 2_500] {
        let mut rig = Rig::new();
        (rig.alive, rig.late) = (false, Duration::from_millis(ms));
        rig.pass(seconds(600));
        let found = rig.given_up().expect("it is dead") - Instant::ZERO;
        let idle = rig.late * rig.calls;
        assert!(found > seconds(2) && found <= seconds(16) + idle, "{ms} ms late: {found:?}, idle for {idle:?}");
    }
}

#[test]
fn starving_neighbours_stretch_the_time_eightfold_and_no_further() {
    let mut rig = Rig::new();
    (rig.alive, rig.short) = (false, true);
    rig.pass(seconds(60));
    let found = rig.given_up().expect("it is dead");
    assert!((at(15_000)..at(16_050)).contains(&found), "{found:?}");
    assert!(rig.pings >= 20);
}

/// A driver tells at timeouts that neighbours starve; frames come in between, and the clock went on at full speed from
/// one to the next.
#[test]
fn starving_neighbours_stretch_the_time_whoever_else_speaks() {
    let mut rig = Rig::new();
    (rig.alive, rig.short, rig.noise) = (false, true, true);
    rig.pass(seconds(60));
    let found = rig.given_up().expect("it is dead");
    assert!((at(12_000)..at(16_050)).contains(&found), "{found:?}");
}

#[test]
fn noise_on_the_network_keeps_no_card_alive() {
    let mut rig = Rig::new();
    (rig.alive, rig.noise) = (false, true);
    rig.pass(seconds(10));
    let found = rig.given_up().expect("it is dead");
    assert!((at(2_000)..at(2_002)).contains(&found), "{found:?}");
}

#[test]
fn a_request_is_given_up_for_want_of_an_answer_and_not_of_a_processor() {
    let mut rig = Rig::new();
    rig.alive = false;
    let op = rig.host.claim(rig.now, CARD, ClaimOptions::default());
    rig.poll();
    rig.call(at(6_000));
    assert_eq!(rig.result(op), None, "nobody could read an answer");
    rig.alive = true;
    rig.pass(seconds(2));
    assert!(matches!(rig.result(op), Some((_, Ok(Outcome::Claimed { epoch: EPOCH })))));
}

#[test]
fn a_deadline_that_the_owner_sets_is_kept_whatever_the_load() {
    let mut rig = Rig::new();
    (rig.alive, rig.short) = (false, true);
    let op = rig.host.claim(rig.now, CARD, ClaimOptions::default());
    rig.host.set_deadline(op, at(700));
    rig.pass(seconds(1));
    let Some((ended, Err(OpError::Deadline { waited, .. }))) = rig.result(op) else { panic!("it has no answer") };
    assert_eq!((ended, waited), (at(700), Duration::from_millis(700)));
}

#[test]
fn a_load_is_not_given_up_for_the_pauses_of_its_host() {
    let mut rig = Rig::new();
    let claim = rig.host.claim(rig.now, CARD, ClaimOptions::default());
    rig.poll();
    assert!(matches!(rig.result(claim), Some((_, Ok(_)))));
    // The card answers pings, and never the load.
    let load = rig.host.load(rig.now, &[CARD], vec![1; 5000].into(), Commit::Each);
    rig.poll();
    rig.call(at(12_000));
    rig.pass(seconds(8));
    assert_eq!(rig.result(load), None);
    rig.pass(seconds(4));
    let Some((_, Ok(Outcome::Loaded(report)))) = rig.result(load) else { panic!("a load ends with its report") };
    let Err(OpError::Stalled { seen: Some(seen), .. }) = &report.cards[&CARD] else { panic!("{report:?}") };
    assert!(seen.silent < seconds(1), "it answers pings: {seen}");
}
