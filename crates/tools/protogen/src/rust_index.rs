//! The Rust form of what all families share: which families there are, how a frame's family is found, and the rules.

use crate::model::Family;
use crate::rules::COLUMNS;
use crate::text::{camel, made_from, put, put_wrapped};

/// The text of `crates/core/wire/src/generated/mod.rs`. `body` is [`families`], formatted apart: rustfmt would look
/// for the files of the modules.
pub(crate) fn emit(families: &[Family], body: &str) -> String {
    let mut o = String::new();
    put(
        &mut o,
        "//! What is generated from the descriptions of families: a module for each, and the rules of their kinds.",
    );
    put(&mut o, &format!("//!\n//! {}\n", made_from("protocol/")));
    let mut modules: Vec<_> = families.iter().map(|f| f.family.name.as_str()).chain(["rules"]).collect();
    modules.sort_unstable();
    for module in modules {
        put(&mut o, &format!("pub mod {module};"));
    }
    put(&mut o, "");
    o + body
}

/// The families, and how to recognise each.
pub(crate) fn families(families: &[Family]) -> String {
    let mut o = String::new();
    // What a link carries is known by the port it came in on.
    let families: Vec<_> = families.iter().filter(|f| f.is_everywhere()).collect();
    put(&mut o, "/// A family of frames: a set of kinds with a header of their own.");
    put(&mut o, "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub enum Family {");
    for f in &families {
        let name = camel(&f.family.name);
        put(&mut o, &format!("    /// Frames of `protocol/{}.toml`.\n    {name},", f.family.name));
    }
    put(&mut o, "}\n\nimpl Family {");
    let plain: Vec<_> = families.iter().filter(|f| f.family.ipv6.is_none()).collect();
    put(&mut o, "    /// The family that this EtherType alone belongs to.");
    put(&mut o, "    pub const fn from_ethertype(value: u16) -> Option<Self> {\n        match value {");
    for f in &plain {
        put(&mut o, &format!("            {} => Some(Self::{}),", ethertypes(f).join(" | "), camel(&f.family.name)));
    }
    put(&mut o, "            _ => None,\n        }\n    }\n");
    put(&mut o, "    /// The family that this frame belongs to, whether or not it keeps the family's other rules.");
    put(&mut o, "    pub fn of(frame: &[u8]) -> Option<Self> {");
    put(&mut o, "        let value = u16::from_be_bytes(*frame.get(12..)?.first_chunk()?);\n        match value {");
    for f in families.iter().filter(|f| f.family.ipv6.is_some()) {
        let (name, value) = (&f.family.name, ethertypes(f).concat());
        let this = camel(name);
        put(&mut o, &format!("            {value} if {name}::CARRIER.carries(frame) => Some(Self::{this}),"));
    }
    put(&mut o, "            _ => Self::from_ethertype(value),\n        }\n    }\n}\n");
    let all: Vec<_> = plain.iter().flat_map(|f| ethertypes(f)).collect();
    put(&mut o, "/// The EtherTypes by which alone a frame is known to be of a family.");
    put(&mut o, &format!("pub const ETHERTYPES: [u16; {}] = [{}];\n", all.len(), all.join(", ")));
    let carried = families.iter().filter(|f| f.family.ipv6.is_some());
    let carried: Vec<_> = carried.map(|f| format!("{}::CARRIER", f.family.name)).collect();
    put(&mut o, "/// The packets that carry the frames of the other families.");
    put(&mut o, &format!("pub const CARRIERS: [crate::Carrier; {}] = [{}];", carried.len(), carried.join(", ")));
    o
}

/// A family's EtherTypes in Rust.
fn ethertypes(family: &Family) -> Vec<String> {
    family.ethertypes.iter().map(|e| format!("0x{:04X}", e.value)).collect()
}

/// The text of `crates/core/wire/src/generated/rules.rs`.
pub(crate) fn rules() -> String {
    let mut o = String::new();
    put(&mut o, "//! The rules that each kind of frame has: who sends it, who takes it, where, and under which claim.");
    put(&mut o, &format!("//!\n//! {}\n", made_from("protocol/")));
    put(&mut o, "/// The rules of one kind of frame.");
    put(&mut o, "#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct Rules {");
    for c in &COLUMNS {
        put_wrapped(&mut o, "    ///", 120, c.doc);
        put(&mut o, &format!("    pub {}: {},", c.key, c.type_name));
    }
    put(&mut o, "}\n");
    for c in &COLUMNS {
        put_wrapped(&mut o, "///", 120, c.doc);
        put(&mut o, "#[derive(Debug, Clone, Copy, PartialEq, Eq)]");
        put(&mut o, &format!("pub enum {} {{", c.type_name));
        for v in c.values {
            put_wrapped(&mut o, "    ///", 120, v.doc);
            put(&mut o, &format!("    {},", camel(v.name)));
        }
        put(&mut o, "}\n");
    }
    o
}
