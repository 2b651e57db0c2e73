//! The law of the cores: no socket, clock, thread, file or async runtime, neither in the sources nor below them.
//!
//! It is what lets one card and one host run live, simulated and beside the gateware, and what makes a simulated run
//! repeat itself to the last event.

use crate::Finding;
use crate::metadata::{DepKind, Workspace};
use crate::repo::File;
use crate::rust::{NamedPath, paths};

/// The shelf in crates/ whose crates are cores.
pub const SHELF: &str = "core/";

/// Parts of the standard library that a core does not use.
const FORBIDDEN_STD: [&[&str]; 6] = [
    &["std", "net"],
    &["std", "thread"],
    &["std", "fs"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "time", "UNIX_EPOCH"],
];

/// Crates that a core does not use, nor anything it depends on.
const FORBIDDEN_CRATES: [&str; 5] = ["tokio", "mio", "socket2", "rustix", "wasmtime"];

const REMEDY: &str = "a core gets time and frames handed in (rackloom_node::Node); \
     what needs the world belongs in a crate above it, such as live or rackloom";

/// What a core's sources name and must not.
pub fn sources(file: &File) -> Vec<Finding> {
    let crate_and_file = file.path.strip_prefix("crates/").and_then(|path| path.strip_prefix(SHELF)?.split_once('/'));
    if !crate_and_file.is_some_and(|(_, path)| path.starts_with("src/")) || !file.is_rust() {
        return Vec::new();
    }
    let named = paths(&file.text).into_iter().filter(is_forbidden);
    named
        .map(|p| Finding {
            file: file.path.clone(),
            line: p.line,
            what: format!("`{}` in a core", p.segments.join("::")),
            remedy: REMEDY,
        })
        .collect()
}

fn is_forbidden(path: &NamedPath) -> bool {
    let mut segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    if segments.last() == Some(&"self") {
        segments.pop();
    }
    if FORBIDDEN_CRATES.contains(&segments[0]) {
        return true;
    }
    // `use std::time` and `use std::*` let the forbidden in by another name.
    let open = segments.last() == Some(&"*");
    if open {
        segments.pop();
    }
    let whole = path.imported && FORBIDDEN_STD.iter().any(|f| f.starts_with(&segments));
    whole || FORBIDDEN_STD.iter().any(|f| segments.starts_with(f))
}

/// What a core depends on and must not.
pub fn dependencies(workspace: &Workspace) -> Vec<Finding> {
    let mut found = Vec::new();
    for package in workspace.members().filter(|p| p.folder.starts_with(SHELF)) {
        let manifest = format!("crates/{}/Cargo.toml", package.folder);
        let finding = |what: String| Finding { file: manifest.clone(), line: 0, what, remedy: REMEDY };
        for dep in package.dependencies.iter().filter(|d| d.kind == DepKind::Normal) {
            if FORBIDDEN_CRATES.contains(&dep.name.as_str()) {
                found.push(finding(format!("depends on {}", dep.name)));
            }
        }
        for forbidden in FORBIDDEN_CRATES {
            if let Some(way) = workspace.way_to(package, forbidden).filter(|way| way.len() > 2) {
                found.push(finding(format!("depends on {forbidden} by way of {}", way[1..way.len() - 1].join(", "))));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::tests::workspace;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        sources(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_way_to_the_world_is_found() {
        let bad = [
            "use std::net::UdpSocket;",
            "use std::{net, fmt};",
            "use std::{fmt, thread::{self, JoinHandle}};",
            "fn f() { let t = std::time::Instant::now(); }",
            "use std::time::{Duration, SystemTime};",
            "use std::time;",
            "use std::time::{self, Duration};",
            "use std::time::*;",
            "use std::*;",
            "use std as s;",
            "let f = std::fs::read(x);",
            "use ::std::fs;",
            "use tokio::net::UdpSocket;",
            "let s = mio::Poll::new();",
            "extern crate std; use std::time::UNIX_EPOCH;",
        ];
        for text in bad {
            let found = found("crates/core/wire/src/a.rs", &format!("//! Doc.\n{text}\n"));
            assert!(!found.is_empty() && found[0].starts_with("crates/core/wire/src/a.rs:2: `"), "{text}: {found:?}");
        }
        let good = [
            "use std::time::Duration;",
            "use core::time::Duration; // std::time::Instant is for drivers",
            "let s = \"std::fs::read\";",
            "use rackloom_node::Instant; let i = Instant::from_nanos(1);",
            "use std::fmt; use std::collections::BTreeMap;",
            "use crate::net::Thing; let n = net::f();",
        ];
        for text in good {
            assert!(found("crates/core/wire/src/a.rs", text).is_empty(), "{text}");
        }
        assert!(found("crates/run/live/src/a.rs", bad[0]).is_empty(), "link is no core");
        assert!(found("crates/core/wire/tests/a.rs", bad[0]).is_empty(), "tests may");
    }

    #[test]
    fn dependencies_are_followed() {
        let deps = [
            ("rackloom-core/wire", &["helper"][..]),
            ("helper", &["mio"]),
            ("mio", &[]),
            ("rackloom-core/host", &["socket2", "bytes"]),
            ("socket2", &[]),
            ("rackloom-run/live", &["mio"]),
            ("bytes", &[]),
        ];
        let found: Vec<_> = dependencies(&workspace(&deps)).iter().map(|f| format!("{}: {}", f.file, f.what)).collect();
        let wanted = [
            "crates/core/wire/Cargo.toml: depends on mio by way of helper",
            "crates/core/host/Cargo.toml: depends on socket2",
        ];
        assert_eq!(found, wanted);
    }
}
