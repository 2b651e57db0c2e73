//! The functions of authentication as C sees them: the rules are those of [`abi`](crate::abi).
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // It is the same for all, there.

use rackloom_auth::{Bound, Direction, KEY_BYTES, SessionKey, mac, prf};

use crate::Fault;
use crate::abi::answer;
use crate::buffers::{bytes, put, value};

/// The tag of a message by Ascon-MAC; with `derive` 1 the key that Ascon-PRF makes of it. Key and result have 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_mac(
    key: *const [u8; KEY_BYTES],
    derive: u8,
    data: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        let function = match derive {
            0 => mac,
            1 => prf,
            _ => return Err(Fault::Argument),
        };
        // SAFETY: the caller vouches for the key and both buffers.
        unsafe { put(&function(value(key)?, bytes(data, len)?), out, room) }
    })
}

/// The tag of a frame, from its first address to the end of its payload, that goes to a card that has booted with this
/// number, or with `to_host` 1 comes from it. A frame that is too long for a tag is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_golden_tag(
    key: *const [u8; KEY_BYTES],
    boot: u32,
    to_host: u8,
    counter: u64,
    frame: *const u8,
    len: usize,
    out: *mut u8,
    room: usize,
) -> i64 {
    answer(|| {
        let direction = match to_host {
            0 => Direction::ToCard,
            1 => Direction::ToHost,
            _ => return Err(Fault::Argument),
        };
        // SAFETY: the caller vouches for the key and both buffers.
        unsafe {
            let bound = Bound { frame: bytes(frame, len)?, boot, direction, counter };
            put(&SessionKey::new(value(key)?).tag(&bound).ok_or(Fault::Refused)?.0, out, room)
        }
    })
}
