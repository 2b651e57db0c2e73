//! The registry's list of tenants for a board, and the clients admitted by it.
//!
//! A tenant that has the board for itself has it from when everybody else is gone: who was dismissed may still have a
//! process, with its memory on the board. So a client stays known here until nothing of it is left.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, RwLock, Weak};
use std::time::{Duration, Instant};

use rackloom_ipc::Token;
use rackloom_registry_client::Tenant;
use rackloom_sync::{lock, read, write};

use super::grant::{Denied, Disconnect, Grant, find, parse_token};
use crate::quota::{TenantLimits, TenantQuotas};
use crate::schedule::scheduler::Share;

/// The allowlist of a board. Until the registry sends the first list, nobody may use the board.
#[derive(Debug)]
pub struct Allowlist {
    /// Most of each tenant; caps what the registry grants.
    limits: TenantLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    grants: Vec<(Token, Grant)>,
    /// The accounts of those who have the board for themselves.
    alone: BTreeSet<u64>,
    /// The number of the newest account.
    accounts: u64,
    clients: Vec<Admitted>,
}

/// A client on the board.
struct Admitted {
    token: Token,
    account: Option<u64>,
    is_exclusive: bool,
    is_dismissed: bool,
    /// Gone when nothing of the client is left.
    client: Weak<dyn Disconnect>,
}

/// How long a client waits for others to be gone from a board that one of them has for itself: a dismissed one has a
/// second to go by itself, and its process is ended then.
const HANDOVER: Duration = Duration::from_secs(5);

/// How often it looks. The end of a client is not told.
const LOOK: Duration = Duration::from_millis(5);

/// Leaves the tokens out.
impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("clients", &self.clients.len()).finish_non_exhaustive()
    }
}

/// The allowlists of a manager's boards.
#[derive(Debug)]
pub struct Allowlists {
    limits: TenantLimits,
    allowlists: RwLock<Vec<Arc<Allowlist>>>,
}

impl Allowlists {
    /// `limits`: most of each tenant; caps what the registry grants.
    pub(crate) const fn new(limits: TenantLimits) -> Self {
        Self { limits, allowlists: RwLock::new(Vec::new()) }
    }

    /// The allowlist of the board with this number.
    pub(crate) fn of(&self, board: usize) -> Arc<Allowlist> {
        if let Some(allowlist) = self.all().get(board) {
            return Arc::clone(allowlist);
        }
        let mut allowlists = write(&self.allowlists);
        while allowlists.len() <= board {
            allowlists.push(Arc::new(Allowlist::new(self.limits)));
        }
        Arc::clone(&allowlists[board])
    }

    pub(crate) fn all(&self) -> Vec<Arc<Allowlist>> {
        read(&self.allowlists).clone()
    }
}

impl Allowlist {
    /// An empty list.
    pub(crate) fn new(limits: TenantLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Replaces the list. Clients that are no longer on it are disconnected.
    pub(crate) fn renew(&self, tenants: &[Tenant]) {
        let mut state = lock(&self.state);
        let before = std::mem::take(&mut state.grants);
        state.alone.clear();
        for tenant in tenants {
            let Some(token) = parse_token(&tenant.token) else {
                eprintln!(
                    "rackloom-manager: the registry sent a malformed token for {}: it is not admitted",
                    tenant.instance
                );
                continue;
            };
            let known = before.iter().find(|(known, _)| *known == token).map(|(_, grant)| grant);
            // A token keeps its account and what it has taken of its quotas.
            let account = known.and_then(|grant| grant.share.account).unwrap_or_else(|| {
                state.accounts += 1;
                state.accounts
            });
            let share = Share { weight: tenant.weight.max(1), account: Some(account) };
            let memory = match tenant.memory_bytes {
                0 => self.limits.memory,
                granted => granted.min(self.limits.memory),
            };
            let quotas = match known {
                Some(known) => known.quotas.with_memory(memory),
                None => TenantQuotas::new(TenantLimits { memory, ..self.limits }),
            };
            if tenant.exclusive {
                state.alone.insert(account);
            }
            let kernel = (tenant.longest_kernel_ms > 0).then(|| Duration::from_millis(tenant.longest_kernel_ms.into()));
            state.grants.push((token, Grant { name: Some(tenant.instance.clone()), share, quotas, kernel }));
        }
        let State { grants, clients, .. } = &mut *state;
        let mut leaving = Vec::new();
        for admitted in clients.iter_mut().filter(|admitted| !admitted.is_dismissed) {
            if find(grants, &admitted.token).is_none() {
                admitted.is_dismissed = true;
                leaving.extend(admitted.client.upgrade());
            }
        }
        drop(state);
        leaving.iter().for_each(|client| client.disconnect("the registry has taken the board back"));
    }

    /// The grant of a token.
    pub(crate) fn find(&self, shown: &Token) -> Option<Grant> {
        find(&lock(&self.state).grants, shown).cloned()
    }

    /// Enters a client and returns its grant, or why it has none. From now on the client is disconnected when the grant
    /// ends. Waits for a while if somebody has the board for itself, or is to have it and others are there.
    pub(crate) fn enter(&self, shown: &Token, client: Weak<dyn Disconnect>) -> Result<Grant, Denied> {
        let until = Instant::now() + HANDOVER;
        loop {
            let mut state = lock(&self.state);
            let grant = find(&state.grants, shown).ok_or(Denied::NotAdmitted)?.clone();
            state.clients.retain(|admitted| admitted.client.strong_count() > 0);
            let account = grant.share.account;
            let is_exclusive = account.is_some_and(|account| state.alone.contains(&account));
            let bars = |other: &Admitted| other.account != account && (is_exclusive || other.is_exclusive);
            if !state.clients.iter().any(bars) {
                state.clients.push(Admitted { token: *shown, account, is_exclusive, is_dismissed: false, client });
                return Ok(grant);
            }
            drop(state);
            if Instant::now() >= until {
                let (name, seconds) = (grant.name.unwrap_or_default(), HANDOVER.as_secs());
                eprintln!(
                    "rackloom-manager: {name} is refused: others were on its board for {seconds} s, and one of \
                           them has it for itself"
                );
                return Err(if is_exclusive { Denied::NotEmpty } else { Denied::AnothersAlone });
            }
            std::thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{Account, Accounts, Charge, Purse as _, Quota};

    const LIMITS: TenantLimits = TenantLimits { memory: 1000, programs: 1000, objects: 10, registered: 0 };

    /// The bytes of buffers that this grants are taken.
    fn takes(grant: &Grant, bytes: u64) -> Option<Charge> {
        let accounts =
            Accounts { tenant: Arc::clone(&grant.quotas), host: Quota::new(0), registered: Default::default() };
        accounts.pay(&[(Account::Memory, bytes)])
    }

    /// A client that remembers why it was dismissed.
    #[derive(Default)]
    struct Told(Mutex<Option<String>>);

    impl Disconnect for Told {
        fn disconnect(&self, reason: &str) {
            let before = lock(&self.0).replace(reason.to_owned());
            assert_eq!(before, None, "it was disconnected already");
        }
    }

    fn enter(allowlist: &Allowlist, token: u8) -> Result<Arc<Told>, Denied> {
        let client = Arc::new(Told::default());
        let weak = Arc::downgrade(&(Arc::clone(&client) as Arc<dyn Disconnect>));
        allowlist.enter(&[token; 32], weak).map(|_| client)
    }

    fn alone(instance: &str, token: &str) -> Tenant {
        Tenant { exclusive: true, ..tenant(instance, token, 1, 0) }
    }

    #[test]
    fn who_has_a_board_for_itself_has_it_when_the_last_one_is_gone() {
        let allowlist = Allowlist::new(LIMITS);
        allowlist.renew(&[tenant("a", "11", 1, 0), tenant("b", "22", 1, 0)]);
        let (a, b) = (enter(&allowlist, 0x11).unwrap(), enter(&allowlist, 0x22).unwrap());
        // The board changes hands: both are dismissed, and one goes later than the other.
        allowlist.renew(&[alone("x", "33")]);
        allowlist.renew(&[alone("x", "33")]); // Nobody is dismissed twice.
        assert!(lock(&a.0).is_some() && lock(&b.0).is_some());
        let start = Instant::now();
        let x = std::thread::scope(|scope| {
            let entering = scope.spawn(|| enter(&allowlist, 0x33));
            std::thread::sleep(Duration::from_millis(100));
            drop(a);
            std::thread::sleep(Duration::from_millis(100));
            assert!(!entering.is_finished(), "another is still on the board");
            drop(b);
            entering.join().unwrap()
        });
        let x = x.expect("it is admitted once the others are gone");
        assert!(start.elapsed() < HANDOVER, "{:?}", start.elapsed());
        // It may come with two programs, but with nobody else, even if the registry says so.
        let again = enter(&allowlist, 0x33).unwrap();
        allowlist.renew(&[alone("x", "33"), tenant("a", "11", 1, 0)]);
        assert_eq!(enter(&allowlist, 0x11).err(), Some(Denied::AnothersAlone));
        assert_eq!(enter(&allowlist, 0x44).err(), Some(Denied::NotAdmitted));
        assert!(lock(&x.0).is_none());
        drop((x, again));
        let a = enter(&allowlist, 0x11).expect("the board is free");
        assert_eq!(enter(&allowlist, 0x33).err(), Some(Denied::NotEmpty));
        drop(a);
    }

    fn tenant(instance: &str, token: &str, weight: u32, memory_bytes: u64) -> Tenant {
        let (instance, token) = (instance.to_owned(), token.repeat(32));
        Tenant { instance, token, weight, memory_bytes, ..Tenant::default() }
    }

    #[test]
    fn the_newest_list_counts_and_a_token_keeps_what_it_has() {
        let allowlist = Allowlist::new(LIMITS);
        let (one, two) = ([0x11; 32], [0x22; 32]);
        assert!(allowlist.find(&one).is_none(), "nobody before the first list");
        allowlist.renew(&[tenant("a", "11", 3, 600), tenant("b", "22", 0, 5000), tenant("c", "no", 1, 0)]);
        let first = allowlist.find(&one).unwrap();
        assert_eq!((first.name.as_deref(), first.share.weight), (Some("a"), 3));
        let most = |token| allowlist.find(token).unwrap().quotas.memory();
        assert_eq!((most(&one), most(&two)), (600, 1000), "never more than the manager grants");
        assert_eq!(allowlist.find(&two).unwrap().share.weight, 1);
        let charge = takes(&first, 500).unwrap();
        allowlist.renew(&[tenant("a", "11", 5, 600)]);
        let again = allowlist.find(&one).unwrap();
        assert!(allowlist.find(&two).is_none());
        assert_eq!((again.share.weight, again.share.account), (5, first.share.account));
        assert_eq!(again.kernel, None, "the manager says how long");
        assert!(takes(&again, 101).is_none(), "one instance has one quota");
        drop(charge);
        allowlist.renew(&[tenant("a", "11", 5, 0)]);
        assert_eq!(most(&one), 1000, "the registry sets no bound");
        allowlist.renew(&[Tenant { longest_kernel_ms: 300, ..tenant("a", "11", 5, 0) }]);
        assert_eq!(allowlist.find(&one).unwrap().kernel, Some(Duration::from_millis(300)));
        allowlist.renew(&[]);
        assert!(allowlist.find(&one).is_none());
    }
}
