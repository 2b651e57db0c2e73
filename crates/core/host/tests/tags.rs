//! A host with keys, frame by frame: what it makes of frames that its card has not said, and of those that it cannot
//! check.

mod common;

use std::collections::BTreeMap;

use common::{Bench, CARD, EPOCH, HOST};
use rackloom_auth::{Agreement, Bound, CardKey, Direction, PairKey, Sealer};
use rackloom_host::{ClaimOptions, Config, DownReason, Event, Keys, Outcome};
use rackloom_node::{Duration, Frame, Node};
use rackloom_wire::{
    Announce, AnnounceReason, CardKind, CardState, Claim, ErrorCode, FromBytes, Grant, Head, IntoBytes, Kind, MacAddr,
    Packet, Pong, Proof, Refusal, Scrub, Tagged, U16, U32, U64, in_session, with_trailer,
};

const BOOT: u32 = 1;
const CARD_NONCE: u64 = 77;
/// The time in which a host with these settings has taken a silent card for gone, twice over.
const LONG: Duration = Duration::from_secs(4);
/// How often the card of a test looks at what has come.
const STEP: Duration = Duration::from_millis(100);

/// What host and card share, of a generation.
fn pair(generation: u32) -> PairKey {
    CardKey::new([7 + generation as u8; 16]).host(1, 0)
}

/// A host with the card's key, which has heard that the card is there.
fn keyed() -> Bench {
    with_keys(Keys::new(1, of(0), 1))
}

fn of(generation: u32) -> BTreeMap<MacAddr, PairKey> {
    BTreeMap::from([(CARD, pair(generation))])
}

fn with_keys(keys: Keys) -> Bench {
    let mut config = Config::live(HOST, 1);
    config.keys = Some(keys);
    let mut bench = Bench::with(config);
    bench.announce(BOOT);
    assert!(matches!(bench.poll().events[..], [Event::CardUp(_)]));
    bench
}

fn head(kind: Kind, epoch: u16, seq: u32) -> Head {
    Head { dst: HOST, src: CARD, kind, flags: 0, epoch, seq, addr: 0 }
}

fn announcement() -> Announce {
    let mut body = Announce::read_from_bytes(&[0; size_of::<Announce>()]).unwrap();
    (body.mac0, body.boot, body.memory) = (CARD, U32::new(BOOT), U64::new(4 << 20));
    (body.unit, body.bulk, body.reason) = (U16::new(3), U16::new(1472), AnnounceReason::Solicited.into());
    (body.card_kind, body.state) = (CardKind::Model.into(), CardState::Active.into());
    body
}

fn pong(ping: &Packet<'_>, boot: u32) -> Frame {
    let zero = Pong::read_from_bytes(&[0; size_of::<Pong>()]).unwrap();
    let body = Pong { boot: U32::new(boot), state: CardState::Active.into(), ..zero };
    head(Kind::SessionPong, ping.head.epoch, ping.head.seq).frame(&[body.as_bytes()])
}

/// The card's side of a claim: the grant as it is on the wire, and what tags its frames from then on.
fn grant(claim: &Frame) -> (Frame, Sealer) {
    grant_under(0, claim)
}

fn grant_under(generation: u32, claim: &Frame) -> (Frame, Sealer) {
    let packet = Tagged::parse(claim).unwrap().packet;
    let nonce = packet.view::<Claim>().unwrap().0.nonce;
    let body = Grant { nonce, lease_ms: U32::new(5000), boot: U32::new(BOOT) };
    let (proof, announced) = (Proof { card_nonce: U64::new(CARD_NONCE) }, announcement());
    let payload: [&[u8]; 3] = [body.as_bytes(), proof.as_bytes(), announced.as_bytes()];
    let plain = head(Kind::SessionGrant, EPOCH, packet.head.seq).frame(&payload);
    let agreed = Agreement { host_nonce: nonce.get(), card_nonce: CARD_NONCE, boot: BOOT, epoch: EPOCH };
    (answer(generation, &plain), Sealer::new(pair(generation).session(&agreed), BOOT, Direction::ToHost))
}

/// An answer to a claim under a tag of the pair's key of claims.
fn answer(generation: u32, plain: &Frame) -> Frame {
    let claims = pair(generation).claims();
    let tag = |frame: &[u8]| claims.tag(&Bound { frame, boot: BOOT, direction: Direction::ToHost, counter: 1 });
    with_trailer(plain, generation, |message| Some((1, tag(message)?.0))).unwrap()
}

fn generation_of(claim: &Frame) -> u32 {
    Tagged::parse(claim).unwrap().trailer.unwrap().generation
}

fn sealed(sealer: &mut Sealer, frame: &Frame) -> Frame {
    in_session(frame, false, |message, open| sealer.seal(message, open).map(|(counter, tag)| (counter, tag.0))).unwrap()
}

fn hear(bench: &mut Bench, frame: Frame) {
    bench.host.handle_frame(bench.now, 0, frame);
}

/// Time passes, and each frame that the host sends is answered by these. How many were.
fn serve(bench: &mut Bench, time: Duration, mut answer: impl FnMut(&Packet<'_>) -> Vec<Frame>) -> usize {
    let (end, mut answered) = (bench.now + time, 0);
    let mut at = bench.frames.len();
    while bench.now < end {
        bench.pass(STEP);
        let sent = bench.frames[at..].iter();
        let answers: Vec<_> = sent.flat_map(|frame| answer(&Tagged::parse(frame).unwrap().packet)).collect();
        answered += answers.len();
        answers.into_iter().for_each(|frame| hear(bench, frame));
        at = bench.frames.len();
        bench.poll();
    }
    answered
}

fn downs(bench: &Bench) -> Vec<DownReason> {
    let down = |event: &Event| if let Event::CardDown { reason, .. } = event { Some(*reason) } else { None };
    bench.events.iter().filter_map(down).collect()
}

/// Each pong of the card was followed by one with another boot number, which anybody can send: the host took that for a
/// second card of the address, and did not claim it for 40 s.
#[test]
fn regression_a_forged_pong_before_a_claim_kept_the_card_out_of_use() {
    let mut bench = keyed();
    let answered = serve(&mut bench, LONG, |packet| match packet.head.kind {
        Kind::SessionPing => vec![pong(packet, BOOT), pong(packet, BOOT + 1), pong(packet, BOOT)],
        _ => Vec::new(),
    });
    assert!(answered > 9, "the host asks whether the card is there: {answered}");
    assert_eq!(downs(&bench), [], "a stranger's word ends nothing");
    assert_eq!(bench.host.shared_addresses(bench.now).collect::<Vec<_>>(), []);
    assert!(!bench.events.contains(&Event::AddressShared { card: CARD }));
    let op = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let claim = bench.sent(Kind::SessionClaim);
    let (grant, _) = grant(&claim);
    hear(&mut bench, grant);
    assert_eq!(bench.result(op), Ok(Outcome::Claimed { epoch: EPOCH }));
}

/// A switch that has forgotten an address brings its frames to everybody, those of a program that is gone among them.
#[test]
fn regression_what_a_card_told_another_program_was_taken_for_forged() {
    let mut bench = keyed();
    let other = Head { dst: MacAddr([6, 0, 1, 9, 9, 9]), ..head(Kind::SessionReleased, EPOCH, 5) };
    hear(&mut bench, answer(0, &other.frame(&[])));
    hear(&mut bench, Head { dst: HOST, ..other }.frame(&[]));
    let forged = bench.host.forged();
    assert_eq!((forged.wrong, forged.untagged), (0, 1), "the second one is for this host, and has no tag");
}

/// The card has a session that the host does not have, so it answers under a tag that the host cannot check. It was
/// taken for silent, went down, and came up again with its next announcement.
#[test]
fn regression_a_card_whose_grant_was_lost_went_up_and_down() {
    let mut bench = keyed();
    let op = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let claim = bench.sent(Kind::SessionClaim);
    let (grant, mut sealer) = grant(&claim);
    let answered = serve(&mut bench, LONG, |packet| match packet.head.kind {
        Kind::SessionPing => {
            let announce = head(Kind::DiscoveryAnnounce, EPOCH, packet.head.seq).frame(&[announcement().as_bytes()]);
            vec![sealed(&mut sealer, &pong(packet, BOOT)), sealed(&mut sealer, &announce)]
        }
        _ => Vec::new(),
    });
    assert!(answered > 6, "the host asks whether the card is there: {answered}");
    assert_eq!(downs(&bench), [], "the card has answered each time");
    assert!(bench.host.card(CARD).is_some());
    assert_eq!(bench.host.forged().total(), 0, "nobody has posed as it");
    hear(&mut bench, grant);
    assert_eq!(bench.result(op), Ok(Outcome::Claimed { epoch: EPOCH }));
    // From here on only what has the session's tag counts.
    let ping = head(Kind::SessionPing, EPOCH, 1).frame(&[]);
    let pong = pong(&Packet::parse(&ping).unwrap(), BOOT);
    hear(&mut bench, pong.clone());
    assert_eq!(bench.host.forged().untagged, 1);
    hear(&mut bench, sealed(&mut sealer, &pong));
    assert_eq!((bench.host.forged().total(), bench.host.claim_epoch(CARD)), (1, Some(EPOCH)));
}

/// Who has a former key only poses as the card, while host and card have newer ones.
#[test]
fn a_grant_under_a_former_key_is_not_believed() {
    let mut bench = with_keys(Keys::new(1, of(1), 1).of_generation(1, of(0)));
    let op = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let claim = bench.sent(Kind::SessionClaim);
    assert_eq!(generation_of(&claim), 1);
    hear(&mut bench, grant_under(0, &claim).0);
    assert_eq!((bench.host.forged().wrong, bench.host.claim_epoch(CARD)), (1, None));
    hear(&mut bench, grant_under(1, &claim).0);
    assert_eq!(bench.result(op), Ok(Outcome::Claimed { epoch: EPOCH }));
}

#[test]
fn a_claim_goes_from_newer_keys_to_older_ones_and_not_back() {
    let mut bench = with_keys(Keys::new(1, of(1), 1).of_generation(1, of(0)));
    let op = bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let mut claim = bench.sent(Kind::SessionClaim);
    let stale = |claim: &Frame| {
        let seq = Tagged::parse(claim).unwrap().packet.head.seq;
        let code = U16::new(ErrorCode::StaleBoot.into());
        let body = Refusal { code, holder: MacAddr::ZERO, detail: U64::new(BOOT.into()) };
        head(Kind::SessionRefuse, 0, seq).frame(&[body.as_bytes()])
    };
    // The card has the former keys only: the host asks again under those, at once.
    let refusal = stale(&claim);
    hear(&mut bench, answer(0, &refusal));
    claim = bench.sent(Kind::SessionClaim);
    assert_eq!(generation_of(&claim), 0);
    // Whoever says the opposite now sends it nowhere, and it does not ask again as fast as it hears that.
    for generation in [1, 0] {
        let refusal = stale(&claim);
        hear(&mut bench, answer(generation, &refusal));
        assert!(bench.poll().frames.is_empty());
    }
    hear(&mut bench, grant_under(0, &claim).0);
    assert_eq!(bench.result(op), Ok(Outcome::Claimed { epoch: EPOCH }));
    // The next claim is under the newest again: the card may have got that meanwhile.
    bench.host.release(bench.now, CARD, Scrub::Keep);
    let release = bench.sent(Kind::SessionRelease);
    assert_eq!(generation_of(&release), 0);
    bench.host.claim(bench.now, CARD, ClaimOptions::default());
    let claim = bench.sent(Kind::SessionClaim);
    assert_eq!(generation_of(&claim), 1);
}
