//! Tasks of a tenant, and their execution on a board.
//!
//! With a limit on task time, a task that has used it up is cut: what has not been handed to the board goes back to the
//! scheduler as a task of its own. The operations are the tenant's stream and keep their order.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rackloom_ipc::Peer;
use rackloom_opencl_wire::{EventId, REPLY, Times, now_ns};
use rackloom_sync::lock;

use super::dispatcher::Job;
use super::scheduler::{Share, TenantId};
use super::under_way::UnderWay;
use crate::board::{Operation, Space};
use crate::code::Code;
use crate::metrics::{BoardMetrics, TenantMetrics};

/// A client on a board, as far as its tasks are concerned.
pub(crate) struct Tenant<S> {
    pub(crate) id: TenantId,
    share: Share,
    /// How long a task may hold the board, in nanoseconds; `None` for no bound.
    task_ns: Option<u64>,
    pub(crate) space: S,
    pub(crate) peer: Arc<Peer>,
    /// Operations that have not ended.
    pub(crate) pending: AtomicU32,
    /// The latest events that failed: operations that wait for them fail, too.
    failed: Mutex<BTreeSet<EventId>>,
    /// How the operations ended that have an event with later ones, which may be in another task.
    so_far: Mutex<Option<Result<Times, Code>>>,
    kept: Mutex<Kept>,
    /// Its session has ended: none of its tasks runs any more.
    gone: AtomicBool,
    metrics: TenantMetrics,
    /// The lease of the board, in a process of its own.
    lease: Option<Arc<dyn LeasedBoard>>,
}

/// Replies that are not sent yet: until the client has closed its task it waits for none of it, and to be woken for
/// each part of it would cost both sides more than they gain.
#[derive(Debug, Default)]
struct Kept {
    keeps: bool,
    replies: Vec<Vec<u8>>,
}

/// A board that other processes use, too: each task acquires it first.
pub(crate) trait LeasedBoard: Send + Sync {
    /// Whether a task would get the board at once.
    fn is_idle(&self) -> bool;

    /// Waits for the board.
    fn acquire(&self, metrics: &BoardMetrics);

    /// Whether nobody else wants the board, which the task has.
    fn may_go_on(&self) -> bool;

    /// Ends the task; returns the board if others want it. Follows each [`Self::acquire`].
    fn release(&self, metrics: &BoardMetrics);
}

/// The board, acquired for a task.
struct Acquired<'a> {
    lease: &'a dyn LeasedBoard,
    metrics: &'a BoardMetrics,
}

impl<'a> Acquired<'a> {
    fn new(lease: &'a dyn LeasedBoard, metrics: &'a BoardMetrics) -> Self {
        lease.acquire(metrics);
        Self { lease, metrics }
    }
}

impl Drop for Acquired<'_> {
    fn drop(&mut self) {
        self.lease.release(self.metrics);
    }
}

/// How two operations ended that have one event.
fn both(first: Result<Times, Code>, second: Result<Times, Code>) -> Result<Times, Code> {
    let (first, second) = (first?, second?);
    Ok(Times { ended: first.ended.max(second.ended), ..first })
}

/// Operations that run on the board without another tenant's in between.
pub(crate) struct Task<S: Space> {
    pub(crate) tenant: Arc<Tenant<S>>,
    pub(crate) entries: VecDeque<Entry<S>>,
    /// When it was submitted, or cut, in nanoseconds of our clock.
    pub(crate) since: u64,
}

/// An operation of a task.
pub(crate) struct Entry<S: Space> {
    pub(crate) event: EventId,
    /// Whether the event ends with it, and not with one of the next.
    pub(crate) ends: bool,
    pub(crate) waits: Vec<EventId>,
    /// The operation, or the code with which it fails.
    pub(crate) operation: Result<Operation<S>, Code>,
}

/// Most failed events that are remembered of a tenant: the library itself knows of older ones.
const FAILED_MAX: usize = 4096;

/// Longest expected time, in nanoseconds, of a task that the submitting thread runs itself: meanwhile that takes no
/// messages from its client.
pub(super) const SHORT_NS: u64 = 100_000;

/// Bytes that any board moves in that time.
const SHORT_BYTES: u64 = 64 * 1024;

/// The same on a board behind a bus, and of the tasks that run there as one since they came together: the driver takes
/// some microseconds to start each operation, during which the board has none, and as long to learn of an end.
pub(crate) const GATHERED_NS: u64 = 250_000;

impl<S> Tenant<S> {
    pub(crate) fn new(
        id: TenantId,
        share: Share,
        task_time: Option<Duration>,
        space: S,
        peer: Arc<Peer>,
        metrics: TenantMetrics,
        lease: Option<Arc<dyn LeasedBoard>>,
    ) -> Self {
        let task_ns = task_time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let (pending, gone) = (AtomicU32::new(0), AtomicBool::new(false));
        let (failed, so_far, kept) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { id, share, task_ns, space, peer, pending, failed, so_far, kept, gone, metrics, lease }
    }

    /// A task begins that the client has not closed: it does not wait yet.
    pub(crate) fn keep_replies(&self) {
        lock(&self.kept).keeps = true;
    }

    /// The client has closed its task, and may wait.
    pub(crate) fn send_kept(&self) {
        let mut kept = lock(&self.kept);
        kept.keeps = false;
        self.send_some(&mut kept);
    }

    /// Sends replies, or keeps them.
    pub(super) fn send(&self, replies: &mut Vec<Vec<u8>>) {
        let mut kept = lock(&self.kept);
        kept.replies.append(replies);
        if !kept.keeps {
            self.send_some(&mut kept);
        }
    }

    fn send_some(&self, kept: &mut Kept) {
        if !kept.replies.is_empty() {
            // A client that is gone, or does not read, has its channel closed; its session notices.
            let _ = self.peer.send_all(REPLY, &kept.replies);
            kept.replies.clear();
        }
    }

    /// Its session has ended.
    pub(crate) fn is_gone(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    pub(super) fn remember_failed(&self, event: EventId) {
        let mut failed = lock(&self.failed);
        failed.insert(event);
        if failed.len() > FAILED_MAX {
            failed.pop_first();
        }
    }

    pub(super) fn any_failed(&self, events: &[EventId]) -> bool {
        !events.is_empty() && {
            let failed = lock(&self.failed);
            events.iter().any(|event| failed.contains(event))
        }
    }

    /// Adds how an operation ended to those before it that have the same event; gives how all did, once that
    /// event `ends`.
    pub(super) fn gather(&self, ended: Result<Times, Code>, ends: bool) -> Option<Result<Times, Code>> {
        let mut so_far = lock(&self.so_far);
        let all = match so_far.take() {
            None => ended,
            Some(before) => both(before, ended),
        };
        if ends {
            return Some(all);
        }
        *so_far = Some(all);
        None
    }

    /// Whether one of those has failed whose event ends with the next ones.
    pub(super) fn fails_so_far(&self) -> bool {
        matches!(*lock(&self.so_far), Some(Err(_)))
    }
}

impl<S: Space> Tenant<S> {
    /// Bytes that its board moves in [`SHORT_NS`]; no fewer than any board does.
    fn short_bytes(&self) -> u64 {
        self.space.registers().map_or(SHORT_BYTES, |rate| (rate / (1_000_000_000 / SHORT_NS)).max(SHORT_BYTES))
    }

    /// Whether what has come of a task may begin before the client closes it. Most tasks of one operation are closed at
    /// once.
    pub(crate) fn begins_with(&self, entries: &[Entry<S>]) -> bool {
        entries.len() > 1 && self.has_board() && self.gathers(entries).is_some()
    }

    /// Whether a task of it would get the board at once, as far as other processes are concerned.
    fn has_board(&self) -> bool {
        self.lease.as_ref().is_none_or(|lease| lease.is_idle())
    }

    /// Whether no other process wants the board, which a task of it has.
    pub(super) fn may_go_on(&self) -> bool {
        self.lease.as_ref().is_none_or(|lease| lease.may_go_on())
    }

    /// Whether its board is behind a bus.
    pub(super) fn is_behind_bus(&self) -> bool {
        self.space.registers().is_some()
    }

    /// The expected time of a task, in nanoseconds, if that may run as one with those that come with it.
    pub(crate) fn gathers(&self, entries: &[Entry<S>]) -> Option<u64> {
        let alone = |it: &Operation<S>| match it {
            Operation::Map { .. } | Operation::Unmap { .. } => true,
            // The network goes on with one while the board moves the next.
            _ => it.arena().is_none() && it.bytes() > SHORT_BYTES,
        };
        if !self.is_behind_bus() || entries.iter().any(|entry| entry.operation.as_ref().is_ok_and(alone)) {
            return None;
        }
        Some(expected_ns(entries, self.short_bytes())).filter(|ns| *ns <= GATHERED_NS)
    }
}

impl<S: Space> Operation<S> {
    /// Duration of its kernel's last launch, in nanoseconds; `u64::MAX` before the first.
    fn launch_ns(&self) -> u64 {
        match self {
            Self::Launch { kernel, .. } => S::last_launch_ns(kernel).unwrap_or(u64::MAX),
            _ => 0,
        }
    }

    /// Its expected duration, in nanoseconds, on a board that moves so many bytes in [`SHORT_NS`].
    fn expected_ns(&self, short_bytes: u64) -> u64 {
        self.launch_ns().saturating_add(self.bytes().saturating_mul(SHORT_NS) / short_bytes)
    }
}

/// The expected duration of operations, in nanoseconds, on a board that moves so many bytes in [`SHORT_NS`].
fn expected_ns<'a, S: Space>(entries: impl IntoIterator<Item = &'a Entry<S>>, short_bytes: u64) -> u64 {
    let operations = entries.into_iter().filter_map(|entry| entry.operation.as_ref().ok());
    operations.fold(0, |ns, operation| ns.saturating_add(operation.expected_ns(short_bytes)))
}

impl<S: Space> Task<S> {
    /// Its expected duration, in nanoseconds.
    fn expected_ns(&self) -> u64 {
        expected_ns(&self.entries, self.tenant.short_bytes())
    }
}

impl<S: Space> Job for Task<S> {
    fn tenant(&self) -> (TenantId, Share) {
        (self.tenant.id, self.tenant.share)
    }

    fn is_cancelled(&self) -> bool {
        self.tenant.gone.load(Ordering::Relaxed)
    }

    fn is_short(&self) -> bool {
        if !self.tenant.has_board() {
            return false;
        }
        if self.tenant.is_behind_bus() {
            return self.expected_ns() <= GATHERED_NS;
        }
        let (mut bytes, mut ns) = (0u64, 0u64);
        for operation in self.entries.iter().filter_map(|entry| entry.operation.as_ref().ok()) {
            bytes = bytes.saturating_add(operation.bytes());
            ns = ns.saturating_add(operation.launch_ns());
        }
        bytes <= SHORT_BYTES && ns <= SHORT_NS
    }

    /// Reports the ends of short operations to the client in groups, those of others as they come.
    fn run(mut self, metrics: &BoardMetrics, _: bool, more: &mut dyn FnMut() -> Option<Self>) -> (u64, Option<Self>) {
        let tenant = Arc::clone(&self.tenant);
        let job = tenant.lease.as_deref().map(|lease| Acquired::new(lease, metrics));
        let began = now_ns();
        metrics.meter.begin(&tenant.metrics.busy, began);
        tenant.space.begin();
        let expected = self.expected_ns();
        let mut under_way = UnderWay::new(&tenant, metrics, self.entries.len(), expected);
        let mut count = 0;
        // Board time used so far, plus the expected time of what was handed over.
        let mut taken = 0u64;
        let short_bytes = tenant.short_bytes();
        let expected_of = |entry: &Entry<S>| entry.operation.as_ref().map_or(0, |it| it.expected_ns(short_bytes));
        loop {
            let Some(entry) = self.entries.pop_front() else {
                // The board goes on with what has come meanwhile.
                let may_go_on = under_way.may_go_on() && tenant.task_ns.is_none_or(|limit| taken < limit);
                let Some(next) = Some(()).filter(|()| may_go_on).and_then(|()| more()) else { break };
                metrics.task(began.saturating_sub(self.since), now_ns() - began);
                self = next;
                under_way.next_task();
                if tenant.space.is_to_begin() {
                    under_way.finish();
                    tenant.space.begin();
                }
                continue;
            };
            if let Some(limit) = tenant.task_ns {
                // What was handed over cannot be called back, so that is no more than what should end in time, plus one
                // operation. The time that it really took is known at its end.
                if taken >= limit && count > 0 {
                    under_way.finish();
                    taken = now_ns() - began;
                    if taken >= limit {
                        self.entries.push_front(entry);
                        break;
                    }
                }
            }
            let ns = expected_of(&entry);
            taken = taken.saturating_add(ns);
            count += 1;
            under_way.start(entry, ns, self.entries.front().map(expected_of));
            if self.entries.is_empty() {
                under_way.finish_before();
            }
        }
        under_way.finish();
        let ended = now_ns();
        metrics.meter.end(ended);
        metrics.task(began.saturating_sub(self.since), ended - began);
        drop(job);
        let rest = (!self.entries.is_empty()).then(|| Self { since: ended, ..self });
        (ended - began, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_operations_the_first_error_counts_and_the_whole_time() {
        let times = |submitted, started, ended| Ok(Times { submitted, started, ended });
        assert_eq!(both(times(1, 2, 3), times(2, 3, 5)), times(1, 2, 5));
        assert_eq!(both(times(1, 2, 9), times(2, 3, 5)), times(1, 2, 9));
        assert_eq!(both(Err(Code(-5)), times(2, 3, 5)), Err(Code(-5)));
        assert_eq!(both(times(1, 2, 3), Err(Code(-6))), Err(Code(-6)));
        assert_eq!(both(Err(Code(-5)), Err(Code(-6))), Err(Code(-5)));
    }
}
