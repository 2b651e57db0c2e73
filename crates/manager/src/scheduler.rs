//! Which task runs next on a board: pure state, no thread and no clock.
//!
//! [`Policy::Fair`] is start-time fair queueing (Goyal, Vin, Cheng, 1996) with costs that are known afterwards: each
//! tenant has a tag, the virtual time at which its next task may begin. The smallest tag is next; a task moves its
//! tenant's tag on by the time it took, divided by the tenant's weight. Who comes back after a pause begins at the
//! present, so nobody saves up time, and nobody pays for having used a board that was free.
//!
//! Tenants of one account divide its share: while several of them have tasks, each pays as if it was of a part of the
//! weight. So nobody gets more of a board by connecting more often.

use std::collections::{BTreeMap, VecDeque};

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

/// Tasks that wait.
#[derive(Debug)]
pub struct Scheduler<T> {
    policy: Policy,
    flows: BTreeMap<TenantId, Flow<T>>,
    /// Tag of the task that was taken last, in nanoseconds of a tenant with weight 1.
    present: u64,
    arrivals: u64,
    waiting: usize,
}

#[derive(Debug)]
struct Flow<T> {
    tasks: VecDeque<(u64, T)>,
    tag: u64,
    share: Share,
    /// Tasks taken and not paid for.
    running: u32,
}

impl<T> Scheduler<T> {
    /// Without tasks.
    #[must_use]
    pub const fn new(policy: Policy) -> Self {
        Self { policy, flows: BTreeMap::new(), present: 0, arrivals: 0, waiting: 0 }
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
    pub fn push(&mut self, tenant: TenantId, share: Share, task: T) {
        assert!(share.weight > 0, "a tenant without weight would never run");
        let present = self.present;
        let flow = self.flows.entry(tenant).or_insert_with(|| Flow {
            tasks: VecDeque::new(),
            tag: present,
            share,
            running: 0,
        });
        flow.share = share;
        if flow.tasks.is_empty() && flow.running == 0 {
            flow.tag = flow.tag.max(present);
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

    /// Takes the next task. [`Self::pay`] is to be called when it has ended.
    pub fn pop(&mut self) -> Option<(TenantId, T)> {
        let fair = self.policy == Policy::Fair;
        // Of equal tags the one that came first.
        let next = self.flows.iter().filter_map(|(id, flow)| {
            let arrival = flow.tasks.front()?.0;
            Some((if fair { flow.tag } else { 0 }, arrival, *id))
        });
        let (tag, _, tenant) = next.min()?;
        let flow = self.flows.get_mut(&tenant)?;
        let (_, task) = flow.tasks.pop_front()?;
        flow.running += 1;
        self.waiting -= 1;
        self.present = self.present.max(tag);
        Some((tenant, task))
    }

    /// A task that was taken has ended, and took so many nanoseconds of the board.
    pub fn pay(&mut self, tenant: TenantId, cost_ns: u64) {
        let Some(share) = self.flows.get(&tenant).map(|flow| flow.share) else { return };
        let among = share.account.map_or(1, |account| {
            let active = |flow: &&Flow<T>| flow.running > 0 || !flow.tasks.is_empty();
            self.flows.values().filter(|flow| flow.share.account == Some(account)).filter(active).count() as u64
        });
        let flow = self.flows.get_mut(&tenant).expect("seen above");
        flow.running = flow.running.saturating_sub(1);
        flow.tag = flow.tag.saturating_add(cost_ns.saturating_mul(among.max(1)) / u64::from(share.weight));
        // A tenant that owes nothing is as good as one that never was; so the table does not grow.
        let present = self.present;
        self.flows.retain(|_, flow| !flow.tasks.is_empty() || flow.running > 0 || flow.tag > present);
    }

    /// Takes out all tasks of a tenant.
    pub fn remove(&mut self, tenant: TenantId) -> Vec<T> {
        let Some(flow) = self.flows.get_mut(&tenant) else { return Vec::new() };
        let tasks: Vec<T> = flow.tasks.drain(..).map(|(_, task)| task).collect();
        self.waiting -= tasks.len();
        tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: Share = Share { weight: 1, account: None };

    const fn weight(weight: u32) -> Share {
        Share { weight, account: None }
    }

    /// Runs tenants that always have a task of a fixed cost; board time of each.
    fn contend(policy: Policy, tenants: &[(Share, u64)], total_ns: u64) -> Vec<u64> {
        let mut scheduler = Scheduler::new(policy);
        for (id, (share, cost)) in tenants.iter().enumerate() {
            scheduler.push(id as u64, *share, *cost);
        }
        let mut had = vec![0; tenants.len()];
        while had.iter().sum::<u64>() < total_ns {
            let (id, cost) = scheduler.pop().unwrap();
            had[id as usize] += cost;
            scheduler.push(id, tenants[id as usize].0, cost);
            scheduler.pay(id, cost);
        }
        had
    }

    #[test]
    fn fair_shares_follow_weights_not_task_lengths() {
        let had = contend(Policy::Fair, &[(ONE, 1_000), (ONE, 50_000), (weight(2), 7_000)], 100_000_000);
        let share = |i: usize| had[i] as f64 / 100e6;
        assert!((share(0) - 0.25).abs() < 0.01 && (share(1) - 0.25).abs() < 0.01, "{had:?}");
        assert!((share(2) - 0.5).abs() < 0.01, "{had:?}");
    }

    #[test]
    fn tenants_of_an_account_divide_its_share() {
        let of = |weight, account| (Share { weight, account: Some(account) }, 1_000);
        let had = contend(Policy::Fair, &[of(2, 7), of(2, 7), of(2, 7), of(1, 8)], 90_000_000);
        assert!(had[..3].iter().all(|had| had.abs_diff(20_000_000) < 1_000_000), "{had:?}");
        assert!(had[3].abs_diff(30_000_000) < 1_000_000, "{had:?}");
        // Those who rest take nothing from it.
        let mut scheduler = Scheduler::new(Policy::Fair);
        let (share, _) = of(2, 7);
        scheduler.push(3, share, ());
        let (resting, ()) = scheduler.pop().unwrap();
        scheduler.pay(resting, 1);
        let mut had = [0u64; 2];
        scheduler.push(1, share, ());
        scheduler.push(2, ONE, ());
        for _ in 0..300 {
            let (id, ()) = scheduler.pop().unwrap();
            had[id as usize - 1] += 1;
            scheduler.push(id, if id == 1 { share } else { ONE }, ());
            scheduler.pay(id, 1_000);
        }
        assert!(had[0].abs_diff(200) <= 3, "{had:?}");
    }

    #[test]
    fn what_is_left_of_a_task_comes_before_its_tenants_others() {
        for policy in [Policy::Fair, Policy::Fifo] {
            let mut scheduler = Scheduler::new(policy);
            scheduler.push(1, ONE, "a");
            scheduler.push(1, ONE, "b");
            assert_eq!(scheduler.pop(), Some((1, "a")));
            scheduler.push(2, ONE, "c");
            scheduler.put_back(1, "rest of a");
            scheduler.pay(1, 10);
            let order: Vec<_> = std::iter::from_fn(|| scheduler.pop()).map(|(_, task)| task).collect();
            assert_eq!(order, ["c", "rest of a", "b"], "{policy:?}");
        }
    }

    #[test]
    fn fifo_gives_the_board_to_who_asks_for_most() {
        let had = contend(Policy::Fifo, &[(ONE, 1_000), (ONE, 50_000)], 10_000_000);
        assert!(had[1] > 40 * had[0], "{had:?}");
    }

    #[test]
    fn a_light_tenant_waits_for_one_task_at_most() {
        let mut scheduler = Scheduler::new(Policy::Fair);
        (0..100).for_each(|i| scheduler.push(7, ONE, i));
        for _ in 0..50 {
            let (id, _) = scheduler.pop().unwrap();
            scheduler.pay(id, 1_000_000);
        }
        let (greedy, _) = scheduler.pop().unwrap();
        scheduler.push(8, ONE, 1000);
        scheduler.pay(greedy, 1_000_000);
        assert_eq!(scheduler.pop(), Some((8, 1000)));
    }

    #[test]
    fn a_pause_saves_nothing_up() {
        let mut scheduler = Scheduler::new(Policy::Fair);
        for round in 0..1000u64 {
            scheduler.push(1, ONE, round);
            let (id, _) = scheduler.pop().unwrap();
            scheduler.pay(id, 1_000);
        }
        // Both come now; the newcomer is not ahead by what the other had while it was alone.
        let mut had = [0u64; 2];
        scheduler.push(1, ONE, 0);
        scheduler.push(2, ONE, 0);
        for _ in 0..100 {
            let (id, _) = scheduler.pop().unwrap();
            had[id as usize - 1] += 1;
            scheduler.push(id, ONE, 0);
            scheduler.pay(id, 1_000);
        }
        assert!(had[0].abs_diff(had[1]) <= 2, "{had:?}");
    }

    proptest! {
        #[test]
        fn each_task_is_taken_once_and_in_its_tenants_order(
            acts in prop::collection::vec((0..4u64, 1..4u32, 0..3u8, 0..10_000u64), 1..300),
            fair in any::<bool>(),
        ) {
            let policy = if fair { Policy::Fair } else { Policy::Fifo };
            let (mut scheduler, mut pushed, mut got) = (Scheduler::new(policy), 0u64, Vec::new());
            for (tenant, weight, act, cost) in acts {
                if act == 0 {
                    // Some of them divide a share.
                    let account = (tenant > 1).then_some(9);
                    scheduler.push(tenant, Share { weight, account }, (tenant, pushed));
                    pushed += 1;
                } else if let Some((id, task)) = scheduler.pop() {
                    prop_assert_eq!(id, task.0);
                    if act == 1 {
                        got.push(task);
                    } else {
                        scheduler.put_back(id, task);
                    }
                    scheduler.pay(id, cost);
                }
                prop_assert_eq!(scheduler.len() as u64, pushed - got.len() as u64);
            }
            while let Some((id, task)) = scheduler.pop() {
                got.push(task);
                scheduler.pay(id, 1);
            }
            prop_assert_eq!(got.len() as u64, pushed);
            for tenant in 0..4 {
                let order: Vec<_> = got.iter().filter(|t| t.0 == tenant).map(|t| t.1).collect();
                prop_assert!(order.is_sorted());
            }
            if !fair {
                // With no arrivals in between FIFO's rest is in the order of arrival.
                prop_assert!(scheduler.is_empty());
            }
        }
    }
}
