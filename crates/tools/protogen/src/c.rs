//! The C form of the wire, for a little-endian processor that sees a frame as big-endian words of 32 bits.
//!
//! So that it never swaps bytes, a field is a word's number and the bits in it. Word numbers of the header count from
//! the frame, those of a payload's struct from the struct.

use crate::model::{Field, Protocol, Struct, Type};
use crate::text::{WIDTH_C, put, put_wrapped, split_words};

/// The text of `gateware/firmware/wire.h`.
pub(crate) fn emit(p: &Protocol) -> String {
    let mut o = String::new();
    put(&mut o, "// Made from protocol/protocol.toml by `cargo run -p protogen`. Change that file, not this one.\n//");
    put_wrapped(&mut o, "//", WIDTH_C, ABOUT);
    put(&mut o, "#ifndef RL_WIRE_H\n#define RL_WIRE_H\n\n#include <stdint.h>\n");
    put(&mut o, ACCESS);
    define(&mut o, "VERSION", p.protocol.version);
    for c in &p.consts {
        comment(&mut o, &c.doc);
        let suffix = if u32::try_from(c.value).is_ok() { "u" } else { "ull" };
        put(&mut o, &format!("#define {} {}{suffix}", c.name, c.value));
    }
    put(&mut o, "");
    for a in &p.addresses {
        let b = a.bytes().expect("checked");
        comment(&mut o, &a.doc);
        put(&mut o, &format!("#define {}_HI 0x{:02X}{:02X}u", a.name, b[0], b[1]));
        put(&mut o, &format!("#define {}_LO 0x{:02X}{:02X}{:02X}{:02X}u", a.name, b[2], b[3], b[4], b[5]));
    }
    put(&mut o, "\n// Flags, in the frame's word KIND_WORD.");
    for f in &p.flags {
        comment(&mut o, &f.doc);
        put(&mut o, &format!("#define FLAG_{} 0x{:08X}u", f.name, 1 << (8 + f.bit)));
    }
    kinds(&mut o, p);
    for e in &p.enums {
        comment(&mut o, &e.doc);
        for v in &e.values {
            comment(&mut o, &v.doc);
            define(&mut o, &format!("{}_{}", upper(&e.name), upper(&v.name)), v.value);
        }
        put(&mut o, "");
    }
    for s in &p.structs {
        structure(&mut o, s);
    }
    put(&mut o, "// A card's counters: their numbers.");
    for (c, i) in p.counters.iter().zip(0u16..) {
        comment(&mut o, &c.doc);
        define(&mut o, &format!("COUNTER_{}", c.name.to_uppercase()), i);
    }
    put(&mut o, &format!("#define COUNTERS {}u\n\n#endif", p.counters.len()));
    o
}

const ABOUT: &str = "The firmware sees a frame as words of 32 bits: word k is bytes 4 k to 4 k + 3 as a big-endian \
    number. A field of at most 32 bits is NAME_WORD, its word, NAME_SHIFT and NAME_MASK, the mask of the field when \
    moved down to bit 0. One of 64 bits is NAME_WORD, its high half, with the low half in the next word. An Ethernet \
    address is NAME_WORD and NAME_SHIFT, the shift of its first two bytes. Other bytes, which start at a word, are \
    NAME_WORD and NAME_WORDS. Words of the header count from the frame, words of a payload from the payload: the \
    payload is word PAYLOAD_WORD of the frame.";

const ACCESS: &str = "\
// A field of at most 32 bits of `words`, and a value in its place in the word.
#define FIELD(words, name) ((words)[name##_WORD] >> name##_SHIFT & name##_MASK)
#define PLACED(name, value) ((uint32_t)(value) << name##_SHIFT)
// An Ethernet address of `words`: its first two bytes, and the other four.
#define MAC_FIELD_HI(words, name) ((words)[name##_WORD] >> name##_SHIFT & 0xFFFFu)
#define MAC_FIELD_LO(words, name) \\
  (name##_SHIFT ? (words)[name##_WORD] << 16 | (words)[name##_WORD + 1] >> 16 : (words)[name##_WORD + 1])
";

fn comment(o: &mut String, text: &str) {
    put_wrapped(o, "//", WIDTH_C, text);
}

fn define(o: &mut String, name: &str, value: impl std::fmt::Display) {
    put(o, &format!("#define {name} {value}u"));
}

fn upper(camel: &str) -> String {
    split_words(camel, '_').to_uppercase()
}

fn kinds(o: &mut String, p: &Protocol) {
    put(o, "\n// EtherTypes.");
    for e in &p.ethertypes {
        comment(o, &e.doc);
        put(o, &format!("#define ETHER_TYPE_{} 0x{:04X}u", upper(&e.name), e.value));
    }
    put(o, "\n// What a frame is: its word KIND_WORD without version and flags.");
    put(o, "#define KIND_WORD 3u\n#define KIND_MASK 0xFFFF00FFu\n#define VERSION_PLACED (VERSION << 12)");
    for (e, k) in p.kinds() {
        comment(o, &k.doc);
        let wire = u32::from(e.value) << 16 | u32::from(k.value);
        put(o, &format!("#define KIND_{}_{} 0x{wire:08X}u", upper(&e.name), upper(&k.name)));
    }
    put(o, "");
}

fn structure(o: &mut String, s: &Struct) {
    comment(o, &s.doc);
    let name = upper(&s.name);
    // The header's words count from the frame, with the addresses and the EtherType before it.
    let base = if s.name == "Header" { 14 } else { 0 };
    if s.name == "Header" {
        put(o, "#define HEADER_DST_WORD 0u\n#define HEADER_DST_SHIFT 16u");
        put(o, "#define HEADER_SRC_WORD 1u\n#define HEADER_SRC_SHIFT 0u");
        define(o, "PAYLOAD_WORD", (base + s.size()) / 4);
    } else {
        define(o, &format!("{name}_WORDS"), s.size() / 4);
    }
    // Reserved fields are sent as zero and not looked at.
    for (at, f) in s.layout().filter(|(_, f)| f.name != "reserved") {
        field(o, &format!("{name}_{}", f.name.to_uppercase()), base + at, f);
    }
    put(o, "");
}

fn field(o: &mut String, name: &str, at: usize, f: &Field) {
    comment(o, &f.doc);
    define(o, &format!("{name}_WORD"), at / 4);
    match f.ty {
        Type::U64 => {}
        Type::U8 | Type::U16 | Type::U32 => {
            define(o, &format!("{name}_SHIFT"), 32 - 8 * (at % 4 + f.ty.size()));
            put(o, &format!("#define {name}_MASK 0x{:X}u", u32::MAX >> (32 - 8 * f.ty.size())));
        }
        Type::Mac => define(o, &format!("{name}_SHIFT"), 16 - 8 * (at % 4)),
        Type::Bytes(n) => define(o, &format!("{name}_WORDS"), n / 4),
    }
}
