//! Shares, order and waits in virtual time.

use std::collections::BTreeSet;

use super::*;
use proptest::prelude::*;

const ONE: Share = Share { weight: 1, account: None };

const fn weight(weight: u32) -> Share {
    Share { weight, account: None }
}

/// A tenant: the duration of its tasks, and its pause after each; `None` for a tenant that always has a task
/// waiting.
struct Load {
    share: Share,
    cost: u64,
    pause: Option<u64>,
}

const fn greedy((share, cost): (Share, u64)) -> Load {
    Load { share, cost, pause: None }
}

/// Runs tenants on a board, one of each load; board time of each, and the time that the board was free.
fn share_out(policy: Policy, loads: &[Load], total_ns: u64) -> (Vec<u64>, u64) {
    let mut scheduler = Scheduler::new(policy);
    let (mut had, mut free, mut now) = (vec![0; loads.len()], 0, 0);
    let mut coming: BTreeSet<(u64, usize)> = (0..loads.len()).map(|id| (0, id)).collect();
    let arrive = |scheduler: &mut Scheduler<u64>, coming: &mut BTreeSet<(u64, usize)>, now: u64| {
        while let Some((at, id)) = coming.first().copied().filter(|(at, _)| *at <= now) {
            coming.remove(&(at, id));
            scheduler.push(at, id as u64, loads[id].share, loads[id].cost);
        }
    };
    while now < total_ns {
        arrive(&mut scheduler, &mut coming, now);
        let soonest = coming.first().map_or(u64::MAX, |(at, _)| *at);
        let wait = match scheduler.pop(now) {
            Next::Run(tenant, cost) => {
                let id = tenant as usize;
                now += cost;
                had[id] += cost;
                arrive(&mut scheduler, &mut coming, now);
                if loads[id].pause.is_none() {
                    scheduler.push(now, tenant, loads[id].share, cost);
                }
                scheduler.pay(now, tenant, cost);
                if let Some(pause) = loads[id].pause {
                    coming.insert((now + pause, id));
                }
                continue;
            }
            Next::Hold(until) => until.min(soonest),
            Next::Nothing => soonest,
        };
        free += wait - now;
        now = wait;
    }
    (had, free)
}

/// Board time of tenants that always have a task of a fixed cost.
fn contend(policy: Policy, tenants: &[(Share, u64)], total_ns: u64) -> Vec<u64> {
    let loads: Vec<Load> = tenants.iter().copied().map(greedy).collect();
    let (had, free) = share_out(policy, &loads, total_ns);
    assert_eq!(free, 0, "the board is not kept free for a tenant with tasks");
    had
}

fn pop<T: std::fmt::Debug>(scheduler: &mut Scheduler<T>, now: u64) -> (TenantId, T) {
    match scheduler.pop(now) {
        Next::Run(tenant, task) => (tenant, task),
        other => panic!("{other:?}"),
    }
}

#[test]
fn weights_hold_among_programs_that_wait_for_each_task() {
    let waits = |weight, cost, pause| Load { share: Share { weight, account: None }, cost, pause: Some(pause) };
    for (loads, right) in [
        (vec![waits(3, 1_000_000, 20_000), waits(1, 10_000_000, 20_000)], 3.0),
        (vec![waits(3, 1_000_000, 20_000), greedy((ONE, 10_000_000))], 3.0),
        (vec![waits(1, 100_000, 30_000), greedy((ONE, 10_000_000))], 1.0 / 1.3),
        (vec![waits(5, 1_000_000, 20_000), waits(1, 1_000_000, 20_000)], 5.0),
    ] {
        let total = 3_000_000_000;
        let (had, free) = share_out(Policy::Fair, &loads, total);
        let ratio = had[0] as f64 / had[1] as f64;
        assert!((ratio / right - 1.0).abs() < 0.05, "{right} is {ratio}: {had:?}");
        // Only its own pauses, and they are charged to it.
        let pauses = had[0] / loads[0].cost * loads[0].pause.unwrap();
        assert!(free <= pauses + total / 1000, "{free} ns free, pauses of {pauses} ns");
        let (dispatcher, free) = share_out(Policy::Fifo, &loads, total);
        let each = dispatcher[0] / loads[0].cost;
        assert!(each.abs_diff(dispatcher[1] / loads[1].cost) <= 1 && free < total / 1000, "by FIFO they take turns");
    }
}

#[test]
fn a_board_is_kept_free_for_nobody_without_need() {
    let waits = |cost, pause| Load { share: ONE, cost, pause: Some(pause) };
    for loads in [
        // About even: whoever is there goes first.
        vec![waits(1_000_000, 20_000), waits(1_010_000, 20_000)],
        // It would be free for most of the time.
        vec![waits(10_000, 200_000), greedy((ONE, 1_000_000))],
        // Nobody waits so long.
        vec![waits(50_000_000, 5_000_000), greedy((ONE, 100_000_000))],
    ] {
        let total = 2_000_000_000;
        let (had, free) = share_out(Policy::Fair, &loads, total);
        assert!(free < total / 1000, "{free} ns free, {had:?}");
    }
}

#[test]
fn who_does_not_come_is_not_waited_for_long() {
    let mut scheduler = Scheduler::new(Policy::Fair);
    let mut now = 0;
    for _ in 0..5 {
        scheduler.push(now, 1, weight(9), ());
        assert_eq!(scheduler.pop(now), Next::Run(1, ()));
        now += 1_000_000;
        scheduler.pay(now, 1, 1_000_000);
        now += 10_000;
    }
    now -= 10_000;
    scheduler.push(now, 2, ONE, ());
    assert_eq!(scheduler.pop(now), Next::Run(2, ()), "it comes at the present");
    now += 10_000_000;
    scheduler.pay(now, 2, 10_000_000);
    scheduler.push(now, 1, weight(9), ());
    assert_eq!(scheduler.pop(now), Next::Run(1, ()));
    scheduler.push(now, 2, ONE, ());
    now += 1_000_000;
    scheduler.pay(now, 1, 1_000_000);
    let Next::Hold(until) = scheduler.pop(now) else { panic!("it is expected back") };
    assert!(!scheduler.is_next(2, now) && until - now <= crate::schedule::think_time::HOLD_MAX_NS);
    assert_eq!(scheduler.take_held_ns(), 0);
    assert_eq!(scheduler.pop(until), Next::Run(2, ()));
    assert_eq!(scheduler.take_held_ns(), until - now);
    assert_eq!(scheduler.take_held_ns(), 0);
    // Nor for one that has gone.
    scheduler.pay(until, 2, 10_000_000);
    scheduler.push(until, 1, weight(9), ());
    assert_eq!(scheduler.pop(until), Next::Run(1, ()));
    scheduler.push(until, 2, ONE, ());
    scheduler.remove(1);
    scheduler.pay(until + 1_000_000, 1, 1_000_000);
    assert_eq!(scheduler.pop(until + 1_000_000), Next::Run(2, ()));
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
    scheduler.push(0, 3, share, ());
    let (resting, ()) = pop(&mut scheduler, 0);
    scheduler.pay(1, resting, 1);
    let mut had = [0u64; 2];
    scheduler.push(1, 1, share, ());
    scheduler.push(1, 2, ONE, ());
    for now in 2..302 {
        let (id, ()) = pop(&mut scheduler, now);
        had[id as usize - 1] += 1;
        scheduler.push(now, id, if id == 1 { share } else { ONE }, ());
        scheduler.pay(now, id, 1_000);
    }
    assert!(had[0].abs_diff(200) <= 3, "{had:?}");
}

#[test]
fn what_is_left_of_a_task_comes_before_its_tenants_others() {
    for policy in [Policy::Fair, Policy::Fifo] {
        let mut scheduler = Scheduler::new(policy);
        scheduler.push(0, 1, ONE, "a");
        scheduler.push(0, 1, ONE, "b");
        assert_eq!(scheduler.pop(0), Next::Run(1, "a"));
        scheduler.push(5, 2, ONE, "c");
        scheduler.put_back(1, "rest of a");
        scheduler.pay(10, 1, 10);
        let order: Vec<_> = (0..3).map(|_| pop(&mut scheduler, 10).1).collect();
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
    (0..100).for_each(|i| scheduler.push(0, 7, ONE, i));
    for now in 0..50 {
        let (id, _) = pop(&mut scheduler, now);
        scheduler.pay(now, id, 1_000_000);
    }
    let (greedy, _) = pop(&mut scheduler, 50);
    scheduler.push(50, 8, ONE, 1000);
    scheduler.pay(51, greedy, 1_000_000);
    assert_eq!(scheduler.pop(51), Next::Run(8, 1000));
}

#[test]
fn a_pause_saves_nothing_up() {
    let mut scheduler = Scheduler::new(Policy::Fair);
    for round in 0..1000u64 {
        scheduler.push(round, 1, ONE, round);
        let (id, _) = pop(&mut scheduler, round);
        scheduler.pay(round, id, 1_000);
    }
    // Both come now; the newcomer is not ahead by what the other had while it was alone.
    let mut had = [0u64; 2];
    scheduler.push(1000, 1, ONE, 0);
    scheduler.push(1000, 2, ONE, 0);
    for now in 1000..1100 {
        let (id, _) = pop(&mut scheduler, now);
        had[id as usize - 1] += 1;
        scheduler.push(now, id, ONE, 0);
        scheduler.pay(now, id, 1_000);
    }
    assert!(had[0].abs_diff(had[1]) <= 2, "{had:?}");
}

#[test]
fn a_tenant_goes_on_with_its_next_task_while_nobody_else_has_one() {
    let mut scheduler = Scheduler::new(Policy::Fair);
    (0..3).for_each(|task| scheduler.push(0, 1, ONE, task));
    assert_eq!(pop(&mut scheduler, 0), (1, 0));
    assert_eq!((scheduler.pop_more(1), scheduler.len()), (Some(1), 1));
    scheduler.push(10, 2, ONE, 9);
    assert_eq!((scheduler.pop_more(1), scheduler.len()), (None, 2), "another one waits");
    scheduler.pay(1_000, 1, 1_000);
    assert_eq!(pop(&mut scheduler, 1_000), (2, 9));
    assert_eq!(scheduler.pop_more(2), None, "it has no more, and the other has");
}

proptest! {
    #[test]
    fn each_task_is_taken_once_and_in_its_tenants_order(
        acts in prop::collection::vec((0..4u64, 1..4u32, 0..3u8, 0..2_000_000u64), 1..300),
        fair in any::<bool>(),
    ) {
        let policy = if fair { Policy::Fair } else { Policy::Fifo };
        let (mut scheduler, mut pushed, mut got, mut now) = (Scheduler::new(policy), 0u64, Vec::new(), 0);
        for (tenant, weight, act, cost) in acts {
            if act == 0 {
                // Some of them divide a share.
                let account = (tenant > 1).then_some(9);
                scheduler.push(now, tenant, Share { weight, account }, (tenant, pushed));
                pushed += 1;
                now += cost / 100;
            } else if let Next::Run(id, task) = scheduler.pop(now) {
                prop_assert_eq!(id, task.0);
                now += cost;
                if act == 1 {
                    got.push(task);
                } else {
                    scheduler.put_back(id, task);
                }
                scheduler.pay(now, id, cost);
            }
            prop_assert_eq!(scheduler.len() as u64, pushed - got.len() as u64);
        }
        loop {
            match scheduler.pop(now) {
                Next::Run(id, task) => {
                    got.push(task);
                    scheduler.pay(now, id, 1);
                }
                Next::Hold(until) => {
                    prop_assert!(fair && now < until && until <= now + crate::schedule::think_time::HOLD_MAX_NS);
                    prop_assert!(!scheduler.is_empty());
                    now = until;
                }
                Next::Nothing => break,
            }
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
