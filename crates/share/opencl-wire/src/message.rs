//! Messages as bytes.

use crate::command::Command;
use crate::reply::Reply;

/// The channel's message kind of a [`Command`].
pub const COMMAND: u32 = 1;

/// The channel's message kind of a [`Reply`].
pub const REPLY: u32 = 2;

/// The bytes are not a message of this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed message: {0}")]
pub struct Malformed(postcard::Error);

/// Writes a command into `out`, replacing its content; the tail follows.
pub fn encode_command(command: &Command<'_>, tail: &[u8], out: &mut Vec<u8>) {
    encode(command, tail, out);
}

/// Writes a reply into `out`, replacing its content; the tail follows.
pub fn encode_reply(reply: &Reply, tail: &[u8], out: &mut Vec<u8>) {
    encode(reply, tail, out);
}

/// Reads a command and its tail.
///
/// # Errors
/// The bytes are not a command.
pub fn decode_command(body: &[u8]) -> Result<(Command<'_>, &[u8]), Malformed> {
    postcard::take_from_bytes(body).map_err(Malformed)
}

/// Reads a reply and its tail.
///
/// # Errors
/// The bytes are not a reply.
pub fn decode_reply(body: &[u8]) -> Result<(Reply, &[u8]), Malformed> {
    postcard::take_from_bytes(body).map_err(Malformed)
}

fn encode(message: &impl serde::Serialize, tail: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut bytes = std::mem::take(out);
    bytes = postcard::to_extend(message, bytes).expect("a vector takes any message, and no field refuses");
    bytes.extend_from_slice(tail);
    *out = bytes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Area, Argument, Op, Payload, Times};
    use proptest::prelude::*;

    fn round_trip(command: &Command<'_>, tail: &[u8]) {
        let mut bytes = vec![1, 2, 3];
        encode_command(command, tail, &mut bytes);
        assert_eq!(decode_command(&bytes), Ok((command.clone(), tail)));
        for cut in 0..bytes.len() - tail.len() {
            assert!(decode_command(&bytes[..cut]).is_err(), "{cut} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn a_command_comes_back_with_its_tail() {
        let op = Op::Write { buffer: 3, offset: 1 << 40, from: Payload::Inline };
        round_trip(&Command::Enqueue { event: 1 << 30, waits: vec![1, 500], submit: true, op }, b"bytes");
        let arguments = vec![
            (0, Argument::Value(&[1, 2, 3])),
            (7, Argument::Buffer(None)),
            (8, Argument::Buffer(Some(9))),
            (9, Argument::Local(64)),
            (10, Argument::Sampler(1)),
            (11, Argument::Svm { memory: 3, offset: 1 << 33 }),
        ];
        let (offset, global, reaches) = ([0; 3], [1920, 1080, 0], Some(vec![3, 4]));
        let op = Op::Launch { kernel: 1, dimensions: 2, offset, global, local: Some([16, 16, 1]), arguments, reaches };
        round_trip(&Command::Enqueue { event: 0, waits: vec![], submit: false, op }, &[]);
        let area = Area { origin: [1, 2, 3], region: [4, 5, 6] };
        let op = Op::WriteImage { image: 3, area, from: Payload::Inline };
        round_trip(&Command::Enqueue { event: 1, waits: vec![], submit: false, op }, b"pixels");
        round_trip(&Command::Link { request: 1, program: 2, options: "-w", inputs: vec![0, 1] }, &[]);
    }

    #[test]
    fn a_reply_comes_back_with_its_tail() {
        let times = Some(Times { submitted: u64::MAX, started: 0, ended: 7 });
        let reply = Reply::Done { event: 77, status: -4, times };
        let mut bytes = Vec::new();
        encode_reply(&reply, &[9; 100], &mut bytes);
        assert_eq!(decode_reply(&bytes), Ok((reply, &[9; 100][..])));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut again = Vec::new();
            if let Ok((command, tail)) = decode_command(&bytes) {
                encode_command(&command, tail, &mut again);
                prop_assert_eq!(decode_command(&again), Ok((command, tail)));
            }
            if let Ok((reply, tail)) = decode_reply(&bytes) {
                encode_reply(&reply, tail, &mut again);
                prop_assert_eq!(decode_reply(&again), Ok((reply, tail)));
            }
        }
    }
}
