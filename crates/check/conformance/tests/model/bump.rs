//! A role that is hooked in between wire and host: a bump in the wire.

use std::collections::VecDeque;

use bytes::Bytes;
use rackloom_card::Hook;
use rackloom_image::Kernel;
use rackloom_node::Instant;
use rackloom_role::{Role, RoleError, RoleOutput, Step, StreamError};

/// A frame that ends in this goes no further.
pub(crate) const DROP: &[u8] = b"drop";
/// A frame that ends in this goes on with its last byte changed to `!`.
pub(crate) const ALTER: &[u8] = b"alter";
/// A frame that ends in this goes back to where it came from, as it is.
pub(crate) const RETURN: &[u8] = b"return";
/// A frame that ends in this goes on as a control frame.
pub(crate) const FORGE: &[u8] = b"forge";
/// Messages that it holds.
pub(crate) const HELD: usize = 8;

/// Does what a frame's last bytes ask for; what asks for nothing goes on.
#[derive(Debug)]
pub(crate) struct Bump {
    kernels: Box<dyn Role>,
    out: VecDeque<RoleOutput>,
}

impl Bump {
    pub(crate) fn new(kernels: Box<dyn Role>) -> Self {
        Self { kernels, out: VecDeque::new() }
    }
}

impl Role for Bump {
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
        16
    }

    fn handle_message(&mut self, _: Instant, from: u8, message: Bytes) -> Result<(), StreamError> {
        if self.out.len() >= HELD {
            return Err(StreamError::Full);
        }
        let Hook { wire, host, .. } = Hook::USUAL;
        let to = if from == wire { host } else { wire };
        let mut bytes = message.to_vec();
        let stream = match &message[..] {
            m if m.ends_with(DROP) => return Ok(()),
            m if m.ends_with(RETURN) => from,
            m if m.ends_with(ALTER) => {
                *bytes.last_mut().expect("it has an end") = b'!';
                to
            }
            m if m.ends_with(FORGE) => {
                bytes[12..14].copy_from_slice(&rackloom_wire::ethertype::SESSION.to_be_bytes());
                to
            }
            _ => to,
        };
        self.out.push_back(RoleOutput::Message { stream, message: bytes.into() });
        Ok(())
    }

    fn poll(&mut self, _: Instant) -> Option<RoleOutput> {
        self.out.pop_front()
    }
}
