//! The functions as C sees them.
//!
//! Each returns a number: its result, which is 0 or more, or a [`Fault`]. A result of bytes is copied to `out` if it
//! fits in `room` bytes, and the number is its length in any case. A panic never leaves a function.
//!
//! # Safety
//! A pointer is null, where [`Fault::Argument`] says so, or points to as much valid memory as its length or its type
//! says, which nobody else changes during the call.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // It is the same for all, above.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::buffers::{array, bytes, give, put, slot, take_back, value};
use crate::digest::Place;
use crate::{Fault, admit, bridge_frame, digest, frame, image, judge, sack};

pub use crate::bridge_frame::{BridgeFault, BridgeHead};
pub use crate::connection::{Config, Connection, Event, EventKind, Segment};
pub use crate::endpoint::{Counters, Endpoint, Happening};
pub use crate::frame::Head;
pub use crate::judge::{Card, Verdict};
pub use crate::sack::Window;

/// Bytes of the caller's.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Bytes {
    /// The first one.
    pub data: *const u8,
    /// How many there are.
    pub len: usize,
}

/// A part of an image.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Part {
    /// Its target tag, such as `rtl`.
    pub target: Bytes,
    /// What it holds.
    pub body: Bytes,
}

/// The BLAKE3 digest of `data`: 32 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_digest(data: *const u8, len: usize, out: *mut u8, room: usize) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for both buffers.
        unsafe { put(blake3::hash(bytes(data, len)?).as_bytes(), out, room) }
    })
}

/// The chaining values, 32 bytes each, of the chunks of 1024 bytes that `data` is cut into; the first one has the
/// number `first`. With `root` 1: the digest of `data`, which is one chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_chunk_values(
    data: *const u8,
    len: usize,
    first: u64,
    root: u8,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for both buffers.
        unsafe { put(&digest::chunk_values(bytes(data, len)?, first, place(root)?)?, out, room) }
    })
}

/// The next level of a tree with these chaining values: each pair gives one, an odd last one stays. With `root` 1: the
/// digest that the only pair gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_parent_values(
    values: *const u8,
    len: usize,
    root: u8,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for both buffers.
        unsafe { put(&digest::parent_values(bytes(values, len)?, place(root)?)?, out, room) }
    })
}

/// Takes note of `number` in a window, and says what it was: 0 new, 1 a duplicate, 2 beyond the window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_sack_insert(window: *mut Window, number: u32) -> i64 {
    // SAFETY: the caller vouches for the window.
    answer(|| Ok(sack::insert(unsafe { slot(window)? }, number)))
}

/// What becomes of a frame on its way in, its check sequence being right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_judge(card: *const Card, data: *const u8, len: usize, verdict: *mut Verdict) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for both structs and the buffer.
        let (card, frame, verdict) = unsafe { (value(card)?, bytes(data, len)?, slot(verdict)?) };
        *verdict = judge::judge(card, frame)?;
        Ok(0)
    })
}

/// What becomes of a frame that the analyzer has let through, whatever its addresses are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_route(card: *const Card, data: *const u8, len: usize, verdict: *mut Verdict) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for both structs and the buffer.
        let (card, frame, verdict) = unsafe { (value(card)?, bytes(data, len)?, slot(verdict)?) };
        *verdict = judge::route(card, frame)?;
        Ok(0)
    })
}

/// What the block behind the analyzer does with a read or launch, as a number of [`Reason`](judge::Reason).
///
/// Of `card` it looks at memory and bulk, `last` is the number of the newest launch accepted, and the bytes at `takes`
/// say how many arguments each of the role's `kernels` kernels takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_admit(
    card: *const Card,
    last: u32,
    takes: *const u8,
    kernels: usize,
    data: *const u8,
    len: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the struct and both buffers.
        let (card, takes, frame) = unsafe { (value(card)?, bytes(takes, kernels)?, bytes(data, len)?) };
        Ok(admit::admit(card, last, takes, frame)? as usize)
    })
}

/// A frame without check sequence, padded to the shortest there is. Its kind must exist; the payload may be any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_frame(
    head: *const Head,
    payload: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the struct and both buffers.
        unsafe { put(&frame::build(value(head)?, bytes(payload, len)?)?, out, room) }
    })
}

/// The head of a frame, and as the result the length of its payload, which begins at byte 32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_parse(data: *const u8, len: usize, head: *mut Head) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the buffer and the struct.
        let (frame, head) = unsafe { (bytes(data, len)?, slot(head)?) };
        let (parsed, length) = frame::parse(frame)?;
        *head = parsed;
        Ok(length)
    })
}

/// A frame of the bridge family, without check sequence. Its kind must exist; the payload may be any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_bridge_frame(
    head: *const BridgeHead,
    payload: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the struct and both buffers.
        unsafe { put(&bridge_frame::build(value(head)?, bytes(payload, len)?)?, out, room) }
    })
}

/// The head of a frame of the bridge family, and as the result the length of its payload, which begins at byte 96.
/// With [`Fault::Refused`] `fault` is a [`BridgeFault`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_bridge_parse(
    data: *const u8,
    len: usize,
    head: *mut BridgeHead,
    fault: *mut u8,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the buffer, the struct and the number.
        let (frame, head, fault) = unsafe { (bytes(data, len)?, slot(head)?, slot(fault)?) };
        match bridge_frame::parse(frame) {
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

/// An image for shells from protocol version `shell` on, with a manifest of any bytes and `count` parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_image(
    shell: u16,
    manifest: *const u8,
    len: usize,
    parts: *const Part,
    count: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the parts, what they point to, and both buffers.
        unsafe {
            let part = |p: &Part| Ok((bytes(p.target.data, p.target.len)?, bytes(p.body.data, p.body.len)?));
            let parts: Vec<_> = array(parts, count)?.iter().map(part).collect::<Result<_, Fault>>()?;
            put(&image::build(shell, bytes(manifest, len)?, &parts)?, out, room)
        }
    })
}

/// The `rtl` part of an image, `size` bytes long: for a role by its number, whose `kernels` kernels take as many
/// arguments as the bytes at `args` say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_rtl_part(
    role: u16,
    clock_khz: u32,
    args: *const u8,
    kernels: usize,
    size: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for both buffers.
        unsafe { put(&image::rtl_part(role, clock_khz, bytes(args, kernels)?, size)?, out, room) }
    })
}

/// Creates an end of a connection at this time, which [`rl_golden_connection_free`] takes back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_new(now_ns: u64, config: *const Config, to: *mut *mut Connection) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the struct and the pointer.
        unsafe { give(Connection::new(now_ns, value(config)?)?, to)? };
        Ok(0)
    })
}

/// Frees an end; a null pointer is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_free(connection: *mut Connection) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches that it is one, and gives it up.
        unsafe { take_back(connection) };
        Ok(0)
    })
}

/// Queues a payload, which is any number. [`Fault::Refused`] if the queue is full.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_push(connection: *mut Connection, payload: u64) -> i64 {
    // SAFETY: the caller vouches for the connection.
    answer(|| unsafe { slot(connection)? }.push(payload).map(|()| 0))
}

/// A segment has come from the other end. [`Fault::Refused`] if it is that end's error, and has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_handle(
    connection: *mut Connection,
    now_ns: u64,
    segment: *const Segment,
) -> i64 {
    // SAFETY: the caller vouches for the connection and the struct.
    answer(|| unsafe { slot(connection)?.handle(now_ns, value(segment)?) }.map(|()| 0))
}

/// Time has passed. Harmless when called early.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_timeout(connection: *mut Connection, now_ns: u64) -> i64 {
    // SAFETY: the caller vouches for the connection.
    answer(|| unsafe { slot(connection)? }.handle_timeout(now_ns).map(|()| 0))
}

/// The owner has room again for `count` payloads that it was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_consume(connection: *mut Connection, now_ns: u64, count: u32) -> i64 {
    // SAFETY: the caller vouches for the connection.
    answer(|| unsafe { slot(connection)? }.consume(now_ns, count).map(|()| 0))
}

/// The next segment to send now: 1, or 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_poll(
    connection: *mut Connection,
    now_ns: u64,
    segment: *mut Segment,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the connection and the struct.
        let (connection, segment) = unsafe { (slot(connection)?, slot(segment)?) };
        Ok(fill(segment, connection.poll(now_ns)?))
    })
}

/// The next event, oldest first: 1, or 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_event(connection: *mut Connection, event: *mut Event) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the connection and the struct.
        let (connection, event) = unsafe { (slot(connection)?, slot(event)?) };
        Ok(fill(event, connection.event()))
    })
}

/// When it is next to be given the time, unless something happens before: 1, or 0 if it waits for nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_connection_deadline(connection: *const Connection, at_ns: *mut u64) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the connection and the number.
        let (connection, at_ns) = unsafe { (value(connection)?, slot(at_ns)?) };
        Ok(fill(at_ns, connection.deadline()))
    })
}

/// Fills the caller's place, if there is something to fill it with: 1, otherwise 0.
pub(crate) fn fill<T>(place: &mut T, result: Option<T>) -> usize {
    let is_there = result.is_some();
    if let Some(result) = result {
        *place = result;
    }
    is_there.into()
}

const fn place(root: u8) -> Result<Place, Fault> {
    match root {
        0 => Ok(Place::Inner),
        1 => Ok(Place::Root),
        _ => Err(Fault::Argument),
    }
}

/// The number that C gets. A panic must not cross into C.
pub(crate) fn answer(call: impl FnOnce() -> Result<usize, Fault>) -> i64 {
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(Fault::Internal));
    match result {
        Ok(number) => i64::try_from(number).unwrap_or(Fault::Internal as i64),
        Err(fault) => fault as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_number() {
        assert_eq!(answer(|| panic!("on purpose")), Fault::Internal as i64);
        assert_eq!(answer(|| Ok(7)), 7);
    }
}
