//! What ranks give and get: made numbers, and arrays in files.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use rackloom::{Array, Datatype, Operation};
use rackloom_image::Dtype;
use rackloom_node::Rng;

use crate::failure::{Explain, Failure, Result};
use crate::npy;

/// The type of these elements in a file; `None`: files have none.
const fn dtype(datatype: Datatype) -> Option<Dtype> {
    Some(match datatype {
        Datatype::I8 => Dtype::I8,
        Datatype::I16 => Dtype::I16,
        Datatype::I32 => Dtype::I32,
        Datatype::I64 => Dtype::I64,
        Datatype::F32 => Dtype::F32,
        Datatype::F64 => Dtype::F64,
        Datatype::F16 | Datatype::Bf16 => return None,
    })
}

/// Elements whose sums show the order in which they were added.
pub(super) fn made(datatype: Datatype, count: u64, seed: u64) -> Bytes {
    let mut rng = Rng::new(seed);
    let fraction = |rng: &mut Rng| rng.below(4000) as f64 / 7.0 - 250.0;
    let half =
        |rng: &mut Rng, least: u16, count: u64| (least + rng.below(count) as u16) | ((rng.below(2) as u16) << 15);
    let count = count as usize;
    match datatype {
        Datatype::F32 => (0..count).flat_map(|_| (fraction(&mut rng) as f32).to_le_bytes()).collect(),
        Datatype::F64 => (0..count).flat_map(|_| fraction(&mut rng).to_le_bytes()).collect(),
        // Between 1/8 and 2, and their negatives.
        Datatype::F16 => (0..count).flat_map(|_| half(&mut rng, 0x3000, 0x1000).to_le_bytes()).collect(),
        Datatype::Bf16 => (0..count).flat_map(|_| half(&mut rng, 0x3e00, 0x200).to_le_bytes()).collect(),
        _ => {
            let mut bytes = vec![0; count * datatype.size() as usize];
            bytes.chunks_mut(8).for_each(|word| word.copy_from_slice(&rng.next_u64().to_le_bytes()[..word.len()]));
            bytes.into()
        }
    }
}

/// The arrays in these files, which have one type and length.
pub(super) fn read(files: &[PathBuf]) -> Result<(Datatype, Vec<Bytes>)> {
    let mut arrays = Vec::new();
    for file in files {
        let array = npy::read(file)?;
        let datatype = Datatype::ALL.into_iter().find(|t| dtype(*t) == Some(array.dtype)).ok_or_else(|| {
            Failure::new(format!("{} has elements of type {}", file.display(), array.dtype.numpy()))
                .help("groups of cards take i8, i16, i32, i64, f32 and f64: convert the array with astype")
        })?;
        arrays.push((datatype, array.data));
    }
    let first = arrays[0].clone();
    let other = arrays.iter().position(|(t, data)| *t != first.0 || data.len() != first.1.len());
    if let Some(at) = other {
        let what =
            format!("{} and {} have arrays of different type or length", files[0].display(), files[at].display());
        return Err(Failure::new(what).help("each rank gives as many elements of the same type"));
    }
    Ok((first.0, arrays.into_iter().map(|(_, data)| data).collect()))
}

/// Writes what each rank got to a file of its own. Those that got something have one.
pub(super) fn write(folder: &Path, operation: &Operation, outputs: &[Bytes]) -> Result<Vec<Option<PathBuf>>> {
    let dtype = dtype(operation.datatype).ok_or_else(|| {
        Failure::new(format!("files have no elements of type {}", operation.datatype)).help("omit --output")
    })?;
    std::fs::create_dir_all(folder).during(format!("cannot make {}", folder.display()))?;
    let file = |(rank, output): (usize, &Bytes)| {
        if output.is_empty() {
            return Ok(None);
        }
        let path = folder.join(format!("rank{rank}.npy"));
        let count = output.len() / dtype.bytes();
        let array = Array::new(dtype, vec![count], output.clone()).expect("whole elements");
        npy::write(&path, &array)?;
        Ok(Some(path))
    };
    outputs.iter().enumerate().map(file).collect()
}
