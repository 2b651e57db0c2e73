//! Sequences: commands that work on what the board has, many of them in a message. Recorded ones go so.

use std::sync::{Arc, MutexGuard};

use rackloom_opencl_wire::{INLINE_MAX, Op, encode_op};
use rackloom_sync::lock;

use crate::command::Kind;
use crate::error::Result;
use crate::objects::kernel::{Sent, There};
use crate::session::board::Board;

/// Most operations of a message: enough that a message costs nothing beside them, and few enough that the board begins
/// long before a long sequence is written.
const OPERATIONS_MAX: u32 = 256;

/// The operation of a command [at the board](Kind::is_at_board), other than a launch.
///
/// # Errors
/// A quota is used up; the connection is lost.
pub fn at_board<'a>(kind: &'a Kind, board: &Arc<Board>) -> Result<Op<'a>> {
    Ok(match kind {
        Kind::Marker | Kind::Migrate { .. } => Op::Marker,
        &Kind::Copy { ref from, from_offset, ref to, to_offset, len } => {
            Op::Copy { from: from.on(board)?, from_offset, to: to.on(board)?, to_offset, len }
        }
        &Kind::CopyRect { ref from, source, ref to, target } => {
            Op::CopyRect { from: from.on(board)?, source, to: to.on(board)?, target }
        }
        Kind::Fill { to, offset, len, pattern } => {
            Op::Fill { buffer: to.on(board)?, offset: *offset, len: *len, pattern }
        }
        &Kind::CopyImage { ref from, source, ref to, target } => {
            Op::CopyImage { from: from.on(board)?, source, to: to.on(board)?, origin: target.origin }
        }
        &Kind::CopyImageToBuffer { ref from, area, ref to, offset } => {
            Op::CopyImageToBuffer { from: from.on(board)?, area, to: to.on(board)?, offset }
        }
        &Kind::CopyBufferToImage { ref from, offset, ref to, area } => {
            Op::CopyBufferToImage { from: from.on(board)?, offset, to: to.on(board)?, area }
        }
        &Kind::FillImage { ref to, area, color } => Op::FillImage { image: to.on(board)?, area, color },
        Kind::Launch(_) => unreachable!("it depends on the launch before"),
        Kind::Write { .. } | Kind::Read { .. } | Kind::MapRead { .. } | Kind::UnmapWrite { .. } => {
            unreachable!("it is not at the board")
        }
        Kind::Map { .. } | Kind::Unmap { .. } | Kind::Sequence(_) => unreachable!("it is not at the board"),
    })
}

/// Sends commands [at the board](Kind::is_at_board) by `message`, which gets operations as bytes, how many there are,
/// and whether they are the last.
///
/// # Errors
/// A quota is used up; what `message` says.
pub fn send(kinds: &[Kind], board: &Arc<Board>, mut message: impl FnMut(&[u8], u32, bool) -> Result<()>) -> Result<()> {
    // Until all is sent, nobody else launches these kernels. Everybody locks several in one order.
    let mut kernels: Vec<&There> = Vec::new();
    for kind in kinds {
        if let Kind::Launch(launch) = kind {
            kernels.push(launch.there(board)?);
        }
    }
    kernels.sort_unstable_by_key(|there| place(there));
    kernels.dedup_by_key(|there| place(there));
    let mut kernels: Vec<_> = kernels.into_iter().map(|there| (place(there), lock(&there.sent))).collect();
    let done = pack(kinds, board, &mut kernels, &mut message);
    if done.is_err() {
        // What of it the manager has is not known.
        kernels.iter_mut().for_each(|(_, sent)| sent.forget());
    }
    done
}

type Locked<'a> = (usize, MutexGuard<'a, Sent>);

fn place(there: &There) -> usize {
    std::ptr::from_ref(there).addr()
}

fn pack(
    kinds: &[Kind],
    board: &Arc<Board>,
    kernels: &mut [Locked<'_>],
    message: &mut impl FnMut(&[u8], u32, bool) -> Result<()>,
) -> Result<()> {
    let most = board.session.limits().operations.min(OPERATIONS_MAX);
    let (mut bytes, mut count) = (Vec::new(), 0);
    for kind in kinds {
        let before = bytes.len();
        if let Kind::Launch(launch) = kind {
            let there = launch.there(board)?;
            let at = kernels.binary_search_by_key(&place(there), |(place, _)| *place).expect("all are locked");
            let sent = &mut kernels[at].1;
            encode_op(&launch.op(board, there, sent)?, &mut bytes);
            launch.was_sent(sent);
        } else {
            encode_op(&at_board(kind, board)?, &mut bytes);
        }
        if count > 0 && (count >= most || bytes.len() > INLINE_MAX) {
            message(&bytes[..before], count, false)?;
            bytes.drain(..before);
            count = 0;
        }
        count += 1;
    }
    if count > 0 { message(&bytes, count, true) } else { Ok(()) }
}
