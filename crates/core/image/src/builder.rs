//! Writes images.

use crate::layout::{TAG_AT, head_tag, is_tag};
use crate::{
    ALIGN, ENTRY_BYTES, FORMAT, HEADER_BYTES, IMAGE_BYTES_MAX, ImageError, MAGIC, MANIFEST_BYTES_MAX, Manifest,
    PARTS_MAX, TARGET_SIGNATURE,
};

/// Puts a manifest and parts together. The same input gives the same bytes.
#[derive(Clone, Debug)]
pub struct ImageBuilder {
    manifest: Manifest,
    shell: u16,
    parts: Vec<(String, Vec<u8>)>,
}

impl ImageBuilder {
    /// An image of this role, without parts yet, that works with any shell from protocol version 1 on.
    pub fn new(manifest: Manifest) -> Self {
        Self { manifest, shell: 1, parts: Vec::new() }
    }

    /// Sets the least protocol version of the shell.
    pub fn shell(mut self, version: u16) -> Self {
        self.shell = version;
        self
    }

    /// Adds the part for one kind of card.
    pub fn part(mut self, target: &str, body: Vec<u8>) -> Self {
        self.parts.push((target.into(), body));
        self
    }

    /// The file's bytes. It fails on whatever a reader would refuse.
    pub fn build(self) -> Result<Vec<u8>, ImageError> {
        self.manifest.validate()?;
        let manifest = self.manifest.to_json();
        if manifest.len() > MANIFEST_BYTES_MAX {
            return Err(ImageError::ManifestTooLarge { length: manifest.len() as u64 });
        }
        if !(1..=PARTS_MAX).contains(&self.parts.len()) {
            return Err(ImageError::PartCount { count: self.parts.len() });
        }
        let manifest_at = HEADER_BYTES + self.parts.len() * ENTRY_BYTES;
        let mut next = (manifest_at + manifest.len()).next_multiple_of(ALIGN);
        let mut table = Vec::with_capacity(self.parts.len() * ENTRY_BYTES);
        for (index, (target, body)) in self.parts.iter().enumerate() {
            let repeated = self.parts[..index].iter().any(|(earlier, _)| earlier == target);
            if !is_tag(target.as_bytes()) || repeated || target == TARGET_SIGNATURE {
                return Err(ImageError::Tag { index });
            }
            if body.is_empty() {
                let what = format!("part {index}");
                return Err(ImageError::Misplaced { what, found: next as u64, expected: next as u64, length: 0 });
            }
            push_entry(&mut table, target, next as u64, body);
            next = (next + body.len()).next_multiple_of(ALIGN);
        }
        if next > IMAGE_BYTES_MAX {
            return Err(ImageError::TooLarge { length: next });
        }
        let mut file = Vec::with_capacity(next);
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&FORMAT.to_be_bytes());
        file.extend_from_slice(&self.shell.to_be_bytes());
        file.extend_from_slice(&u16::try_from(self.parts.len()).expect("at most 16").to_be_bytes());
        file.extend_from_slice(&[0; 10]); // Reserved, key id and counter: unsigned.
        file.extend_from_slice(&(next as u64).to_be_bytes());
        file.extend_from_slice(&(manifest_at as u64).to_be_bytes());
        file.extend_from_slice(&(manifest.len() as u64).to_be_bytes());
        assert_eq!(file.len(), TAG_AT);
        let tag = head_tag([&file, &table, &manifest]);
        file.extend_from_slice(&tag);
        file.extend_from_slice(&table);
        file.extend_from_slice(&manifest);
        pad(&mut file);
        for (_, body) in &self.parts {
            file.extend_from_slice(body);
            pad(&mut file);
        }
        assert_eq!(file.len(), next);
        Ok(file)
    }
}

fn push_entry(table: &mut Vec<u8>, target: &str, offset: u64, body: &[u8]) {
    let mut tag = [0; 16];
    tag[..target.len()].copy_from_slice(target.as_bytes());
    table.extend_from_slice(&tag);
    table.extend_from_slice(&offset.to_be_bytes());
    table.extend_from_slice(&(body.len() as u64).to_be_bytes());
    table.extend_from_slice(blake3::hash(body).as_bytes());
}

fn pad(file: &mut Vec<u8>) {
    file.resize(file.len().next_multiple_of(ALIGN), 0);
}
