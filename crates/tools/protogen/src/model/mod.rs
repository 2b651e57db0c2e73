//! A family of frames as read from its file in `protocol/`.
//!
//! A family has a header of its own, a way to be recognised, and its kinds of frames with their rules. What holds
//! between a family's parts, and between families, is in `check`.

mod check;
mod fields;
mod ipv6;
mod kinds;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

pub(crate) use check::{check_all, unique};
pub(crate) use fields::{Field, Struct, Tail, TailOf, Type};
pub(crate) use ipv6::Ipv6;
pub(crate) use kinds::{Content, EtherType, Kind};

use crate::recognition::RecognisedBy;
use crate::text::split_words;

/// Bytes of Ethernet that begin every frame: two addresses and the EtherType.
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
    /// The EtherTypes with their kinds. A family that is carried in IPv6 packets has one, which is made of `kinds`.
    #[serde(rename = "ethertype", default)]
    pub(crate) ethertypes: Vec<EtherType>,
    /// The kinds of a family that is carried in IPv6 packets, as they stand in the file; empty once it is read.
    #[serde(rename = "kind", default)]
    flat: Vec<toml::Table>,
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
    /// The packets that carry its frames, if it is recognised by them.
    pub(crate) ipv6: Option<Ipv6>,
    /// The struct that begins each frame.
    pub(crate) header: String,
    pub(crate) trailer: Trailer,
    pub(crate) doc: String,
    /// A drawing of a frame for the reference page.
    pub(crate) picture: Option<String>,
    pub(crate) names: Names,
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
    /// How a frame with a trailer says that its payload is encrypted, if the family has that.
    pub(crate) cipher: Option<Cipher>,
}

/// Which payloads are ciphertext.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cipher {
    /// The flag that says so.
    pub(crate) flag: String,
    /// Structs of the payloads for which it says something else.
    pub(crate) clear: Vec<String>,
}

/// What the family is called in the forms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    /// The dissector's protocol, and the prefix of its filters.
    pub(crate) filter: String,
    /// The SystemVerilog package.
    pub(crate) package: String,
    /// The C header's file; `None` if the firmware takes none of its kinds.
    pub(crate) c_file: Option<String>,
    /// What its names in C begin with, in upper case; it may be empty. `None` if there is no header.
    pub(crate) c_prefix: Option<String>,
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
    /// Whether people read it in hexadecimal digits. For the constants that the model itself adds.
    #[serde(skip)]
    pub(crate) hex: bool,
}

impl Const {
    /// The value as people write it in Rust, in Python and on pages.
    pub(crate) fn number(&self) -> String {
        if self.hex { format!("0x{:X}", self.value) } else { self.value.to_string() }
    }
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
    /// Whether gateware knows it: its forms have no others.
    #[serde(default = "is_in_gateware")]
    pub(crate) gateware: bool,
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
    /// Whether gateware says or hears it: its forms have no others.
    #[serde(default = "is_in_gateware")]
    pub(crate) gateware: bool,
}

const fn is_in_gateware() -> bool {
    true
}

impl Enum {
    /// The values that gateware knows.
    pub(crate) fn in_gateware(&self) -> impl Iterator<Item = &EnumValue> {
        self.values.iter().filter(|v| v.gateware)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counter {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// Whether it belongs to a part that a card may lack. Such counters come last.
    #[serde(default)]
    pub(crate) optional: bool,
}

impl Family {
    /// Reads a family's description and checks its rules. `name` is the file's, without its ending.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let mut family: Self = toml::from_str(text).with_context(|| format!("protocol/{name}.toml"))?;
        family.resolve().and_then(|()| family.check(name)).with_context(|| format!("protocol/{name}.toml"))?;
        Ok(family)
    }

    /// Makes of what the packets that carry it say the EtherType and the constants that the forms need.
    fn resolve(&mut self) -> Result<()> {
        match (self.family.recognised_by, &self.family.ipv6) {
            (by @ (RecognisedBy::EtherType | RecognisedBy::Link), None) => {
                ensure!(self.flat.is_empty(), "`kind`: a family recognised by its EtherTypes has its kinds in them");
                let on_links = by == RecognisedBy::Link;
                let fits = self.ethertypes.iter().all(|e| e.on_links == on_links);
                ensure!(fits, "`on_links`: all EtherTypes of a family that is recognised by \"link\", and of no other");
            }
            (RecognisedBy::EtherType | RecognisedBy::Link, Some(_)) => {
                bail!("`ipv6`: the family is recognised by its EtherTypes")
            }
            (RecognisedBy::Ipv6, None) => bail!("`ipv6` is missing: the family is recognised by the packets it names"),
            (RecognisedBy::Ipv6, Some(ipv6)) => {
                ensure!(
                    self.ethertypes.is_empty(),
                    "`ethertype`: the family has that of `ipv6`, and its kinds in `kind`"
                );
                self.consts.extend(ipv6.consts());
                self.ethertypes = vec![EtherType::flat(ipv6.ethertype, std::mem::take(&mut self.flat))?];
            }
        }
        Ok(())
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

    /// The header of the packets that carry its frames.
    pub(crate) fn carrier(&self) -> Option<&Struct> {
        self.family.ipv6.as_ref().map(|ipv6| self.find(&ipv6.of).expect("checked"))
    }

    /// Where the header begins: the bytes of the frame before it.
    pub(crate) fn header_at(&self) -> usize {
        ETHERNET + self.carrier().map_or(0, Struct::size)
    }

    /// True for the struct of the header of the packets that carry the frames.
    pub(crate) fn is_carrier(&self, s: &Struct) -> bool {
        self.family.ipv6.as_ref().is_some_and(|ipv6| s.name == ipv6.of)
    }

    /// True for the structs that are part of a payload: neither header nor trailer, nor what carries the frame.
    pub(crate) fn is_payload(&self, s: &Struct) -> bool {
        !self.is_carrier(s) && s.name != self.family.header && s.name != self.family.trailer.of
    }

    /// What tools print for a kind: `image-confirm.missing`, `bridge.read-request`.
    pub(crate) fn label(&self, e: &EtherType, kind: &Kind) -> String {
        let group = if e.name.is_empty() { &self.family.name } else { &split_words(&e.name, '-') };
        format!("{group}.{}", split_words(&kind.name, '-'))
    }

    /// The flags that gateware knows.
    pub(crate) fn gateware_flags(&self) -> impl Iterator<Item = &Flag> {
        self.flags.iter().filter(|f| f.gateware)
    }

    /// The bit of the flag that says that a trailer follows.
    pub(crate) fn trailer_bit(&self) -> u8 {
        self.flags.iter().find(|f| f.name == self.family.trailer.flag).expect("checked").bit
    }

    /// Whether a frame of it may come on any network.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.family.recognised_by != RecognisedBy::Link
    }

    /// The value of this constant.
    pub(crate) fn constant(&self, name: &str) -> Option<u64> {
        self.consts.iter().find(|c| c.name == name).map(|c| c.value)
    }

    /// How many counters every card counts: the first ones.
    pub(crate) fn common_counters(&self) -> usize {
        self.counters.iter().take_while(|c| !c.optional).count()
    }

    /// Every kind with its EtherType, in the description's order.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&EtherType, &Kind)> {
        self.ethertypes.iter().flat_map(|e| e.kinds.iter().map(move |k| (e, k)))
    }

    /// The bytes of a kind's payload, if they are always as many.
    pub(crate) fn fixed_size(&self, kind: &Kind) -> Option<usize> {
        match self.find(&kind.payload) {
            Some(s) => (s.tail.is_none() && !kind.optional).then(|| s.size()),
            None => kind.payload.is_empty().then_some(0),
        }
    }
}
