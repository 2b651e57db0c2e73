//! The rules that a family's description keeps, and those that hold between families.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};

use super::{Content, EtherType, Family, Kind, Struct, TailOf, Type};
use crate::rules::Rule;

/// Fields that begin every family's header, so that a receiver and a dissector can read a frame before they know its
/// family's other fields.
const COMMON: [(&str, Type); 3] = [("version_flags", Type::U8), ("kind", Type::U8), ("length", Type::U16)];

/// The trailer of every family: one implementation of authentication serves all of them.
const TRAILER: [(&str, Type); 3] = [("key", Type::U32), ("counter", Type::U64), ("tag", Type::Bytes(16))];

/// Families share EtherTypes, files and the names in a dissector: no two may have the same.
pub(crate) fn check_all(families: &[Family]) -> Result<()> {
    let about = || families.iter().map(|f| &f.family);
    unique(about().map(|a| &a.name), "families")?;
    unique(about().map(|a| &a.names.filter), "filters of families")?;
    unique(about().map(|a| &a.names.package), "packages of families")?;
    unique(about().filter_map(|a| a.names.c_file.as_ref()), "C headers of families")?;
    unique(about().filter_map(|a| a.names.c_prefix.as_ref()), "prefixes in C of families")?;
    unique(about().map(|a| &a.names.page), "pages of families")?;
    for (i, family) in families.iter().enumerate() {
        // Packets of one EtherType may carry several families, each behind a next header of its own.
        let next = |f: &Family| f.family.ipv6.as_ref().map(|ipv6| ipv6.next_header);
        let apart = |other: &Family| next(other).zip(next(family)).is_some_and(|(a, b)| a != b);
        for e in &family.ethertypes {
            let has = |other: &Family| other.ethertypes.iter().any(|o| o.value == e.value);
            let taken = families[..i].iter().find(|f| has(f) && !apart(f));
            if let Some(other) = taken {
                let (name, other) = (&family.family.name, &other.family.name);
                bail!("EtherType 0x{:04X} is claimed by the families {other} and {name}", e.value);
            }
        }
    }
    Ok(())
}

impl Family {
    pub(super) fn check(&self, file: &str) -> Result<()> {
        let about = &self.family;
        ensure!(about.name == file, "the family is called {}, and its file {file}", about.name);
        ensure!(about.version < 16, "the version has four bits");
        ensure!(!self.ethertypes.is_empty(), "no EtherType to recognise it by");
        self.check_names()?;
        self.check_numbers()?;
        if let Some(ipv6) = &about.ipv6 {
            let name = &ipv6.of;
            ipv6.check(self.find(name).with_context(|| format!("no struct {name} for IPv6's header"))?)?;
        }
        self.check_header()?;
        self.check_trailer()?;
        for s in &self.structs {
            self.check_struct(s)?;
        }
        self.check_kinds()
    }

    /// Where a kind stands in the description, for messages.
    fn place(&self, e: &EtherType, k: &Kind) -> String {
        format!("{}.{}", if e.name.is_empty() { "kind" } else { &e.name }, k.name)
    }

    /// Structs and enums share a name space in Rust and SystemVerilog, and so do constants and addresses.
    fn check_names(&self) -> Result<()> {
        unique(self.structs.iter().map(|s| &s.name).chain(self.enums.iter().map(|e| &e.name)), "structs and enums")?;
        let addresses = self.addresses.iter().map(|a| &a.name);
        unique(self.consts.iter().map(|c| &c.name).chain(addresses), "constants and addresses")?;
        unique(self.flags.iter().map(|f| &f.name), "flags")?;
        unique(self.counters.iter().map(|c| &c.name), "counters")?;
        unique(self.ethertypes.iter().map(|e| &e.name), "EtherTypes")?;
        // `ImageData` must not be both kind Data of Image and kind ImageData of another.
        unique(self.kinds().map(|(e, k)| format!("{}{}", e.name, k.name)), "kinds")?;
        for e in &self.enums {
            unique(e.values.iter().map(|v| &v.name), &e.name)?;
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<()> {
        for c in &self.consts {
            let bits = c.ty.int_bits().with_context(|| format!("{}: a constant is an integer", c.name))?;
            ensure!(bits == 64 || c.value < 1 << bits, "{}: {} does not fit {bits} bits", c.name, c.value);
        }
        for e in &self.enums {
            unique(e.values.iter().map(|v| v.value), &e.name)?;
            let bits = e.ty.int_bits().filter(|b| *b <= 16).with_context(|| format!("{} is not u8 or u16", e.name))?;
            for v in &e.values {
                ensure!(u64::from(v.value) < 1 << bits, "{}.{}: {} does not fit", e.name, v.name, v.value);
            }
        }
        unique(self.ethertypes.iter().map(|e| e.value), "EtherTypes")?;
        for e in &self.ethertypes {
            let name = if e.name.is_empty() { "`kind`" } else { &e.name };
            ensure!(!e.kinds.is_empty(), "{name}: no kinds");
            unique(e.kinds.iter().map(|k| k.value), name)?;
        }
        let late = self.counters.iter().skip(self.common_counters()).find(|c| !c.optional);
        if let Some(c) = late {
            bail!("{}: a counter of every card stands before those that are `optional`", c.name);
        }
        ensure!(self.counters.len() <= 256, "gateware numbers counters with eight bits");
        unique(self.flags.iter().map(|f| f.bit), "flags")?;
        ensure!(self.flags.iter().all(|f| f.bit < 4), "flags have four bits");
        for a in &self.addresses {
            ensure!(a.bytes()?[0] & 3 == 3, "{} is not a locally administered group address", a.name);
        }
        Ok(())
    }

    fn check_header(&self) -> Result<()> {
        let name = &self.family.header;
        let header = self.find(name).with_context(|| format!("no struct {name} for the header"))?;
        let begins = header.fields.iter().map(|f| (f.name.as_str(), f.ty)).take(COMMON.len()).eq(COMMON);
        ensure!(begins, "{name}: a header begins with version_flags u8, kind u8, length u16");
        // A 64-bit datapath finds payloads aligned.
        let end = self.header_at() + header.size();
        ensure!(end.is_multiple_of(8), "{name} ends at byte {end} of the frame, which is not a multiple of 8");
        let stated = self.constant("HEADER_END").unwrap_or(end as u64);
        ensure!(stated == end as u64, "HEADER_END is {stated}, and {name} ends at byte {end}");
        Ok(())
    }

    fn check_trailer(&self) -> Result<()> {
        let (name, flag) = (&self.family.trailer.of, &self.family.trailer.flag);
        let trailer = self.find(name).with_context(|| format!("no struct {name} for the trailer"))?;
        let fits = trailer.fields.iter().map(|f| (f.name.as_str(), f.ty)).eq(TRAILER) && trailer.tail.is_none();
        ensure!(fits, "{name}: a trailer is key u32, counter u64, tag bytes16");
        let is_flag = |flag: &str| self.flags.iter().any(|f| f.name == flag);
        ensure!(is_flag(flag), "no flag {flag} for the trailer");
        if let Some(cipher) = &self.family.trailer.cipher {
            ensure!(is_flag(&cipher.flag), "no flag {} for ciphertext", cipher.flag);
            let unknown = cipher.clear.iter().find(|name| self.find(name).is_none());
            ensure!(unknown.is_none(), "no struct {} whose payload stays clear", unknown.unwrap());
        }
        Ok(())
    }

    fn check_struct(&self, s: &Struct) -> Result<()> {
        unique(s.fields.iter().map(|f| &f.name), &s.name)?;
        if self.is_payload(s) {
            ensure!(s.size().is_multiple_of(8), "{}: {} bytes is not a multiple of 8", s.name, s.size());
            // Aligned fields are what lets a 64-bit datapath pick them up without shifting across words.
            for (at, f) in s.layout() {
                let align = f.ty.int_bits().map_or(1, |bits| bits as usize / 8);
                ensure!(at % align == 0, "{}.{} at {at} is not aligned", s.name, f.name);
            }
        }
        for f in &s.fields {
            let Some(of) = &f.of else { continue };
            let e = self.enums.iter().find(|e| &e.name == of).with_context(|| format!("{}: no enum {of}", s.name))?;
            ensure!(e.ty == f.ty, "{}.{} is not as wide as {of}", s.name, f.name);
        }
        let Some(tail) = &s.tail else { return Ok(()) };
        if let TailOf::Structs(of) = &tail.of {
            let of = self.find(of).with_context(|| format!("{}: no struct {of} for its tail", s.name))?;
            ensure!(of.tail.is_none(), "{}: elements of a tail have none themselves", s.name);
        }
        let (count, max) = match (&tail.of, &tail.count, &tail.max) {
            (TailOf::Text, None, None) => return Ok(()),
            (TailOf::Text, ..) => bail!("{}: a tail of text goes to the payload's end and is not counted", s.name),
            (_, Some(count), Some(max)) => (count, max),
            _ => bail!("{}: a tail that is not text needs `count` and `max`", s.name),
        };
        let field = s.fields.iter().find(|f| &f.name == count);
        let field = field.with_context(|| format!("{}: no field {count} to count its tail", s.name))?;
        ensure!(field.ty.int_bits().is_some(), "{}.{count} counts, and is not an integer", s.name);
        self.constant(max).with_context(|| format!("{}: no constant {max} to bound its tail", s.name))?;
        Ok(())
    }

    fn check_kinds(&self) -> Result<()> {
        let names = &self.family.names;
        let half = [("c_file", &names.c_file), ("c_prefix", &names.c_prefix)].map(|(key, v)| (key, v.is_some()));
        let header = match half {
            [(_, true), (_, true)] => true,
            [(_, false), (_, false)] => false,
            [(missing, false), (there, _)] | [(there, _), (missing, false)] => {
                bail!("`{missing}` is missing: a family has it and `{there}`, or neither")
            }
        };
        let fits = !header || self.family.ipv6.is_none();
        ensure!(fits, "`c_file`: no kind that IPv6 packets carry is the firmware's");
        for (e, k) in self.kinds() {
            let place = self.place(e, k);
            let known = k.payload.is_empty() || k.payload == "*" || self.find(&k.payload).is_some();
            ensure!(known, "{place}: no struct {}", k.payload);
            let plain = k.content == Content::Bytes || k.payload == "*";
            ensure!(plain, "{place}: only a payload of `*` has a content");
            ensure!(!k.optional || self.find(&k.payload).is_some(), "{place}: only a struct is `optional`");
            let told = header || k.rules.get(Rule::TakenBy) != "firmware";
            ensure!(told, "{place}: the firmware takes it, and `c_file` is missing");
            // A frame of counters says in `addr` which one is its first.
            let counted = k.content != Content::Counters || self.header().fields.iter().any(|f| f.name == "addr");
            ensure!(counted, "{place}: counters need a header with a field addr");
        }
        // A path's blocks know which kind they take without looking.
        unique(self.kinds().filter_map(|(_, k)| k.rules.path()), "hardware paths")
    }
}

pub(crate) fn unique<T: Ord + std::fmt::Debug>(items: impl Iterator<Item = T>, of: &str) -> Result<()> {
    let mut seen = BTreeSet::new();
    for item in items {
        if seen.contains(&item) {
            bail!("{of}: {item:?} stands twice");
        }
        seen.insert(item);
    }
    Ok(())
}
