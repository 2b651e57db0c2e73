//! Messages between the OpenCL library and the manager: any bytes are one, or refused, and none costs more than itself.

use arbitrary::{Result, Unstructured};
use rackloom_opencl_wire::{
    Answer, Argument, Build, Command, Op, Payload, Reply, Times, decode_command, decode_op, decode_reply,
    encode_command, encode_op, encode_reply,
};

/// Bytes that start as a message, and are changed in some places.
fn changed(u: &mut Unstructured<'_>, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    for _ in 0..u.int_in_range(0..=4)? {
        let at = u.choose_index(bytes.len() + 1)?;
        match u.int_in_range(0..=3)? {
            0 => bytes.insert(at, u.arbitrary()?),
            1 => bytes.truncate(at),
            _ if at < bytes.len() => bytes[at] = u.arbitrary()?,
            _ => {}
        }
    }
    Ok(bytes)
}

/// What a manager reads.
pub fn command(u: &mut Unstructured<'_>) -> Result<()> {
    let mut bytes = Vec::new();
    let text: &str = u.arbitrary()?;
    let arguments = vec![(u.arbitrary()?, Argument::Value(u.arbitrary()?)), (u.arbitrary()?, Argument::Local(64))];
    let (offset, global, local, reaches) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
    let launch = Op::Launch { kernel: u.arbitrary()?, dimensions: 2, offset, global, local, arguments, reaches };
    let op = match u.int_in_range(0..=2)? {
        0 => launch,
        1 => Op::Write { buffer: u.arbitrary()?, offset: u.arbitrary()?, from: Payload::Inline },
        _ => Op::Fill { buffer: u.arbitrary()?, offset: 0, len: u.arbitrary()?, pattern: u.arbitrary()? },
    };
    let mut tail = u.arbitrary::<&[u8]>()?.to_vec();
    let command = match u.int_in_range(0..=4)? {
        0 => Command::Compile { request: 1, program: 2, options: text, headers: vec![(text, 7), ("", 8)] },
        1 => Command::Link { request: 1, program: 2, options: text, inputs: vec![u.arbitrary()?; 5] },
        2 => {
            tail.clear();
            encode_op(&op, &mut tail);
            encode_op(&op, &mut tail);
            Command::Sequence { event: u.arbitrary()?, waits: u.arbitrary()?, submit: u.arbitrary()? }
        }
        _ => Command::Enqueue { event: u.arbitrary()?, waits: u.arbitrary()?, submit: u.arbitrary()?, op },
    };
    encode_command(&command, &tail, &mut bytes);
    let bytes = changed(u, bytes)?;
    let Ok((command, tail)) = decode_command(&bytes) else { return Ok(()) };
    // The tail of a sequence.
    let (mut ops, mut read) = (tail, Vec::new());
    while let Ok((op, behind)) = decode_op(ops) {
        assert!(behind.len() < ops.len());
        encode_op(&op, &mut read);
        assert_eq!(decode_op(&read), Ok((op, &[][..])));
        read.clear();
        ops = behind;
    }
    let elements = match &command {
        Command::Enqueue { waits, op: Op::Launch { arguments, reaches, .. }, .. } => {
            waits.len() + arguments.len() + reaches.as_ref().map_or(0, Vec::len)
        }
        Command::Enqueue { waits, .. } | Command::Sequence { waits, .. } => waits.len(),
        Command::Compile { headers, .. } => headers.len(),
        Command::Link { inputs, .. } => inputs.len(),
        _ => 0,
    };
    assert!(elements + tail.len() <= bytes.len(), "{elements} elements of {} bytes", bytes.len());
    let mut again = Vec::new();
    encode_command(&command, tail, &mut again);
    assert_eq!(decode_command(&again), Ok((command, tail)));
    Ok(())
}

/// What a library reads.
pub fn reply(u: &mut Unstructured<'_>) -> Result<()> {
    let mut bytes = Vec::new();
    let times = Times { submitted: u.arbitrary()?, started: u.arbitrary()?, ended: u.arbitrary()? };
    let reply = match u.int_in_range(0..=3)? {
        0 => Reply::Done { event: u.arbitrary()?, status: u.arbitrary()?, times: Some(times) },
        1 => Reply::Farewell { reason: u.arbitrary()? },
        2 => Reply::Printed { lost: u.arbitrary()? },
        _ => {
            let build = Build {
                status: u.arbitrary()?,
                binary_type: u.arbitrary()?,
                log: u.arbitrary()?,
                kernels: u.arbitrary()?,
                global_variables: u.arbitrary()?,
            };
            Reply::Answer { request: u.arbitrary()?, answer: Ok(Answer::Built(build)) }
        }
    };
    encode_reply(&reply, u.arbitrary()?, &mut bytes);
    let bytes = changed(u, bytes)?;
    let Ok((reply, tail)) = decode_reply(&bytes) else { return Ok(()) };
    let mut again = Vec::new();
    encode_reply(&reply, tail, &mut again);
    assert_eq!(decode_reply(&again), Ok((reply, tail)));
    Ok(())
}
