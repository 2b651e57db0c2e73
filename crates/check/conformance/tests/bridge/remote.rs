//! A kernel on one card that uses the memory of others, on the model and on gateware alike: the role `chase`.

use bytes::Bytes;
use rackloom_bridge::{Rights, Window};
use rackloom_host::{Launch, OpError, OpId, Outcome};
use rackloom_node::Duration;
use rackloom_rack::Kind;
use rackloom_sim::Faults;
use rackloom_wire::{ErrorCode, MacAddr};

use crate::lab::{BASE, CARD, CARDS, LENGTH, Lab, SECOND, THIRD, node};
use crate::lossy;

const KINDS: [Kind; 2] = [Kind::Model, Kind::Rtl];
/// The stream of the first card that leads to each of the others.
const TO: [u64; 3] = [16, 5, 9];
/// Nodes of a list.
const NODES: u64 = 60;

/// Kernels of the role.
const SUM: u16 = 0;
const RAISE: u16 = 1;
const FAULT: u16 = 2;
const WALK: u16 = 3;

/// What `FAULT` says.
const NO_ROUTE: u64 = 1;
const REFUSED: u64 = 2;

/// Where a list has its nodes, in no order.
fn place(number: u64) -> u64 {
    BASE + 16 * (number * 2531 % 4096)
}

/// The sum of a card's list, and of its first so many nodes.
fn sum(card: u64, count: u64) -> u64 {
    count * (count - 1) / 2 + count * 1000 * card
}

/// Cards of these kinds, each with a list. The first has the role, and routes to the others.
fn with_lists(kinds: &[Kind], askers: u8, change: impl FnOnce(&mut rackloom_card::Config)) -> Lab {
    let mut lab = Lab::several(kinds, askers, change);
    begin_claim(&mut lab, kinds.len());
    for (number, card) in CARDS[..kinds.len()].iter().enumerate() {
        write_list(&mut lab, *card, number as u64);
    }
    lab
}

/// What the owner of a claim does first.
fn begin_claim(lab: &mut Lab, cards: usize) {
    lab.load_role("chase", &[CARD]);
    for other in 1..cards {
        assert_eq!(lab.route(TO[other] as u16, Some((CARDS[other], 0))), ErrorCode::Ok);
    }
}

fn write_list(lab: &mut Lab, card: MacAddr, number: u64) {
    let mut memory = vec![0; LENGTH as usize];
    for i in 0..NODES {
        let next = if i + 1 < NODES { place(i + 1) } else { 0 };
        let at = (place(i) - BASE) as usize;
        memory[at..at + 8].copy_from_slice(&next.to_le_bytes());
        memory[at + 8..at + 16].copy_from_slice(&(i + 1000 * number).to_le_bytes());
    }
    write(lab, card, BASE, memory);
}

fn write(lab: &mut Lab, card: MacAddr, at: u64, bytes: Vec<u8>) {
    lab.by_host(|host, now| host.write(now, card, at, bytes.into())).expect("it is memory");
}

/// A list without an end.
fn write_ring(lab: &mut Lab, card: MacAddr) {
    write(lab, card, place(0), [place(0).to_le_bytes(), 1u64.to_le_bytes()].concat());
}

/// Where it is.
const LIST: (u64, u64) = (BASE, LENGTH);

/// The owner of another card opens a window of it.
fn open(lab: &mut Lab, card: MacAddr, number: u16, peer: MacAddr, (base, length): (u64, u64), rights: Rights) {
    let window = Window { base, length, peer, rights };
    assert_eq!(lab.code(|host, now| host.set_window(now, card, number, Some(window))), ErrorCode::Ok);
}

/// It opens the list to the first card.
fn open_list(lab: &mut Lab, card: MacAddr, rights: Rights) {
    open(lab, card, 0, CARD, LIST, rights);
}

fn begin(lab: &mut Lab, kernel: u16, args: &[u64]) -> OpId {
    let launch = Launch { kernel, args: args.to_vec(), ..Launch::default() };
    lab.begin(|host, now| host.launch(now, CARD, launch))
}

/// What a kernel returned, or how it ended.
fn end(lab: &mut Lab, launch: OpId) -> Result<u64, ErrorCode> {
    match lab.end(launch) {
        Ok(Outcome::Launched(report)) => Ok(report.value),
        Err(OpError::Kernel { code, .. }) => Err(code),
        other => panic!("{other:?}"),
    }
}

fn launch(lab: &mut Lab, kernel: u16, args: &[u64]) -> Result<u64, ErrorCode> {
    let launch = begin(lab, kernel, args);
    end(lab, launch)
}

#[test]
fn a_role_follows_lists_through_its_own_card_and_two_others_and_changes_them() {
    for kind in KINDS {
        let mut lab = with_lists(&[kind, kind, Kind::Model], 0, |_| {});
        open_list(&mut lab, SECOND, Rights::READ);
        open_list(&mut lab, THIRD, Rights::READ | Rights::WRITE);
        assert_eq!(launch(&mut lab, WALK, &[place(0), u64::MAX]), Ok(sum(0, NODES)), "{kind:?}");
        for number in [1, 2] {
            let args = [TO[number], place(0), u64::MAX];
            assert_eq!(launch(&mut lab, SUM, &args), Ok(sum(number as u64, NODES)), "{kind:?} {number}");
        }
        assert_eq!(launch(&mut lab, RAISE, &[TO[2], place(0), 40, 7]), Ok(40), "{kind:?}");
        assert_eq!(launch(&mut lab, SUM, &[TO[2], place(0), u64::MAX]), Ok(sum(2, NODES) + 40 * 7), "{kind:?}");
        assert_eq!(launch(&mut lab, SUM, &[TO[1], place(0), 10]), Ok(sum(1, 10)), "{kind:?}");
        assert_eq!(launch(&mut lab, SUM, &[TO[1], 0, 10]), Ok(0), "{kind:?}: an empty list");
    }
}

#[test]
fn a_role_follows_a_list_over_a_bad_cable() {
    for kind in KINDS {
        let mut lab = with_lists(&[kind, Kind::Model], 0, |_| {});
        open_list(&mut lab, SECOND, Rights::READ | Rights::WRITE);
        let cable = lab.cards[1].link;
        lab.rack.net.set_faults(cable, lossy());
        for round in 0..4 {
            let expected = sum(1, NODES) + round * NODES * 3;
            assert_eq!(launch(&mut lab, SUM, &[TO[1], place(0), u64::MAX]), Ok(expected), "{kind:?} {round}");
            assert_eq!(launch(&mut lab, RAISE, &[TO[1], place(0), u64::MAX, 3]), Ok(NODES), "{kind:?}: each once");
        }
        lab.rack.net.set_faults(cable, Faults::NONE);
    }
}

#[test]
fn what_is_not_permitted_ends_the_kernel_by_name_or_is_told_it() {
    for kind in KINDS {
        let mut lab = with_lists(&[kind, Kind::Model, Kind::Model], 0, |_| {});
        let fault = |lab: &mut Lab, stream, addr| launch(lab, FAULT, &[stream, addr]).unwrap();
        assert_eq!(fault(&mut lab, 7, BASE), NO_ROUTE, "{kind:?}");
        assert_eq!(launch(&mut lab, SUM, &[7, place(0), 5]), Err(ErrorCode::KernelRemote), "{kind:?}");
        // What is open to somebody else, and what is open to this card.
        open(&mut lab, SECOND, 1, CARD, (BASE - 64, 8), Rights::READ);
        open(&mut lab, SECOND, 0, THIRD, LIST, Rights::READ);
        assert_eq!(fault(&mut lab, TO[1], BASE), REFUSED, "{kind:?}");
        assert_eq!(launch(&mut lab, SUM, &[TO[1], place(0), 5]), Err(ErrorCode::KernelRemote), "{kind:?}");
        open_list(&mut lab, SECOND, Rights::READ);
        assert_eq!(fault(&mut lab, TO[1], BASE), 0, "{kind:?}");
        assert_eq!(fault(&mut lab, TO[1], BASE - 8), REFUSED, "{kind:?}");
        assert_eq!(fault(&mut lab, TO[1], BASE + LENGTH - 8), 0, "{kind:?}: all of the window, and no more");
        assert_eq!(fault(&mut lab, TO[1], BASE + LENGTH), REFUSED, "{kind:?}");
        // A window that may be read is not one to be written.
        assert_eq!(launch(&mut lab, RAISE, &[TO[1], place(0), 5, 1]), Err(ErrorCode::KernelRemote), "{kind:?}");
        let mut there = vec![0; 16];
        lab.rack.card(lab.cards[1]).ddr().read(place(0), &mut there).unwrap();
        assert_eq!(there[8..], 1000u64.to_le_bytes(), "{kind:?}: nothing was written");
        // Mistakes of the kernel's own are traps.
        assert_eq!(launch(&mut lab, FAULT, &[16, BASE]), Err(ErrorCode::KernelTrap), "{kind:?}");
        assert_eq!(launch(&mut lab, WALK, &[BASE - 0x2_0000, 1]), Err(ErrorCode::KernelTrap), "{kind:?}");
        // The role goes on. A route leads where its owner says, and no longer than it says.
        assert_eq!(launch(&mut lab, SUM, &[TO[1], place(0), 5]), Ok(sum(1, 5)), "{kind:?}");
        open_list(&mut lab, THIRD, Rights::READ);
        assert_eq!(lab.route(TO[1] as u16, Some((THIRD, 3))), ErrorCode::Ok);
        assert_eq!(launch(&mut lab, SUM, &[TO[1], place(0), 5]), Ok(sum(2, 5)), "{kind:?}");
        assert_eq!(lab.route(TO[1] as u16, None), ErrorCode::Ok);
        assert_eq!(fault(&mut lab, TO[1], BASE), NO_ROUTE, "{kind:?}");
        assert_eq!(fault(&mut lab, TO[2], BASE), 0, "{kind:?}: the other one is as it was");
    }
}

#[test]
fn a_card_that_is_pulled_out_under_a_kernel_ends_it_in_time() {
    for kind in KINDS {
        // A short time-out, and with it gateware's short patience.
        let kinds = [kind, Kind::Model, Kind::Model];
        let mut lab = with_lists(&kinds, 0, |config| config.resend_after = Duration::from_micros(100));
        open_list(&mut lab, SECOND, Rights::READ);
        open_list(&mut lab, THIRD, Rights::READ);
        write_ring(&mut lab, SECOND);
        let running = begin(&mut lab, SUM, &[TO[1], place(0), u64::MAX]);
        lab.pass(Duration::from_micros(300));
        let cable = lab.cards[1].link;
        lab.rack.net.down(cable);
        let since = lab.rack.net.now();
        assert_eq!(end(&mut lab, running), Err(ErrorCode::KernelRemote), "{kind:?}");
        assert!(lab.rack.net.now() - since < Duration::from_secs(2), "{kind:?}");
        assert_eq!(launch(&mut lab, SUM, &[TO[2], place(0), 20]), Ok(sum(2, 20)), "{kind:?}: the others are there");
    }
}

#[test]
fn a_claim_that_ends_under_a_kernel_leaves_nothing_behind() {
    for kind in KINDS {
        let mut lab = with_lists(&[kind, Kind::Model, Kind::Model], 0, |_| {});
        open_list(&mut lab, SECOND, Rights::READ | Rights::WRITE);
        open_list(&mut lab, THIRD, Rights::READ);
        write_ring(&mut lab, SECOND);
        for (turn, silent) in [false, false, true].into_iter().enumerate() {
            let endless = begin(&mut lab, [SUM, RAISE, SUM][turn], &[TO[1], place(0), u64::MAX, 1]);
            lab.pass(Duration::from_micros(200 + 3 * turn as u64));
            if silent {
                let cable = lab.cards[1].link;
                lab.rack.net.down(cable);
                lab.pass(Duration::from_micros(50));
            }
            let since = lab.rack.net.now();
            lab.release();
            assert!(lab.rack.net.now() - since < Duration::from_millis(20), "{kind:?} {turn}: it waits for nobody");
            assert!(lab.end(endless).is_err(), "{kind:?} {turn}");
            // What the next claim's kernel reads is its own, where the same stream leads elsewhere.
            lab.claim();
            lab.load_role("chase", &[CARD]);
            assert_eq!(launch(&mut lab, FAULT, &[TO[1], BASE]), Ok(NO_ROUTE), "{kind:?} {turn}");
            assert_eq!(lab.route(TO[1] as u16, Some((THIRD, 0))), ErrorCode::Ok);
            assert_eq!(launch(&mut lab, SUM, &[TO[1], place(0), 30]), Ok(sum(2, 30)), "{kind:?} {turn}");
            assert_eq!(lab.route(TO[1] as u16, Some((SECOND, 0))), ErrorCode::Ok);
        }
    }
}

/// How long a kernel takes for a list in gateware, beside a node that reads the card's memory all the time.
fn beside(reads: bool) -> (Duration, usize) {
    let mut lab = with_lists(&[Kind::Rtl, Kind::Model], 1, |_| {});
    open_list(&mut lab, SECOND, Rights::READ);
    assert_eq!(lab.window(0, node(0), BASE, LENGTH, Rights::READ), ErrorCode::Ok);
    let (mut asked, mut read) = (0, 0);
    let running = begin(&mut lab, SUM, &[TO[1], place(0), u64::MAX]);
    let since = lab.rack.net.now();
    while !lab.has_ended(running) {
        while reads && asked < 24 {
            lab.ask(0, |node, now| node.read(now, CARD, BASE, 1408)).expect("it is a request");
            asked += 1;
        }
        lab.pass(Duration::from_nanos(500));
        let ended = lab.take_ended();
        read += ended.len();
        asked -= ended.len();
        for (_, result) in ended {
            assert_eq!(result.map(|bytes: Bytes| bytes.len()), Ok(1408));
        }
    }
    (lab.rack.net.now() - since, read)
}

#[test]
fn a_kernel_and_a_node_share_the_bridge() {
    let ((alone, _), (together, read)) = (beside(false), beside(true));
    let most = together.as_nanos() as usize / 1230;
    println!("{NODES} nodes: {alone:?} alone, {together:?} with {read} reads of 1408 bytes beside them, of {most}");
    assert!(together < alone * 3, "the kernel waits: {alone:?} and {together:?}");
    assert!(read * 100 > most * 70, "the node waits: {read} of {most}");
}
