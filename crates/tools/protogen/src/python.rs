//! The Python form: every family's constants, structs and kinds, for the benches of the gateware. Rules are not among
//! them: what a card does with a frame the benches ask the model (`rackloom-golden`).

use crate::model::{Family, Type};
use crate::rules::Rule;
use crate::text::{made_from, put};

/// The text of `gateware/tb/protocol.py`.
pub(crate) fn emit(families: &[Family]) -> String {
    let mut o = String::new();
    let (doc, classes) = include_str!("protocol_head.py").split_once('\n').expect("a docstring and more");
    put(&mut o, &format!("{doc}\n# {}", made_from("protocol/")));
    o.push_str(classes);
    // The benches have no links.
    for family in families.iter().filter(|f| f.is_everywhere()) {
        tables(&mut o, family);
    }
    o
}

fn tables(o: &mut String, p: &Family) {
    let about = &p.family;
    put(o, &format!("\n{} = Family(", about.name.to_uppercase()));
    numbers(o, "consts", p.consts.iter().map(|c| (c.name.as_str(), c.number())));
    numbers(o, "addresses", p.addresses.iter().map(|a| (a.name.as_str(), format!("0x{}", a.hex()))));
    numbers(o, "flags", p.gateware_flags().map(|f| (f.name.as_str(), (1 << f.bit).to_string())));
    put(o, "    enums={");
    for e in &p.enums {
        let values: Vec<_> = e.in_gateware().map(|v| format!("\"{}\": {}", v.name, v.value)).collect();
        put(o, &format!("        \"{}\": {{{}}},", e.name, values.join(", ")));
    }
    put(o, "    },");
    numbers(o, "counters", p.counters.iter().enumerate().map(|(i, c)| (c.name.as_str(), i.to_string())));
    put(o, &format!("    common_counters={},", p.common_counters()));
    put(o, "    structs={");
    // Heads are the model's to write and to read.
    for s in p.structs.iter().filter(|s| p.is_payload(s)) {
        put(o, &format!("        \"{}\": (", s.name));
        for f in &s.fields {
            let number = if matches!(f.ty, Type::Bytes(_)) { "False" } else { "True" };
            put(o, &format!("            Field(\"{}\", {}, {number}),", f.name, f.ty.size()));
        }
        put(o, "        ),");
    }
    put(o, "    },\n    kinds={");
    for (e, k) in p.kinds() {
        let (number, to) = (u32::from(e.value) << 16 | u32::from(k.value), k.rules.get(Rule::To));
        let name = if e.name.is_empty() { k.name.clone() } else { format!("{}.{}", e.name, k.name) };
        put(o, &format!("        \"{name}\": Kind(number=0x{number:08X}, to=\"{to}\", payload=\"{}\"),", k.payload));
    }
    put(o, "    },\n)");
}

/// A dictionary of numbers.
fn numbers<'a>(o: &mut String, name: &str, items: impl Iterator<Item = (&'a str, String)>) {
    put(o, &format!("    {name}={{"));
    for (key, value) in items {
        put(o, &format!("        \"{key}\": {value},"));
    }
    put(o, "    },");
}
