//! Random frames that mean something, most of them.

use std::collections::VecDeque;

use bytes::Bytes;
use rackloom_node::{Duration, Rng};
use rackloom_wire::{
    self as wire, CARDS, Counter, FLAG_ACK_NOW, Head, ImageBegin, IntoBytes, Kind, MacAddr, U16, U32, U64,
};

use super::burst::Burst;
use super::flows::Past;
use crate::bench::{
    BASE, BEATS, CARD, CHUNK, CLAIM_GROUP, GROUP, HOST, MEMORY, Out, RIVAL, Sent, ack_body, begin_body, launch_payload,
};
use crate::images;
use crate::images::kernel::{BUMP, SPIN, TRAP};

/// A host, its rival and a peer, of little discipline.
#[derive(Debug)]
pub struct Traffic {
    rng: Rng,
    /// Frames made so far.
    frames: u64,
    owner: MacAddr,
    epoch: u16,
    /// The card has an owner.
    claimed: bool,
    nonce: u64,
    /// Numbers of the next write, launch, load and poll.
    write: u32,
    launch: u32,
    /// The newest launch that the card has.
    launched: u32,
    load: u32,
    /// The card takes part in that load.
    loading: bool,
    poll: u32,
    /// What the present load sends.
    image: Vec<u8>,
    chunk: usize,
    /// Chunks that have not been sent once.
    unsent: Vec<usize>,
    /// This burst carries image data; others ask how far it is.
    loads: bool,
    /// Results that were announced: number and chunks.
    results: Vec<(u32, u32)>,
    /// Frames to say again.
    history: VecDeque<Bytes>,
}

impl Traffic {
    /// The traffic that this seed gives.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed),
            frames: 0,
            owner: HOST,
            epoch: 0,
            claimed: false,
            nonce: 1,
            write: 1,
            launch: 1,
            launched: 0,
            load: 1,
            loading: false,
            poll: 1,
            image: images::probe(0, 0),
            chunk: CHUNK.into(),
            unsent: Vec::new(),
            loads: true,
            results: Vec::new(),
            history: VecDeque::new(),
        }
    }

    /// Frames made so far.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// A host hears what a card sends, and whose it says it is; and so knows what the next frames have to say.
    pub fn hear(&mut self, sent: &[Sent], past: &Past, owner: MacAddr) {
        let before = (self.owner, self.epoch);
        if let Some((owner, epoch)) = past.claim() {
            (self.owner, self.epoch) = (owner, epoch);
        }
        self.claimed = !owner.is_zero();
        if (self.owner, self.epoch) != before || !self.claimed {
            (self.write, self.launched, self.loading) = (1, 0, false);
            self.results.clear();
        }
        for frame in sent.iter().filter(|s| s.head.dst == self.owner) {
            let seq = frame.head.seq;
            match frame.head.kind {
                Kind::ImageConfirmReady => self.loading = true,
                Kind::ImageConfirmActive | Kind::ImageConfirmWritten | Kind::ImageConfirmFailed => self.loading = false,
                _ if frame.head.epoch != self.epoch => {}
                Kind::InputConfirmWriteAck => self.write = seq,
                Kind::ResultAccepted => self.launched = self.launched.max(seq),
                Kind::ResultDone => {
                    self.launched = self.launched.max(seq);
                    if !self.results.iter().any(|r| r.0 == seq) {
                        self.results.push((seq, frame.body::<wire::Done>().chunks.get()));
                    }
                }
                _ => {}
            }
        }
        self.launch = self.launched.wrapping_add(1);
    }

    /// The next burst.
    pub fn burst(&mut self) -> Burst {
        let count = match self.below(8) {
            0 => 1,
            7 => 60,
            _ => 2 + self.below(24),
        };
        let mut frames = self.opening();
        let mut bytes: usize = frames.iter().map(Bytes::len).sum();
        while (frames.len() as u64) < count && bytes < BURST_BYTES {
            let frame = self.frame();
            bytes += frame.len();
            self.history.push_back(frame.clone());
            if self.history.len() > 64 {
                self.history.pop_front();
            }
            frames.push(frame);
        }
        let pause = match self.below(40) {
            0 => Duration::from_millis(300),
            1..=4 => Duration::from_millis(3),
            _ => Duration::from_micros(60),
        };
        let mut burst = Burst::new(frames, pause);
        // A frame whose check sequence is wrong does nothing, wherever it stands.
        if self.below(8) == 0 {
            let at = self.below(burst.frames.len() as u64 + 1) as usize;
            let frame = self.frame();
            burst.frames.insert(at, (frame, false));
        }
        self.frames += burst.frames.len() as u64;
        burst
    }

    /// What chance alone would seldom bring about: a card that has an owner, a load that comes to its end.
    fn opening(&mut self) -> Vec<Bytes> {
        let mut frames = Vec::new();
        self.loads = true;
        if !self.claimed && self.below(8) > 0 {
            self.nonce += 1;
            frames.push(self.claim_of(HOST, 60_000));
        }
        match self.below(6) {
            0 | 1 if !self.loading => frames.push(self.begin()),
            0 | 1 => {
                while !self.unsent.is_empty() && frames.len() < 8 {
                    frames.push(self.data());
                }
            }
            2 => {
                self.loads = false;
                frames.push(self.group(Kind::ImageCommit, self.load, 0, &[]));
            }
            3 => self.loads = false,
            _ => {}
        }
        frames
    }

    fn frame(&mut self) -> Bytes {
        match self.below(20) {
            0 => self.noise(),
            1 | 2 => self.near(),
            3 | 4 if !self.history.is_empty() => {
                let at = self.below(self.history.len() as u64) as usize;
                self.history[at].clone()
            }
            5 | 6 => {
                let frame = self.meant();
                self.mutate(&frame)
            }
            _ => self.meant(),
        }
    }

    /// Any bytes at all.
    fn noise(&mut self) -> Bytes {
        let length = 1 + self.below(120) as usize;
        let mut bytes: Vec<u8> = (0..length).map(|_| self.rng.next_u64() as u8).collect();
        if self.below(2) == 0 {
            let dst = CARD.0;
            bytes.iter_mut().zip(dst).for_each(|(byte, mac)| *byte = mac);
        }
        bytes.into()
    }

    /// A head of the right form, with anything behind it.
    fn near(&mut self) -> Bytes {
        let dst = self.pick(&[
            CARD,
            CARD,
            CARD,
            CARDS,
            MacAddr::group(GROUP),
            MacAddr::group(CLAIM_GROUP),
            MacAddr::BROADCAST,
        ]);
        let src = self.pick(&[self.owner, self.owner, HOST, RIVAL, PEER, CARD]);
        let epoch = self.pick(&[self.epoch, self.epoch, self.epoch.wrapping_add(1), 0, GROUP, CLAIM_GROUP]);
        let addr = self.pick(&[0, 1, BASE, BASE - 1, MEMORY - 4, MEMORY, 1 << 40, u64::MAX]);
        let kind = self.pick(&Kind::ALL);
        let (seq, flags) = (self.below(300) as u32, self.below(16) as u8);
        let mut length = self.below(160) as usize;
        if length == size_of::<wire::Poll>() && matches!(kind, Kind::DiscoverySolicit | Kind::ImagePoll) {
            // A delay of any length would answer in some later burst.
            length += 1;
        }
        let payload: Vec<u8> = (0..length).map(|_| self.rng.next_u64() as u8).collect();
        Head { dst, src, kind, flags, epoch, seq, addr }.frame(&[&payload])
    }

    /// A frame with some of it turned, cut off or added.
    fn mutate(&mut self, frame: &Bytes) -> Bytes {
        let mut bytes = frame.to_vec();
        match self.below(4) {
            0 => {
                let length = 1 + self.below(bytes.len() as u64) as usize;
                bytes.truncate(length);
            }
            1 => {
                let more = self.below(80) as usize;
                bytes.extend((0..more).map(|_| self.rng.next_u64() as u8));
            }
            _ => {
                for _ in 0..=self.below(3) {
                    // Not beyond the head: a payload may hold delays, bounds and addresses that take a card its time.
                    let at = self.below(HEAD_BYTES.min(bytes.len()) as u64) as usize;
                    bytes[at] ^= 1 << self.below(8);
                }
            }
        }
        bytes.into()
    }

    /// A frame as a host would send it now.
    fn meant(&mut self) -> Bytes {
        match self.below(64) {
            0 => self.claim(),
            1 => self.release(),
            2 => self.begin(),
            3 => self.group(Kind::ImageAbort, 0, 0, &[]),
            4..=12 if self.loads => self.data(),
            4..=19 => self.report_or_poll(),
            20..=36 => self.input(),
            37..=43 => self.read(),
            44..=49 => self.start(),
            50 => self.own(Kind::ExecCancel, self.launch.wrapping_sub(1), 0, &[]),
            51 => self.own(Kind::ExecQuery, self.launch.wrapping_sub(1), 0, &[]),
            52 | 53 => self.go(),
            54..=57 => self.ack(),
            58 => self.own(Kind::SessionPing, self.poll, 0, &[]),
            59 => {
                let from = self.below(Counter::COUNT as u64 + 2);
                self.own(Kind::SessionCountersGet, 1, from, &[])
            }
            60 => {
                let from = self.below(900);
                self.own(Kind::SessionManifestGet, 2, from, &[])
            }
            _ => self.solicit(),
        }
    }

    fn claim(&mut self) -> Bytes {
        let host = if self.below(4) == 0 { RIVAL } else { HOST };
        // A copy, or a new one.
        self.nonce += self.below(3);
        let lease_ms = if self.below(6) == 0 { 200 } else { 60_000 };
        self.claim_of(host, lease_ms)
    }

    fn claim_of(&mut self, host: MacAddr, lease_ms: u32) -> Bytes {
        let body = wire::Claim {
            nonce: U64::new(self.nonce),
            lease_ms: U32::new(lease_ms),
            group: U16::new(CLAIM_GROUP),
            scrub: (self.below(8) == 0).into(),
            beats: BEATS,
        };
        let head = Head { src: host, epoch: 0, ..self.head(Kind::SessionClaim, self.nonce as u32, 0) };
        head.frame(&[body.as_bytes()])
    }

    fn release(&mut self) -> Bytes {
        let body = wire::Release { scrub: (self.below(4) == 0).into(), reserved: [0; 7] };
        // Seldom the owner's: a card without a claim does little.
        let src = if self.below(3) == 0 { self.owner } else { RIVAL };
        let head = Head { src, ..self.head(Kind::SessionRelease, 3, 0) };
        head.frame(&[body.as_bytes()])
    }

    fn begin(&mut self) -> Bytes {
        if self.below(4) > 0 || self.load == 1 {
            self.load += 1;
            let filler = if self.below(4) == 0 { 0 } else { self.below(6000) as usize };
            self.image = images::probe(self.load, filler);
            self.chunk = self.pick(&[1472, 1408, 704, 256, 64]);
            self.unsent = (0..self.image.len().div_ceil(self.chunk)).collect();
        }
        let mut body: ImageBegin = begin_body(&self.image, self.chunk as u16);
        // One of eight announces another digest than the image has.
        body.digest[5] ^= u8::from(self.load.is_multiple_of(8));
        self.own(Kind::ImageBegin, self.load, 0, body.as_bytes())
    }

    fn data(&mut self) -> Bytes {
        let chunks = self.image.len().div_ceil(self.chunk);
        let again = self.unsent.is_empty() || self.below(8) == 0;
        let index = if again {
            self.below(chunks as u64) as usize
        } else {
            let at = self.below(self.unsent.len() as u64) as usize;
            self.unsent.swap_remove(at)
        };
        let (from, to) = (index * self.chunk, self.image.len().min((index + 1) * self.chunk));
        let piece = self.image[from..to].to_vec();
        self.group(Kind::ImageData, 0, from as u64, &piece)
    }

    fn report_or_poll(&mut self) -> Bytes {
        if self.below(2) == 0 {
            let first = self.below(self.image.len().div_ceil(self.chunk) as u64) as u32;
            let ranges = [(first, 1 + self.below(3) as u32)];
            let head = Head { src: PEER, ..self.group_head(Kind::ImageConfirmMissing, self.poll, 0) };
            return head.frame(&[&wire::missing_report(9, &ranges, 0)]);
        }
        // Mostly the same again, of which others have told in the meantime.
        self.poll += u32::from(self.below(4) == 0);
        let body = wire::Poll { window_us: U32::ZERO, reserved: U32::ZERO };
        self.group(Kind::ImagePoll, self.poll, 0, body.as_bytes())
    }

    fn input(&mut self) -> Bytes {
        let seq = match self.below(12) {
            0 => self.write.wrapping_add(self.below(300) as u32),
            1 => self.write.wrapping_sub(1 + self.below(5) as u32),
            2 => self.write.wrapping_add(1 + self.below(4) as u32),
            _ => {
                self.write = self.write.wrapping_add(1);
                self.write.wrapping_sub(1)
            }
        };
        let length = match self.below(8) {
            0 => 1472,
            1 => 1473,
            2 => 0,
            _ => self.below(200),
        };
        let addr = self.address(length);
        let bytes: Vec<u8> = (0..length).map(|_| self.rng.next_u64() as u8).collect();
        let flags = if self.below(8) == 0 { FLAG_ACK_NOW } else { 0 };
        Head { flags, ..self.head(Kind::InputWrite, seq, addr) }.frame(&[&bytes])
    }

    fn read(&mut self) -> Bytes {
        let length = self.pick(&[1, 8, 63, 64, 200, 1472, 0, 1473]);
        let addr = self.address(length);
        let body = wire::Read { length: U32::new(length as u32), reserved: U32::ZERO };
        let seq = self.below(1 << 32) as u32;
        self.own(Kind::InputRead, seq, addr, body.as_bytes())
    }

    /// Where hosts may write, most of the time, and mostly where they have written.
    fn address(&mut self, length: u64) -> u64 {
        match self.below(24) {
            0 => self.pick(&[0, BASE - 1, MEMORY, MEMORY - length + 1, 1 << 33, u64::MAX - 3]),
            1 => MEMORY - length,
            2..=5 => BASE + self.below(CELLS - BASE - length),
            _ => BASE + self.below(8192),
        }
    }

    fn start(&mut self) -> Bytes {
        let seq = match self.below(10) {
            0 => self.launch.wrapping_add(1),
            1 => self.launch.wrapping_sub(1),
            _ => {
                self.launch = self.launch.wrapping_add(1);
                self.launch.wrapping_sub(1)
            }
        };
        // Most wait for their Go; those that do not stand at the end of the burst.
        let go = if self.below(4) == 0 { 0 } else { 1 + self.below(2) as u32 };
        let length = if self.below(2) == 0 { 0 } else { 1 + self.below(5000) };
        let addr = match self.below(8) {
            0 => self.pick(&[0, BASE - 1, MEMORY - length / 2, MEMORY, 1 << 33, u64::MAX]),
            1 => MEMORY - length,
            _ => BASE + self.below(8192),
        };
        let mut out = Out { addr, length, credit: self.below(6) as u16, go, fuel: 0 };
        let cell = CELLS + 8 * self.below(1024);
        let cycles = self.below(500);
        let (kernel, args): (u64, &[u64]) = match self.below(16) {
            0 => (TRAP, &[]),
            1 => {
                out.fuel = 1 + self.below(2000);
                (SPIN, &[])
            }
            2 => (3, &[cell]),
            3 => (BUMP, &[cell]),
            _ => (BUMP, &[cell, cycles]),
        };
        self.own(Kind::ExecLaunch, seq, kernel, &launch_payload(args, out))
    }

    fn go(&mut self) -> Bytes {
        let number = 1 + self.below(2) as u32;
        let head = self.head(Kind::ExecGo, number, 0);
        Head { dst: MacAddr::group(CLAIM_GROUP), epoch: CLAIM_GROUP, ..head }.frame(&[])
    }

    fn ack(&mut self) -> Bytes {
        let (seq, chunks) = if self.results.is_empty() {
            (self.launch, 1)
        } else {
            let at = self.below(self.results.len() as u64) as usize;
            self.results[at]
        };
        // Three of four take all of it, which ends the result.
        let next = if self.below(4) > 0 { chunks } else { self.below(u64::from(chunks) + 2) as u32 };
        let limit = next + self.below(4) as u32;
        let beyond: Vec<u32> = (1..4).filter(|_| self.below(4) == 0).map(|n| next + n).collect();
        if next == chunks {
            self.results.retain(|r| r.0 != seq);
        }
        let done = self.below(8) > 0;
        let ack = wire::ResultAck { done: done.into(), ..ack_body(next, limit, &beyond) };
        self.own(Kind::ExecResultAck, seq, 0, ack.as_bytes())
    }

    fn solicit(&mut self) -> Bytes {
        let window = if self.below(8) == 0 { 2_000_000 } else { 0 };
        let body = wire::Solicit { window_us: U32::new(window), reserved: U32::ZERO };
        let src = MacAddr([2, 0, 0, 0, 6, self.below(3) as u8]);
        let dst = self.pick(&[CARDS, CARD, MacAddr::BROADCAST]);
        let head = Head { src, dst, ..self.head(Kind::DiscoverySolicit, self.poll, 0) };
        head.frame(&[body.as_bytes()])
    }

    const fn head(&self, kind: Kind, seq: u32, addr: u64) -> Head {
        Head { dst: CARD, src: self.owner, kind, flags: 0, epoch: self.epoch, seq, addr }
    }

    const fn group_head(&self, kind: Kind, seq: u32, addr: u64) -> Head {
        let head = self.head(kind, seq, addr);
        Head { dst: MacAddr::group(GROUP), epoch: GROUP, ..head }
    }

    fn own(&self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) -> Bytes {
        self.head(kind, seq, addr).frame(&[payload])
    }

    fn group(&self, kind: Kind, seq: u32, addr: u64, payload: &[u8]) -> Bytes {
        self.group_head(kind, seq, addr).frame(&[payload])
    }

    const fn below(&mut self, bound: u64) -> u64 {
        self.rng.below(bound)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What kernels write to, from here on: no host reads it, for it might do so before or after.
const CELLS: u64 = BASE + (512 << 10);
/// Another card.
const PEER: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
/// Bytes of a burst: what a card's receive FIFO and control ring hold while it is busy with the first frame.
const BURST_BYTES: usize = 12 << 10;
/// Bytes of a frame's head.
const HEAD_BYTES: usize = 32;
