//! A host, frame by frame: what it says, what it makes of what it hears.

mod common;

use common::{BASE, Bench, CARD, EPOCH, HOST, NAME, NEIGHBOUR};
use rackloom_host::{Absurdity, ClaimOptions, Commit, Config, DownReason, Event, LastSeen, Launch, OpError, Outcome};
use rackloom_node::{Duration, Frame, Node};
use rackloom_wire::{
    Ack, Announce, CardState, ErrorCode, Failure, Grant, ImageBegin, IntoBytes, Kind, MacAddr, Packet, Pong, Refusal,
    U16, U32, U64,
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
    let mut bench = Bench::with(Config { bulk: 8960, ..Config::live(HOST, 1) });
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
    for (boot, (change, what)) in (2..).zip(absurd) {
        bench.announce_with(CARD, 0, |a| {
            a.boot = U32::new(boot);
            change(a);
        });
        bench.poll();
        let claim = bench.host.claim(bench.now, CARD, ClaimOptions::default());
        assert!(bench.poll().frames.is_empty());
        assert_eq!(bench.result(claim), Err(OpError::Absurd { card: NAME, what }));
        assert!(bench.host.card(CARD).is_some(), "it is listed");
    }
    // When it has come to its senses it is used.
    bench.announce(9);
    bench.claim(CARD, EPOCH);
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
