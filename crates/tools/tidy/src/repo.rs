//! The repository's files.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A text file.
#[derive(Debug, Clone)]
pub struct File {
    /// From the repository's root.
    pub path: String,
    /// What it holds.
    pub text: String,
}

impl File {
    /// True for what a generator writes: its length and layout are the generator's business.
    pub fn is_generated(&self) -> bool {
        let marks = ["Made from protocol/", "Made by gateware/"];
        let ours = self.text.lines().take(3).any(|line| marks.iter().any(|mark| line.contains(mark)));
        // Go's own rule: such a line, anywhere.
        let go = |line: &str| line.starts_with("// Code generated ") && line.ends_with(" DO NOT EDIT.");
        ours || self.path.ends_with(".go") && self.text.lines().any(go)
    }

    /// True for Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// Every text file that git tracks or would track, in the order of their paths.
///
/// # Errors
/// When git cannot be run, or a file cannot be read.
pub fn files(root: &Path) -> Result<Vec<File>> {
    let out = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("starting git, which tidy needs to know the files")?;
    ensure!(out.status.success(), "git ls-files: {}", String::from_utf8_lossy(&out.stderr));
    let mut paths: Vec<_> = String::from_utf8(out.stdout)?.split_terminator('\0').map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let file = root.join(&path);
        // Deleted and not yet committed, or a link.
        if !file.symlink_metadata().is_ok_and(|m| m.is_file()) {
            continue;
        }
        let bytes = std::fs::read(&file).with_context(|| format!("reading {path}"))?;
        if let Ok(text) = String::from_utf8(bytes)
            && !text.contains('\0')
        {
            files.push(File { path, text });
        }
    }
    Ok(files)
}
