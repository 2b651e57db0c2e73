//! The Rust form of a family: constants, kinds and their rules, enums, zero-copy views.

use crate::model::{Enum, EtherType, Family, Kind, Struct, Type};
use crate::rules::{COLUMNS, Rule};
use crate::text::{camel, made_from, put, put_wrapped, split_words};

/// The text of `crates/core/wire/src/generated/<family>.rs`.
pub(crate) fn emit(p: &Family) -> String {
    let mut o = String::new();
    put(&mut o, &format!("//! Constants, kinds, enums and zero-copy views of the {} family.\n//!", p.family.name));
    put(&mut o, &format!("//! {}\n", made_from(&p.source())));
    let is_used = |ty: Type| p.structs.iter().flat_map(|s| &s.fields).any(|f| f.ty == ty);
    let integers = [(Type::U16, "U16"), (Type::U32, "U32"), (Type::U64, "U64")];
    let integers: Vec<_> = integers.into_iter().filter(|(ty, _)| is_used(*ty)).map(|(_, name)| name).collect();
    put(&mut o, &format!("use zerocopy::byteorder::network_endian::{{{}}};", integers.join(", ")));
    put(&mut o, "use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};\n");
    let types: Vec<_> = COLUMNS.iter().map(|c| c.type_name).collect();
    put(&mut o, &format!("use super::rules::{{Rules, {}}};", types.join(", ")));
    if is_used(Type::Mac) || !p.addresses.is_empty() {
        put(&mut o, "use crate::MacAddr;");
    }
    if p.family.ipv6.is_some() {
        put(&mut o, "use crate::Carrier;");
    }
    put(&mut o, &format!("\n/// Protocol version.\npub const VERSION: u8 = {};", p.family.version));
    for c in &p.consts {
        put_wrapped(&mut o, "///", 120, &c.doc);
        put(&mut o, &format!("pub const {}: {} = {};", c.name, int(c.ty), c.number()));
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
    if p.family.ipv6.is_none() {
        ethertypes(&mut o, p);
    }
    kinds(&mut o, p);
    format(&mut o, p);
    for e in &p.enums {
        enumeration(&mut o, e);
    }
    // IPv6's header is the parser's own, and the same for all families.
    for s in p.structs.iter().filter(|s| !p.is_carrier(s)) {
        structure(&mut o, s);
    }
    if !p.counters.is_empty() {
        counters(&mut o, p);
    }
    o
}

fn structure(o: &mut String, s: &Struct) {
    put_wrapped(o, "///", 120, &s.doc);
    put(o, "#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]");
    put(o, &format!("#[repr(C)]\npub struct {} {{", s.name));
    for f in &s.fields {
        let ty = match f.ty {
            Type::U8 => "u8".into(),
            Type::U16 => "U16".into(),
            Type::U32 => "U32".into(),
            Type::U64 => "U64".into(),
            Type::Mac => "MacAddr".into(),
            Type::Bytes(n) => format!("[u8; {n}]"),
        };
        put_wrapped(o, "    ///", 120, &f.doc);
        put(o, &format!("    pub {}: {ty},", f.name));
    }
    put(o, &format!("}}\n\nconst _: () = assert!(size_of::<{}>() == {});\n", s.name, s.size()));
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

/// The number of a kind in its enum: with its EtherType, unless the family has but one.
fn number(p: &Family, e: &EtherType, k: &Kind) -> String {
    if p.family.ipv6.is_some() { k.value.to_string() } else { format!("0x{:04X}{:02X}", e.value, k.value) }
}

fn ethertypes(o: &mut String, p: &Family) {
    put(o, "\n/// The EtherTypes by which a frame of this family is recognised.\npub mod ethertype {");
    for e in &p.ethertypes {
        put_wrapped(o, "    ///", 120, &e.doc);
        let name = split_words(&e.name, '_').to_uppercase();
        put(o, &format!("    pub const {name}: u16 = 0x{:04X};", e.value));
    }
    let list: Vec<_> = p.ethertypes.iter().map(|e| split_words(&e.name, '_').to_uppercase()).collect();
    put(o, &format!("    /// All of them.\n    pub const ALL: [u16; {}] = [{}];\n}}", list.len(), list.join(", ")));
}

fn kinds(o: &mut String, p: &Family) {
    let (repr, what) = match p.family.ipv6 {
        None => ("u32", "its EtherType and sub-kind"),
        Some(_) => ("u8", "its kind"),
    };
    put(o, &format!("\n/// What a frame is: {what}."));
    put(o, "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]");
    put(o, &format!("#[repr({repr})]\npub enum Kind {{"));
    for (e, k) in p.kinds() {
        put_wrapped(o, "    ///", 120, &k.doc);
        put(o, &format!("    {}{} = {},", e.name, k.name, number(p, e, k)));
    }
    put(o, "}\n\nimpl Kind {");
    put(o, &format!("    /// Every kind.\n    pub const ALL: [Self; {}] = [", p.kinds().count()));
    for (e, k) in p.kinds() {
        put(o, &format!("        Self::{}{},", e.name, k.name));
    }
    let (what, arguments, matched) = match p.family.ipv6 {
        None => ("with this EtherType and sub-kind", "ethertype: u16, kind: u8", "(ethertype, kind)"),
        Some(_) => ("of this number", "kind: u8", "kind"),
    };
    put(o, &format!("    ];\n\n    /// The kind {what}."));
    put(o, &format!("    pub const fn from_wire({arguments}) -> Option<Self> {{"));
    put(o, &format!("        Some(match {matched} {{"));
    for (e, k) in p.kinds() {
        let number = match p.family.ipv6 {
            None => format!("(0x{:04X}, {})", e.value, k.value),
            Some(_) => k.value.to_string(),
        };
        put(o, &format!("            {number} => Self::{}{},", e.name, k.name));
    }
    put(
        o,
        "            _ => return None,\n        })\n    }\n\n    \
         /// The name that tools print.\n    pub const fn name(self) -> &'static str {\n        match self {",
    );
    for (e, k) in p.kinds() {
        put(o, &format!("            Self::{}{} => \"{}\",", e.name, k.name, p.label(e, k)));
    }
    put(o, "        }\n    }\n");
    rules(o, p);
    put(o, "}\n");
}

fn rules(o: &mut String, p: &Family) {
    put(o, "    /// The rules of this kind.\n    pub const fn rules(self) -> Rules {\n        match self {");
    for (e, k) in p.kinds() {
        let values = k.rules.all().map(|(c, value)| format!("{}: {}::{}", c.key, c.type_name, camel(value)));
        put(
            o,
            &format!(
                "            Self::{}{} => Rules {{ {} }},",
                e.name,
                k.name,
                values.collect::<Vec<_>>().join(", ")
            ),
        );
    }
    put(o, "        }\n    }\n");
    let ends = [
        ("is_from_card", Rule::From, "Sender::Card | Sender::Both", "True for what cards send."),
        ("is_to_card", Rule::To, "Receiver::Card | Receiver::Both", "True for what cards take."),
        ("is_to_host", Rule::To, "Receiver::Host | Receiver::Both", "True for what hosts take."),
    ];
    for (name, rule, value, doc) in ends {
        put(o, &format!("    /// {doc}\n    pub const fn {name}(self) -> bool {{"));
        put(o, &format!("        matches!(self.rules().{}, {value})\n    }}\n", COLUMNS[rule as usize].key));
    }
    for rule in [Rule::Reach, Rule::Claim, Rule::TakenBy, Rule::Order] {
        let column = &COLUMNS[rule as usize];
        put_wrapped(o, "    ///", 120, column.doc);
        put(o, &format!("    pub const fn {}(self) -> {} {{", column.key, column.type_name));
        put(o, &format!("        self.rules().{}\n    }}\n", column.key));
    }
}

/// What the parser of `crates/core/wire/src/frame.rs` has to know.
fn format(o: &mut String, p: &Family) {
    let (name, header) = (camel(&p.family.name), &p.family.header);
    if p.family.ipv6.is_some() {
        put(o, "/// The packets that carry the family's frames.");
        put(o, "pub const CARRIER: Carrier = Carrier {");
        put(o, "    ethertype: ETHER_TYPE, next_header: NEXT_HEADER, hop_limit: HOP_LIMIT, subnet: SUBNET,\n};\n");
    }
    put(o, &format!("/// The {} family, as a parameter of [`Frame`](crate::Frame).", p.family.name));
    put(o, &format!("#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub enum {name} {{}}\n"));
    put(o, &format!("impl crate::Format for {name} {{\n    type Header = {header};\n    type Kind = Kind;"));
    put(o, &format!("    const VERSION: u8 = VERSION;\n    const AUTH: u8 = FLAG_{};", p.family.trailer.flag));
    if p.family.ipv6.is_some() {
        put(o, "    const CARRIER: Option<Carrier> = Some(CARRIER);");
    }
    let values: Vec<_> = p.ethertypes.iter().map(|e| format!("0x{:04X}", e.value)).collect();
    let values = values.join(" | ");
    put(o, &format!("\n    fn recognises(ethertype: u16) -> bool {{\n        matches!(ethertype, {values})\n    }}\n"));
    let (ethertype, arguments) = match p.family.ipv6 {
        None => ("ethertype", "ethertype, kind"),
        Some(_) => ("_", "kind"),
    };
    put(o, &format!("    fn kind({ethertype}: u16, kind: u8) -> Option<Kind> {{"));
    put(o, &format!("        Kind::from_wire({arguments})\n    }}\n}}\n"));
}

fn enumeration(o: &mut String, e: &Enum) {
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

fn counters(o: &mut String, p: &Family) {
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
    put(o, "    /// How many every card counts. The others are of parts that a card may lack, which then reports 0.");
    put(o, &format!("    pub const COMMON: usize = {};\n", p.common_counters()));
    put(o, "    /// Their names, in order.\n    pub const NAMES: [&'static str; Self::COUNT] = [");
    for c in &p.counters {
        put(o, &format!("        \"{}\",", c.name));
    }
    put(o, "    ];\n}");
}
