//! An image that can be activated: everything that can be wrong with one is found here.

use core::ops::Range;

use bytes::Bytes;
use rackloom_image::{ImageError, Layout};
use rackloom_role::{Prepared, RoleError, Sandbox};
use rackloom_sign::Release;
use rackloom_wire::{ErrorCode, VERSION};

use crate::shell::Shell;
use crate::signed;
use crate::staging::Staging;

/// An image that has passed every check.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) prepared: Box<dyn Prepared>,
    pub(crate) digest: [u8; 32],
    pub(crate) manifest_json: Bytes,
    pub(crate) clock_khz: u32,
    pub(crate) part_bytes: u64,
    /// What it is of a signer, where that counts.
    pub(crate) release: Option<Release>,
}

/// Everything that an image must stand before it counts as staged.
pub(crate) fn check(
    shell: &Shell,
    staging: &Staging,
    digest: [u8; 32],
    announced: &[u8; 32],
    sandbox: &dyn Sandbox,
    ddr_bytes: u64,
) -> Result<Ready, (ErrorCode, String)> {
    if digest != *announced && !skips_digest(shell) {
        return Err((ErrorCode::ImageDigest, "the image does not have the digest announced".into()));
    }
    let of_image = |e: ImageError| (code_named(e.code_name()), e.to_string());
    let of_role = |e: RoleError| (code_named(e.code_name()), e.to_string());
    let length = usize::try_from(staging.length()).expect("at most 256 MiB");
    // The image stays in its chunks: a rack of cards in one process could not hold a copy for each.
    let layout = Layout::parse_with(length, |range| staging.copy(range)).map_err(of_image)?;
    layout.check_shell(VERSION.into()).map_err(of_image)?;
    let release = signed::check(&shell.config, staging, &layout)
        .map_err(|refusal| (ErrorCode::ImageSignature, refusal.to_string()))?;
    // The digest covers the part: there is no need to hash it again.
    let part = layout.part_range(sandbox.target()).map_err(of_image)?;
    let read = |r: Range<usize>| staging.copy(part.start + r.start..part.start + r.end);
    let prepared = sandbox.prepare_with(&layout.manifest, part.len(), &read, ddr_bytes).map_err(of_role)?;
    Ok(Ready {
        prepared,
        digest,
        manifest_json: Bytes::from(staging.copy(layout.manifest_range)),
        clock_khz: layout.manifest.clock_mhz * 1000,
        part_bytes: part.len() as u64,
        release,
    })
}

#[cfg(feature = "planted-bugs")]
fn skips_digest(shell: &Shell) -> bool {
    shell.config.planted == Some(crate::PlantedBug::SkipDigest)
}

#[cfg(not(feature = "planted-bugs"))]
const fn skips_digest(_: &Shell) -> bool {
    false
}

/// The error code of this name; the crates below name the protocol's codes without knowing its numbers.
pub(crate) fn code_named(name: &str) -> ErrorCode {
    (0..=u16::from(u8::MAX))
        .filter_map(ErrorCode::from_wire)
        .find(|code| code.name() == name)
        .expect("the image and role crates name codes of the protocol")
}
