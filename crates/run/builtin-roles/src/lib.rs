//! The roles that come with Rackloom, as images: built from `device/roles` with this crate and embedded in it.
//!
//! | role   | kernel                                     | cycles of the role's clock          |
//! |--------|--------------------------------------------|-------------------------------------|
//! | burn   | `out[i] =` a hash of `work[i]`               | the low 40 bits of each `work[i]`   |
//! | chase  | a list in another card's memory           | 4 for each node                     |
//! | copy   | `to[i] = from[i]`, 64-bit words           | i / 4, and 1                        |
//! | echo   | frames go back to where they came from    | one for each 8 bytes                |
//! | gemm   | `c[ij] = sum a[ik] b[kj]`, single precision | i j k / 64                          |
//! | probe  | what tests of a card need                  | as told                             |
//! | ptrans | `c[ij] = b[ij] + a[ji]`, single precision   | 12 i j / 64                         |
//! | sobel  | edges of an 8-bit image                    | ((i + 2) (j + 2) + i j) / 64        |
//! | vadd   | `c[i] = a[i] + b[i]`, single precision      | 12 i / 64                           |
#![forbid(unsafe_code)]

use rackloom_image::TARGET_MODEL;
use rackloom_rolec::pad_image;

/// Names of the roles in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROLES.iter().map(|(name, _)| *name)
}

/// The image of a role.
pub fn image(name: &str) -> Option<&'static [u8]> {
    ROLES.iter().find(|(role, _)| *role == name).map(|(_, image)| *image)
}

/// The image of a role with its `model` part padded to `bytes` by ballast, which stands in for a vendor's bitstream.
/// For sizes and roles that a user gives, see [`rackloom_rolec::pad_image`].
///
/// # Panics
/// If there is no such role, or if its part is larger than `bytes`.
pub fn padded(name: &str, bytes: usize) -> Vec<u8> {
    let image = image(name).unwrap_or_else(|| panic!("no role is called {name}"));
    pad_image(image, TARGET_MODEL, bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const ROLES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/roles.rs"));
