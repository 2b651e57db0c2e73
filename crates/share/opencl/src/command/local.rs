//! Commands that need no manager: they move bytes of a buffer in memory that board and program share, while no
//! operation is under way.
//!
//! A board that works in shared memory sees what is written there. So a blocking write is one copy and no message, as
//! it is natively. The stream stays locked during the copy, so that later commands are sent after it.

use rackloom_opencl_wire::now_ns;

use crate::command::{CallMode, Command, Kind, Memory};
use crate::error::Result;
use crate::host_memory::{HostRegion, Region};
use crate::objects::event::Standing;
use crate::stats;

/// Executes a command that is not held, if that needs no manager; false if the command must be sent. A blocking one
/// first waits for operations under way.
///
/// # Errors
/// The connection is lost.
pub fn run_locally(command: &Command, mode: CallMode) -> Result<bool> {
    let Some(buffer) = moved_buffer(&command.kind).filter(|buffer| buffer.is_shared()) else { return Ok(false) };
    let (board, session) = (&command.board, &command.board.session);
    let has_ended = || session.in_flight.count() == 0;
    if !has_ended() {
        if mode == CallMode::NonBlocking {
            return Ok(false);
        }
        board.submit();
        // If other threads go on sending, this command is sent, too.
        let last = session.stream.sent();
        session.wait(None, || (has_ended() || session.stream.sent() != last).then_some(()))?;
    }
    let queue = session.stream.stop();
    let complete = || command.waits.iter().all(|event| event.standing(board) == Standing::Complete);
    // What was printed before must be written first; the sent command's end waits for that.
    if !has_ended() || session.has_text() || !complete() {
        return Ok(false);
    }
    session.check()?;
    let started = now_ns();
    copy(buffer, &command.kind)?;
    drop(queue);
    command.event.done_here(started, now_ns());
    Ok(true)
}

/// The buffer of a command that does nothing but move bytes between it and the program.
const fn moved_buffer(kind: &Kind) -> Option<&Memory> {
    match kind {
        Kind::Write { to: buffer, .. }
        | Kind::Read { from: buffer, .. }
        | Kind::Map { buffer, .. }
        | Kind::Unmap { buffer, .. } => Some(buffer),
        _ => None,
    }
}

fn copy(buffer: &Memory, kind: &Kind) -> Result<()> {
    match kind {
        Kind::Write { region, host, .. } => {
            host.copy_to(&place(buffer, *region, host)?);
            count(host);
        }
        Kind::Read { region, host, .. } => {
            place(buffer, *region, host)?.copy_to(host);
            count(host);
        }
        _ => {}
    }
    Ok(())
}

/// Copies the program's bytes into a buffer that no operation uses yet; false if that needs the manager.
///
/// # Errors
/// The connection is lost.
pub fn fill(buffer: &Memory, host: &HostRegion) -> Result<bool> {
    if !buffer.is_shared() {
        return Ok(false);
    }
    host.copy_to(&place(buffer, Region::Linear(0), host)?);
    count(host);
    Ok(true)
}

fn count(host: &HostRegion) {
    stats::BULK_BYTES.add(host.len());
    stats::COPIED_BYTES.add(host.len());
}

/// The bytes of a region in a buffer's own memory, as many as the program's.
fn place(buffer: &Memory, region: Region, host: &HostRegion) -> Result<HostRegion> {
    let at = buffer.host_pointer()?.expect("a shared buffer has memory");
    Ok(HostRegion::inside(at, region, host.len()))
}
