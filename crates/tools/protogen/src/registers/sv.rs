//! The SystemVerilog form: numbers of regions, offsets of registers, places of fields.
//!
//! Values of fields are not here: the packages of the blocks that make them have them, and a test compares.

use super::{CSR, Map, Register};
use crate::text::{WIDTH_SV, camel, put, put_wrapped};

/// The text of `gateware/rtl/common/rl_csr_pkg.sv`.
pub(crate) fn emit(map: &Map) -> String {
    let mut o = String::new();
    put(&mut o, "// Made from protocol/registers.toml by `cargo run -p protogen`. Change that file, not this one.\n");
    put(&mut o, "// A design uses some of this, never all; the generator lays the lines out.");
    put(&mut o, "// verilator lint_off UNUSEDPARAM\n// verilog_format: off\npackage rl_csr_pkg;\n");
    regions(&mut o, map);
    for b in &map.blocks {
        comment(&mut o, &b.doc);
        for r in map.of(b) {
            register(&mut o, r);
        }
        put(&mut o, "");
    }
    put(&mut o, "endpackage : rl_csr_pkg\n// verilog_format: on\n// verilator lint_on UNUSEDPARAM");
    o
}

fn comment(o: &mut String, text: &str) {
    put_wrapped(o, "  //", WIDTH_SV, text);
}

fn regions(o: &mut String, map: &Map) {
    comment(o, "Parts of the processor's address map: bits 30 to 28 of an address.");
    put(o, "  typedef enum logic [2:0] {");
    for (i, r) in map.regions.iter().enumerate() {
        let comma = if i + 1 < map.regions.len() { "," } else { "" };
        put_wrapped(o, "    //", WIDTH_SV, &r.doc);
        put(o, &format!("    Region{} = 3'd{}{comma}", camel(&r.name), r.number()));
    }
    put(o, "  } region_e;\n");
    for r in map.regions.iter().filter(|r| r.name != CSR) {
        let name = format!("Region{}", camel(&r.name));
        put(o, &format!("  localparam int unsigned {name}Bytes = {};", r.bytes));
        if let Some((slots, bytes)) = r.slots() {
            put(o, &format!("  localparam int unsigned {name}Slots = {slots};"));
            put(o, &format!("  localparam int unsigned {name}SlotBytes = {bytes};"));
        }
        for w in &r.words {
            put_wrapped(o, "  //", WIDTH_SV, &format!("Word of a slot. {}", w.doc));
            put(o, &format!("  localparam int unsigned {name}Slot{} = {};", camel(&w.name), w.at.low));
        }
    }
    put(o, "");
    comment(o, "Registers: their words in the region.");
    put(o, "  typedef logic [7:0] csr_word_t;\n");
}

fn register(o: &mut String, r: &Register) {
    let name = camel(&r.name);
    comment(o, &format!("{}: {}. {}", r.name, r.access.name(), r.doc));
    put(o, &format!("  localparam csr_word_t Csr{name} = 8'h{:02x};", r.offset / 4));
    for f in &r.fields {
        let field = format!("{name}{}", camel(&f.name));
        if f.bits.width() == 1 {
            put(o, &format!("  localparam int unsigned {field}Bit = {};", f.bits.low));
        } else {
            put(o, &format!("  localparam int unsigned {field}Lsb = {};", f.bits.low));
            put(o, &format!("  localparam int unsigned {field}Width = {};", f.bits.width()));
        }
    }
}
