//! The page `src/gateware.md` in code, name by name and line by line.

use rackloom_transport::{AckPolicy, Epochs, Verdict};

/// A segment, as the page has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub src: u32,
    pub dst: u32,
    pub asks: bool,
    pub is_nack: bool,
    /// What is acknowledged, and the limit; if `dst` is not 0.
    pub ack: Option<(u32, u32)>,
    /// A number and its payload.
    pub data: Option<(u32, u64)>,
}

/// What a segment gave: nothing if it was the peer's error.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub restarted: bool,
    pub lost: Vec<u64>,
    pub delivered: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
pub struct Config {
    pub first: u32,
    pub window: u32,
    pub credit: u32,
    pub ack: AckPolicy,
    pub rto: u64,
    pub asks_seldom: bool,
}

/// The numbers of the present lives.
#[derive(Debug)]
pub struct Numbers {
    pub base: u32,
    pub next: u32,
    pub cursor: u32,
    pub limit: u32,
    pub size: u32,
    pub acked: u32,
    pub timer: Option<u64>,
    pub went_back: bool,
    pub probe: Option<u64>,
    pub expected: u32,
    pub granted: u32,
    pub announced: u32,
    pub unacked: u32,
    pub ack_at: Option<u64>,
    pub has_nacked: bool,
    pub nacks: bool,
}

#[derive(Debug)]
pub struct Page {
    pub config: Config,
    pub epochs: Epochs,
    pub hello_at: u64,
    pub hello_due: bool,
    pub n: Numbers,
    /// What is in flight, oldest first, and then what is queued.
    pub payloads: Vec<u64>,
}

fn is_before(a: u32, b: u32) -> bool {
    a != b && b.wrapping_sub(a) < 1 << 31
}

impl Numbers {
    const fn new(config: &Config) -> Self {
        let Config { first, window, credit, .. } = *config;
        let limit = first.wrapping_add(credit);
        Self {
            base: first,
            next: first,
            cursor: first,
            limit,
            size: window,
            acked: 0,
            timer: None,
            went_back: false,
            probe: None,
            expected: first,
            granted: limit,
            announced: limit,
            unacked: 0,
            ack_at: None,
            has_nacked: false,
            nacks: false,
        }
    }

    const fn flight(&self) -> usize {
        self.next.wrapping_sub(self.base) as usize
    }

    fn go_back(&mut self, now: u64, config: &Config) {
        self.cursor = self.base;
        self.size = (self.size / 2).max(config.window.min(4));
        self.acked = 0;
        self.went_back = true;
        self.timer = Some(now + config.rto);
    }

    fn grow(&mut self, n: u32, config: &Config) {
        self.acked += n;
        if self.acked >= self.size {
            self.acked = 0;
            self.size = (self.size + (config.window / 32).max(1)).min(config.window);
        }
    }

    fn is_open(&self) -> bool {
        (self.flight() as u32) < self.size && is_before(self.next, self.limit)
    }

    fn is_due(&self, now: u64) -> bool {
        self.ack_at.is_some_and(|at| at <= now)
    }
}

impl Page {
    pub const fn new(now: u64, config: Config, epoch: u32) -> Self {
        let n = Numbers::new(&config);
        Self { config, epochs: Epochs::new(epoch), hello_at: now, hello_due: false, n, payloads: Vec::new() }
    }

    fn has_queued(&self) -> bool {
        self.payloads.len() > self.n.flight()
    }

    fn begin_anew(&mut self) -> Outcome {
        let lost = self.payloads.drain(..self.n.flight()).collect();
        self.n = Numbers::new(&self.config);
        Outcome { restarted: true, lost, delivered: None }
    }

    pub fn handle(&mut self, now: u64, s: Segment) -> Option<Outcome> {
        let mut outcome = Outcome::default();
        match self.epochs.handle(s.src, s.dst) {
            Verdict::Current => {}
            Verdict::Restarted => {
                outcome = self.begin_anew();
                self.hello_due = true;
            }
            Verdict::Behind => {
                self.hello_due = true;
                return Some(self.begin_anew());
            }
            Verdict::Stale | Verdict::Unheard => {
                self.hello_due = true;
                return Some(outcome);
            }
        }
        let n = &mut self.n;
        let errs = s.data.is_some_and(|(seq, _)| !is_before(seq, n.granted))
            || s.ack.is_some_and(|(ack, _)| is_before(n.next, ack));
        if errs {
            return outcome.restarted.then_some(outcome);
        }
        if let Some((ack, limit)) = s.ack {
            if !is_before(ack, n.base) {
                let news = ack.wrapping_sub(n.base);
                if news > 0 {
                    n.base = ack;
                    n.cursor = if is_before(n.cursor, ack) { ack } else { n.cursor };
                    n.went_back = false;
                    n.timer = (n.base != n.next).then_some(now + self.config.rto);
                    self.payloads.drain(..news as usize);
                }
                let rto = self.config.rto;
                let is_known = n.went_back && n.timer.is_some_and(|timer| timer > now + (rto - rto / 4));
                if s.is_nack && n.base != n.next && !is_known {
                    n.go_back(now, &self.config);
                } else {
                    n.grow(news, &self.config);
                }
            }
            if is_before(n.limit, limit) {
                n.limit = limit;
                n.probe = None;
            }
        }
        match s.data {
            Some((seq, _)) if is_before(seq, n.expected) => n.ack_at = Some(now),
            Some((seq, payload)) if seq == n.expected => {
                n.expected = n.expected.wrapping_add(1);
                (n.has_nacked, n.nacks) = (false, false);
                n.unacked += 1;
                let is_now = s.asks || n.unacked >= self.config.ack.every;
                let due = now + if is_now { 0 } else { self.config.ack.delay.as_nanos() as u64 };
                n.ack_at = Some(n.ack_at.map_or(due, |at| at.min(due)));
                outcome.delivered = Some(payload);
            }
            Some(_) if s.asks || !n.has_nacked => {
                (n.has_nacked, n.nacks) = (true, true);
                n.ack_at = Some(now);
            }
            None if s.asks => n.ack_at = Some(now),
            _ => {}
        }
        Some(outcome)
    }

    pub fn consume(&mut self, now: u64, count: u32) {
        let n = &mut self.n;
        n.granted = n.granted.wrapping_add(count);
        if self.epochs.is_established() && n.granted.wrapping_sub(n.announced) >= (self.config.credit / 2).max(1) {
            n.ack_at = Some(now);
        }
    }

    pub fn timeout(&mut self, now: u64) {
        if self.n.timer.is_some_and(|at| at <= now) {
            self.n.go_back(now, &self.config);
        }
    }

    pub fn poll(&mut self, now: u64) -> Option<Segment> {
        let rto = self.config.rto;
        if !self.epochs.is_established() {
            if self.has_queued() && self.hello_at <= now {
                self.hello_at = now + rto;
                return Some(self.segment(true, false, None));
            }
            return self.hello_due.then(|| self.segment(false, false, None));
        }
        if self.n.nacks && self.n.is_due(now) {
            return Some(self.segment(false, true, None));
        }
        if self.n.cursor != self.n.next {
            let (seq, at) = (self.n.cursor, self.n.cursor.wrapping_sub(self.n.base));
            self.n.cursor = seq.wrapping_add(1);
            return Some(self.segment(self.n.cursor == self.n.next, false, Some((seq, self.payloads[at as usize]))));
        }
        if self.has_queued() && self.n.is_open() {
            let (seq, payload) = (self.n.next, self.payloads[self.n.flight()]);
            self.n.next = seq.wrapping_add(1);
            self.n.cursor = self.n.next;
            self.n.timer.get_or_insert(now + rto);
            let is_alone = self.n.next.wrapping_sub(self.n.base) == 1;
            let asks = if self.config.asks_seldom { is_alone || seq.is_multiple_of(8) } else { !self.has_queued() };
            let asks = asks || !self.n.is_open();
            return Some(self.segment(asks, false, Some((seq, payload))));
        }
        if self.has_queued() && self.n.base == self.n.next && !is_before(self.n.next, self.n.limit) {
            let probe = *self.n.probe.get_or_insert(now + rto);
            if probe <= now {
                self.n.probe = Some(now + rto);
                return Some(self.segment(true, false, None));
            }
        }
        (self.n.is_due(now) || self.hello_due).then(|| self.segment(false, false, None))
    }

    fn segment(&mut self, asks: bool, is_nack: bool, data: Option<(u32, u64)>) -> Segment {
        let (src, dst) = (self.epochs.local(), self.epochs.remote());
        self.hello_due = false;
        let mut ack = None;
        if dst != 0 {
            ack = Some((self.n.expected, self.n.granted));
            self.n.announced = self.n.granted;
            self.n.unacked = 0;
            self.n.ack_at = None;
            self.n.nacks = false;
        }
        Segment { src, dst, asks, is_nack, ack, data }
    }
}
