//! Structs, their fields and what follows them.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) tail: Option<Tail>,
    pub(crate) fields: Vec<Field>,
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

/// What follows a struct's fixed part in a payload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tail {
    /// The name of one element.
    pub(crate) name: String,
    pub(crate) of: TailOf,
    /// The field that holds the number of elements; `None` for text, which goes to the payload's end.
    pub(crate) count: Option<String>,
    /// The constant that bounds the number of elements; `None` for text.
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

    /// As a description writes it.
    pub(crate) fn name(self) -> String {
        match self {
            Self::U8 => "u8".into(),
            Self::U16 => "u16".into(),
            Self::U32 => "u32".into(),
            Self::U64 => "u64".into(),
            Self::Mac => "mac".into(),
            Self::Bytes(n) => format!("bytes{n}"),
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
