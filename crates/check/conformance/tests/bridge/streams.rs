//! The streams of a card's role, at the bridge: to nodes and from them, on the model and on gateware alike.

use bytes::Bytes;
use rackloom_bridge::{NotTaken, Rights, Window};
use rackloom_node::{Duration, Rng};
use rackloom_rack::Kind;
use rackloom_sim::Faults;
use rackloom_wire::{Counter, ErrorCode, MacAddr};

use crate::lab::{BASE, CARD, Lab, SECOND, node};
use crate::{done, lossy};

const KINDS: [Kind; 2] = [Kind::Model, Kind::Rtl];
/// The addresses that messages begin with, of which the role knows nothing but that it swaps them.
const THERE: [u8; 6] = [1, 2, 3, 4, 5, 6];
const HERE: [u8; 6] = [6, 5, 4, 3, 2, 1];

/// A message with turns, for the role `echo`.
fn message(number: u64, turns: u8, length: usize) -> Bytes {
    let mut bytes = [&THERE[..], &HERE, &[0; 2], &[turns, 0, 0, 0, 0, 0, 0, 0]].concat();
    bytes.extend(number.to_be_bytes());
    bytes.resize(length.max(30), number as u8);
    bytes.into()
}

/// What the role makes of it.
fn echoed(message: &Bytes) -> Bytes {
    let mut bytes = [&message[6..12], &message[..6], &message[12..]].concat();
    bytes[14] -= 1;
    bytes.into()
}

/// A card with the role, whose streams 0 and 1 are open to the nodes of these numbers and lead there, to stream 3.
fn with_echo(kind: Kind, faults: Faults, nodes: &[u8]) -> Lab {
    let mut lab = Lab::new(kind, nodes.len() as u8, faults);
    lab.load_echo(&[CARD]);
    for (stream, number) in nodes.iter().enumerate() {
        joins(&mut lab, stream as u16, *number);
    }
    lab
}

fn joins(lab: &mut Lab, stream: u16, number: u8) {
    assert_eq!(lab.window(stream, node(number), stream.into(), 1, Rights::STREAM), ErrorCode::Ok);
    assert_eq!(lab.route(stream, Some((node(number), 3))), ErrorCode::Ok);
    let window = Window { base: 3, length: 1, peer: CARD, rights: Rights::STREAM };
    lab.of_node(number.into(), |node, _| node.windows().set(0, Some(window)));
}

/// Sends as soon as there is room.
fn send(lab: &mut Lab, number: usize, stream: u16, message: &Bytes) {
    for _ in 0..200 {
        match lab.of_node(number, |node, now| node.send(now, CARD, stream, message)) {
            Err(NotTaken::Full) => lab.pass(Duration::from_micros(20)),
            result => return result.expect("it is a message"),
        }
    }
    panic!("there is never room");
}

/// What a node has got, each on its stream 3 and from the card.
fn take(lab: &mut Lab, number: usize) -> Vec<Bytes> {
    lab.of_node(number, |node, now| {
        let all = std::iter::from_fn(|| node.take_message(now));
        all.map(|(from, stream, bytes)| {
            assert_eq!((from, stream), (CARD, 3));
            bytes
        })
        .collect()
    })
}

/// Likewise, when there are so many.
fn take_all(lab: &mut Lab, number: usize, count: usize) -> Vec<Bytes> {
    let mut got = take(lab, number);
    for _ in 0..200 {
        if got.len() >= count {
            break;
        }
        lab.pass(Duration::from_micros(50));
        got.extend(take(lab, number));
    }
    got
}

/// Both streams at once, both directions at once: each message comes back once, and in order.
fn goes_there_and_back(faults: Faults) {
    for kind in KINDS {
        let mut lab = with_echo(kind, faults, &[0, 1]);
        let mut rng = Rng::new(5);
        let (mut sent, mut got) = ([vec![], vec![]], [vec![], vec![]]);
        for number in 0..60 {
            let which = rng.below(2) as usize;
            let most = if rng.chance(0.2) { 9014 } else { 1600 };
            let message = message(number, 2, 30 + rng.below(most - 29) as usize);
            send(&mut lab, which, which as u16, &message);
            sent[which].push(echoed(&message));
            for (which, got) in got.iter_mut().enumerate() {
                got.extend(take(&mut lab, which));
            }
        }
        for (which, (got, sent)) in got.iter_mut().zip(&sent).enumerate() {
            let left = sent.len() - got.len();
            got.extend(take_all(&mut lab, which, left));
            assert!(got == sent, "{kind:?}, stream {which}: {} of {}", got.len(), sent.len());
        }
        assert_eq!(lab.heard(), 60);
        assert_eq!(lab.counter(Counter::DropForeign), 0, "{kind:?}");
    }
}

#[test]
fn a_role_streams_to_nodes_and_back() {
    goes_there_and_back(Faults::NONE);
}

#[test]
fn a_role_streams_over_bad_cables() {
    goes_there_and_back(lossy());
}

#[test]
fn the_role_of_one_card_streams_to_that_of_another() {
    for kind in KINDS {
        let mut lab = Lab::pair(kind, 1);
        lab.load_echo(&[CARD, SECOND]);
        // Stream 0: from the node to the first card, to the second one, and back to the node. Stream 1: from card to
        // card until the turns are used up.
        for (card, stream, from) in [(CARD, 0, node(0)), (SECOND, 0, CARD), (CARD, 1, SECOND), (SECOND, 1, CARD)] {
            let window = Window { base: stream, length: 1, peer: from, rights: Rights::STREAM };
            let number = stream as u16;
            assert_eq!(lab.code(|host, now| host.set_window(now, card, number, Some(window))), ErrorCode::Ok);
        }
        let window = Window { base: 1, length: 1, peer: node(0), rights: Rights::STREAM };
        assert_eq!(lab.code(|host, now| host.set_window(now, CARD, 2, Some(window))), ErrorCode::Ok);
        for (card, stream, to) in
            [(CARD, 0, (SECOND, 0)), (SECOND, 0, (node(0), 3)), (CARD, 1, (SECOND, 1)), (SECOND, 1, (CARD, 1))]
        {
            assert_eq!(lab.code(|host, now| host.set_route(now, card, stream, Some(to))), ErrorCode::Ok);
        }
        let window = Window { base: 3, length: 1, peer: SECOND, rights: Rights::STREAM };
        lab.of_node(0, |node, _| node.windows().set(0, Some(window)));
        send(&mut lab, 0, 1, &message(7, 41, 300));
        let sent: Vec<_> = (0..30).map(|number| message(number, 3, 60 + 50 * number as usize)).collect();
        let mut got = vec![];
        for message in &sent {
            send(&mut lab, 0, 0, message);
        }
        for _ in 0..200 {
            lab.pass(Duration::from_micros(50));
            let all = lab.of_node(0, |node, now| std::iter::from_fn(|| node.take_message(now)).collect::<Vec<_>>());
            got.extend(all.into_iter().map(|(from, stream, bytes)| {
                assert_eq!((from, stream), (SECOND, 3));
                bytes
            }));
            if got.len() == sent.len() {
                break;
            }
        }
        assert_eq!(got, sent.iter().map(|one| echoed(&echoed(one))).collect::<Vec<_>>(), "{kind:?}");
        // 41 turns: 21 times the first card hears it.
        lab.pass(Duration::from_millis(1));
        assert_eq!(lab.heard(), 30 + 21, "{kind:?}");
    }
}

#[test]
fn windows_and_routes_of_streams_are_within_the_card() {
    for kind in KINDS {
        let mut lab = Lab::new(kind, 1, Faults::NONE);
        for (base, length, is) in [
            (0, 16, ErrorCode::Ok),
            (15, 1, ErrorCode::Ok),
            (15, 2, ErrorCode::BadAddress),
            (16, 1, ErrorCode::BadAddress),
            (0, 17, ErrorCode::BadAddress),
            (2, u64::MAX, ErrorCode::BadAddress),
            (1 << 32, 1, ErrorCode::BadAddress),
        ] {
            assert_eq!(lab.window(0, node(0), base, length, Rights::STREAM), is, "{kind:?} {base} {length}");
        }
        assert_eq!(lab.window(16, node(0), 0, 1, Rights::STREAM), ErrorCode::BadRequest);
        for (stream, to, is) in [
            (0, Some((node(0), 15)), ErrorCode::Ok),
            (15, Some((node(0), 0)), ErrorCode::Ok),
            (16, Some((node(0), 0)), ErrorCode::BadRequest),
            (0, Some((node(0), 16)), ErrorCode::BadRequest),
            (0, Some((MacAddr::BROADCAST, 0)), ErrorCode::BadRequest),
            (0, Some((CARD, 0)), ErrorCode::BadRequest),
            (0, None, ErrorCode::Ok),
            (16, None, ErrorCode::BadRequest),
        ] {
            assert_eq!(lab.route(stream, to), is, "{kind:?} {stream} {to:?}");
        }
    }
}

#[test]
fn nobody_sends_without_a_window() {
    for kind in KINDS {
        let mut lab = with_echo(kind, Faults::NONE, &[0, 1]);
        let own = message(1, 1, 40);
        // A node of which nobody has heard, one with a window for another stream, and one with one for memory.
        assert_eq!(lab.window(1, node(1), BASE, 64, Rights::READ), ErrorCode::Ok);
        for (number, stream) in [(1, 1), (1, 0), (0, 1), (0, 2)] {
            send(&mut lab, number, stream, &own);
            lab.pass(Duration::from_millis(1));
        }
        assert_eq!(lab.heard(), 0, "{kind:?}");
        assert!(lab.counter(Counter::BridgeDenied) >= 2, "{kind:?}");
        send(&mut lab, 0, 0, &own);
        lab.pass(Duration::from_millis(1));
        assert_eq!(lab.heard(), 1, "{kind:?}: its window is as it was");
    }
}

#[test]
fn a_message_for_nobody_is_dropped_and_counted() {
    for kind in KINDS {
        let mut lab = with_echo(kind, Faults::NONE, &[0]);
        assert_eq!(lab.window(0, node(0), 0, 16, Rights::STREAM), ErrorCode::Ok);
        // A stream that the role does not have, and what is too long for any role.
        let long = message(3, 2, 9015);
        send(&mut lab, 0, 0, &message(1, 2, 9014));
        send(&mut lab, 0, 0, &long);
        send(&mut lab, 0, 0, &message(4, 2, 60_000));
        send(&mut lab, 0, 0, &message(5, 2, 50));
        let got = take_all(&mut lab, 0, 2);
        assert_eq!(got, [echoed(&message(1, 2, 9014)), echoed(&message(5, 2, 50))], "{kind:?}");
        assert_eq!((lab.heard(), lab.counter(Counter::DropForeign)), (2, 2), "{kind:?}");
    }
}

#[test]
fn routes_and_windows_end_with_the_claim() {
    for kind in KINDS {
        let mut lab = with_echo(kind, Faults::NONE, &[0]);
        let (first, second) = (message(1, 2, 700), message(2, 2, 9000));
        send(&mut lab, 0, 0, &first);
        assert_eq!(take_all(&mut lab, 0, 1), [echoed(&first)]);
        // It ends in the middle of a message.
        for _ in 0..4 {
            send(&mut lab, 0, 0, &second);
        }
        lab.pass(Duration::from_micros(5));
        lab.release();
        lab.claim();
        lab.load_echo(&[CARD]);
        lab.pass(Duration::from_millis(300));
        take(&mut lab, 0);
        assert_eq!(lab.heard(), 0, "{kind:?}");
        send(&mut lab, 0, 0, &first);
        lab.pass(Duration::from_millis(300));
        assert_eq!(lab.heard(), 0, "{kind:?}: its window is gone");
        // In gateware the node has the place that it had, when all others are given away: a route would lead there.
        for number in 1..8 {
            assert_eq!(lab.window(number.into(), node(100 + number), BASE, 64, Rights::READ), ErrorCode::Ok);
        }
        assert_eq!(lab.window(0, node(0), 0, 1, Rights::STREAM), ErrorCode::Ok);
        send(&mut lab, 0, 0, &first);
        lab.pass(Duration::from_millis(1));
        assert_eq!(lab.heard(), 1, "{kind:?}");
        assert_eq!(take(&mut lab, 0), [] as [Bytes; 0], "{kind:?}: its route is gone");
        assert_eq!(lab.route(0, Some((node(0), 3))), ErrorCode::Ok);
        send(&mut lab, 0, 0, &second);
        assert_eq!(take_all(&mut lab, 0, 1), [echoed(&second)], "{kind:?}: nothing of before is before it");
    }
}

#[test]
fn a_route_that_ends_lets_nothing_more_out() {
    for kind in KINDS {
        let mut lab = with_echo(kind, Faults::NONE, &[0, 1]);
        for number in 0..5 {
            send(&mut lab, 0, 0, &message(number, 2, 1400));
        }
        lab.pass(Duration::from_micros(3));
        assert_eq!(lab.route(0, None), ErrorCode::Ok);
        lab.pass(Duration::from_millis(1));
        let got = take(&mut lab, 0);
        assert!(got.iter().enumerate().all(|(at, one)| *one == echoed(&message(at as u64, 2, 1400))), "{kind:?}");
        send(&mut lab, 0, 0, &message(9, 2, 100));
        lab.pass(Duration::from_millis(1));
        assert_eq!((take(&mut lab, 0).len(), lab.heard()), (0, 6), "{kind:?}");
        // It may lead to another node then.
        assert_eq!(lab.route(0, Some((node(1), 3))), ErrorCode::Ok);
        send(&mut lab, 0, 0, &message(10, 2, 100));
        assert_eq!(take_all(&mut lab, 1, 1), [echoed(&message(10, 2, 100))], "{kind:?}");
    }
}

/// On gateware alone, where the role waits with what it cannot send; in C it loses that.
#[test]
fn who_takes_nothing_holds_up_the_role_and_not_the_card() {
    let mut lab = with_echo(Kind::Rtl, Faults::NONE, &[0, 1]);
    assert_eq!(lab.window(2, node(1), BASE, 4096, Rights::READ | Rights::WRITE), ErrorCode::Ok);
    let (mut sent, mut waits) = (0, 0);
    while waits < 20 {
        let message = message(sent, 2, 1300);
        match lab.of_node(0, |node, now| node.send(now, CARD, 0, &message)) {
            Ok(()) => (sent, waits) = (sent + 1, 0),
            Err(NotTaken::Full) => waits += 1,
            Err(why) => panic!("{why:?}"),
        }
        lab.pass(Duration::from_micros(50));
        assert!(sent < 2000, "there is no end of what the card holds");
    }
    assert_eq!(lab.write(1, BASE, b"beside it"), done(), "memory is served");
    // The other stream hears, and waits with its answer.
    send(&mut lab, 1, 1, &message(0, 2, 40));
    lab.pass(Duration::from_micros(100));
    let heard = lab.heard();
    send(&mut lab, 1, 1, &message(1, 1, 40));
    lab.pass(Duration::from_micros(100));
    assert_eq!(lab.heard(), heard + 1);
    let got = take_all(&mut lab, 0, sent as usize);
    assert_eq!(got.len(), sent as usize);
    for (number, got) in got.iter().enumerate() {
        assert_eq!(*got, echoed(&message(number as u64, 2, 1300)), "{number}: each comes once and in order");
    }
    assert_eq!(take_all(&mut lab, 1, 1), [echoed(&message(0, 2, 40))]);
}

#[test]
fn a_node_that_dies_holds_up_no_other_for_good() {
    for kind in KINDS {
        // A short time-out, and with it gateware's short patience.
        let mut lab = Lab::with(kind, 2, |config| config.resend_after = Duration::from_micros(100));
        lab.load_echo(&[CARD]);
        // What comes in on stream 0 goes to node 1, which is dead: more than the transport keeps for a node.
        joins(&mut lab, 0, 1);
        joins(&mut lab, 1, 0);
        assert_eq!(lab.window(0, node(0), 0, 2, Rights::STREAM), ErrorCode::Ok);
        let link = lab.link(1);
        lab.rack.net.down(link);
        for number in 0..6 {
            send(&mut lab, 0, 0, &message(number, 2, 9000));
        }
        send(&mut lab, 0, 1, &message(99, 2, 1000));
        let mut got = vec![];
        for _ in 0..200 {
            lab.pass(Duration::from_millis(10));
            got.extend(take(&mut lab, 0));
            if !got.is_empty() {
                break;
            }
        }
        assert_eq!(got, [echoed(&message(99, 2, 1000))], "{kind:?}");
    }
}
