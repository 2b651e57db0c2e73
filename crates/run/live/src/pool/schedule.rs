//! Who runs next: the pool's inside, under one lock, with no thread and no node in it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rackloom_node::{Duration, Instant};

use super::Turn;

/// Members, who of them is ready, in which order, and who sleeps until when.
#[derive(Default)]
pub(crate) struct Schedule {
    members: BTreeMap<u64, Entry>,
    ready: VecDeque<u64>,
    timers: BTreeSet<(Instant, u64)>,
    /// For each worker that sleeps: until when.
    asleep: BTreeMap<usize, Instant>,
    next: u64,
    pub(crate) stop: bool,
}

struct Entry {
    turn: Arc<dyn Turn>,
    state: State,
    timer: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waits for its timer or a wake.
    Idle,
    /// In the queue.
    Ready,
    /// On a worker.
    Running,
    /// On a worker, and woken meanwhile: its turn may have missed what woke it.
    Woken,
}

/// What a member wants after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Another turn, once others had theirs.
    Again,
    /// Sleep until woken or this moment.
    Sleep(Option<Instant>),
    /// It has stopped for good.
    Gone,
}

impl Schedule {
    /// A number for a new member.
    pub(crate) const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn add(&mut self, id: u64, turn: Arc<dyn Turn>) {
        self.members.insert(id, Entry { turn, state: State::Ready, timer: None });
        self.ready.push_back(id);
    }

    /// Forgets a member; harmless when it is gone already. A turn it is in goes on to its end.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Arc<dyn Turn>> {
        let entry = self.members.remove(&id)?;
        if let Some(at) = entry.timer {
            self.timers.remove(&(at, id));
        }
        if entry.state == State::Ready {
            self.ready.retain(|&r| r != id);
        }
        Some(entry.turn)
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) -> Vec<Arc<dyn Turn>> {
        self.ready.clear();
        self.timers.clear();
        core::mem::take(&mut self.members).into_values().map(|e| e.turn).collect()
    }

    /// Notes that there is something for this member.
    pub(crate) fn wake(&mut self, id: u64) {
        let Some(entry) = self.members.get_mut(&id) else { return };
        match entry.state {
            State::Idle => {
                entry.state = State::Ready;
                self.ready.push_back(id);
            }
            State::Running => entry.state = State::Woken,
            State::Ready | State::Woken => {}
        }
    }

    /// The member whose turn it is, if any is ready at `now`.
    pub(crate) fn take(&mut self, now: Instant) -> Option<(u64, Arc<dyn Turn>)> {
        while let Some(&(at, id)) = self.timers.first()
            && at <= now
        {
            self.timers.pop_first();
            self.members.get_mut(&id).expect("a timer belongs to a member").timer = None;
            self.wake(id);
        }
        let id = self.ready.pop_front()?;
        let entry = self.members.get_mut(&id).expect("who is ready is a member");
        entry.state = State::Running;
        if let Some(at) = entry.timer.take() {
            self.timers.remove(&(at, id));
        }
        Some((id, Arc::clone(&entry.turn)))
    }

    /// Notes what a member wants after its turn.
    pub(crate) fn put_back(&mut self, id: u64, after: After) {
        let Some(entry) = self.members.get_mut(&id) else { return }; // Removed meanwhile.
        let woken = entry.state == State::Woken;
        match after {
            After::Gone => {
                self.members.remove(&id);
            }
            After::Sleep(at) if !woken => {
                entry.state = State::Idle;
                entry.timer = at;
                if let Some(at) = at {
                    self.timers.insert((at, id));
                }
            }
            After::Again | After::Sleep(_) => {
                entry.state = State::Ready;
                self.ready.push_back(id);
            }
        }
    }

    /// Notes that a worker goes to sleep; until when, `None`: until it is woken.
    pub(crate) fn sleep(&mut self, worker: usize) -> Option<Instant> {
        let until = self.timers.first().map(|t| t.0);
        self.asleep.insert(worker, until.unwrap_or(FOREVER));
        until
    }

    /// Notes that a worker is awake again.
    pub(crate) fn awake(&mut self, worker: usize) {
        self.asleep.remove(&worker);
    }

    /// Whether a sleeping worker is needed: somebody is ready, or a timer comes before any sleeper would wake.
    pub(crate) fn wants_worker(&self) -> bool {
        let Some(&first) = self.asleep.values().min() else { return false };
        !self.ready.is_empty() || self.timers.first().is_some_and(|t| t.0 + Duration::from_nanos(1) <= first)
    }
}

const FOREVER: Instant = Instant::from_nanos(u64::MAX);

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;
    impl Turn for Nothing {
        fn turn(&self) -> After {
            After::Gone
        }
        fn close(&self) {}
    }

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    fn three() -> Schedule {
        let mut s = Schedule::default();
        for want in 1..=3 {
            let id = s.number();
            assert_eq!(id, want);
            s.add(id, Arc::new(Nothing));
        }
        s
    }

    fn take(s: &mut Schedule, now: u64) -> Option<u64> {
        s.take(at(now)).map(|t| t.0)
    }

    #[test]
    fn who_wants_another_turn_waits_for_the_others() {
        let mut s = three();
        for _ in 0..5 {
            for want in 1..=3 {
                assert_eq!(take(&mut s, 0), Some(want));
                s.put_back(want, After::Again);
            }
        }
    }

    #[test]
    fn a_wake_during_a_turn_is_not_lost() {
        let mut s = three();
        assert_eq!(take(&mut s, 0), Some(1));
        s.wake(1);
        s.wake(1);
        s.put_back(1, After::Sleep(None));
        assert_eq!([take(&mut s, 0), take(&mut s, 0), take(&mut s, 0)], [Some(2), Some(3), Some(1)]);
        s.put_back(1, After::Sleep(None));
        assert_eq!(take(&mut s, u64::MAX), None);
        s.wake(1);
        assert_eq!(take(&mut s, 0), Some(1));
    }

    #[test]
    fn timers_fire_in_order_and_once() {
        let mut s = three();
        for (id, until) in [(1, 30), (2, 10), (3, 20)] {
            assert_eq!(take(&mut s, 0), Some(id));
            s.put_back(id, After::Sleep(Some(at(until))));
        }
        assert_eq!(take(&mut s, 9), None);
        assert_eq!(s.sleep(0), Some(at(10)));
        s.awake(0);
        assert_eq!(take(&mut s, 25), Some(2));
        s.put_back(2, After::Sleep(None));
        assert_eq!(take(&mut s, 25), Some(3));
        s.wake(1); // Woken before its timer: the timer is void.
        s.put_back(3, After::Sleep(None));
        assert_eq!(take(&mut s, 25), Some(1));
        s.put_back(1, After::Sleep(None));
        assert_eq!(take(&mut s, 100), None);
    }

    #[test]
    fn who_is_removed_never_runs_again() {
        let mut s = three();
        assert!(s.remove(2).is_some());
        assert!(s.remove(2).is_none());
        assert_eq!(take(&mut s, 0), Some(1));
        assert!(s.remove(1).is_some());
        s.put_back(1, After::Again);
        s.wake(1);
        assert_eq!(take(&mut s, 0), Some(3));
        s.put_back(3, After::Sleep(Some(at(5))));
        assert!(s.remove(3).is_some());
        assert_eq!(take(&mut s, 10), None);
    }

    #[test]
    fn a_sleeper_is_called_for_work_and_for_an_earlier_timer_only() {
        let mut s = three();
        assert!(!s.wants_worker(), "nobody sleeps");
        for id in 1..=3 {
            assert_eq!(take(&mut s, 0), Some(id));
        }
        s.put_back(1, After::Sleep(Some(at(100))));
        assert_eq!(s.sleep(7), Some(at(100)));
        assert!(!s.wants_worker(), "it wakes in time by itself");
        s.put_back(2, After::Sleep(Some(at(50))));
        assert!(s.wants_worker());
        s.awake(7);
        assert_eq!(s.sleep(7), Some(at(50)));
        s.put_back(3, After::Again);
        assert!(s.wants_worker());
    }
}
