//! Exclusive cards: nothing passes from one client to the next.

mod common;
#[path = "common/lab.rs"]
mod lab;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Daemon, PATIENCE, Tenant};
use lab::Lab;
use rackloom::{ClaimOptions, MacAddr, RackOptions};
use rackloom_ipc::Endpoint;
use rackloom_manager::Manager;
use rackloom_manager::card::{CardRack, Sharing};
use rackloom_opencl_wire::{Answer, Argument, Command, Op, VERSION};
use rackloom_rack::Kind;

const NOT_AVAILABLE: i32 = -2;
const FAILURE: i32 = -11;

const DEADLINE: Duration = Duration::from_secs(10);

fn cards(lab: &Lab, sharing: Sharing) -> (CardRack, Daemon) {
    let manager = Manager::default();
    let rack = lab.share(&manager, sharing, RackOptions { deadline: DEADLINE, ..RackOptions::default() });
    (rack, Daemon::of(manager))
}

/// Whether the card still has bytes of what was filled.
fn holds_secret(lab: &Lab) -> bool {
    lab.memory(0).chunks_exact(64).any(|bytes| bytes == [0xa5; 64])
}

/// A client that asks for the board; whether it gets it.
fn open(to: &Endpoint) -> Result<Tenant, i32> {
    let tenant = Tenant::silent(to);
    assert!(tenant.ask(|request| Command::Hello { request, version: VERSION, name: "test" }).is_ok());
    tenant.ask(|request| Command::Open { request, board: 0 }).map(|_| tenant)
}

/// A client that asks until it gets the board.
fn open_at_last(to: &Endpoint) -> Tenant {
    let end = Instant::now() + PATIENCE;
    loop {
        match open(to) {
            Ok(tenant) => return tenant,
            Err(code) => assert_eq!(code, NOT_AVAILABLE),
        }
        assert!(Instant::now() < end, "the card never comes free");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn image(role: &str) -> Vec<u8> {
    rackloom_builtin_roles::image(role).unwrap().to_vec()
}

#[test]
fn an_exclusive_card_is_empty_for_each_client() {
    let lab = Lab::new(1, 4 << 20);
    let (rack, daemon) = cards(&lab, Sharing::Exclusive);
    for role in ["vadd", "ptrans"] {
        let first = open_at_last(&daemon.endpoint);
        assert_eq!(first.build_image(0, &image(role)).0, 0);
        first.buffer(0, 1 << 20);
        let fill = Op::Fill { buffer: 0, offset: 0, len: 1 << 20, pattern: &[0xa5] };
        assert_eq!(first.run(fill, &[]).status, 0);
        assert_eq!(open(&daemon.endpoint).err(), Some(NOT_AVAILABLE), "it is somebody's");
        assert!(holds_secret(&lab));
        drop(first);
        let next = open_at_last(&daemon.endpoint);
        assert!(!holds_secret(&lab), "washed before the next has it");
        next.buffer(0, 64);
        assert_eq!(next.read(0, 0, 64).tail, [0; 64]);
    }
    drop((daemon, rack));
}

#[test]
fn cards_are_given_back_without_bytes() {
    let lab = Lab::new(2, 4 << 20);
    let (rack, daemon) = cards(&lab, Sharing::Shared);
    let tenant = daemon.client();
    tenant.buffer(0, 1 << 20);
    let fill = Op::Fill { buffer: 0, offset: 0, len: 1 << 20, pattern: &[0xa5] };
    assert_eq!(tenant.run(fill, &[]).status, 0);
    let other = lab.rack(RackOptions::default());
    other.discover(Duration::from_secs(1)).unwrap();
    let claim = |unit| other.claim(&[lab.cards.mac(unit)], ClaimOptions::default()).wait_all();
    assert!(claim(0).is_err() && claim(1).is_err(), "the manager has both");
    drop(daemon);
    drop(rack);
    claim(0).unwrap();
    claim(1).unwrap();
    assert!(!holds_secret(&lab));
    drop(tenant);
}

#[test]
fn a_killed_clients_image_is_nobodys() {
    let lab = Lab::new(1, 4 << 20);
    let (_rack, daemon) = cards(&lab, Sharing::Shared);
    let (first, second) = (daemon.client(), daemon.client());
    assert_eq!(first.build_image(0, &image("vadd")).0, 0);
    first.send(&Command::CreateKernel { kernel: 0, program: 0, name: "vadd" }, &[]);
    (0..3).for_each(|buffer| first.buffer(buffer, 64));
    let words = 16u64.to_le_bytes();
    let mut arguments: Vec<_> = (0..3).map(|n| (n, Argument::Buffer(Some(n)))).collect();
    arguments.push((3, Argument::Value(&words)));
    assert_eq!(first.run(Tenant::launch(0, 1, arguments), &[]).status, 0);
    let (status, log) = second.build_image(0, &image("ptrans"));
    assert_eq!(status, FAILURE, "{log}");
    // Released buffers are no arguments any more, and the launch says so.
    first.send(&Command::ReleaseBuffer { buffer: 1 }, &[]);
    assert_eq!(first.run(Tenant::launch(0, 1, vec![]), &[]).status, -52);
    first.client.close();
    let end = Instant::now() + PATIENCE;
    let mut program = 1;
    while second.build_image(program, &image("ptrans")).0 != 0 {
        assert!(Instant::now() < end && program < 60, "the image stays taken");
        std::thread::sleep(Duration::from_millis(50));
        program += 1;
    }
}

/// Boards as a client sees them.
fn boards(to: &Endpoint) -> Vec<String> {
    let tenant = Tenant::silent(to);
    let hello = tenant.ask(|request| Command::Hello { request, version: VERSION, name: "test" });
    let Ok(Answer::Welcome { boards, .. }) = hello else { panic!("{hello:?}") };
    let name = |board| match tenant.ask(|request| Command::Board { request, board }) {
        Ok(Answer::Board(info)) => info.name,
        other => panic!("{other:?}"),
    };
    (0..boards).map(name).collect()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_card_that_is_plugged_in_later_is_a_board() {
    let mut lab = Lab::new(1, 4 << 20);
    let (_rack, daemon) = cards(&lab, Sharing::Shared);
    let tenant = daemon.client();
    let other = lab.rack(RackOptions::default());
    lab.add();
    until("the new card is a board", || boards(&daemon.endpoint).len() == 2);
    assert_eq!(boards(&daemon.endpoint), ["Rackloom card 0", "Rackloom card 1"]);
    other.discover(Duration::from_secs(1)).unwrap();
    assert!(other.claim(&[lab.cards.mac(1)], ClaimOptions::default()).wait_all().is_err(), "it is the manager's");
    let second = Tenant::silent(&daemon.endpoint);
    assert!(second.ask(|request| Command::Hello { request, version: VERSION, name: "test" }).is_ok());
    assert!(second.ask(|request| Command::Open { request, board: 1 }).is_ok());
    for tenant in [&tenant, &second] {
        tenant.buffer(0, 64);
        assert_eq!(tenant.run(Op::Fill { buffer: 0, offset: 0, len: 64, pattern: &[7] }, &[]).status, 0);
        assert_eq!(tenant.read(0, 0, 64).tail, [7; 64]);
    }
    // The same card again is the same board.
    lab.yank(1);
    until("its loss is known", || {
        second.run(Op::Fill { buffer: 0, offset: 0, len: 64, pattern: &[7] }, &[]).status != 0
    });
    lab.add();
    until("it is there again", || {
        second.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
        second.buffer(0, 64);
        second.run(Op::Fill { buffer: 0, offset: 0, len: 64, pattern: &[7] }, &[]).status == 0
    });
    // And so is another one in its place.
    lab.yank(1);
    until("its loss is known", || {
        second.run(Op::Fill { buffer: 0, offset: 0, len: 64, pattern: &[7] }, &[]).status != 0
    });
    lab.cards.add_with(Kind::Model, |card| card.mac = MacAddr([2, 0, 0, 0, 1, 1])).unwrap();
    until("the other one is there", || {
        second.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
        second.buffer(0, 64);
        second.run(Op::Fill { buffer: 0, offset: 0, len: 64, pattern: &[7] }, &[]).status == 0
    });
    assert_eq!(boards(&daemon.endpoint).len(), 2);
    // Where the number is taken, the address is the name.
    let mac = lab.cards.mac(9);
    lab.cards.add_with(Kind::Model, |card| (card.unit, card.mac) = (1, mac)).unwrap();
    until("it is one more", || boards(&daemon.endpoint).len() == 3);
    assert_eq!(boards(&daemon.endpoint)[2], format!("Rackloom card {mac}"));
}

#[test]
fn a_segment_that_ends_and_comes_again_has_the_same_boards() {
    let segment = Arc::new(Mutex::new(Some(Lab::new(2, 4 << 20))));
    let attached = Arc::clone(&segment);
    let attach = move || match &*attached.lock().unwrap() {
        Some(lab) => Ok(lab.rack(RackOptions { deadline: DEADLINE, ..RackOptions::default() })),
        None => Err(rackloom::Error::Stopped),
    };
    let manager = Manager::default();
    let _rack = lab::share(Box::new(attach), &manager, Sharing::Shared);
    let daemon = Daemon::of(manager);
    let tenant = daemon.client();
    tenant.buffer(0, 64);
    let fill = || tenant.run(Op::Fill { buffer: 0, offset: 0, len: 64, pattern: &[7] }, &[]).status;
    assert_eq!(fill(), 0);
    drop(segment.lock().unwrap().take());
    until("the loss is known", || fill() == NOT_AVAILABLE);
    *segment.lock().unwrap() = Some(Lab::new(3, 4 << 20));
    until("a new buffer works", || {
        tenant.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
        tenant.buffer(0, 64);
        fill() == 0
    });
    assert_eq!(tenant.read(0, 0, 64).tail, [7; 64]);
    until("the third is there", || boards(&daemon.endpoint).len() == 3);
    assert_eq!(boards(&daemon.endpoint)[0], "Rackloom card 0");
}
