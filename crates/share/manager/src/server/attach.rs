//! Attachment of boards, at the start and later: boards are shared, and registered if there is a registry.

use std::sync::{Arc, Mutex};

use rackloom_opencl_wire::BoardInfo;
use rackloom_sync::lock;

use super::manager::Manager;
use crate::access::admission::Admission;
use crate::board::Board;
use crate::card::{CardBoard, Consent, Sharing};
use crate::isolate::IsolatedBoard;
use crate::registry::{Entry, Membership};
use crate::schedule::scheduler::Policy;

/// Attaches boards to a manager and its registry.
#[derive(Debug)]
pub(crate) struct Attacher {
    policy: Policy,
    admission: Admission,
    // Dropped first: boards are unregistered before they go.
    state: Mutex<State>,
    manager: Manager,
}

#[derive(Debug, Default)]
struct State {
    /// Boards that came before the endpoints were known and could be registered.
    early: Vec<Entry>,
    membership: Option<Membership>,
}

impl Attacher {
    pub(crate) fn new(manager: Manager, policy: Policy, admission: Admission) -> Self {
        Self { policy, admission, state: Mutex::default(), manager }
    }

    /// Attaches a board.
    ///
    /// # Errors
    /// Its thread cannot start.
    pub(crate) fn add<B: Board>(&self, board: B) -> anyhow::Result<()> {
        let info = board.info().clone();
        self.attach(info, None, |manager, policy| manager.add(board, policy))
    }

    /// Attaches a board whose clients have processes of their own.
    ///
    /// # Errors
    /// Its thread cannot start.
    pub(crate) fn add_isolated(&self, board: IsolatedBoard) -> anyhow::Result<()> {
        let info = board.info().clone();
        self.attach(info, None, |manager, policy| manager.add_isolated(board, policy))
    }

    /// Attaches a card. A card whose thread cannot start is skipped with a warning.
    pub(crate) fn add_card(&self, card: CardBoard) {
        let (name, consent) = (card.name().to_owned(), card.consent());
        let asked = Some((consent, card.sharing()));
        let info = card.info().clone();
        if let Err(why) = self.attach(info, asked, |manager, policy| manager.add(card, policy)) {
            eprintln!("rackloom-manager: skipped {name}: {why:#}");
        }
    }

    fn attach(
        &self,
        info: BoardInfo,
        asked: Option<(Arc<Consent>, Sharing)>,
        add: impl FnOnce(&Manager, Policy) -> anyhow::Result<usize>,
    ) -> anyhow::Result<()> {
        let mut state = lock(&self.state);
        let number = add(&self.manager, self.policy)?;
        let Admission::Registry(allowlists) = &self.admission else { return Ok(()) };
        let (consent, sharing) = asked.map_or((None, Sharing::Shared), |(consent, sharing)| (Some(consent), sharing));
        let entry = Entry { info, allowlist: allowlists.of(number), consent, sharing };
        match &mut state.membership {
            Some(membership) => membership.add(entry),
            None => state.early.push(entry),
        }
        Ok(())
    }

    /// Registers the boards that were attached, and from now on those that follow.
    pub(crate) fn join_registry(&self, mut membership: Membership) {
        let mut state = lock(&self.state);
        state.early.drain(..).for_each(|entry| membership.add(entry));
        state.membership = Some(membership);
    }

    /// The boards' ids at the registry, in the order of their numbers; empty without a registry.
    pub(crate) fn devices(&self) -> Vec<String> {
        lock(&self.state).membership.as_ref().map(|membership| membership.devices.clone()).unwrap_or_default()
    }

    pub(crate) const fn manager(&self) -> &Manager {
        &self.manager
    }
}
