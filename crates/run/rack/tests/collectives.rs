//! Groups of cards that work together over links, live: of models, of gateware, and of both.

use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{
    ClaimOptions, CommError, Communicator, Datatype, MacAddr, Op, Operation, OperationKind as K, Rack, RackOptions,
    Seat,
};
use rackloom_card::Pace;
use rackloom_rack::{Kind, Links, LiveRack, Maker, RackError, Removal, Shape, Topology};

/// Model cards of 64 MiB with links, claimed.
fn rack(count: u16, links: &Links) -> (LiveRack, Rack, Vec<MacAddr>) {
    rack_of(&vec![Kind::Model; count.into()], links, 8960)
}

/// Cards of these kinds, the same.
fn rack_of(kinds: &[Kind], links: &Links, bulk: u16) -> (LiveRack, Rack, Vec<MacAddr>) {
    let count = kinds.len() as u16;
    let shape = Shape { memory: Some(64 << 20), bulk, seed: 5, pace: Pace::Live, rate: None };
    let topology = Topology::default().with_links(links, count).unwrap();
    let mut cards = LiveRack::new(shape, topology, Maker::shared()).unwrap();
    let macs: Vec<_> = kinds.iter().map(|kind| cards.add(*kind).unwrap().1).collect();
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
    let (_cards, rack, macs) = rack(4, &Links::Full);
    let comm = Communicator::new(&rack, &macs, Duration::from_secs(60)).unwrap();
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
fn cards_pass_on_what_is_for_others_of_their_group_and_no_more() {
    let (_cards, rack, macs) = rack(4, &Links::Ring);
    let comm = Communicator::new(&rack, &macs, Duration::from_secs(60)).unwrap();
    let inputs: Vec<_> = (0..4).map(|rank| bytes(&words(rank, 40_000))).collect();
    let got = comm.run(&sum(K::Alltoall, 10_000), &inputs).unwrap();
    let block = |from: usize, to: usize| inputs[from].slice(to * 40_000..(to + 1) * 40_000);
    for (to, output) in got.outputs.iter().enumerate() {
        assert_eq!(*output, (0..4).map(|from| block(from, to)).collect::<Vec<_>>().concat(), "rank {to}");
    }
    drop(comm);
    // Cards 0 and 2 have no link, and those between are not of this group.
    let apart = Communicator::new(&rack, &[macs[0], macs[2]], Duration::from_secs(60)).unwrap();
    let error = apart.run(&sum(K::Barrier, 0), &vec![Bytes::new(); 2]).unwrap_err();
    let CommError::Plan { between, .. } = &error else { panic!("{error}") };
    assert!(between.contains("card0") && between.contains("card2"), "{error}");
    drop(apart);
    let pair = Communicator::new(&rack, &macs[..2], Duration::from_secs(60)).unwrap();
    let given = bytes(&words(7, 3));
    let got = pair.run(&sum(K::Send { to: 1 }, 3), &[given.clone(), Bytes::new()]).unwrap();
    assert_eq!((got.outputs[0].len(), &got.outputs[1]), (0, &given));
}

#[test]
fn a_card_that_another_host_has_taken_is_named() {
    let (cards, rack, macs) = rack(3, &Links::Full);
    let comm = Communicator::new(&rack, &macs, Duration::from_millis(300)).unwrap();
    // Another host takes card 2; its link lives.
    let other = Rack::attach(cards.attach("other").unwrap(), RackOptions::default()).unwrap();
    rack.release(&macs[2..], rackloom::Scrub::Keep).wait_all().unwrap();
    while other.discover(Duration::from_millis(100)).unwrap().len() < 3 {}
    other.claim(&macs[2..], ClaimOptions::default()).wait_all().unwrap();
    let error = comm.run(&sum(K::Barrier, 0), &vec![Bytes::new(); 3]).unwrap_err();
    assert!(error.to_string().contains("card2"), "{error}");
    // Two of the three are as well as they were.
    let pair = Communicator::new(&rack, &macs[..2], Duration::from_secs(60)).unwrap();
    let inputs: Vec<_> = (0..2).map(|rank| bytes(&words(rank, 100))).collect();
    pair.run(&sum(K::Alltoall, 50), &inputs).unwrap();
}

#[test]
fn a_card_that_is_gone_is_named() {
    let (mut cards, rack, macs) = rack(3, &Links::Full);
    let comm = Communicator::new(&rack, &macs[..2], Duration::from_secs(60)).unwrap();
    assert!(cards.remove(1, Removal::Yank));
    let inputs = vec![Bytes::new(); 2];
    let error = comm.run(&sum(K::Barrier, 0), &inputs).unwrap_err();
    assert!(error.to_string().contains("card1") || matches!(error, CommError::Rack(_)), "{error}");
}

#[test]
fn gateware_says_who_its_neighbours_are_and_names_one_that_is_gone() {
    let (mut cards, rack, macs) = rack_of(&[Kind::Rtl, Kind::Rtl, Kind::Model], &Links::Full, 1472);
    let comm = Communicator::new(&rack, &macs, Duration::from_secs(60)).unwrap();
    for count in [1, 4097] {
        let inputs: Vec<_> = (0..3).map(|rank| bytes(&words(rank, count))).collect();
        let want: Vec<_> = words(0, count).iter().map(|w| w.wrapping_mul(3).wrapping_add(3)).collect();
        let got = comm.run(&sum(K::Allreduce, count.into()), &inputs).unwrap();
        assert!(got.outputs.iter().all(|output| *output == bytes(&want)), "{count} words");
    }
    // A program whose time is over says so, and its neighbour's fails with it.
    let pair = comm.part(&[0, 1]);
    assert!(cards.remove(1, Removal::Yank));
    let error = pair.run(&sum(K::Barrier, 0), &vec![Bytes::new(); 2]).unwrap_err();
    assert!(error.to_string().contains("card1") || matches!(error, CommError::Rack(_)), "{error}");
    // The other two are as well as they were, and gateware learns who is there with claims that begin anew.
    let rest = Communicator::new(&rack, &[macs[2], macs[0]], Duration::from_secs(60)).unwrap();
    let inputs: Vec<_> = (0..2).map(|rank| bytes(&words(rank, 100))).collect();
    let got = rest.run(&sum(K::Alltoall, 50), &inputs).unwrap();
    assert_eq!(got.outputs[0], [inputs[0].slice(..200), inputs[1].slice(..200)].concat());
}

#[test]
fn gateware_has_three_links_and_takes_frames_of_its_length() {
    let (mut cards, ..) = rack_of(&[Kind::Model; 5], &Links::Full, 1472);
    assert!(cards.remove(1, Removal::Yank));
    assert!(matches!(cards.add(Kind::Rtl), Err(RackError::TooManyLinks { unit: 1, links: 4, .. })));
    let (mut cards, ..) = rack(2, &Links::Full);
    assert!(cards.remove(0, Removal::Yank));
    assert!(matches!(cards.add(Kind::Rtl), Err(RackError::LinkFrames { unit: 0, .. })));
}

#[test]
fn an_operation_that_is_ready_runs_again_whatever_ran_between() {
    let (_cards, rack, macs) = rack(4, &Links::Full);
    let comm = Communicator::new(&rack, &macs, Duration::from_secs(60)).unwrap();
    let ready = comm.prepare(&sum(K::Allgather, 3), None).unwrap();
    let pair = comm.part(&[2, 1]);
    let again = |comm: &Communicator<&Rack>, seed: u32| {
        let inputs: Vec<_> = (0..4).map(|rank| bytes(&words(rank + seed, 3))).collect();
        let got = comm.run_prepared(&ready, &inputs).unwrap();
        assert!(got.outputs.iter().all(|output| *output == inputs.concat()), "{seed}");
    };
    again(&comm, 1);
    again(&comm, 2);
    // Another group's programs lie there now, then the host's own bytes.
    let given = [bytes(&words(5, 2)), bytes(&words(6, 2))];
    let got = pair.run(&sum(K::Sendrecv { by: 1 }, 2), &given).unwrap();
    assert_eq!(got.outputs, [given[1].clone(), given[0].clone()]);
    again(&comm, 3);
    rack.write(macs[3], (1 << 20) + 4096, vec![0xff; 256].into()).wait().unwrap();
    again(&comm, 4);
}

#[test]
fn groups_of_a_split_work_beside_each_other() {
    let (_cards, rack, macs) = rack(4, &Links::Full);
    let comm = Communicator::new(&rack, &macs, Duration::from_secs(60)).unwrap();
    let mut parts = comm.split(&[Some(7), Some(3), Some(7), None], &[1, 0, 0, 0]);
    assert_eq!(parts.len(), 2);
    let cards = |comm: &Communicator<&Rack>| comm.cards().iter().map(|card| card.mac).collect::<Vec<_>>();
    assert_eq!(cards(&parts[0]), [macs[1]]);
    assert_eq!(cards(&parts[1]), [macs[2], macs[0]], "by key");
    let others = comm.part(&[3, 1]);
    let all = parts.drain(1..).chain([others, comm.part(&[0, 1, 2, 3])]).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for (i, comm) in all.into_iter().enumerate() {
            scope.spawn(move || {
                for turn in 0..8_u32 {
                    let size = comm.cards().len() as u32;
                    let inputs: Vec<_> = (0..size).map(|rank| bytes(&words(rank + turn, 1000))).collect();
                    let got = comm.run(&sum(K::Allgather, 1000), &inputs).unwrap();
                    assert!(got.outputs.iter().all(|output| *output == inputs.concat()), "group {i}, turn {turn}");
                }
            });
        }
    });
}

#[test]
fn hosts_that_hold_a_card_each_join_one_group() {
    let (cards, own, macs) = rack(3, &Links::Full);
    own.release(&macs, rackloom::Scrub::Keep).wait_all().unwrap();
    let hosts: Vec<_> = (0..3)
        .map(|rank| {
            let options = RackOptions { jumbo: true, ..RackOptions::default() };
            let host = Rack::attach(cards.attach(&format!("rank{rank}")).unwrap(), options).unwrap();
            while host.discover(Duration::from_millis(100)).unwrap().len() < 3 {}
            host.claim(&macs[rank..=rank], ClaimOptions::default()).wait_all().unwrap();
            host
        })
        .collect();
    let seats: Vec<_> = (0..3).map(|rank| Seat::survey(&hosts[rank], &macs[rank..=rank]).unwrap().remove(0)).collect();
    let told: Vec<_> = seats.iter().map(|seat| Seat::decode(&seat.encode()).unwrap()).collect();
    let inputs: Vec<_> = (0..3).map(|rank| bytes(&words(rank, 5000))).collect();
    std::thread::scope(|scope| {
        for (rank, host) in hosts.iter().enumerate() {
            let (told, inputs) = (told.clone(), &inputs);
            scope.spawn(move || {
                let comm = Communicator::join(host, told, rank, 99, Duration::from_secs(60));
                for _ in 0..3 {
                    let got = comm.run(&sum(K::Allgather, 5000), &inputs[rank..=rank]).unwrap();
                    assert_eq!(got.outputs, [inputs.concat()]);
                }
            });
        }
    });
}
