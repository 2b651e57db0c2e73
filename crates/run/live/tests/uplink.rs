//! Uplinks between networks of this process: who may order silence.
#![allow(missing_docs)]

use std::time::{Duration, Instant};

use rackloom_live::{Port, Switch, Uplink, Wire};
use rackloom_node::Frame;
use rackloom_wire::{MacAddr, Pause};

const LONG: Duration = Duration::from_secs(60);
const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

/// A frame for everybody.
fn note() -> Frame {
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, 2], &[0x08, 0], &[7; 46]].concat().into()
}

fn order(quanta: u16) -> Frame {
    Pause { quanta }.frame(CARD).to_vec().into()
}

fn receive(port: &mut Port) -> Frame {
    let (mut frames, until) = (Vec::new(), Instant::now() + LONG);
    while frames.is_empty() {
        assert!(Instant::now() < until, "nothing comes");
        port.recv(Some(until), &mut frames).unwrap();
    }
    frames.remove(0)
}

/// Two networks and what joins them: a member of each.
fn joined(join: fn(Port, Port) -> std::io::Result<Uplink>) -> (Port, Port, Uplink) {
    let [near, far] = [Switch::default(), Switch::default()];
    let members = [&near, &far].map(|switch| switch.attach("member").unwrap());
    let uplink = join(near.attach("uplink").unwrap(), far.attach("uplink").unwrap()).unwrap();
    let [near, far] = members;
    (near, far, uplink)
}

/// Sends these from the near side, and waits until the uplink has seen them: until the note behind them is there.
fn send(near: &mut Port, far: &mut Port, orders: &[Frame]) {
    assert_eq!(near.send(orders).unwrap(), orders.len());
    assert_eq!(near.send(&[note()]).unwrap(), 1);
    assert_eq!(receive(far), note(), "no order goes further");
}

#[test]
fn a_member_of_a_network_silences_nobody() {
    let (mut near, mut far, uplink) = joined(Uplink::spawn);
    let mut shortest = LONG;
    for _ in 0..200 {
        let began = Instant::now();
        send(&mut near, &mut far, &vec![order(u16::MAX); 100]);
        far.send(&[note()]).unwrap();
        assert_eq!(receive(&mut near), note());
        shortest = shortest.min(began.elapsed());
    }
    assert!(shortest < Duration::from_nanos(Pause { quanta: u16::MAX }.nanos()), "each was silent for {shortest:?}");
    assert_eq!(uplink.stats().outward, 200, "the notes");
}

#[test]
fn a_card_silences_its_host_for_as_long_as_it_says() {
    let (mut near, mut far, _uplink) = joined(Uplink::spawn_for_host);
    let began = Instant::now();
    send(&mut near, &mut far, &[order(u16::MAX)]);
    far.send(&[note()]).unwrap();
    assert_eq!(receive(&mut near), note());
    let silent = began.elapsed();
    assert!(silent >= Duration::from_nanos(Pause { quanta: u16::MAX }.nanos()), "{silent:?}");
    // An order for no time ends the one before.
    for _ in 0..100 {
        send(&mut near, &mut far, &[order(u16::MAX), order(0)]);
        far.send(&[note()]).unwrap();
        assert_eq!(receive(&mut near), note());
    }
}
