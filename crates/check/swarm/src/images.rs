//! The images that a run loads: those that all cards may run and, where cards ask for signatures, those that they must
//! not.

use std::sync::LazyLock;

use bytes::Bytes;
use rackloom_sign::{Cards, Policy, Signer, SignerKey, sign};

/// An image and its digest.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) bytes: Bytes,
    pub(crate) digest: [u8; 32],
    /// Which version it is, by one who may sign for the cards. `None`: it must never run where signatures are asked
    /// for.
    version: Option<u64>,
}

/// What the hosts of a run have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Images {
    /// Two images of the same kernels, which differ in their digests.
    pub(crate) good: &'static [Image; 2],
    /// What a bad host offers, and no card may run: but the last, which is only older than the good ones.
    pub(crate) bad: &'static [Image],
}

impl Images {
    /// Those of a run whose cards ask for signatures, or not.
    pub(crate) fn new(signed: bool) -> Self {
        if signed { Self { good: &SIGNED, bad: &*BAD } } else { Self { good: &PLAIN, bad: &[] } }
    }

    fn all(self) -> impl Iterator<Item = &'static Image> {
        self.good.iter().chain(self.bad)
    }

    /// Which version this is; `None` if no card may run it, or nobody has offered it.
    pub(crate) fn version(self, digest: &[u8; 32]) -> Option<u64> {
        self.all().find(|image| image.digest == *digest)?.version
    }

    /// Whether it is one of those that every card takes.
    pub(crate) fn is_good(self, digest: &[u8; 32]) -> bool {
        self.good.iter().any(|image| image.digest == *digest)
    }

    /// Bytes of the largest.
    pub(crate) fn bytes_max(self) -> usize {
        self.all().map(|image| image.bytes.len()).max().unwrap_or_default()
    }
}

/// The version of the good images.
const VERSION: u64 = 5;

static PLAIN: LazyLock<[Image; 2]> = LazyLock::new(|| plain().map(|bytes| of(bytes, Some(0))));
static SIGNED: LazyLock<[Image; 2]> =
    LazyLock::new(|| plain().map(|bytes| of(signed_by(&signer(), &bytes, VERSION), Some(VERSION))));

/// Unsigned; with a wrong signature; signed by somebody else; and older.
static BAD: LazyLock<[Image; 4]> = LazyLock::new(|| {
    let [unsigned, other] = plain();
    let mut tampered = signed_by(&signer(), &other, VERSION).to_vec();
    *tampered.last_mut().expect("an image has bytes") ^= 1;
    let by_stranger = signed_by(&SignerKey::new(&[2; 32]), &other, VERSION);
    let older = signed_by(&signer(), &other, VERSION - 1);
    [of(unsigned, None), of(tampered.into(), None), of(by_stranger, None), of(older, Some(VERSION - 1))]
});

/// Who may sign for all cards.
fn signer() -> SignerKey {
    SignerKey::new(&[1; 32])
}

/// What the cards of a run with signatures go by.
pub(crate) fn policy() -> Policy {
    let signer = Signer { name: "lab".into(), key: signer().id(), cards: Cards::All };
    Policy::new(vec![signer]).expect("it names one signer")
}

/// An image that all such cards take.
pub(crate) fn signed(image: &'static [u8]) -> Bytes {
    signed_by(&signer(), &Bytes::from_static(image), VERSION)
}

fn plain() -> [Bytes; 2] {
    [20_000, 150_001].map(|size| Bytes::from(rackloom_builtin_roles::padded("probe", size)))
}

fn signed_by(key: &SignerKey, image: &Bytes, version: u64) -> Bytes {
    let image = rackloom_image::Image::parse(image.clone()).expect("it is an image");
    sign(&image, key, version).expect("it is one that can be signed")
}

fn of(bytes: Bytes, version: Option<u64>) -> Image {
    Image { digest: *blake3::hash(&bytes).as_bytes(), bytes, version }
}
