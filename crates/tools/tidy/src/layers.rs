//! Arrows between our crates go down only.

use crate::Finding;
use crate::metadata::{DepKind, Workspace};

/// Our crates from the bottom up. A crate may depend on those of the layers below its own, not on its neighbours.
const LAYERS: [&[&str]; 11] = [
    &["core/auth", "core/node", "core/topology", "core/wire", "run/sync"],
    &["core/transport", "core/image", "check/report", "run/pager"],
    &["core/bridge", "core/collective", "core/role", "core/sign", "run/rolec"],
    &["core/card", "core/host", "run/ddr", "run/builtin-roles"],
    &["run/sandbox", "check/golden", "check/stranger"],
    &["run/sim", "run/live", "run/hosts", "run/verilated", "share/ipc", "share/registry-client"],
    &["api/rackloom", "run/rack", "share/opencl-wire"],
    &["check/swarm", "check/conformance", "api/c", "api/comm"],
    &["check/study-diad", "check/study-optweb", "check/study-saf", "share/opencl", "share/manager"],
    &["check/study-blastfunction"],
    &["cli"],
];

/// Arrows that go down and are wrong all the same, with the reason.
const NEVER: [(&str, &str, &str); 2] = [
    ("core/host", "core/role", "a host holds no sandbox: what it knows of a role stands in the image's manifest"),
    ("core/card", "run/builtin-roles", "a card runs what it is sent, and knows no image beforehand"),
];

/// Crates that no other needs to run: generators and checks.
const TOOLS: [&str; 3] = ["tools/protogen", "tools/tidy", "check/fuzz"];

/// Arrows that go up or sideways. Tests may look anywhere; what runs and what builds may not.
pub fn arrows(workspace: &Workspace) -> Vec<Finding> {
    let mut found = Vec::new();
    for package in workspace.members() {
        let file = format!("crates/{}/Cargo.toml", package.folder);
        let mut finding =
            |what: String, remedy: &'static str| found.push(Finding { file: file.clone(), line: 0, what, remedy });
        let from = package.folder.as_str();
        let layer = layer_of(from);
        if layer.is_none() && !TOOLS.contains(&from) {
            finding(
                format!("{from} has no layer"),
                "give it one in crates/tools/tidy/src/layers.rs and in ARCHITECTURE.md",
            );
        }
        let ours = package.dependencies.iter().filter(|d| d.source.is_none() && d.kind != DepKind::Dev);
        for to in ours.map(|d| folder_of(workspace, &d.name)) {
            if TOOLS.contains(&to) {
                finding(format!("{from} depends on the tool {to}"), "only tests may: make it a dev-dependency");
            } else if let (Some(a), Some(b)) = (layer, layer_of(to))
                && a <= b
            {
                let remedy = "arrows go down only: move what both need into a lower crate";
                finding(format!("{from} depends on {to}, which is not below it"), remedy);
            } else if let Some((.., why)) = NEVER.iter().find(|(a, b, _)| (*a, *b) == (from, to)) {
                finding(format!("{from} depends on {to}"), why);
            }
        }
    }
    found
}

/// The folder of a package; most are named like it.
fn folder_of<'a>(workspace: &'a Workspace, name: &'a str) -> &'a str {
    let member = workspace.members().find(|package| package.name == name);
    member.map_or_else(|| name, |package| &package.folder)
}

fn layer_of(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::tests::workspace;

    fn found(packages: &[(&str, &[&str])]) -> Vec<String> {
        arrows(&workspace(packages)).iter().map(|f| f.what.clone()).collect()
    }

    #[test]
    fn down_is_right_and_up_and_sideways_are_wrong() {
        let good = found(&[
            ("rackloom-core/card", &["rackloom-core/role", "rackloom-core/wire", "wasmtime"]),
            ("rackloom-cli", &["rackloom-core/node"]),
            ("rackloom-check/fuzz", &["rackloom-core/card"]),
            ("rackloom-tools/protogen", &["serde"]),
        ]);
        assert_eq!(good, [""; 0]);
        let bad = found(&[
            ("rackloom-core/image", &["rackloom-core/role"]),
            ("rackloom-core/host", &["rackloom-core/card", "rackloom-core/role"]),
            ("rackloom-core/wire", &["rackloom-core/node"]),
            ("rackloom-core/role", &["rackloom-tools/tidy", "rackloom-tools/protogen"]),
            ("rackloom-run/loom", &[]),
            ("rackloom-core/card", &[]),
            ("rackloom-core/node", &[]),
            ("rackloom-tools/protogen", &[]),
            ("rackloom-tools/tidy", &[]),
        ]);
        let wanted = [
            "core/image depends on core/role, which is not below it",
            "core/host depends on core/card, which is not below it",
            "core/host depends on core/role",
            "core/wire depends on core/node, which is not below it",
            "core/role depends on the tool tools/tidy",
            "core/role depends on the tool tools/protogen",
            "run/loom has no layer",
        ];
        assert_eq!(bad, wanted);
    }
}
