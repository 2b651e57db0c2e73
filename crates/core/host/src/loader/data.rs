//! The data of a load as it leaves, encrypted if its members' claims are.

use rackloom_auth::ImagesKey;
use rackloom_node::{Frame, Instant};
use rackloom_transport::WIRE_OVERHEAD;
use rackloom_wire::{FLAG_ENCRYPTED, FLAG_RESEND, Kind};

use super::Loader;
use crate::event::LoadPhase;

impl Loader {
    /// From now on the data leaves encrypted, under a key that comes from this one and that a begin tells each member.
    /// All of them have to be claimed so.
    pub(crate) fn encrypt(&mut self, images: &ImagesKey) {
        self.key = Some(images.load(self.seq, &self.digest));
    }

    /// A chunk's frame.
    pub(super) fn data(&mut self, now: Instant, chunk: u32) -> Frame {
        let at = chunk as usize * self.chunk;
        let data = &self.image[at..self.image.len().min(at + self.chunk)];
        let again = self.phase == LoadPhase::Repair;
        let flags = if again { FLAG_RESEND } else { 0 };
        let frame = match &self.key {
            None => self.to_group(Kind::ImageData, flags, self.poll, at as u64, &[data]),
            Some(key) => {
                let mut secret = data.to_vec();
                key.mask(at as u64, &mut secret);
                self.to_group(Kind::ImageData, flags | FLAG_ENCRYPTED, self.poll, at as u64, &[&secret])
            }
        };
        self.pacer.sent(now, frame.len());
        self.data_frames += 1;
        self.repair_frames += u64::from(again);
        self.wire_bytes += (frame.len() + WIRE_OVERHEAD) as u64;
        frame
    }
}
