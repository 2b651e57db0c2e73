//! Each fault of memory, firmware, training and role is named to the host within its bound, and the card serves on or
//! comes back. docs/src/internals/faults.md has the table.

use rackloom_card::{Card, Config};
use rackloom_conformance::Specimen;
use rackloom_conformance::bench::{BASE, Bench, CHUNK, HOST, OBSERVER, Sent, config};
use rackloom_conformance::images::kernel::{BROKEN, BROKEN_WAYS, BUMP, SPIN, WILD};
use rackloom_conformance::images::probe;
use rackloom_node::Duration;
use rackloom_verilated::RtlCard;
use rackloom_wire::{
    self as wire, Announce, AnnounceReason, CardState, Done, ErrorCode, FLAG_ACK_NOW, Head, IntoBytes, Kind, U32, U64,
};

const BOOT: u32 = 77;
/// A memory is silent for 2^18 cycles before that is a fault, and then it is waited for another 2^16: of 6.4 ns. Then
/// the firmware starts, which takes 0.2 ms.
const MEMORY_BOUND: Duration = Duration::from_micros(2_098 + 300);
/// An error ends what is under way, in 2^16 cycles at most.
const ERROR_BOUND: Duration = Duration::from_micros(420 + 300);
/// The watchdog of the Verilated card waits for 2^20 cycles.
const FIRMWARE_BOUND: Duration = Duration::from_micros(6_711 + 420 + 300);
/// A role is cut off at once, and one that does not answer after 2^10 of its cycles.
const ROLE_BOUND: Duration = Duration::from_micros(100);

/// `rl_planted`: the firmware runs in a circle; a role breaks a rule all by itself.
const CIRCLE: u8 = 7;
const TAKES_BACK: u8 = 10;

/// A card in virtual time, so that bounds can be told.
trait Timed: Specimen {
    fn timed(config: Config) -> Self;
}

impl Timed for Card {
    fn timed(config: Config) -> Self {
        Self::plug(config)
    }
}

impl Timed for RtlCard {
    fn timed(config: Config) -> Self {
        let kind = Self::KIND.announced();
        let around = rackloom_verilated::Config::new(config.mac, config.pace);
        Self::new(rackloom_verilated::Config { card: Config { kind, ..config }, ..around }).expect("it is sound")
    }
}

fn on<S: Timed>() -> Bench<S> {
    let mut bench = Bench::of(S::timed(Config { boot: BOOT, ..config() }));
    bench.pass_ms(1);
    bench
}

/// The first frame that `is_it`, which comes within this time; those before it stay.
fn awaited<S: Timed>(bench: &mut Bench<S>, within: Duration, is_it: impl Fn(&Sent) -> bool) -> Sent {
    let end = bench.now + within;
    loop {
        if let Some(at) = bench.sent.iter().position(&is_it) {
            return bench.sent.remove(at).expect("it is there");
        }
        assert!(bench.now < end, "not within {within:?}: {:?}", bench.sent);
        bench.pass(Duration::from_micros(5));
    }
}

fn of_kind(kind: Kind) -> impl Fn(&Sent) -> bool {
    move |sent| sent.head.kind == kind
}

/// What it announces for this reason.
fn named<S: Timed>(bench: &mut Bench<S>, reason: AnnounceReason, within: Duration) -> Announce {
    let is_it =
        |sent: &Sent| sent.head.kind == Kind::DiscoveryAnnounce && sent.body::<Announce>().reason == u8::from(reason);
    awaited(bench, within, is_it).body()
}

fn claim<S: Timed>(bench: &mut Bench<S>, nonce: u64, scrub: u8) {
    let body = wire::Claim { nonce: U64::new(nonce), lease_ms: U32::new(5000), group: 0.into(), scrub, beats: 0 };
    let head = Head { epoch: 0, ..bench.head(Kind::SessionClaim, 5, 0) };
    bench.hand(head.frame(&[body.as_bytes()]));
}

fn claimed<S: Timed>(bench: &mut Bench<S>, nonce: u64) {
    claim(bench, nonce, 0);
    bench.epoch = awaited(bench, Duration::from_millis(1), of_kind(Kind::SessionGrant)).head.epoch;
    bench.clear();
}

/// It is there, whatever else it can do.
fn answers_a_ping<S: Timed>(bench: &mut Bench<S>, state: CardState) {
    let ping = Head { src: OBSERVER, epoch: 0, ..bench.head(Kind::SessionPing, 99, 0) };
    bench.hand(ping.frame(&[]));
    let pong = awaited(bench, Duration::from_millis(1), of_kind(Kind::SessionPong));
    assert_eq!(pong.body::<wire::Pong>().state, u8::from(state));
}

fn works<S: Timed>(bench: &mut Bench<S>, nonce: u64) {
    claimed(bench, nonce);
    let head = Head { flags: FLAG_ACK_NOW, ..bench.head(Kind::InputWrite, 1, BASE) };
    bench.hand(head.frame(&[&[7; 64]]));
    awaited(bench, Duration::from_millis(1), of_kind(Kind::InputConfirmWriteAck));
    assert_eq!(bench.bytes(BASE, 64), [7; 64]);
}

fn memory_that_answers_with_an_error<S: Timed>() {
    let mut bench = on::<S>();
    claimed(&mut bench, 1);
    bench.card.ddr().fail(Some(BASE));
    bench.read(1, BASE, 64);
    let facts = named(&mut bench, AnnounceReason::MemoryFailed, ERROR_BOUND);
    assert_eq!((facts.boot.get(), facts.state), (BOOT + 1, u8::from(CardState::Empty)));
    bench.card.ddr().fail(None);
    works(&mut bench, 2);
}

/// What is asked of a memory that has fallen silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Read,
    Write,
    Zeroed,
}

fn memory_that_does_not_answer<S: Timed>() {
    for asked in [Asked::Read, Asked::Write, Asked::Zeroed] {
        let mut bench = on::<S>();
        if asked != Asked::Zeroed {
            claimed(&mut bench, 1);
        }
        bench.clear();
        bench.card.ddr().silence(true);
        match asked {
            Asked::Read => bench.read(1, BASE, 64),
            Asked::Write => bench.write(1, BASE, &[1; 64]),
            Asked::Zeroed => claim(&mut bench, 1, 1),
        }
        let facts = named(&mut bench, AnnounceReason::MemoryFailed, MEMORY_BOUND);
        assert_eq!((facts.boot.get(), facts.state), (BOOT + 1, u8::from(CardState::Faulty)), "{asked:?}");
        bench.expect_nothing();
        // It takes no claim, and goes on telling what it is.
        claim(&mut bench, 2, 0);
        let no = awaited(&mut bench, Duration::from_millis(1), of_kind(Kind::SessionRefuse));
        assert_eq!(no.code(), ErrorCode::MemoryFault);
        answers_a_ping(&mut bench, CardState::Faulty);
        bench.clear();
        // When memory has given what it owes, which nobody gets, the card is sound.
        bench.card.ddr().silence(false);
        bench.pass_ms(1);
        bench.expect_nothing();
        answers_a_ping(&mut bench, CardState::Empty);
        works(&mut bench, 3);
    }
}

fn memory_that_cannot_be_trained<S: Timed>() {
    let mut bench = Bench::of(S::timed(Config { trained: false, ..config() }));
    let facts = named(&mut bench, AnnounceReason::LinkUp, Duration::from_millis(1));
    assert_eq!(facts.state, u8::from(CardState::Faulty));
    claim(&mut bench, 1, 0);
    let no = awaited(&mut bench, Duration::from_millis(1), of_kind(Kind::SessionRefuse));
    assert_eq!(no.code(), ErrorCode::MemoryFault);
    answers_a_ping(&mut bench, CardState::Faulty);
}

fn with_role<S: Timed>() -> Bench<S> {
    let mut bench = on::<S>();
    claimed(&mut bench, 1);
    let image = probe(1, 0);
    bench.begin(1, &image, CHUNK);
    awaited(&mut bench, Duration::from_millis(1), of_kind(Kind::ImageConfirmReady));
    for index in 0..image.len().div_ceil(CHUNK.into()) {
        bench.chunk(&image, CHUNK, index);
        bench.pass(Duration::from_micros(5));
    }
    awaited(&mut bench, Duration::from_millis(2), of_kind(Kind::ImageConfirmStaged));
    bench.commit(2);
    awaited(&mut bench, Duration::from_millis(2), of_kind(Kind::ImageConfirmActive));
    bench.pass_ms(1);
    bench.clear();
    bench
}

fn done<S: Timed>(bench: &mut Bench<S>, seq: u32, within: Duration) -> Done {
    awaited(bench, within, |sent| sent.head.kind == Kind::ResultDone && sent.head.seq == seq).body()
}

/// A kernel that goes wrong ends with its reason, and the next one runs.
fn kernels_that_go_wrong<S: Timed>() {
    let mut bench = with_role::<S>();
    let ways = (0..BROKEN_WAYS).map(|how| (BROKEN, how)).chain([(WILD, 1 << 30)]);
    let mut seq = 0;
    for (kernel, how) in ways {
        seq += 1;
        bench.launch(seq, kernel, &[how]);
        let ended = done(&mut bench, seq, ROLE_BOUND);
        assert_eq!(ended.status.get(), u16::from(ErrorCode::KernelTrap), "{kernel} {how}");
        if S::KIND == RtlCard::KIND {
            // The port was broken, and not the kernel alone.
            let facts = named(&mut bench, AnnounceReason::RoleFailed, ROLE_BOUND);
            assert_eq!((facts.boot.get(), facts.owner), (BOOT, HOST));
        }
    }
    let out = rackloom_conformance::bench::Out { fuel: 5_000, ..Default::default() };
    bench.launch_with(seq + 1, SPIN, &[], out);
    let ended = done(&mut bench, seq + 1, Duration::from_millis(1));
    assert_eq!(ended.status.get(), u16::from(ErrorCode::KernelFuel));
    bench.launch(seq + 2, BUMP, &[BASE, 10]);
    assert_eq!(done(&mut bench, seq + 2, ROLE_BOUND).status.get(), u16::from(ErrorCode::Ok));
}

macro_rules! each {
    ($($fault:ident),* $(,)?) => {
        mod model {
            $(#[test] fn $fault() { super::$fault::<super::Card>(); })*
        }
        mod gateware {
            $(#[test] fn $fault() { super::$fault::<super::RtlCard>(); })*
        }
    };
}

each! {
    memory_that_answers_with_an_error,
    memory_that_does_not_answer,
    memory_that_cannot_be_trained,
    kernels_that_go_wrong,
}

/// Of all this the model has the last: see `tests/model/ports.rs`.
#[test]
fn a_role_that_goes_wrong_by_itself() {
    let mut bench = with_role::<RtlCard>();
    bench.card.plant(TAKES_BACK);
    // Time stands still for a card in which nothing happens.
    bench.send(Kind::SessionPing, 1, 0, &[]);
    let facts = named(&mut bench, AnnounceReason::RoleFailed, ROLE_BOUND);
    assert_eq!((facts.boot.get(), facts.owner, facts.state), (BOOT, HOST, u8::from(CardState::Active)));
    // Told once, however often it does so.
    bench.clear();
    bench.pass_ms(1);
    assert!(bench.take_all(Kind::DiscoveryAnnounce).is_empty());
    bench.card.plant(0);
    bench.launch(1, BUMP, &[BASE, 10]);
    assert_eq!(done(&mut bench, 1, ROLE_BOUND).status.get(), u16::from(ErrorCode::Ok));
}

/// The model has no firmware.
#[test]
fn firmware_that_dies() {
    let mut bench = with_role::<RtlCard>();
    bench.card.plant(CIRCLE);
    // Until the processor fetches an instruction it sleeps.
    bench.send(Kind::SessionPing, 1, 0, &[]);
    let facts = named(&mut bench, AnnounceReason::Restarted, FIRMWARE_BOUND);
    assert_eq!((facts.boot.get(), facts.state), (BOOT + 1, u8::from(CardState::Empty)));
    works(&mut bench, 2);
}
