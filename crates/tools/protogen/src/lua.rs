//! The Wireshark dissector: tables made from the families, and the code in `dissector.lua` that walks them.

use crate::model::{Content, EtherType, Family, Kind, Struct, TailOf, Type};
use crate::rules::Rule;
use crate::text::{camel, made_from, put, split_words};

/// The text of `protocol/rackloom.lua`.
pub(crate) fn emit(families: &[Family]) -> String {
    let mut o = String::new();
    put(&mut o, &format!("-- {}\n--", made_from("protocol/")));
    put(
        &mut o,
        "-- Wireshark dissector. Use it with `wireshark -X lua_script:protocol/rackloom.lua`, or copy it into the",
    );
    put(&mut o, "-- folder of personal Lua plugins.\n\nlocal FAMILIES = {");
    for family in families {
        tables(&mut o, family);
    }
    put(&mut o, "}\n");
    o.push_str(include_str!("dissector.lua"));
    o
}

/// The tables of one family.
fn tables(o: &mut String, p: &Family) {
    let about = &p.family;
    put(o, &format!("  {{\n    filter = \"{}\", title = \"{}\",", about.names.filter, camel(&about.names.filter)));
    put(o, &format!("    version = {}, header = \"{}\",", about.version, about.header));
    put(o, &format!("    trailer = \"{}\", trailer_mask = 0x{:x},", about.trailer.of, 1 << p.trailer_bit()));
    if let Some(cipher) = &about.trailer.cipher {
        let clear: Vec<_> = cipher.clear.iter().map(|name| format!("{name} = true")).collect();
        let flag = quote(&cipher.flag.to_lowercase());
        put(o, &format!("    cipher = {{ flag = {flag}, clear = {{ {} }} }},", clear.join(", ")));
    }
    if let Some(ipv6) = &about.ipv6 {
        let (next, hops, subnet) = (ipv6.next_header, ipv6.hop_limit, ipv6.subnet.0);
        put(o, &format!("    ipv6 = {{ next_header = {next}, hop_limit = {hops}, subnet = \"{subnet:016x}\" }},"));
    }
    put(o, "    flags = {");
    for f in &p.flags {
        let name = f.name.to_lowercase();
        put(o, &format!("      {{ name = {}, mask = 0x{:x}, doc = {} }},", quote(&name), 1 << f.bit, quote(&f.doc)));
    }
    put(o, "    },\n    enums = {");
    for e in &p.enums {
        put(o, &format!("      {} = {{", e.name));
        for v in &e.values {
            put(o, &format!("        [{}] = {},", v.value, quote(&split_words(&v.name, '-'))));
        }
        put(o, "      },");
    }
    put(o, "    },\n    structs = {");
    // IPv6's header is Wireshark's own.
    for s in p.structs.iter().filter(|s| !p.is_carrier(s)) {
        structure(o, p, s);
    }
    put(o, "    },\n    ethertypes = {");
    for e in &p.ethertypes {
        put(o, &format!("      [0x{:04X}] = {{", e.value));
        for k in &e.kinds {
            kind(o, p, e, k);
        }
        put(o, "      },");
    }
    put(o, "    },\n    counters = {");
    for (i, c) in p.counters.iter().enumerate() {
        put(o, &format!("      [{i}] = {},", quote(&c.name)));
    }
    put(o, "    },\n  },");
}

fn kind(o: &mut String, p: &Family, e: &EtherType, k: &Kind) {
    let payload = match (k.payload.as_str(), k.content) {
        ("", _) => "none",
        ("*", Content::Bytes) => "bytes",
        ("*", Content::Counters) => "counters",
        ("*", Content::Text) => "text",
        (name, _) => name,
    };
    let (name, from) = (p.label(e, k), k.rules.get(Rule::From));
    let optional = if k.optional { ", optional = true" } else { "" };
    let (number, payload) = (k.value, format!("payload = \"{payload}\"{optional}"));
    put(o, &format!("        [{number}] = {{ name = \"{name}\", from = \"{from}\", {payload} }},"));
}

fn structure(o: &mut String, p: &Family, s: &Struct) {
    put(o, &format!("      {} = {{", s.name));
    put(
        o,
        &format!(
            "        name = \"{}\",\n        size = {},\n        fields = {{",
            split_words(&s.name, '_'),
            s.size()
        ),
    );
    for (at, f) in s.layout() {
        let ty = match f.ty {
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::Mac => "mac",
            Type::Bytes(_) => "bytes",
        };
        let of = f.of.as_ref().map_or_else(String::new, |of| format!(", enum = \"{of}\""));
        let (name, size) = (&f.name, f.ty.size());
        put(o, &format!("          {{ name = \"{name}\", at = {at}, size = {size}, type = \"{ty}\"{of},"));
        put(o, &format!("            doc = {} }},", quote(&f.doc)));
    }
    put(o, "        },");
    if let Some(tail) = &s.tail {
        let of = match &tail.of {
            TailOf::Text => "text",
            TailOf::Words => "u64",
            TailOf::Structs(of) => of,
        };
        let bound = match (&tail.count, &tail.max) {
            (Some(count), Some(max)) => {
                format!(", count = \"{count}\", max = {}", p.constant(max).expect("checked"))
            }
            _ => String::new(),
        };
        put(o, &format!("        tail = {{ name = \"{}\", of = \"{of}\"{bound} }},", tail.name));
    }
    put(o, "      },");
}

/// A Lua string.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
