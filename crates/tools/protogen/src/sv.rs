//! The SystemVerilog form of a family: a package of constants, enums, packed structs, and each kind's rules.
//!
//! Names follow lowRISC's style guide. Packed structs put the first field of the wire into the most significant bits,
//! so that the first byte of a frame is the top byte of the vector.

use crate::model::{ETHERNET, Enum, EtherType, Family, Struct, Tail, TailOf, Type};
use crate::rules::COLUMNS;
use crate::text::{WIDTH_SV, camel, made_from, put, put_wrapped, split_words};

/// The text of `gateware/rtl/common/<package>.sv`.
pub(crate) fn emit(p: &Family) -> String {
    let mut o = String::new();
    let package = &p.family.names.package;
    put(&mut o, &format!("// {}\n//", made_from(&p.source())));
    put_wrapped(
        &mut o,
        "//",
        WIDTH_SV,
        "Everything on the wire is big-endian. A packed struct's first field is the first on the wire and has the most \
         significant bits. Fields that hold an enum's value are plain vectors, since a peer may send a value that this \
         version does not know: compare before you cast.",
    );
    put(&mut o, "\n// A design uses some of this, never all; the generator lays the lines out.");
    put(&mut o, "// verilator lint_off UNUSEDPARAM\n// verilog_format: off");
    put(&mut o, &format!("package {package};\n"));
    put(&mut o, "  // Protocol version.");
    put(&mut o, &format!("  localparam logic [3:0] Version = 4'd{};\n", p.family.version));
    for c in &p.consts {
        let bits = c.ty.int_bits().expect("checked: constants are integers");
        comment(&mut o, &c.doc);
        let value = if c.hex { format!("h{:x}", c.value) } else { format!("d{}", c.value) };
        put(&mut o, &format!("  localparam logic [{}:0] {} = {bits}'{value};", bits - 1, camel(&c.name)));
    }
    put(&mut o, "\n  // An Ethernet address; its first byte on the wire is the most significant.");
    put(&mut o, "  typedef logic [47:0] mac_addr_t;\n");
    for a in &p.addresses {
        let hex = a.hex();
        comment(&mut o, &a.doc);
        put(&mut o, &format!("  localparam mac_addr_t {}Addr = 48'h{hex};", camel(&a.name)));
    }
    put(&mut o, "\n  // Flags, bits of the low half of version_flags.");
    for f in p.gateware_flags() {
        comment(&mut o, &f.doc);
        put(&mut o, &format!("  localparam logic [3:0] Flag{} = 4'h{:x};", camel(&f.name), 1 << f.bit));
    }
    put(&mut o, "");
    if p.family.ipv6.is_none() {
        ethertypes(&mut o, p);
    }
    for e in &p.ethertypes {
        kinds(&mut o, e);
    }
    rules(&mut o, p);
    for e in &p.enums {
        enumeration(&mut o, e);
    }
    for s in &p.structs {
        structure(&mut o, p, s);
    }
    frame_head(&mut o, p);
    if !p.counters.is_empty() {
        counters(&mut o, p);
    }
    put(&mut o, &format!("endpackage : {package}"));
    put(&mut o, "// verilog_format: on\n// verilator lint_on UNUSEDPARAM");
    o
}

fn comment(o: &mut String, text: &str) {
    put_wrapped(o, "  //", WIDTH_SV, text);
}

/// An enum of `items` (name, value, doc); `name` in snake case without its suffix.
fn enum_of(o: &mut String, name: &str, bits: u32, items: &[(String, u64, &str)]) {
    put(o, &format!("  typedef enum logic [{}:0] {{", bits - 1));
    let digits = bits as usize / 4;
    for (i, (item, value, doc)) in items.iter().enumerate() {
        let comma = if i + 1 < items.len() { "," } else { "" };
        put_wrapped(o, "    //", WIDTH_SV, doc);
        put(o, &format!("    {item} = {bits}'h{value:0digits$x}{comma}"));
    }
    put(o, &format!("  }} {name}_e;\n"));
}

fn ethertypes(o: &mut String, p: &Family) {
    put(o, "  // The EtherTypes by which a frame of this family is recognised.");
    let items: Vec<_> =
        p.ethertypes.iter().map(|e| (format!("EtherType{}", e.name), e.value.into(), e.doc.as_str())).collect();
    enum_of(o, "ether_type", 16, &items);
}

fn kinds(o: &mut String, e: &EtherType) {
    let (of, name) = match e.name.as_str() {
        "" => ("Kinds of frames.".into(), "kind".into()),
        name => (format!("Sub-kinds of EtherType{name}."), format!("{}_kind", split_words(name, '_'))),
    };
    comment(o, &of);
    let items: Vec<_> =
        e.kinds.iter().map(|k| (format!("Kind{}{}", e.name, k.name), k.value.into(), k.doc.as_str())).collect();
    enum_of(o, &name, 8, &items);
}

/// The rules' types, then each kind with its rules.
fn rules(o: &mut String, p: &Family) {
    let is_flat = p.family.ipv6.is_some();
    for c in &COLUMNS {
        comment(o, c.doc);
        let values = c.values_of(p.family.recognised_by);
        let items: Vec<_> =
            values.map(|(number, v)| (format!("{}{}", c.type_name, camel(v.name)), number, v.doc)).collect();
        let last = items.last().expect("a rule has values").1;
        enum_of(o, &split_words(c.type_name, '_'), last.ilog2() + 1, &items);
    }
    comment(o, "A kind of frame and its rules.");
    put(o, "  typedef struct packed {");
    if !is_flat {
        put(o, "    logic [15:0] ether_type;");
    }
    put(o, "    logic [7:0] kind;");
    for c in &COLUMNS {
        put(o, &format!("    {}_e {};", split_words(c.type_name, '_'), c.key));
    }
    put(o, "  } kind_rules_t;\n");
    if is_flat {
        comment(o, "Every kind of the family.");
    } else {
        comment(o, "Every EtherType of the family, and every kind.");
        put(o, &format!("  localparam int unsigned EtherTypeCount = {};", p.ethertypes.len()));
        let list: Vec<_> = p.ethertypes.iter().map(|e| format!("    EtherType{}", e.name)).collect();
        put(o, &format!("  localparam ether_type_e EtherTypes[EtherTypeCount] = '{{\n{}\n  }};", list.join(",\n")));
    }
    put(o, &format!("  localparam int unsigned KindCount = {};", p.kinds().count()));
    let list = p.kinds().map(|(e, k)| {
        let rules = k.rules.all().map(|(c, value)| format!("{}: {}{}", c.key, c.type_name, camel(value)));
        let rules = rules.collect::<Vec<_>>().join(", ");
        let head = if is_flat { String::new() } else { format!("ether_type: EtherType{}, ", e.name) };
        format!("    '{{{head}kind: Kind{}{},\n      {rules}}}", e.name, k.name)
    });
    let list = list.collect::<Vec<_>>().join(",\n");
    put(o, &format!("  localparam kind_rules_t KindRules[KindCount] = '{{\n{list}\n  }};\n"));
}

fn enumeration(o: &mut String, e: &Enum) {
    comment(o, &e.doc);
    let items: Vec<_> =
        e.in_gateware().map(|v| (format!("{}{}", e.name, v.name), v.value.into(), v.doc.as_str())).collect();
    enum_of(o, &split_words(&e.name, '_'), e.ty.int_bits().expect("checked: enums are integers"), &items);
}

fn structure(o: &mut String, p: &Family, s: &Struct) {
    comment(o, &s.doc);
    if let Some(Tail { name, of, .. }) = &s.tail {
        let of = match of {
            TailOf::Text => "UTF-8 text to the payload's end".into(),
            TailOf::Words => "64-bit words".into(),
            TailOf::Structs(of) => format!("{}_t", split_words(of, '_')),
        };
        comment(o, &format!("Not in the struct, since its number varies: {name}, {of}."));
    }
    put(o, "  typedef struct packed {");
    for f in &s.fields {
        let ty = if f.ty == Type::Mac { "mac_addr_t".into() } else { format!("logic [{}:0]", 8 * f.ty.size() - 1) };
        let of = f.of.as_ref().map_or_else(String::new, |of| format!(" One of {}_e.", split_words(of, '_')));
        put_wrapped(o, "    //", WIDTH_SV, &format!("{}{of}", f.doc));
        put(o, &format!("    {ty} {};", f.name));
    }
    put(o, &format!("  }} {}_t;\n", split_words(&s.name, '_')));
    // The header's offsets count from the frame, since that is where a datapath meets them.
    let (base, from) = match &s.name {
        name if *name == p.family.header => (p.header_at(), "frame"),
        _ if p.is_carrier(s) => (ETHERNET, "frame"),
        name if *name == p.family.trailer.of => (0, "trailer"),
        _ => (0, "payload"),
    };
    put(o, &format!("  // Its size in bytes, and where its fields start: bytes from the start of the {from}."));
    put(o, &format!("  localparam int unsigned {}Bytes = {};", s.name, s.size()));
    for (at, f) in s.layout() {
        put(o, &format!("  localparam int unsigned {}{}Offset = {};", s.name, camel(&f.name), base + at));
    }
    put(o, "");
}

fn frame_head(o: &mut String, p: &Family) {
    let bytes = p.header_at() + p.header().size();
    comment(o, &format!("The first {bytes} bytes of each frame: {} words of a 64-bit datapath.", bytes / 8));
    put(o, "  typedef struct packed {");
    put(o, "    mac_addr_t dst;\n    mac_addr_t src;");
    if p.family.ipv6.is_none() {
        put(o, "    // One of ether_type_e.");
    }
    put(o, "    logic [15:0] ether_type;");
    if let Some(carrier) = p.carrier() {
        put(o, &format!("    {}_t ipv6;", split_words(&carrier.name, '_')));
    }
    put(o, &format!("    {}_t header;\n  }} frame_head_t;\n", split_words(&p.family.header, '_')));
}

fn counters(o: &mut String, p: &Family) {
    comment(o, "A card's counters: their numbers on the wire.");
    let items: Vec<_> =
        p.counters.iter().zip(0..).map(|(c, i)| (format!("Counter{}", camel(&c.name)), i, c.doc.as_str())).collect();
    enum_of(o, "counter", 8, &items);
    put(o, "  // How many counters there are.");
    put(o, &format!("  localparam int unsigned CounterCount = {};", p.counters.len()));
    comment(o, "How many every card counts. The others are of parts that a card may lack, which then reports 0.");
    put(o, &format!("  localparam int unsigned CommonCounterCount = {};\n", p.common_counters()));
}
