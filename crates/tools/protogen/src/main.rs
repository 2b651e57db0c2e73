//! `cargo run -p protogen` writes every form of the descriptions that is stale; with `--check` it writes nothing, names
//! the stale ones and fails.

use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let check = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        other => bail!("unknown arguments {other:?}: only --check is taken"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut forms = protogen::forms(&protogen::sources(&root)?)?;
    let registers = root.join(protogen::REGISTERS);
    let registers = fs::read_to_string(&registers).with_context(|| format!("reading {}", registers.display()))?;
    forms.extend(protogen::register_forms(&registers)?);
    let mut stale = Vec::new();
    for form in forms {
        if !form.is_stale(&root)? {
            continue;
        }
        if check {
            stale.push(form.path);
        } else {
            form.write(&root)?;
            eprintln!("wrote {}", form.path);
        }
    }
    if !stale.is_empty() {
        bail!("stale: {}; run `cargo run -p protogen` and commit what it writes", stale.join(", "));
    }
    Ok(())
}
