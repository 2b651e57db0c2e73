//! Numbers that a kernel is given as arguments.

use std::collections::BTreeMap;

use rackloom_image::{Dtype, Kernel};

use super::ArrayError;

/// The argument word of a number written as text: its value in the low bits, two's complement or IEEE 754. `None` if
/// the text is not a number of this type.
pub fn scalar_word(dtype: Dtype, text: &str) -> Option<u64> {
    Some(match dtype {
        Dtype::F32 => u64::from(text.parse::<f32>().ok()?.to_bits()),
        Dtype::F64 => text.parse::<f64>().ok()?.to_bits(),
        Dtype::I8 => u64::from(text.parse::<i8>().ok()?.cast_unsigned()),
        Dtype::I16 => u64::from(text.parse::<i16>().ok()?.cast_unsigned()),
        Dtype::I32 => u64::from(text.parse::<i32>().ok()?.cast_unsigned()),
        Dtype::I64 => text.parse::<i64>().ok()?.cast_unsigned(),
        Dtype::U8 => text.parse::<u8>().ok()?.into(),
        Dtype::U16 => text.parse::<u16>().ok()?.into(),
        Dtype::U32 => text.parse::<u32>().ok()?.into(),
        Dtype::U64 => text.parse().ok()?,
    })
}

/// Checks that exactly the kernel's scalars are given.
pub(super) fn check(kernel: &Kernel, given: &BTreeMap<String, u64>) -> Result<(), ArrayError> {
    let fail = |scalar: &str, given| {
        let list: Vec<_> = kernel.scalars.iter().map(|s| format!("{} ({})", s.name, name_of(s.dtype))).collect();
        let scalars = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        Err(ArrayError::Scalar { kernel: kernel.name.clone(), scalar: scalar.to_owned(), given, scalars })
    };
    if let Some(missing) = kernel.scalars.iter().find(|s| !given.contains_key(&s.name)) {
        return fail(&missing.name, false);
    }
    match given.keys().find(|name| kernel.scalars.iter().all(|s| s.name != **name)) {
        Some(unknown) => fail(unknown, true),
        None => Ok(()),
    }
}

fn name_of(dtype: Dtype) -> String {
    format!("{dtype:?}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_words() {
        assert_eq!(scalar_word(Dtype::F32, "1.5"), Some(0x3fc0_0000));
        assert_eq!(scalar_word(Dtype::F64, "-0"), Some(1 << 63));
        assert_eq!(scalar_word(Dtype::I8, "-1"), Some(0xff));
        assert_eq!(scalar_word(Dtype::I64, "-1"), Some(u64::MAX));
        assert_eq!(scalar_word(Dtype::U8, "256"), None);
        assert_eq!(scalar_word(Dtype::U16, "x"), None);
    }
}
