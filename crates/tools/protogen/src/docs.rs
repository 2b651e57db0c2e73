//! The reference page for people.

use crate::model::{Content, Enum, EtherType, Kind, Protocol, Sender, Struct, TailOf, Type};
use crate::text::{camel, head, put, row, split_words};

/// The text of `docs/src/reference/wire.md`.
pub(crate) fn emit(p: &Protocol) -> String {
    let mut o = String::new();
    put(
        &mut o,
        "<!-- Made from protocol/protocol.toml by `cargo run -p protogen`. Change that file, not this one. -->\n",
    );
    put(&mut o, &format!("# The {} wire, version {}\n", camel(&p.protocol.name), p.protocol.version));
    put(&mut o, p.protocol.doc.trim());
    put(&mut o, "All integers are big-endian. Receivers ignore the padding, and count and drop what breaks a rule.\n");
    put(
        &mut o,
        "To look at frames: `wireshark -X lua_script:protocol/rackloom.lua`. Filters are the names on this page:",
    );
    put(&mut o, "`rackloom.name == \"image.data\"`, `rackloom.epoch == 3`, `rackloom.done.status != 0`.\n");
    frame(&mut o, p);
    flags(&mut o, p);
    ethertypes(&mut o, p);
    put(&mut o, "## Payloads\n");
    put(
        &mut o,
        "Offsets count from the start of the payload, byte 32 of the frame. Reserved fields are sent as zero and",
    );
    put(&mut o, "not looked at.\n");
    for s in p.structs.iter().filter(|s| s.name != "Header") {
        structure(&mut o, p, s);
    }
    put(&mut o, "## Enums\n");
    for e in &p.enums {
        enumeration(&mut o, e);
    }
    addresses(&mut o, p);
    constants(&mut o, p);
    counters(&mut o, p);
    o.truncate(o.trim_end().len());
    o.push('\n');
    o
}

/// mdBook's anchor of a heading.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace(' ', "-")
}

fn frame(o: &mut String, p: &Protocol) {
    put(o, "## A frame\n\n```text");
    put(o, " byte 0        6       12     14    15     16       18      20      24                32");
    put(o, "      +--------+-------+------+-----+------+--------+-------+-------+-----------------+---------+-------+");
    put(o, "      |  dst   |  src  | type | v|f | kind | length | epoch |  seq  |      addr       | payload | zeros |");
    put(o, "      +--------+-------+------+-----+------+--------+-------+-------+-----------------+---------+-------+");
    put(o, "      |------- Ethernet ------|-------------------- common header --------------------|  length    to 60");
    put(o, "```\n");
    head(o, &["bytes", "field", "type", "meaning"]);
    row(o, &["0-5", "`dst`", "mac", "Ethernet destination."]);
    row(o, &["6-11", "`src`", "mac", "Ethernet source."]);
    row(o, &["12-13", "`type`", "u16", "[EtherType](#ethertypes)."]);
    let header = p.find("Header").expect("checked");
    for (at, f) in header.layout() {
        let (first, last) = (14 + at, 14 + at + f.ty.size() - 1);
        let bytes = if first == last { first.to_string() } else { format!("{first}-{last}") };
        row(o, &[&bytes, &format!("`{}`", f.name), &type_name(f.ty), &f.doc]);
    }
    put(o, "");
}

fn flags(o: &mut String, p: &Protocol) {
    put(o, "## Flags\n");
    head(o, &["bit", "flag", "meaning"]);
    for f in &p.flags {
        row(o, &[&f.bit.to_string(), &f.name, &f.doc]);
    }
    put(o, "");
}

fn ethertypes(o: &mut String, p: &Protocol) {
    put(o, "## EtherTypes\n");
    head(o, &["value", "name", "SAF, Table I", "use"]);
    for e in &p.ethertypes {
        let link = format!("[{}](#{})", e.name, anchor(&format!("{} kinds", e.name)));
        row(o, &[&format!("0x{:04X}", e.value), &link, e.table1.as_deref().unwrap_or("-"), &e.doc]);
    }
    put(o, "");
    for e in &p.ethertypes {
        kinds(o, p, e);
    }
}

fn kinds(o: &mut String, p: &Protocol, e: &EtherType) {
    put(o, &format!("### {} kinds\n\n{}\n", e.name, e.doc));
    head(o, &["kind", "name", "sent by", "payload", "meaning"]);
    for k in &e.kinds {
        let from = match k.from {
            Sender::Card => "card",
            Sender::Host => "host",
        };
        let name = format!("`{}.{}`", split_words(&e.name, '-'), split_words(&k.name, '-'));
        row(o, &[&k.value.to_string(), &name, from, &payload(p, k), &k.doc]);
    }
    put(o, "");
}

fn payload(p: &Protocol, k: &Kind) -> String {
    match (k.payload.as_str(), k.content) {
        ("", _) => "none".into(),
        ("*", Content::Bytes) => "bytes".into(),
        ("*", Content::Counters) => "[counters](#counters)".into(),
        ("*", Content::Text) => "text".into(),
        (name, _) => {
            let s = p.find(name).expect("checked");
            format!("[{name}](#{}), {}{} bytes", anchor(name), s.size(), if s.tail.is_some() { "+" } else { "" })
        }
    }
}

fn type_name(t: Type) -> String {
    match t {
        Type::U8 => "u8".into(),
        Type::U16 => "u16".into(),
        Type::U32 => "u32".into(),
        Type::U64 => "u64".into(),
        Type::Mac => "mac".into(),
        Type::Bytes(n) => format!("{n} bytes"),
    }
}

fn structure(o: &mut String, p: &Protocol, s: &Struct) {
    put(o, &format!("### {}\n\n{}\n", s.name, s.doc));
    head(o, &["offset", "field", "type", "meaning"]);
    for (at, f) in s.layout() {
        let of = f.of.as_ref().map_or_else(String::new, |of| format!(" [{of}](#{}).", anchor(of)));
        row(o, &[&at.to_string(), &format!("`{}`", f.name), &type_name(f.ty), &format!("{}{of}", f.doc)]);
    }
    if let Some(tail) = &s.tail {
        let (ty, meaning) = match &tail.of {
            TailOf::Text => ("text".into(), "UTF-8, to the payload's end.".into()),
            TailOf::Words => ("u64 each".into(), counted(p, s)),
            TailOf::Structs(of) => (format!("[{of}](#{}) each", anchor(of)), counted(p, s)),
        };
        row(o, &[&format!("{}...", s.size()), &format!("`{}`", tail.name), &ty, &meaning]);
    }
    put(o, "");
}

fn counted(p: &Protocol, s: &Struct) -> String {
    let tail = s.tail.as_ref().expect("the caller has it");
    let (Some(count), Some(max)) = (&tail.count, &tail.max) else { unreachable!("checked: it is counted") };
    format!("As many as `{count}` says, at most {}.", p.constant(max).expect("checked"))
}

fn enumeration(o: &mut String, e: &Enum) {
    put(o, &format!("### {}\n\n{} Type {}.\n", e.name, e.doc, type_name(e.ty)));
    head(o, &["value", "name", "meaning"]);
    for v in &e.values {
        row(o, &[&v.value.to_string(), &format!("`{}`", split_words(&v.name, '-')), &v.doc]);
    }
    put(o, "");
}

fn addresses(o: &mut String, p: &Protocol) {
    put(o, "## Addresses\n");
    head(o, &["name", "address", "use"]);
    for a in &p.addresses {
        row(o, &[&a.name, &format!("`{}`", a.value), &a.doc]);
    }
    put(o, "");
}

fn constants(o: &mut String, p: &Protocol) {
    put(o, "## Constants\n");
    head(o, &["name", "value", "type", "why"]);
    for c in &p.consts {
        row(o, &[&format!("`{}`", c.name), &c.value.to_string(), &type_name(c.ty), &c.doc]);
    }
    put(o, "");
}

fn counters(o: &mut String, p: &Protocol) {
    put(o, "## Counters\n");
    put(o, "Each card has these, 64 bits each, from 0 at boot. `session.counters-get` asks for them.\n");
    head(o, &["number", "name", "counts"]);
    for (i, c) in p.counters.iter().enumerate() {
        row(o, &[&i.to_string(), &format!("`{}`", c.name), &c.doc]);
    }
}
