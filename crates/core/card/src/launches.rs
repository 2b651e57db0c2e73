//! Launches: accepted in order, each once, and run one at a time.

use std::collections::VecDeque;

use rackloom_image::Kernel;
use rackloom_node::{Duration, Instant};
use rackloom_role::{self as role, Role, RoleFault, Step};
use rackloom_wire::{self as wire, Counter, ErrorCode, FromBytes, LAUNCH_ARGS, LAUNCH_QUEUE, U64};

use crate::memory::is_hosts;
use crate::shell::Shell;
use crate::{CardEvent, Pace};

/// A launch that is accepted and not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) epoch: u16,
    pub(crate) seq: u32,
    pub(crate) out_addr: u64,
    pub(crate) out_length: u64,
    pub(crate) credit: u16,
    kernel: u16,
    fuel: u64,
    /// 0, or the number of the Go it still waits for.
    pub(crate) go: u32,
    pub(crate) args: Vec<u64>,
}

/// A launch that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) launch: Launch,
    pub(crate) status: ErrorCode,
    pub(crate) value: u64,
    pub(crate) cycles: u64,
    pub(crate) started: Instant,
    pub(crate) finished: Instant,
}

/// The launch block. It is made anew for each claim.
#[derive(Debug)]
pub(crate) struct Launches {
    /// Number of the newest launch accepted.
    last: u32,
    /// In order; the first is the one that runs, if one does.
    queue: VecDeque<Launch>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    started: Instant,
    /// In virtual or clocked time: how it ends, and when that shows.
    end: Option<(Instant, Step)>,
    /// It waits for another node's memory.
    waits: bool,
}

/// What a launch's number tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It has been accepted before.
    Before,
    /// It is the next.
    Next,
    /// Others must come first.
    Later,
}

impl Turn {
    /// What the number `seq` tells a card that has accepted `last` as the newest.
    pub const fn of(last: u32, seq: u32) -> Self {
        match seq.wrapping_sub(last) {
            1 => Self::Next,
            // Numbers wrap: those up to 2^31 behind are old.
            0 | 0x8000_0000.. => Self::Before,
            _ => Self::Later,
        }
    }
}

impl Launches {
    pub(crate) const fn new() -> Self {
        Self { last: 0, queue: VecDeque::new(), running: None }
    }

    pub(crate) const fn turn(&self, seq: u32) -> Turn {
        Turn::of(self.last, seq)
    }

    /// Launches accepted and not finished.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(crate) const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(crate) fn has(&self, seq: u32) -> bool {
        self.queue.iter().any(|l| l.seq == seq)
    }

    /// Checks a launch whose turn it is: the code and its detail if it is refused.
    pub(crate) fn judge(
        &self,
        ddr: &dyn role::Memory,
        kernels: &[Kernel],
        kernel: u64,
        body: &wire::Launch,
    ) -> Result<(), (ErrorCode, u64)> {
        check_launch(ddr.len(), kernels.iter().map(|k| k.args.len()), kernel, body)?;
        if self.queue.len() >= LAUNCH_QUEUE as usize {
            return Err((ErrorCode::Busy, LAUNCH_QUEUE.into()));
        }
        Ok(())
    }

    /// Accepts a launch that has passed [`judge`](Self::judge).
    pub(crate) fn accept(&mut self, shell: &mut Shell, head: &wire::Head, body: &wire::Launch, args: Vec<u64>) {
        let launch = self.accept_elsewhere(shell, head, body, args);
        self.queue.push_back(launch);
    }

    /// Accepts a launch that waits and runs elsewhere.
    pub(crate) fn accept_elsewhere(
        &mut self,
        shell: &mut Shell,
        head: &wire::Head,
        body: &wire::Launch,
        args: Vec<u64>,
    ) -> Launch {
        self.last = head.seq;
        shell.counters.inc(Counter::Launches);
        Launch {
            epoch: head.epoch,
            seq: head.seq,
            out_addr: body.out_addr.get(),
            out_length: body.out_length.get(),
            credit: body.credit.get(),
            kernel: u16::try_from(head.addr).expect("kernels have numbers of 16 bits"),
            fuel: body.fuel.get(),
            go: body.go.get(),
            args,
        }
    }

    /// Uses a launch's number up without executing it.
    pub(crate) fn reject(&mut self, now: Instant, shell: &mut Shell, head: &wire::Head, code: ErrorCode) -> Ended {
        self.last = head.seq;
        shell.event(CardEvent::LaunchEnded { epoch: head.epoch, seq: head.seq, status: code });
        let launch = Launch {
            epoch: head.epoch,
            seq: head.seq,
            out_addr: 0,
            out_length: 0,
            credit: 0,
            kernel: 0,
            fuel: 0,
            go: 0,
            args: Vec::new(),
        };
        Ended { launch, status: code, value: 0, cycles: 0, started: now, finished: now }
    }

    /// True when the newest launch has this number.
    #[cfg(feature = "planted-bugs")]
    pub(crate) const fn is_last(&self, seq: u32) -> bool {
        self.last == seq
    }

    /// A Go with this number has come.
    pub(crate) fn go(&mut self, number: u32) {
        for launch in self.queue.iter_mut().filter(|l| l.go == number) {
            launch.go = 0;
        }
    }

    /// Starts the first launch if it may start and none runs. Yields it if it ended at once.
    pub(crate) fn start(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        role: &mut dyn Role,
        clock_khz: u32,
    ) -> Option<Ended> {
        if self.running.is_some() {
            return None;
        }
        let launch = self.queue.front().filter(|l| l.go == 0)?;
        let bound = if launch.fuel == 0 { shell.config.fuel_max } else { launch.fuel.min(shell.config.fuel_max) };
        shell.event(CardEvent::LaunchStarted { epoch: launch.epoch, seq: launch.seq, kernel: launch.kernel });
        self.running = Some(Running { started: now, end: None, waits: false });
        if role.start(launch.kernel.into(), &launch.args, bound).is_err() {
            // The host that runs the model is out of memory: kernel and arguments were checked.
            return Some(self.finish(now, shell, ErrorCode::Busy, 0, 0));
        }
        if shell.config.pace == Pace::Virtual {
            let step = whole(role);
            let waits = step == Step::Waiting;
            let at = now + Duration::from_nanos(cycles_ns(cycles_of(&step), clock_khz));
            self.running = Some(Running { started: now, end: (!waits).then_some((at, step)), waits });
        }
        None
    }

    /// Something that the kernel has begun elsewhere has ended.
    pub(crate) const fn go_on(&mut self) {
        if let Some(running) = &mut self.running {
            running.waits = false;
        }
    }

    /// Goes on with the launch that runs: one slice when live. Yields it if it has ended.
    pub(crate) fn step(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        role: &mut dyn Role,
        clock_khz: u32,
    ) -> Option<Ended> {
        let running = self.running.as_mut()?;
        let step = match running.end.take_if(|(at, _)| *at <= now) {
            Some((_, step)) => step,
            None if running.end.is_some() || running.waits => return None,
            None if shell.config.pace == Pace::Virtual => whole(role),
            None => role.step(),
        };
        if step == Step::Waiting {
            running.waits = true;
            return None;
        }
        // A kernel that has waited for others ends no sooner than its cycles take; waiting counts as they do.
        if shell.config.pace != Pace::Live && step != Step::Running {
            let at = running.started + Duration::from_nanos(cycles_ns(cycles_of(&step), clock_khz));
            if at > now {
                running.end = Some((at, step));
                return None;
            }
        }
        let (status, value, cycles) = match step {
            Step::Running | Step::Waiting => return None,
            Step::Done { value, cycles } => (ErrorCode::Ok, value, cycles),
            Step::Failed { fault, cycles, .. } => (status_of(fault), 0, cycles),
        };
        Some(self.finish(now, shell, status, value, cycles))
    }

    /// Ends one launch. Yields it if it was there.
    pub(crate) fn cancel(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        role: Option<&mut dyn Role>,
        seq: u32,
    ) -> Option<Ended> {
        let at = self.queue.iter().position(|l| l.seq == seq)?;
        if at == 0 && self.running.is_some() {
            let cycles = self.stop(role);
            return Some(self.finish(now, shell, ErrorCode::Cancelled, 0, cycles));
        }
        let launch = self.queue.remove(at).expect("it was found");
        Some(ended(now, shell, launch, now, ErrorCode::Cancelled, 0, 0))
    }

    /// Ends all launches.
    pub(crate) fn cancel_all(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        mut role: Option<&mut dyn Role>,
    ) -> Vec<Ended> {
        let mut all = Vec::with_capacity(self.queue.len());
        while let Some(seq) = self.queue.front().map(|l| l.seq) {
            let role: Option<&mut dyn Role> = match &mut role {
                Some(r) => Some(&mut **r),
                None => None,
            };
            all.extend(self.cancel(now, shell, role, seq));
        }
        all
    }

    /// When [`step`](Self::step) or [`start`](Self::start) has something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.running {
            Some(Running { end: Some((at, _)), .. }) => Some(*at),
            Some(Running { waits: true, .. }) => None,
            Some(_) => Some(Instant::ZERO),
            None => None,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.queue.iter().map(|l| size_of::<Launch>() + l.args.len() * 8).sum()
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.queue.len() <= LAUNCH_QUEUE as usize);
        assert!(self.running.is_none() || self.queue.front().is_some_and(|l| l.go == 0));
        assert!(self.queue.iter().all(|l| self.turn(l.seq) == Turn::Before));
    }

    /// Stops the kernel. Yields the cycles it took.
    fn stop(&mut self, role: Option<&mut dyn Role>) -> u64 {
        match self.running.as_mut().and_then(|r| r.end.take()) {
            // In virtual time the kernel has been computed already. Its writes stay, as those of a stopped one would.
            Some((_, step)) => cycles_of(&step),
            None => role.and_then(Role::cancel).as_ref().map_or(0, cycles_of),
        }
    }

    fn finish(&mut self, now: Instant, shell: &mut Shell, status: ErrorCode, value: u64, cycles: u64) -> Ended {
        let running = self.running.take().expect("a kernel runs");
        let launch = self.queue.pop_front().expect("the first launch runs");
        ended(now, shell, launch, running.started, status, value, cycles)
    }
}

pub(crate) fn ended(
    now: Instant,
    shell: &mut Shell,
    launch: Launch,
    started: Instant,
    status: ErrorCode,
    value: u64,
    cycles: u64,
) -> Ended {
    shell.counters.inc(if status == ErrorCode::Ok { Counter::KernelsDone } else { Counter::KernelsFailed });
    shell.counters.add(Counter::KernelCycles, cycles);
    shell.event(CardEvent::LaunchEnded { epoch: launch.epoch, seq: launch.seq, status });
    Ended { launch, status, value, cycles, started, finished: now }
}

/// Checks what a launch asks for: `kernel` of a role whose kernels take these numbers of arguments, with its output in
/// `memory` bytes of DDR.
///
/// # Errors
/// Code and detail of the refusal: [`ErrorCode::UnknownKernel`] with the number of kernels,
/// [`ErrorCode::BadArguments`] with the number that the kernel takes, [`ErrorCode::BadAddress`] with `memory`.
pub fn check_launch(
    memory: u64,
    mut takes: impl ExactSizeIterator<Item = usize>,
    kernel: u64,
    body: &wire::Launch,
) -> Result<(), (ErrorCode, u64)> {
    let kernels = takes.len();
    let Some(takes) = usize::try_from(kernel).ok().and_then(|k| takes.nth(k)) else {
        return Err((ErrorCode::UnknownKernel, kernels as u64));
    };
    if usize::from(body.args.get()) != takes {
        return Err((ErrorCode::BadArguments, takes as u64));
    }
    if body.out_length.get() > 0 && !is_hosts(memory, body.out_addr.get(), body.out_length.get()) {
        return Err((ErrorCode::BadAddress, memory));
    }
    Ok(())
}

/// A launch's head and arguments; `None` if the payload is not exactly these.
pub fn parse_launch(payload: &[u8]) -> Option<(&wire::Launch, Vec<u64>)> {
    let (body, rest) = wire::Launch::ref_from_prefix(payload).ok()?;
    if u32::from(body.args.get()) > LAUNCH_ARGS || rest.len() != 8 * usize::from(body.args.get()) {
        return None;
    }
    let words = <[U64]>::ref_from_bytes(rest).ok()?;
    Some((body, words.iter().map(|w| w.get()).collect()))
}

/// Slices until the kernel ends or waits.
fn whole(role: &mut dyn Role) -> Step {
    std::iter::repeat_with(|| role.step()).find(|step| *step != Step::Running).expect("endless")
}

fn cycles_of(step: &Step) -> u64 {
    match step {
        Step::Running | Step::Waiting => 0,
        Step::Done { cycles, .. } | Step::Failed { cycles, .. } => *cycles,
    }
}

const fn status_of(fault: RoleFault) -> ErrorCode {
    match fault {
        RoleFault::Cancelled => ErrorCode::Cancelled,
        RoleFault::Fuel => ErrorCode::KernelFuel,
        RoleFault::Trap => ErrorCode::KernelTrap,
        RoleFault::Remote => ErrorCode::KernelRemote,
    }
}

fn cycles_ns(cycles: u64, clock_khz: u32) -> u64 {
    let ns = (u128::from(cycles) * 1_000_000).div_ceil(u128::from(clock_khz));
    u64::try_from(ns).unwrap_or(u64::MAX)
}
