//! The IPv6 packets that carry a family's frames.

use std::net::Ipv6Addr;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{Const, Struct, Type};

/// IPv6's header as RFC 8200 has it. Version, traffic class and flow label share the first four bytes.
const HEADER: [(&str, Type); 6] = [
    ("version_class_flow", Type::U32),
    ("payload_length", Type::U16),
    ("next_header", Type::U8),
    ("hop_limit", Type::U8),
    ("src", Type::Bytes(16)),
    ("dst", Type::Bytes(16)),
];

/// What a packet has to have to carry a frame of the family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ipv6 {
    pub(crate) ethertype: u16,
    pub(crate) next_header: u8,
    /// Sent, and demanded of what comes: the highest shows that no router has passed the packet on.
    pub(crate) hop_limit: u8,
    pub(crate) subnet: Subnet,
    /// The struct of IPv6's header.
    #[serde(rename = "struct")]
    pub(crate) of: String,
}

impl Ipv6 {
    /// Constants of the family that follow from it.
    pub(super) fn consts(&self) -> [Const; 4] {
        let make = |name: &str, ty, value, hex, doc: &str| Const { name: name.into(), ty, value, doc: doc.into(), hex };
        let Subnet(subnet) = self.subnet;
        [
            make(
                "ETHER_TYPE",
                Type::U16,
                self.ethertype.into(),
                true,
                "The EtherType of IPv6, which carries the frames.",
            ),
            make(
                "NEXT_HEADER",
                Type::U8,
                self.next_header.into(),
                false,
                "The next header of packets that carry a frame.",
            ),
            make(
                "HOP_LIMIT",
                Type::U8,
                self.hop_limit.into(),
                false,
                "The hop limit of each packet, sent and demanded.",
            ),
            make("SUBNET", Type::U64, subnet, true, "The first eight bytes of every node's address."),
        ]
    }

    /// Holds the struct against RFC 8200.
    pub(super) fn check(&self, header: &Struct) -> Result<()> {
        let fits = header.fields.iter().map(|f| (f.name.as_str(), f.ty)).eq(HEADER) && header.tail.is_none();
        let wanted = HEADER.map(|(name, ty)| format!("{name} {}", ty.name())).join(", ");
        ensure!(fits, "{}: IPv6's header is {wanted}", header.name);
        Ok(())
    }
}

/// A subnet of 64 bits: its nodes' addresses end with the EUI-64 of their port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Subnet(pub(crate) u64);

impl TryFrom<String> for Subnet {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        let address = text.strip_suffix("/64").with_context(|| format!("`subnet` is {text:?}, and not of 64 bits"))?;
        let bits = address.parse::<Ipv6Addr>().with_context(|| format!("`subnet`: {text:?}"))?.to_bits();
        ensure!(bits as u64 == 0, "`subnet`: {text:?} has bits behind the 64th");
        ensure!(bits >> 121 == 0xfc >> 1, "`subnet`: {text:?} is not within fc00::/7, by which frames are recognised");
        Ok(Self((bits >> 64) as u64))
    }
}
