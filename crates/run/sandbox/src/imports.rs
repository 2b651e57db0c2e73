//! What a role's module may import: its memory, the charge of cycles, and its streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use rackloom_node::Duration;
use rackloom_role::{PAGE_BYTES, REMOTE_BYTES_MAX, RemoteFault, RemoteWork, RoleError, RoleOutput};
use wasmtime::{Caller, Extern, ExternType, Func, FuncType, Memory, Module, Store, StoreLimits, Trap, ValType};

use crate::mailbox::{Mailbox, STREAMS, is_length};
use crate::remote::{Fate, Remote};

/// What belongs to an instance besides its module's own state.
pub(crate) struct Meter {
    /// Cycles charged in this call. Shared with whoever runs it, who reads it while the store is inside the future.
    pub(crate) charged: Arc<AtomicU64>,
    /// Most cycles that it may charge.
    pub(crate) bound: u64,
    pub(crate) limits: StoreLimits,
    pub(crate) mailbox: Mailbox,
    pub(crate) remote: Remote,
    /// Whether the call is one of a kernel, and may wait.
    pub(crate) is_kernel: bool,
    /// The card's memory, once it is there.
    pub(crate) memory: Option<Memory>,
}

/// A function that a module may import from `rackloom`: its name, and how many i64 it takes and returns.
struct Import {
    name: &'static str,
    takes: usize,
    gives: usize,
}

const IMPORTS: [Import; 9] = [
    Import { name: "charge", takes: 1, gives: 0 },
    Import { name: "receive", takes: 2, gives: 1 },
    Import { name: "send", takes: 3, gives: 1 },
    Import { name: "event", takes: 1, gives: 1 },
    Import { name: "wake", takes: 1, gives: 0 },
    Import { name: "remote_read", takes: 4, gives: 1 },
    Import { name: "remote_write", takes: 4, gives: 1 },
    Import { name: "remote_wait", takes: 1, gives: 1 },
    Import { name: "remote_fail", takes: 1, gives: 0 },
];

/// Refuses a module that imports anything else, or a memory of another size than the card's.
pub(crate) fn check(module: &Module, memory_bytes: u64) -> Result<(), RoleError> {
    for import in module.imports() {
        let refuse = |why| Err(RoleError::Import { module: import.module().into(), name: import.name().into(), why });
        match (import.module(), import.name(), import.ty()) {
            ("env", "memory", ExternType::Memory(memory)) => {
                let pages = memory_bytes / PAGE_BYTES;
                if memory.minimum() > pages || memory.maximum().is_some_and(|most| most < pages) {
                    return Err(RoleError::Memory(format!(
                        "the role is for {} to {} pages of 64 KiB, the card has {pages}",
                        memory.minimum(),
                        memory.maximum().unwrap_or(1 << 16),
                    )));
                }
            }
            ("env", "memory", _) => return refuse("it is a memory"),
            ("rackloom", name, ty) => match (IMPORTS.iter().find(|i| i.name == name), ty) {
                (Some(import), ExternType::Func(func)) if import.fits(&func) => {}
                (Some(_), ExternType::Func(_)) => return refuse("its arguments or results are others; all are i64"),
                (Some(_), _) => return refuse("it is a function"),
                (None, _) => return refuse(KNOWN),
            },
            _ => return refuse(KNOWN),
        }
    }
    Ok(())
}

const KNOWN: &str = "there are only env.memory, and charge, receive, send, event, wake, remote_read, remote_write, \
                     remote_wait and remote_fail of rackloom";

impl Import {
    fn fits(&self, func: &FuncType) -> bool {
        func.params().len() == self.takes
            && func.results().len() == self.gives
            && func.params().chain(func.results()).all(|ty| matches!(ty, ValType::I64))
    }
}

/// What a checked module imports, in its order.
pub(crate) fn resolve(store: &mut Store<Meter>, module: &Module, memory: Memory) -> Vec<Extern> {
    store.data_mut().memory = Some(memory);
    let named = |store: &mut Store<Meter>, name: &str| match name {
        "memory" => memory.into(),
        "charge" => Func::wrap(store, charge).into(),
        "receive" => Func::wrap(store, receive).into(),
        "send" => Func::wrap(store, send).into(),
        "event" => Func::wrap(store, event).into(),
        "wake" => Func::wrap(store, wake).into(),
        "remote_read" => Func::wrap(store, remote_read).into(),
        "remote_write" => Func::wrap(store, remote_write).into(),
        "remote_wait" => Func::wrap_async(store, |caller, (number,)| Box::new(remote_wait(caller, number))).into(),
        "remote_fail" => Func::wrap(store, remote_fail).into(),
        _ => unreachable!("the imports were checked"),
    };
    module.imports().map(|import| named(store, import.name())).collect()
}

/// The module states that its work so far takes `cycles` more of the role's clock.
fn charge(caller: Caller<'_, Meter>, cycles: i64) -> wasmtime::Result<()> {
    let Ok(cycles) = u64::try_from(cycles) else {
        return Err(wasmtime::Error::msg("the role charges a negative number of cycles"));
    };
    let meter = caller.data();
    let charged = meter.charged.load(Ordering::Relaxed).saturating_add(cycles);
    meter.charged.store(charged, Ordering::Relaxed);
    if charged > meter.bound { Err(Trap::OutOfFuel.into()) } else { Ok(()) }
}

/// Copies the message at hand to `at`. Returns its length and, above 32 bits, its stream; 0 if there is none; a
/// negative length if it is longer than `capacity`, and the message stays.
fn receive(mut caller: Caller<'_, Meter>, at: i64, capacity: i64) -> wasmtime::Result<i64> {
    let capacity = usize::try_from(capacity).unwrap_or(0);
    match caller.data().mailbox.receive(capacity) {
        None => Ok(0),
        Some(Err(length)) => Ok(-length_of(length)),
        Some(Ok((stream, message))) => {
            bytes_at(&mut caller, at, message.len())?.copy_from_slice(&message);
            Ok(i64::from(stream) << 32 | length_of(message.len()))
        }
    }
}

/// Sends the message of `length` bytes at `at` on a stream. Returns 1, or 0 while the outbox is full.
fn send(mut caller: Caller<'_, Meter>, stream: i64, at: i64, length: i64) -> wasmtime::Result<i64> {
    let stream = u8::try_from(stream).ok().filter(|stream| *stream < STREAMS);
    let Some(stream) = stream else { return Err(wasmtime::Error::msg("the role sends on a stream it does not have")) };
    let length = usize::try_from(length).ok().filter(|length| is_length(*length));
    let Some(length) = length else { return Err(wasmtime::Error::msg("the role sends more than a message holds")) };
    let message = Bytes::copy_from_slice(bytes_at(&mut caller, at, length)?);
    Ok(caller.data().mailbox.send(RoleOutput::Message { stream, message }).into())
}

/// Reports a word to the card's owner. Returns 1, or 0 while the outbox is full.
fn event(caller: Caller<'_, Meter>, word: i64) -> i64 {
    caller.data().mailbox.send(RoleOutput::Event(word.cast_unsigned())).into()
}

/// Asks for a call of `on_wake` after so many microseconds, at least 1; a negative number takes the request back.
fn wake(caller: Caller<'_, Meter>, microseconds: i64) {
    // At least one: a handler that asks for a call at once, each time, would make time stand still in a simulation.
    let time = u64::try_from(microseconds).ok().map(|us| Duration::from_micros(us.clamp(1, DAY_US)));
    caller.data().mailbox.wake_after(time);
}

/// Begins to read `length` bytes at `addr` of the node to which a stream is routed; they come to `at` when the kernel
/// waits for it. Returns its number, or 0 while too many are under way.
fn remote_read(mut caller: Caller<'_, Meter>, stream: i64, addr: i64, at: i64, length: i64) -> wasmtime::Result<i64> {
    let (stream, length) = remote_range(&caller, stream, addr, length)?;
    // A place that the role does not have is its mistake now.
    bytes_at(&mut caller, at, length as usize)?;
    let work = RemoteWork::Read(length);
    let begun = caller.data().remote.begin(stream, addr.cast_unsigned(), Some(at.cast_unsigned()), work);
    Ok(begun.map_or(0, i64::from))
}

/// Begins to write the `length` bytes at `at` to `addr` of the node to which a stream is routed. Returns its number,
/// or 0 while too many are under way.
fn remote_write(mut caller: Caller<'_, Meter>, stream: i64, addr: i64, at: i64, length: i64) -> wasmtime::Result<i64> {
    let (stream, length) = remote_range(&caller, stream, addr, length)?;
    let bytes = Bytes::copy_from_slice(bytes_at(&mut caller, at, length as usize)?);
    let begun = caller.data().remote.begin(stream, addr.cast_unsigned(), None, RemoteWork::Write(bytes));
    Ok(begun.map_or(0, i64::from))
}

/// Stream and length of an access, if a role may ask for it.
fn remote_range(caller: &Caller<'_, Meter>, stream: i64, addr: i64, length: i64) -> wasmtime::Result<(u8, u32)> {
    if !caller.data().is_kernel {
        return Err(wasmtime::Error::msg("only kernels may use the memory of other nodes"));
    }
    let stream = u8::try_from(stream).ok().filter(|stream| *stream < STREAMS);
    let length = u32::try_from(length).ok().filter(|length| (1..=REMOTE_BYTES_MAX).contains(length));
    match (stream, length) {
        (Some(stream), Some(length)) if addr.cast_unsigned().checked_add(length.into()).is_some() => {
            Ok((stream, length))
        }
        _ => Err(wasmtime::Error::msg("the role uses remote memory by a stream, address or length that there is not")),
    }
}

/// Waits for an access. Returns 0, or the code of what went wrong.
async fn remote_wait(mut caller: Caller<'_, Meter>, number: i64) -> wasmtime::Result<i64> {
    let known = u32::try_from(number).ok().filter(|_| caller.data().is_kernel);
    loop {
        match known.map_or(Fate::Unknown, |number| caller.data().remote.take(number)) {
            Fate::Unknown => return Err(wasmtime::Error::msg("the role waits for an access that is not under way")),
            Fate::UnderWay => pause().await,
            Fate::Over(_, Err(fault)) => return Ok(code_of(fault)),
            Fate::Over(into, Ok(bytes)) => {
                if let Some(at) = into {
                    bytes_at(&mut caller, at.cast_signed(), bytes.len())?.copy_from_slice(&bytes);
                }
                return Ok(0);
            }
        }
    }
}

/// Ends the slice.
async fn pause() {
    let mut has_paused = false;
    core::future::poll_fn(|_| match core::mem::replace(&mut has_paused, true) {
        false => core::task::Poll::Pending,
        true => core::task::Poll::Ready(()),
    })
    .await;
}

/// An access to another node's memory, by which a kernel was ended.
#[derive(Debug, thiserror::Error)]
#[error("remote memory: {0}")]
pub(crate) struct RemoteFailed(RemoteFault);

/// Ends the kernel because of what `remote_wait` has returned.
fn remote_fail(_: Caller<'_, Meter>, code: i64) -> wasmtime::Result<()> {
    let fault = FAULTS.into_iter().find(|fault| code_of(*fault) == code);
    let fault = fault.ok_or_else(|| wasmtime::Error::msg("the role fails for a reason that there is not"))?;
    Err(RemoteFailed(fault).into())
}

const FAULTS: [RemoteFault; 4] = [RemoteFault::NoRoute, RemoteFault::Refused, RemoteFault::Gone, RemoteFault::Busy];

/// The number of a fault, as `rackloom.h` names it.
const fn code_of(fault: RemoteFault) -> i64 {
    match fault {
        RemoteFault::NoRoute => 1,
        RemoteFault::Refused => 2,
        RemoteFault::Gone => 3,
        RemoteFault::Busy => 4,
    }
}

/// A part of the card's memory. The caller of the module holds its lock.
fn bytes_at<'a>(caller: &'a mut Caller<'_, Meter>, at: i64, length: usize) -> wasmtime::Result<&'a mut [u8]> {
    let memory = caller.data().memory.expect("the instance has it");
    let start = usize::try_from(at).ok();
    let range = start.and_then(|start| Some(start..start.checked_add(length)?));
    let bytes = range.and_then(|range| memory.data_mut(caller).get_mut(range));
    bytes.ok_or_else(|| Trap::MemoryOutOfBounds.into())
}

fn length_of(length: usize) -> i64 {
    i64::try_from(length).expect("a message is short")
}

/// Longest time to a wake.
const DAY_US: u64 = 24 * 3600 * 1_000_000;
