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
        if let Some(index) = self.parts.iter().position(|(target, _)| target == TARGET_SIGNATURE) {
            return Err(ImageError::Tag { index });
        }
        let manifest = self.manifest.to_json();
        lay_out(self.shell, &manifest, &self.parts)
    }
}

/// The image of these parts around a manifest of any bytes, in the form that [`ImageBuilder`] gives it.
///
/// Firmware reads no manifest, so its tests use whatever bytes suit them; all other readers refuse such an image. A
/// signature is a part as well, and the last one.
///
/// # Errors
/// If there is no manifest, or parts, tags or lengths are not what a reader accepts.
pub fn lay_out(shell: u16, manifest: &[u8], parts: &[(String, Vec<u8>)]) -> Result<Vec<u8>, ImageError> {
    if manifest.len() > MANIFEST_BYTES_MAX {
        return Err(ImageError::ManifestTooLarge { length: manifest.len() as u64 });
    }
    if !(1..=PARTS_MAX).contains(&parts.len()) {
        return Err(ImageError::PartCount { count: parts.len() });
    }
    let manifest_at = HEADER_BYTES + parts.len() * ENTRY_BYTES;
    if manifest.is_empty() {
        return Err(empty("the manifest".into(), manifest_at));
    }
    let mut next = (manifest_at + manifest.len()).next_multiple_of(ALIGN);
    let mut table = Vec::with_capacity(parts.len() * ENTRY_BYTES);
    for (index, (target, body)) in parts.iter().enumerate() {
        let repeated = parts[..index].iter().any(|(earlier, _)| earlier == target);
        let covers_all = target != TARGET_SIGNATURE || index + 1 == parts.len();
        if !is_tag(target.as_bytes()) || repeated || !covers_all {
            return Err(ImageError::Tag { index });
        }
        if body.is_empty() {
            return Err(empty(format!("part {index}"), next));
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
    file.extend_from_slice(&shell.to_be_bytes());
    file.extend_from_slice(&u16::try_from(parts.len()).expect("at most 16").to_be_bytes());
    file.extend_from_slice(&[0; 10]); // Reserved.
    file.extend_from_slice(&(next as u64).to_be_bytes());
    file.extend_from_slice(&(manifest_at as u64).to_be_bytes());
    file.extend_from_slice(&(manifest.len() as u64).to_be_bytes());
    assert_eq!(file.len(), TAG_AT);
    let tag = head_tag([&file, &table, manifest]);
    file.extend_from_slice(&tag);
    file.extend_from_slice(&table);
    file.extend_from_slice(manifest);
    pad(&mut file);
    for (_, body) in parts {
        file.extend_from_slice(body);
        pad(&mut file);
    }
    assert_eq!(file.len(), next);
    Ok(file)
}

/// What is to begin at `at` has no bytes.
fn empty(what: String, at: usize) -> ImageError {
    ImageError::Misplaced { what, found: at as u64, expected: at as u64, length: 0 }
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
