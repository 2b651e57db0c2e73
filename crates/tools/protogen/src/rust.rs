//! The Rust form: constants, enums, zero-copy views.

use crate::model::{Protocol, Sender, Type};
use crate::text::{camel, put, put_wrapped, split_words};

/// The text of `crates/core/wire/src/generated.rs`.
pub(crate) fn emit(p: &Protocol) -> String {
    let mut o = String::new();
    put(&mut o, "//! Constants, kinds, enums and zero-copy views of the protocol.\n//!");
    put(&mut o, "//! Made from protocol/protocol.toml by `cargo run -p protogen`. Change that file, not this one.\n");
    o.push_str("use zerocopy::byteorder::network_endian::{U16, U32, U64};\n");
    o.push_str("use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};\n\nuse crate::MacAddr;\n\n");
    put(&mut o, &format!("/// Protocol version.\npub const VERSION: u8 = {};", p.protocol.version));
    for c in &p.consts {
        put_wrapped(&mut o, "///", 120, &c.doc);
        put(&mut o, &format!("pub const {}: {} = {};", c.name, int(c.ty), c.value));
    }
    for a in &p.addresses {
        let b = a.bytes().expect("checked").map(|b| format!("0x{b:02x}")).join(", ");
        put_wrapped(&mut o, "///", 120, &a.doc);
        put(&mut o, &format!("pub const {}: MacAddr = MacAddr([{b}]);", a.name));
    }
    for f in &p.flags {
        put_wrapped(&mut o, "///", 120, &f.doc);
        put(&mut o, &format!("pub const FLAG_{}: u8 = 1 << {};", f.name, f.bit));
    }
    kinds(&mut o, p);
    for e in &p.enums {
        enumeration(&mut o, e);
    }
    for s in &p.structs {
        put_wrapped(&mut o, "///", 120, &s.doc);
        put(
            &mut o,
            "#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]",
        );
        put(&mut o, &format!("#[repr(C)]\npub struct {} {{", s.name));
        for f in &s.fields {
            let ty = match f.ty {
                Type::U8 => "u8".into(),
                Type::U16 => "U16".into(),
                Type::U32 => "U32".into(),
                Type::U64 => "U64".into(),
                Type::Mac => "MacAddr".into(),
                Type::Bytes(n) => format!("[u8; {n}]"),
            };
            put_wrapped(&mut o, "    ///", 120, &f.doc);
            put(&mut o, &format!("    pub {}: {ty},", f.name));
        }
        put(&mut o, &format!("}}\n\nconst _: () = assert!(size_of::<{}>() == {});\n", s.name, s.size()));
    }
    counters(&mut o, p);
    o
}

fn int(t: Type) -> &'static str {
    match t {
        Type::U8 => "u8",
        Type::U16 => "u16",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::Mac | Type::Bytes(_) => unreachable!("constants are integers"),
    }
}

fn kinds(o: &mut String, p: &Protocol) {
    put(o, "\n/// The EtherTypes, SAF Table I and next to it.\npub mod ethertype {");
    for e in &p.ethertypes {
        put_wrapped(o, "    ///", 120, &e.doc);
        let name = split_words(&e.name, '_').to_uppercase();
        put(o, &format!("    pub const {name}: u16 = 0x{:04X};", e.value));
    }
    let list: Vec<_> = p.ethertypes.iter().map(|e| split_words(&e.name, '_').to_uppercase()).collect();
    put(o, &format!("    /// All of them.\n    pub const ALL: [u16; {}] = [{}];\n}}\n", list.len(), list.join(", ")));
    put(o, "/// What a frame is: its EtherType and sub-kind.");
    put(o, "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(u32)]\npub enum Kind {");
    let all: Vec<_> = p.kinds().collect();
    for (e, k) in &all {
        put_wrapped(o, "    ///", 120, &k.doc);
        let wire = u32::from(e.value) << 8 | u32::from(k.value);
        put(o, &format!("    {}{} = 0x{wire:06X},", e.name, k.name));
    }
    put(o, "}\n\nimpl Kind {");
    put(o, &format!("    /// Every kind.\n    pub const ALL: [Self; {}] = [", all.len()));
    for (e, k) in &all {
        put(o, &format!("        Self::{}{},", e.name, k.name));
    }
    put(o, "    ];\n\n    /// The kind with this EtherType and sub-kind.");
    put(
        o,
        "    pub const fn from_wire(ethertype: u16, kind: u8) -> Option<Self> {\n        \
         Some(match (ethertype, kind) {",
    );
    for (e, k) in &all {
        put(o, &format!("            (0x{:04X}, {}) => Self::{}{},", e.value, k.value, e.name, k.name));
    }
    put(
        o,
        "            _ => return None,\n        })\n    }\n\n    \
         /// True for what cards send, false for what hosts send.",
    );
    put(o, "    pub const fn is_from_card(self) -> bool {\n        match self {");
    for (from, value) in [(Sender::Card, true), (Sender::Host, false)] {
        let names: Vec<_> =
            all.iter().filter(|(_, k)| k.from == from).map(|(e, k)| format!("Self::{}{}", e.name, k.name)).collect();
        put(o, &format!("            {} => {value},", names.join("\n            | ")));
    }
    put(
        o,
        "        }\n    }\n\n    /// The name that tools print.\n    \
         pub const fn name(self) -> &'static str {\n        match self {",
    );
    for (e, k) in &all {
        let name = format!("{}.{}", split_words(&e.name, '-'), split_words(&k.name, '-'));
        put(o, &format!("            Self::{}{} => \"{name}\",", e.name, k.name));
    }
    put(o, "        }\n    }\n}\n");
}

fn enumeration(o: &mut String, e: &crate::model::Enum) {
    put_wrapped(o, "///", 120, &e.doc);
    put(o, "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]");
    put(o, &format!("#[repr({})]\npub enum {} {{", int(e.ty), e.name));
    for v in &e.values {
        put_wrapped(o, "    ///", 120, &v.doc);
        put(o, &format!("    {} = {},", v.name, v.value));
    }
    put(
        o,
        &format!("}}\n\nimpl {} {{\n    /// The value on the wire, or `None` if this version knows no such.", e.name),
    );
    put(
        o,
        &format!("    pub const fn from_wire(value: {}) -> Option<Self> {{\n        Some(match value {{", int(e.ty)),
    );
    for v in &e.values {
        put(o, &format!("            {} => Self::{},", v.value, v.name));
    }
    put(o, "            _ => return None,\n        })\n    }\n\n    /// The name that tools print.");
    put(o, "    pub const fn name(self) -> &'static str {\n        match self {");
    for v in &e.values {
        put(o, &format!("            Self::{} => \"{}\",", v.name, split_words(&v.name, '-')));
    }
    put(
        o,
        "        }\n    }\n\n    /// What it means.\n    \
         pub const fn meaning(self) -> &'static str {\n        match self {",
    );
    for v in &e.values {
        put(o, &format!("            Self::{} => \"{}\",", v.name, v.doc));
    }
    put(o, &format!("        }}\n    }}\n}}\n\nimpl From<{}> for {} {{", e.name, int(e.ty)));
    put(o, &format!("    fn from(value: {}) -> Self {{\n        value as Self\n    }}\n}}\n", e.name));
}

fn counters(o: &mut String, p: &Protocol) {
    put(o, "/// A card's counters, in the order of the wire.");
    put(o, "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(usize)]\npub enum Counter {");
    for c in &p.counters {
        put_wrapped(o, "    ///", 120, &c.doc);
        put(o, &format!("    {},", camel(&c.name)));
    }
    put(
        o,
        &format!(
            "}}\n\nimpl Counter {{\n    /// How many there are.\n    pub const COUNT: usize = {};\n",
            p.counters.len()
        ),
    );
    put(o, "    /// Their names, in order.\n    pub const NAMES: [&'static str; Self::COUNT] = [");
    for c in &p.counters {
        put(o, &format!("        \"{}\",", c.name));
    }
    put(o, "    ];\n}");
}
