//! A cable that flips bits. Frames have Ethernet's check sequence at their end while they are on it.

use bytes::Bytes;
use rackloom_node::Rng;

pub(crate) struct Cable {
    rng: Rng,
    /// Bits between two that are flipped, on average; 0: none is.
    every: u64,
    /// Bits before the next that is flipped.
    next: u64,
}

impl Cable {
    pub(crate) fn new(every: u64, seed: u64) -> Self {
        let mut cable = Self { rng: Rng::new(seed ^ 0xcab1e), every, next: u64::MAX };
        cable.draw();
        cable
    }

    /// Each bit has the same chance, so distances are exponential.
    fn draw(&mut self) {
        if self.every > 0 {
            let uniform = (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            self.next = (-(1.0 - uniform).ln() * self.every as f64) as u64;
        }
    }

    /// The frame as it comes out, and whether its check sequence says that it is whole.
    pub(crate) fn pass(&mut self, frame: &Bytes) -> (Bytes, bool) {
        let bits = (frame.len() as u64 + 4) * 8;
        if self.next >= bits {
            self.next -= if self.every > 0 { bits } else { 0 };
            return (frame.clone(), true);
        }
        let mut on_wire = [&frame[..], &check_sequence(frame).to_le_bytes()].concat();
        let mut at = 0;
        while self.next < bits - at {
            at += self.next;
            on_wire[at as usize / 8] ^= 1 << (at % 8);
            at += 1;
            self.draw();
        }
        self.next = self.next.saturating_sub(bits - at);
        let check = on_wire.split_off(frame.len());
        let is_whole = check_sequence(&on_wire).to_le_bytes() == check[..];
        (on_wire.into(), is_whole)
    }
}

/// CRC-32 as IEEE 802.3 has it.
fn check_sequence(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

#[test]
fn bits_are_flipped_as_often_as_they_should_be_and_the_check_shows_it() {
    assert_eq!(check_sequence(b"123456789"), 0xcbf4_3926);
    let frame = Bytes::from(vec![0; 1000]);
    let mut cable = Cable::new(10_000, 5);
    let (mut flipped, mut damaged) = (0, 0);
    for _ in 0..2000 {
        let (out, is_whole) = cable.pass(&frame);
        flipped += out.iter().map(|byte| byte.count_ones()).sum::<u32>();
        assert!(!is_whole || out == frame, "damage that the check does not show");
        damaged += u32::from(!is_whole);
    }
    // 2,000 frames of 8,032 bits, of which 8,000 are the frame's: 1,600 flips.
    assert!((1450..1750).contains(&flipped), "{flipped}");
    assert!((1000..1200).contains(&damaged), "{damaged}");
}
