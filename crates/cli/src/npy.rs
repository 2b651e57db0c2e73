//! NumPy's `.npy` files: one dense array each.
//!
//! Format 1.0 to 3.0 (NumPy Enhancement Proposal 1): eight bytes of magic and version, the length of the header, the
//! header as a Python dictionary, then the elements.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use rackloom::Array;
use rackloom_image::Dtype;

use crate::failure::{Explain, Failure, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The elements start at a multiple of this.
const ALIGN: usize = 64;
/// Longest header, bytes; headers of plain arrays have about 100.
const HEADER_MAX: usize = 64 << 10;
/// The element types of kernels.
const DTYPES: [Dtype; 10] = [
    Dtype::F32,
    Dtype::F64,
    Dtype::I8,
    Dtype::I16,
    Dtype::I32,
    Dtype::I64,
    Dtype::U8,
    Dtype::U16,
    Dtype::U32,
    Dtype::U64,
];

/// Reads the array from a file.
pub(crate) fn read(path: &Path) -> Result<Array> {
    let bytes = std::fs::read(path).during(format!("cannot read {}", path.display()))?;
    parse(bytes).during(format!("cannot use {}", path.display()))
}

/// Writes an array to a file.
pub(crate) fn write(path: &Path, array: &Array) -> Result<()> {
    let put = || {
        let mut file = File::create(path)?;
        file.write_all(&header(array))?;
        file.write_all(&array.data)
    };
    put().during(format!("cannot write {}", path.display()))
}

fn parse(bytes: Vec<u8>) -> Result<Array> {
    let no_npy = || Failure::new("not an .npy file").help("write it with numpy.save");
    if bytes.len() < 12 || bytes[..6] != *MAGIC {
        return Err(no_npy());
    }
    let (length, start) = match bytes[6] {
        1 => (usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), 10),
        2 | 3 => (u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize, 12),
        version => return Err(Failure::new(format!("unsupported version {version} of the .npy format"))),
    };
    let header = (length <= HEADER_MAX).then(|| bytes.get(start..start + length)).flatten().ok_or_else(no_npy)?;
    let header = std::str::from_utf8(header).map_err(|_| no_npy())?;
    let descr = text_of(header, "descr")
        .ok_or_else(|| Failure::new("the elements are records").help("save each field as an array of its own"))?;
    let shape = shape_of(header).ok_or_else(no_npy)?;
    if value_of(header, "fortran_order").is_some_and(|v| v.starts_with("True")) && shape.len() > 1 {
        let help = "save numpy.ascontiguousarray(array)";
        return Err(Failure::new("the elements are in Fortran order (columns first)").help(help));
    }
    let native = descr.replacen('=', "<", 1);
    let dtype = DTYPES.into_iter().find(|d| d.numpy() == native).ok_or_else(|| {
        let known = DTYPES.map(Dtype::numpy).join(" ");
        Failure::new(format!("unsupported element type `{descr}`"))
            .help(format!("convert the array with astype to one of {known}"))
    })?;
    let data = bytes::Bytes::from(bytes).slice(start + length..);
    Array::new(dtype, shape, data).map_err(|e| Failure::of(&e).help("the file is damaged; save it again"))
}

/// What follows `'key':` in the header.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = ['\'', '"'].iter().find_map(|q| {
        let name = format!("{q}{key}{q}");
        header.find(&name).map(|at| at + name.len())
    })?;
    Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
}

fn text_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let value = value_of(header, key)?;
    let quote = value.chars().next().filter(|q| ['\'', '"'].contains(q))?;
    value[1..].split_once(quote).map(|(text, _)| text)
}

fn shape_of(header: &str) -> Option<Vec<usize>> {
    let (inside, _) = value_of(header, "shape")?.strip_prefix('(')?.split_once(')')?;
    inside.split(',').map(str::trim).filter(|s| !s.is_empty()).map(|s| s.parse().ok()).collect()
}

fn header(array: &Array) -> Vec<u8> {
    let extents: Vec<_> = array.shape.iter().map(|n| n.to_string()).collect();
    // A tuple of one has a comma in Python.
    let comma = if extents.len() == 1 { "," } else { "" };
    let shape = extents.join(", ");
    let text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}{comma}), }}", array.dtype.numpy());
    let total = (10 + text.len() + 1).next_multiple_of(ALIGN);
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&((total - 10) as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.resize(total - 1, b' ');
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&[1, 0]);
        out.extend_from_slice(&(header.len() as u16).to_le_bytes());
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(data);
        out
    }

    #[test]
    fn a_written_array_reads_back_equal() {
        for (dtype, shape) in [(Dtype::F32, vec![3, 5]), (Dtype::U8, vec![7]), (Dtype::I64, vec![2, 2, 2])] {
            let bytes = shape.iter().product::<usize>() * dtype.bytes();
            let data: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
            let array = Array::new(dtype, shape, data.into()).unwrap();
            let mut written = header(&array);
            assert_eq!(written.len() % ALIGN, 0);
            written.extend_from_slice(&array.data);
            assert_eq!(parse(written).unwrap(), array);
        }
    }

    #[test]
    fn numpys_own_header_is_understood() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }        \n";
        let array = parse(file(header, &[0; 24])).unwrap();
        assert_eq!((array.dtype, array.shape), (Dtype::F32, vec![2, 3]));
        let column = "{'descr': '<f8', 'fortran_order': True, 'shape': (3,), }";
        assert!(parse(file(column, &[0; 24])).is_ok(), "one dimension has one order");
    }

    #[test]
    fn an_unusable_file_is_explained() {
        let fails = |bytes: Vec<u8>| {
            let f = parse(bytes).unwrap_err();
            (f.what, f.help.unwrap_or_default())
        };
        let (what, help) = fails(file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", &[0; 24]));
        assert!(what.contains("Fortran") && help.contains("ascontiguousarray"));
        let (what, help) = fails(file("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", &[0; 8]));
        assert!(what.contains(">f4") && help.contains("astype"));
        let (what, _) = fails(file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", &[0; 8]));
        assert!(what.contains("8 bytes are not an array of shape [3]"), "{what}");
        let (what, _) = fails(file("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }", &[0; 8]));
        assert!(what.contains("records"));
        for bad in [b"PK\x03\x04aaaaaaaaaaaa".to_vec(), MAGIC.to_vec(), file("{'shape': (2", &[])] {
            assert!(parse(bad).is_err());
        }
        let mut long = file("{}", &[]);
        long[8..10].copy_from_slice(&u16::MAX.to_le_bytes());
        assert!(parse(long).is_err());
    }
}
