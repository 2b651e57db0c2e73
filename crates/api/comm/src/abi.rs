//! The functions of the header.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::without_provenance_mut;
use std::slice::from_raw_parts;
use std::sync::Arc;

use rackloom::Seat;

use crate::comm::Comm;
use crate::failure::{self, Failure, OK};
use crate::handles::Handles;
use crate::open::{self, Held};
use crate::operation::COperation;
use crate::request::Request;

static COMMS: Handles<Comm> = Handles::new("communicator");
static REQUESTS: Handles<(Arc<Comm>, Arc<Request>)> = Handles::new("request");
static SEATS: Handles<Held> = Handles::new("seat");

/// A handle, which is a number.
type Handle = *mut c_void;
/// Pointers, one for each rank of this process.
type Give = *const *const c_void;
type Get = *const *mut c_void;

/// Runs a call; its error is kept. A bug of ours ends the process: C knows no panics.
fn call(f: impl FnOnce() -> Result<(), Failure>) -> c_int {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => OK,
        Ok(Err(error)) => kept(&error),
        Err(_) => std::process::abort(),
    }
}

fn kept(error: &Failure) -> c_int {
    failure::keep(&error.text());
    error.code()
}

fn outcome(result: Result<u64, Arc<Failure>>) -> c_int {
    result.map_or_else(|error| kept(&error), |_| OK)
}

/// # Safety
/// `text` is null or a string that ends with a zero.
unsafe fn string<'a>(text: *const c_char) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller hands over a string.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Failure::Invalid("a name is not UTF-8".to_owned()))
}

/// # Safety
/// `place` is null or may be written to.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::Invalid("there is no place for the result: NULL".to_owned()));
    }
    // SAFETY: the caller hands over a place for it.
    unsafe { place.write(value) };
    Ok(())
}

fn handle(number: usize) -> Handle {
    without_provenance_mut(number)
}

fn rank_of(comm: &Comm, rank: c_int) -> Result<usize, Failure> {
    let size = comm.group().size();
    let found = usize::try_from(rank).ok().filter(|rank| *rank < size);
    found.ok_or_else(|| Failure::Invalid(format!("rank {rank} is not in a group of {size}")))
}

/// # Safety
/// `operation` is null or is one, whose counts are null or as many as it has blocks; `give` and `get` are null or have
/// a pointer for each rank of this process.
unsafe fn request(comm: &Comm, operation: *const COperation, give: Give, get: Get) -> Result<Request, Failure> {
    let size = comm.own();
    let (mut given, mut got) = (vec![0; size], vec![0; size]);
    // SAFETY: the caller hands over arrays with so many pointers, or none.
    unsafe {
        if !give.is_null() {
            from_raw_parts(give, size).iter().zip(&mut given).for_each(|(at, to)| *to = at.expose_provenance());
        }
        if !get.is_null() {
            from_raw_parts(get, size).iter().zip(&mut got).for_each(|(at, to)| *to = at.expose_provenance());
        }
    }
    // SAFETY: as the caller says.
    let prepared = unsafe { prepared(comm, operation) }?;
    comm.request(prepared, &given, &got)
}

/// # Safety
/// `operation` is null or is one, whose counts are null or as many as it has blocks.
unsafe fn prepared(comm: &Comm, operation: *const COperation) -> Result<crate::group::Ready, Failure> {
    // SAFETY: as the caller says.
    let operation = unsafe { operation.as_ref() };
    let operation = operation.ok_or_else(|| Failure::Invalid("the operation is NULL".to_owned()))?;
    // SAFETY: as the caller says.
    let (operation, counts) = unsafe { operation.read(comm.group().size()) }?;
    comm.prepare(&operation, counts.as_deref())
}

/// See the header.
///
/// # Safety
/// The names are null or strings; `comm` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_open(
    net: *const c_char,
    cards: *const c_char,
    timeout_ms: u32,
    comm: *mut Handle,
) -> c_int {
    call(|| {
        // SAFETY: the caller hands over strings.
        let (net, cards) = unsafe { (string(net)?, string(cards)?) };
        let opened = open::comm(net, cards.unwrap_or(""), timeout_ms)?;
        // SAFETY: and a place.
        unsafe { put(comm, handle(COMMS.add(opened))) }
    })
}

/// See the header.
///
/// # Safety
/// `comm` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_hosts_join(timeout_ms: u32, comm: *mut Handle) -> c_int {
    call(|| {
        let joined = open::hosts(timeout_ms)?;
        // SAFETY: the caller hands over a place.
        unsafe { put(comm, handle(COMMS.add(joined))) }
    })
}

/// See the header.
///
/// # Safety
/// `left` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_shrink(comm: Handle, left: *mut Handle) -> c_int {
    call(|| {
        let smaller = COMMS.get(comm.addr())?.shrink()?;
        // SAFETY: the caller hands over a place.
        unsafe { put(left, handle(COMMS.add(smaller))) }
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_comm_rank(comm: Handle) -> c_int {
    COMMS.get(comm.addr()).map_or(-1, |comm| match comm.group().own() {
        [rank] => *rank as c_int,
        _ => -1,
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_comm_size(comm: Handle) -> c_int {
    COMMS.get(comm.addr()).map_or(0, |comm| comm.group().size() as c_int)
}

/// See the header.
///
/// # Safety
/// `name` has so many bytes of room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_card(comm: Handle, rank: c_int, name: *mut c_char, room: usize) -> c_int {
    call(|| {
        let comm = COMMS.get(comm.addr())?;
        let card = comm.group().name(rank_of(&comm, rank)?);
        if name.is_null() || room <= card.len() {
            return Err(Failure::Invalid(format!(
                "the name has {} bytes, and there is room for {room}",
                card.len() + 1
            )));
        }
        // SAFETY: the caller has so much room.
        unsafe {
            std::ptr::copy_nonoverlapping(card.as_ptr(), name.cast(), card.len());
            name.add(card.len()).write(0);
        }
        Ok(())
    })
}

/// See the header.
///
/// # Safety
/// The arrays have an entry for each rank; `count` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_split(
    comm: Handle,
    colours: *const c_int,
    keys: *const c_int,
    parts: *mut Handle,
    count: *mut c_int,
) -> c_int {
    call(|| {
        let comm = COMMS.get(comm.addr())?;
        let size = comm.own();
        if colours.is_null() || parts.is_null() || count.is_null() {
            return Err(Failure::Invalid("colours, parts or count is NULL".to_owned()));
        }
        // SAFETY: the caller hands over as many as there are ranks.
        let colours: Vec<_> = unsafe { from_raw_parts(colours, size) }.iter().map(|c| u32::try_from(*c).ok()).collect();
        let keys = match keys.is_null() {
            true => vec![0; size],
            // SAFETY: as above.
            false => unsafe { from_raw_parts(keys, size) }.iter().map(|key| i64::from(*key)).collect(),
        };
        let made = comm.split(&colours, &keys)?;
        let number = made.len();
        for (i, part) in made.into_iter().enumerate() {
            // SAFETY: there is room for as many as there are ranks.
            unsafe { parts.add(i).write(handle(COMMS.add(part))) };
        }
        // SAFETY: and a place for their number.
        unsafe { put(count, number as c_int) }
    })
}

/// See the header.
///
/// # Safety
/// The operation is one; the places are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_bytes(
    comm: Handle,
    operation: *const COperation,
    rank: c_int,
    gives: *mut u64,
    gets: *mut u64,
) -> c_int {
    call(|| {
        let comm = COMMS.get(comm.addr())?;
        let rank = rank_of(&comm, rank)?;
        // SAFETY: the caller hands over an operation.
        let prepared = unsafe { prepared(&comm, operation) }?;
        for (place, bytes) in [(gives, prepared.gives(rank)), (gets, prepared.gets(rank))] {
            if !place.is_null() {
                // SAFETY: and places.
                unsafe { place.write(bytes) };
            }
        }
        Ok(())
    })
}

/// See the header.
///
/// # Safety
/// The operation and the buffers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_run(comm: Handle, operation: *const COperation, give: Give, get: Get) -> c_int {
    let mut request_of = None;
    let begun = call(|| {
        let comm = COMMS.get(comm.addr())?;
        // SAFETY: as the caller says.
        let request = Arc::new(unsafe { request(&comm, operation, give, get) }?);
        comm.run(&request)?;
        request_of = Some(request);
        Ok(())
    });
    request_of.map_or(begun, |request| outcome(request.wait()))
}

/// See the header.
///
/// # Safety
/// The operation and the buffers are as the header says; `made` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_begin(
    comm: Handle,
    operation: *const COperation,
    give: Give,
    get: Get,
    made: *mut Handle,
) -> c_int {
    call(|| {
        let comm = COMMS.get(comm.addr())?;
        // SAFETY: as the caller says.
        let request = Arc::new(unsafe { request(&comm, operation, give, get) }?);
        // SAFETY: the place may be written to. It is written before the operation begins: without it nobody could wait.
        unsafe { put(made, handle(REQUESTS.add((Arc::clone(&comm), Arc::clone(&request))))) }?;
        comm.start(&request)
    })
}

/// See the header.
///
/// # Safety
/// The operation and the buffers are as the header says; `made` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_comm_prepare(
    comm: Handle,
    operation: *const COperation,
    give: Give,
    get: Get,
    made: *mut Handle,
) -> c_int {
    call(|| {
        let comm = COMMS.get(comm.addr())?;
        // SAFETY: as the caller says.
        let request = Arc::new(unsafe { request(&comm, operation, give, get) }?);
        // SAFETY: the place may be written to.
        unsafe { put(made, handle(REQUESTS.add((comm, request)))) }
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_request_start(request: Handle) -> c_int {
    call(|| {
        let held = REQUESTS.get(request.addr())?;
        held.0.start(&held.1)
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_request_wait(request: Handle) -> c_int {
    match REQUESTS.get(request.addr()) {
        Ok(held) => outcome(held.1.wait()),
        Err(error) => kept(&error),
    }
}

/// See the header.
///
/// # Safety
/// `over` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_request_test(request: Handle, over: *mut c_int) -> c_int {
    let mut how = None;
    let tested = call(|| {
        how = REQUESTS.get(request.addr())?.1.outcome();
        // SAFETY: the caller hands over a place.
        unsafe { put(over, how.is_some().into()) }
    });
    match (tested, how) {
        (OK, Some(how)) => outcome(how),
        (tested, _) => tested,
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_request_ns(request: Handle) -> u64 {
    let held = REQUESTS.get(request.addr()).ok();
    held.and_then(|held| held.1.outcome()?.ok()).unwrap_or(0)
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_request_free(request: Handle) -> c_int {
    match REQUESTS.remove(request.addr()) {
        Ok(held) => outcome(held.1.wait()),
        Err(error) => kept(&error),
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_comm_free(comm: Handle) -> c_int {
    call(|| {
        COMMS.remove(comm.addr())?.end();
        Ok(())
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_comm_error() -> *const c_char {
    // The text stays where it is until the thread's next call.
    failure::with(CStr::as_ptr)
}

/// See the header.
///
/// # Safety
/// The names are null or strings; `seat` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_seat_open(
    net: *const c_char,
    card: *const c_char,
    timeout_ms: u32,
    seat: *mut Handle,
) -> c_int {
    call(|| {
        // SAFETY: the caller hands over strings.
        let (net, card) = unsafe { (string(net)?, string(card)?) };
        let held = Held::open(net, card.unwrap_or(""), timeout_ms)?;
        // SAFETY: and a place.
        unsafe { put(seat, handle(SEATS.add(held))) }
    })
}

/// See the header.
///
/// # Safety
/// `bytes` has room for `RL_SEAT_BYTES`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_seat_tell(seat: Handle, bytes: *mut c_void) -> c_int {
    call(|| {
        let told = SEATS.get(seat.addr())?.tell()?.encode();
        // SAFETY: the caller has so much room.
        unsafe { put(bytes.cast(), told) }
    })
}

/// See the header.
///
/// # Safety
/// `seats` has `size` seats; `comm` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_seat_join(
    seat: Handle,
    seats: *const c_void,
    size: c_int,
    rank: c_int,
    number: u64,
    comm: *mut Handle,
) -> c_int {
    call(|| {
        let held = SEATS.get(seat.addr())?;
        let count = usize::try_from(size).ok().filter(|size| (1..=SEATS_MAX).contains(size) && !seats.is_null());
        let count = count.ok_or_else(|| Failure::Invalid(format!("{size} seats: 1 to {SEATS_MAX} make a group")))?;
        // SAFETY: the caller hands over so many.
        let told = unsafe { from_raw_parts(seats.cast::<[u8; Seat::BYTES]>(), count) };
        let none = |i: usize| Failure::Invalid(format!("the bytes of rank {i} are no seat"));
        let told: Vec<_> =
            told.iter().enumerate().map(|(i, s)| Seat::decode(s).ok_or_else(|| none(i))).collect::<Result<_, _>>()?;
        let rank = usize::try_from(rank).map_err(|_| Failure::Invalid(format!("rank {rank} is below 0")))?;
        let joined = held.join(told, rank, number)?;
        // SAFETY: and a place.
        unsafe { put(comm, handle(COMMS.add(joined))) }
    })
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn rl_seat_free(seat: Handle) -> c_int {
    call(|| SEATS.remove(seat.addr()).map(drop))
}

/// Ranks of a group, at most: their links alone are as many squared.
const SEATS_MAX: usize = 4096;
