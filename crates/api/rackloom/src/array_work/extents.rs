//! The extents of a kernel's dimensions, from the shapes of its inputs.

use std::collections::BTreeMap;

use rackloom_image::{Dir, Kernel};

use super::{Array, ArrayError};

/// Infers each dimension's extent and checks that all arrays agree.
pub(crate) fn infer(kernel: &Kernel, inputs: &BTreeMap<String, Array>) -> Result<BTreeMap<char, usize>, ArrayError> {
    let takes = || kernel.arrays.iter().filter(|a| a.dir == Dir::In);
    let list = || takes().map(|a| format!("{}[{}]", a.name, a.index)).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = inputs.keys().find(|name| takes().all(|a| a.name != **name)) {
        let (kernel, array) = (kernel.name.clone(), unknown.clone());
        return Err(ArrayError::Unknown { kernel, array, inputs: list() });
    }
    let mut known: BTreeMap<char, (usize, &str)> = BTreeMap::new();
    for array in takes() {
        let name = || array.name.clone();
        let Some(given) = inputs.get(&array.name) else {
            return Err(ArrayError::Missing { kernel: kernel.name.clone(), array: name(), inputs: list() });
        };
        if given.dtype != array.dtype {
            return Err(ArrayError::Dtype { array: name(), expected: array.dtype, got: given.dtype });
        }
        if given.shape.len() != array.index.len() {
            return Err(ArrayError::Rank { array: name(), index: array.index.clone(), got: given.shape.len() });
        }
        for (dim, &got) in array.dims().zip(&given.shape) {
            if got == 0 {
                return Err(ArrayError::Empty { array: name(), dim });
            }
            let &mut (expected, other) = known.entry(dim).or_insert((got, &array.name));
            if got != expected {
                return Err(ArrayError::Extent { array: name(), dim, expected, got, other: other.to_owned() });
            }
        }
    }
    for array in kernel.arrays.iter().filter(|a| a.dir == Dir::Out) {
        if let Some(dim) = array.dims().find(|d| !known.contains_key(d)) {
            return Err(ArrayError::Unbound { array: array.name.clone(), dim });
        }
    }
    Ok(known.into_iter().map(|(dim, (extent, _))| (dim, extent)).collect())
}
