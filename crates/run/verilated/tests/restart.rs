//! A card whose firmware fails restarts itself within a bound, says so, and serves on.

use rackloom_card::Pace;
use rackloom_node::{Duration, Frame, Instant, Node, Output};
use rackloom_verilated::{Config, RtlCard};
use rackloom_wire::{Announce, AnnounceReason, CARDS, FromBytes, Head, IntoBytes, Kind, MacAddr, Packet, Solicit, U32};

const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const HOST: MacAddr = MacAddr([2, 0, 0, 0, 9, 9]);

/// A card in virtual time, asked who it is every millisecond.
struct Bench {
    card: RtlCard,
    now: Instant,
    asked: u32,
}

impl Bench {
    fn new() -> Self {
        let card = RtlCard::new(Config::new(CARD, Pace::Virtual)).expect("a sound configuration");
        let mut bench = Self { card, now: Instant::from_nanos(1_000_003), asked: 0 };
        let first = bench.announced(Duration::from_millis(2));
        assert_eq!((first.reason, bench.card.restarts()), (u8::from(AnnounceReason::LinkUp), 0));
        bench
    }

    /// The next announcement, but for answers from its template.
    fn announced(&mut self, within: Duration) -> Announce {
        let end = self.now + within;
        while self.now < end {
            if let Some(announce) = self.step()
                && announce.reason != u8::from(AnnounceReason::Solicited)
            {
                return announce;
            }
        }
        panic!("no announcement within {within:?}, {} restarts", self.card.restarts());
    }

    fn step(&mut self) -> Option<Announce> {
        if let Some(Output::Transmit(_, frame)) = self.card.poll(self.now) {
            return announcement(&frame);
        }
        let ask_at = Instant::ZERO + Duration::from_millis(1) * (self.asked + 2);
        let wakes_at = self.card.next_deadline().expect("it is on").max(self.now);
        self.now = ask_at.min(wakes_at);
        if self.now == ask_at {
            self.asked += 1;
            let head = Head {
                dst: CARDS,
                src: HOST,
                kind: Kind::DiscoverySolicit,
                flags: 0,
                epoch: 0,
                seq: self.asked,
                addr: 0,
            };
            // With a window it is the firmware that answers.
            let window = Solicit { window_us: U32::new(1), reserved: U32::ZERO };
            self.card.handle_frame(self.now, 0, head.frame(&[window.as_bytes()]));
        } else {
            self.card.handle_timeout(self.now);
        }
        None
    }
}

fn announcement(frame: &Frame) -> Option<Announce> {
    let packet = Packet::parse(frame).ok()?;
    let body = Announce::read_from_prefix(packet.payload).ok()?.0;
    (packet.head.kind == Kind::DiscoveryAnnounce).then_some(body)
}

/// The watchdog's patience on a Verilated card, 2^20 cycles of 6.4 ns, and time to end what is under way and to start.
const BOUND: Duration = Duration::from_millis(8);

fn restarts_itself(bug: u8) {
    let mut bench = Bench::new();
    let boot = loop {
        if let Some(announce) = bench.step() {
            break announce.boot.get();
        }
    };
    for turn in 1..=2 {
        let begin = bench.now;
        bench.card.plant(0);
        bench.step();
        bench.card.plant(bug);
        while bench.card.restarts() < turn {
            bench.step();
            assert!(bench.now < begin + BOUND, "it has not noticed");
        }
        let again = bench.announced(BOUND);
        assert_eq!(again.reason, u8::from(AnnounceReason::Restarted));
        assert_eq!(again.boot.get(), boot.wrapping_add(turn.into()), "it is another card to its hosts");
        // And it serves: the firmware answers who asks.
        let served = bench.now + Duration::from_millis(3);
        let mut answers = 0;
        while bench.now < served {
            answers += u32::from(bench.step().is_some_and(|a| a.reason == u8::from(AnnounceReason::Solicited)));
        }
        assert!(answers >= 2, "{answers} answers");
        assert_eq!(bench.card.restarts(), turn);
    }
}

#[test]
fn after_an_instruction_that_there_is_not() {
    restarts_itself(6);
}

#[test]
fn when_it_runs_in_a_circle() {
    restarts_itself(7);
}

#[test]
fn before_it_writes_over_its_code() {
    restarts_itself(8);
}
