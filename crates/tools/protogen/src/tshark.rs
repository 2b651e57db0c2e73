//! Captures as Wireshark sees them, with our dissector: for tests of any crate that leaves a capture.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// One frame of a capture.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Wireshark's protocols for the frame, outermost first: `eth:ethertype:rackloom`.
    pub protocols: String,
    /// All fields and what they show, by filter name (`rackloom.seq`), in the order of the frame.
    pub fields: BTreeMap<String, Vec<String>>,
}

impl Seen {
    /// What the field shows, where it first occurs.
    pub fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(|v| v.first()).map(String::as_str)
    }

    /// The frame's kind as tools print it; `None` if Wireshark could not name it.
    pub fn name(&self) -> Option<&str> {
        self.get("rackloom.name")
    }

    /// What Wireshark finds wrong with the frame, our own remarks and those of its other dissectors.
    pub fn faults(&self) -> Vec<&str> {
        let messages = self.fields.get("_ws.expert.message").into_iter().flatten().map(String::as_str);
        // Wireshark's bare mark stands beside most messages, and alone when a dissector of its own gave up.
        let mark = self.fields.contains_key("_ws.malformed") && !self.fields.contains_key("_ws.expert.message");
        messages.chain(mark.then_some("malformed packet")).collect()
    }
}

/// Reads a capture file with tshark and `protocol/rackloom.lua`.
///
/// # Errors
/// When tshark is not installed or refuses the file or the dissector.
pub fn read(capture: &Path) -> Result<Vec<Seen>> {
    read_with(&dissector(), capture)
}

/// Reads a capture file with tshark and the dissector of this file.
///
/// # Errors
/// As [`read`].
pub fn read_with(dissector: &Path, capture: &Path) -> Result<Vec<Seen>> {
    let out = tshark(dissector, capture, &["-T", "json", "--no-duplicate-keys"])?;
    let frames: Vec<Value> = serde_json::from_str(&out).context("tshark's JSON")?;
    let seen = frames.iter().map(|frame| {
        let mut fields = BTreeMap::new();
        flatten(&frame["_source"]["layers"], &mut fields);
        let protocols = fields.get("frame.protocols").and_then(|v| v.first()).context("frame.protocols")?.clone();
        Ok(Seen { protocols, fields })
    });
    seen.collect()
}

/// The lines that tshark prints for a capture, one for each frame.
///
/// # Errors
/// As [`read`].
pub fn lines(capture: &Path) -> Result<Vec<String>> {
    Ok(tshark(&dissector(), capture, &[])?.lines().map(str::to_owned).collect())
}

/// All that Wireshark shows of a capture, as indented text.
///
/// # Errors
/// As [`read`].
pub fn tree(capture: &Path) -> Result<String> {
    tshark(&dissector(), capture, &["-V"])
}

/// The repository's dissector.
fn dissector() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../protocol/rackloom.lua")
}

fn tshark(dissector: &Path, capture: &Path, options: &[&str]) -> Result<String> {
    let lua = format!("lua_script:{}", dissector.display());
    let run = Command::new("tshark").args(["-n", "-X", &lua, "-r"]).arg(capture).args(options).output();
    let out = match run {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            bail!("tshark is not installed: run `apt-get install tshark` or `make setup`, which does so")
        }
        run => run.context("starting tshark")?,
    };
    let stderr = String::from_utf8_lossy(&out.stderr);
    ensure!(out.status.success(), "tshark failed: {stderr}");
    // A dissector with an error in it is left out with a message, and tshark goes on.
    ensure!(!stderr.contains("Lua"), "tshark has a complaint about the dissector: {stderr}");
    String::from_utf8(out.stdout).context("tshark's output")
}

/// Objects are subtrees, arrays are repeated fields; all that holds text is a field.
fn flatten(value: &Value, into: &mut BTreeMap<String, Vec<String>>) {
    let Value::Object(map) = value else { return };
    for (key, value) in map {
        let values = if let Value::Array(list) = value { list.as_slice() } else { std::slice::from_ref(value) };
        for value in values {
            match value {
                Value::String(text) => into.entry(key.clone()).or_default().push(text.clone()),
                Value::Object(_) => {
                    into.entry(key.clone()).or_default();
                    flatten(value, into);
                }
                _ => {}
            }
        }
    }
}
