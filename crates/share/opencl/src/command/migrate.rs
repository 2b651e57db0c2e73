//! Contexts with several devices: each has its own copy of a buffer, and which of them is up to date is known here.
//!
//! A command finds what was written last, wherever that was: before it goes out, what it needs is read from a device
//! that has it and written to its own, by two commands that nobody sees. With one device there is nothing to do.

use std::sync::Arc;

use opencl_sys::{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED};

use crate::command::dispatch::dispatch;
use crate::command::local;
use crate::command::{Memory, Order, Work};
use crate::error::{Error, Result};
use crate::handle::{Object, Ref, lock};
use crate::host_memory::{Host, HostMemory, Region};
use crate::objects::context::Context;
use crate::objects::event::Event;
use crate::objects::memory::Buffer;
use crate::session::board::Board;

/// Where the content of a buffer is.
#[derive(Default)]
pub struct Content {
    /// Devices of the context that have it; none if nothing was ever written.
    valid: u64,
    /// What wrote it.
    writer: Option<std::sync::Weak<Object<Event>>>,
}

/// Most devices of a context.
pub const DEVICES_MAX: usize = 64;

/// What a command does to a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It needs the content.
    Reads,
    /// It needs and changes it, or changes a part.
    Changes,
    /// It replaces all of it.
    Replaces,
}

/// Brings what an order needs to its board, and notes what it changes there.
///
/// # Errors
/// There is no memory; a connection is lost.
pub fn prepare(context: &Ref<Context>, order: &mut Order) -> Result<()> {
    if context.single().is_some() {
        return Ok(());
    }
    let uses: Vec<(Memory, Use)> = order.work.uses();
    for (buffer, does) in uses {
        let event = order.event.clone();
        let arrived = bring(context, &buffer, &order.board, does, &order.waits, event)?;
        order.waits.extend(arrived);
    }
    Ok(())
}

/// As [`prepare`] for one buffer; the command to wait for.
fn bring(
    context: &Ref<Context>,
    buffer: &Ref<Buffer>,
    board: &Arc<Board>,
    does: Use,
    waits: &[Ref<Event>],
    event: Ref<Event>,
) -> Result<Option<Ref<Event>>> {
    let here = context.devices.iter().position(|d| Arc::ptr_eq(d.board(), board)).unwrap_or(0);
    let mut content = lock(&buffer.content);
    let mut arrived = None;
    if content.valid & (1 << here) == 0 && content.valid != 0 && does != Use::Replaces {
        let from = &context.devices[content.valid.trailing_zeros() as usize];
        let memory = HostMemory::new(buffer.size as usize).ok_or(Error(CL_MEM_OBJECT_ALLOCATION_FAILURE))?;
        let memory = Arc::new(memory);
        let writer = content.writer.as_ref().and_then(std::sync::Weak::upgrade);
        let first = waits.iter().cloned().chain(writer).collect();
        let host = memory.host();
        let read = Work::Read { from: buffer.clone(), region: Region::Linear(0), host };
        let read = hidden(context, from.board(), first, read, &memory)?;
        let write = Work::Write { to: buffer.clone(), region: Region::Linear(0), host };
        arrived = Some(hidden(context, board, vec![read], write, &memory)?);
    }
    content.valid |= 1 << here;
    if does != Use::Reads {
        content.valid = 1 << here;
        content.writer = Some(Arc::downgrade(&event));
    }
    Ok(arrived)
}

fn hidden(
    context: &Ref<Context>,
    board: &Arc<Board>,
    waits: Vec<Ref<Event>>,
    work: Work,
    memory: &Arc<HostMemory>,
) -> Result<Ref<Event>> {
    let event = Object::new(Event::new(context.clone(), None, 0));
    let keep = Some(Arc::clone(memory));
    let order = Order { board: Arc::clone(board), event: event.clone(), waits, work, submit: true, _keep: keep };
    dispatch(Arc::new(order), Vec::new(), false)?;
    Ok(event)
}

/// Writes the program's bytes into a new buffer, as the first of all commands; they were copied on return.
///
/// # Errors
/// The connection is lost; the board's memory is used up.
pub fn fill_new(buffer: &Ref<Buffer>, host: Host) -> Result<()> {
    if local::fill(buffer, &host)? {
        return Ok(());
    }
    let context = &buffer.context;
    let board = Arc::clone(context.devices[0].board());
    let event = Object::new(Event::new(context.clone(), None, 0));
    let work = Work::Write { to: buffer.clone(), region: Region::Linear(0), host };
    let mut order = Order { board, event, waits: Vec::new(), work, submit: false, _keep: None };
    prepare(context, &mut order)?;
    order.board.session.check()?;
    crate::command::send::transmit(&Arc::new(order), false)
}

/// What `clEnqueueMigrateMemObjects` does to each buffer.
pub const fn use_of(flags: u64) -> Use {
    if flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED != 0 { Use::Replaces } else { Use::Reads }
}
