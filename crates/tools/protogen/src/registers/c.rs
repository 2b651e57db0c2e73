//! The C form, for the firmware: addresses, and masks of fields.

use super::{CSR, Map, Region, Register};
use crate::text::{WIDTH_C, put, put_wrapped};

/// The text of `gateware/firmware/csr.h`.
pub(crate) fn emit(map: &Map) -> String {
    let mut o = String::new();
    put(&mut o, "// Made from protocol/registers.toml by `cargo run -p protogen`. Change that file, not this one.\n//");
    put_wrapped(
        &mut o,
        "//",
        WIDTH_C,
        "CSR_NAME is a register, read or assigned as a variable. A field of one bit is a mask: NAME_FIELD. One of \
         several is NAME_FIELD_SHIFT and NAME_FIELD_MASK, the mask of the field when moved down to bit 0. A region is \
         NAME_BASE and NAME_BYTES; REGION_WORD(slot, word) is a word of a slot, REGION_SLOT_WORD the number of one.",
    );
    put(&mut o, "#ifndef RL_CSR_H\n#define RL_CSR_H\n\n#include <stdint.h>\n");
    put(&mut o, "// The word at an address. A test of the firmware on another machine defines it first.");
    put(&mut o, "#ifndef RL_WORD\n#define RL_WORD(address) (*(volatile uint32_t *)(address))\n#endif\n");
    for r in &map.regions {
        region(&mut o, r);
    }
    for b in &map.blocks {
        put_wrapped(&mut o, "// ----", WIDTH_C, &format!("{}: {}", b.name, b.doc));
        for r in map.of(b) {
            register(&mut o, map, r);
        }
        put(&mut o, "");
    }
    put(&mut o, "#endif");
    o
}

fn define(o: &mut String, name: &str, value: &str) {
    put(o, &format!("#define {name} {value}"));
}

fn region(o: &mut String, r: &Region) {
    let name = &r.name;
    put_wrapped(o, "//", WIDTH_C, &r.doc);
    define(o, &format!("{name}_BASE"), &format!("0x{:08X}u", r.base));
    define(o, &format!("{name}_BYTES"), &format!("0x{:X}u", r.bytes));
    if let Some((slots, bytes)) = r.slots() {
        define(o, &format!("{name}_SLOTS"), &format!("{slots}u"));
        define(o, &format!("{name}_SLOT_BYTES"), &format!("{bytes}u"));
        let at = format!("{name}_BASE + (slot) * {name}_SLOT_BYTES + 4u * (word)");
        define(o, &format!("{name}_WORD(slot, word)"), &format!("RL_WORD({at})"));
    } else if r.name != CSR {
        define(o, &format!("{name}_WORD(word)"), &format!("RL_WORD({name}_BASE + 4u * (word))"));
    }
    for w in &r.words {
        put_wrapped(o, "//", WIDTH_C, &w.doc);
        define(o, &format!("{name}_SLOT_{}", w.name), &format!("{}u", w.at.low));
    }
    put(o, "");
}

fn register(o: &mut String, map: &Map, r: &Register) {
    let name = &r.name;
    let address = map.csr().base + r.offset;
    put_wrapped(o, "//", WIDTH_C, &format!("{}: {}", r.access.name(), r.doc));
    if r.count.is_some() {
        define(o, &format!("CSR_{name}(i)"), &format!("RL_WORD(0x{address:08X}u + 4u * (i))"));
    } else {
        define(o, &format!("CSR_{name}"), &format!("RL_WORD(0x{address:08X}u)"));
    }
    for f in &r.fields {
        let field = format!("{name}_{}", f.name);
        put_wrapped(o, "//  ", WIDTH_C, &f.doc);
        if f.bits.width() == 1 {
            define(o, &field, &format!("0x{:08X}u", 1u32 << f.bits.low));
        } else {
            define(o, &format!("{field}_SHIFT"), &format!("{}u", f.bits.low));
            define(o, &format!("{field}_MASK"), &format!("0x{:X}u", f.bits.mask()));
        }
        for v in &f.values {
            let names = f.names.as_deref().expect("checked");
            put_wrapped(o, "//    ", WIDTH_C, &v.doc);
            define(o, &format!("{names}_{}", v.name), &format!("{}u", v.value));
        }
    }
}
