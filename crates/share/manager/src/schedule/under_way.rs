//! Operations of a task that are under way: they are handed to the board one after the other, waited for in groups, and
//! their ends are reported to the client.

use std::sync::atomic::Ordering;

use opencl_sys::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use rackloom_opencl_wire::{EventId, Reply, Times, encode_reply};

use super::task::{Entry, GATHERED_NS, SHORT_NS, Tenant};
use super::text::Text;
use crate::board::{Operation, Sink, Space};
use crate::code::Code;
use crate::metrics::BoardMetrics;

/// An operation that was handed to the board and has not ended, or that the board has not taken.
struct Started<S: Space> {
    event: EventId,
    ends: bool,
    /// Whether it is the last of a group.
    closes: bool,
    begun: Result<(S::Ticket, Operation<S>), Code>,
}

/// Operations of a task that the client has not been told of.
pub(super) struct UnderWay<'a, S: Space> {
    tenant: &'a Tenant<S>,
    metrics: &'a BoardMetrics,
    started: Vec<Started<S>>,
    /// Whether an operation that has an event with the next one has failed.
    fails: bool,
    /// Whether all are one group: those of a group are waited for at once, and reported so, for to be woken for each
    /// takes longer than a short one.
    is_short: bool,
    /// Whether the tenant's next task may begin before the end of this one: to be told of either costs an event, which
    /// pays for long ones.
    goes_on: bool,
    /// Expected time of the group that is open.
    group_ns: u64,
    /// Operations that have ended, and still count as pending.
    ended: u32,
    /// Replies that the client has not been sent.
    replies: Vec<Vec<u8>>,
    /// How many of those that have started belong to tasks before this one: they are waited for when all of this one
    /// has started, so that the board always has something to go on with.
    before: usize,
    text: Text<'a>,
}

impl<'a, S: Space> UnderWay<'a, S> {
    pub(super) fn new(tenant: &'a Tenant<S>, metrics: &'a BoardMetrics, count: usize, expected_ns: u64) -> Self {
        let (started, replies, text) = (Vec::with_capacity(count), Vec::new(), Text::new(&tenant.peer));
        let (fails, group_ns, ended, before) = (tenant.fails_so_far(), 0, 0, 0);
        let (is_short, goes_on) = (expected_ns <= SHORT_NS, tenant.is_behind_bus() && expected_ns > GATHERED_NS);
        Self { tenant, metrics, started, fails, is_short, goes_on, group_ns, ended, replies, before, text }
    }

    /// Whether the tenant's next task may begin now.
    pub(super) fn may_go_on(&self) -> bool {
        self.goes_on && self.tenant.may_go_on()
    }

    /// What starts from now on is of the next task.
    pub(super) fn next_task(&mut self) {
        self.before = self.started.len();
    }

    /// Hands an operation of so much expected time to the board; of the one behind it that is `next`.
    pub(super) fn start(&mut self, Entry { event, ends, waits, operation }: Entry<S>, ns: u64, next: Option<u64>) {
        let tenant = self.tenant;
        // Before its client learns of the end: what is known to have ended is counted.
        self.metrics.operations.inc();
        let operation = if self.fails || tenant.any_failed(&waits) {
            operation.iter().for_each(|operation| tenant.space.skip(operation));
            Err(Code(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST))
        } else {
            operation
        };
        let closes = match next {
            Some(next) => !self.is_short && self.closes(&operation, ns, next),
            None => {
                self.group_ns = 0;
                self.goes_on
            }
        };
        let begun = operation.and_then(|mut operation| {
            let ticket = tenant.space.start(&mut operation, closes)?;
            Ok((ticket, operation))
        });
        if begun.is_err() {
            // What waits for it may be next.
            tenant.remember_failed(event);
        }
        self.fails = !ends && begun.is_err();
        self.started.push(Started { event, ends, closes, begun });
    }

    /// Whether an operation is the last of its group.
    fn closes(&mut self, operation: &Result<Operation<S>, Code>, ns: u64, next: u64) -> bool {
        self.group_ns = self.group_ns.saturating_add(ns);
        // The client copies what has come while the next bytes move.
        let moves = operation.as_ref().is_ok_and(|operation| operation.arena().is_some());
        let longest = if self.tenant.is_behind_bus() { GATHERED_NS } else { SHORT_NS };
        let closes = moves || self.group_ns.saturating_add(next) > longest;
        if closes {
            self.group_ns = 0;
        }
        closes
    }

    /// Waits until all have ended.
    pub(super) fn finish(&mut self) {
        self.before = 0;
        self.finish_first(self.started.len());
    }

    /// Waits for the end of those of tasks before this one.
    pub(super) fn finish_before(&mut self) {
        let count = std::mem::take(&mut self.before);
        if count > 0 {
            self.finish_first(count);
        }
    }

    /// Waits for the end of the first so many, which are whole groups.
    fn finish_first(&mut self, count: usize) {
        self.tenant.space.flush();
        let mut group = Vec::new();
        let rest = self.started.split_off(count);
        for one in std::mem::replace(&mut self.started, rest) {
            let closes = one.closes;
            group.push(one);
            if closes {
                self.finish_group(std::mem::take(&mut group));
            }
        }
        self.finish_group(group);
        if self.started.is_empty() {
            self.group_ns = 0;
            self.fails = self.tenant.fails_so_far();
        }
    }

    /// The same of a group.
    fn finish_group(&mut self, group: Vec<Started<S>>) {
        let space = &self.tenant.space;
        let mut begun = group.iter().filter_map(|one| one.begun.as_ref().ok());
        let last = begun.next_back();
        let before = begun.count();
        if let Some((last, _)) = last.filter(|_| before > 0) {
            space.settle(last, before + 1);
        }
        for Started { event, ends, begun, .. } in group {
            let (ended, sink) = match begun {
                Ok((ticket, mut operation)) => {
                    let ended = space.finish(ticket, &mut operation);
                    if let Operation::Launch { kernel, .. } = &operation {
                        space.printed(kernel, &mut |printed| self.text.send(printed));
                    }
                    (ended, self.count(operation))
                }
                Err(code) => (Err(code), None),
            };
            self.ended += 1;
            if let Some(all) = self.tenant.gather(ended, ends) {
                self.tell(event, all, sink);
            }
        }
        self.send();
    }

    /// Counts the bytes that an operation moved, and lets go what it used, before its client learns of the end: that
    /// may build a program again whose kernels have ended. Gives the bytes that the client reads.
    fn count(&self, operation: Operation<S>) -> Option<Sink> {
        match operation {
            Operation::Write { from, .. } | Operation::WriteRect { from, .. } | Operation::WriteImage { from, .. } => {
                self.metrics.bytes_in.inc_by(from.len() as u64);
                None
            }
            Operation::Read { into, .. } | Operation::ReadRect { into, .. } | Operation::ReadImage { into, .. } => {
                self.metrics.bytes_out.inc_by(into.len() as u64);
                Some(into)
            }
            _ => None,
        }
    }

    /// Reports an end to the client.
    fn tell(&mut self, event: EventId, ended: Result<Times, Code>, sink: Option<Sink>) {
        let (mut status, times) = match ended {
            Ok(times) => (opencl_sys::CL_SUCCESS, Some(times)),
            Err(Code(code)) => (code, None),
        };
        let inline = match sink {
            Some(Sink::Inline(bytes)) => bytes,
            Some(Sink::Bulk(given)) => {
                if given.finish().is_err() {
                    status = opencl_sys::CL_OUT_OF_RESOURCES; // The channel is closed: nobody will read this.
                }
                Box::default()
            }
            None => Box::default(),
        };
        if status < 0 {
            self.tenant.remember_failed(event);
            self.metrics.failures.inc();
        }
        let tail = if status < 0 { &[][..] } else { &inline };
        let mut reply = Vec::new();
        encode_reply(&Reply::Done { event, status, times }, tail, &mut reply);
        self.replies.push(reply);
    }

    /// Sends the replies.
    fn send(&mut self) {
        // Before the client learns of it: it may send the next ones at once.
        self.tenant.pending.fetch_sub(std::mem::take(&mut self.ended), Ordering::AcqRel);
        if self.replies.is_empty() {
            return;
        }
        self.tenant.send(&mut self.replies);
    }
}
