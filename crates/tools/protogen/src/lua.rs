//! The Wireshark dissector: tables made from the description, and the code in `dissector.lua` that walks them.

use crate::model::{Content, Protocol, Sender, Struct, TailOf, Type};
use crate::text::{put, split_words};

/// The text of `protocol/rackloom.lua`.
pub(crate) fn emit(p: &Protocol) -> String {
    let mut o = String::new();
    put(&mut o, "-- Made from protocol/protocol.toml by `cargo run -p protogen`. Change that file, not this one.\n--");
    put(
        &mut o,
        "-- Wireshark dissector. Use it with `wireshark -X lua_script:protocol/rackloom.lua`, or copy it into the",
    );
    put(&mut o, "-- folder of personal Lua plugins.\n");
    put(&mut o, &format!("local VERSION = {}\nlocal FLAGS = {{", p.protocol.version));
    for f in &p.flags {
        let name = f.name.to_lowercase();
        put(&mut o, &format!("  {{ name = {}, mask = 0x{:x}, doc = {} }},", quote(&name), 1 << f.bit, quote(&f.doc)));
    }
    put(&mut o, "}\nlocal ENUMS = {");
    for e in &p.enums {
        put(&mut o, &format!("  {} = {{", e.name));
        for v in &e.values {
            put(&mut o, &format!("    [{}] = {},", v.value, quote(&split_words(&v.name, '-'))));
        }
        put(&mut o, "  },");
    }
    put(&mut o, "}\nlocal STRUCTS = {");
    for s in &p.structs {
        structure(&mut o, p, s);
    }
    put(&mut o, "}\nlocal ETHERTYPES = {");
    for e in &p.ethertypes {
        put(&mut o, &format!("  [0x{:04X}] = {{", e.value));
        for k in &e.kinds {
            let name = format!("{}.{}", split_words(&e.name, '-'), split_words(&k.name, '-'));
            let from = match k.from {
                Sender::Card => "card",
                Sender::Host => "host",
            };
            let payload = match (k.payload.as_str(), k.content) {
                ("", _) => "none",
                ("*", Content::Bytes) => "bytes",
                ("*", Content::Counters) => "counters",
                ("*", Content::Text) => "text",
                (name, _) => name,
            };
            put(
                &mut o,
                &format!("    [{}] = {{ name = \"{name}\", from = \"{from}\", payload = \"{payload}\" }},", k.value),
            );
        }
        put(&mut o, "  },");
    }
    put(&mut o, "}\nlocal COUNTERS = {");
    for (i, c) in p.counters.iter().enumerate() {
        put(&mut o, &format!("  [{i}] = {},", quote(&c.name)));
    }
    put(&mut o, "}\n");
    o.push_str(include_str!("dissector.lua"));
    o
}

fn structure(o: &mut String, p: &Protocol, s: &Struct) {
    put(o, &format!("  {} = {{", s.name));
    put(o, &format!("    name = \"{}\",\n    size = {},\n    fields = {{", split_words(&s.name, '_'), s.size()));
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
        put(o, &format!("      {{ name = \"{name}\", at = {at}, size = {size}, type = \"{ty}\"{of},"));
        put(o, &format!("        doc = {} }},", quote(&f.doc)));
    }
    put(o, "    },");
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
        put(o, &format!("    tail = {{ name = \"{}\", of = \"{of}\"{bound} }},", tail.name));
    }
    put(o, "  },");
}

/// A Lua string.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
