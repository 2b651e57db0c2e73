//! A kernel on one card that uses the memory of another, beside a host that holds both, and of a third that goes.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{
    ClaimOptions, Commit, Error, Launch, LaunchReport, MacAddr, OpError, Rack, RackOptions, Rights, Window,
};
use rackloom_card::{Card, Config, Pace};
use rackloom_live::{Clock, Member, Pool, Switch};
use rackloom_sandbox::WasmSandbox;
use rackloom_wire::ErrorCode;

const MEMORY: u64 = 1 << 20;
const CARDS: [MacAddr; 3] = [MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]), MacAddr([2, 0, 0, 0, 0, 3])];
/// The stream of card 0 that leads to each of the others.
const TO: [u64; 3] = [0, 5, 9];
/// Nodes of the lists.
const NODES: u64 = 300;

struct Lab {
    rack: Rack,
    cards: Vec<Option<Member<Card>>>,
    _pool: Pool,
}

impl Lab {
    /// Three cards, each the rack's; card 0 runs the role, and may read and write the other two.
    fn new(pace: Pace) -> Self {
        let pool = Pool::new(NonZeroUsize::new(2).unwrap(), Clock::start()).unwrap();
        let (switch, sandbox) = (Switch::default(), Arc::new(WasmSandbox::default()));
        let cards = CARDS.map(|mac| {
            let config = Config { memory: 64 << 20, ..Config::new(mac, pace) };
            let card = Card::new(config, sandbox.clone()).unwrap();
            Some(pool.add(card, switch.attach("card").unwrap(), |_| {}))
        });
        let rack = Rack::attach(switch.attach("host").unwrap(), RackOptions::default()).unwrap();
        rack.discover(Duration::from_secs(1)).unwrap();
        rack.claim(&CARDS, ClaimOptions::default()).wait_all().unwrap();
        let image = Bytes::from_static(rackloom_builtin_roles::image("chase").unwrap());
        let loaded = rack.load(&CARDS[..1], image, Commit::AllOrNone, |_, _, _| {}).wait().unwrap();
        assert!(loaded.cards.iter().all(|(_, result)| result.is_ok()), "{loaded:?}");
        for at in 1..3 {
            rack.set_route(CARDS[0], TO[at] as u16, Some((CARDS[at], 0))).wait().unwrap();
        }
        Self { rack, cards: cards.into(), _pool: pool }
    }

    fn open(&self, card: usize, rights: Rights) {
        let window = Window { base: MEMORY, length: 8 << 20, peer: CARDS[0], rights };
        self.rack.set_window(CARDS[card], 0, Some(window)).wait().unwrap();
    }

    /// A list in a card's memory, in no order; its first node.
    fn build(&self, card: usize) -> u64 {
        let place = |i: u64| MEMORY + 64 * (1 + i * 7919 % 100_000);
        for i in 0..NODES {
            let next = if i + 1 < NODES { place(i + 1) } else { 0 };
            let node = [next.to_le_bytes(), i.to_le_bytes()].concat();
            self.rack.write(CARDS[card], place(i), node.into()).wait().unwrap();
        }
        place(0)
    }

    fn launch(&self, kernel: u16, args: &[u64]) -> Result<LaunchReport, Error> {
        self.rack.launch(CARDS[0], Launch { kernel, args: args.to_vec(), ..Launch::default() }).wait()
    }
}

/// Kernels of the role.
const SUM: u16 = 0;
const RAISE: u16 = 1;
const FAULT: u16 = 2;

#[test]
fn a_kernel_follows_lists_through_two_other_cards_and_changes_them() {
    for pace in [Pace::Live, Pace::Clocked] {
        let lab = Lab::new(pace);
        lab.open(1, Rights::READ);
        lab.open(2, Rights::READ | Rights::WRITE);
        let heads = [0, lab.build(1), lab.build(2)];
        let sum = NODES * (NODES - 1) / 2;
        for card in [1, 2] {
            let report = lab.launch(SUM, &[TO[card], heads[card], u64::MAX]).unwrap();
            assert_eq!((report.value, report.cycles), (sum, 4 * NODES), "card {card}: waiting is not charged");
        }
        assert_eq!(lab.launch(RAISE, &[TO[2], heads[2], 200, 1000]).unwrap().value, 200);
        assert_eq!(lab.launch(SUM, &[TO[2], heads[2], u64::MAX]).unwrap().value, sum + 200 * 1000);
        assert_eq!(lab.launch(SUM, &[TO[1], heads[1], 10]).unwrap().value, 45);
    }
}

fn status(result: Result<LaunchReport, Error>) -> ErrorCode {
    match result {
        Err(Error::Op(OpError::Kernel { code, .. })) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_goes_wrong_ends_the_kernel_by_name_or_is_told_it() {
    let lab = Lab::new(Pace::Live);
    lab.open(1, Rights::READ);
    let head = lab.build(1);
    let fault = |stream, addr| lab.launch(FAULT, &[stream, addr]).unwrap().value;
    assert_eq!(fault(TO[1], head), 0);
    assert_eq!(fault(7, head), 1, "no route");
    assert_eq!(fault(TO[1], MEMORY - 8), 2, "refused: outside the window");
    // A window that may be read is not one to be written, and one that is for another card is none.
    assert_eq!(status(lab.launch(RAISE, &[TO[1], head, 5, 1])), ErrorCode::KernelRemote);
    let other = Window { base: MEMORY, length: 8 << 20, peer: CARDS[2], rights: Rights::READ };
    lab.rack.set_window(CARDS[1], 0, Some(other)).wait().unwrap();
    assert_eq!(status(lab.launch(SUM, &[TO[1], head, 5])), ErrorCode::KernelRemote);
    // A mistake of the kernel's own is a trap.
    for args in [[16, head], [TO[1], u64::MAX - 3]] {
        assert_eq!(status(lab.launch(FAULT, &args)), ErrorCode::KernelTrap, "{args:?}");
    }
    // The role goes on, and so does the card.
    lab.open(1, Rights::READ);
    assert_eq!(lab.launch(SUM, &[TO[1], head, 4]).unwrap().value, 6);
    // A route that its owner takes back leads nowhere.
    lab.rack.set_route(CARDS[0], TO[1] as u16, None).wait().unwrap();
    assert_eq!(fault(TO[1], head), 1);
}

#[test]
fn a_card_that_is_pulled_out_under_a_kernel_ends_it_in_time() {
    let mut lab = Lab::new(Pace::Live);
    lab.open(2, Rights::READ);
    let head = lab.build(2);
    // The list has no end.
    let ring = [head.to_le_bytes(), 1u64.to_le_bytes()].concat();
    lab.rack.write(CARDS[2], head, ring.into()).wait().unwrap();
    let launch = Launch { kernel: SUM, args: vec![TO[2], head, u64::MAX], ..Launch::default() };
    let running = lab.rack.launch(CARDS[0], launch);
    std::thread::sleep(Duration::from_millis(50));
    assert!(!running.is_over());
    drop(lab.cards[2].take());
    let started = Instant::now();
    assert_eq!(status(running.wait()), ErrorCode::KernelRemote);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    // Another launch is not affected.
    lab.open(1, Rights::READ);
    let head = lab.build(1);
    assert_eq!(lab.launch(SUM, &[TO[1], head, 4]).unwrap().value, 6);
}

#[test]
fn a_kernel_that_waits_can_be_ended_with_its_claim() {
    let mut lab = Lab::new(Pace::Live);
    lab.open(2, Rights::READ);
    drop(lab.cards[2].take());
    let launch = Launch { kernel: SUM, args: vec![TO[2], MEMORY, 1], ..Launch::default() };
    let running = lab.rack.launch(CARDS[0], launch);
    std::thread::sleep(Duration::from_millis(50));
    let started = Instant::now();
    lab.rack.release(&CARDS[..1], rackloom::Scrub::Keep).wait_all().unwrap();
    assert!(running.wait().is_err());
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
}
