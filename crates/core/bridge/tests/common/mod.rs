//! A node under test, and a peer that says whatever it likes.
#![allow(dead_code, reason = "each test file uses a part")]

use bytes::Bytes;
use rackloom_bridge::{Endpoint, EndpointConfig, Rights, Target, TargetFailed, Window};
use rackloom_node::{Duration, Instant};
use rackloom_wire::bridge::{FLAG_LAST, Kind};
use rackloom_wire::{BridgeHead, BridgePacket, MacAddr};

/// The node under test.
pub const NODE: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

/// A node's memory, which counts what is done to it.
pub struct Ram {
    pub bytes: Vec<u8>,
    pub reads: usize,
    pub writes: usize,
}

impl Ram {
    pub fn new() -> Self {
        Self { bytes: vec![0; 1 << 16], reads: 0, writes: 0 }
    }
}

impl Target for Ram {
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
        self.reads += 1;
        into.copy_from_slice(&self.bytes[addr as usize..][..into.len()]);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
        self.writes += 1;
        self.bytes[addr as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// A node in virtual time, its memory, and what it sends.
pub struct Node {
    pub now: Instant,
    pub endpoint: Endpoint,
    pub memory: Ram,
}

impl Node {
    pub fn new() -> Self {
        Self::with(EndpointConfig::new(NODE, 7, false))
    }

    pub fn with(config: EndpointConfig) -> Self {
        Self { now: Instant::ZERO, endpoint: Endpoint::new(config), memory: Ram::new() }
    }

    /// Opens a window: number, first, length and rights, for this peer or all.
    pub fn open(&mut self, number: u64, base: u64, length: u64, peer: MacAddr, rights: Rights) {
        assert!(self.endpoint.windows().set(number, Some(Window { base, length, peer, rights })));
    }

    /// Takes a frame.
    pub fn take(&mut self, frame: &Bytes) {
        self.endpoint.handle_frame(self.now, frame, &mut self.memory);
    }

    /// All frames that it has to send now.
    pub fn frames(&mut self) -> Vec<Bytes> {
        let frames = std::iter::from_fn(|| self.endpoint.poll(self.now)).collect();
        self.endpoint.check_invariants();
        frames
    }

    /// Time passes; what it sends meanwhile.
    pub fn pass(&mut self, time: Duration) -> Vec<Bytes> {
        let (end, mut frames) = (self.now + time, Vec::new());
        while let Some(at) = self.endpoint.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.endpoint.handle_timeout(self.now);
            frames.extend(self.frames());
        }
        self.now = end;
        frames
    }
}

/// A peer that is not bound by any rule.
#[derive(Debug, Clone)]
pub struct Raw {
    pub mac: MacAddr,
    pub epoch: u32,
    /// What it knows of the node.
    pub node_epoch: u32,
    pub seq: u32,
    pub ack: u32,
    pub channel: u16,
}

impl Raw {
    /// A peer on the memory channel or on that of streams.
    pub fn new(mac: MacAddr, epoch: u32, channel: u16) -> Self {
        Self { mac, epoch, node_epoch: 0, seq: 1, ack: 1, channel }
    }

    pub fn head(&self, kind: Kind) -> BridgeHead {
        BridgeHead {
            src_epoch: self.epoch,
            dst_epoch: self.node_epoch,
            ack: self.ack,
            limit: self.ack.wrapping_add(1000),
            channel: self.channel,
            ..BridgeHead::new(NODE, self.mac, kind)
        }
    }

    /// A frame with the next number.
    pub fn numbered(&mut self, kind: Kind, payload: &[u8], change: impl FnOnce(&mut BridgeHead)) -> Bytes {
        let mut head = BridgeHead { seq: self.seq, ..self.head(kind) };
        self.seq = self.seq.wrapping_add(1);
        change(&mut head);
        head.frame(&[payload])
    }

    /// A message of one piece.
    pub fn message(&mut self, stream: u16, bytes: &[u8]) -> Bytes {
        self.numbered(Kind::Stream, bytes, |h| (h.tag, h.flags) = (stream, FLAG_LAST))
    }

    /// Learns the node's epoch, and lets it know that.
    pub fn meet(&mut self, node: &mut Node) {
        self.node_epoch = 0;
        node.take(&self.head(Kind::Unack).frame(&[]));
        self.read(&node.frames());
        assert_ne!(self.node_epoch, 0, "it answers");
        node.take(&self.head(Kind::Ack).frame(&[]));
        node.frames();
    }

    /// Takes note of what the node says to it, and acknowledges as it comes: what has come, as kind and id.
    pub fn read(&mut self, frames: &[Bytes]) -> Vec<(Kind, u16)> {
        let packets = frames.iter().map(|f| BridgePacket::parse(f).expect("nodes make good frames").head);
        let mine: Vec<_> = packets.filter(|h| h.dst == self.mac && h.channel == self.channel).collect();
        for head in &mine {
            self.node_epoch = head.src_epoch;
            if head.seq == self.ack && !matches!(head.kind, Kind::Ack | Kind::Nack | Kind::Unack) {
                self.ack = self.ack.wrapping_add(1);
            }
        }
        mine.iter().map(|h| (h.kind, h.id)).collect()
    }
}

/// The n-th peer.
pub fn peer(n: u32) -> MacAddr {
    let [_, b, c, d] = n.to_be_bytes();
    MacAddr([2, 1, b, c, d, 1])
}
