//! The serving side: what a request does to this node's memory.

use bytes::{Bytes, BytesMut};
use rackloom_wire::bridge::{BridgeStatus, Kind};
use rackloom_wire::{MacAddr, parse_batch};

use crate::message::{Atomic, Message};
use crate::window::{Rights, Windows};

/// The memory behind a node's windows. What a window covers is inside it: whoever opens one sees to that.
pub trait Target {
    /// Copies bytes from `addr` on.
    ///
    /// # Errors
    /// [`TargetFailed`]: what it holds there is not certain.
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed>;

    /// Copies `bytes` to `addr`.
    ///
    /// # Errors
    /// [`TargetFailed`]: whether they are there is not certain.
    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed>;
}

/// The memory itself is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory failed")]
pub struct TargetFailed;

/// A node that opens no windows.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMemory;

impl Target for NoMemory {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), TargetFailed> {
        Err(TargetFailed)
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), TargetFailed> {
        Err(TargetFailed)
    }
}

/// Carries out a request of `peer`, all of it or nothing, and makes its answer. `longest`: most payload bytes of a
/// response.
pub(crate) fn serve(
    windows: &Windows,
    target: &mut dyn Target,
    peer: MacAddr,
    request: &Message,
    longest: usize,
) -> Message {
    let outcome = match request.kind {
        Kind::ReadRequest => read(windows, target, peer, request, longest),
        Kind::AtomicRequest => atomic(windows, target, peer, request),
        Kind::WriteRequest => return write_answer(request, write(windows, target, peer, request)),
        _ => return write_answer(request, write_batch(windows, target, peer, request)),
    };
    match outcome {
        Ok(bytes) => Message::read_response(request, BridgeStatus::Ok, bytes),
        Err(status) => Message::read_response(request, status, Bytes::new()),
    }
}

fn write_answer(request: &Message, outcome: Result<usize, BridgeStatus>) -> Message {
    match outcome {
        Ok(count) => {
            let count = u32::try_from(count).expect("a frame's payload");
            Message::write_response(request, BridgeStatus::Ok, count)
        }
        Err(status) => Message::write_response(request, status, 0),
    }
}

fn read(
    windows: &Windows,
    target: &mut dyn Target,
    peer: MacAddr,
    request: &Message,
    longest: usize,
) -> Result<Bytes, BridgeStatus> {
    let count = request.count as usize;
    if count == 0 || count > longest || !request.payload.is_empty() {
        return Err(BridgeStatus::Malformed);
    }
    windows.check(peer, request.addr, count as u64, Rights::READ)?;
    let mut bytes = BytesMut::zeroed(count);
    target.read(request.addr, &mut bytes).map_err(|TargetFailed| BridgeStatus::MemoryFailed)?;
    Ok(bytes.freeze())
}

fn write(windows: &Windows, target: &mut dyn Target, peer: MacAddr, request: &Message) -> Result<usize, BridgeStatus> {
    let bytes = &request.payload;
    if bytes.is_empty() {
        return Err(BridgeStatus::Malformed);
    }
    windows.check(peer, request.addr, bytes.len() as u64, Rights::WRITE)?;
    target.write(request.addr, bytes).map_err(|TargetFailed| BridgeStatus::MemoryFailed)?;
    Ok(bytes.len())
}

/// All records are checked before the first is written.
fn write_batch(
    windows: &Windows,
    target: &mut dyn Target,
    peer: MacAddr,
    request: &Message,
) -> Result<usize, BridgeStatus> {
    let records = || parse_batch(&request.payload).ok_or(BridgeStatus::Malformed);
    for (addr, bytes) in records()? {
        windows.check(peer, addr, bytes.len() as u64, Rights::WRITE)?;
    }
    let mut count = 0;
    for (addr, bytes) in records()? {
        target.write(addr, bytes).map_err(|TargetFailed| BridgeStatus::MemoryFailed)?;
        count += bytes.len();
    }
    Ok(count)
}

/// Writes what may be written of a batch that is refused.
#[cfg(feature = "planted-bugs")]
pub(crate) fn tear_batch(windows: &Windows, target: &mut dyn Target, peer: MacAddr, request: &Message) {
    let may = |addr, bytes: &[u8]| windows.check(peer, addr, bytes.len() as u64, Rights::WRITE).is_ok();
    let Some(records) = parse_batch(&request.payload).filter(|_| request.kind == Kind::WriteBatch) else { return };
    let records: Vec<_> = records.collect();
    if records.iter().all(|(addr, bytes)| may(*addr, bytes)) {
        return;
    }
    for (addr, bytes) in records.into_iter().take_while(|(addr, bytes)| may(*addr, bytes)) {
        let _ = target.write(addr, bytes);
    }
}

fn atomic(windows: &Windows, target: &mut dyn Target, peer: MacAddr, request: &Message) -> Result<Bytes, BridgeStatus> {
    let atomic = Atomic::parse(request).ok_or(BridgeStatus::Malformed)?;
    if !request.addr.is_multiple_of(8) {
        return Err(BridgeStatus::Malformed);
    }
    windows.check(peer, request.addr, 8, Rights::ATOMIC)?;
    let mut old = [0; 8];
    let failed = |TargetFailed| BridgeStatus::MemoryFailed;
    target.read(request.addr, &mut old).map_err(failed)?;
    let new = atomic.apply(u64::from_be_bytes(old)).to_be_bytes();
    if new != old {
        target.write(request.addr, &new).map_err(failed)?;
    }
    Ok(Bytes::copy_from_slice(&old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Window;
    use rackloom_wire::put_record;

    const PEER: MacAddr = MacAddr([2, 0, 0, 0, 0, 7]);

    struct Bytes64([u8; 64]);

    impl Target for Bytes64 {
        fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
            let at = addr as usize;
            into.copy_from_slice(&self.0[at..at + into.len()]);
            Ok(())
        }
        fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
            let at = addr as usize;
            self.0[at..at + bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }

    fn windows(rights: Rights) -> Windows {
        let mut windows = Windows::default();
        windows.set(0, Some(Window { base: 8, length: 32, peer: PEER, rights }));
        windows
    }

    fn status(answer: &Message) -> BridgeStatus {
        BridgeStatus::from_wire(answer.tag).unwrap()
    }

    #[test]
    fn a_write_is_there_and_a_read_gives_it() {
        let (w, mut m) = (windows(Rights::READ | Rights::WRITE), Bytes64([0; 64]));
        let wrote = serve(&w, &mut m, PEER, &Message::write(5, 9, Bytes::from_static(b"xyz")), 1408);
        assert_eq!((status(&wrote), wrote.count, wrote.id, wrote.addr), (BridgeStatus::Ok, 3, 5, 9));
        let read = serve(&w, &mut m, PEER, &Message::read(6, 8, 5), 1408);
        assert_eq!((status(&read), &read.payload[..]), (BridgeStatus::Ok, &b"\0xyz\0"[..]));
    }

    #[test]
    fn what_is_refused_touches_nothing() {
        let w = windows(Rights::READ | Rights::WRITE);
        let mut outside = Vec::new();
        put_record(&mut outside, 8, b"in");
        put_record(&mut outside, 39, b"out");
        for (request, why) in [
            (Message::write(0, 7, Bytes::from_static(b"ab")), BridgeStatus::NoWindow),
            (Message::write(0, 8, Bytes::new()), BridgeStatus::Malformed),
            (Message::read(0, 8, 0), BridgeStatus::Malformed),
            (Message::read(0, 8, 33), BridgeStatus::NoWindow),
            (Message::read(0, 8, 1409), BridgeStatus::Malformed),
            (Message::atomic(0, 8, Atomic::FetchAdd(1)), BridgeStatus::Denied),
            (Message::atomic(0, 12, Atomic::FetchAdd(1)), BridgeStatus::Malformed),
            (Message::batch(0, outside.into()), BridgeStatus::NoWindow),
            (Message::batch(0, Bytes::from_static(b"short")), BridgeStatus::Malformed),
        ] {
            let mut m = Bytes64([7; 64]);
            assert_eq!(status(&serve(&w, &mut m, PEER, &request, 1408)), why, "{request:?}");
            assert_eq!(m.0, [7; 64], "{request:?}");
        }
    }

    #[test]
    fn atomics_give_the_old_value() {
        let (w, mut m) = (windows(Rights::ATOMIC), Bytes64([0; 64]));
        let mut go = |atomic| serve(&w, &mut m, PEER, &Message::atomic(0, 16, atomic), 1408).payload;
        assert_eq!(&go(Atomic::FetchAdd(5))[..], 0u64.to_be_bytes());
        assert_eq!(&go(Atomic::FetchAdd(u64::MAX))[..], 5u64.to_be_bytes());
        assert_eq!(&go(Atomic::CompareSwap { expected: 5, new: 9 })[..], 4u64.to_be_bytes());
        assert_eq!(&go(Atomic::CompareSwap { expected: 4, new: 9 })[..], 4u64.to_be_bytes());
        assert_eq!(&go(Atomic::FetchAdd(0))[..], 9u64.to_be_bytes());
    }

    #[test]
    fn memory_that_fails_is_said_to_fail() {
        let w = windows(Rights::READ | Rights::WRITE);
        let read = serve(&w, &mut NoMemory, PEER, &Message::read(0, 8, 1), 1408);
        let write = serve(&w, &mut NoMemory, PEER, &Message::write(0, 8, Bytes::from_static(b"a")), 1408);
        assert_eq!((status(&read), status(&write)), (BridgeStatus::MemoryFailed, BridgeStatus::MemoryFailed));
    }
}
