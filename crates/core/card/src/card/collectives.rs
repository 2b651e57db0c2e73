//! Programs over links: launched as kernels are, and frames of the links.

use rackloom_collective::{LinkCounters, REPORT_BYTES};
use rackloom_node::{Frame, Instant, Output, Port};
use rackloom_wire::link::KERNEL;
use rackloom_wire::{self as wire, Counter, ErrorCode, Head};

use super::Card;
use super::egress::SENT;
use crate::CardEvent;
use crate::collectives::{ARGS, Collectives, Ddr};
use crate::launches::{Ended, Launch, ended};
use crate::memory::is_hosts;

impl Card {
    /// Frames and faults of its links; `None` if it has none.
    pub fn link_counters(&self) -> Option<LinkCounters> {
        self.collectives.as_ref().map(Collectives::counters)
    }

    /// Whether a launch is a program's, and this card runs programs.
    pub(super) fn is_program(&self, head: &Head) -> bool {
        head.addr == u64::from(KERNEL) && self.collectives.is_some()
    }

    /// Checks a program's launch: the code and its detail if it is refused.
    pub(super) fn judge_program(&self, body: &wire::Launch, args: &[u64]) -> Result<(), (ErrorCode, u64)> {
        let (at, length) = (body.out_addr.get(), body.out_length.get());
        if args.len() != ARGS {
            Err((ErrorCode::BadArguments, ARGS as u64))
        } else if length != REPORT_BYTES || !is_hosts(self.ddr.len(), at, length) {
            Err((ErrorCode::BadAddress, self.ddr.len()))
        } else if self.collectives.as_ref().is_none_or(|c| !c.has_room()) {
            Err((ErrorCode::Busy, wire::link::CONTEXTS.into()))
        } else {
            Ok(())
        }
    }

    /// Accepts a program's launch that was judged.
    pub(super) fn accept_program(&mut self, now: Instant, head: &Head, body: &wire::Launch, args: Vec<u64>) {
        let launch = self.launches.accept_elsewhere(&mut self.shell, head, body, args);
        if let Some(collectives) = &mut self.collectives {
            collectives.accept(launch);
        }
        self.start_programs(now);
    }

    /// A Go with this number has come.
    pub(super) fn go_programs(&mut self, now: Instant, number: u32) {
        for (launch, _) in self.collectives.iter_mut().flat_map(|c| &mut c.launches) {
            if launch.go == number {
                launch.go = 0;
            }
        }
        self.start_programs(now);
    }

    fn start_programs(&mut self, now: Instant) {
        let Some(collectives) = &mut self.collectives else { return };
        let refused = collectives.start(now, &Ddr { shell: &mut self.shell, ddr: &*self.ddr });
        for launch in refused {
            self.keep_program(now, launch, now, ErrorCode::BadArguments, 0);
        }
    }

    pub(super) fn has_program(&self, seq: u32) -> bool {
        self.collectives.iter().flat_map(|c| &c.launches).any(|(launch, _)| launch.seq == seq)
    }

    /// Ends a program. Yields it if it was there.
    pub(super) fn cancel_program(&mut self, now: Instant, seq: u32) -> Option<Ended> {
        let (launch, began) = self.collectives.as_mut()?.cancel(seq)?;
        Some(ended(now, &mut self.shell, launch, began.unwrap_or(now), ErrorCode::Cancelled, 0, 0))
    }

    /// Programs that have ended: each with its report in memory, which is what the host gets.
    pub(super) fn end_programs(&mut self, now: Instant) {
        while let Some((launch, began, report)) = self.collectives.as_mut().and_then(Collectives::next_ended) {
            let written = self.ddr.write(launch.out_addr, &report.encode());
            if self.shell.access(written).is_none() {
                return;
            }
            let value = report.cause.map_or(0, |cause| cause as u64);
            self.keep_program(now, launch, began, ErrorCode::Ok, value);
        }
    }

    fn keep_program(&mut self, now: Instant, launch: Launch, began: Instant, status: ErrorCode, value: u64) {
        let ended = ended(now, &mut self.shell, launch, began, status, value, 0);
        self.keep(now, &ended);
    }

    /// A frame has come in at a link.
    pub(super) fn take_from_link(&mut self, now: Instant, port: Port, frame: &Frame) {
        let Some(collectives) = &mut self.collectives else { return self.shell.counters.inc(Counter::DropForeign) };
        let mut ddr = Ddr { shell: &mut self.shell, ddr: &*self.ddr };
        collectives.sequencer.handle_frame(now, port, frame, &mut ddr);
        self.settle(now);
    }

    /// Whether links come first now, which changes from frame to frame.
    pub(super) const fn is_links_turn(&mut self) -> bool {
        let Some(collectives) = &mut self.collectives else { return false };
        collectives.is_next = !collectives.is_next;
        collectives.is_next
    }

    /// The next frame that leaves at a link. Programs may have ended.
    pub(super) fn next_of_links(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        let collectives = self.collectives.as_mut()?;
        let sent = collectives.sequencer.poll(now, &mut Ddr { shell: &mut self.shell, ddr: &*self.ddr });
        self.end_programs(now);
        if self.shell.memory_failed {
            self.restart(now);
        }
        let Some((port, frame)) = sent else { return self.next_own(now) };
        self.shell.counters.frame(SENT, frame.len());
        Some(Output::Transmit(port, frame))
    }
}
