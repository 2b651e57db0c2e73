//! Contexts with several devices: each has its own copy of a buffer, and the library knows which copies are current.
//!
//! Before a command is sent, two internal commands read what it needs from a device with the current content and write
//! it to its own device. With one device there is nothing to do.

use std::sync::{Arc, Weak};

use opencl_sys::{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED};
use rackloom_sync::lock;

use crate::command::dispatch::dispatch;
use crate::command::local;
use crate::command::send::send;
use crate::command::{CallMode, Command, Kind, Memory};
use crate::error::{Error, Result};
use crate::handle::{Object, Ref};
use crate::host_memory::{HostMemory, HostRegion};
use crate::objects::content::Access;
use crate::objects::context::Context;
use crate::objects::event::Event;
use crate::objects::memory::Buffer;
use crate::session::board::Board;
use crate::session::stream::Submit;

/// Brings what a command needs to its board, and notes what it changes there.
///
/// # Errors
/// The host is out of memory; a connection is lost.
pub fn prepare(context: &Ref<Context>, command: &mut Command) -> Result<()> {
    if context.single().is_some() {
        return Ok(());
    }
    let uses: Vec<(Memory, Access)> = command.kind.uses();
    for (buffer, access) in uses {
        let event = command.event.clone();
        let arrived = bring(context, &buffer, &command.board, access, &command.waits, event)?;
        command.waits.extend(arrived);
    }
    Ok(())
}

/// As [`prepare`] for one buffer. Gives the event to wait for, if content has to move.
fn bring(
    context: &Ref<Context>,
    buffer: &Ref<Buffer>,
    board: &Arc<Board>,
    access: Access,
    waits: &[Ref<Event>],
    event: Ref<Event>,
) -> Result<Option<Ref<Event>>> {
    let here = context.devices.iter().position(|d| Arc::ptr_eq(d.board(), board)).unwrap_or(0);
    let mut content = lock(&buffer.content);
    let mut arrived = None;
    if content.valid & (1 << here) == 0 && content.valid != 0 && access != Access::Replace {
        let from = &context.devices[content.valid.trailing_zeros() as usize];
        let memory = HostMemory::new(buffer.size as usize).ok_or(Error(CL_MEM_OBJECT_ALLOCATION_FAILURE))?;
        let memory = Arc::new(memory);
        let writer = content.writer.as_ref().and_then(Weak::upgrade);
        let first = waits.iter().cloned().chain(writer).collect();
        let host = memory.host();
        let region = buffer.whole();
        let read = Kind::Read { from: buffer.clone(), region, host };
        let read = hidden(context, from.board(), first, read, &memory)?;
        let write = Kind::Write { to: buffer.clone(), region, host };
        arrived = Some(hidden(context, board, vec![read], write, &memory)?);
    }
    content.valid |= 1 << here;
    if access != Access::Read {
        content.valid = 1 << here;
        content.writer = Some(Arc::downgrade(&event));
    }
    Ok(arrived)
}

fn hidden(
    context: &Ref<Context>,
    board: &Arc<Board>,
    waits: Vec<Ref<Event>>,
    kind: Kind,
    memory: &Arc<HostMemory>,
) -> Result<Ref<Event>> {
    let event = Object::new(context.table(), Event::new(context.clone(), None, 0));
    let keep = Some(Arc::clone(memory));
    let command =
        Command { board: Arc::clone(board), event: event.clone(), waits, kind, submit: Submit::Now, _keep: keep };
    dispatch(Arc::new(command), Vec::new(), CallMode::NonBlocking)?;
    Ok(event)
}

/// Writes the program's bytes into a new buffer or image, as the first of all commands; they were copied on return.
///
/// # Errors
/// The connection is lost; the board's memory is used up.
pub fn fill_new(buffer: &Ref<Buffer>, host: HostRegion) -> Result<()> {
    if local::fill(buffer, &host)? {
        return Ok(());
    }
    let context = &buffer.context;
    let board = Arc::clone(context.devices[0].board());
    let event = Object::new(context.table(), Event::new(context.clone(), None, 0));
    let kind = Kind::Write { to: buffer.clone(), region: buffer.whole(), host };
    let mut command = Command { board, event, waits: Vec::new(), kind, submit: Submit::Later, _keep: None };
    prepare(context, &mut command)?;
    command.board.session.check()?;
    send(Arc::new(command), Submit::Later)
}

/// The access of `clEnqueueMigrateMemObjects` to each buffer.
pub const fn access_of(flags: u64) -> Access {
    if flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED != 0 { Access::Replace } else { Access::Read }
}
