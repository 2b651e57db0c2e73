//! Dataflow: messages through the roles of two cards, with no host in between.

use bytes::Bytes;
use rackloom_bridge::{Rights, Window};
use rackloom_node::Either;
use rackloom_wire::MacAddr;

use super::Seen;
use crate::error::{Result, check};
use crate::lab::Lab;
use crate::latencies::Stand;
use crate::latency::pattern;
use crate::peer::PeerEvent;

/// A message as role `echo` takes it: each card that it passes swaps the two addresses and takes a turn away.
fn message(addresses: [u8; 2], turns: u64, number: u8) -> Bytes {
    let [first, second] = addresses.map(|n| [n; 6]);
    let mut bytes = [&first[..], &second, &[8, 0], &turns.to_le_bytes()].concat();
    bytes.extend_from_slice(&pattern(2000, number));
    bytes.into()
}

/// From a node to card 0, from its role to card 1, from there to a node again.
pub(super) fn dataflow(lab: &mut Lab) -> Result<Seen> {
    const MESSAGES: u8 = 100;
    let (from, to) = (lab.add_peer(Stand::Fabric, 0), lab.add_peer(Stand::Fabric, 0));
    let cards = [lab.add_card(|_| {})?, lab.add_card(|_| {})?];
    for (card, next) in cards.into_iter().zip([(cards[1].mac, 0), (to.mac, 3)]) {
        lab.load("echo", card)?;
        lab.open(card, 0, 0, 1, Rights::STREAM)?;
        lab.own("a route", |host, now| host.set_route(now, card.mac, 0, Some(next)))?;
    }
    let window = Window { base: 3, length: 1, peer: MacAddr::ZERO, rights: Rights::STREAM };
    lab.with(to, |peer, _| peer.endpoint.windows().set(0, Some(window)));
    let mut took = 0.0;
    for number in 0..MESSAGES {
        let start = lab.now();
        let sent = message([1, 2], 3, number);
        lab.with(from, |peer, now| peer.endpoint.send(now, cards[0].mac, 0, &sent))?;
        let mut heard = None;
        let at = lab.run_until("a message", |node, told| match told {
            Either::A(Either::B(PeerEvent::Message(peer, stream, bytes))) if node == to.node => {
                heard = Some((*peer, *stream, bytes.clone()));
                true
            }
            _ => false,
        })?;
        let wanted = (cards[1].mac, 3, message([1, 2], 1, number));
        check(heard.as_ref() == Some(&wanted), || format!("message {number} has come as another"))?;
        took += (at - start).as_secs_f64() * 1e6;
    }
    Ok((
        format!("{MESSAGES} messages through the roles of two cards, each changed by both"),
        took / f64::from(MESSAGES),
    ))
}
