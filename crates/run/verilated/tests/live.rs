//! Live: a card computes for a bounded while at a time, for it shares its thread with others.

use rackloom_card::Pace;
use rackloom_node::{Frame, Instant, Node, Output};
use rackloom_verilated::{Config, RtlCard};
use rackloom_wire::{CARDS, Head, IntoBytes, Kind, MacAddr, Packet, Solicit, U32};

/// Somebody asks who is there, and wants to know at once.
fn solicit(seq: u32) -> Frame {
    let (dst, src) = (CARDS, MacAddr([2, 0, 0, 0, 9, 9]));
    let head = Head { dst, src, kind: Kind::DiscoverySolicit, flags: 0, epoch: 0, seq, addr: 0 };
    head.frame(&[Solicit { window_us: U32::ZERO, reserved: U32::ZERO }.as_bytes()])
}

/// The numbers of the questions that the card answers now.
fn answers(card: &mut RtlCard, now: Instant) -> Vec<u32> {
    let mut answered = Vec::new();
    while let Some(output) = card.poll(now) {
        let Output::Transmit(_, frame) = output else { continue };
        let head = Packet::parse(&frame).expect("a sound frame").head;
        if !head.dst.is_multicast() {
            answered.push(head.seq);
        }
    }
    answered
}

/// A driver hands over many frames in one turn and polls after each. Were each poll good for some thousand cycles,
/// other nodes of the thread would wait for seconds.
#[test]
fn frames_give_no_time_and_each_timeout_does() {
    let mut card = RtlCard::new(Config::new(MacAddr([2, 0, 0, 0, 0, 1]), Pace::Live)).expect("a sound configuration");
    let now = Instant::ZERO;
    while card.next_deadline().is_some_and(|at| at <= now) {
        card.handle_timeout(now);
        answers(&mut card, now);
    }
    let (before, mut answered) = (card.cycles(), Vec::new());
    for seq in 1..=FRAMES {
        card.handle_frame(now, 0, solicit(seq));
        answered.append(&mut answers(&mut card, now));
    }
    // What was left of the last slice is used.
    assert!(card.cycles() - before <= SLICE, "{} cycles", card.cycles() - before);
    assert_eq!(card.next_deadline(), Some(now), "it wants more");
    while card.next_deadline().is_some_and(|at| at <= now) {
        let before = card.cycles();
        card.handle_timeout(now);
        answered.append(&mut answers(&mut card, now));
        assert!((1..=SLICE).contains(&(card.cycles() - before)));
    }
    assert_eq!(answered, (1..=FRAMES).collect::<Vec<_>>());
    assert_eq!(card.frames_lost(), 0);
}

const FRAMES: u32 = 256;
/// Cycles that a timeout gives.
const SLICE: u64 = 4096;
