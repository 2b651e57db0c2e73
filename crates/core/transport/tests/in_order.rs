//! Two ends that deliver in order, segment by segment.

use rackloom_node::{Duration, Instant};
use rackloom_transport::{AckPolicy, Connection, ConnectionConfig, Data, Delivery, PeerError, Sack, Segment};

const RTO: Duration = Duration::from_micros(400);

fn config(hold: u32, selective: bool) -> ConnectionConfig {
    ConnectionConfig {
        first: u32::MAX - 2,
        window: 16,
        credit: 64,
        opening: 64,
        queue_max: 64,
        delivery: Delivery::InOrder { hold },
        selective,
        ack: AckPolicy { every: 4, delay: Duration::from_micros(20) },
        asks_seldom: false,
        rto_min: RTO,
        rto_max: RTO,
    }
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// The n-th number of a life, from 0.
fn number(n: u32) -> u32 {
    (u32::MAX - 2).wrapping_add(n)
}

fn all(end: &mut Connection<u32>, now: Instant) -> Vec<Segment<u32>> {
    let segments = std::iter::from_fn(|| end.poll(now)).collect();
    end.check_invariants();
    segments
}

/// Each number and whether it asks, counted from 0.
fn data(segments: &[Segment<u32>]) -> Vec<(u32, bool)> {
    segments.iter().filter_map(|s| s.data.as_ref().map(|d| (d.payload, s.asks))).collect()
}

/// The only segment there is.
fn only(end: &mut Connection<u32>, now: Instant) -> Segment<u32> {
    let mut segments = all(end, now);
    assert_eq!(segments.len(), 1, "{segments:?}");
    segments.remove(0)
}

/// Of an acknowledgement: the first number missing, counted from 0, and whether it is negative.
fn acked(segment: &Segment<u32>) -> (u32, bool) {
    let ack = segment.ack.expect("an acknowledgement");
    (ack.sack.next().wrapping_sub(number(0)), ack.is_nack)
}

fn give(end: &mut Connection<u32>, now: Instant, segment: &Segment<u32>) -> Vec<u32> {
    let payloads = end.handle(now, segment.clone()).expect("no error of the peer").payloads.collect();
    end.check_invariants();
    payloads
}

/// Lets a sender and a receiver learn of each other: what the sender has to send then.
fn meet(a: &mut Connection<u32>, b: &mut Connection<u32>, now: Instant) -> Vec<Segment<u32>> {
    for _ in 0..4 {
        let segments = all(a, now);
        if a.is_established() {
            return segments;
        }
        segments.iter().for_each(|s| drop(give(b, now, s)));
        all(b, now).iter().for_each(|s| drop(give(a, now, s)));
    }
    panic!("they never meet");
}

/// A sender and a receiver that know each other, with the payloads `0..count` queued and their segments sent at 0.
fn ends(
    from: ConnectionConfig,
    to: ConnectionConfig,
    count: u32,
) -> (Connection<u32>, Connection<u32>, Vec<Segment<u32>>) {
    let (mut a, mut b) = (Connection::new(at(0), from, 1), Connection::new(at(0), to, 1));
    (0..count).for_each(|n| a.push(n).unwrap());
    let segments = meet(&mut a, &mut b, at(0));
    (a, b, segments)
}

#[test]
fn a_gap_has_one_nack_and_another_for_each_that_asks() {
    let (mut a, mut b, sent) = ends(config(0, false), config(0, false), 6);
    assert_eq!(data(&sent), [(0, false), (1, false), (2, false), (3, false), (4, false), (5, true)]);
    assert_eq!(give(&mut b, at(5), &sent[0]), [0]);
    assert_eq!(give(&mut b, at(5), &sent[2]), []);
    assert_eq!(acked(&only(&mut b, at(5))), (1, true));
    assert_eq!(give(&mut b, at(6), &sent[3]), []);
    assert_eq!(give(&mut b, at(6), &sent[4]), []);
    assert_eq!(all(&mut b, at(100)), [], "one for each gap");
    give(&mut b, at(100), &sent[5]);
    let nack = only(&mut b, at(100));
    assert_eq!(acked(&nack), (1, true), "it asked");
    give(&mut a, at(105), &nack);
    let again = all(&mut a, at(105));
    assert_eq!(data(&again), [(1, false), (2, false), (3, false), (4, false), (5, true)]);
    let got: Vec<_> = again.iter().flat_map(|s| give(&mut b, at(110), s)).collect();
    assert_eq!(got, [1, 2, 3, 4, 5]);
    give(&mut a, at(115), &only(&mut b, at(110)));
    assert!(a.is_idle() && a.deadline().is_none());
}

#[test]
fn a_nack_that_comes_too_late_is_an_acknowledgement() {
    let (_, mut b, sent) = ends(config(0, false), config(0, false), 4);
    give(&mut b, at(5), &sent[1]);
    give(&mut b, at(5), &sent[0]);
    // The gap has closed before its negative acknowledgement could go out.
    assert_eq!(acked(&only(&mut b, at(5))), (1, false));
}

#[test]
fn a_second_nack_of_a_gap_counts_only_after_a_quarter_of_the_timeout() {
    let (mut a, mut b, sent) = ends(config(0, false), config(0, false), 8);
    give(&mut b, at(5), &sent[1]);
    let nack = only(&mut b, at(5));
    give(&mut a, at(10), &nack);
    assert_eq!(data(&all(&mut a, at(10))).len(), 8);
    assert_eq!(a.deadline(), Some(at(10) + RTO));
    give(&mut a, at(109), &nack);
    assert_eq!(all(&mut a, at(109)), []);
    give(&mut a, at(110), &nack);
    assert_eq!(data(&all(&mut a, at(110))).len(), 8, "a hundred microseconds later");
    // A gap further on is a new one, however soon.
    sent[..3].iter().for_each(|s| drop(give(&mut b, at(111), s)));
    give(&mut b, at(111), &sent[5]);
    let further = only(&mut b, at(111));
    assert_eq!(acked(&further), (3, true));
    give(&mut a, at(112), &further);
    assert_eq!(data(&all(&mut a, at(112))), [(3, false), (4, false), (5, false), (6, false), (7, true)]);
    // One that was overtaken says nothing.
    give(&mut a, at(400), &nack);
    assert_eq!(all(&mut a, at(400)), []);
}

#[test]
fn the_timer_goes_back_to_the_first_number_missing_and_its_wait_stays() {
    let (mut a, _, _) = ends(config(0, false), config(0, false), 8);
    for round in 1..5 {
        let now = at(0) + RTO * round;
        assert_eq!(a.deadline(), Some(now));
        a.handle_timeout(now);
        assert_eq!(data(&all(&mut a, now)).iter().map(|d| d.0).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_held_comes_out_behind_the_one_that_was_missing() {
    let (mut a, mut b, sent) = ends(config(0, true), config(4, true), 8);
    for (n, payloads) in [(1, vec![]), (3, vec![]), (0, vec![0, 1])] {
        assert_eq!(give(&mut b, at(5), &sent[n]), payloads);
    }
    let ack = only(&mut b, at(5));
    assert_eq!((acked(&ack), ack.ack.unwrap().sack.has(number(3))), ((2, false), true));
    // Number 7 is five beyond: it is dropped, and so wanted again.
    give(&mut b, at(6), &sent[6]);
    assert_eq!(acked(&only(&mut b, at(6))), (2, false));
    give(&mut b, at(6), &sent[7]);
    let nack = only(&mut b, at(6));
    assert_eq!(acked(&nack), (2, true));
    give(&mut a, at(10), &nack);
    let again = all(&mut a, at(10));
    assert_eq!(data(&again), [(2, false), (4, false), (5, false), (7, true)], "3 and 6 are held");
    let got: Vec<_> = again.iter().flat_map(|s| give(&mut b, at(15), s)).collect();
    assert_eq!(got, [2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_peer_that_reads_no_bitmap_gets_a_nack_even_if_payloads_are_held() {
    let (mut a, mut b, sent) = ends(config(0, false), config(16, true), 6);
    for n in [2, 3, 5] {
        assert_eq!(give(&mut b, at(5), &sent[n]), []);
    }
    let nack = only(&mut b, at(5));
    assert_eq!((acked(&nack), nack.ack.unwrap().sack.is_contiguous()), ((0, true), true));
    give(&mut a, at(10), &nack);
    let again = all(&mut a, at(10));
    assert_eq!(data(&again).len(), 6);
    assert_eq!(give(&mut b, at(15), &again[0]), [0]);
    assert_eq!(give(&mut b, at(15), &again[1]), [1, 2, 3]);
    assert_eq!(acked(&only(&mut b, at(15))), (4, false), "at once: what is held need not come again");
    // A resent one that is held already still shows that the gap is there.
    assert_eq!(give(&mut b, at(16), &again[5]), []);
    assert_eq!(acked(&only(&mut b, at(16))), (4, true));
}

#[test]
fn a_bitmap_means_nothing_to_an_end_that_is_not_selective() {
    let (mut a, mut b, sent) = ends(config(0, false), config(16, true), 6);
    give(&mut b, at(5), &sent[0]);
    let mut ack = only(&mut b, at(25));
    assert_eq!(acked(&ack), (1, false));
    ack.ack.as_mut().unwrap().sack.insert(number(4));
    give(&mut a, at(30), &ack);
    assert_eq!(a.in_flight(), 5);
    a.handle_timeout(at(30) + RTO);
    assert_eq!(data(&all(&mut a, at(30) + RTO)).len(), 5);
}

#[test]
fn a_nack_waits_for_no_payload_and_every_segment_acknowledges() {
    let (_, mut b, sent) = ends(config(0, false), config(0, false), 4);
    (0..2).for_each(|n| b.push(n).unwrap());
    give(&mut b, at(5), &sent[0]);
    give(&mut b, at(5), &sent[2]);
    let segments = all(&mut b, at(5));
    assert_eq!(
        segments.iter().map(|s| (acked(s), s.data.is_some())).collect::<Vec<_>>(),
        [((1, true), false), ((1, false), true), ((1, false), true),]
    );
}

#[test]
fn what_is_held_is_within_the_credit_and_gone_with_the_peers_life() {
    let small = ConnectionConfig { credit: 4, opening: 4, ..config(16, true) };
    let (_, mut b, sent) = ends(small.clone(), small.clone(), 8);
    assert_eq!(data(&sent).len(), 4, "as many as there is credit for");
    for n in [1, 2, 3] {
        assert_eq!(give(&mut b, at(5), &sent[n]), []);
    }
    let beyond = Segment { data: Some(Data { seq: number(4), payload: 4 }), ..sent[3].clone() };
    let error = b.handle(at(5), beyond).unwrap_err();
    assert_eq!(error, PeerError::BeyondCredit { seq: number(4), limit: number(4) });
    assert_eq!(only(&mut b, at(5)).ack.unwrap().limit, number(4), "holding is no consuming");
    // A new life of the peer, which sends the same numbers.
    let mut a = Connection::new(at(10), small, 2);
    (10..13).for_each(|n| a.push(n).unwrap());
    let sent = meet(&mut a, &mut b, at(10));
    let got: Vec<_> = sent.iter().flat_map(|s| give(&mut b, at(15), s)).collect();
    assert_eq!(got, [10, 11, 12]);
}

#[test]
fn what_was_acknowledged_and_only_held_is_lost_with_the_peers_life() {
    let (mut a, mut b, sent) = ends(config(0, true), config(16, true), 4);
    [0, 2, 3].iter().for_each(|n| drop(give(&mut b, at(5), &sent[*n])));
    let ack = only(&mut b, at(5));
    assert_eq!(ack.ack.unwrap().sack.end(), number(4));
    give(&mut a, at(10), &ack);
    let received = a.handle(at(11), Segment { src: 2, ack: None, ..ack }).unwrap();
    assert_eq!((received.restarted, received.lost), (true, vec![1, 2, 3]));
}

#[test]
fn a_new_life_counts_even_if_its_first_segment_errs() {
    let (mut a, mut b, sent) = ends(config(0, false), config(0, false), 3);
    sent.iter().for_each(|s| drop(give(&mut b, at(5), s)));
    let mut err = only(&mut b, at(5));
    (err.src, err.ack.as_mut().unwrap().sack) = (2, Sack::new(number(1)));
    let received = a.handle(at(10), err.clone()).expect("the error goes unsaid");
    assert!(received.restarted);
    assert_eq!((received.lost, received.payloads.len()), (vec![0, 1, 2], 0));
    assert_eq!(a.handle(at(10), err), Err(PeerError::AckBeyondSent { end: number(1), next: number(0) }));
}

/// How many segments two ends that are at odds send to each other, within a few timeouts and from a single one on: each
/// believes itself in a life after the one that the other knows.
fn answers_of_ends_at_odds(plant: impl Fn(&mut Connection<u32>)) -> u32 {
    let mut ends = [5, 1 << 31].map(|epoch| Connection::<u32>::new(at(0), config(0, false), epoch));
    ends.iter_mut().for_each(&plant);
    // A third life of each, forged or forgotten, which the other is established with.
    for (end, (src, dst)) in [((1 << 30) + 7, 5), (9, 1 << 31)].into_iter().enumerate() {
        let hello = Segment { src, dst, asks: false, selective: false, ack: None, data: None };
        assert!(ends[end].handle(at(0), hello).expect("nothing impossible").restarted);
        all(&mut ends[end], at(0));
    }
    let stale = Segment { src: 1, dst: 5, asks: false, selective: false, ack: None, data: None };
    ends[0].handle(at(0), stale).expect("nothing impossible");
    let mut sent = 0;
    for us in 0..4000 {
        for from in 0..2 {
            for segment in all(&mut ends[from], at(us)) {
                sent += 1;
                ends[1 - from].handle(at(us), segment).expect("nothing impossible");
            }
        }
    }
    sent
}

#[test]
fn two_ends_at_odds_about_their_lives_do_not_answer_each_other_for_ever() {
    let sent = answers_of_ends_at_odds(|_| {});
    // Each answers four times at once and then once in each of the ten timeouts.
    assert!((2..=2 * (4 + 10)).contains(&sent), "{sent} segments");
}

#[cfg(feature = "planted-bugs")]
#[test]
fn ends_that_answer_for_ever_are_caught() {
    let sent = answers_of_ends_at_odds(|end| end.plant(rackloom_transport::PlantedBug::AnswerForEver));
    assert!(sent > 1000, "{sent} segments");
}
