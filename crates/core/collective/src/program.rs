//! Programs: lists of commands in a card's memory.

use crate::datatype::{Datatype, Op};

/// One command of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Begins to send bytes over a link. It waits while this program's last message over that link is under way.
    Put {
        /// The port.
        link: u8,
        /// Which message of the operation between the two cards.
        tag: u16,
        /// Where the bytes are. They must stay as they are until the next [`Wait`](Self::Wait), or the next put over
        /// this link.
        addr: u64,
        /// How many there are; none is a signal.
        length: u32,
    },
    /// Begins to receive bytes from a link, to which [`Put`](Self::Put) of the same tag and length gives them.
    Take {
        /// The port.
        link: u8,
        /// Which message of the operation between the two cards.
        tag: u16,
        /// Where the bytes go.
        addr: u64,
        /// How many there are.
        length: u32,
    },
    /// Waits until all that was begun is done: what was sent has come, and what was awaited is here.
    Wait,
    /// Waits until what was awaited is here. What was sent may still be under way.
    WaitTakes,
    /// Copies bytes. Both ranges are the same, or they do not overlap.
    Copy {
        /// From here.
        from: u64,
        /// To there.
        to: u64,
        /// How many.
        length: u32,
    },
    /// Puts `op` of what is at `to` and of what is at `from` to `to`, element by element. Both are the same elements,
    /// or the two ranges do not overlap.
    Reduce {
        /// The operation.
        op: Op,
        /// What the elements are.
        datatype: Datatype,
        /// The right operands.
        from: u64,
        /// The left operands, and the results.
        to: u64,
        /// Elements.
        count: u32,
    },
    /// Asks at all links who is there, and writes a table of [`SURVEY_BYTES`].
    Survey {
        /// Where the table goes.
        to: u64,
    },
}

/// Bytes of a command in memory.
pub const COMMAND_BYTES: u64 = 32;
/// Commands of a program, at most.
pub const COMMANDS_MAX: u64 = 4096;
/// Bytes of a message, a copy or a reduction, at most.
pub const MESSAGE_MAX: u64 = 256 << 20;
/// Bytes of the table that a survey writes: for each port 16, of which 8 are the neighbour's address and port, and
/// whether it has answered.
pub const SURVEY_BYTES: u64 = 64 * 16;

impl Command {
    /// Its bytes in memory: code, link or operation, tag or datatype, length, two addresses, and zeros.
    pub fn encode(&self) -> [u8; COMMAND_BYTES as usize] {
        let (code, small, half, length, a, b) = match *self {
            Self::Put { link, tag, addr, length } => (1, link, tag, length, addr, 0),
            Self::Take { link, tag, addr, length } => (2, link, tag, length, addr, 0),
            Self::Wait => (3, 0, 0, 0, 0, 0),
            Self::WaitTakes => (3, 1, 0, 0, 0, 0),
            Self::Copy { from, to, length } => (4, 0, 0, length, from, to),
            Self::Reduce { op, datatype, from, to, count } => (5, op as u8, datatype as u16, count, from, to),
            Self::Survey { to } => (6, 0, 0, 0, 0, to),
        };
        let mut out = [0; COMMAND_BYTES as usize];
        (out[0], out[1]) = (code, small);
        out[2..4].copy_from_slice(&u16::to_be_bytes(half));
        out[4..8].copy_from_slice(&length.to_be_bytes());
        out[8..16].copy_from_slice(&a.to_be_bytes());
        out[16..24].copy_from_slice(&b.to_be_bytes());
        out
    }

    /// The command that these bytes are; `None` if they are none.
    pub fn decode(bytes: &[u8; COMMAND_BYTES as usize]) -> Option<Self> {
        let (code, small) = (bytes[0], bytes[1]);
        let half = u16::from_be_bytes([bytes[2], bytes[3]]);
        let length = u32::from_be_bytes(*bytes[4..].first_chunk()?);
        let a = u64::from_be_bytes(*bytes[8..].first_chunk()?);
        let b = u64::from_be_bytes(*bytes[16..].first_chunk()?);
        let command = match code {
            1 => Self::Put { link: small, tag: half, addr: a, length },
            2 => Self::Take { link: small, tag: half, addr: a, length },
            3 if small == 1 => Self::WaitTakes,
            3 => Self::Wait,
            4 => Self::Copy { from: a, to: b, length },
            5 => {
                let (op, datatype) = (Op::from_byte(small)?, Datatype::from_byte(u8::try_from(half).ok()?)?);
                if !op.takes(datatype) {
                    return None;
                }
                Self::Reduce { op, datatype, from: a, to: b, count: length }
            }
            6 => Self::Survey { to: b },
            _ => return None,
        };
        (command.encode() == *bytes && command.bytes() <= MESSAGE_MAX).then_some(command)
    }

    /// Bytes that it moves.
    pub const fn bytes(&self) -> u64 {
        match self {
            Self::Put { length, .. } | Self::Take { length, .. } | Self::Copy { length, .. } => *length as u64,
            Self::Reduce { datatype, count, .. } => *count as u64 * datatype.size(),
            Self::Survey { .. } => SURVEY_BYTES,
            Self::Wait | Self::WaitTakes => 0,
        }
    }

    /// Whether the two ranges of a copy or a reduction overlap and are not the same. What came of it would depend on
    /// how far the card reads ahead of what it writes, so no program may have such a command.
    pub const fn overlaps(&self) -> bool {
        match self {
            Self::Copy { from, to, .. } | Self::Reduce { from, to, .. } => {
                *from != *to && from.abs_diff(*to) < self.bytes()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_back_and_nonsense_is_none() {
        let commands = [
            Command::Put { link: 3, tag: 515, addr: 0x1_0000_0000, length: 7 },
            Command::Take { link: 63, tag: 1, addr: 1 << 20, length: 256 << 20 },
            Command::Wait,
            Command::WaitTakes,
            Command::Copy { from: 1, to: 2, length: 3 },
            Command::Reduce { op: Op::Max, datatype: Datatype::F64, from: 1, to: 2, count: 3 },
            Command::Survey { to: 9 },
        ];
        for command in commands {
            assert_eq!(Command::decode(&command.encode()), Some(command));
            for at in [0, 31] {
                let mut bytes = command.encode();
                bytes[at] ^= 0x80;
                assert_eq!(Command::decode(&bytes), None, "{command:?} with another byte {at}");
            }
        }
        let long = Command::Copy { from: 0, to: 0, length: (256 << 20) + 1 };
        assert_eq!(Command::decode(&long.encode()), None);
        let wide = Command::Reduce { op: Op::Sum, datatype: Datatype::I64, from: 0, to: 0, count: 1 << 30 };
        assert_eq!(Command::decode(&wide.encode()), None);
        let mut floats = commands[5].encode();
        floats[1] = Op::And as u8;
        assert_eq!(Command::decode(&floats), None, "no bits of floats");
    }

    #[test]
    fn ranges_overlap_that_share_some_bytes_and_not_all() {
        let copy = |from, to| Command::Copy { from, to, length: 8 }.overlaps();
        let reduce = |from, to| Command::Reduce { op: Op::Sum, datatype: Datatype::I32, from, to, count: 2 }.overlaps();
        for at in [100, u64::MAX - 100] {
            assert!([0, 8, 9, 100].into_iter().all(|by| !copy(at, at + by) && !copy(at + by, at)));
            assert!([1, 4, 7].into_iter().all(|by| copy(at, at + by) && copy(at + by, at)));
            assert!([0, 8, 9].into_iter().all(|by| !reduce(at, at + by) && !reduce(at + by, at)));
            assert!([1, 4, 7].into_iter().all(|by| reduce(at, at + by) && reduce(at + by, at)));
        }
        assert!(!Command::Copy { from: 1, to: 2, length: 0 }.overlaps() && !Command::Wait.overlaps());
    }
}
