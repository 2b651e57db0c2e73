//! An image with its bytes.

use bytes::Bytes;

use crate::{ImageError, Layout, Manifest, Part};

/// A checked image that keeps its file; cloning it copies no byte of the file.
#[derive(Clone, Debug)]
pub struct Image {
    bytes: Bytes,
    layout: Layout,
}

impl Image {
    /// Checks the file's head; parts are checked when they are asked for.
    pub fn parse(bytes: Bytes) -> Result<Self, ImageError> {
        let layout = Layout::parse(&bytes)?;
        Ok(Self { bytes, layout })
    }

    /// The whole file.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Where things are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What the role is.
    pub fn manifest(&self) -> &Manifest {
        &self.layout.manifest
    }

    /// The manifest's JSON as it is in the file.
    pub fn manifest_json(&self) -> Bytes {
        self.bytes.slice(self.layout.manifest_range.clone())
    }

    /// The parts in table order.
    pub fn parts(&self) -> &[Part] {
        &self.layout.parts
    }

    /// The part for `target`, its digest checked.
    pub fn part(&self, target: &str) -> Result<Bytes, ImageError> {
        self.layout.part(&self.bytes, target)?;
        Ok(self.bytes.slice(self.layout.part_range(target)?))
    }

    /// Checks the digest of every part.
    pub fn verify(&self) -> Result<(), ImageError> {
        self.layout.parts.iter().try_for_each(|p| self.layout.part(&self.bytes, &p.target).map(|_| ()))
    }

    /// BLAKE3 digest of the whole file: what a load announces and a card reports.
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.bytes).as_bytes()
    }
}
