//! Small nodes to drive.
#![allow(dead_code, unreachable_pub)] // Each test program uses some of them.

use std::collections::VecDeque;

use rackloom_node::{Duration, Frame, Instant, Node, Output, Port};

/// Sends numbered frames to its peer, one window at a time, and sends back what is not its own. Tells when each of its
/// frames has come back.
#[derive(Debug)]
pub struct Echo {
    pub mac: [u8; 6],
    pub length: usize,
    peer: Option<[u8; 6]>,
    to_send: u32,
    next: u32,
    window: u32,
    back: u32,
    out: VecDeque<Frame>,
    done_told: bool,
}

/// All frames have come back, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done(pub [u8; 6], pub Instant);

pub fn mac(n: u16) -> [u8; 6] {
    let [hi, lo] = n.to_be_bytes();
    [2, 0x52, 0x4c, 0, hi, lo]
}

impl Echo {
    /// A node that only echoes.
    pub fn server(mac: [u8; 6]) -> Self {
        Self {
            mac,
            length: 60,
            peer: None,
            to_send: 0,
            next: 0,
            window: 0,
            back: 0,
            out: VecDeque::new(),
            done_told: true,
        }
    }

    /// Has it send `count` frames of `length` bytes to `peer`, `window` of them unanswered at a time.
    pub fn start(&mut self, peer: [u8; 6], length: usize, count: u32, window: u32) {
        assert!(self.done_told, "one at a time");
        (self.peer, self.length, self.to_send, self.window) = (Some(peer), length, count, window);
        (self.next, self.back, self.done_told) = (0, 0, false);
    }

    fn numbered(&self, dst: [u8; 6], number: u32) -> Frame {
        let mut bytes = vec![number as u8; self.length];
        bytes[..6].copy_from_slice(&dst);
        bytes[6..12].copy_from_slice(&self.mac);
        bytes[12..14].copy_from_slice(&[0x80, 0xdd]);
        bytes[14] = 0; // A question.
        bytes[15..19].copy_from_slice(&number.to_be_bytes());
        bytes.into()
    }
}

impl Node for Echo {
    type Event = Done;

    fn handle_frame(&mut self, _now: Instant, port: Port, frame: Frame) {
        assert_eq!(port, 0);
        if frame[..6] != self.mac {
            return; // Flooded: not for us.
        }
        if frame[14] == 1 {
            assert_eq!(frame[15..19], self.back.to_be_bytes(), "in order, none lost");
            assert_eq!(frame.len(), self.length);
            assert!(frame[19..].iter().all(|&b| b == self.back as u8));
            self.back += 1;
            return;
        }
        let mut answer = frame.to_vec();
        answer[..6].copy_from_slice(&frame[6..12]);
        answer[6..12].copy_from_slice(&self.mac);
        answer[14] = 1;
        self.out.push_back(answer.into());
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll(&mut self, now: Instant) -> Option<Output<Done>> {
        if let Some(frame) = self.out.pop_front() {
            return Some(Output::Transmit(0, frame));
        }
        if self.next < self.to_send && self.next < self.back + self.window {
            self.next += 1;
            return Some(Output::Transmit(0, self.numbered(self.peer.unwrap(), self.next - 1)));
        }
        if self.back == self.to_send && !self.done_told {
            self.done_told = true;
            return Some(Output::Event(Done(self.mac, now)));
        }
        None
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// Ticks at an interval and tells each tick; with interval 0 it always wants another slice of time at once.
#[derive(Debug)]
pub struct Ticker {
    pub interval: Duration,
    pub ticks: u64,
    pub limit: u64,
    /// Time each tick takes.
    pub work: Duration,
    next: Instant,
    told: u64,
}

impl Ticker {
    pub fn new(interval: Duration, limit: u64, work: Duration) -> Self {
        Self { interval, ticks: 0, limit, work, next: Instant::ZERO, told: 0 }
    }
}

impl Node for Ticker {
    type Event = (u64, Instant);

    fn handle_frame(&mut self, _now: Instant, _port: Port, _frame: Frame) {}

    fn handle_timeout(&mut self, now: Instant) {
        if now >= self.next && self.ticks < self.limit {
            let began = std::time::Instant::now();
            while began.elapsed() < self.work {
                std::hint::spin_loop();
            }
            self.ticks += 1;
            self.next = if self.interval.is_zero() { now } else { self.next + self.interval };
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output<Self::Event>> {
        if self.told == self.ticks {
            return None;
        }
        self.told += 1;
        Some(Output::Event((self.told, now)))
    }

    fn next_deadline(&self) -> Option<Instant> {
        (self.ticks < self.limit).then_some(self.next)
    }
}
