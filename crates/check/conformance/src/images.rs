//! Images that every kind of card runs: the built-in role `probe`, and others made of its parts.

use rackloom_image::{Image, ImageBuilder, Manifest};
use rackloom_sign::SignerKey;

/// Kernel numbers of `probe`.
pub mod kernel {
    /// `bump(cell, cycles)`: adds 1 to the word at `cell` and returns it.
    pub const BUMP: u64 = 0;
    /// `trap()`: fails.
    pub const TRAP: u64 = 1;
    /// `spin()`: never returns.
    pub const SPIN: u64 = 2;
    /// `hang()`: never answers again.
    pub const HANG: u64 = 3;
    /// `flood()`: reads and writes without end.
    pub const FLOOD: u64 = 4;
    /// `wild(addr)`: writes to `addr`.
    pub const WILD: u64 = 5;
    /// `broken(how)`: breaks the rules of the memory's port.
    pub const BROKEN: u64 = 6;
    /// In how many ways it does.
    pub const BROKEN_WAYS: u64 = 4;
    /// `greedy()`: reads and writes without end, by the rules.
    pub const GREEDY: u64 = 7;
    /// How many there are.
    pub const COUNT: usize = 8;
}

/// The image of `probe` under a version of its own, which gives it a digest of its own. `filler` bytes of a part that
/// no card takes make it larger.
pub fn probe(version: u32, filler: usize) -> Vec<u8> {
    let probe = parts();
    let manifest = Manifest { version: version.to_string(), ..probe.manifest().clone() };
    let mut builder = ImageBuilder::new(manifest);
    for part in probe.parts() {
        builder = builder.part(&part.target, probe.part(&part.target).expect("its digest is right").to_vec());
    }
    if filler > 0 {
        builder = builder.part("filler", (0..filler).map(|i| (i % 251) as u8).collect());
    }
    builder.build().expect("its parts are those of an image")
}

/// An image of `probe` that somebody has signed.
pub fn signed() -> Vec<u8> {
    let image = Image::parse(probe(1, 0).into()).expect("it was built by us");
    rackloom_sign::sign(&image, &SignerKey::new(&[1; 32]), 5).expect("it has room for a signature").to_vec()
}

/// An image that has a part for no card.
pub fn for_nobody() -> Vec<u8> {
    ImageBuilder::new(parts().manifest().clone()).part("filler", vec![1; 100]).build().expect("one part is enough")
}

/// An image that asks for a shell of a version that is not there yet.
pub fn for_a_later_shell() -> Vec<u8> {
    let probe = parts();
    let mut builder = ImageBuilder::new(probe.manifest().clone()).shell(9);
    for part in probe.parts() {
        builder = builder.part(&part.target, probe.part(&part.target).expect("its digest is right").to_vec());
    }
    builder.build().expect("its parts are those of an image")
}

fn parts() -> Image {
    let bytes = rackloom_builtin_roles::image("probe").expect("it is built in");
    Image::parse(bytes.into()).expect("it was built by us")
}
