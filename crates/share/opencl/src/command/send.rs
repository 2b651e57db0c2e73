//! Sending a command as operations.
//!
//! Small data are part of the message. Large data are sent in pieces, each an operation that closes its task, so that
//! the board works on one piece while the next is copied. The last piece waits for the others and stands for all of
//! them.
#![allow(unsafe_code)]

use std::sync::Arc;

use opencl_sys::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use rackloom_opencl_wire::{self as wire, EventId, INLINE_MAX, Id, Op, Payload, Place};

use crate::command::sequence::{self, at_board};
use crate::command::{Command, Kind, Memory};
use crate::copier::{Direction, copier};
use crate::error::{Error, Result};
use crate::host_memory::{HostRegion, Region};
use crate::objects::event::{SentTo, Standing};
use crate::session::pending::{Finish, Pending};
use crate::session::stream::Submit;
use crate::stats;

/// Bytes of a piece: large enough that the cost of its message is negligible, small enough to stay in the cache between
/// the two copies.
pub const PIECE: usize = 1 << 20;

/// Most bytes of pieces under way in a session. The session's thread sends a larger non-blocking transfer, so that the
/// call does not wait.
pub const WINDOW: u64 = 64 << 20;

/// Most bytes of pieces under way for a blocking call, which waits anyway and so reuses a few pieces of memory.
const WINDOW_BLOCKING: u64 = 8 << 20;

/// The same where the bus is as fast as the copies: enough pieces that neither waits for the other.
const WINDOW_REGISTERED: u64 = 16 << 20;

/// Sends a command and updates its event. If that fails, the event fails once the parts that were sent have ended. The
/// command is let go before the program can learn of its end.
///
/// # Errors
/// A command in its wait list failed; a quota is used up; the connection is lost.
pub fn send(command: Arc<Command>, submit: Submit) -> Result<()> {
    let (event, board) = (command.event.clone(), Arc::clone(&command.board));
    let sent = Sender { command: &command, submit }.send(&command.kind);
    drop(command);
    match sent {
        Ok(id) => event.sent(SentTo { board, id }),
        Err(why) => {
            event.abandon(why);
            return Err(why);
        }
    }
    Ok(())
}

struct Sender<'a> {
    command: &'a Arc<Command>,
    submit: Submit,
}

impl Sender<'_> {
    fn send(&self, kind: &Kind) -> Result<EventId> {
        match kind {
            Kind::Write { to, region, host } => self.write(self.id(to)?, *region, *host),
            Kind::Read { from, region, host } => self.read(self.id(from)?, *region, *host),
            Kind::MapRead { from, mapping } => {
                let place = mapping.expect()?;
                stats::BULK_BYTES.add(mapping.len());
                let op = read_op(self.id(from)?, mapping.region, mapping.len() as u64, Some(place.into()));
                self.operate(op, Finish::Settle { mapping: Arc::clone(mapping), from: place })
            }
            Kind::UnmapWrite { to, mapping } => {
                stats::BULK_BYTES.add(mapping.len());
                let from = Payload::Bulk(mapping.publish()?.into());
                self.operate(write_op(self.id(to)?, mapping.region, from), Finish::Nothing)
            }
            // The program sees the buffer's own memory.
            Kind::Map { buffer, .. } | Kind::Unmap { buffer, .. } if buffer.is_shared() => {
                self.operate(Op::Marker, Finish::Nothing)
            }
            &Kind::Map { ref buffer, flags, offset, len } => {
                self.operate(Op::Map { buffer: self.id(buffer)?, flags, offset, len }, Finish::Nothing)
            }
            &Kind::Unmap { ref buffer, offset, len } => {
                self.operate(Op::Unmap { buffer: self.id(buffer)?, offset, len }, Finish::Nothing)
            }
            Kind::Launch(launch) => launch.send(&self.command.board, |op| self.operate(op, Finish::Nothing)),
            Kind::Sequence(kinds) => self.sequence(kinds),
            _ => self.operate(at_board(kind, &self.command.board)?, Finish::Nothing),
        }
    }

    fn id(&self, buffer: &Memory) -> Result<Id> {
        buffer.on(&self.command.board)
    }

    /// The events that the manager has to wait for.
    fn waits(&self) -> Result<Vec<EventId>> {
        let mut ids = Vec::new();
        for event in &self.command.waits {
            match event.standing(&self.command.board) {
                Standing::Complete => {}
                Standing::Sent(id) => ids.push(id),
                Standing::Failed => return Err(Error(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)),
                Standing::Elsewhere => unreachable!("a command goes out when nothing of it is elsewhere"),
            }
        }
        Ok(ids)
    }

    fn operate(&self, op: Op<'_>, finish: Finish) -> Result<EventId> {
        self.operate_with(op, &[], finish)
    }

    fn operate_with(&self, op: Op<'_>, tail: &[u8], finish: Finish) -> Result<EventId> {
        self.operation(self.waits()?, self.submit, op, tail, finish, 0)
    }

    /// Sends recorded commands; those side by side that work on what the board has go as one.
    fn sequence(&self, kinds: &[Kind]) -> Result<EventId> {
        let (mut rest, mut last) = (kinds, None);
        while let Some(first) = rest.first() {
            let together = rest.iter().take_while(|kind| kind.is_at_board()).count();
            let now;
            (now, rest) = rest.split_at(together.max(1));
            let submit = if rest.is_empty() { self.submit } else { Submit::Later };
            let part = Self { submit, ..*self };
            last = Some(if together > 0 { part.together(now)? } else { part.send(first)? });
        }
        last.map_or_else(|| self.operate(Op::Marker, Finish::Nothing), Ok)
    }

    /// Sends commands that work on what the board has, as many in a message as it takes, with one reply for all of a
    /// message. There is at least one.
    fn together(&self, kinds: &[Kind]) -> Result<EventId> {
        let board = &self.command.board;
        let mut last = None;
        sequence::send(kinds, board, |ops, count, is_last| {
            let waits = self.waits()?;
            let pending = self.pending(count, Finish::Nothing, 0)?;
            let submit = if is_last { self.submit } else { Submit::Later };
            let message = |event, submit| wire::Command::Sequence { event, waits, submit };
            last = Some(board.operate(submit, message, ops, pending)?);
            Ok(())
        })?;
        Ok(last.expect("there is one command at least"))
    }

    /// Sends one operation, which moves `moving` bytes of bulk in pieces.
    fn operation(
        &self,
        waits: Vec<EventId>,
        submit: Submit,
        op: Op<'_>,
        tail: &[u8],
        finish: Finish,
        moving: u64,
    ) -> Result<EventId> {
        let pending = self.pending(1, finish, moving)?;
        let message = |event, submit| wire::Command::Enqueue { event, waits, submit, op };
        self.command.board.operate(submit, message, tail, pending)
    }

    /// A part of the command, of so many operations, that is about to be sent.
    fn pending(&self, operations: u32, finish: Finish, moving: u64) -> Result<Pending> {
        self.command.board.take_room(operations)?;
        self.command.event.add_part();
        let (progress, uses) = (self.command.event.clone(), Arc::clone(self.command));
        Ok(Pending { progress, _uses: uses, finish, operations, moving })
    }

    fn write(&self, buffer: Id, region: Region, host: HostRegion) -> Result<EventId> {
        if let Some((bulk, offset)) = self.command.board.in_place(&host) {
            stats::BULK_BYTES.add(host.len());
            let from = bulk.publish(offset, host.len() as u64)?;
            let op = write_op(buffer, region, Payload::Bulk(from.into()));
            return self.operate(op, Finish::Leave { _bulk: bulk });
        }
        if host.len() > INLINE_MAX {
            let transfer = host.len();
            return self.pieces(region, host, Submit::Now, |region, part| {
                let bulk = self.command.board.bulk(part.len() as u64)?;
                let from = match part.as_slice() {
                    Some(bytes) if self.command.board.registers() => {
                        // SAFETY: the bulk memory has this many bytes, and is ours alone.
                        unsafe {
                            copier().copy(Direction::In, transfer, bytes.as_ptr(), bulk.as_ptr()?, bytes.len());
                        }
                        bulk.publish(0, bulk.len())?
                    }
                    Some(bytes) => bulk.put(0, bytes)?,
                    None => {
                        // SAFETY: the bulk memory has this many bytes, and is ours alone.
                        unsafe { part.gather(bulk.as_ptr()?) };
                        bulk.publish(0, bulk.len())?
                    }
                };
                stats::COPIED_BYTES.add(part.len());
                Ok((write_op(buffer, region, Payload::Bulk(from.into())), Finish::Free { _bulk: bulk }))
            });
        }
        let op = write_op(buffer, region, Payload::Inline);
        match host.as_slice() {
            Some(bytes) => self.operate_with(op, bytes, Finish::Nothing),
            None => {
                let mut bytes = vec![0; host.len()];
                // SAFETY: room for all bytes.
                unsafe { host.gather(bytes.as_mut_ptr()) };
                self.operate_with(op, &bytes, Finish::Nothing)
            }
        }
    }

    fn read(&self, buffer: Id, region: Region, host: HostRegion) -> Result<EventId> {
        if let Some((bulk, offset)) = self.command.board.in_place(&host) {
            stats::BULK_BYTES.add(host.len());
            let into = bulk.expect(offset, host.len() as u64)?;
            let op = read_op(buffer, region, host.len() as u64, Some(into.into()));
            return self.operate(op, Finish::Leave { _bulk: bulk });
        }
        if host.len() > INLINE_MAX {
            let transfer = host.len();
            // From registered memory the bus goes on from one piece to the next, with nothing between.
            let between = if self.command.board.registers() { Submit::Later } else { Submit::Now };
            return self.pieces(region, host, between, |region, part| {
                let bulk = self.command.board.bulk(part.len() as u64)?;
                let from = bulk.expect(0, bulk.len())?;
                let op = read_op(buffer, region, bulk.len(), Some(from.into()));
                let finish = if self.command.board.registers() {
                    Finish::CopyOut { to: part, bulk, from, transfer }
                } else {
                    Finish::Copy { to: part, bulk, from }
                };
                Ok((op, finish))
            });
        }
        self.operate(read_op(buffer, region, host.len() as u64, None), Finish::Inline(host))
    }

    /// Sends a transfer in pieces, as many at a time as the window allows. All but the last are submitted
    /// as `between` says, and when the window is full.
    fn pieces(
        &self,
        region: Region,
        host: HostRegion,
        between: Submit,
        mut piece: impl FnMut(Region, HostRegion) -> Result<(Op<'static>, Finish)>,
    ) -> Result<EventId> {
        let board = &self.command.board;
        let in_flight = &board.session.in_flight;
        let window = match self.submit {
            Submit::Now if board.registers() => WINDOW_REGISTERED,
            Submit::Now => WINDOW_BLOCKING,
            Submit::Later => WINDOW,
        };
        let mut ids: Vec<EventId> = Vec::new();
        let piece_bytes = if board.registers() { copier().piece(host.len()) } else { PIECE };
        let mut parts = host.split(region, piece_bytes).peekable();
        while let Some((region, part)) = parts.next() {
            let moving = part.len() as u64;
            let fits = || {
                let now = in_flight.bytes();
                now == 0 || now + moving <= window
            };
            if !fits() {
                board.submit(); // Else the last piece of a command before may never end.
                board.session.wait(None, || fits().then_some(()))?;
            }
            let (op, finish) = piece(region, part)?;
            let is_last = parts.peek().is_none();
            let mut waits = if ids.is_empty() || is_last { self.waits()? } else { Vec::new() };
            if is_last {
                waits.append(&mut ids);
            }
            in_flight.add_bytes(moving);
            stats::BULK_BYTES.add(part.len());
            let submit = if is_last { self.submit } else { between };
            ids.push(self.operation(waits, submit, op, &[], finish, moving)?);
        }
        Ok(*ids.last().expect("a transfer of more than a message holds has a piece"))
    }
}

fn write_op(buffer: Id, region: Region, from: Payload) -> Op<'static> {
    match region {
        Region::Linear(offset) => Op::Write { buffer, offset, from },
        Region::Rect(rect) => Op::WriteRect { buffer, rect, from },
        Region::Image { area, .. } => Op::WriteImage { image: buffer, area, from },
    }
}

fn read_op(buffer: Id, region: Region, len: u64, into: Option<Place>) -> Op<'static> {
    match region {
        Region::Linear(offset) => Op::Read { buffer, offset, len, into },
        Region::Rect(rect) => Op::ReadRect { buffer, rect, into },
        Region::Image { area, .. } => Op::ReadImage { image: buffer, area, into },
    }
}
