//! Little-endian numbers in byte slices.

/// The `u32` at byte `at`.
///
/// # Panics
/// If the slice is shorter.
pub(crate) fn le_u32(bytes: &[u8], at: usize) -> u32 {
    let mut out = [0; 4];
    out.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(out)
}

/// The `u64` at byte `at`.
///
/// # Panics
/// If the slice is shorter.
pub(crate) fn le_u64(bytes: &[u8], at: usize) -> u64 {
    let mut out = [0; 8];
    out.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(out)
}
