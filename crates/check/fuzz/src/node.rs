//! Any node behind its wire: frames and time of all sorts, in any order.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use rackloom_node::{Frame, Instant, Node, Output};
use rackloom_wire::MacAddr;

use crate::talk::CARD;
use crate::{frame, talk};

/// Most outputs a node may give in one turn. More means that it never comes to rest: a card's whole DDR pushed as
/// results is less.
const OUTPUTS_MAX: usize = 1 << 20;

/// Times a node may be woken at one instant.
const WAKES_MAX: usize = 10_000;

/// Frames the node has sent that are kept to be played back to it.
const HEARD_MAX: usize = 64;

/// What a node has sent.
struct Heard<'a> {
    last: Vec<Frame>,
    watch: &'a mut dyn FnMut(&Frame),
}

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
    drive_watched(node, mac, now, u, &mut |_| {})
}

/// [`drive`], with a look at each frame that the node sends.
///
/// # Errors
/// As [`drive`].
///
/// # Panics
/// As [`drive`].
pub fn drive_watched<N: Node>(
    node: &mut N,
    mac: MacAddr,
    now: &mut Instant,
    u: &mut Unstructured<'_>,
    watch: &mut dyn FnMut(&Frame),
) -> Result<()> {
    let mut heard = Heard { last: Vec::new(), watch };
    while !u.is_empty() {
        match u.int_in_range(0..=9)? {
            0 => {
                // From the time of a frame on the wire to that of a lease.
                let most = *u.choose(&[1_000, 1_000_000, 100_000_000, 10_000_000_000u64])?;
                *now += Duration::from_nanos(u.int_in_range(0..=most)?);
            }
            1 => node.handle_timeout(*now),
            2 => {
                if let Some(at) = node.next_deadline() {
                    *now = (*now).max(at);
                    wake(node, *now, &mut heard);
                }
            }
            // What the node itself has said comes back: a mirror on the wire.
            3 if !heard.last.is_empty() => {
                let frame = heard.last[u.choose_index(heard.last.len())?].clone();
                node.handle_frame(*now, 0, frame);
            }
            _ => {
                let frame = frame_for(u, mac, &heard.last)?;
                node.handle_frame(*now, 0, frame.into());
            }
        }
        drain(node, *now, &mut heard);
    }
    Ok(())
}

/// A frame for the node at `mac`: mostly one that fits the conversation, and that with a fault in one case of three;
/// else any frame at all.
fn frame_for(u: &mut Unstructured<'_>, mac: MacAddr, heard: &[Frame]) -> Result<Vec<u8>> {
    if u.ratio(1, 8)? {
        return frame::any(u);
    }
    let mut frame = if mac == CARD { talk::to_card(u, heard)? } else { talk::to_host(u, heard)? };
    if u.ratio(1, 3)? {
        for _ in 0..u.int_in_range(1..=2)? {
            frame::break_one(u, &mut frame)?;
        }
    }
    Ok(frame)
}

/// Wakes the node until it wants to sleep: work that is done in slices has its deadline at once, but not for ever.
fn wake<N: Node>(node: &mut N, now: Instant, heard: &mut Heard<'_>) {
    for _ in 0..WAKES_MAX {
        node.handle_timeout(now);
        drain(node, now, heard);
        if node.next_deadline().is_none_or(|next| next > now) {
            return;
        }
    }
    panic!("woken {WAKES_MAX} times at {now:?}, it still wants to be woken at {:?}", node.next_deadline());
}

fn drain<N: Node>(node: &mut N, now: Instant, heard: &mut Heard<'_>) {
    for _ in 0..OUTPUTS_MAX {
        match node.poll(now) {
            None => return,
            Some(Output::Event(_)) => {}
            Some(Output::Transmit(_, frame)) => {
                assert!(rackloom_wire::Packet::parse(&frame).is_ok(), "it sends what no peer can read: {frame:02x?}");
                (heard.watch)(&frame);
                if heard.last.len() == HEARD_MAX {
                    heard.last.remove(0);
                }
                heard.last.push(frame);
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
