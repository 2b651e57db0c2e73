//! The order of tasks on a board: pure state, no thread and no clock. Times are nanoseconds of the caller's clock.
//!
//! [`Policy::Fair`] is start-time fair queueing (Goyal, Vin, Cheng, 1996) with costs known afterwards: each
//! tenant has a tag, the virtual time at which its next task may begin. The smallest tag is next; a task moves its
//! tenant's tag on by the time it took, divided by the tenant's weight. A tenant that returns after a pause starts at
//! the present virtual time, so nobody saves up time, and nobody pays for having used a board that was free.
//!
//! Tenants of one account divide its share: while several of them have tasks, each is charged as if it had a part of
//! the weight. So nobody gets more of a board by connecting more often.
//!
//! A program that waits for each task before it enqueues the next has none queued when the board becomes free. If it is
//! expected back at once (its [`ThinkTime`]) and others have had more than their share, the board is kept free for it,
//! which counts as its time. Otherwise such programs would take turns with all others, whatever their weights.

use std::collections::{BTreeMap, VecDeque};

use crate::schedule::think_time::ThinkTime;

/// Identifies a tenant of a board.
pub type TenantId = u64;

/// A tenant's share of a board's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// At least 1. Tenants get board time in proportion to it.
    pub weight: u32,
    /// Tenants of the same account divide one share; `None`: the share is the tenant's own.
    pub account: Option<u64>,
}

impl Default for Share {
    fn default() -> Self {
        Self { weight: 1, account: None }
    }
}

/// The order of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Policy {
    /// First come, first served, as in the paper.
    Fifo,
    /// Each tenant gets board time in proportion to its weight, whatever its tasks' length.
    #[default]
    Fair,
}

/// What to do with a free board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<T> {
    /// Run this task. Call [`Scheduler::pay`] when it has ended.
    Run(TenantId, T),
    /// Keep it free for a tenant that is expected back: ask again when a task has come, and at this time.
    Hold(u64),
    /// Nothing: no task waits.
    Nothing,
}

/// The tasks that wait, and the tenants' tags.
#[derive(Debug)]
pub struct Scheduler<T> {
    policy: Policy,
    flows: BTreeMap<TenantId, Flow<T>>,
    /// The virtual time: the largest tag of a task taken so far, in nanoseconds of a tenant with weight 1.
    present: u64,
    arrivals: u64,
    waiting: usize,
    /// The tenant that the board is kept free for, and since when.
    held: Option<(TenantId, u64)>,
    /// How long it was kept free since [`Self::take_held_ns`], in nanoseconds.
    held_ns: u64,
}

#[derive(Debug)]
struct Flow<T> {
    tasks: VecDeque<(u64, T)>,
    tag: u64,
    share: Share,
    /// Tasks taken and not paid for.
    running: u32,
    think_time: ThinkTime,
}

impl<T> Flow<T> {
    /// Advances the tag by `cost_ns` of board time; `among` active tenants divide the account's share.
    fn charge(&mut self, cost_ns: u64, among: u64) {
        self.tag = self.tag.saturating_add(self.virtual_ns(cost_ns, among));
    }

    fn virtual_ns(&self, cost_ns: u64, among: u64) -> u64 {
        cost_ns.saturating_mul(among) / u64::from(self.share.weight)
    }

    fn has_work(&self) -> bool {
        self.running > 0 || !self.tasks.is_empty()
    }

    /// Whether it has tasks, or is expected back with one.
    fn is_active(&self, now: u64) -> bool {
        self.has_work() || self.think_time.expected_until(now).is_some()
    }
}

impl<T> Scheduler<T> {
    /// A scheduler without tasks.
    #[must_use]
    pub const fn new(policy: Policy) -> Self {
        Self { policy, flows: BTreeMap::new(), present: 0, arrivals: 0, waiting: 0, held: None, held_ns: 0 }
    }

    /// Number of tasks that wait.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.waiting
    }

    /// Whether no task waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Adds a task of a tenant.
    pub fn push(&mut self, now: u64, tenant: TenantId, share: Share, task: T) {
        assert!(share.weight > 0, "a tenant without weight would never run");
        let present = self.present;
        let flow = self.flows.entry(tenant).or_insert_with(|| Flow {
            tasks: VecDeque::new(),
            tag: present,
            share,
            running: 0,
            think_time: ThinkTime::default(),
        });
        flow.share = share;
        if !flow.has_work() {
            flow.tag = flow.tag.max(present);
            flow.think_time.task_arrives(now);
        }
        flow.tasks.push_back((self.arrivals, task));
        self.arrivals += 1;
        self.waiting += 1;
    }

    /// Queues the rest of a task that was taken and is not paid for: before the tenant's other tasks, and behind tasks
    /// of others that came meanwhile.
    pub fn put_back(&mut self, tenant: TenantId, rest: T) {
        let flow = self.flows.get_mut(&tenant).expect("a tenant whose task runs has a flow");
        flow.tasks.push_front((self.arrivals, rest));
        self.arrivals += 1;
        self.waiting += 1;
    }

    /// Takes the next task, unless the board is to be kept free for another one.
    pub fn pop(&mut self, now: u64) -> Next<T> {
        self.let_go(now);
        let Some((tag, tenant)) = self.first() else { return Next::Nothing };
        if let Some((expected, until)) = self.expected_before(tag, now) {
            self.held = Some((expected, now));
            return Next::Hold(until);
        }
        let flow = self.flows.get_mut(&tenant).expect("it is the first");
        let (_, task) = flow.tasks.pop_front().expect("it has a task");
        flow.running += 1;
        self.waiting -= 1;
        self.present = self.present.max(tag);
        Next::Run(tenant, task)
    }

    /// Takes the next task of a tenant whose task runs, if nobody else has one: it runs with that one, and is paid for
    /// with it.
    pub fn pop_more(&mut self, tenant: TenantId) -> Option<T> {
        let flow = self.flows.get_mut(&tenant)?;
        if flow.tasks.len() < self.waiting {
            return None;
        }
        let (_, task) = flow.tasks.pop_front()?;
        self.waiting -= 1;
        Some(task)
    }

    /// Whether [`Self::pop`] would take a task of this tenant.
    #[must_use]
    pub fn is_next(&self, tenant: TenantId, now: u64) -> bool {
        self.first().is_some_and(|(tag, first)| first == tenant && self.expected_before(tag, now).is_none())
    }

    /// Whether a tenant that holds the board likely returns with its next task sooner than the board could pass to
    /// another one. Always false under [`Policy::Fifo`].
    #[must_use]
    pub fn is_quick(&self, tenant: TenantId) -> bool {
        self.policy == Policy::Fair && self.flows.get(&tenant).is_some_and(|flow| flow.think_time.is_quick())
    }

    /// Tag and tenant of the next task; of equal tags, that of the one that came first.
    fn first(&self) -> Option<(u64, TenantId)> {
        let fair = self.policy == Policy::Fair;
        let first = self.flows.iter().filter_map(|(id, flow)| {
            let arrival = flow.tasks.front()?.0;
            Some((if fair { flow.tag } else { 0 }, arrival, *id))
        });
        first.min().map(|(tag, _, tenant)| (tag, tenant))
    }

    /// The tenant that is expected back and should go before a task of this tag, and until when to wait for it. It has
    /// to be behind by at least half a task: of two that are about even, the one that is there goes first.
    fn expected_before(&self, tag: u64, now: u64) -> Option<(TenantId, u64)> {
        if self.policy == Policy::Fifo {
            return None;
        }
        let expected = self.flows.iter().filter(|(_, flow)| !flow.has_work()).filter_map(|(id, flow)| {
            let until = flow.think_time.expected_until(now)?;
            let half = flow.virtual_ns(flow.think_time.task_ns() / 2, self.among(flow, now));
            let from = flow.tag.max(self.present);
            (from.saturating_add(half) < tag).then_some((from, *id, until))
        });
        expected.min().map(|(_, id, until)| (id, until))
    }

    /// Charges the tenant that the board was kept free for.
    fn let_go(&mut self, now: u64) {
        let Some((tenant, since)) = self.held.take() else { return };
        let held = now.saturating_sub(since);
        self.held_ns += held;
        let Some(flow) = self.flows.get(&tenant) else { return };
        let among = self.among(flow, now);
        self.flows.get_mut(&tenant).expect("seen above").charge(held, among);
    }

    /// How long the board was kept free for a tenant since the last call, in nanoseconds.
    pub const fn take_held_ns(&mut self) -> u64 {
        std::mem::replace(&mut self.held_ns, 0)
    }

    /// Number of tenants that divide the share of this one at present, including itself.
    fn among(&self, flow: &Flow<T>, now: u64) -> u64 {
        let Some(account) = flow.share.account else { return 1 };
        let others = self.flows.values().filter(|other| other.share.account == Some(account));
        (others.filter(|other| other.is_active(now)).count() as u64).max(1)
    }

    /// A task that was taken has ended, after `cost_ns` nanoseconds of board time.
    pub fn pay(&mut self, now: u64, tenant: TenantId, cost_ns: u64) {
        let Some(flow) = self.flows.get(&tenant) else { return };
        let among = self.among(flow, now);
        let flow = self.flows.get_mut(&tenant).expect("seen above");
        flow.running = flow.running.saturating_sub(1);
        flow.charge(cost_ns, among);
        flow.think_time.task_ends(now, cost_ns, !flow.has_work());
        // A tenant that owes nothing is equal to a new one, so it is forgotten: the table does not grow.
        let present = self.present;
        self.flows.retain(|_, flow| flow.has_work() || flow.tag > present || flow.think_time.is_fresh(now));
    }

    /// Removes all tasks of a tenant.
    pub fn remove(&mut self, tenant: TenantId) -> Vec<T> {
        let Some(flow) = self.flows.get_mut(&tenant) else { return Vec::new() };
        let tasks: Vec<T> = flow.tasks.drain(..).map(|(_, task)| task).collect();
        self.waiting -= tasks.len();
        flow.think_time.tenant_leaves();
        tasks
    }
}

#[cfg(test)]
mod tests;
