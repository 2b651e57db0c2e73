//! The address map of the shell's processor as read from `protocol/registers.toml`, and the rules it has to keep.

pub(crate) mod c;
pub(crate) mod docs;
pub(crate) mod sv;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::model::unique;

/// The region that the registers lie in.
pub(crate) const CSR: &str = "CSR";

/// The whole description.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Map {
    #[serde(rename = "region")]
    pub(crate) regions: Vec<Region>,
    #[serde(rename = "block")]
    pub(crate) blocks: Vec<Block>,
    #[serde(rename = "register")]
    pub(crate) registers: Vec<Register>,
}

/// A part of the address map.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) base: u32,
    pub(crate) bytes: u32,
    pub(crate) access: Access,
    /// Equal parts, when there are such; of `slot` bytes each.
    pub(crate) slots: Option<u32>,
    pub(crate) slot: Option<u32>,
    #[serde(default)]
    pub(crate) words: Vec<Word>,
    pub(crate) doc: String,
}

impl Region {
    /// Number and bytes of its slots.
    pub(crate) fn slots(&self) -> Option<(u32, u32)> {
        self.slots.zip(self.slot)
    }

    /// What the top bits of an address are in this region.
    pub(crate) const fn number(&self) -> u32 {
        self.base >> 28
    }
}

/// A word, or several, of a slot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Word {
    pub(crate) name: String,
    pub(crate) at: Range,
    pub(crate) doc: String,
}

/// The registers of one block of the shell.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    pub(crate) block: String,
    pub(crate) name: String,
    pub(crate) offset: u32,
    pub(crate) access: Access,
    /// So many of them, one word after the other.
    pub(crate) count: Option<u32>,
    #[serde(default)]
    pub(crate) fields: Vec<Field>,
    pub(crate) doc: String,
}

impl Register {
    /// The offset behind it.
    pub(crate) fn end(&self) -> u32 {
        self.offset + 4 * self.count.unwrap_or(1)
    }
}

/// What a read and a write do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Access {
    Ro,
    Rw,
    Set,
    Wo,
    Act,
}

impl Access {
    /// As the documentation has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ro => "read",
            Self::Rw => "read, write",
            Self::Set => "write",
            Self::Wo => "write acts",
            Self::Act => "write acts, read",
        }
    }
}

/// Bits of a register.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) bits: Range,
    pub(crate) on: Option<On>,
    /// Prefix of the names of its values.
    pub(crate) names: Option<String>,
    #[serde(default)]
    pub(crate) values: Vec<Value>,
    pub(crate) doc: String,
}

/// Where a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum On {
    Read,
    Write,
}

/// A value of a field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) value: u32,
    pub(crate) doc: String,
}

/// One number, or two that are the ends of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Range {
    pub(crate) low: u32,
    pub(crate) high: u32,
}

impl TryFrom<String> for Range {
    type Error = anyhow::Error;
    fn try_from(s: String) -> Result<Self> {
        let (a, b) = s.split_once('-').unwrap_or((&s, &s));
        let (a, b): (u32, u32) = (a.parse().with_context(|| s.clone())?, b.parse().with_context(|| s.clone())?);
        Ok(Self { low: a.min(b), high: a.max(b) })
    }
}

impl Range {
    /// How many numbers it holds.
    pub(crate) const fn width(self) -> u32 {
        self.high - self.low + 1
    }

    /// All bits of the field, moved down to bit 0.
    pub(crate) const fn mask(self) -> u32 {
        u32::MAX >> (32 - self.width())
    }

    fn overlaps(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

impl Map {
    /// Reads a description and checks its rules.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let map: Self = toml::from_str(text).context("description of the registers")?;
        map.check()?;
        Ok(map)
    }

    /// The registers of a block.
    pub(crate) fn of<'a>(&'a self, block: &'a Block) -> impl Iterator<Item = &'a Register> {
        self.registers.iter().filter(|r| r.block == block.name)
    }

    /// The region that the registers lie in.
    pub(crate) fn csr(&self) -> &Region {
        self.regions.iter().find(|r| r.name == CSR).expect("checked")
    }

    fn check(&self) -> Result<()> {
        unique(self.regions.iter().map(|r| &r.name), "regions")?;
        unique(self.regions.iter().map(Region::number), "regions")?;
        unique(self.blocks.iter().map(|b| &b.name), "blocks")?;
        unique(self.registers.iter().map(|r| &r.name), "registers")?;
        for r in &self.regions {
            check_region(r)?;
        }
        let csr = self.regions.iter().find(|r| r.name == CSR).context("there is no region CSR")?;
        let mut behind = 0;
        for r in &self.registers {
            ensure!(self.blocks.iter().any(|b| b.name == r.block), "{}: no block {}", r.name, r.block);
            ensure!(r.offset.is_multiple_of(4), "{}: not at a word", r.name);
            ensure!(r.offset >= behind, "{} lies inside or before the register above it", r.name);
            behind = r.end();
            ensure!(behind <= csr.bytes, "{} lies outside the region", r.name);
            check_fields(r)?;
        }
        Ok(())
    }
}

fn check_region(r: &Region) -> Result<()> {
    // Hardware looks at three bits of an address to find the region, and no further.
    ensure!(r.base & 0x8FFF_FFFF == 0, "{}: a region starts at a multiple of 2^28 below 2^31", r.name);
    ensure!(r.slots.is_some() == r.slot.is_some(), "{}: slots have a number and a size", r.name);
    if let Some((slots, bytes)) = r.slots() {
        ensure!(slots * bytes == r.bytes, "{}: {slots} slots of {bytes} bytes are not {}", r.name, r.bytes);
    }
    unique(r.words.iter().map(|w| &w.name), &r.name)?;
    for w in &r.words {
        let inside = r.slot.is_some_and(|bytes| 4 * w.at.high < bytes);
        ensure!(inside, "{}.{} lies outside the slot", r.name, w.name);
    }
    Ok(())
}

fn check_fields(r: &Register) -> Result<()> {
    unique(r.fields.iter().map(|f| &f.name), &r.name)?;
    for (i, f) in r.fields.iter().enumerate() {
        ensure!(f.bits.high < 32, "{}.{}: a register has 32 bits", r.name, f.name);
        ensure!(f.on.is_none() || r.access != Access::Ro, "{}.{}: the register is only read", r.name, f.name);
        for g in &r.fields[..i] {
            let apart = !f.bits.overlaps(g.bits) || (f.on.is_some() && g.on.is_some() && f.on != g.on);
            ensure!(apart, "{}: {} and {} share a bit", r.name, f.name, g.name);
        }
        ensure!(f.names.is_some() != f.values.is_empty(), "{}.{}: values and their prefix go together", r.name, f.name);
        unique(f.values.iter().map(|v| &v.name), &f.name)?;
        unique(f.values.iter().map(|v| v.value), &f.name)?;
        for v in &f.values {
            ensure!(v.value <= f.bits.mask(), "{}.{}: {} does not fit", r.name, f.name, v.value);
        }
    }
    Ok(())
}
