//! Announcements: when, to whom, and how often.

use rackloom_card::{Config, Pace};
use rackloom_node::Duration;
use rackloom_wire::{
    Announce, AnnounceReason, CARDS, CardState, Counter, HOSTS, Head, IntoBytes, Kind, MacAddr, Solicit, U32,
};

use crate::bench::{Bench, CARD, HOST, config};

fn solicit(bench: &mut Bench, src: MacAddr, dst: MacAddr, seq: u32, window_us: u32) {
    let body = Solicit { window_us: U32::new(window_us), reserved: U32::ZERO };
    let head = Head { dst, src, kind: Kind::DiscoverySolicit, flags: 0, epoch: 0, seq, addr: 0 };
    bench.frame(head.frame(&[body.as_bytes()]));
}

#[test]
fn announces_itself_at_link_up_and_says_it_again() {
    let mut bench = Bench::new(Config { unit: 7, boot: 99, ..config(Pace::Virtual) });
    let first = bench.expect(Kind::DiscoveryAnnounce);
    assert_eq!((first.head.dst, first.head.seq, first.head.epoch), (HOSTS, 1, 0));
    let body: Announce = first.body();
    assert_eq!((body.mac0, body.unit.get(), body.boot.get()), (CARD, 7, 99));
    assert_eq!((body.reason, body.state), (u8::from(AnnounceReason::LinkUp), u8::from(CardState::Empty)));
    assert_eq!((body.digest, body.kernels.get(), body.owner), ([0; 32], 0, MacAddr::ZERO));
    bench.pass_ms(300);
    let again: Vec<_> = bench.take_all(Kind::DiscoveryAnnounce);
    let times: Vec<_> = again.iter().map(|s| s.at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [50, 200]);
    assert!(again.iter().all(|s| s.body::<Announce>().reason == u8::from(AnnounceReason::LinkUp)));
}

#[test]
fn a_card_that_slept_through_its_moments_speaks_once() {
    let mut bench = Bench::new(config(Pace::Live));
    bench.clear();
    bench.now += Duration::from_millis(400);
    rackloom_node::Node::handle_timeout(&mut bench.card, bench.now);
    bench.drain();
    assert_eq!(bench.take_all(Kind::DiscoveryAnnounce).len(), 1);
}

#[test]
fn announces_itself_periodically_and_not_in_step() {
    let mut gaps = Vec::new();
    for seed in 0..20 {
        let mut bench = Bench::new(Config { seed, ..config(Pace::Virtual) });
        bench.pass_ms(300);
        bench.clear();
        bench.pass_ms(60_000);
        let times: Vec<_> = bench.take_all(Kind::DiscoveryAnnounce).iter().map(|s| s.at).collect();
        assert!((4..=8).contains(&times.len()), "{times:?}");
        gaps.push(times[0]);
        for pair in times.windows(2) {
            let gap = (pair[1] - pair[0]).as_millis();
            assert!((7_500..=12_500).contains(&gap), "{gap}");
        }
    }
    gaps.sort();
    gaps.dedup();
    assert_eq!(gaps.len(), 20);
}

#[test]
fn answers_a_solicitation_to_the_solicitor_within_the_window() {
    for dst in [CARDS, CARD, MacAddr::BROADCAST] {
        let mut bench = Bench::new(config(Pace::Virtual));
        bench.pass_ms(1);
        bench.clear();
        solicit(&mut bench, HOST, dst, 42, 10_000);
        solicit(&mut bench, HOST, dst, 43, 10_000);
        let asked = bench.now;
        bench.pass_ms(20);
        let answer = bench.expect(Kind::DiscoveryAnnounce);
        assert_eq!((answer.head.dst, answer.head.seq), (HOST, 43));
        assert_eq!(answer.body::<Announce>().reason, u8::from(AnnounceReason::Solicited));
        assert!((answer.at - asked).as_millis() < 10);
        assert!(bench.sent.is_empty());
    }
}

#[test]
fn a_crowd_of_solicitors_is_bounded() {
    let mut bench = Bench::new(config(Pace::Virtual));
    bench.clear();
    for i in 0..20 {
        solicit(&mut bench, MacAddr([2, 1, 1, 1, 1, i]), CARDS, 1, 1000);
    }
    assert_eq!(bench.count(Counter::DropQueue), 12);
    bench.pass_ms(2);
    assert_eq!(bench.take_all(Kind::DiscoveryAnnounce).len(), 8);
}

#[test]
fn announces_changes_of_claim_and_image() {
    let mut bench = Bench::new(config(Pace::Virtual));
    bench.clear();
    let epoch = bench.claim(HOST, 1);
    let told = bench.expect(Kind::DiscoveryAnnounce);
    assert_eq!((told.head.dst, told.head.epoch), (HOSTS, epoch));
    assert_eq!(told.body::<Announce>().reason, u8::from(AnnounceReason::Changed));
    assert_eq!(told.body::<Announce>().owner, HOST);
    let digest = bench.load(1, b"role", 0);
    let told = bench.take_all(Kind::DiscoveryAnnounce).pop().unwrap().body::<Announce>();
    assert_eq!((told.digest, told.kernels.get(), told.clock_khz.get()), (digest, 4, 100_000));
    assert_eq!(told.state, u8::from(CardState::Active));
}

#[test]
fn an_unplugged_card_says_goodbye_and_no_more() {
    let mut bench = Bench::claimed();
    bench.card.unplug(bench.now);
    bench.drain();
    let bye = bench.expect(Kind::DiscoveryGoodbye);
    assert_eq!(bye.head.dst, HOSTS);
    solicit(&mut bench, HOST, CARDS, 1, 0);
    bench.pass_ms(60_000);
    assert!(bench.sent.is_empty());
    assert_eq!(rackloom_node::Node::next_deadline(&bench.card), None);
}
