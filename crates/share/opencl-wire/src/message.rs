//! Messages as bytes.

use crate::command::Command;
use crate::op::Op;
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

/// Writes an operation of a [`Command::Sequence`] behind those that `out` holds.
pub fn encode_op(op: &Op<'_>, out: &mut Vec<u8>) {
    append(op, out);
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

/// Reads the first operation of a [`Command::Sequence`]; gives what is behind it, too.
///
/// # Errors
/// The bytes do not begin with an operation.
pub fn decode_op(bytes: &[u8]) -> Result<(Op<'_>, &[u8]), Malformed> {
    postcard::take_from_bytes(bytes).map_err(Malformed)
}

fn encode(message: &impl serde::Serialize, tail: &[u8], out: &mut Vec<u8>) {
    out.clear();
    append(message, out);
    out.extend_from_slice(tail);
}

fn append(message: &impl serde::Serialize, out: &mut Vec<u8>) {
    let bytes = std::mem::take(out);
    *out = postcard::to_extend(message, bytes).expect("a vector takes any message, and no field refuses");
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
    fn operations_of_a_sequence_come_back_one_by_one() {
        let launch = Op::Launch {
            kernel: 300,
            dimensions: 1,
            offset: [0; 3],
            global: [1 << 20, 0, 0],
            local: None,
            arguments: vec![(0, Argument::Value(&[7; 9])), (1, Argument::Buffer(Some(3)))],
            reaches: None,
        };
        let fill = Op::Fill { buffer: 1, offset: 0, len: 64, pattern: &[1, 2] };
        let mut bytes = Vec::new();
        [&launch, &Op::Marker, &fill].into_iter().for_each(|op| encode_op(op, &mut bytes));
        let (first, rest) = decode_op(&bytes).unwrap();
        let (second, rest) = decode_op(rest).unwrap();
        let (third, rest) = decode_op(rest).unwrap();
        assert_eq!((first, second, third, rest), (launch, Op::Marker, fill, &[][..]));
        assert!(decode_op(rest).is_err());
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
            if let Ok((op, behind)) = decode_op(&bytes) {
                again.clear();
                encode_op(&op, &mut again);
                again.extend_from_slice(behind);
                prop_assert_eq!(decode_op(&again), Ok((op, behind)));
            }
            if let Ok((reply, tail)) = decode_reply(&bytes) {
                encode_reply(&reply, tail, &mut again);
                prop_assert_eq!(decode_reply(&again), Ok((reply, tail)));
            }
        }
    }
}
