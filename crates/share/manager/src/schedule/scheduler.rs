//! Which task runs next on a board: pure state, no thread and no clock. Times are nanoseconds of the caller's.
//!
//! [`Policy::Fair`] is start-time fair queueing (Goyal, Vin, Cheng, 1996) with costs that are known afterwards: each
//! tenant has a tag, the virtual time at which its next task may begin. The smallest tag is next; a task moves its
//! tenant's tag on by the time it took, divided by the tenant's weight. Who comes back after a pause begins at the
//! present, so nobody saves up time, and nobody pays for having used a board that was free.
//!
//! Tenants of one account divide its share: while several of them have tasks, each pays as if it was of a part of the
//! weight. So nobody gets more of a board by connecting more often.
//!
//! A program that waits for each task before it enqueues the next has none when the board comes free. If it is expected
//! back at once (its [`ThinkTime`]) and others have had more than their share, the board is kept free for it, which counts
//! as its time. Else such programs would take turns with all others, whatever their weights.

use std::collections::{BTreeMap, VecDeque};

use crate::schedule::think_time::ThinkTime;

/// Who a task is of.
pub type TenantId = u64;

/// What a tenant is granted of a board's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// At least 1; a tenant gets board time in proportion to it.
    pub weight: u32,
    /// With whom it divides that: tenants of the same number. None for nobody.
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
    /// As they come, as in the paper.
    Fifo,
    /// Each tenant gets board time in proportion to its weight, whatever its tasks' length.
    #[default]
    Fair,
}

/// What a board that is free is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<T> {
    /// This task. [`Scheduler::pay`] is to be called when it has ended.
    Run(TenantId, T),
    /// Somebody who is expected: to be asked again when a task has come, and at this time.
    Hold(u64),
    /// Nothing waits.
    Nothing,
}

/// Tasks that wait.
#[derive(Debug)]
pub struct Scheduler<T> {
    policy: Policy,
    flows: BTreeMap<TenantId, Flow<T>>,
    /// Tag of the task that was taken last, in nanoseconds of a tenant with weight 1.
    present: u64,
    arrivals: u64,
    waiting: usize,
    /// For whom the board is kept free, and since when.
    held: Option<(TenantId, u64)>,
    /// How long it was, in nanoseconds, beyond what was told.
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
    /// Moves the tag on by so many nanoseconds of the board, of which tenants of its account are charged alike.
    fn charge(&mut self, cost_ns: u64, among: u64) {
        self.tag = self.tag.saturating_add(self.virtual_ns(cost_ns, among));
    }

    fn virtual_ns(&self, cost_ns: u64, among: u64) -> u64 {
        cost_ns.saturating_mul(among) / u64::from(self.share.weight)
    }

    fn has_work(&self) -> bool {
        self.running > 0 || !self.tasks.is_empty()
    }

    /// Whether it has work, or is expected back with some.
    fn is_active(&self, now: u64) -> bool {
        self.has_work() || self.think_time.expected_until(now).is_some()
    }
}

impl<T> Scheduler<T> {
    /// Without tasks.
    #[must_use]
    pub const fn new(policy: Policy) -> Self {
        Self { policy, flows: BTreeMap::new(), present: 0, arrivals: 0, waiting: 0, held: None, held_ns: 0 }
    }

    /// Tasks that wait.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.waiting
    }

    /// Whether none waits.
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

    /// Puts in what is left of a task that was taken and is not paid for: before the tenant's other tasks, and behind
    /// all that came meanwhile.
    pub fn put_back(&mut self, tenant: TenantId, rest: T) {
        let flow = self.flows.get_mut(&tenant).expect("a tenant whose task runs has a flow");
        flow.tasks.push_front((self.arrivals, rest));
        self.arrivals += 1;
        self.waiting += 1;
    }

    /// Takes the next task, if the board is not to be kept free for another one.
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

    /// Whether [`Self::pop`] would give a task of this tenant.
    #[must_use]
    pub fn is_next(&self, tenant: TenantId, now: u64) -> bool {
        self.first().is_some_and(|(tag, first)| first == tenant && self.expected_before(tag, now).is_none())
    }

    /// Whether a tenant that has the board is likely back with its next task sooner than another could have it. Nobody
    /// is where tasks run as they come.
    #[must_use]
    pub fn is_quick(&self, tenant: TenantId) -> bool {
        self.policy == Policy::Fair && self.flows.get(&tenant).is_some_and(|flow| flow.think_time.is_quick())
    }

    /// Of the tasks that wait the one whose turn it is; of equal tags the one that came first.
    fn first(&self) -> Option<(u64, TenantId)> {
        let fair = self.policy == Policy::Fair;
        let first = self.flows.iter().filter_map(|(id, flow)| {
            let arrival = flow.tasks.front()?.0;
            Some((if fair { flow.tag } else { 0 }, arrival, *id))
        });
        first.min().map(|(tag, _, tenant)| (tag, tenant))
    }

    /// Who is expected back and should go before a task of this tag, and until when to wait. It has to be behind by
    /// half a task at least: between two who are about even, whoever is there goes first.
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

    /// Charges whom the board was kept free for.
    fn let_go(&mut self, now: u64) {
        let Some((tenant, since)) = self.held.take() else { return };
        let held = now.saturating_sub(since);
        self.held_ns += held;
        let Some(flow) = self.flows.get(&tenant) else { return };
        let among = self.among(flow, now);
        self.flows.get_mut(&tenant).expect("seen above").charge(held, among);
    }

    /// How long the board was kept free for somebody, in nanoseconds, since this was asked last.
    pub const fn take_held_ns(&mut self) -> u64 {
        std::mem::replace(&mut self.held_ns, 0)
    }

    /// Tenants that divide the share of this one at present, itself among them.
    fn among(&self, flow: &Flow<T>, now: u64) -> u64 {
        let Some(account) = flow.share.account else { return 1 };
        let others = self.flows.values().filter(|other| other.share.account == Some(account));
        (others.filter(|other| other.is_active(now)).count() as u64).max(1)
    }

    /// A task that was taken has ended, and took so many nanoseconds of the board.
    pub fn pay(&mut self, now: u64, tenant: TenantId, cost_ns: u64) {
        let Some(flow) = self.flows.get(&tenant) else { return };
        let among = self.among(flow, now);
        let flow = self.flows.get_mut(&tenant).expect("seen above");
        flow.running = flow.running.saturating_sub(1);
        flow.charge(cost_ns, among);
        flow.think_time.task_ends(now, cost_ns, !flow.has_work());
        // A tenant that owes nothing is soon as good as one that never was; so the table does not grow.
        let present = self.present;
        self.flows.retain(|_, flow| flow.has_work() || flow.tag > present || flow.think_time.is_fresh(now));
    }

    /// Takes out all tasks of a tenant.
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
