//! The reference page for people.

use super::{Field, Map, On, Region, Register};
use crate::text::{head, put, row};

/// The text of `docs/src/reference/registers.md`.
pub(crate) fn emit(map: &Map) -> String {
    let mut o = String::new();
    put(
        &mut o,
        "<!-- Made from protocol/registers.toml by `cargo run -p protogen`. Change that file, not this one. -->\n",
    );
    put(&mut o, "# Registers of the shell\n");
    put(&mut o, "What the firmware of the gateware's processor sees: `gateware/firmware/csr.h` has the names in C,");
    put(&mut o, "`gateware/rtl/common/rl_csr_pkg.sv` in SystemVerilog. Nothing of it is seen from the network.\n");
    put(&mut o, "## Address map\n");
    head(&mut o, &["base", "bytes", "name", "access", "what"]);
    for r in &map.regions {
        let base = format!("`0x{:08X}`", r.base);
        row(&mut o, &[&base, &format!("0x{:X}", r.bytes), &format!("`{}`", r.name), r.access.name(), &r.doc]);
    }
    put(&mut o, "");
    for r in map.regions.iter().filter(|r| !r.words.is_empty()) {
        slot(&mut o, r);
    }
    for b in &map.blocks {
        put(&mut o, &format!("## {}\n\n{}\n", b.name, b.doc));
        head(&mut o, &["offset", "name", "access", "meaning"]);
        for r in map.of(b) {
            let first = format!("0x{:03X}", r.offset);
            let (offset, name) = match r.count {
                None => (first, format!("`{}`", r.name)),
                Some(n) => (format!("{first}-0x{:03X}", r.end() - 4), format!("`{}[{n}]`", r.name)),
            };
            row(&mut o, &[&offset, &name, r.access.name(), &r.doc]);
        }
        put(&mut o, "");
        for r in map.of(b).filter(|r| !r.fields.is_empty()) {
            fields(&mut o, r);
        }
    }
    o.truncate(o.trim_end().len());
    o.push('\n');
    o
}

fn slot(o: &mut String, r: &Region) {
    let (slots, bytes) = r.slots().expect("checked: words are of slots");
    put(o, &format!("`{}` has {slots} slots of {bytes} bytes; each holds\n", r.name));
    head(o, &["word", "name", "meaning"]);
    for w in &r.words {
        let at = if w.at.width() == 1 { w.at.low.to_string() } else { format!("{}-{}", w.at.low, w.at.high) };
        row(o, &[&at, &format!("`{}`", w.name), &w.doc]);
    }
    put(o, "");
}

fn fields(o: &mut String, r: &Register) {
    put(o, &format!("Fields of `{}`:\n", r.name));
    head(o, &["bits", "name", "meaning"]);
    for f in &r.fields {
        let bits = if f.bits.width() == 1 { f.bits.low.to_string() } else { format!("{}-{}", f.bits.high, f.bits.low) };
        row(o, &[&bits, &format!("`{}`", f.name), &meaning(f)]);
    }
    put(o, "");
}

fn meaning(f: &Field) -> String {
    let on = match f.on {
        None => "",
        Some(On::Read) => "Read: ",
        Some(On::Write) => "Written: ",
    };
    let values: Vec<_> = f.values.iter().map(|v| format!(" {} `{}`: {}", v.value, v.name, v.doc)).collect();
    format!("{on}{}{}", f.doc, values.concat())
}
