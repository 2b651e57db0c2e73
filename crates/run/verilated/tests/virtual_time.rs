//! Virtual time: the same frames at the same times give the same card, and idle time costs nothing.

use rackloom_card::Pace;
use rackloom_node::{Duration, Frame, Instant, Node, Output};
use rackloom_verilated::{Clocks, Config, RtlCard, Stress};
use rackloom_wire::{CARDS, Head, IntoBytes, Kind, MacAddr, Packet, Solicit, U32};

const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

fn solicit(seq: u32, window_us: u32) -> Frame {
    let src = MacAddr([2, 0, 0, 0, 9, 9]);
    let head = Head { dst: CARDS, src, kind: Kind::DiscoverySolicit, flags: 0, epoch: 0, seq, addr: 0 };
    head.frame(&[Solicit { window_us: U32::new(window_us), reserved: U32::ZERO }.as_bytes()])
}

fn is_announcement(frame: &Frame) -> bool {
    Packet::parse(frame).is_ok_and(|packet| packet.head.kind == Kind::DiscoveryAnnounce)
}

fn card(stress: Stress) -> RtlCard {
    RtlCard::new(Config { stress, ..Config::new(CARD, Pace::Virtual) }).expect("a sound configuration")
}

/// What a new card sends until `end`, and when, while it is asked who it is every 10 ms; and the cycles of that.
fn run(end: Duration, stress: Stress) -> (Vec<(Instant, Frame)>, u64) {
    play(card(stress), end)
}

fn play(mut card: RtlCard, end: Duration) -> (Vec<(Instant, Frame)>, u64) {
    let boot = Instant::from_nanos(1_000_003);
    let (mut now, mut sent) = (boot, Vec::new());
    let mut asked = 0;
    while now < boot + end {
        while let Some(Output::Transmit(_, frame)) = card.poll(now) {
            sent.push((now, frame));
        }
        let ask_at = boot + Duration::from_millis(10) * (asked + 1);
        let wakes_at = card.next_deadline().expect("it is on").max(now);
        now = ask_at.min(wakes_at);
        if now == ask_at {
            asked += 1;
            card.handle_frame(now, 0, solicit(asked, 2000));
        } else {
            card.handle_timeout(now);
        }
    }
    (sent, card.cycles())
}

#[test]
fn the_same_frames_give_the_same_card() {
    let clocks = Clocks { ddr: 2100, role: 1370, cfg: 640, jitter: 500 };
    for stress in [Stress::default(), Stress { late: true, clocks, ..Stress::default() }] {
        let (first, cycles) = run(Duration::from_millis(100), stress);
        // Three announcements of its link within 100 ms less one, and nine answers.
        assert_eq!(first.len(), 2 + 9);
        assert_eq!((first, cycles), run(Duration::from_millis(100), stress));
    }
}

/// Verilator has a context for each thread, in which arguments are looked up at a card's first cycle.
#[test]
fn a_card_is_the_same_on_a_thread_that_has_made_another() {
    let clocks = Clocks { ddr: 2100, role: 1370, cfg: 640, jitter: 500 };
    let [late, prompt] = [true, false].map(|late| Stress { late, clocks, ..Stress::default() });
    let end = Duration::from_millis(100);
    let here = run(end, late);
    assert!(here != run(end, prompt), "what is late must show");
    let of_here = card(late);
    let there = std::thread::spawn(move || {
        let _of_there = card(prompt);
        play(of_here, end)
    });
    assert!(there.join().unwrap() == here, "its arguments are those of the other card");
}

#[test]
fn clocks_out_of_range_are_refused() {
    for clocks in [Clocks { ddr: 249, ..Clocks::TOGETHER }, Clocks { jitter: 501, ..Clocks::TOGETHER }] {
        let stress = Stress { clocks, ..Stress::default() };
        assert!(RtlCard::new(Config { stress, ..Config::new(CARD, Pace::Virtual) }).is_err());
    }
}

#[test]
fn idle_time_costs_nothing() {
    let (_, cycles) = run(Duration::from_secs(1), Stress::default());
    // A second has 156 million of them.
    assert!(cycles < 1_500_000, "{cycles} cycles");
}

/// Solicitation to answer, both frames and the driver's rounding included.
#[test]
fn an_answer_without_a_window_comes_within_a_microsecond_or_two() {
    let mut card = RtlCard::new(Config::new(CARD, Pace::Virtual)).expect("a sound configuration");
    let mut now = Instant::ZERO;
    let mut until = |card: &mut RtlCard, end: Instant, wanted: &dyn Fn(&Frame) -> bool| loop {
        while let Some(Output::Transmit(_, frame)) = card.poll(now) {
            if wanted(&frame) {
                return now;
            }
        }
        now = card.next_deadline().expect("it is on").max(now);
        if now > end {
            now = end;
            return end;
        }
        card.handle_timeout(now);
    };
    let asked = until(&mut card, Instant::from_nanos(300_000_000), &|_| false);
    card.handle_frame(asked, 0, solicit(7, 0));
    let answered = until(&mut card, asked + Duration::from_millis(1), &is_announcement);
    assert!((answered - asked).as_nanos() < 2000, "{:?}", answered - asked);
}
