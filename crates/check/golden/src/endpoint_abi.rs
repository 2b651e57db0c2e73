//! The functions of an endpoint as C sees them: the rules are those of [`abi`](crate::abi).
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // It is the same for all, there.

use crate::abi::{answer, fill};
use crate::buffers::{bytes, give, put, slot, take_back, value};
use crate::endpoint::{Counters, Endpoint, Happening};

/// Creates a node of the bridge with this address, most bytes of a payload, epoch and memory, which
/// [`rl_golden_endpoint_free`] takes back. For it time begins at 0, and passes by [`rl_golden_endpoint_time`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_new(
    mac: u64,
    longest: u16,
    epoch: u32,
    memory: *const u8,
    len: usize,
    to: *mut *mut Endpoint,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the buffer and the pointer.
        unsafe { give(Endpoint::new(mac, longest, epoch, bytes(memory, len)?)?, to)? };
        Ok(0)
    })
}

/// Frees a node; a null pointer is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_free(endpoint: *mut Endpoint) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches that it is one, and gives it up.
        unsafe { take_back(endpoint) };
        Ok(0)
    })
}

/// Sets a window, for the node `peer` or, with 0, for all; without `length` it is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_window(
    endpoint: *mut Endpoint,
    number: u64,
    base: u64,
    length: u64,
    peer: u64,
    rights: u8,
) -> i64 {
    // SAFETY: the caller vouches for the node.
    answer(|| unsafe { slot(endpoint)? }.window(number, base, length, peer, rights).map(|()| 0))
}

/// Whether its memory fails from now on: 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_fails(endpoint: *mut Endpoint, fails: u8) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node.
        unsafe { slot(endpoint)? }.set_fails(fails != 0);
        Ok(0)
    })
}

/// A frame has come, without its check sequence.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_handle(endpoint: *mut Endpoint, data: *const u8, len: usize) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the buffer.
        unsafe { slot(endpoint)?.handle(bytes(data, len)?) };
        Ok(0)
    })
}

/// The next frame to send; no bytes if there is none. One that does not fit in `room` is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_poll(endpoint: *mut Endpoint, out: *mut u8, room: usize) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the buffer.
        unsafe { put(&slot(endpoint)?.poll().unwrap_or_default(), out, room) }
    })
}

/// It is so late for the node now, in nanoseconds; never earlier than before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_time(endpoint: *mut Endpoint, now_ns: u64) -> i64 {
    // SAFETY: the caller vouches for the node.
    answer(|| unsafe { slot(endpoint)? }.set_time(now_ns).map(|()| 0))
}

/// Asks the node `peer` for `count` bytes of its memory: the number of the request. Refused if too many are under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_read(endpoint: *mut Endpoint, peer: u64, addr: u64, count: u32) -> i64 {
    // SAFETY: the caller vouches for the node.
    answer(|| unsafe { slot(endpoint)? }.read(peer, addr, count))
}

/// Writes to the memory of the node `peer`: the number of the request. Refused if too many are under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_write(
    endpoint: *mut Endpoint,
    peer: u64,
    addr: u64,
    data: *const u8,
    len: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the buffer.
        unsafe { slot(endpoint)?.write(peer, addr, bytes(data, len)?) }
    })
}

/// Sends a message to a stream of the node `peer`. Refused if there is no room for all of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_send(
    endpoint: *mut Endpoint,
    peer: u64,
    stream: u16,
    data: *const u8,
    len: usize,
) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the buffer.
        unsafe { slot(endpoint)?.send(peer, stream, bytes(data, len)?)? };
        Ok(0)
    })
}

/// The next request that is over: 1, or 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_done(endpoint: *mut Endpoint, to: *mut Happening) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the struct.
        let (endpoint, to) = unsafe { (slot(endpoint)?, slot(to)?) };
        Ok(fill(to, endpoint.next_done()))
    })
}

/// Takes the next message of a stream: 1, or 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_take(endpoint: *mut Endpoint, to: *mut Happening) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the struct.
        let (endpoint, to) = unsafe { (slot(endpoint)?, slot(to)?) };
        Ok(fill(to, endpoint.take()))
    })
}

/// The bytes of the request or message that came last of the two functions above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_bytes(endpoint: *const Endpoint, out: *mut u8, room: usize) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the buffer.
        unsafe { put(value(endpoint)?.bytes(), out, room) }
    })
}

/// What its memory holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_memory(endpoint: *const Endpoint, out: *mut u8, room: usize) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the buffer.
        unsafe { put(value(endpoint)?.memory(), out, room) }
    })
}

/// What it has counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_endpoint_counters(endpoint: *const Endpoint, to: *mut Counters) -> i64 {
    answer(|| {
        // SAFETY: the caller vouches for the node and the struct.
        let (endpoint, to) = unsafe { (value(endpoint)?, slot(to)?) };
        *to = endpoint.counters();
        Ok(0)
    })
}
