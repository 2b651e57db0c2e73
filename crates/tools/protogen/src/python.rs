//! The Python form: every family's constants, structs and kinds with their rules, for the benches of the gateware.

use crate::model::{Family, Type};
use crate::rules::Rule;
use crate::text::{made_from, put};

/// The text of `gateware/tb/protocol.py`.
pub(crate) fn emit(families: &[Family]) -> String {
    let mut o = String::new();
    let (doc, classes) = include_str!("protocol_head.py").split_once('\n').expect("a docstring and more");
    put(&mut o, &format!("{doc}\n# {}", made_from("protocol/")));
    o.push_str(classes);
    for family in families {
        tables(&mut o, family);
    }
    o
}

fn tables(o: &mut String, p: &Family) {
    let about = &p.family;
    put(o, &format!("\n{} = Family(\n    version={},", about.name.to_uppercase(), about.version));
    put(o, &format!("    header=\"{}\",\n    trailer=\"{}\",", about.header, about.trailer.of));
    numbers(o, "consts", p.consts.iter().map(|c| (c.name.as_str(), c.value.to_string())));
    numbers(o, "addresses", p.addresses.iter().map(|a| (a.name.as_str(), format!("0x{}", a.hex()))));
    numbers(o, "flags", p.flags.iter().map(|f| (f.name.as_str(), (1 << f.bit).to_string())));
    put(o, "    enums={");
    for e in &p.enums {
        let values: Vec<_> = e.values.iter().map(|v| format!("\"{}\": {}", v.name, v.value)).collect();
        put(o, &format!("        \"{}\": {{{}}},", e.name, values.join(", ")));
    }
    put(o, "    },");
    numbers(o, "counters", p.counters.iter().enumerate().map(|(i, c)| (c.name.as_str(), i.to_string())));
    put(o, "    structs={");
    for s in &p.structs {
        put(o, &format!("        \"{}\": (", s.name));
        for f in &s.fields {
            let number = if matches!(f.ty, Type::Bytes(_)) { "False" } else { "True" };
            put(o, &format!("            Field(\"{}\", {}, {number}),", f.name, f.ty.size()));
        }
        put(o, "        ),");
    }
    put(o, "    },\n    kinds={");
    for (e, k) in p.kinds() {
        let [from, to, reach] = [Rule::From, Rule::To, Rule::Reach].map(|rule| k.rules.get(rule));
        let [claim, taken_by, order] = [Rule::Claim, Rule::TakenBy, Rule::Order].map(|rule| k.rules.get(rule));
        put(o, &format!("        \"{}.{}\": Kind(", e.name, k.name));
        put(o, &format!("            ether_type=0x{:04X}, kind={}, sender=\"{from}\", to=\"{to}\",", e.value, k.value));
        put(
            o,
            &format!("            reach=\"{reach}\", claim=\"{claim}\", taken_by=\"{taken_by}\", order=\"{order}\","),
        );
        put(o, &format!("            payload=\"{}\",\n        ),", k.payload));
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
