//! Images that every kind of card runs: the built-in role `probe`, and others made of its parts.

use rackloom_image::{Image, ImageBuilder, Manifest};

/// Kernel numbers of `probe`.
pub mod kernel {
    /// `bump(cell, cycles)`: adds 1 to the word at `cell` and returns it.
    pub const BUMP: u64 = 0;
    /// `trap()`: fails.
    pub const TRAP: u64 = 1;
    /// `spin()`: never returns.
    pub const SPIN: u64 = 2;
    /// How many there are.
    pub const COUNT: usize = 3;
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
    let bytes = rackloom_roles::image("probe").expect("it is built in");
    Image::parse(bytes.into()).expect("it was built by us")
}
