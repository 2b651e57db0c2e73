//! The reference page of a family, for people.

use std::net::Ipv6Addr;

use crate::model::{Content, ETHERNET, Enum, EtherType, Family, Ipv6, Kind, Struct, TailOf, Type};
use crate::rules::{COLUMNS, Rule};
use crate::text::{camel, head, made_from, put, row, split_words};

/// The text of `docs/src/reference/<page>.md`.
pub(crate) fn emit(p: &Family) -> String {
    let mut o = String::new();
    let about = &p.family;
    put(&mut o, &format!("<!-- {} -->\n", made_from(&p.source())));
    put(&mut o, &format!("# The {} wire, version {}\n", camel(&about.names.filter), about.version));
    put(&mut o, about.doc.trim());
    put(&mut o, "All integers are big-endian. Receivers ignore the padding, and count and drop what breaks a rule.\n");
    let filter = &about.names.filter;
    put(
        &mut o,
        "To look at frames: `wireshark -X lua_script:protocol/rackloom.lua`. Filters have the names on this page:",
    );
    let (e, k) = p.kinds().next().expect("checked: there are kinds");
    let fields: Vec<_> = p.header().fields.iter().skip(2).map(|f| format!("`{filter}.{}`", f.name)).collect();
    put(&mut o, &format!("`{filter}.name == \"{}\"`, {}.\n", p.label(e, k), fields.join(", ")));
    frame(&mut o, p);
    if let Some(ipv6) = &about.ipv6 {
        packets(&mut o, ipv6);
    }
    flags(&mut o, p);
    if about.ipv6.is_none() {
        ethertypes(&mut o, p);
    }
    for e in &p.ethertypes {
        kinds(&mut o, p, e);
    }
    rules(&mut o, p);
    put(&mut o, "## Payloads\n");
    put(
        &mut o,
        &format!(
            "Offsets count from the start of the payload, byte {} of the frame. Reserved fields are sent as zero and\n\
             receivers ignore them.\n",
            p.header_at() + p.header().size()
        ),
    );
    for s in p.structs.iter().filter(|s| p.is_payload(s)) {
        structure(&mut o, p, s);
    }
    put(&mut o, "## Trailer\n");
    put(&mut o, "Offsets count from the end of the payload.\n");
    structure(&mut o, p, p.find(&about.trailer.of).expect("checked"));
    if !p.enums.is_empty() {
        put(&mut o, "## Enums\n");
    }
    for e in &p.enums {
        enumeration(&mut o, e);
    }
    if !p.addresses.is_empty() {
        addresses(&mut o, p);
    }
    if !p.consts.is_empty() {
        constants(&mut o, p);
    }
    if !p.counters.is_empty() {
        counters(&mut o, p);
    }
    o.truncate(o.trim_end().len());
    o.push('\n');
    o
}

/// mdBook's anchor of a heading.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace(' ', "-")
}

fn frame(o: &mut String, p: &Family) {
    put(o, "## A frame\n");
    if let Some(picture) = &p.family.picture {
        put(o, &format!("```text\n{}\n```\n", picture.trim_end()));
    }
    head(o, &["bytes", "field", "type", "meaning"]);
    row(o, &["0-5", "`dst`", "mac", "Ethernet destination."]);
    row(o, &["6-11", "`src`", "mac", "Ethernet source."]);
    let ethertype = match &p.family.ipv6 {
        Some(ipv6) => format!("EtherType, 0x{:04X}.", ipv6.ethertype),
        None => "[EtherType](#ethertypes).".into(),
    };
    row(o, &["12-13", "`type`", "u16", &ethertype]);
    let carrier = p.carrier().into_iter().flat_map(Struct::layout).map(|(at, f)| (ETHERNET + at, "ipv6.", f));
    let header = p.header().layout().map(|(at, f)| (p.header_at() + at, "", f));
    for (first, of, f) in carrier.chain(header) {
        let last = first + f.ty.size() - 1;
        let bytes = if first == last { first.to_string() } else { format!("{first}-{last}") };
        row(o, &[&bytes, &format!("`{of}{}`", f.name), &type_name(f.ty), &f.doc]);
    }
    put(o, "");
}

/// What the packets have to have that carry the frames.
fn packets(o: &mut String, ipv6: &Ipv6) {
    put(o, "## Packets\n");
    let (ethertype, next, hops) = (ipv6.ethertype, ipv6.next_header, ipv6.hop_limit);
    put(
        o,
        &format!(
            "A frame is of this family if its EtherType is 0x{ethertype:04X}, the version of IPv6 is 6, the next header \
             is {next} and the\ndestination lies within fc00::/7. Other packets are a host's. A receiver drops a frame \
             of the family unless all of\nthis holds:\n"
        ),
    );
    let subnet = Ipv6Addr::from_bits(u128::from(ipv6.subnet.0) << 64);
    put(o, &format!("- Source and destination are addresses of the subnet {subnet}/64."));
    put(
        o,
        "- The last eight bytes of each are the modified EUI-64 (RFC 4291, appendix A) of the frame's Ethernet source \
         and\n  destination: of 02:52:4c:00:00:07 it is 0052:4cff:fe00:0007. The Ethernet source is not a group's.",
    );
    put(o, &format!("- The hop limit is {hops}, so that nobody beyond the link can have sent it (RFC 5082)."));
    put(
        o,
        "- The frame holds the packet; bytes behind the packet are padding.\n- The payload length of IPv6 is that of \
         the header and the payload together.\n",
    );
}

fn flags(o: &mut String, p: &Family) {
    put(o, "## Flags\n");
    head(o, &["bit", "flag", "meaning"]);
    for f in &p.flags {
        row(o, &[&f.bit.to_string(), &f.name, &f.doc]);
    }
    put(o, "");
}

fn ethertypes(o: &mut String, p: &Family) {
    put(o, "## EtherTypes\n");
    head(o, &["value", "name", "SAF, Table I", "use"]);
    for e in &p.ethertypes {
        let link = format!("[{}](#{})", e.name, anchor(&format!("{} kinds", e.name)));
        row(o, &[&format!("0x{:04X}", e.value), &link, e.table1.as_deref().unwrap_or("-"), &e.doc]);
    }
    put(o, "");
}

fn kinds(o: &mut String, p: &Family, e: &EtherType) {
    if e.name.is_empty() {
        put(o, "## Kinds\n");
    } else {
        put(o, &format!("### {} kinds\n\n{}\n", e.name, e.doc));
    }
    head(o, &["kind", "name", "sent by", "payload", "meaning"]);
    for k in &e.kinds {
        let from = k.rules.get(Rule::From);
        row(o, &[&k.value.to_string(), &format!("`{}`", p.label(e, k)), from, &payload(p, k), &k.doc]);
    }
    put(o, "");
}

fn rules(o: &mut String, p: &Family) {
    put(o, "## Rules of the kinds\n");
    let titles = COLUMNS.iter().map(|c| c.key.replace('_', " "));
    let titles: Vec<_> = ["kind".into()].into_iter().chain(titles).collect();
    head(o, &titles.iter().map(String::as_str).collect::<Vec<_>>());
    for (e, k) in p.kinds() {
        let name = format!("`{}`", p.label(e, k));
        let cells: Vec<_> = [name.as_str()].into_iter().chain(k.rules.all().map(|(_, value)| value)).collect();
        row(o, &cells);
    }
    for c in &COLUMNS {
        put(o, &format!("\n**{}**: {}\n", c.key.replace('_', " "), c.doc));
        for (_, v) in c.values_of(p.family.recognised_by) {
            put(o, &format!("- `{}`: {}", v.name, v.doc));
        }
    }
    put(o, "");
}

fn payload(p: &Family, k: &Kind) -> String {
    match (k.payload.as_str(), k.content) {
        ("", _) => "none".into(),
        ("*", Content::Bytes) => "bytes".into(),
        ("*", Content::Counters) => "[counters](#counters)".into(),
        ("*", Content::Text) => "text".into(),
        (name, _) => {
            let s = p.find(name).expect("checked");
            let (or, more) = (if k.optional { "none or " } else { "" }, if s.tail.is_some() { "+" } else { "" });
            format!("{or}[{name}](#{}), {}{more} bytes", anchor(name), s.size())
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

fn structure(o: &mut String, p: &Family, s: &Struct) {
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

fn counted(p: &Family, s: &Struct) -> String {
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

fn addresses(o: &mut String, p: &Family) {
    put(o, "## Addresses\n");
    head(o, &["name", "address", "use"]);
    for a in &p.addresses {
        row(o, &[&a.name, &format!("`{}`", a.value), &a.doc]);
    }
    put(o, "");
}

fn constants(o: &mut String, p: &Family) {
    put(o, "## Constants\n");
    head(o, &["name", "value", "type", "why"]);
    for c in &p.consts {
        row(o, &[&format!("`{}`", c.name), &c.number(), &type_name(c.ty), &c.doc]);
    }
    put(o, "");
}

fn counters(o: &mut String, p: &Family) {
    put(o, "## Counters\n");
    put(o, "Each card has these, 64 bits each, from 0 at boot. `session.counters-get` asks for them.");
    let common = p.common_counters();
    if common < p.counters.len() {
        put(o, &format!("Those from number {common} on are of parts that a card may lack; it then reports 0."));
    }
    put(o, "");
    head(o, &["number", "name", "counts"]);
    for (i, c) in p.counters.iter().enumerate() {
        row(o, &[&i.to_string(), &format!("`{}`", c.name), &c.doc]);
    }
}
