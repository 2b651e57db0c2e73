//! The functions of links as C sees them: the rules are those of [`abi`](crate::abi).
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // It is the same for all, there.

use crate::Fault;
use crate::abi::{answer, fill};
use crate::buffers::{bytes, give, put, slot, take_back, value};
use crate::{link, link_frame, plan};

pub use crate::link::{Ended, LinkCounts, Sequencer};
pub use crate::link_frame::{LinkFault, LinkHead};
pub use crate::plan::Planned;

/// A frame of the link family, without check sequence. Its kind must exist; the payload may be any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_link_frame(
    head: *const LinkHead,
    payload: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the struct and both buffers.
        unsafe { put(&link_frame::build(value(head)?, bytes(payload, len)?)?, out, room) }
    })
}

/// The head of a frame of the link family, and as the result the length of its payload, which begins at byte 64.
/// With [`Fault::Refused`] `fault` is a [`LinkFault`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_link_parse(data: *const u8, len: usize, head: *mut LinkHead, fault: *mut u8) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the buffer, the struct and the number.
        let (frame, head, fault) = unsafe { (bytes(data, len)?, slot(head)?, slot(fault)?) };
        match link_frame::parse(frame) {
            Ok((parsed, length)) => {
                *head = parsed;
                Ok(length)
            }
            Err(found) => {
                *fault = found as u8;
                Err(Fault::Refused)
            }
        }
    })
}

/// A command of a program: 1 put, 2 take, 3 wait, 4 copy, which is to `addr`, 5 reduction, whose operation is `port`
/// and whose datatype is `tag`, also to `addr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_link_command(
    code: u8,
    port: u8,
    tag: u16,
    length: u32,
    addr: u64,
    from: u64,
    out: *mut u8,
    room: usize,
) -> i64 {
    // SAFETY: the caller vouches for the buffer.
    answer(|| unsafe { put(&link::command(code, port, tag, length, addr, from)?, out, room) })
}

/// The results of a reduction of `left` and `right`, which are as long: operation and datatype as a command names them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_reduce(
    op: u8,
    datatype: u8,
    left: *const u8,
    right: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    // SAFETY: the caller vouches for the buffers.
    answer(|| unsafe { put(&link::reduced(op, datatype, bytes(left, len)?, bytes(right, len)?)?, out, room) })
}

/// The program of a rank for an operation of a group, as it lies in memory, whose ranks are joined by these ports: row
/// by row those of each rank to each, 0 for none. Refused if there is no plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_plan(
    links: *const u8,
    len: usize,
    asked: *mut Planned,
    out: *mut u8,
    room: usize,
) -> i64 {
    // SAFETY: the caller vouches for the buffers and the struct.
    answer(|| unsafe { put(&plan::program(bytes(links, len)?, slot(asked)?)?, out, room) })
}

/// Creates the sequencer of a card with so many links, the first of which has this address; first life, most bytes of a
/// payload and bytes of memory, which [`rl_golden_sequencer_free`] takes back. The first 32 KiB are its programs'. For
/// it time begins at 0, and passes by [`rl_golden_sequencer_time`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_new(
    mac: u64,
    links: u8,
    epoch: u32,
    longest: u16,
    memory: usize,
    to: *mut *mut Sequencer,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the pointer.
        unsafe { give(Sequencer::new(mac, links, epoch, longest, memory)?, to)? };
        Ok(0)
    })
}

/// Frees a sequencer; a null pointer is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_free(sequencer: *mut Sequencer) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches that it is one, and gives it up.
        unsafe { take_back(sequencer) };
        Ok(0)
    })
}

/// Starts a program, which is of operation `number` of `group` and may take so long: its number. Refused if as many run
/// as may.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_start(
    sequencer: *mut Sequencer,
    commands: *const u8,
    len: usize,
    group: u64,
    number: u32,
    limit_ns: u64,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the sequencer and the buffer.
        unsafe { slot(sequencer)?.start(bytes(commands, len)?, group, number, limit_ns) }
    })
}

/// A frame has come at this port, without its check sequence.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_handle(
    sequencer: *mut Sequencer,
    port: u8,
    data: *const u8,
    len: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the sequencer and the buffer.
        unsafe { slot(sequencer)?.handle(port, bytes(data, len)?) };
        Ok(0)
    })
}

/// The next frame to send, and from which port; no bytes if there is none. One that does not fit in `room` is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_poll(
    sequencer: *mut Sequencer,
    from: *mut u8,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the sequencer, the number and the buffer.
        let (sequencer, from) = unsafe { (slot(sequencer)?, slot(from)?) };
        let (port, frame) = sequencer.poll().unwrap_or_default();
        *from = port;
        // SAFETY: as above.
        unsafe { put(&frame, out, room) }
    })
}

/// It is so late for the sequencer now, in nanoseconds; never earlier than before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_time(sequencer: *mut Sequencer, now_ns: u64) -> i64 {
    // SAFETY: the caller vouches for the sequencer.
    answer(|| unsafe { slot(sequencer)? }.set_time(now_ns).map(|()| 0))
}

/// The next program that has ended: 1, or 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_ended(sequencer: *mut Sequencer, to: *mut Ended) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the sequencer and the struct.
        let (sequencer, to) = unsafe { (slot(sequencer)?, slot(to)?) };
        Ok(fill(to, sequencer.next_ended()))
    })
}

/// Writes these bytes to its memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_write(
    sequencer: *mut Sequencer,
    addr: u64,
    data: *const u8,
    len: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the sequencer and the buffer.
        let (sequencer, data) = unsafe { (slot(sequencer)?, bytes(data, len)?) };
        sequencer.memory(addr, len)?.copy_from_slice(data);
        Ok(0)
    })
}

/// `room` bytes of its memory from an address on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_read(
    sequencer: *mut Sequencer,
    addr: u64,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the sequencer and the buffer.
        unsafe { put(slot(sequencer)?.memory(addr, room)?, out, room) }
    })
}

/// What it has counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sequencer_counts(sequencer: *const Sequencer, to: *mut LinkCounts) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the sequencer and the struct.
        let (sequencer, to) = unsafe { (value(sequencer)?, slot(to)?) };
        *to = sequencer.counts();
        Ok(0)
    })
}
