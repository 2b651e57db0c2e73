//! Hosts behind cards: their packets go through the card, past a role or not.

use bytes::Bytes;
use rackloom_card::{Hook, Nic, PortConfig, PortService};
use rackloom_node::{Duration, Either};
use rackloom_rack::Slot;
use rackloom_wire::MacAddr;

use super::Seen;
use crate::error::{Result, check};
use crate::lab::{CARD_BASE, Lab};
use crate::latency::pattern;
use crate::peer::PeerEvent;

/// A packet for a host: Ethernet's head and some payload. What role `echo` reads, its turns, comes right behind the
/// head.
fn packet(to: Slot, from: Slot, turns: u64, length: usize) -> Bytes {
    let mut bytes = [&to.mac.0[..], &from.mac.0, &[8, 0], &turns.to_le_bytes()].concat();
    bytes.extend_from_slice(&pattern(length, 3));
    bytes.into()
}

/// Two cards with a host behind each.
fn two_hosts(lab: &mut Lab, hook: Option<Hook>) -> Result<([Slot; 2], [Slot; 2])> {
    let mut make = |number: u8| -> Result<(Slot, Slot)> {
        let mac = MacAddr([2, 0x52, 0x4c, 3, 0, number]);
        let card = lab.add_card(|config| {
            config.ports = vec![PortConfig::new(mac, PortService::Closed)];
            config.nic = Some(Nic { host: 1, hook });
        })?;
        Ok((card, lab.add_behind(card, mac)))
    };
    let ((a, host_a), (b, host_b)) = (make(0)?, make(1)?);
    Ok(([a, b], [host_a, host_b]))
}

/// Sends packets, and waits for the first that either host hears: which host, and the packet.
fn send(lab: &mut Lab, from: Slot, packet: &Bytes) -> Result<(Slot, Bytes)> {
    let frame = packet.clone();
    lab.with(from, |peer, _| peer.frames.push_back(frame));
    let mut heard = None;
    lab.run_until("a packet", |node, told| match told {
        Either::A(Either::B(PeerEvent::Frame(frame))) => {
            heard = Some((node, frame.clone()));
            true
        }
        _ => false,
    })?;
    let (node, frame) = heard.expect("just seen");
    Ok((Slot { node, ..from }, frame))
}

/// Packets go from one host through both cards to the other and back, while the cards' owner writes to their memory.
pub(super) fn networking(lab: &mut Lab) -> Result<Seen> {
    const PACKETS: usize = 100;
    let (cards, [a, b]) = two_hosts(lab, None)?;
    let mut took = Duration::ZERO;
    for n in 0..PACKETS {
        let start = lab.now();
        for (from, to) in [(a, b), (b, a)] {
            let sent = packet(to, from, n as u64, 1400);
            let (by, heard) = send(lab, from, &sent)?;
            check(by.node == to.node && heard == sent, || format!("packet {n} has not come"))?;
        }
        took += lab.now() - start;
    }
    let content = pattern(64 << 10, 1);
    let (data, card) = (content.clone(), cards[0].mac);
    lab.own("a write", |host, now| host.write(now, card, CARD_BASE, data))?;
    Ok((
        format!("{PACKETS} packets of 1.4 kB each way, host to card to card to host; the cards served their owner"),
        took.as_secs_f64() * 1e6 / PACKETS as f64,
    ))
}

/// A role between wire and host answers packets that the host then never sees.
pub(super) fn bump(lab: &mut Lab) -> Result<Seen> {
    let (cards, [a, b]) = two_hosts(lab, Some(Hook::USUAL))?;
    let ping = packet(b, a, 2, 40);
    let (by, heard) = send(lab, a, &ping)?;
    check(by.node == b.node && heard == ping, || "without a role packets do not pass".into())?;
    lab.load("echo", cards[1])?;
    let start = lab.now();
    let (by, heard) = send(lab, a, &ping)?;
    let took = lab.now() - start;
    let answer = packet(a, b, 1, 40);
    check(by.node == a.node && heard == answer, || "the role has not answered".into())?;
    let counters = lab.rack.card(cards[1]).nic_counters().expect("it has a host");
    check(counters.to_host.frames == 1, || format!("the host has seen it: {counters:?}"))?;
    Ok((
        "the host saw a packet before the role came, none after: the role answered in its place".into(),
        took.as_secs_f64() * 1e6,
    ))
}
