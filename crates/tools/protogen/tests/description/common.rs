//! The repository's descriptions, edits of them, and a second family.

use std::path::Path;

use protogen::Source;

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

/// The control family's description.
pub(crate) fn control() -> Source {
    family("control")
}

/// The bridge family's description.
pub(crate) fn bridge() -> Source {
    family("bridge")
}

fn family(name: &str) -> Source {
    let sources = protogen::sources(root()).unwrap();
    sources.into_iter().find(|s| s.name == name).unwrap_or_else(|| panic!("protocol/{name}.toml"))
}

/// The control family's description with one edit, which must be possible.
pub(crate) fn edited(from: &str, to: &str) -> Source {
    let Source { name, text } = control();
    assert!(text.contains(from), "the description has no {from:?} to change: adapt this test");
    Source { name, text: text.replacen(from, to, 1) }
}
