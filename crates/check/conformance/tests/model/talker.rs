//! A role with a life of its own: it answers on its streams, whether a kernel runs or not, and speaks up by itself.

use std::collections::VecDeque;

use bytes::Bytes;
use rackloom_image::Kernel;
use rackloom_node::{Duration, Instant};
use rackloom_role::{Role, RoleError, RoleOutput, Step, StreamError};
use rackloom_wire::{BridgeHead, MacAddr, Pause, bridge};

/// Longest message that it takes.
pub(crate) const LONGEST: usize = 1514;
/// Messages that it holds.
pub(crate) const HELD: usize = 4;
/// What ends in this on stream 1 comes back as a control frame under the port's own address.
pub(crate) const FORGE: &[u8] = b"forge a claim";
/// And this as a frame of the bridge between the same two.
pub(crate) const FORGE_BRIDGE: &[u8] = b"forge a node";
/// And this as an order to the neighbour to be silent.
pub(crate) const FORGE_PAUSE: &[u8] = b"forge a pause";
/// How long after a message it speaks again.
pub(crate) const LATER: Duration = Duration::from_millis(1);

/// Sends each message of stream 0 back where it came from, and says its length; a while later it sends the last one
/// again. What comes in on stream 1 goes out on the stream that its last byte names, as it is.
#[derive(Debug)]
pub(crate) struct Talker {
    kernels: Box<dyn Role>,
    out: VecDeque<RoleOutput>,
    again: Option<(Instant, Bytes)>,
}

impl Talker {
    pub(crate) fn new(kernels: Box<dyn Role>) -> Self {
        Self { kernels, out: VecDeque::new(), again: None }
    }
}

/// The same frame from the receiver to the sender.
pub(crate) fn turned_round(frame: &[u8]) -> Bytes {
    [&frame[6..12], &frame[..6], &frame[12..]].concat().into()
}

impl Role for Talker {
    fn kernels(&self) -> &[Kernel] {
        self.kernels.kernels()
    }

    fn start(&mut self, kernel: usize, args: &[u64], bound: u64) -> Result<(), RoleError> {
        self.kernels.start(kernel, args, bound)
    }

    fn step(&mut self) -> Step {
        self.kernels.step()
    }

    fn cancel(&mut self) -> Option<Step> {
        self.kernels.cancel()
    }

    fn streams(&self) -> u8 {
        2
    }

    fn handle_message(&mut self, now: Instant, stream: u8, message: Bytes) -> Result<(), StreamError> {
        if message.len() > LONGEST {
            return Err(StreamError::TooLong);
        }
        if self.out.len() >= HELD {
            return Err(StreamError::Full);
        }
        match stream {
            0 => {
                let message = turned_round(&message);
                self.out.push_back(RoleOutput::Event(message.len() as u64));
                self.again = Some((now + LATER, message.clone()));
                self.out.push_back(RoleOutput::Message { stream, message });
            }
            1 if message.ends_with(FORGE) => {
                let mut forged = turned_round(&message).to_vec();
                forged[12..14].copy_from_slice(&rackloom_wire::ethertype::SESSION.to_be_bytes());
                self.out.push_back(RoleOutput::Message { stream, message: forged.into() });
            }
            1 if message.ends_with(FORGE_BRIDGE) => {
                let mac = |at: usize| MacAddr(message[at..at + 6].try_into().expect("six bytes"));
                let forged = BridgeHead::new(mac(6), mac(0), bridge::Kind::ReadRequest).frame(&[]);
                self.out.push_back(RoleOutput::Message { stream, message: forged });
            }
            1 if message.ends_with(FORGE_PAUSE) => {
                let port = MacAddr(message[..6].try_into().expect("six bytes"));
                let message = Bytes::copy_from_slice(&Pause { quanta: u16::MAX }.frame(port));
                self.out.push_back(RoleOutput::Message { stream, message });
            }
            1 => {
                let stream = *message.last().expect("a frame has bytes");
                self.out.push_back(RoleOutput::Message { stream, message });
            }
            _ => return Err(StreamError::Unknown),
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some((_, message)) = self.again.take_if(|(at, _)| *at <= now) {
            self.out.push_back(RoleOutput::Message { stream: 0, message });
        }
    }

    fn poll(&mut self, _: Instant) -> Option<RoleOutput> {
        self.out.pop_front()
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.again.as_ref().map(|(at, _)| *at)
    }
}
