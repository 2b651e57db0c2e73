//! Orders to the next station on a cable to be silent for a while (IEEE 802.3 annexes 31A and 31B).

use crate::MacAddr;

/// EtherType of MAC control frames. They concern the two stations on one cable: no switch passes them on.
pub const MAC_CONTROL: u16 = 0x8808;
/// The group that orders to be silent go to.
const NEXT_STATION: MacAddr = MacAddr([0x01, 0x80, 0xc2, 0, 0, 1]);
const OPCODE_PAUSE: u16 = 1;
/// Bit times of one quantum of silence.
const QUANTUM_BITS: u64 = 512;
/// Rate of the cable between a card and the host behind it, bits a second, by which that host's silence is counted.
const HOST_RATE: u64 = 10_000_000_000;

/// An order to be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// How long, in times of 512 bits on the cable; 0: no longer.
    pub quanta: u16,
}

impl Pause {
    /// The frame, from a station with this address.
    #[must_use]
    pub fn frame(self, src: MacAddr) -> [u8; 60] {
        let mut frame = [0; 60];
        frame[..6].copy_from_slice(&NEXT_STATION.0);
        frame[6..12].copy_from_slice(&src.0);
        frame[12..14].copy_from_slice(&MAC_CONTROL.to_be_bytes());
        frame[14..16].copy_from_slice(&OPCODE_PAUSE.to_be_bytes());
        frame[16..18].copy_from_slice(&self.quanta.to_be_bytes());
        frame
    }

    /// The order in a frame, if it is one.
    #[must_use]
    pub fn of(frame: &[u8]) -> Option<Self> {
        let head: &[u8; 18] = frame.first_chunk()?;
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        let is_pause = head[..6] == NEXT_STATION.0 && word(12) == MAC_CONTROL && word(14) == OPCODE_PAUSE;
        is_pause.then(|| Self { quanta: word(16) })
    }

    /// How long it is for a host behind a card, in nanoseconds: at most 3.4 ms.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.quanta as u64 * QUANTUM_BITS * 1_000_000_000 / HOST_RATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_is_written_and_nothing_else_is_one() {
        let src = MacAddr([2, 0, 0, 0, 0, 9]);
        for quanta in [0, 1, 0xffff] {
            let frame = Pause { quanta }.frame(src);
            assert_eq!(Pause::of(&frame), Some(Pause { quanta }));
            for (at, length) in [(0, 60), (5, 60), (12, 60), (15, 60), (0, 17)] {
                let mut other = frame;
                other[at] ^= u8::from(length == 60);
                assert_eq!(Pause::of(&other[..length]), None, "byte {at}, {length} bytes");
            }
        }
        assert_eq!(Pause { quanta: 0xffff }.nanos(), 3_355_392);
    }
}
