//! Where things are in an image: the header and the part table, checked.

use std::ops::Range;

use crate::{
    ALIGN, ENTRY_BYTES, FORMAT, HEADER_BYTES, IMAGE_BYTES_MAX, ImageError, MAGIC, MANIFEST_BYTES_MAX, Manifest,
    PARTS_MAX,
};

/// The checked head of an image. It borrows nothing: hand the same bytes to [`Layout::part`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Least protocol version of the shell that the role works with.
    pub shell: u16,
    /// Bytes of the file.
    pub length: usize,
    /// The parts in table order.
    pub parts: Vec<Part>,
    /// Where the manifest's JSON is.
    pub manifest_range: Range<usize>,
    /// The manifest, validated.
    pub manifest: Manifest,
}

/// One entry of the part table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind of card it is for.
    pub target: String,
    /// Where it is in the file.
    pub range: Range<usize>,
    /// BLAKE3 digest that it should have.
    pub digest: [u8; 32],
}

impl Layout {
    /// Checks header, part table, manifest and padding of the image in `bytes`, which must be exactly the file.
    ///
    /// The parts themselves are not hashed: see [`Layout::part`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ImageError> {
        Self::parse_with(bytes.len(), |range| bytes[range].to_vec())
    }

    /// The same for a file of `length` bytes that does not lie in one piece: `read` fetches ranges of it, all within
    /// `length` and together no more than the head and the padding.
    pub fn parse_with(length: usize, mut read: impl FnMut(Range<usize>) -> Vec<u8>) -> Result<Self, ImageError> {
        let fixed = read(0..length.min(HEADER_BYTES));
        let header = Header::parse(&fixed, length)?;
        let table_end = HEADER_BYTES + header.parts * ENTRY_BYTES;
        let table = read(HEADER_BYTES..table_end);
        let mut walk = Walk { length, read: &mut read, next: table_end };
        let manifest_range = walk.take(|| "the manifest".into(), header.manifest_offset, header.manifest_length)?;
        let json = (walk.read)(manifest_range.clone());
        if head_tag([&fixed[..TAG_AT], &table, &json]) != fixed[TAG_AT..HEADER_BYTES] {
            return Err(ImageError::HeadTag);
        }
        let mut parts: Vec<Part> = Vec::with_capacity(header.parts);
        for (index, entry) in table.chunks_exact(ENTRY_BYTES).enumerate() {
            let target = parse_tag(&entry[..16]).ok_or(ImageError::Tag { index })?;
            if parts.iter().any(|p| p.target == target) {
                return Err(ImageError::Tag { index });
            }
            let range = walk.take(|| format!("part {index}"), u64_at(entry, 16), u64_at(entry, 24))?;
            parts.push(Part { target, range, digest: entry[32..64].try_into().expect("32 bytes") });
        }
        walk.finish()?;
        let manifest = Manifest::from_json(&json)?;
        Ok(Self { shell: header.shell, length, parts, manifest_range, manifest })
    }

    /// Refuses an image that needs a newer shell than one that speaks protocol version `has`.
    pub fn check_shell(&self, has: u16) -> Result<(), ImageError> {
        if self.shell <= has { Ok(()) } else { Err(ImageError::Shell { needs: self.shell, has }) }
    }

    /// Where the part for `target` is; its digest is not checked.
    pub fn part_range(&self, target: &str) -> Result<Range<usize>, ImageError> {
        self.find(target).map(|p| p.range.clone())
    }

    /// The part for `target`, its digest checked. `bytes` is the file that was parsed.
    ///
    /// # Panics
    /// If `bytes` is not as long as the file that was parsed.
    pub fn part<'a>(&self, bytes: &'a [u8], target: &str) -> Result<&'a [u8], ImageError> {
        assert_eq!(bytes.len(), self.length, "not the bytes that were parsed");
        let part = self.find(target)?;
        let body = &bytes[part.range.clone()];
        if blake3::hash(body) != part.digest {
            return Err(ImageError::PartDigest { target: target.into() });
        }
        Ok(body)
    }

    fn find(&self, target: &str) -> Result<&Part, ImageError> {
        self.parts.iter().find(|p| p.target == target).ok_or_else(|| ImageError::Target {
            wanted: target.into(),
            has: self.parts.iter().map(|p| p.target.clone()).collect(),
        })
    }
}

/// The header's numbers, each checked as far as it can be alone.
struct Header {
    shell: u16,
    parts: usize,
    manifest_offset: u64,
    manifest_length: u64,
}

impl Header {
    /// `bytes` are the file's first 64, or all it has; `have` is its length.
    fn parse(bytes: &[u8], have: usize) -> Result<Self, ImageError> {
        if have > IMAGE_BYTES_MAX {
            return Err(ImageError::TooLarge { length: have });
        }
        // Magic and version come before all else: a text file should be told so, not that it is truncated.
        let known = have.min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(ImageError::Magic);
        }
        if have < HEADER_BYTES {
            return Err(ImageError::Truncated { have, need: HEADER_BYTES as u64 });
        }
        let format = u16_at(bytes, 8);
        if format != FORMAT {
            return Err(ImageError::Format { found: format });
        }
        let length = u64_at(bytes, 24);
        if length > IMAGE_BYTES_MAX as u64 {
            return Err(ImageError::TooLarge { length: usize::try_from(length).unwrap_or(usize::MAX) });
        }
        if (have as u64) < length {
            return Err(ImageError::Truncated { have, need: length });
        }
        if have as u64 > length {
            return Err(ImageError::Trailing { extra: have as u64 - length });
        }
        let found = u32_at(bytes, 16);
        if found != 0 {
            return Err(ImageError::Field { found });
        }
        if let Some(offset) = [14, 15, 20, 21, 22, 23].into_iter().find(|&at| bytes[at] != 0) {
            return Err(ImageError::Reserved { offset });
        }
        let parts = usize::from(u16_at(bytes, 12));
        if !(1..=PARTS_MAX).contains(&parts) {
            return Err(ImageError::PartCount { count: parts });
        }
        let table_end = HEADER_BYTES + parts * ENTRY_BYTES;
        if have < table_end {
            return Err(ImageError::Truncated { have, need: table_end as u64 });
        }
        let manifest_length = u64_at(bytes, 40);
        if manifest_length > MANIFEST_BYTES_MAX as u64 {
            return Err(ImageError::ManifestTooLarge { length: manifest_length });
        }
        Ok(Self { shell: u16_at(bytes, 10), parts, manifest_offset: u64_at(bytes, 32), manifest_length })
    }
}

/// A forward pass over the file: each thing must be where the one before it ended, rounded up.
struct Walk<'a, R> {
    length: usize,
    read: &'a mut R,
    next: usize,
}

impl<R: FnMut(Range<usize>) -> Vec<u8>> Walk<'_, R> {
    fn take(&mut self, what: impl Fn() -> String, offset: u64, length: u64) -> Result<Range<usize>, ImageError> {
        let start = self.skip_padding()?;
        if offset != start as u64 || length == 0 {
            return Err(ImageError::Misplaced { what: what(), found: offset, expected: start as u64, length });
        }
        let room = (self.length - start) as u64;
        if length > room {
            return Err(ImageError::Truncated { have: self.length, need: offset.saturating_add(length) });
        }
        self.next = start + usize::try_from(length).expect("it is less than the room");
        Ok(start..self.next)
    }

    /// Nothing but padding may follow.
    fn finish(&mut self) -> Result<(), ImageError> {
        let end = self.skip_padding()?;
        let extra = (self.length - end) as u64;
        if extra == 0 { Ok(()) } else { Err(ImageError::Trailing { extra }) }
    }

    fn skip_padding(&mut self) -> Result<usize, ImageError> {
        let end = self.next.next_multiple_of(ALIGN);
        if end > self.length {
            return Err(ImageError::Truncated { have: self.length, need: end as u64 });
        }
        match (self.read)(self.next..end).iter().position(|&b| b != 0) {
            Some(at) => Err(ImageError::Reserved { offset: self.next + at }),
            None => Ok(end),
        }
    }
}

/// The tag over the head: header up to the tag, part table, manifest.
pub(crate) fn head_tag(head: [&[u8]; 3]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    head.iter().for_each(|piece| {
        hasher.update(piece);
    });
    hasher.finalize().as_bytes()[..16].try_into().expect("16 of 32 bytes")
}

/// Whether `tag` may name a target.
pub(crate) fn is_tag(tag: &[u8]) -> bool {
    let tail_ok = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    tag.len() <= 16 && tag.first().is_some_and(u8::is_ascii_lowercase) && tag.iter().all(tail_ok)
}

fn parse_tag(field: &[u8]) -> Option<String> {
    let length = field.iter().position(|&b| b == 0).unwrap_or(field.len());
    let (tag, padding) = field.split_at(length);
    let ok = is_tag(tag) && padding.iter().all(|&b| b == 0);
    ok.then(|| String::from_utf8(tag.to_vec()).expect("lower-case ASCII"))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().expect("2 bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

/// Offset of the head's tag in the header, which it ends.
pub const TAG_AT: usize = 48;
