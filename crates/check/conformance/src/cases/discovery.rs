//! Announcements: when, to whom, and how often.

use rackloom_card::Config;
use rackloom_node::Duration;
use rackloom_wire::{
    Announce, AnnounceReason, CARDS, CardState, Counter, HOSTS, Head, IntoBytes, Kind, MacAddr, Solicit, U32,
    WINDOW_US_MAX,
};

use crate::bench::{Bench, CARD, HOST, config};
use crate::{Specimen, images};

fn solicit<S: Specimen>(bench: &mut Bench<S>, src: MacAddr, dst: MacAddr, seq: u32, window_us: u32) {
    let body = Solicit { window_us: U32::new(window_us), reserved: U32::ZERO };
    let head = Head { dst, src, kind: Kind::DiscoverySolicit, flags: 0, epoch: 0, seq, addr: 0 };
    bench.frame(head.frame(&[body.as_bytes()]));
}

/// A card says who it is when its link comes up, three times.
pub fn announces_itself_at_link_up_and_says_it_again<S: Specimen>() {
    let mut bench = Bench::<S>::new(Config { unit: 7, boot: 99, ..config() });
    let first = bench.expect(Kind::DiscoveryAnnounce);
    assert_eq!((first.head.dst, first.head.seq, first.head.epoch), (HOSTS, 1, 0));
    let body: Announce = first.body();
    let asked = config();
    assert_eq!((body.mac0, body.unit.get(), body.boot.get()), (CARD, 7, 99));
    assert_eq!(body.card_kind, u8::from(S::KIND.announced()));
    assert_eq!((body.vendor.get(), body.product.get(), body.bulk.get()), (asked.vendor, asked.product, asked.bulk));
    assert_eq!((body.memory.get(), body.port_rate.get()), (asked.memory, asked.port_rate));
    assert_eq!((body.stage_rate.get(), body.config_rate.get()), (asked.stage_rate, asked.config_rate));
    assert_eq!((body.reason, body.state), (u8::from(AnnounceReason::LinkUp), u8::from(CardState::Empty)));
    assert_eq!((body.digest, body.kernels, body.owner), ([0; 32], 0, MacAddr::ZERO));
    assert_eq!(body.clock_khz.get(), asked.clock_khz);
    bench.pass_ms(300);
    let again: Vec<_> = bench.take_all(Kind::DiscoveryAnnounce);
    let times: Vec<_> = again.iter().map(|s| s.at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [50, 200]);
    assert!(again.iter().all(|s| s.body::<Announce>().reason == u8::from(AnnounceReason::LinkUp)));
}

/// It does not catch up on what it has missed.
pub fn a_card_that_slept_through_its_moments_speaks_once<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    bench.clear();
    bench.now += Duration::from_millis(400);
    bench.card.handle_timeout(bench.now);
    bench.drain();
    assert_eq!(bench.take_all(Kind::DiscoveryAnnounce).len(), 1);
}

/// Cards that were switched on together do not stay in step.
pub fn announces_itself_periodically_and_not_in_step<S: Specimen>() {
    let mut gaps = Vec::new();
    for seed in 0..5 {
        let mut bench = Bench::<S>::new(Config { seed: seed * 0x1357_9bdf, ..config() });
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
    assert_eq!(gaps.len(), 5);
}

/// The answer goes to who asks, within the time that it gives; who asks twice has one answer.
pub fn answers_a_solicitation_within_the_window<S: Specimen>() {
    for dst in [CARDS, CARD, MacAddr::BROADCAST] {
        let mut bench = Bench::<S>::new(config());
        bench.pass_ms(1);
        bench.clear();
        solicit(&mut bench, HOST, dst, 42, 10_000);
        let asked = bench.now;
        let early = bench.take_all(Kind::DiscoveryAnnounce).len();
        if early == 0 {
            // The answer that is due anyway answers both.
            solicit(&mut bench, HOST, dst, 43, 10_000);
            bench.pass_ms(20);
            let answer = bench.expect(Kind::DiscoveryAnnounce);
            assert_eq!((answer.head.dst, answer.head.seq), (HOST, 43));
            assert_eq!(answer.body::<Announce>().reason, u8::from(AnnounceReason::Solicited));
            assert!((answer.at - asked).as_millis() <= 10);
        }
        assert!(early <= 1 && bench.sent.is_empty());
    }
}

/// Without a window the answer comes at once.
pub fn answers_at_once_when_asked_to<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    bench.clear();
    for seq in 1..5 {
        solicit(&mut bench, HOST, CARDS, seq, 0);
        let answer = bench.expect(Kind::DiscoveryAnnounce);
        assert_eq!((answer.head.dst, answer.head.seq, answer.head.epoch), (HOST, seq, 0));
        assert_eq!(answer.body::<Announce>().reason, u8::from(AnnounceReason::Solicited));
        assert!(bench.sent.is_empty());
    }
    // The first announcement and these.
    assert_eq!(bench.count(Counter::Announces), 5);
}

/// Issue 17, fault 3: eight solicitations with a window of 71 minutes hid a card from all others. Places are few and
/// windows bounded: with one more, the first of those who wait is answered at once.
pub fn a_crowd_of_solicitors_keeps_nobody_from_an_answer<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    bench.pass_ms(300);
    bench.clear();
    let solicitor = |i| MacAddr([2, 1, 1, 1, 1, i]);
    for i in 0..20 {
        solicit(&mut bench, solicitor(i), CARDS, 1, u32::MAX);
    }
    let early: Vec<_> = bench.take_all(Kind::DiscoveryAnnounce).iter().map(|s| s.head.dst).collect();
    assert_eq!(early, (0..16).map(solicitor).collect::<Vec<_>>());
    solicit(&mut bench, HOST, CARDS, 7, 1000);
    bench.pass_ms(2);
    assert!(bench.take_all(Kind::DiscoveryAnnounce).iter().any(|s| (s.head.dst, s.head.seq) == (HOST, 7)));
    bench.pass_ms(u64::from(WINDOW_US_MAX / 1000));
    let others = |s: &crate::bench::Sent| s.head.dst != HOSTS;
    let late = bench.take_all(Kind::DiscoveryAnnounce).into_iter().filter(others).count();
    assert!((2..=3).contains(&late), "{late} of the last three");
    assert_eq!(bench.count(Counter::DropQueue), 0);
    // Nobody waits any longer.
    bench.pass_ms(5000);
    assert!(!bench.take_all(Kind::DiscoveryAnnounce).into_iter().any(|s| s.head.dst != HOSTS));
}

/// Whoever looks after cards learns of changes without asking.
pub fn announces_changes_of_claim_and_image<S: Specimen>() {
    let mut bench = Bench::<S>::new(config());
    bench.clear();
    let epoch = bench.claim(HOST, 1);
    let told = bench.expect(Kind::DiscoveryAnnounce);
    assert_eq!((told.head.dst, told.head.epoch), (HOSTS, epoch));
    assert_eq!(told.body::<Announce>().reason, u8::from(AnnounceReason::Changed));
    assert_eq!(told.body::<Announce>().owner, HOST);
    let digest = bench.load(1, &images::probe(1, 0));
    let told = bench.last(Kind::DiscoveryAnnounce).body::<Announce>();
    assert_eq!((told.digest, usize::from(told.kernels)), (digest, images::kernel::COUNT));
    assert_eq!((told.state, told.clock_khz.get()), (u8::from(CardState::Active), S::PROBE_KHZ));
}

/// A card that is pulled out says goodbye.
pub fn an_unplugged_card_says_goodbye_and_no_more<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    bench.card.unplug(bench.now);
    bench.drain();
    assert_eq!(bench.expect(Kind::DiscoveryGoodbye).head.dst, HOSTS);
    solicit(&mut bench, HOST, CARDS, 1, 0);
    bench.pass_ms(60_000);
    assert!(bench.sent.is_empty());
    assert_eq!(bench.card.next_deadline(), None);
}
