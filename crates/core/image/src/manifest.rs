//! The manifest: what a host must know of a role to use its kernels.
//!
//! A kernel's arrays carry an index such as `ij`, one letter a dimension, slowest first. From the indexes alone a host
//! knows how tiles of the arrays correspond: for `c[ij] = b[ij] + a[ji]` a tile of `c` needs the same tile of `b` and
//! the transposed tile of `a`; for `c[ij]` from `a[ik]` and `b[kj]` it needs rows of `a` and columns of `b`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{ARGS_MAX, DIMS_MAX, HALO_MAX, KERNELS_MAX, ManifestError, NAME_MAX};

/// What a role is and which kernels it offers. Kernels are numbered by their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the role, `[a-z][a-z0-9_]{0,31}`.
    pub name: String,
    /// Version of the role, free text of up to 32 bytes.
    pub version: String,
    /// One sentence for people, up to 1024 bytes.
    #[serde(default)]
    pub description: String,
    /// The role's clock, MHz, 1 to 10000: the unit of the cycles that launches report.
    #[serde(default = "clock_default")]
    pub clock_mhz: u32,
    /// The kernels, 1 to [`KERNELS_MAX`].
    pub kernels: Vec<Kernel>,
}

/// A function that a role offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Name, `[a-z][a-z0-9_]{0,31}`; in a `model` part, the name of the export.
    pub name: String,
    /// The arguments in order: an array's name stands for its DDR address, a dimension's letter for its extent,
    /// a scalar's name for its value.
    pub args: Vec<String>,
    /// The arrays the kernel reads and writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<Array>,
    /// Numbers that the caller gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalars: Vec<Scalar>,
    /// Preferred tile extents, elements, of the dimensions that may be split; the others are passed whole.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tile: BTreeMap<char, u32>,
    /// Elements by which tiles of arrays marked `halo` extend beyond the tile on either side of a dimension. At the
    /// border of the whole array the host repeats the outermost element.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub halo: BTreeMap<char, u32>,
}

/// An array that a kernel reads or writes: dense, row-major, little-endian.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    /// Name, `[a-z][a-z0-9_]{0,31}`.
    pub name: String,
    /// Type of the elements.
    pub dtype: Dtype,
    /// The dimensions, one letter each, slowest first.
    pub index: String,
    /// Whether the kernel reads or writes it.
    pub dir: Dir,
    /// Whether its tiles extend by the kernel's halo.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub halo: bool,
}

/// A number that a kernel is given. Its argument word holds the value in its low bits, two's complement or IEEE 754.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scalar {
    /// Name, `[a-z][a-z0-9_]{0,31}`.
    pub name: String,
    /// Type of the number.
    pub dtype: Dtype,
}

/// Direction of an array, seen from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dir {
    /// The kernel reads it.
    In,
    /// The kernel writes all of it.
    Out,
}

/// Type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
}

/// What an argument of a kernel stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg<'a> {
    /// The DDR address of this array.
    Address(&'a Array),
    /// The extent of this dimension in elements, without halo.
    Extent(char),
    /// The value of this scalar.
    Value(&'a Scalar),
}

impl Manifest {
    /// Reads and validates a manifest from JSON. Unknown fields are ignored, so that newer builders may add some.
    pub fn from_json(json: &[u8]) -> Result<Self, ManifestError> {
        let manifest: Self = serde_json::from_slice(json).map_err(|e| ManifestError::Json(e.to_string()))?;
        manifest.validate()?;
        Ok(manifest)
    }

    /// The manifest as JSON, on one line.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings, numbers and char keys are always JSON")
    }

    /// Number and description of the kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<(usize, &Kernel)> {
        self.kernels.iter().enumerate().find(|(_, k)| k.name == name)
    }

    /// Checks every rule that the types do not express.
    pub fn validate(&self) -> Result<(), ManifestError> {
        check_name("role", &self.name)?;
        check_text("version", &self.version, VERSION_MAX)?;
        check_text("description", &self.description, DESCRIPTION_MAX)?;
        if !(1..=CLOCK_MHZ_MAX).contains(&self.clock_mhz) {
            return Err(ManifestError::Clock { mhz: self.clock_mhz });
        }
        if !(1..=KERNELS_MAX).contains(&self.kernels.len()) {
            return Err(ManifestError::KernelCount { count: self.kernels.len() });
        }
        check_distinct(self.kernels.iter().map(|k| k.name.clone()))?;
        self.kernels.iter().try_for_each(Kernel::validate)
    }
}

impl Kernel {
    /// The dimensions of all arrays, in alphabetical order.
    pub fn dims(&self) -> BTreeSet<char> {
        self.arrays.iter().flat_map(|a| a.index.chars()).collect()
    }

    /// The array of this name.
    pub fn array(&self, name: &str) -> Option<&Array> {
        self.arrays.iter().find(|a| a.name == name)
    }

    /// What each argument stands for, in order. Of a validated kernel this yields one item for each of `args`.
    pub fn resolved_args(&self) -> impl Iterator<Item = Arg<'_>> {
        self.args.iter().filter_map(|arg| self.resolve(arg))
    }

    /// Elements by which tiles of `array` extend on either side of `dim`.
    pub fn halo_of(&self, array: &Array, dim: char) -> u32 {
        if array.halo { self.halo.get(&dim).copied().unwrap_or(0) } else { 0 }
    }

    fn resolve(&self, arg: &str) -> Option<Arg<'_>> {
        if let Some(array) = self.array(arg) {
            return Some(Arg::Address(array));
        }
        if let Some(scalar) = self.scalars.iter().find(|s| s.name == arg) {
            return Some(Arg::Value(scalar));
        }
        let mut letters = arg.chars();
        match (letters.next(), letters.next()) {
            (Some(dim), None) if self.arrays.iter().any(|a| a.index.contains(dim)) => Some(Arg::Extent(dim)),
            _ => None,
        }
    }

    fn validate(&self) -> Result<(), ManifestError> {
        check_name("kernel", &self.name)?;
        if self.args.len() > ARGS_MAX {
            return Err(ManifestError::ArgCount { kernel: self.name.clone(), count: self.args.len() });
        }
        self.arrays.iter().try_for_each(Array::validate)?;
        self.scalars.iter().try_for_each(|s| check_name("scalar", &s.name))?;
        let names = self.arrays.iter().map(|a| &a.name).chain(self.scalars.iter().map(|s| &s.name)).cloned();
        check_distinct(names.chain(self.dims().into_iter().map(String::from)))?;
        check_distinct(self.args.iter().cloned())?;
        if let Some(arg) = self.args.iter().find(|arg| self.resolve(arg).is_none()) {
            return Err(ManifestError::UnknownArg { kernel: self.name.clone(), arg: shorten(arg) });
        }
        if let Some(array) = self.arrays.iter().find(|a| !self.args.contains(&a.name)) {
            return Err(ManifestError::UnusedArray { kernel: self.name.clone(), array: array.name.clone() });
        }
        if let Some(scalar) = self.scalars.iter().find(|s| !self.args.contains(&s.name)) {
            return Err(ManifestError::UnusedScalar { kernel: self.name.clone(), scalar: scalar.name.clone() });
        }
        self.validate_tile()?;
        self.validate_halo()
    }

    fn validate_tile(&self) -> Result<(), ManifestError> {
        let kernel = || self.name.clone();
        let dims = self.dims();
        for (&dim, &extent) in &self.tile {
            if !dims.contains(&dim) {
                return Err(ManifestError::UnknownDim { kernel: kernel(), dim });
            }
            if extent == 0 {
                return Err(ManifestError::TileExtent { kernel: kernel(), dim });
            }
            // Without this a host that splits the dimension would keep only the last tile's share of a sum.
            if let Some(out) = self.arrays.iter().find(|a| a.dir == Dir::Out && !a.index.contains(dim)) {
                return Err(ManifestError::Unsplittable { kernel: kernel(), dim, array: out.name.clone() });
            }
        }
        Ok(())
    }

    fn validate_halo(&self) -> Result<(), ManifestError> {
        let halo = |what: String| ManifestError::Halo { kernel: self.name.clone(), what };
        let dims = self.dims();
        for (&dim, &extent) in &self.halo {
            if !dims.contains(&dim) {
                return Err(ManifestError::UnknownDim { kernel: self.name.clone(), dim });
            }
            if !(1..=HALO_MAX).contains(&extent) {
                return Err(halo(format!("halo of dimension `{dim}` is {extent}")));
            }
        }
        let extended: Vec<&Array> = self.arrays.iter().filter(|a| a.halo).collect();
        if extended.is_empty() != self.halo.is_empty() {
            return Err(halo("halo extents and arrays marked with a halo must come together".into()));
        }
        for array in extended {
            if array.dir == Dir::Out {
                return Err(halo(format!("output `{}` is marked with a halo", array.name)));
            }
            if let Some(dim) = self.halo.keys().find(|d| !array.index.contains(**d)) {
                return Err(halo(format!("array `{}` has no dimension `{dim}`", array.name)));
            }
        }
        Ok(())
    }
}

impl Array {
    /// The dimensions, slowest first.
    pub fn dims(&self) -> impl DoubleEndedIterator<Item = char> + '_ {
        self.index.chars()
    }

    fn validate(&self) -> Result<(), ManifestError> {
        check_name("array", &self.name)?;
        let letters: BTreeSet<char> = self.index.chars().filter(char::is_ascii_lowercase).collect();
        // A set as large as the text has bytes: all are letters, and none comes twice.
        if letters.len() != self.index.len() || !(1..=DIMS_MAX).contains(&letters.len()) {
            return Err(ManifestError::Index { array: self.name.clone(), index: shorten(&self.index) });
        }
        Ok(())
    }
}

impl Dtype {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// The type's descriptor in NumPy's `.npy` files.
    pub const fn numpy(self) -> &'static str {
        match self {
            Self::F32 => "<f4",
            Self::F64 => "<f8",
            Self::I8 => "|i1",
            Self::I16 => "<i2",
            Self::I32 => "<i4",
            Self::I64 => "<i8",
            Self::U8 => "|u1",
            Self::U16 => "<u2",
            Self::U32 => "<u4",
            Self::U64 => "<u8",
        }
    }
}

fn check_name(what: &'static str, name: &str) -> Result<(), ManifestError> {
    let tail_ok = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let ok = name.len() <= NAME_MAX
        && name.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
        && name.bytes().all(tail_ok);
    if ok { Ok(()) } else { Err(ManifestError::Name { what, name: shorten(name) }) }
}

fn check_text(what: &'static str, text: &str, limit: usize) -> Result<(), ManifestError> {
    if text.len() <= limit { Ok(()) } else { Err(ManifestError::TextTooLong { what, length: text.len(), limit }) }
}

fn check_distinct(names: impl Iterator<Item = String>) -> Result<(), ManifestError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if seen.contains(&name) {
            return Err(ManifestError::Repeated { name: shorten(&name) });
        }
        seen.insert(name);
    }
    Ok(())
}

/// Names in errors come from the file: keep one of 60,000 letters out of logs and frames.
fn shorten(name: &str) -> String {
    name.chars().take(NAME_MAX + 8).collect()
}

const fn clock_default() -> u32 {
    250
}

const CLOCK_MHZ_MAX: u32 = 10_000;
const VERSION_MAX: usize = 32;
const DESCRIPTION_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn gemm() -> Manifest {
        Manifest::from_json(
            br#"{"name":"gemm","version":"1","kernels":[{"name":"gemm","args":["a","b","c","i","j","k"],
            "arrays":[{"name":"a","dtype":"f32","index":"ik","dir":"in"},{"name":"b","dtype":"f32","index":"kj","dir":"in"},
            {"name":"c","dtype":"f32","index":"ij","dir":"out"}],"tile":{"i":256,"j":256},"later":true}]}"#,
        )
        .unwrap()
    }

    fn fails(change: impl FnOnce(&mut Manifest)) -> ManifestError {
        let mut manifest = gemm();
        change(&mut manifest);
        manifest.validate().unwrap_err()
    }

    #[test]
    fn json_round_trip_keeps_everything() {
        let manifest = gemm();
        assert_eq!(Manifest::from_json(&manifest.to_json()).unwrap(), manifest);
        assert_eq!(manifest.clock_mhz, 250);
        assert_eq!(manifest.kernel("gemm").unwrap().0, 0);
    }

    #[test]
    fn args_resolve_to_addresses_and_extents() {
        let manifest = gemm();
        let kernel = &manifest.kernels[0];
        let args: Vec<_> = kernel.resolved_args().collect();
        assert_eq!(args[1], Arg::Address(&kernel.arrays[1]));
        assert_eq!(args[5], Arg::Extent('k'));
        assert_eq!(kernel.dims().into_iter().collect::<String>(), "ijk");
    }

    #[test]
    fn every_rule_has_its_error() {
        use ManifestError as E;
        assert!(matches!(fails(|m| m.name = "Gemm".into()), E::Name { what: "role", .. }));
        assert!(matches!(fails(|m| m.kernels[0].name = "a".repeat(33)), E::Name { what: "kernel", .. }));
        assert!(matches!(fails(|m| m.kernels[0].arrays[0].name = String::new()), E::Name { what: "array", .. }));
        assert!(matches!(fails(|m| m.description = "x".repeat(1025)), E::TextTooLong { .. }));
        assert!(matches!(fails(|m| m.clock_mhz = 0), E::Clock { mhz: 0 }));
        assert!(matches!(fails(|m| m.kernels.clear()), E::KernelCount { count: 0 }));
        assert!(matches!(fails(|m| m.kernels = vec![m.kernels[0].clone(); 65]), E::KernelCount { count: 65 }));
        assert!(matches!(fails(|m| m.kernels.push(m.kernels[0].clone())), E::Repeated { .. }));
        assert!(matches!(fails(|m| m.kernels[0].arrays[0].name = "i".into()), E::Repeated { .. }));
        assert!(matches!(fails(|m| m.kernels[0].args = vec!["a".into(); 33]), E::ArgCount { count: 33, .. }));
        assert!(matches!(fails(|m| m.kernels[0].args.push("q".into())), E::UnknownArg { .. }));
        assert!(matches!(fails(|m| drop(m.kernels[0].args.remove(0))), E::UnusedArray { .. }));
        for index in ["", "ii", "iJ", "abcde", "é"] {
            assert!(matches!(fails(|m| m.kernels[0].arrays[0].index = index.into()), E::Index { .. }), "{index}");
        }
        assert!(matches!(fails(|m| _ = m.kernels[0].tile.insert('i', 0)), E::TileExtent { .. }));
        assert!(matches!(fails(|m| _ = m.kernels[0].tile.insert('x', 1)), E::UnknownDim { dim: 'x', .. }));
        assert!(matches!(fails(|m| _ = m.kernels[0].tile.insert('k', 1)), E::Unsplittable { dim: 'k', .. }));
        assert!(matches!(fails(|m| _ = m.kernels[0].halo.insert('i', 1)), E::Halo { .. }));
        assert!(matches!(fails(|m| m.kernels[0].arrays[0].halo = true), E::Halo { .. }));
    }

    #[test]
    fn a_halo_belongs_to_an_input_that_has_the_dimension() {
        let with = |array: usize, dim: char, extent: u32| {
            let mut manifest = gemm();
            manifest.kernels[0].arrays[array].halo = true;
            manifest.kernels[0].halo.insert(dim, extent);
            manifest.validate()
        };
        assert_eq!(with(0, 'i', 1), Ok(()));
        for (array, dim, extent) in [(0, 'i', 0), (0, 'i', 65), (0, 'j', 1), (2, 'i', 1)] {
            assert!(matches!(with(array, dim, extent), Err(ManifestError::Halo { .. })));
        }
    }
}
