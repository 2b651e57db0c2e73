//! `cargo run -p rackloom-tidy -- --write` writes what can be generated: the README's table of crates.
#![forbid(unsafe_code)]

use std::path::Path;

use anyhow::{Context, Result, bail};
use rackloom_tidy::{parts, repo};

fn main() -> Result<()> {
    if std::env::args().skip(1).collect::<Vec<_>>() != ["--write"] {
        bail!("usage: cargo run -p rackloom-tidy -- --write\n`cargo test -p rackloom-tidy` checks the repository");
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."));
    let file = root.join(parts::README);
    let readme = std::fs::read_to_string(&file).context(parts::README)?;
    let written = parts::written(&readme, &repo::files(root)?)?.context("README.md lacks the marks of the table")?;
    std::fs::write(&file, written).context(parts::README)
}
