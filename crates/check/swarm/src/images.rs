//! The images that a run loads.

use std::sync::LazyLock;

use bytes::Bytes;

/// An image and its digest.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) bytes: Bytes,
    pub(crate) digest: [u8; 32],
}

/// Two images of the same kernels, which differ in their digests.
pub(crate) static IMAGES: LazyLock<[Image; 2]> = LazyLock::new(|| {
    let make = |size| {
        let bytes = Bytes::from(rackloom_builtin_roles::padded("probe", size));
        Image { digest: *blake3::hash(&bytes).as_bytes(), bytes }
    };
    [make(20_000), make(150_001)]
});
