//! The protocol description as read from `protocol/protocol.toml`, and the rules it has to keep.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// The whole description.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Protocol {
    pub(crate) protocol: About,
    #[serde(rename = "const")]
    pub(crate) consts: Vec<Const>,
    #[serde(rename = "address")]
    pub(crate) addresses: Vec<Address>,
    #[serde(rename = "struct")]
    pub(crate) structs: Vec<Struct>,
    #[serde(rename = "flag")]
    pub(crate) flags: Vec<Flag>,
    #[serde(rename = "ethertype")]
    pub(crate) ethertypes: Vec<EtherType>,
    #[serde(rename = "enum")]
    pub(crate) enums: Vec<Enum>,
    #[serde(rename = "counter")]
    pub(crate) counters: Vec<Counter>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) version: u8,
    pub(crate) doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Const {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: Type,
    pub(crate) value: u64,
    pub(crate) doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Address {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) doc: String,
}

impl Address {
    /// The six bytes.
    pub(crate) fn bytes(&self) -> Result<[u8; 6]> {
        let parts: Vec<u8> =
            self.value.split(':').map(|p| u8::from_str_radix(p, 16)).collect::<Result<_, _>>().context("address")?;
        parts.try_into().ok().with_context(|| format!("{} is not a MAC address", self.value))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) tail: Option<Tail>,
    pub(crate) fields: Vec<Field>,
}

/// What follows a struct's fixed part in a payload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tail {
    /// The name of one element.
    pub(crate) name: String,
    pub(crate) of: TailOf,
    /// The field that holds the number of elements; none with text, which goes to the payload's end.
    pub(crate) count: Option<String>,
    /// The constant that bounds the number of elements; none with text.
    pub(crate) max: Option<String>,
}

/// The elements of a [`Tail`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) enum TailOf {
    Text,
    Words,
    Structs(String),
}

impl From<String> for TailOf {
    fn from(s: String) -> Self {
        match s.as_str() {
            "text" => Self::Text,
            "u64" => Self::Words,
            _ => Self::Structs(s),
        }
    }
}

impl Struct {
    /// Bytes on the wire.
    pub(crate) fn size(&self) -> usize {
        self.fields.iter().map(|f| f.ty.size()).sum()
    }

    /// The fields with their byte offsets.
    pub(crate) fn layout(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.fields.iter().scan(0, |at, f| {
            let here = *at;
            *at += f.ty.size();
            Some((here, f))
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: Type,
    #[serde(rename = "enum")]
    pub(crate) of: Option<String>,
    pub(crate) doc: String,
}

/// A field's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Type {
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
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 => 8,
            Self::Mac => 6,
            Self::Bytes(n) => n,
        }
    }

    /// Bits of an integer; `None` for the types that are not numbers.
    pub(crate) const fn int_bits(self) -> Option<u32> {
        match self {
            Self::U8 => Some(8),
            Self::U16 => Some(16),
            Self::U32 => Some(32),
            Self::U64 => Some(64),
            Self::Mac | Self::Bytes(_) => None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flag {
    pub(crate) name: String,
    pub(crate) bit: u8,
    pub(crate) doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EtherType {
    pub(crate) name: String,
    pub(crate) value: u16,
    pub table1: Option<String>,
    pub(crate) doc: String,
    pub(crate) kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) value: u8,
    pub(crate) from: Sender,
    /// A struct's name; `*` for bytes without structure; empty for no payload.
    pub(crate) payload: String,
    /// What the bytes of a `*` are.
    #[serde(default)]
    pub(crate) content: Content,
    pub(crate) doc: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sender {
    Card,
    Host,
}

/// What a payload without structure holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Content {
    #[default]
    Bytes,
    Counters,
    Text,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Enum {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: Type,
    pub(crate) doc: String,
    pub(crate) values: Vec<EnumValue>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnumValue {
    pub(crate) name: String,
    pub(crate) value: u16,
    pub(crate) doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counter {
    pub(crate) name: String,
    pub(crate) doc: String,
}

impl Protocol {
    /// Reads a description and checks its rules.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let p: Self = toml::from_str(text).context("protocol description")?;
        p.check()?;
        Ok(p)
    }

    /// The struct of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|s| s.name == name)
    }

    /// The value of this constant.
    pub(crate) fn constant(&self, name: &str) -> Option<u64> {
        self.consts.iter().find(|c| c.name == name).map(|c| c.value)
    }

    /// Every kind with its EtherType, in the description's order.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&EtherType, &Kind)> {
        self.ethertypes.iter().flat_map(|e| e.kinds.iter().map(move |k| (e, k)))
    }

    fn check(&self) -> Result<()> {
        ensure!(self.protocol.version < 16, "the version has four bits");
        self.check_names()?;
        self.check_numbers()?;
        let header = self.find("Header").context("there is no struct Header")?;
        ensure!(header.size() == 18, "the header is {} bytes, and has to end at byte 32 of the frame", header.size());
        for s in &self.structs {
            self.check_struct(s)?;
        }
        for e in &self.ethertypes {
            for k in &e.kinds {
                let known = k.payload.is_empty() || k.payload == "*" || self.find(&k.payload).is_some();
                ensure!(known, "{}.{}: no struct {}", e.name, k.name, k.payload);
                let plain = k.content == Content::Bytes || k.payload == "*";
                ensure!(plain, "{}.{}: only a payload of `*` has a content", e.name, k.name);
            }
        }
        Ok(())
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
            unique(e.kinds.iter().map(|k| k.value), &e.name)?;
        }
        ensure!(self.counters.len() <= 256, "gateware numbers counters with eight bits");
        unique(self.flags.iter().map(|f| f.bit), "flags")?;
        ensure!(self.flags.iter().all(|f| f.bit < 4), "flags have four bits");
        for a in &self.addresses {
            ensure!(a.bytes()?[0] & 3 == 3, "{} is not a locally administered group address", a.name);
        }
        Ok(())
    }

    fn check_struct(&self, s: &Struct) -> Result<()> {
        unique(s.fields.iter().map(|f| &f.name), &s.name)?;
        if s.name != "Header" {
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
