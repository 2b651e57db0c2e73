//! A board whose sessions run in the manager's own process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opencl_sys::CL_DEVICE_NOT_AVAILABLE;
use rackloom_opencl_wire::{Answer, BoardInfo};

use crate::access::handshake;
use crate::access::limits::EndpointLimits;
use crate::access::shared_board::SharedBoard;
use crate::board::{Board, Owner};
use crate::code::Code;
use crate::quota::Accounts;
use crate::schedule::dispatcher::Dispatcher;
use crate::schedule::task::{Task, Tenant};
use crate::session::command_loop::attend;
use crate::session::inbox::Inbox;
use crate::session::replies::answer_to;
use crate::session::{Charging, Session};

/// A board, and its tasks.
pub(super) struct LocalBoard<B: Board> {
    number: usize,
    board: B,
    dispatcher: Arc<Dispatcher<Task<B::Space>>>,
    tenants: AtomicU64,
}

impl<B: Board> LocalBoard<B> {
    pub(super) const fn new(number: usize, board: B, dispatcher: Arc<Dispatcher<Task<B::Space>>>) -> Self {
        Self { number, board, dispatcher, tenants: AtomicU64::new(1) }
    }
}

impl<B: Board> SharedBoard for LocalBoard<B> {
    fn info(&self) -> &BoardInfo {
        self.board.info()
    }

    fn number(&self) -> usize {
        self.number
    }

    fn serve(&self, inbox: Inbox, request: u32, boards: &[Arc<dyn SharedBoard>], endpoint: &EndpointLimits) {
        let client = Arc::downgrade(&inbox.peer);
        let grant = match endpoint.enter(self.number, &inbox.peer, client) {
            Ok(grant) => grant,
            Err(why) => {
                answer_to(&inbox.peer, request, Err(Code(CL_DEVICE_NOT_AVAILABLE)));
                return inbox.farewell(&why.to_string());
            }
        };
        let id = self.tenants.fetch_add(1, Ordering::Relaxed);
        let name = grant.name.unwrap_or_else(|| format!("{}-{id}", inbox.name));
        let owner: Owner = Arc::clone(&grant.quotas) as _;
        let space = match self.board.open_of(&name, &owner) {
            Ok(space) => space,
            Err(code) => return answer_to(&inbox.peer, request, Err(code)),
        };
        let metrics = self.dispatcher.metrics.tenant(name);
        let peer = Arc::clone(&inbox.peer);
        let tenant = Tenant::new(id, grant.share, endpoint.task_time, space, Arc::clone(&peer), metrics, None);
        let registered = self.dispatcher.metrics.registered.clone();
        let accounts = Accounts { tenant: grant.quotas, host: Arc::clone(&endpoint.host), registered };
        let charging = Charging::new(accounts, false);
        let mut session = Session::new(Arc::new(tenant), Arc::clone(&self.dispatcher), charging, endpoint.limits);
        answer_to(&peer, request, Ok(Answer::Open));
        attend(inbox, &mut session, &|number| handshake::info(boards, number));
    }

    fn stop(&self) {
        self.dispatcher.stop();
    }
}
