//! What all blocks of a card share: its configuration, counters, random numbers, and the FIFO of frames to send.

use std::collections::VecDeque;

use rackloom_node::{Duration, Frame, Instant, Port, Rng};
use rackloom_role::MemoryError;
use rackloom_sign::Release;
use rackloom_wire::{Counter, ErrorCode, Head, IntoBytes, Kind, MacAddr, Refusal, U16, U64, WINDOW_US_MAX};

use crate::{CardEvent, Config, Counters};

/// The shared parts.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) config: Config,
    pub(crate) counters: Counters,
    pub(crate) rng: Rng,
    /// DDR has answered with an error, or not at all: the card has to start again before it says anything more.
    pub(crate) memory_failed: bool,
    out: VecDeque<Frame>,
    out_bytes: usize,
    passing: VecDeque<(Port, Frame)>,
    events: VecDeque<CardEvent>,
    events_lost: u64,
}

impl Shell {
    pub(crate) fn new(config: Config) -> Self {
        let rng = Rng::new(config.seed);
        Self {
            config,
            counters: Counters::new(),
            rng,
            memory_failed: false,
            out: VecDeque::new(),
            out_bytes: 0,
            passing: VecDeque::new(),
            events: VecDeque::new(),
            events_lost: 0,
        }
    }

    /// The shell of the card's next life: what it had still to say is gone, and it is another card to its hosts.
    pub(crate) fn restart(&mut self) {
        self.config.boot = self.config.boot.wrapping_add(1);
        self.counters = Counters::new();
        self.memory_failed = false;
        self.out.clear();
        self.out_bytes = 0;
    }

    /// What an access to DDR yields; `None` if the memory has failed.
    ///
    /// # Panics
    /// At any other error: the caller has checked the range.
    pub(crate) fn access<T>(&mut self, result: Result<T, MemoryError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(MemoryError::Failed { .. } | MemoryError::Silent) => {
                self.memory_failed = true;
                None
            }
            Err(e) => panic!("the range was checked: {e}"),
        }
    }

    /// The head of a frame from this card.
    pub(crate) const fn head(&self, dst: MacAddr, kind: Kind, epoch: u16, seq: u32) -> Head {
        Head { dst, src: self.config.mac, kind, flags: 0, epoch, seq, addr: 0 }
    }

    /// Queues a control frame. All of them answer something that is asked again, or say what is said again: with the
    /// queue full, the frame is dropped and counted.
    pub(crate) fn send(&mut self, head: Head, payload: &[&[u8]]) {
        if self.out.len() >= OUT_MAX {
            self.counters.inc(Counter::DropQueue);
            return;
        }
        let frame = head.frame(payload);
        self.out_bytes += frame.len();
        self.out.push_back(frame);
    }

    /// Refuses what came in `asked`.
    pub(crate) fn refuse(&mut self, asked: &Head, kind: Kind, code: ErrorCode, detail: u64) {
        self.refuse_held(asked, kind, code, MacAddr::ZERO, detail);
    }

    /// Refuses what came in `asked`, naming the holder.
    pub(crate) fn refuse_held(&mut self, asked: &Head, kind: Kind, code: ErrorCode, holder: MacAddr, detail: u64) {
        self.counters.inc(Counter::Refusals);
        let body = Refusal { code: U16::new(code.into()), holder, detail: U64::new(detail) };
        let head = Head { addr: asked.addr, ..self.head(asked.src, kind, asked.epoch, asked.seq) };
        self.send(head, &[body.as_bytes()]);
    }

    /// The next control frame.
    pub(crate) fn next_frame(&mut self) -> Option<Frame> {
        let frame = self.out.pop_front()?;
        self.out_bytes -= frame.len();
        Some(frame)
    }

    /// Queues a frame that came in on one port to leave on another; with the queue full, it is dropped and counted. It
    /// is no affair of the shell's life: what waits leaves also after a restart.
    pub(crate) fn pass(&mut self, port: Port, frame: Frame) {
        if self.passing.len() >= PASSING_MAX {
            self.counters.inc(Counter::DropQueue);
        } else {
            self.passing.push_back((port, frame));
        }
    }

    /// The next frame that passes, with the port where it leaves.
    pub(crate) fn next_passing(&mut self) -> Option<(Port, Frame)> {
        self.passing.pop_front()
    }

    /// Notes an event. An owner that does not poll loses the newest, never the order.
    pub(crate) fn event(&mut self, event: CardEvent) {
        if self.events.len() >= EVENTS_MAX {
            self.events_lost += 1;
        } else {
            self.events.push_back(event);
        }
    }

    /// The card runs this from now on, and nothing older any more.
    pub(crate) fn has_run(&mut self, release: Option<Release>) {
        #[cfg(feature = "planted-bugs")]
        if self.config.planted == Some(crate::PlantedBug::ForgetVersion) {
            return;
        }
        if let Some(release) = release
            && self.config.versions.raise(&release)
        {
            self.event(CardEvent::Raised(release));
        }
    }

    /// The next event.
    pub(crate) fn next_event(&mut self) -> Option<CardEvent> {
        self.events.pop_front()
    }

    pub(crate) const fn events_lost(&self) -> u64 {
        self.events_lost
    }

    /// A random part of a window of microseconds, which nobody can make longer than [`WINDOW_US_MAX`].
    pub(crate) fn jitter_us(&mut self, window_us: u32) -> Duration {
        Duration::from_nanos(self.rng.below(u64::from(window_us.min(WINDOW_US_MAX)) * 1000))
    }

    /// Bytes held in queues.
    pub(crate) fn bytes(&self) -> usize {
        self.out_bytes + self.passing.iter().map(|(_, frame)| frame.len()).sum::<usize>()
    }

    pub(crate) fn check_invariants(&self) {
        assert!(self.out.len() <= OUT_MAX);
        assert!(self.passing.len() <= PASSING_MAX);
        assert!(self.events.len() <= EVENTS_MAX);
        assert_eq!(self.out_bytes, self.out.iter().map(Frame::len).sum::<usize>());
    }
}

/// The earlier of two deadlines, either of which may be none.
pub(crate) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The time that `bytes` take at `rate` bytes a second, rounded up; 0 for rate 0.
pub(crate) fn time_for(bytes: u64, rate: u64) -> Duration {
    if rate == 0 {
        return Duration::ZERO;
    }
    let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate));
    Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// Control frames waiting to be sent: several times what one poll's answer takes.
pub(crate) const OUT_MAX: usize = 256;
/// Frames that pass and wait for the wire: some hundred kilobytes of full ones.
pub(crate) const PASSING_MAX: usize = 64;
/// Events waiting to be fetched: the most that one frame causes is some 40, when a claim ends with launches queued.
pub(crate) const EVENTS_MAX: usize = 1024;
