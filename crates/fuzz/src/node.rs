//! Any node behind its wire: frames and time of all sorts, in any order.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use rackloom_node::{Instant, Node, Output};

use crate::frame;

/// Most outputs a node may give at one go. More means that it never comes to rest: a card's whole DDR pushed as results
/// is less.
const OUTPUTS_MAX: usize = 1 << 20;

/// Frames the node has sent that are kept to be played back to it.
const HEARD_MAX: usize = 64;

/// Drives a node with frames, time and polls as long as `u` lasts. A node must not panic, must come to rest, must not
/// ask to be woken at a time that it does not move on from, and must send only frames that a peer can read.
///
/// # Errors
/// When `u` holds too few bytes.
///
/// # Panics
/// When the node breaks one of these promises.
pub fn drive<N: Node>(node: &mut N, u: &mut Unstructured<'_>) -> Result<()> {
    let mut now = Instant::ZERO;
    let mut heard = Vec::new();
    while !u.is_empty() {
        match u.int_in_range(0..=7)? {
            0 => now += Duration::from_nanos(u.int_in_range(0..=10_000_000_000u64)?),
            1 => {
                node.handle_timeout(now);
            }
            2 => {
                if let Some(at) = node.next_deadline() {
                    now = now.max(at);
                    node.handle_timeout(now);
                    drain(node, now, &mut heard);
                    let next = node.next_deadline();
                    assert!(next.is_none_or(|next| next > now), "woken at {now:?}, it wants to be woken at {next:?}");
                }
            }
            // What the node itself has said comes back: a mirror on the wire.
            3 if !heard.is_empty() => {
                let frame = heard[u.choose_index(heard.len())?].clone();
                node.handle_frame(now, 0, frame);
            }
            _ => node.handle_frame(now, 0, frame::any(u)?.into()),
        }
        drain(node, now, &mut heard);
    }
    Ok(())
}

fn drain<N: Node>(node: &mut N, now: Instant, heard: &mut Vec<rackloom_node::Frame>) {
    for _ in 0..OUTPUTS_MAX {
        match node.poll(now) {
            None => return,
            Some(Output::Event(_)) => {}
            Some(Output::Transmit(_, frame)) => {
                assert!(rackloom_wire::Packet::parse(&frame).is_ok(), "it sends what no peer can read: {frame:02x?}");
                if heard.len() < HEARD_MAX {
                    heard.push(frame);
                }
            }
        }
    }
    panic!("still not at rest after {OUTPUTS_MAX} outputs");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{self, Options, Target};
    use rackloom_node::{Frame, Port};
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
        drive(&mut Echo { bug, waiting: Vec::new(), due: None }, u)
    }

    #[test]
    fn each_planted_bug_is_found_and_a_sound_node_passes() {
        let cases: [(Target, &str); 4] = [
            (|u| echo(Bug::Panics, u), "planted"),
            (|u| echo(Bug::NeverRests, u), "not at rest"),
            (|u| echo(Bug::SendsJunk, u), "no peer can read"),
            (|u| echo(Bug::DeadlineStands, u), "wants to be woken"),
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
