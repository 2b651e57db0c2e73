//! A family of frames as read from its file in `protocol/`.
//!
//! A family has a header of its own, a way to be recognised, and its kinds of frames with their rules. What holds
//! between a family's parts, and between families, is in `check`.

mod check;
mod fields;
mod kinds;

use anyhow::{Context, Result};
use serde::Deserialize;

pub(crate) use check::{check_all, unique};
pub(crate) use fields::{Field, Struct, Tail, TailOf, Type};
pub(crate) use kinds::{Content, EtherType, Kind};

/// Bytes of Ethernet before a family's header: two addresses and the EtherType.
pub(crate) const ETHERNET: usize = 14;

/// A family of frames.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    pub(crate) family: About,
    #[serde(rename = "const", default)]
    pub(crate) consts: Vec<Const>,
    #[serde(rename = "address", default)]
    pub(crate) addresses: Vec<Address>,
    #[serde(rename = "struct")]
    pub(crate) structs: Vec<Struct>,
    #[serde(rename = "flag")]
    pub(crate) flags: Vec<Flag>,
    #[serde(rename = "ethertype")]
    pub(crate) ethertypes: Vec<EtherType>,
    #[serde(rename = "enum", default)]
    pub(crate) enums: Vec<Enum>,
    #[serde(rename = "counter", default)]
    pub(crate) counters: Vec<Counter>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    /// As its file is called.
    pub(crate) name: String,
    pub(crate) version: u8,
    pub(crate) recognised_by: RecognisedBy,
    /// The struct that begins each frame.
    pub(crate) header: String,
    pub(crate) trailer: Trailer,
    pub(crate) doc: String,
    /// A drawing of a frame for the reference page.
    pub(crate) picture: Option<String>,
    pub(crate) names: Names,
}

/// How a receiver knows that a frame is of this family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecognisedBy {
    /// By its EtherTypes, which no other family has.
    EtherType,
}

/// Room for authentication behind the payload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trailer {
    /// The trailer's struct.
    #[serde(rename = "struct")]
    pub(crate) of: String,
    /// The flag that says it is there.
    pub(crate) flag: String,
}

/// What the family is called in the forms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    /// The dissector's protocol, and the prefix of its filters.
    pub(crate) filter: String,
    /// The SystemVerilog package.
    pub(crate) package: String,
    /// The C header's file.
    pub(crate) c_file: String,
    /// What its names in C begin with, in upper case; it may be empty.
    pub(crate) c_prefix: String,
    /// The reference page's file, without its ending.
    pub(crate) page: String,
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

    /// The six bytes as hexadecimal digits.
    pub(crate) fn hex(&self) -> String {
        self.bytes().expect("checked").map(|b| format!("{b:02x}")).concat()
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

impl Family {
    /// Reads a family's description and checks its rules. `name` is the file's, without its ending.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let family: Self = toml::from_str(text).with_context(|| format!("protocol/{name}.toml"))?;
        family.check(name).with_context(|| format!("protocol/{name}.toml"))?;
        Ok(family)
    }

    /// Its file, from the repository's root.
    pub(crate) fn source(&self) -> String {
        format!("protocol/{}.toml", self.family.name)
    }

    /// The struct of this name.
    pub(crate) fn find(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|s| s.name == name)
    }

    /// The struct that begins each frame.
    pub(crate) fn header(&self) -> &Struct {
        self.find(&self.family.header).expect("checked")
    }

    /// True for the structs that are part of a payload: neither header nor trailer.
    pub(crate) fn is_payload(&self, s: &Struct) -> bool {
        s.name != self.family.header && s.name != self.family.trailer.of
    }

    /// The bit of the flag that says that a trailer follows.
    pub(crate) fn trailer_bit(&self) -> u8 {
        self.flags.iter().find(|f| f.name == self.family.trailer.flag).expect("checked").bit
    }

    /// The value of this constant.
    pub(crate) fn constant(&self, name: &str) -> Option<u64> {
        self.consts.iter().find(|c| c.name == name).map(|c| c.value)
    }

    /// Every kind with its EtherType, in the description's order.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&EtherType, &Kind)> {
        self.ethertypes.iter().flat_map(|e| e.kinds.iter().map(move |k| (e, k)))
    }

    /// The bytes of a kind's payload, if they are always as many.
    pub(crate) fn fixed_size(&self, kind: &Kind) -> Option<usize> {
        match self.find(&kind.payload) {
            Some(s) => s.tail.is_none().then(|| s.size()),
            None => kind.payload.is_empty().then_some(0),
        }
    }
}
