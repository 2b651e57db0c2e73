//! Whether an image is signed as the card demands.

use rackloom_image::Layout;
use rackloom_sign::{Refusal, Release, Signed};

use crate::config::Config;
use crate::staging::Staging;

/// What the card runs if it runs this image; `None` if it asks for no signatures.
///
/// # Errors
/// Why it must not run it.
pub(crate) fn check(config: &Config, staging: &Staging, layout: &Layout) -> Result<Option<Release>, Refusal> {
    let Some(signers) = &config.signers else { return Ok(None) };
    #[cfg(feature = "planted-bugs")]
    if config.planted == Some(crate::PlantedBug::SkipSignature) {
        return Ok(None);
    }
    let signed = Signed::find(layout, |range| staging.copy(range))?;
    // Who it claims to be from first: a stranger gets no signature checked.
    signers.judge(signed.as_ref().map(|s| &s.signature))?;
    let signed = signed.ok_or(Refusal::Unsigned)?;
    let digest = staging.digest_of_first(signed.covers as u64, |first| signed.blank(first));
    signed.signature.verify(&digest)?;
    let (signer, version) = (signed.signature.signer, signed.signature.version);
    let release = Release { signer, role: layout.manifest.name.clone(), version };
    config.versions.check(&release)?;
    Ok(Some(release))
}
