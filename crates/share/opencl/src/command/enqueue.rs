//! Adding a command to a queue.

use std::sync::Arc;

use rackloom_sync::lock;

use crate::command::dispatch::dispatch;
use crate::command::early::EarlyWrite;
use crate::command::{CallMode, Command, Kind, migrate};
use crate::error::Result;
use crate::handle::{Object, Ref};
use crate::objects::event::Event;
use crate::objects::queue::{Queue, Scope};
use crate::session::stream::Submit;

/// Adds a command to a queue. A blocking one has ended on return, but for a write that may return [`early`].
///
/// [`early`]: crate::command::early
///
/// # Errors
/// The board is lost; a blocking command failed.
pub fn enqueue(
    queue: &Ref<Queue>,
    command_type: u32,
    waits: Vec<Ref<Event>>,
    kind: Kind,
    mode: CallMode,
) -> Result<Ref<Event>> {
    enqueue_as(queue, command_type, waits, kind, mode, Scope::Command)
}

/// As [`enqueue`], for markers and barriers, too.
///
/// # Errors
/// As there.
pub fn enqueue_as(
    queue: &Ref<Queue>,
    command_type: u32,
    waits: Vec<Ref<Event>>,
    kind: Kind,
    mode: CallMode,
    scope: Scope,
) -> Result<Ref<Event>> {
    let board = Arc::clone(queue.device.board());
    let event = Object::new(queue.table(), Event::new(queue.context.clone(), Some(queue.clone()), command_type));
    let closes = mode == CallMode::Blocking || scope == Scope::Barrier;
    let submit = if closes { Submit::Now } else { Submit::Later };
    let mut command = Command { board, event: event.clone(), waits, kind, submit, _keep: None };
    migrate::prepare(&queue.context, &mut command)?;
    let write = if mode == CallMode::Blocking { EarlyWrite::of(&command) } else { None };
    let mut state = lock(&queue.state);
    let before = state.blockers(scope, &command.waits);
    let is_early = state.lets_return_early() && write.as_ref().is_some_and(EarlyWrite::cannot_fail);
    if dispatch(Arc::new(command), before, mode)? {
        state.note(&event, scope, is_early);
    }
    drop(state);
    if is_early {
        event.returns_early();
        event.outcome()?;
    } else if mode == CallMode::Blocking {
        event.wait();
        event.outcome()?;
        write.iter().for_each(EarlyWrite::has_ended);
    }
    Ok(event)
}
