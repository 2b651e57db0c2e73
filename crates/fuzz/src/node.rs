//! Any node behind its wire: frames and time of all sorts, in any order.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use rackloom_node::{Frame, Instant, Node, Output};
use rackloom_wire::{Announce, CARDS, HOSTS, MacAddr, ROLE_PRIVATE};

use crate::frame;

/// The card in every conversation.
pub const CARD: MacAddr = MacAddr([0x02, 0x52, 0x4c, 0, 0, 7]);
/// The host in every conversation.
pub const HOST: MacAddr = MacAddr([0x02, 0x52, 0x4c, 0, 1, 9]);

/// Most outputs a node may give at one go. More means that it never comes to rest: a card's whole DDR pushed as results
/// is less.
const OUTPUTS_MAX: usize = 1 << 20;

/// Times a node may be woken at one instant.
const WAKES_MAX: usize = 10_000;

/// Frames the node has sent that are kept to be played back to it.
const HEARD_MAX: usize = 64;

/// Drives a node, whose address is `mac`, with frames, time and polls as long as `u` lasts. A node must not panic, must
/// come to rest, must not ask for ever to be woken at a time that has come, and must send only frames that a peer can
/// read.
///
/// # Errors
/// When `u` holds too few bytes.
///
/// # Panics
/// When the node breaks one of these promises.
pub fn drive<N: Node>(node: &mut N, mac: MacAddr, now: &mut Instant, u: &mut Unstructured<'_>) -> Result<()> {
    let mut heard = Vec::new();
    while !u.is_empty() {
        match u.int_in_range(0..=9)? {
            0 => *now += Duration::from_nanos(u.int_in_range(0..=10_000_000_000u64)?),
            1 => node.handle_timeout(*now),
            2 => {
                if let Some(at) = node.next_deadline() {
                    *now = (*now).max(at);
                    wake(node, *now, &mut heard);
                }
            }
            // What the node itself has said comes back: a mirror on the wire.
            3 if !heard.is_empty() => {
                let frame = heard[u.choose_index(heard.len())?].clone();
                node.handle_frame(*now, 0, frame);
            }
            _ => {
                let mut frame = frame::any(u)?;
                if u.ratio(7, 8)? {
                    aim(u, &mut frame, mac, &heard)?;
                }
                node.handle_frame(*now, 0, frame.into());
            }
        }
        drain(node, *now, &mut heard);
    }
    Ok(())
}

/// Puts into a frame what makes a node take it for part of a conversation: addresses that it knows, and numbers that it
/// has used itself. Without that, all but a few would fall to the first check.
fn aim(u: &mut Unstructured<'_>, frame: &mut [u8], mac: MacAddr, heard: &[Frame]) -> Result<()> {
    if frame.len() < 40 {
        return Ok(());
    }
    let peer = if mac == CARD { HOST } else { CARD };
    let group = MacAddr::group(u.int_in_range(1..=2)?);
    let dst = *u.choose(&[mac, mac, mac, CARDS, HOSTS, group])?;
    frame[..6].copy_from_slice(&dst.0);
    frame[6..12].copy_from_slice(&peer.0);
    frame[20..24].copy_from_slice(&u.int_in_range(0..=6u32)?.to_be_bytes());
    let addr = *u.choose(&[0, 1, 64, 1472, ROLE_PRIVATE, ROLE_PRIVATE + 1472, u64::MAX - 63])?;
    frame[24..32].copy_from_slice(&addr.to_be_bytes());
    if frame[12..16] == [0x80, 0xef, 0x10, 0x01] && frame.len() >= 32 + size_of::<Announce>() {
        // An announcement that a host believes: address, kind, state, reason, ports, payload size.
        frame[32..38].copy_from_slice(&peer.0);
        frame[50..56].copy_from_slice(&[1, 1, 1, 1, 0x05, 0xc0]);
    }
    if let Some(heard) = heard.last().filter(|h| h.len() >= 40) {
        // Epoch and number of what the node said last; and its first payload word, which is a claim's nonce.
        frame[18..20].copy_from_slice(&heard[18..20]);
        if u.ratio(2, 3)? {
            frame[20..24].copy_from_slice(&heard[20..24]);
            frame[32..40].copy_from_slice(&heard[32..40]);
        }
    }
    Ok(())
}

/// Wakes the node until it wants to sleep: work that is done in slices has its deadline at once, but not for ever.
fn wake<N: Node>(node: &mut N, now: Instant, heard: &mut Vec<Frame>) {
    for _ in 0..WAKES_MAX {
        node.handle_timeout(now);
        drain(node, now, heard);
        if node.next_deadline().is_none_or(|next| next > now) {
            return;
        }
    }
    panic!("woken {WAKES_MAX} times at {now:?}, it still wants to be woken at {:?}", node.next_deadline());
}

fn drain<N: Node>(node: &mut N, now: Instant, heard: &mut Vec<Frame>) {
    for _ in 0..OUTPUTS_MAX {
        match node.poll(now) {
            None => return,
            Some(Output::Event(_)) => {}
            Some(Output::Transmit(_, frame)) => {
                assert!(rackloom_wire::Packet::parse(&frame).is_ok(), "it sends what no peer can read: {frame:02x?}");
                if heard.len() == HEARD_MAX {
                    heard.remove(0);
                }
                heard.push(frame);
            }
        }
    }
    panic!("still not at rest after {OUTPUTS_MAX} outputs");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{self, Options, Target};
    use rackloom_node::Port;
    use rackloom_wire::{Kind, Packet};

    /// What is wrong with an [`Echo`].
    #[derive(Clone, Copy, PartialEq)]
    enum Bug {
        None,
        Panics,
        NeverRests,
        SendsJunk,
        DeadlineStands,
    }

    /// Sends back each frame it can read, a second later.
    struct Echo {
        bug: Bug,
        waiting: Vec<Frame>,
        due: Option<Instant>,
    }

    impl Node for Echo {
        type Event = ();

        fn handle_frame(&mut self, now: Instant, _: Port, frame: Frame) {
            let Ok(packet) = Packet::parse(&frame) else { return };
            assert!(self.bug != Bug::Panics || packet.head.kind != Kind::ExecGo, "planted");
            self.waiting.push(if self.bug == Bug::SendsJunk { frame.slice(1..) } else { frame });
            self.due = self.due.or(Some(now + Duration::from_secs(1)));
        }

        fn handle_timeout(&mut self, _: Instant) {}

        fn poll(&mut self, now: Instant) -> Option<Output<()>> {
            if self.bug == Bug::NeverRests && !self.waiting.is_empty() {
                return Some(Output::Event(()));
            }
            if self.due? > now {
                return None;
            }
            let Some(frame) = self.waiting.pop() else {
                self.due = self.due.filter(|_| self.bug == Bug::DeadlineStands);
                return None;
            };
            Some(Output::Transmit(0, frame))
        }

        fn next_deadline(&self) -> Option<Instant> {
            self.due
        }
    }

    fn echo(bug: Bug, u: &mut Unstructured<'_>) -> Result<()> {
        drive(&mut Echo { bug, waiting: Vec::new(), due: None }, CARD, &mut Instant::default(), u)
    }

    #[test]
    fn each_planted_bug_is_found_and_a_sound_node_passes() {
        let cases: [(Target, &str); 4] = [
            (|u| echo(Bug::Panics, u), "planted"),
            (|u| echo(Bug::NeverRests, u), "not at rest"),
            (|u| echo(Bug::SendsJunk, u), "no peer can read"),
            (|u| echo(Bug::DeadlineStands, u), "still wants to be woken"),
        ];
        for (target, wanted) in cases {
            let options = Options { seed: 1, time: Duration::from_secs(20), only: None };
            let failure = campaign::run(target, options).expect_err(wanted);
            assert!(failure.message.contains(wanted), "{failure}");
        }
        let options = Options { seed: 1, time: Duration::from_secs(1), only: None };
        let inputs = campaign::run(|u| echo(Bug::None, u), options).unwrap();
        assert!(inputs > 10, "{inputs}");
    }
}
