//! What cards and links take for what programs of a group do.

use crate::paper;

/// Picoseconds of what cards and links do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Bits a second of a link, each way: of payload, if there are no frames. Links do not slow each other: a card has
    /// an engine and a bank of memory for each.
    pub link_bps: u64,
    /// From a Go to the first command.
    pub go_ps: u64,
    /// From a command to the next, if nothing is waited for.
    pub command_ps: u64,
    /// From a command to the first word on the link: memory is read. The words of the first frame come on top.
    pub setup_ps: u64,
    /// From the last word on the link to the neighbour's memory. The words of the last frame come on top.
    pub migration_ps: u64,
    /// How commands come from memory; none: they are there.
    pub fetch: Option<Fetch>,
    /// From a command or an event to a control symbol on the link.
    pub signal_setup_ps: u64,
    /// From there to the neighbour's sequencer.
    pub signal_ps: u64,
    /// From a message's end to its sender's sequencer, and from a receiver's command to the sender of a long message.
    pub word_ps: u64,
    /// Who sends a signal waits until it has come, as of any message.
    pub signals_are_answered: bool,
    /// A message of up to so many bytes leaves at once; a longer one when its receiver has asked for it.
    pub eager_bytes: u64,
    /// Memory is read while a long message is asked for.
    pub reads_ahead: bool,
    /// Copies in a card's memory.
    pub copies: Local,
    /// Reductions in a card's memory.
    pub reductions: Local,
    /// How links carry bytes; none: one after the other, as they come from memory.
    pub frames: Option<Frames>,
}

/// Commands that are read before they are wanted: the first with the program, and then some at once as soon as there is
/// room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// Commands for which there is room.
    pub room: usize,
    /// Commands that are read at once.
    pub at_once: usize,
    /// Until the first of them could begin, without itself,
    pub read_ps: u64,
    /// and so much for each.
    pub command_ps: u64,
}

/// What a copy or a reduction takes: it reads as fast as memory gives, and writes what is here meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local {
    /// Bits a second of what is written; 0: it takes no time.
    pub bps: u64,
    /// Picoseconds on top.
    pub first_ps: u64,
    /// The last bytes are written when all has been read: so many, at most,
    pub burst_bytes: u64,
    /// and so many bits of them a second.
    pub burst_bps: u64,
}

impl Local {
    /// In no time.
    pub const FREE: Self = Self { bps: 0, first_ps: 0, burst_bytes: 0, burst_bps: 0 };

    /// Picoseconds of so many bytes.
    pub const fn ps(&self, bytes: u64) -> u64 {
        if self.bps == 0 || bytes == 0 {
            return 0;
        }
        let last = if bytes < self.burst_bytes { bytes } else { self.burst_bytes };
        self.first_ps + ps(bytes, self.bps) + ps(last, self.burst_bps)
    }
}

/// Frames of a link. A frame leaves when all of it is read, and is written when all of it has come; the next is read
/// and comes meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frames {
    /// Bytes of payload, at most.
    pub payload_bytes: u64,
    /// Bytes of a head.
    pub head_bytes: u64,
    /// Bytes of the acknowledgement that goes the other way for a frame that asks for it.
    pub ack_bytes: u64,
    /// A message's first frame asks for one, and of all of them each so many'th.
    pub ack_every: u64,
    /// From a frame's last word on the link until the neighbour looks who takes it.
    pub noticed_ps: u64,
    /// What the word of a message without bytes waits for at the other end: the acknowledgement goes first.
    pub behind_ack_ps: u64,
    /// A message that came before its take is copied in pieces, which are read one behind the other: until the first
    /// begins to come,
    pub early_read_ps: u64,
    /// from one to the next until they are written,
    pub early_write_ps: u64,
    /// and until memory has answered for the last.
    pub early_last_ps: u64,
    /// Bytes of such a piece.
    pub early_piece_bytes: u64,
}

/// When a message is where, from the first word on the link on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The first frame is read before that.
    pub(crate) read_ps: u64,
    /// The link is busy for so long.
    pub(crate) link_ps: u64,
    /// And what was on it last is written for so long.
    pub(crate) write_ps: u64,
}

impl Timing {
    /// The paper's: sections 4.1 to 4.3.
    pub const PAPER: Self = Self {
        link_bps: paper::LINK_BPS,
        go_ps: 0,
        command_ps: 0,
        setup_ps: paper::SETUP_PS,
        migration_ps: paper::MIGRATION_PS,
        fetch: None,
        signal_setup_ps: paper::SIGNAL_SETUP_PS,
        signal_ps: paper::SIGNAL_PS,
        word_ps: paper::SIGNAL_SETUP_PS + paper::SIGNAL_PS,
        signals_are_answered: false,
        eager_bytes: paper::EAGER_BYTES,
        reads_ahead: true,
        copies: Local::FREE,
        reductions: Local::FREE,
        frames: None,
    };

    /// What a link needs for so many bytes.
    pub const fn link_ps(&self, bytes: u64) -> u64 {
        ps(bytes, self.link_bps)
    }

    /// What a message of so many bytes takes that nothing holds up, without frames.
    pub const fn start_ps(&self, bytes: u64) -> u64 {
        match bytes {
            0 => self.signal_setup_ps + self.signal_ps,
            _ if bytes > self.eager_bytes && self.word_ps > self.setup_ps => self.word_ps + self.migration_ps,
            _ => self.setup_ps + self.migration_ps,
        }
    }

    /// Bytes that a link moves while a message starts and its sender hears of its end: what a round costs.
    pub const fn round_bytes(&self) -> u64 {
        let ps = self.start_ps(u64::MAX) + self.start_ps(0);
        (self.link_bps as u128 * ps as u128 / 8 / 1_000_000_000_000) as u64
    }

    /// How a message of so many bytes moves while so many acknowledgements go the same way.
    pub(crate) fn moved(&self, bytes: u64, acks: u64) -> Moved {
        let Some(frames) = self.frames else {
            return Moved { read_ps: 0, link_ps: self.link_ps(bytes), write_ps: 0 };
        };
        if bytes == 0 {
            return Moved { read_ps: 0, link_ps: 0, write_ps: 0 };
        }
        let count = frames.count(bytes);
        let last = self.link_ps(bytes - (count - 1) * frames.payload_bytes);
        let head = self.link_ps(frames.head_bytes);
        let full = self.link_ps(frames.payload_bytes);
        let write_ps = match count {
            1 => last,
            // The frame before is still being written when the last one has come, if that is short.
            _ => last + full.saturating_sub(head + last),
        };
        let link_ps = count * head + self.link_ps(bytes) + acks * self.link_ps(frames.ack_bytes);
        Moved { read_ps: full.min(self.link_ps(bytes)), link_ps, write_ps }
    }

    /// What it takes to bring so many bytes that came early to where they are taken.
    pub(crate) fn early_ps(&self, bytes: u64) -> u64 {
        let Some(frames) = self.frames.filter(|_| bytes > 0) else { return 0 };
        let (mut read, mut written, mut left) = (frames.early_read_ps, 0, bytes);
        while left > 0 {
            let piece = left.min(frames.early_piece_bytes);
            read += self.link_ps(piece);
            written = read.max(written) + frames.early_write_ps + self.link_ps(piece);
            left -= piece;
        }
        written + frames.early_last_ps
    }
}

impl Frames {
    /// Frames of a message.
    pub(crate) const fn count(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.payload_bytes)
    }

    /// Whether the `n`th frame of a message, from 1 on, asks for an acknowledgement.
    pub(crate) const fn asks(&self, n: u64) -> bool {
        n == 1 || n.is_multiple_of(self.ack_every)
    }
}

const fn ps(bytes: u64, bps: u64) -> u64 {
    (bytes as u128 * 8 * 1_000_000_000_000).div_ceil(bps as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: Local = Local { bps: 4_000_000_000_000, first_ps: 7, burst_bytes: 100, burst_bps: 8_000_000_000_000 };
    const FRAMED: Timing = Timing {
        link_bps: 8_000_000_000_000,
        frames: Some(Frames {
            payload_bytes: 100,
            head_bytes: 10,
            ack_bytes: 10,
            ack_every: 1,
            noticed_ps: 0,
            behind_ack_ps: 0,
            early_read_ps: 20,
            early_write_ps: 2,
            early_last_ps: 30,
            early_piece_bytes: 100,
        }),
        ..Timing::PAPER
    };

    #[test]
    fn what_is_copied_is_read_and_its_last_burst_is_written_behind_that() {
        let all = [0, 1, 100, 101, 250].map(|bytes| COPY.ps(bytes));
        assert_eq!(all, [0, 7 + 2 + 1, 7 + 200 + 100, 7 + 202 + 100, 7 + 500 + 100]);
        assert_eq!(Local::FREE.ps(1000), 0);
    }

    #[test]
    fn frames_are_read_sent_and_written_whole() {
        let moved = |bytes, acks| {
            let moved = FRAMED.moved(bytes, acks);
            (moved.read_ps, moved.link_ps, moved.write_ps)
        };
        assert_eq!(moved(60, 0), (60, 70, 60));
        assert_eq!(moved(100, 2), (100, 130, 100), "beside two acknowledgements");
        // A short frame waits until the one before it is written; one as long does not.
        assert_eq!(moved(101, 0), (100, 121, 1 + 100 - 11));
        assert_eq!(moved(200, 0), (100, 220, 100));
        assert_eq!(moved(0, 0), (0, 0, 0));
    }

    #[test]
    fn what_came_early_is_read_while_the_piece_before_is_written() {
        assert_eq!(FRAMED.early_ps(50), 20 + 50 + 2 + 50 + 30);
        assert_eq!(FRAMED.early_ps(200), 120 + 2 * 102 + 30);
        assert_eq!(FRAMED.early_ps(110), 120 + 102 + 12 + 30);
    }
}
