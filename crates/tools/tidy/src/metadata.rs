//! What cargo knows of the workspace.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// When a dependency is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DepKind {
    /// To run.
    Normal,
    /// For tests and benches.
    Dev,
    /// For build scripts.
    Build,
}

/// A dependency as a manifest names it.
#[derive(Debug, Clone, Deserialize)]
pub struct Dependency {
    /// The package.
    pub name: String,
    /// When it is needed.
    #[serde(default = "normal", deserialize_with = "null_is_normal")]
    pub kind: DepKind,
    /// Where it comes from; none for a path.
    pub source: Option<String>,
}

const fn normal() -> DepKind {
    DepKind::Normal
}

/// Cargo writes null for a normal dependency.
fn null_is_normal<'de, D: serde::Deserializer<'de>>(d: D) -> Result<DepKind, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or(DepKind::Normal))
}

/// A package, ours or another's.
#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    /// Cargo's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The folder of its manifest below `crates/`, such as `core/wire`; for a package of others, its last part.
    #[serde(rename = "manifest_path", deserialize_with = "folder_of")]
    pub folder: String,
    /// What its manifest names.
    pub dependencies: Vec<Dependency>,
}

fn folder_of<'de, D: serde::Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    let manifest = String::deserialize(d)?;
    let folder = Path::new(&manifest).parent().unwrap_or_else(|| Path::new(""));
    let parts: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
    let shelves = parts.iter().rposition(|part| part == "crates").map(|at| at + 1);
    let below = shelves.unwrap_or_else(|| parts.len().saturating_sub(1));
    Ok(parts[below..].join("/"))
}

/// The workspace and all below it.
#[derive(Debug, Deserialize)]
pub struct Workspace {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<NodeDep>,
}

#[derive(Debug, Deserialize)]
struct NodeDep {
    pkg: String,
    dep_kinds: Vec<NodeDepKind>,
}

#[derive(Debug, Deserialize)]
struct NodeDepKind {
    #[serde(default = "normal", deserialize_with = "null_is_normal")]
    kind: DepKind,
}

impl Workspace {
    /// Asks cargo, for this machine's platform.
    ///
    /// # Errors
    /// When cargo fails, a stale Cargo.lock included.
    pub fn load(root: &Path) -> Result<Self> {
        let version = Command::new("rustc").arg("-vV").output().context("starting rustc")?;
        let version = String::from_utf8(version.stdout)?;
        let host = version.lines().find_map(|l| l.strip_prefix("host: ")).context("rustc -vV names no host")?;
        let out = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version=1", "--locked", "--filter-platform", host])
            .current_dir(root)
            .output()
            .context("starting cargo metadata")?;
        ensure!(out.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).context("cargo metadata's JSON")
    }

    /// Our own packages.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| self.workspace_members.contains(&p.id))
    }

    /// The shortest way over normal dependencies from a package to one of this name, both ends included.
    pub fn way_to(&self, from: &Package, name: &str) -> Option<Vec<String>> {
        let nodes: BTreeMap<_, _> = self.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
        let packages: BTreeMap<_, _> = self.packages.iter().map(|p| (p.id.as_str(), p)).collect();
        let mut ways = VecDeque::from([vec![from.id.as_str()]]);
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop_front() {
            let here = *way.last()?;
            if packages.get(here).is_some_and(|p| p.name == name) {
                return Some(way.iter().map(|id| packages[id].name.clone()).collect());
            }
            let Some(node) = nodes.get(here).filter(|_| seen.insert(here)) else { continue };
            let needed = node.deps.iter().filter(|d| d.dep_kinds.iter().any(|k| k.kind == DepKind::Normal));
            ways.extend(needed.map(|d| [&way[..], &[d.pkg.as_str()]].concat()));
        }
        None
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A workspace of these packages and their normal dependencies; those named `rackloom-x` are members, in crates/x.
    pub(crate) fn workspace(packages: &[(&str, &[&str])]) -> Workspace {
        let ours = |name: &str| name.starts_with("rackloom-");
        let packages_json: Vec<_> = packages
            .iter()
            .map(|(name, deps)| {
                let source = |d: &str| if ours(d) { None } else { Some("registry") };
                let deps: Vec<_> = deps.iter().map(|d| json!({"name": d, "kind": null, "source": source(d)})).collect();
                let folder = name.strip_prefix("rackloom-").unwrap_or(name);
                let manifest = format!("/x/crates/{folder}/Cargo.toml");
                json!({"id": name, "name": name, "manifest_path": manifest, "dependencies": deps})
            })
            .collect();
        let nodes: Vec<_> = packages
            .iter()
            .map(|(name, deps)| {
                let deps: Vec<_> = deps.iter().map(|d| json!({"pkg": d, "dep_kinds": [{"kind": null}]})).collect();
                json!({"id": name, "deps": deps})
            })
            .collect();
        let members: Vec<_> = packages.iter().map(|p| p.0).filter(|n| ours(n)).collect();
        let all = json!({"packages": packages_json, "workspace_members": members, "resolve": {"nodes": nodes}});
        serde_json::from_value(all).expect("the shape that cargo writes")
    }

    #[test]
    fn the_shortest_way_is_found_and_dev_dependencies_are_no_way() {
        let mut w = workspace(&[("rackloom-a", &["b", "c"]), ("b", &["d"]), ("c", &["b"]), ("d", &["c"])]);
        let a = w.members().next().unwrap().clone();
        assert_eq!(w.way_to(&a, "d").unwrap(), ["rackloom-a", "b", "d"]);
        assert_eq!(w.way_to(&a, "e"), None);
        w.resolve.nodes[0].deps[0].dep_kinds[0].kind = DepKind::Dev;
        assert_eq!(w.way_to(&a, "d").unwrap(), ["rackloom-a", "c", "b", "d"]);
    }
}
