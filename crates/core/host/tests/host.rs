//! A host, frame by frame: what it says, what it makes of what it hears.

mod common;

use common::{BASE, Bench, CARD, EPOCH, NAME, NEIGHBOUR};
use rackloom_host::{ClaimOptions, Commit, DownReason, Event, LastSeen, Launch, OpError, Outcome};
use rackloom_node::Duration;
use rackloom_wire::{
    CardState, ErrorCode, Failure, Grant, ImageBegin, IntoBytes, Kind, MacAddr, Packet, Refusal, U16, U32, U64,
};

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

/// The grant was lost, and the lease ran out before the claim was repeated: that is taken for a late copy.
#[test]
fn a_claim_whose_nonce_is_spent_is_asked_anew_three_times() {
    let mut bench = Bench::new();
    let op = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let spent = Refusal { code: U16::new(ErrorCode::StaleEpoch.into()), holder: MacAddr::ZERO, detail: U64::ZERO };
    let mut nonces = Vec::new();
    for _ in 0..4 {
        let claim = bench.sent(Kind::SessionClaim);
        let packet = Packet::parse(&claim).unwrap();
        nonces.push(packet.view::<rackloom_wire::Claim>().unwrap().0.nonce.get());
        bench.hear_from(CARD, 0, Kind::SessionRefuse, packet.head.seq, 0, spent.as_bytes());
        // A copy of the refusal answers the claim before, and changes nothing.
        bench.hear_from(CARD, 0, Kind::SessionRefuse, packet.head.seq, 0, spent.as_bytes());
    }
    assert!(refused(ErrorCode::StaleEpoch)(&bench.result(op)));
    nonces.dedup();
    assert_eq!(nonces.len(), 4);
    bench.claim(CARD, EPOCH);
}
