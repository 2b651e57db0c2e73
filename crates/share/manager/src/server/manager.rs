//! The manager: boards, listeners, and a thread for each client.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::Context as _;
use rackloom_ipc::{Endpoint, Server, ServerConfig};
use rackloom_sync::lock;

use super::local_board::LocalBoard;
use crate::access::handshake;
use crate::access::limits::EndpointLimits;
use crate::access::shared_board::BoardList;
use crate::board::Board;
use crate::isolate::IsolatedBoard;
use crate::metrics::{BoardMetrics, Metrics};
use crate::schedule::dispatcher::{Dispatcher, Job};
use crate::schedule::scheduler::Policy;
use crate::session::inbox::Inbox;

/// An endpoint on which a manager listens, until this is dropped.
#[derive(Debug)]
pub struct Listener {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// The endpoint, with the port that was chosen.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.server.endpoint()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.server.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // Then this is the last reference to the server.
        }
    }
}

/// A handle of shared boards. Clones share them; they end with the last handle.
#[derive(Debug, Default, Clone)]
pub struct Manager(Arc<State>);

#[derive(Default)]
struct State {
    boards: Arc<BoardList>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    metrics: Arc<Metrics>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.boards.all().iter().map(|board| &board.info().name)).finish()
    }
}

impl Manager {
    /// Adds a board and returns its number. Clients that connect from now on see it.
    ///
    /// # Errors
    /// Its thread cannot start.
    pub fn add<B: Board>(&self, board: B, policy: Policy) -> anyhow::Result<usize> {
        let metrics = self.0.metrics.board(&board.info().name);
        let dispatcher = self.dispatcher(policy, metrics)?;
        Ok(self.0.boards.add(|number| Arc::new(LocalBoard::new(number, board, dispatcher))))
    }

    /// Adds a board whose clients have processes of their own.
    pub(crate) fn add_isolated(&self, board: IsolatedBoard, policy: Policy) -> anyhow::Result<usize> {
        let metrics = self.0.metrics.board(&board.info().name);
        // Tasks wait with the workers, who count them.
        let dispatcher = self.dispatcher(policy, metrics.with_own_depth())?;
        Ok(self.0.boards.add(|number| Arc::new(board.share(number, dispatcher, metrics))))
    }

    /// A dispatcher with its thread.
    fn dispatcher<T: Job + Send + 'static>(
        &self,
        policy: Policy,
        metrics: BoardMetrics,
    ) -> anyhow::Result<Arc<Dispatcher<T>>> {
        let dispatcher = Arc::new(Dispatcher::new(policy, metrics));
        let run = Arc::clone(&dispatcher);
        let thread = std::thread::Builder::new().name("board".into()).spawn(move || run.run());
        let thread = thread.context("cannot start a thread for a board")?;
        lock(&self.0.threads).push(thread);
        Ok(dispatcher)
    }

    /// Its metrics.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    /// The names of the boards, in the order of their numbers.
    #[must_use]
    pub fn boards(&self) -> Vec<String> {
        self.0.boards.all().iter().map(|board| board.info().name.clone()).collect()
    }

    /// Serves clients of an endpoint until the listener is dropped. Clients connected by then stay.
    ///
    /// # Errors
    /// The manager cannot listen on the endpoint.
    pub fn listen(
        &self,
        to: &Endpoint,
        config: ServerConfig,
        endpoint: impl Into<EndpointLimits>,
    ) -> anyhow::Result<Listener> {
        let endpoint = Arc::new(endpoint.into());
        let server = Server::bind(to, config).with_context(|| format!("cannot listen on {to}"))?;
        let server = Arc::new(server);
        let (accepting, boards) = (Arc::clone(&server), Arc::clone(&self.0.boards));
        let accept = move || {
            while let Ok(Some(peer)) = accepting.accept(None) {
                let shown = boards.all().into_iter();
                let shown = shown.filter(|board| endpoint.admission.shows(board.number(), peer.token()));
                let (boards, endpoint): (Vec<_>, _) = (shown.collect(), Arc::clone(&endpoint));
                let serve = move || handshake::serve(Inbox::new(peer), &boards, &endpoint);
                // If the thread cannot start, the client is dropped and its channel ends.
                let _ = std::thread::Builder::new().name("client".into()).spawn(serve);
            }
        };
        let thread = std::thread::Builder::new().name("accept".into()).spawn(accept);
        Ok(Listener { server, thread: Some(thread.context("cannot start a thread")?) })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.boards.all().iter().for_each(|board| board.stop());
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            let _ = thread.join();
        }
    }
}
