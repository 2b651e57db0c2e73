//! The protocol description as read from `protocol/protocol.toml`, and the rules it has to keep.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// The whole description.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    pub protocol: About,
    #[serde(rename = "const")]
    pub consts: Vec<Const>,
    #[serde(rename = "address")]
    pub addresses: Vec<Address>,
    #[serde(rename = "struct")]
    pub structs: Vec<Struct>,
    #[serde(rename = "flag")]
    pub flags: Vec<Flag>,
    #[serde(rename = "ethertype")]
    pub ethertypes: Vec<EtherType>,
    #[serde(rename = "enum")]
    pub enums: Vec<Enum>,
    #[serde(rename = "counter")]
    pub counters: Vec<Counter>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    pub name: String,
    pub version: u8,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Const {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: Type,
    pub value: u64,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    pub name: String,
    pub value: String,
    pub doc: String,
}

impl Address {
    /// The six bytes.
    pub fn bytes(&self) -> Result<[u8; 6]> {
        let parts: Vec<u8> =
            self.value.split(':').map(|p| u8::from_str_radix(p, 16)).collect::<Result<_, _>>().context("address")?;
        parts.try_into().ok().with_context(|| format!("{} is not a MAC address", self.value))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Struct {
    pub name: String,
    pub doc: String,
    pub fields: Vec<Field>,
}

impl Struct {
    /// Bytes on the wire.
    pub fn size(&self) -> usize {
        self.fields.iter().map(|f| f.ty.size()).sum()
    }

    /// The fields with their byte offsets.
    pub fn layout(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.fields.iter().scan(0, |at, f| {
            let here = *at;
            *at += f.ty.size();
            Some((here, f))
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: Type,
    #[serde(rename = "enum")]
    pub of: Option<String>,
    pub doc: String,
}

/// A field's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Type {
    U8,
    U16,
    U32,
    U64,
    Mac,
    Bytes(usize),
}

impl TryFrom<String> for Type {
    type Error = anyhow::Error;
    fn try_from(s: String) -> Result<Self> {
        Ok(match s.as_str() {
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "mac" => Self::Mac,
            other => match other.strip_prefix("bytes") {
                Some(n) => Self::Bytes(n.parse().with_context(|| format!("type {s}"))?),
                None => bail!("unknown type {s}"),
            },
        })
    }
}

impl Type {
    /// Bytes on the wire.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 => 8,
            Self::Mac => 6,
            Self::Bytes(n) => n,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    pub name: String,
    pub bit: u8,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EtherType {
    pub name: String,
    pub value: u16,
    pub table1: Option<String>,
    pub doc: String,
    pub kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    pub name: String,
    pub value: u8,
    pub from: Sender,
    /// A struct's name; `*` for bytes without structure; empty for no payload.
    pub payload: String,
    pub doc: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    Card,
    Host,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enum {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: Type,
    pub doc: String,
    pub values: Vec<EnumValue>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnumValue {
    pub name: String,
    pub value: u16,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    pub name: String,
    pub doc: String,
}

impl Protocol {
    /// Reads a description and checks its rules.
    pub fn parse(text: &str) -> Result<Self> {
        let p: Self = toml::from_str(text).context("protocol description")?;
        p.check()?;
        Ok(p)
    }

    /// The struct of this name.
    pub fn find(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|s| s.name == name)
    }

    fn check(&self) -> Result<()> {
        ensure!(self.protocol.version < 16, "the version has four bits");
        let header = self.find("Header").context("a struct Header")?;
        ensure!(header.size() == 18, "the header ends at byte 32 of the frame");
        for s in self.structs.iter().filter(|s| s.name != "Header") {
            ensure!(s.size() % 8 == 0, "{}: {} bytes is not a multiple of 8", s.name, s.size());
            // Aligned fields are what lets a 64-bit datapath pick them up without shifting across words.
            for (at, f) in s.layout() {
                let align = if matches!(f.ty, Type::U16 | Type::U32 | Type::U64) { f.ty.size() } else { 1 };
                ensure!(at % align == 0, "{}.{} at {at} is not aligned", s.name, f.name);
            }
            unique(s.fields.iter().map(|f| f.name.clone()), &s.name)?;
            for of in s.fields.iter().filter_map(|f| f.of.as_ref()) {
                ensure!(self.enums.iter().any(|e| &e.name == of), "{}: no enum {of}", s.name);
            }
        }
        for e in &self.ethertypes {
            unique(e.kinds.iter().map(|k| k.name.clone()), &e.name)?;
            unique(e.kinds.iter().map(|k| k.value), &e.name)?;
            for k in &e.kinds {
                let known = k.payload.is_empty() || k.payload == "*" || self.find(&k.payload).is_some();
                ensure!(known, "{}.{}: no struct {}", e.name, k.name, k.payload);
            }
        }
        unique(self.ethertypes.iter().map(|e| e.value), "EtherTypes")?;
        unique(self.counters.iter().map(|c| c.name.clone()), "counters")?;
        unique(self.flags.iter().map(|f| f.bit), "flags")?;
        ensure!(self.flags.iter().all(|f| f.bit < 4), "flags have four bits");
        for e in &self.enums {
            unique(e.values.iter().map(|v| v.value), &e.name)?;
        }
        for a in &self.addresses {
            ensure!(a.bytes()?[0] & 3 == 3, "{} is not a locally administered group address", a.name);
        }
        Ok(())
    }
}

fn unique<T: Ord + std::fmt::Debug + Clone>(items: impl Iterator<Item = T>, of: &str) -> Result<()> {
    let mut seen = BTreeSet::new();
    for item in items {
        ensure!(seen.insert(item.clone()), "{of}: {item:?} stands twice");
    }
    Ok(())
}

/// `DeviceState` -> `device-state` (with `-`) or `device_state` (with `_`).
pub fn split_words(camel: &str, with: char) -> String {
    let mut out = String::new();
    for (i, c) in camel.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            out.push(with);
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
