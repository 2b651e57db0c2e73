//! How boards come in, at the start and later: they are shared, and registered if there is a registry.

use std::sync::{Arc, Mutex, MutexGuard};

use rackloom_opencl_wire::BoardInfo;

use super::manager::Manager;
use crate::access::admission::Admission;
use crate::board::Board;
use crate::card::{CardBoard, Consent};
use crate::isolate::IsolatedBoard;
use crate::registry::{Entry, Membership};
use crate::schedule::scheduler::Policy;
use crate::sync::lock;

/// Where boards come in.
#[derive(Debug)]
pub(crate) struct Attacher {
    policy: Policy,
    admission: Admission,
    // Nobody is told of the boards any more before they go.
    state: Mutex<State>,
    manager: Manager,
}

#[derive(Debug, Default)]
struct State {
    /// Boards that came before the registry could be told where programs reach them.
    early: Vec<Entry>,
    membership: Option<Membership>,
}

impl Attacher {
    pub(crate) fn new(manager: Manager, policy: Policy, admission: Admission) -> Self {
        Self { policy, admission, state: Mutex::default(), manager }
    }

    /// Takes a board in.
    ///
    /// # Errors
    /// There is no thread for it.
    pub(crate) fn add<B: Board>(&self, board: B) -> anyhow::Result<()> {
        let info = board.info().clone();
        self.enter(info, None, |manager, policy| manager.add(board, policy))
    }

    /// Takes in a board whose clients have processes of their own.
    ///
    /// # Errors
    /// There is no thread for it.
    pub(crate) fn add_isolated(&self, board: IsolatedBoard) -> anyhow::Result<()> {
        let info = board.info().clone();
        self.enter(info, None, |manager, policy| manager.add_isolated(board, policy))
    }

    /// Takes a card in. One for which there is no thread is left out with a word.
    pub(crate) fn add_card(&self, card: CardBoard) {
        let (name, consent) = (card.name().to_owned(), card.consent());
        let asked = Some((consent, card.is_exclusive()));
        let info = card.info().clone();
        if let Err(why) = self.enter(info, asked, |manager, policy| manager.add(card, policy)) {
            eprintln!("rackloom-manager: {name} is left out: {why:#}");
        }
    }

    fn enter(
        &self,
        info: BoardInfo,
        asked: Option<(Arc<Consent>, bool)>,
        add: impl FnOnce(&Manager, Policy) -> anyhow::Result<usize>,
    ) -> anyhow::Result<()> {
        let mut state = self.lock();
        let number = add(&self.manager, self.policy)?;
        let Admission::Registry(allowlists) = &self.admission else { return Ok(()) };
        let (consent, is_exclusive) = asked.map_or((None, false), |(consent, alone)| (Some(consent), alone));
        let entry = Entry { info, allowlist: allowlists.of(number), consent, is_exclusive };
        match &mut state.membership {
            Some(membership) => membership.add(entry),
            None => state.early.push(entry),
        }
        Ok(())
    }

    /// From now on boards are registered, with those that are there.
    pub(crate) fn join(&self, mut membership: Membership) {
        let mut state = self.lock();
        state.early.drain(..).for_each(|entry| membership.add(entry));
        state.membership = Some(membership);
    }

    /// The boards' ids at the registry, in the order of their numbers; none without one.
    pub(crate) fn devices(&self) -> Vec<String> {
        self.lock().membership.as_ref().map(|membership| membership.devices.clone()).unwrap_or_default()
    }

    pub(crate) const fn manager(&self) -> &Manager {
        &self.manager
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
