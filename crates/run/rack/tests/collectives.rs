//! Groups of model cards that work together over links, live.

use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{
    ClaimOptions, CommError, Communicator, Datatype, MacAddr, Op, Operation, OperationKind as K, Rack, RackOptions,
};
use rackloom_card::Pace;
use rackloom_rack::{Kind, Links, LiveRack, Maker, RackError, Removal, Shape, Topology};

/// Cards of 64 MiB with links, claimed.
fn rack(count: u16, links: Links) -> (LiveRack, Rack, Vec<MacAddr>) {
    let shape = Shape { memory: Some(64 << 20), bulk: 8960, seed: 5, pace: Pace::Live, rate: None };
    let topology = Topology::default().with_links(links, count).unwrap();
    let mut cards = LiveRack::new(shape, topology, Maker::shared()).unwrap();
    let macs: Vec<_> = (0..count).map(|_| cards.add(Kind::Model).unwrap().1).collect();
    let rack =
        Rack::attach(cards.attach("host").unwrap(), RackOptions { jumbo: true, ..RackOptions::default() }).unwrap();
    let start = Instant::now();
    // On a machine that has much to do one look may find only some of them.
    while rack.discover(Duration::from_millis(100)).unwrap().len() < count.into() {
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    rack.claim(&macs, ClaimOptions::default()).wait_all().unwrap();
    (cards, rack, macs)
}

fn sum(kind: K, count: u64) -> Operation {
    Operation { kind, count, datatype: Datatype::I32, op: Op::Sum, root: 0 }
}

fn words(rank: u32, count: u32) -> Vec<u32> {
    (0..count).map(|i| i.wrapping_mul(2_654_435_761).wrapping_add(rank)).collect()
}

fn bytes(words: &[u32]) -> Bytes {
    words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>().into()
}

#[test]
fn four_cards_reduce_a_mebibyte_again_and_again() {
    let (_cards, rack, macs) = rack(4, Links::Full);
    let mut comm = Communicator::new(&rack, &macs, Duration::from_secs(60)).unwrap();
    for count in [1, 4097, 1 << 18] {
        let inputs: Vec<_> = (0..4).map(|rank| bytes(&words(rank, count))).collect();
        let want: Vec<_> = words(0, count).iter().map(|w| w.wrapping_mul(4).wrapping_add(6)).collect();
        let got = comm.run(&sum(K::Allreduce, count.into()), &inputs).unwrap();
        assert!(got.outputs.iter().all(|output| *output == bytes(&want)), "{count} words");
    }
    let inputs: Vec<_> = (0..4).map(|rank| bytes(&words(rank, 9))).collect();
    let got = comm.run(&sum(K::Gather, 9), &inputs).unwrap();
    assert_eq!(got.outputs[0], inputs.concat());
    assert!(got.outputs[1..].iter().all(Bytes::is_empty));
}

#[test]
fn ranks_without_a_link_are_named_and_neighbours_work() {
    let (_cards, rack, macs) = rack(4, Links::Ring);
    let mut comm = Communicator::new(&rack, &macs, Duration::from_secs(60)).unwrap();
    let error = comm.run(&sum(K::Barrier, 0), &vec![Bytes::new(); 4]).unwrap_err();
    let CommError::Plan { between, .. } = &error else { panic!("{error}") };
    assert!(between.contains("card0") && between.contains("card2"), "{error}");
    drop(comm);
    let mut pair = Communicator::new(&rack, &macs[..2], Duration::from_secs(60)).unwrap();
    let given = bytes(&words(7, 3));
    let got = pair.run(&sum(K::Send { to: 1 }, 3), &[given.clone(), Bytes::new()]).unwrap();
    assert_eq!((got.outputs[0].len(), &got.outputs[1]), (0, &given));
}

#[test]
fn a_card_that_does_not_come_is_named_with_its_link() {
    let (cards, rack, macs) = rack(3, Links::Full);
    let mut comm = Communicator::new(&rack, &macs, Duration::from_millis(300)).unwrap();
    // Another host takes card 2, so its sequencer knows nothing of the group; its link lives.
    let other = Rack::attach(cards.attach("other").unwrap(), RackOptions::default()).unwrap();
    rack.release(&macs[2..], rackloom::Scrub::Keep).wait_all().unwrap();
    while other.discover(Duration::from_millis(100)).unwrap().len() < 3 {}
    other.claim(&macs[2..], ClaimOptions::default()).wait_all().unwrap();
    let error = comm.run(&sum(K::Barrier, 0), &vec![Bytes::new(); 3]).unwrap_err();
    assert!(error.to_string().contains("card2"), "{error}");
    // Two of the three are as well as they were.
    let mut pair = Communicator::new(&rack, &macs[..2], Duration::from_secs(60)).unwrap();
    let inputs: Vec<_> = (0..2).map(|rank| bytes(&words(rank, 100))).collect();
    pair.run(&sum(K::Alltoall, 50), &inputs).unwrap();
}

#[test]
fn a_cable_that_is_dead_is_named_and_gateware_has_no_links() {
    let (mut cards, rack, macs) = rack(3, Links::Full);
    let mut comm = Communicator::new(&rack, &macs[..2], Duration::from_secs(60)).unwrap();
    assert!(cards.remove(1, Removal::Yank));
    let inputs = vec![Bytes::new(); 2];
    let error = comm.run(&sum(K::Barrier, 0), &inputs).unwrap_err();
    assert!(error.to_string().contains("card1") || matches!(error, CommError::Rack(_)), "{error}");
    assert!(matches!(cards.add(Kind::Rtl), Err(RackError::NoLinks { unit: 1, .. })));
}
