//! Random bytes of the system.

use std::fs::File;
use std::io::{self, Read as _};

/// Fills a buffer.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}
