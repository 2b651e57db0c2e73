//! Makes every form of the protocol from `protocol/protocol.toml`: `cargo run -p protogen`, from the repository's root.
//! With `--check` it writes nothing and fails if a form is stale.

mod model;
mod rust;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let check = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        other => bail!("unknown arguments {other:?}: only --check is taken"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = root.join("protocol/protocol.toml");
    let text = fs::read_to_string(&source).with_context(|| format!("reading {}", source.display()))?;
    let protocol = model::Protocol::parse(&text)?;
    let forms = [("crates/wire/src/generated.rs", rustfmt(&rust::emit(&protocol))?)];
    let mut stale = Vec::new();
    for (path, new) in forms {
        let file = root.join(path);
        if fs::read_to_string(&file).ok().as_deref() == Some(&new) {
            continue;
        }
        if check {
            stale.push(path);
        } else {
            fs::create_dir_all(file.parent().expect("a file in a folder"))?;
            fs::write(&file, new).with_context(|| format!("writing {}", file.display()))?;
            eprintln!("wrote {path}");
        }
    }
    if !stale.is_empty() {
        bail!("stale: {}; run `cargo run -p protogen` and commit what it writes", stale.join(", "));
    }
    Ok(())
}

/// The generated Rust is kept in the form that `cargo fmt` leaves alone.
fn rustfmt(text: &str) -> Result<String> {
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rustfmt.toml");
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path", config])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting rustfmt")?;
    child.stdin.take().expect("piped").write_all(text.as_bytes())?;
    let out = child.wait_with_output()?;
    if !out.status.success() {
        bail!("rustfmt refused the generated Rust");
    }
    Ok(String::from_utf8(out.stdout)?)
}
