//! The oracle of streams: messages that were sent, and those that owners took.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::plan::Plan;

#[derive(Debug)]
struct Sent {
    stream: u16,
    bytes: Bytes,
    /// A life has ended since: it may arrive, or not.
    is_doubtful: bool,
    is_taken: bool,
}

#[derive(Debug, Default)]
struct Pair {
    sent: Vec<Sent>,
    /// After the one that was taken last.
    next: usize,
}

pub struct Messages {
    is_rough: bool,
    rots: bool,
    pairs: BTreeMap<(usize, usize), Pair>,
    pub taken: u64,
    pub losses: u64,
}

impl Messages {
    pub fn new(plan: &Plan) -> Self {
        Self { is_rough: plan.is_rough(), rots: plan.rots, pairs: BTreeMap::new(), taken: 0, losses: 0 }
    }

    pub fn sent(&mut self, from: usize, to: usize, stream: u16, bytes: Bytes) {
        let sent = Sent { stream, bytes, is_doubtful: false, is_taken: false };
        self.pairs.entry((from, to)).or_default().sent.push(sent);
    }

    /// An owner takes a message.
    ///
    /// # Errors
    /// It was not sent, it has come before, or another one had to come first.
    pub fn take(&mut self, from: usize, to: usize, stream: u16, bytes: &Bytes) -> Result<(), String> {
        self.taken += 1;
        if self.rots {
            return Ok(());
        }
        let pair = self.pairs.get_mut(&(from, to)).ok_or("nobody sent anything")?;
        let later = &mut pair.sent[pair.next..];
        let at = later.iter().position(|m| m.stream == stream && m.bytes == *bytes).ok_or_else(|| {
            format!("node {to} got {} bytes on stream {stream} of node {from} that are not next", bytes.len())
        })?;
        if let Some(missing) = later[..at].iter().find(|m| !m.is_doubtful) {
            return Err(format!("node {to} missed {} bytes of node {from}", missing.bytes.len()));
        }
        later[at].is_taken = true;
        pair.next += at + 1;
        Ok(())
    }

    /// The sender has learned that messages on their way to this peer may be lost.
    ///
    /// # Errors
    /// There is no reason for that.
    pub fn lose(&mut self, from: usize, to: usize) -> Result<(), String> {
        self.losses += 1;
        if !self.is_rough {
            return Err(format!("node {from} takes messages to node {to} for lost"));
        }
        self.doubt(|pair| pair == (from, to));
        Ok(())
    }

    /// A life of the node has ended.
    pub fn restart(&mut self, node: usize) {
        self.doubt(|(from, to)| from == node || to == node);
    }

    fn doubt(&mut self, which: impl Fn((usize, usize)) -> bool) {
        for (_, pair) in self.pairs.iter_mut().filter(|(key, _)| which(**key)) {
            pair.sent[pair.next..].iter_mut().for_each(|m| m.is_doubtful = true);
        }
    }

    /// Messages that have to arrive yet.
    pub fn owed(&self) -> usize {
        if self.rots {
            return 0;
        }
        self.pairs.values().flat_map(|p| &p.sent[p.next..]).filter(|m| !m.is_doubtful && !m.is_taken).count()
    }
}
