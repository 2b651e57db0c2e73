//! The registry's list of tenants for a board, and the clients admitted by it.

use std::sync::{Arc, Mutex, RwLock, Weak};

use rackloom_ipc::Token;
use rackloom_registry_client::Tenant;
use rackloom_sync::{lock, read, write};

use super::grant::{Disconnect, Grant, find, parse_token};
use crate::quota::Quota;
use crate::schedule::scheduler::Share;

/// The allowlist of a board. Until the registry sends the first list, nobody may use the board.
#[derive(Debug)]
pub struct Allowlist {
    /// Most bytes of buffers for each client; caps what the registry grants.
    memory: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    grants: Vec<(Token, Grant)>,
    /// The number of the newest account.
    accounts: u64,
    clients: Vec<(Token, Weak<dyn Disconnect>)>,
}

/// Leaves the tokens out.
impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("clients", &self.clients.len()).finish_non_exhaustive()
    }
}

/// The allowlists of a manager's boards.
#[derive(Debug)]
pub struct Allowlists {
    memory: u64,
    allowlists: RwLock<Vec<Arc<Allowlist>>>,
}

impl Allowlists {
    /// `memory`: most bytes of buffers for each client; caps what the registry grants.
    pub(crate) const fn new(memory: u64) -> Self {
        Self { memory, allowlists: RwLock::new(Vec::new()) }
    }

    /// The allowlist of the board with this number.
    pub(crate) fn of(&self, board: usize) -> Arc<Allowlist> {
        if let Some(allowlist) = self.all().get(board) {
            return Arc::clone(allowlist);
        }
        let mut allowlists = write(&self.allowlists);
        while allowlists.len() <= board {
            allowlists.push(Arc::new(Allowlist::new(self.memory)));
        }
        Arc::clone(&allowlists[board])
    }

    pub(crate) fn all(&self) -> Vec<Arc<Allowlist>> {
        read(&self.allowlists).clone()
    }
}

impl Allowlist {
    /// An empty list.
    pub(crate) fn new(memory: u64) -> Self {
        Self { memory, state: Mutex::default() }
    }

    /// Replaces the list. Clients that are no longer on it are disconnected.
    pub(crate) fn renew(&self, tenants: &[Tenant]) {
        let mut state = lock(&self.state);
        let before = std::mem::take(&mut state.grants);
        for tenant in tenants {
            let Some(token) = parse_token(&tenant.token) else {
                eprintln!(
                    "rackloom-manager: the registry sent a malformed token for {}: it is not admitted",
                    tenant.instance
                );
                continue;
            };
            let known = before.iter().find(|(known, _)| *known == token).map(|(_, grant)| grant);
            // A token keeps its account and what it has taken of its quota.
            let account = known.and_then(|grant| grant.share.account).unwrap_or_else(|| {
                state.accounts += 1;
                state.accounts
            });
            let share = Share { weight: tenant.weight.max(1), account: Some(account) };
            let memory = (tenant.memory_bytes > 0).then(|| {
                let most = tenant.memory_bytes.min(self.memory);
                let known = known.and_then(|grant| grant.memory.clone()).filter(|quota| quota.limit() == most);
                known.unwrap_or_else(|| Quota::new(most))
            });
            state.grants.push((token, Grant { name: Some(tenant.instance.clone()), share, memory, kernel: None }));
        }
        let State { grants, clients, .. } = &mut *state;
        let mut leaving = Vec::new();
        clients.retain(|(token, client)| {
            let Some(client) = client.upgrade() else { return false };
            let stays = find(grants, token).is_some();
            if !stays {
                leaving.push(client);
            }
            stays
        });
        drop(state);
        leaving.iter().for_each(|client| client.disconnect("the registry has taken the board back"));
    }

    /// The grant of a token.
    pub(crate) fn find(&self, shown: &Token) -> Option<Grant> {
        find(&lock(&self.state).grants, shown).cloned()
    }

    /// Enters a client and returns its grant. From now on the client is disconnected when the grant ends.
    pub(crate) fn enter(&self, shown: &Token, client: Weak<dyn Disconnect>) -> Option<Grant> {
        let mut state = lock(&self.state);
        let grant = find(&state.grants, shown)?.clone();
        state.clients.retain(|(_, client)| client.strong_count() > 0);
        state.clients.push((*shown, client));
        Some(grant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(instance: &str, token: &str, weight: u32, memory_bytes: u64) -> Tenant {
        let (instance, token) = (instance.to_owned(), token.repeat(32));
        Tenant { instance, token, weight, memory_bytes, ..Tenant::default() }
    }

    #[test]
    fn the_newest_list_counts_and_a_token_keeps_what_it_has() {
        let allowlist = Allowlist::new(1000);
        let (one, two) = ([0x11; 32], [0x22; 32]);
        assert!(allowlist.find(&one).is_none(), "nobody before the first list");
        allowlist.renew(&[tenant("a", "11", 3, 600), tenant("b", "22", 0, 5000), tenant("c", "no", 1, 0)]);
        let first = allowlist.find(&one).unwrap();
        assert_eq!((first.name.as_deref(), first.share.weight), (Some("a"), 3));
        let most = |token| allowlist.find(token).unwrap().memory.map(|quota| quota.limit());
        assert_eq!((most(&one), most(&two)), (Some(600), Some(1000)), "never more than the manager grants");
        assert_eq!(allowlist.find(&two).unwrap().share.weight, 1);
        let charge = first.memory.unwrap().take(500).unwrap();
        allowlist.renew(&[tenant("a", "11", 5, 600)]);
        let again = allowlist.find(&one).unwrap();
        assert!(allowlist.find(&two).is_none());
        assert_eq!((again.share.weight, again.share.account), (5, first.share.account));
        assert!(again.memory.unwrap().take(101).is_none(), "one instance has one quota");
        drop(charge);
        allowlist.renew(&[tenant("a", "11", 5, 0)]);
        assert!(allowlist.find(&one).unwrap().memory.is_none());
        allowlist.renew(&[]);
        assert!(allowlist.find(&one).is_none());
    }
}
