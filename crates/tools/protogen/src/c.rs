//! The C form of a family, for a little-endian processor that sees a frame as big-endian words of 32 bits.
//!
//! So that it never swaps bytes, a field is a word's number and the bits in it. Word numbers of the header count from
//! the frame, those of a payload's struct from the struct. All names begin with the family's prefix in C.

use crate::model::{ETHERNET, Family, Field, Struct, Type};
use crate::rules::{COLUMNS, Rule};
use crate::text::{WIDTH_C, made_from, put, put_wrapped, split_words};

/// The name and the text of the header in `gateware/firmware/`, if the family has one.
pub(crate) fn emit(p: &Family) -> Option<(&str, String)> {
    let (file, x) = (p.family.names.c_file.as_deref()?, p.family.names.c_prefix.as_deref()?);
    let mut o = String::new();
    let guard = format!("RL_{}", file.to_uppercase().replace('.', "_"));
    put(&mut o, &format!("// {}\n//", made_from(&p.source())));
    put_wrapped(&mut o, "//", WIDTH_C, ABOUT);
    put(&mut o, &format!("#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n"));
    put(&mut o, ACCESS);
    define(&mut o, &format!("{x}VERSION"), p.family.version);
    for c in &p.consts {
        comment(&mut o, &c.doc);
        let suffix = if u32::try_from(c.value).is_ok() { "u" } else { "ull" };
        put(&mut o, &format!("#define {x}{} {}{suffix}", c.name, c.value));
    }
    put(&mut o, "");
    for a in &p.addresses {
        let (hex, name) = (a.hex().to_uppercase(), &a.name);
        comment(&mut o, &a.doc);
        put(&mut o, &format!("#define {x}{name}_HI 0x{}u\n#define {x}{name}_LO 0x{}u", &hex[..4], &hex[4..]));
    }
    put(&mut o, &format!("\n// Flags, in the frame's word {x}KIND_WORD."));
    for f in p.gateware_flags() {
        comment(&mut o, &f.doc);
        put(&mut o, &format!("#define {x}FLAG_{} 0x{:08X}u", f.name, 1 << (8 + f.bit)));
    }
    kinds(&mut o, p, x);
    rules(&mut o, p, x);
    for e in &p.enums {
        comment(&mut o, &e.doc);
        for v in e.in_gateware() {
            comment(&mut o, &v.doc);
            define(&mut o, &format!("{x}{}_{}", upper(&e.name), upper(&v.name)), v.value);
        }
        put(&mut o, "");
    }
    for s in &p.structs {
        structure(&mut o, p, x, s);
    }
    put(&mut o, "// A card's counters: their numbers.");
    for (c, i) in p.counters.iter().zip(0u16..) {
        comment(&mut o, &c.doc);
        define(&mut o, &format!("{x}COUNTER_{}", c.name.to_uppercase()), i);
    }
    define(&mut o, &format!("{x}COUNTERS"), p.counters.len());
    comment(&mut o, "How many every card counts. The others are of parts that a card may lack, which then reports 0.");
    define(&mut o, &format!("{x}COUNTERS_COMMON"), p.common_counters());
    put(&mut o, "\n#endif");
    Some((file, o))
}

const ABOUT: &str = "The firmware sees a frame as words of 32 bits: word k is bytes 4 k to 4 k + 3 as a big-endian \
    number. A field of at most 32 bits is NAME_WORD, its word, NAME_SHIFT and NAME_MASK, the mask of the field when \
    moved down to bit 0. One of 64 bits is NAME_WORD, its high half, with the low half in the next word. An Ethernet \
    address is NAME_WORD and NAME_SHIFT, the shift of its first two bytes. Other bytes, which start at a word, are \
    NAME_WORD and NAME_WORDS. Words of the header count from the frame, words of a payload from the payload: the \
    payload is word PAYLOAD_WORD of the frame.";

const ACCESS: &str = "\
#ifndef FIELD
// A field of at most 32 bits of `words`, and a value in its place in the word.
#define FIELD(words, name) ((words)[name##_WORD] >> name##_SHIFT & name##_MASK)
#define PLACED(name, value) ((uint32_t)(value) << name##_SHIFT)
// An Ethernet address of `words`: its first two bytes, and the other four.
#define MAC_FIELD_HI(words, name) ((words)[name##_WORD] >> name##_SHIFT & 0xFFFFu)
#define MAC_FIELD_LO(words, name) \\
  (name##_SHIFT ? (words)[name##_WORD] << 16 | (words)[name##_WORD + 1] >> 16 : (words)[name##_WORD + 1])
#endif
";

fn comment(o: &mut String, text: &str) {
    put_wrapped(o, "//", WIDTH_C, text);
}

fn define(o: &mut String, name: &str, value: impl std::fmt::Display) {
    put(o, &format!("#define {name} {value}u"));
}

fn upper(name: &str) -> String {
    split_words(name, '_').replace('-', "_").to_uppercase()
}

fn kinds(o: &mut String, p: &Family, x: &str) {
    put(o, "\n// EtherTypes.");
    for e in &p.ethertypes {
        comment(o, &e.doc);
        put(o, &format!("#define {x}ETHER_TYPE_{} 0x{:04X}u", upper(&e.name), e.value));
    }
    put(o, &format!("\n// What a frame is: its word {x}KIND_WORD without version and flags."));
    put(o, &format!("#define {x}KIND_WORD 3u\n#define {x}KIND_MASK 0xFFFF00FFu"));
    put(o, &format!("#define {x}VERSION_PLACED ({x}VERSION << 12)"));
    for (e, k) in p.kinds() {
        comment(o, &k.doc);
        let wire = u32::from(e.value) << 16 | u32::from(k.value);
        put(o, &format!("#define {x}KIND_{}_{} 0x{wire:08X}u", upper(&e.name), upper(&k.name)));
    }
    put(o, "");
}

/// What the firmware asks of the frames that a card takes.
fn rules(o: &mut String, p: &Family, x: &str) {
    let claim = &COLUMNS[Rule::Claim as usize];
    comment(o, claim.doc);
    put(o, &format!("enum {}claim_rule {{", x.to_lowercase()));
    for (_, v) in claim.values_of(p.family.recognised_by) {
        put_wrapped(o, "  //", WIDTH_C, v.doc);
        put(o, &format!("  {x}CLAIM_RULE_{},", upper(v.name)));
    }
    put(o, "};\n");
    let taken: Vec<_> = p.kinds().filter(|(_, k)| k.rules.to_card()).collect();
    if taken.is_empty() {
        return;
    }
    comment(o, "The kinds that a card takes: a `switch` over this that lacks one of them does not compile.");
    put(o, &format!("enum {}taken {{", x.to_lowercase()));
    for (e, k) in &taken {
        let name = format!("{}_{}", upper(&e.name), upper(&k.name));
        put(o, &format!("  {x}TAKEN_{name} = (int){x}KIND_{name},"));
    }
    put(o, "};\n");
    comment(o, "Of each of them: its claim rule, and the words of its payload if they are always as many.");
    for (e, k) in &taken {
        let name = format!("{}_{}", upper(&e.name), upper(&k.name));
        put(o, &format!("#define {x}CLAIM_OF_{name} {x}CLAIM_RULE_{}", upper(k.rules.get(Rule::Claim))));
        if let Some(bytes) = p.fixed_size(k) {
            define(o, &format!("{x}WORDS_OF_{name}"), bytes / 4);
        }
    }
    put(o, "");
}

fn structure(o: &mut String, p: &Family, x: &str, s: &Struct) {
    comment(o, &s.doc);
    let name = format!("{x}{}", upper(&s.name));
    let is_header = s.name == p.family.header;
    // The header's words count from the frame, with the addresses and the EtherType before it.
    let base = if is_header { ETHERNET } else { 0 };
    if is_header {
        put(o, &format!("#define {name}_DST_WORD 0u\n#define {name}_DST_SHIFT 16u"));
        put(o, &format!("#define {name}_SRC_WORD 1u\n#define {name}_SRC_SHIFT 0u"));
        define(o, &format!("{x}PAYLOAD_WORD"), (base + s.size()) / 4);
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
