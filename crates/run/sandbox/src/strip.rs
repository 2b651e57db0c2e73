//! Fetches a module without its custom sections from a part that does not lie in one piece.

use core::ops::Range;

use rackloom_role::RoleError;

/// The module's preamble and all sections but the custom ones, as they are. A vendor-sized image is mostly ballast in a
/// custom section: it is never fetched. Nothing but the sections' lengths is checked, and at most `bytes_max` bytes of
/// sections are fetched.
pub(crate) fn strip(
    length: usize,
    bytes_max: usize,
    read: &dyn Fn(Range<usize>) -> Vec<u8>,
) -> Result<Vec<u8>, RoleError> {
    let mut module = read(0..length.min(PREAMBLE_BYTES));
    let mut at = module.len();
    while at < length {
        let head = read(at..length.min(at + HEAD_BYTES_MAX));
        let Some((size, head_bytes)) = section_head(&head) else {
            return Err(RoleError::Module(format!("the section at byte {at} has no length")));
        };
        let body = at + head_bytes;
        let end = body.saturating_add(size);
        if end > length {
            return Err(RoleError::Module(format!("the section at byte {at} ends beyond the file")));
        }
        if head[0] != CUSTOM {
            let found = module.len() + size;
            if found > bytes_max {
                let (found, limit) = (found as u64, bytes_max as u64);
                return Err(RoleError::Limit { what: "bytes of the module", found, limit });
            }
            module.extend_from_slice(&head[..head_bytes]);
            module.extend_from_slice(&read(body..end));
        }
        at = end;
    }
    Ok(module)
}

/// The length of a section's body, and of its head: a number and a length in LEB128.
fn section_head(head: &[u8]) -> Option<(usize, usize)> {
    let mut size = 0u64;
    for (i, byte) in head.iter().enumerate().skip(1) {
        size |= u64::from(byte & 0x7f) << (7 * (i - 1));
        if byte & 0x80 == 0 {
            return u32::try_from(size).ok().map(|size| (size as usize, i + 1));
        }
    }
    None
}

/// Number of custom sections.
const CUSTOM: u8 = 0;
/// Magic and version.
const PREAMBLE_BYTES: usize = 8;
/// A number and a length of up to five bytes.
const HEAD_BYTES_MAX: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    const PREAMBLE: &[u8] = b"\0asm\x01\0\0\0";

    fn stripped(part: &[u8]) -> Result<Vec<u8>, RoleError> {
        strip(part.len(), 1000, &|range| part[range].to_vec())
    }

    #[test]
    fn ballast_is_dropped_and_never_fetched() {
        let mut part = [PREAMBLE, &[1, 2, 7, 7], &[0, 0x80, 0x80, 0x40]].concat();
        part.resize(part.len() + (1 << 20), 9);
        part.extend([3, 1, 5]);
        let fetched = Cell::new(0);
        let module = strip(part.len(), 1000, &|range| {
            fetched.set(fetched.get() + range.len());
            part[range].to_vec()
        });
        assert_eq!(module.unwrap(), [PREAMBLE, &[1, 2, 7, 7, 3, 1, 5]].concat());
        assert!(fetched.get() < 50);
    }

    #[test]
    fn lengths_are_checked() {
        assert_eq!(stripped(b"").unwrap(), b"");
        assert_eq!(stripped(b"\0as").unwrap(), b"\0as");
        for tail in
            [&[1][..], &[1, 1], &[0, 2, 0], &[1, 0x80, 0x80, 0x80, 0x80, 0x80], &[0, 0xff, 0xff, 0xff, 0xff, 0x7f]]
        {
            let part = [PREAMBLE, tail].concat();
            assert!(matches!(stripped(&part), Err(RoleError::Module(_))), "{tail:?}");
        }
        let long = [PREAMBLE, &[1, 0xe8, 0x07], &[0; 1000]].concat();
        assert!(matches!(stripped(&long), Err(RoleError::Limit { found: 1008, limit: 1000, .. })));
    }
}
