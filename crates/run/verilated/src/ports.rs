//! The network port: frames become words and words become frames, as a MAC does it.

use std::collections::VecDeque;

use bytes::BytesMut;
use rackloom_node::{Frame, Rng};

use crate::ffi::{MacIn, MacOut, WORD_MAX};

/// Frames on their way into the card.
#[derive(Debug)]
pub(crate) struct RxPort {
    /// Bytes of a word.
    word: usize,
    waiting: VecDeque<Arrival>,
    waiting_bytes: usize,
    /// Bytes of the first frame that are in the card.
    at: usize,
    /// Words that pass between two frames, and how many of them are left.
    gap: u32,
    gap_left: u32,
    gaps_in_256: u8,
    rng: Rng,
    lost: u64,
}

#[derive(Debug)]
struct Arrival {
    frame: Frame,
    fcs: Fcs,
}

/// What a MAC says about a frame's check sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fcs {
    Right,
    Wrong,
}

impl RxPort {
    pub(crate) const fn new(word: usize, gap: u32, gaps_in_256: u8, rng: Rng) -> Self {
        Self { word, waiting: VecDeque::new(), waiting_bytes: 0, at: 0, gap, gap_left: 0, gaps_in_256, rng, lost: 0 }
    }

    /// A frame arrives. One that no MAC would deliver, because it is empty or too long, is lost, and so is one for
    /// which there is no room.
    pub(crate) fn push(&mut self, frame: Frame, fcs: Fcs) {
        if frame.is_empty() || frame.len() > FRAME_MAX || self.waiting_bytes + frame.len() > WAITING_MAX {
            self.lost += 1;
            return;
        }
        self.waiting_bytes += frame.len();
        self.waiting.push_back(Arrival { frame, fcs });
    }

    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Nothing is left to be received.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Puts the next word on the wires.
    pub(crate) fn drive(&mut self, mac: &mut MacIn) {
        mac.rx_valid = false;
        if self.gap_left > 0 {
            self.gap_left -= 1;
            return;
        }
        let Some(first) = self.waiting.front() else { return };
        if self.gaps_in_256 > 0 && self.rng.below(256) < self.gaps_in_256.into() {
            return;
        }
        let word = &first.frame[self.at..first.frame.len().min(self.at + self.word)];
        mac.rx_data = [0; WORD_MAX];
        mac.rx_data[..word.len()].copy_from_slice(word);
        self.at += word.len();
        mac.rx_valid = true;
        mac.rx_keep = keep(word.len());
        mac.rx_last = self.at == first.frame.len();
        mac.rx_bad = mac.rx_last && first.fcs == Fcs::Wrong;
        if mac.rx_last {
            self.waiting_bytes -= first.frame.len();
            self.waiting.pop_front();
            self.at = 0;
            self.gap_left = self.gap;
        }
    }
}

/// Frames on their way out of the card.
#[derive(Debug)]
pub(crate) struct TxPort {
    /// Bytes of a word.
    word: usize,
    frame: BytesMut,
    /// Whole frames that wait to be fetched.
    sent: VecDeque<Frame>,
    ready: bool,
    gap: u32,
    gap_left: u32,
    stalls_in_256: u8,
    rng: Rng,
}

impl TxPort {
    pub(crate) fn new(word: usize, gap: u32, stalls_in_256: u8, rng: Rng) -> Self {
        let (frame, sent) = (BytesMut::new(), VecDeque::new());
        Self { word, frame, sent, ready: false, gap, gap_left: 0, stalls_in_256, rng }
    }

    /// The next whole frame.
    pub(crate) fn pop(&mut self) -> Option<Frame> {
        self.sent.pop_front()
    }

    /// A whole frame waits.
    pub(crate) fn has_frame(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Forgets what is half sent.
    pub(crate) fn cut(&mut self) {
        self.frame.clear();
    }

    /// Adds a frame that does not come from the gateware.
    pub(crate) fn push(&mut self, frame: Frame) {
        self.sent.push_back(frame);
    }

    /// No frame is half sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.frame.is_empty()
    }

    /// Says whether the next word would be taken.
    pub(crate) fn drive(&mut self, mac: &mut MacIn) {
        // In a frame the wire takes a word at each cycle; before one, it is ready when it wants.
        let stalls = self.stalls_in_256 > 0 && self.rng.below(256) < self.stalls_in_256.into();
        let between = self.sent.len() < SENT_MAX && self.gap_left == 0 && !stalls;
        self.ready = !self.frame.is_empty() || between;
        self.gap_left = self.gap_left.saturating_sub(1);
        mac.tx_ready = self.ready;
    }

    /// Takes the word on the wires.
    ///
    /// # Panics
    /// If the gateware sends what no MAC can: a frame with a hole, or a word that is part empty and not the last.
    pub(crate) fn take(&mut self, out: &MacOut) {
        if !self.ready {
            return;
        }
        if out.tx_valid == 0 {
            assert!(
                self.frame.is_empty(),
                "the card has no word when the wire wants it, after {} bytes",
                self.frame.len()
            );
            return;
        }
        let bytes = out.tx_keep.trailing_ones() as usize;
        let (last, whole) = (out.tx_last != 0, bytes == self.word);
        assert!(out.tx_keep == keep(bytes) && bytes > 0 && (last || whole), "tx_keep is {:#06x}", out.tx_keep);
        self.frame.extend_from_slice(&out.tx_data[..bytes]);
        assert!(self.frame.len() <= FRAME_MAX, "the card sends a frame without end");
        if last {
            self.sent.push_back(self.frame.split().freeze());
            self.gap_left = self.gap;
        }
    }
}

/// The valid bytes of a word with so many.
const fn keep(bytes: usize) -> u16 {
    ((1_u32 << bytes) - 1) as u16
}

/// Preamble, check sequence and the gap between frames, in bytes: what a frame takes on the wire beyond its own.
pub(crate) const WIRE_GAP: usize = 24;
/// Longest frame that the port receives: a jumbo frame, which the card has to judge even if it takes none.
const FRAME_MAX: usize = 9216;
/// Bytes that wait to be received, when the simulation is slower than the network: a long window of a host.
const WAITING_MAX: usize = 16 << 20;
/// Frames that wait to be fetched; then the card waits.
const SENT_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_become_words_and_words_frames() {
        for (word, gap, gaps) in [(8, 0, 0), (8, 3, 0), (8, 0, 128), (8, 3, 200), (16, 0, 0), (16, 2, 200)] {
            let mut rx = RxPort::new(word, gap, gaps, Rng::new(3));
            let mut tx = TxPort::new(word, gap, gaps, Rng::new(4));
            let frames: Vec<Frame> = (1..100).map(|n| Frame::from(vec![n as u8; n])).collect();
            for frame in &frames {
                rx.push(frame.clone(), if frame.len() == 5 { Fcs::Wrong } else { Fcs::Right });
            }
            let (mut got, mut bad) = (Vec::new(), 0);
            let mut mac = MacIn::QUIET;
            let mut waiting: VecDeque<MacOut> = VecDeque::new();
            for _ in 0..20_000 {
                rx.drive(&mut mac);
                if mac.rx_valid {
                    bad += u32::from(mac.rx_bad);
                    let (tx_keep, tx_last) = (mac.rx_keep, mac.rx_last.into());
                    waiting.push_back(MacOut { tx_data: mac.rx_data, tx_valid: 1, tx_keep, tx_last });
                }
                // A frame goes out when all of it is there.
                let whole = waiting.iter().any(|word| word.tx_last != 0);
                tx.drive(&mut mac);
                let word = waiting.front().filter(|_| whole || !tx.is_idle());
                tx.take(word.unwrap_or(&MacOut::QUIET));
                if mac.tx_ready && (whole || !tx.is_idle()) {
                    waiting.pop_front();
                }
                got.extend(tx.pop());
            }
            assert_eq!((got.len(), bad), (99, 1));
            assert!(got == frames && rx.is_idle() && tx.is_idle());
        }
    }

    #[test]
    fn what_no_port_takes_is_lost_and_counted() {
        let mut rx = RxPort::new(8, 0, 0, Rng::new(1));
        for frame in [Frame::new(), Frame::from(vec![0; FRAME_MAX + 1])] {
            rx.push(frame, Fcs::Right);
        }
        let many = WAITING_MAX / FRAME_MAX + 5;
        for _ in 0..many {
            rx.push(Frame::from_static(&[0; FRAME_MAX]), Fcs::Right);
        }
        assert_eq!(rx.lost(), 2 + 5);
    }

    #[test]
    #[should_panic(expected = "no word when the wire wants it")]
    fn a_hole_in_a_frame_is_a_bug() {
        let mut tx = TxPort::new(8, 0, 0, Rng::new(1));
        tx.drive(&mut MacIn::QUIET.clone());
        tx.take(&MacOut { tx_valid: 1, tx_keep: 0xff, ..MacOut::QUIET });
        tx.drive(&mut MacIn::QUIET.clone());
        tx.take(&MacOut::QUIET);
    }
}
