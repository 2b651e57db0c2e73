//! Remote memory and streams against real cards on an in-process switch.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rackloom::{
    ClaimOptions, Error, Failure, MacAddr, OpError, Rack, RackOptions, Rights, Rma, RmaError, RmaOptions, Window,
};
use rackloom_card::{Card, Config, Pace};
use rackloom_live::{Clock, Member, Pool, Switch};
use rackloom_sandbox::WasmSandbox;
use rackloom_wire::ErrorCode;
use rackloom_wire::bridge::BridgeStatus;

/// First address of a card's memory that is the host's to use.
const MEMORY: u64 = 1 << 20;
const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

struct Lab {
    switch: Switch,
    rack: Rack,
    _card: Member<Card>,
    _pool: Pool,
}

impl Lab {
    /// A card that a rack has claimed.
    fn new() -> Self {
        let pool = Pool::new(NonZeroUsize::new(1).unwrap(), Clock::start()).unwrap();
        let switch = Switch::default();
        let config = Config { memory: 64 << 20, ..Config::new(CARD, Pace::Live) };
        let card = Card::new(config, Arc::new(WasmSandbox::default())).unwrap();
        let card = pool.add(card, switch.attach("card").unwrap(), |_| {});
        let rack = Rack::attach(switch.attach("host").unwrap(), RackOptions::default()).unwrap();
        rack.discover(Duration::from_secs(1)).unwrap();
        rack.claim(&[CARD], ClaimOptions::default()).wait_all().unwrap();
        Self { switch, rack, _card: card, _pool: pool }
    }

    fn node(&self, options: RmaOptions) -> Rma {
        Rma::attach(self.switch.attach("node").unwrap(), options).unwrap()
    }

    fn open(&self, number: u16, node: &Rma, rights: Rights) {
        let window = Window { base: MEMORY, length: 32 << 20, peer: node.mac(), rights };
        self.rack.set_window(CARD, number, Some(window)).wait().unwrap();
    }
}

fn pattern(bytes: usize) -> Bytes {
    (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[test]
fn a_node_reads_what_it_wrote_and_the_owner_sees_it() {
    let lab = Lab::new();
    for options in [RmaOptions::default(), RmaOptions { go_back: true, ..RmaOptions::default() }] {
        let node = lab.node(options);
        lab.open(0, &node, Rights::READ | Rights::WRITE | Rights::ATOMIC);
        let data = pattern(5 << 20);
        node.write(CARD, MEMORY + 3, data.clone()).wait().unwrap();
        assert_eq!(lab.rack.read(CARD, MEMORY + 3, data.len() as u64).wait().unwrap(), data);
        assert_eq!(node.read(CARD, MEMORY + 3, data.len() as u64).wait().unwrap(), data);

        node.write(CARD, MEMORY, Bytes::from_static(&[0; 16])).wait().unwrap();
        let adds: Vec<_> = (0..500).map(|_| node.fetch_add(CARD, MEMORY + 8, 3)).collect();
        for (i, add) in adds.into_iter().enumerate() {
            assert_eq!(add.wait().unwrap(), 3 * i as u64);
        }
        assert_eq!(node.compare_swap(CARD, MEMORY + 8, 1500, 7).wait().unwrap(), 1500);
        assert_eq!(node.compare_swap(CARD, MEMORY + 8, 1500, 8).wait().unwrap(), 7);

        let batch = vec![(MEMORY + 100, Bytes::from_static(b"one")), (MEMORY + 200, Bytes::from_static(b"two"))];
        node.write_batch(CARD, batch).wait().unwrap();
        assert_eq!(node.read(CARD, MEMORY + 200, 3).wait().unwrap(), &b"two"[..]);
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> RmaError {
    match result {
        Err(Error::Remote { peer: CARD, source }) => source,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rights_are_kept_and_end_with_the_claim() {
    let lab = Lab::new();
    let (node, other) = (lab.node(RmaOptions::default()), lab.node(RmaOptions::default()));
    lab.open(0, &node, Rights::READ);
    let bytes = || Bytes::from_static(b"no");
    assert_eq!(node.read(CARD, MEMORY, 2).wait().unwrap().len(), 2);
    let refused = |status| RmaError::Failed(Failure::Refused(status));
    assert_eq!(refusal(node.write(CARD, MEMORY, bytes()).wait()), refused(BridgeStatus::Denied));
    assert_eq!(refusal(node.read(CARD, MEMORY - 1, 2).wait()), refused(BridgeStatus::NoWindow));
    assert_eq!(refusal(node.fetch_add(CARD, MEMORY + 1, 2).wait()), RmaError::Invalid);
    assert_eq!(refusal(node.read(CARD, u64::MAX, 2).wait()), RmaError::Invalid);
    // A stranger is not even answered.
    assert_eq!(refusal(other.read(CARD, MEMORY, 2).wait()), RmaError::Failed(Failure::Unreachable));

    // The window closes, and with it the door.
    lab.rack.set_window(CARD, 0, None).wait().unwrap();
    assert_eq!(refusal(node.read(CARD, MEMORY, 2).wait()), refused(BridgeStatus::NoWindow));
    lab.open(0, &node, Rights::READ);
    assert_eq!(node.read(CARD, MEMORY, 2).wait().unwrap().len(), 2);
    lab.rack.release(&[CARD], rackloom::Scrub::Keep).wait_all().unwrap();
    assert_eq!(refusal(node.read(CARD, MEMORY, 2).wait()), RmaError::Failed(Failure::Unreachable));
}

#[test]
fn windows_that_no_card_can_have_are_refused() {
    let lab = Lab::new();
    let ok = Window { base: MEMORY, length: 64, peer: MacAddr::ZERO, rights: Rights::READ };
    for (number, window, why) in [
        (16, ok, ErrorCode::BadRequest),
        (0, Window { base: MEMORY - 1, ..ok }, ErrorCode::BadAddress),
        (0, Window { length: 64 << 20, ..ok }, ErrorCode::BadAddress),
        (0, Window { length: u64::MAX, ..ok }, ErrorCode::BadAddress),
        (0, Window { base: 16, length: 1, rights: Rights::STREAM, ..ok }, ErrorCode::BadAddress),
    ] {
        let refused = lab.rack.set_window(CARD, number, Some(window)).wait();
        assert!(matches!(refused, Err(Error::Op(OpError::Refused { code, .. })) if code == why), "{refused:?}");
    }
    lab.rack.set_window(CARD, 15, Some(ok)).wait().unwrap();
}

#[test]
fn processes_exchange_messages_and_wait_for_each_other() {
    let lab = Lab::new();
    let (a, b) = (lab.node(RmaOptions::default()), lab.node(RmaOptions::default()));
    let messages = b.open_stream(3, a.mac()).unwrap();
    assert!(matches!(b.open_stream(3, a.mac()), Err(Error::Remote { source: RmaError::Taken, .. })));
    // More than queue and credit hold: the last of them end when the reader has begun.
    let sent: Vec<_> = (0..200).map(|i| a.send(b.mac(), 3, pattern(i * 300))).collect();
    assert!(!sent.last().unwrap().is_over(), "nobody has taken any");
    for i in 0..200 {
        assert_eq!(messages.next().unwrap(), (a.mac(), pattern(i * 300)), "{i}");
    }
    sent.into_iter().for_each(|s| s.wait().unwrap());
    assert_eq!(messages.next_within(Duration::from_millis(10)).unwrap(), None);
    let long = a.send(b.mac(), 3, pattern(65_537)).wait();
    assert!(matches!(long, Err(Error::Remote { source: RmaError::Invalid, .. })), "{long:?}");
}

#[test]
fn operations_end_when_the_network_does() {
    let lab = Lab::new();
    let node = lab.node(RmaOptions::default());
    let nobody = MacAddr([2, 0, 0, 0, 0, 99]);
    let reads: Vec<_> = (0..100).map(|_| node.read(nobody, 0, 8)).collect();
    drop(node);
    for read in reads {
        assert!(matches!(read.wait(), Err(Error::Stopped | Error::Remote { .. })));
    }
}
