//! What other threads want done with a node.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::Waker;

use rackloom_node::Instant;

/// Something to do with a node on its own thread.
pub(crate) type Command<N> = Box<dyn FnOnce(&mut N, Instant) + Send>;

/// The node no longer runs: its wire has failed, or it was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the node has stopped")]
pub struct Stopped;

/// Takes commands for a node, and wakes the node.
pub(crate) struct Mailbox<N> {
    commands: SyncSender<Command<N>>,
    waker: Waker,
}

impl<N: 'static> Mailbox<N> {
    /// A mailbox, and the end at which the node's engine takes commands out.
    pub(crate) fn new(waker: Waker) -> (Self, Receiver<Command<N>>) {
        let (commands, inbox) = sync_channel(COMMANDS_MAX);
        (Self { commands, waker }, inbox)
    }

    /// Has `f` done with the node and waits for what it returns.
    ///
    /// # Errors
    /// The node has stopped.
    pub(crate) fn with<R: Send + 'static>(
        &self,
        f: impl FnOnce(&mut N, Instant) -> R + Send + 'static,
    ) -> Result<R, Stopped> {
        let (answer, answered) = sync_channel(1);
        self.post(move |node, now| {
            let _ = answer.send(f(node, now)); // There is room for one.
        })?;
        answered.recv().map_err(|_| Stopped)
    }

    /// Has `f` done with the node some time soon. Waits only while [`COMMANDS_MAX`] are waiting already.
    ///
    /// # Errors
    /// The node has stopped.
    pub(crate) fn post(&self, f: impl FnOnce(&mut N, Instant) + Send + 'static) -> Result<(), Stopped> {
        self.commands.send(Box::new(f)).map_err(|_| Stopped)?;
        self.wake();
        Ok(())
    }
}

impl<N> Mailbox<N> {
    /// Wakes the node.
    pub(crate) fn wake(&self) {
        self.waker.wake_by_ref();
    }
}

/// Most commands that wait for a node; one more waits at its sender.
const COMMANDS_MAX: usize = 1024;
