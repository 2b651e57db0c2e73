//! How a program has ended, as the card writes it to memory for its host.

use core::fmt;

/// Why a program has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Cause {
    /// Its time is over.
    Timeout = 1,
    /// The card at the other end of the link has not answered for longer than a link may be silent.
    LinkDead = 2,
    /// The card at the other end of the link has started anew, or its claim has ended.
    Restarted = 3,
    /// The program of the card at the other end has failed.
    PeerFailed = 4,
    /// A command is none.
    BadCommand = 5,
    /// A command names memory that no host may touch, or a port that is no link.
    BadAddress = 6,
    /// The card's memory has failed.
    MemoryFailed = 7,
    /// The message is longer or shorter than the command that takes it says.
    Mismatch = 8,
    /// The card at the other end does not keep to the protocol.
    Protocol = 9,
}

impl Cause {
    const ALL: [Self; 9] = [
        Self::Timeout,
        Self::LinkDead,
        Self::Restarted,
        Self::PeerFailed,
        Self::BadCommand,
        Self::BadAddress,
        Self::MemoryFailed,
        Self::Mismatch,
        Self::Protocol,
    ];
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "its time is over",
            Self::LinkDead => "the card at the other end of the link does not answer",
            Self::Restarted => "the card at the other end of the link has restarted or lost its claim",
            Self::PeerFailed => "the program of the card at the other end of the link has failed",
            Self::BadCommand => "a command of its program is invalid",
            Self::BadAddress => "a command of its program names memory or a port that it may not use",
            Self::MemoryFailed => "its memory has failed",
            Self::Mismatch => "a message has another length than the command that takes it",
            Self::Protocol => "the card at the other end of the link breaks the protocol",
        })
    }
}

/// How a program has ended, and what it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Why it has failed; `None`: it has not.
    pub cause: Option<Cause>,
    /// The port of the link that the cause is about; 0: none.
    pub link: u8,
    /// The command that it had come to.
    pub command: u32,
    /// The ports whose cards owed it a message.
    pub takes: u64,
    /// The ports whose cards had not taken its message.
    pub puts: u64,
    /// Bytes of the message on the link that the cause is about, or on the first that it waited for: those that have
    /// come, or were sent.
    pub moved: u64,
    /// Bytes of that message in all.
    pub total: u64,
}

/// Bytes of a report in memory.
pub const REPORT_BYTES: u64 = 64;

impl Report {
    /// Its bytes in memory.
    pub fn encode(&self) -> [u8; REPORT_BYTES as usize] {
        let mut out = [0; REPORT_BYTES as usize];
        out[0..2].copy_from_slice(&self.cause.map_or(0, |c| c as u16).to_be_bytes());
        out[2] = self.link;
        out[4..8].copy_from_slice(&self.command.to_be_bytes());
        for (at, word) in [(8, self.takes), (16, self.puts), (24, self.moved), (32, self.total)] {
            out[at..at + 8].copy_from_slice(&word.to_be_bytes());
        }
        out
    }

    /// The report that these bytes are; `None` if they are none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; REPORT_BYTES as usize] = bytes.try_into().ok()?;
        let word = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let cause = match u16::from_be_bytes([bytes[0], bytes[1]]) {
            0 => None,
            value => Some(Cause::ALL.into_iter().find(|c| *c as u16 == value)?),
        };
        Some(Self {
            cause,
            link: bytes[2],
            command: u32::from_be_bytes(*bytes[4..].first_chunk()?),
            takes: word(8),
            puts: word(16),
            moved: word(24),
            total: word(32),
        })
    }

    /// The ports of a set of them.
    pub fn ports(set: u64) -> impl Iterator<Item = u8> {
        (0..64).filter(move |port| set >> port & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_back() {
        for cause in Cause::ALL.map(Some).into_iter().chain([None]) {
            let report = Report { cause, link: 5, command: 9, takes: 1 << 63 | 2, puts: 4, moved: 77, total: 99 };
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
        assert_eq!(Report::decode(&[0xff; 64]), None);
        assert_eq!(Report::decode(&[0; 63]), None);
        assert_eq!(Report::ports(1 << 63 | 2).collect::<Vec<_>>(), [1, 63]);
    }
}
