//! Frames of the host behind the card, from the ports where they come in to the queues for those where they leave.

use rackloom_node::{Frame, Instant, Port};
use rackloom_role::StreamError;

use super::Card;
use crate::nic::{NicDrop, Side, Unattended};

impl Card {
    /// Whether the host behind the card is at this port.
    pub(super) fn is_hosts(&self, port: Port) -> bool {
        self.nic.as_ref().is_some_and(|nic| nic.host() == port)
    }

    /// A frame has come in at port 0: it goes to the host if it is the host's. False: it is the card's.
    pub(super) fn take_for_host(&mut self, now: Instant, frame: &Frame) -> bool {
        let Some(verdict) = self.nic.as_ref().and_then(|nic| nic.judge_from_wire(frame)) else { return false };
        self.pass_on(now, verdict, Side::Host, frame.clone());
        true
    }

    /// A frame has come in at the host's port.
    pub(super) fn take_from_host(&mut self, now: Instant, frame: Frame) {
        let Some(verdict) = self.nic.as_ref().map(|nic| nic.judge_from_host(&frame)) else { return };
        self.pass_on(now, verdict, Side::Wire, frame);
    }

    /// Passes a frame on if it may be, and counts it if it is dropped.
    fn pass_on(&mut self, now: Instant, verdict: Result<(), NicDrop>, to: Side, frame: Frame) {
        let result = verdict.and_then(|()| self.pass(now, to, frame));
        if let (Err(why), Some(nic)) = (result, &mut self.nic) {
            let counter = nic.drops(why);
            self.shell.counters.inc(counter);
        }
    }

    /// To the role if it is hooked in between, else to the queue.
    fn pass(&mut self, now: Instant, to: Side, frame: Frame) -> Result<(), NicDrop> {
        let Self { nic: Some(nic), role, .. } = self else { return Ok(()) };
        let Some(hook) = nic.hook() else { return nic.push(to, frame) };
        // The role hears of it on the stream of the side where it came in.
        let stream = match to {
            Side::Host => hook.wire,
            Side::Wire => hook.host,
        };
        let seen = match role {
            Some(active) if active.role.streams() > hook.wire.max(hook.host) => {
                active.role.handle_message(now, stream, frame.clone())
            }
            _ => Err(StreamError::Unknown),
        };
        match (seen, hook.unattended) {
            (Ok(()), _) => Ok(()),
            (Err(StreamError::Full | StreamError::TooLong), _) => Err(NicDrop::Missed),
            (Err(StreamError::Unknown), Unattended::Pass) => nic.push(to, frame),
            (Err(StreamError::Unknown), Unattended::Hold) => Err(NicDrop::Held),
        }
    }
}
