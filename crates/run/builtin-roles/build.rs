//! Builds every role in `device/roles` and embeds the images.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::exit;
use std::{env, fs};

use rackloom_rolec::{Options, build_role};

fn main() {
    let device = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../../device");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    println!("cargo::rerun-if-changed={}", device.display());
    println!("cargo::rerun-if-env-changed=RACKLOOM_CLANG");
    let mut roles: Vec<PathBuf> = fs::read_dir(device.join("roles"))
        .expect("device/roles is part of the source tree")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.join("role.toml").is_file())
        .collect();
    roles.sort();
    let mut table = String::from("&[\n");
    for dir in roles {
        let name = dir.file_name().and_then(|n| n.to_str()).expect("roles have ASCII names").to_owned();
        let image = build_role(&dir, &Options::default()).unwrap_or_else(|error| {
            println!("cargo::error={}", error.to_string().replace('\n', " | "));
            exit(1);
        });
        let file = out.join(format!("{name}.rli"));
        fs::write(&file, image).expect("cargo's folder is writable");
        writeln!(table, "    ({name:?}, include_bytes!({file:?})),").expect("a string");
    }
    table.push_str("]\n");
    fs::write(out.join("roles.rs"), table).expect("cargo's folder is writable");
}
