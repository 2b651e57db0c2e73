//! Description of a board as a device of the registry.

use opencl_sys::{
    CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_EXTENSIONS, CL_DEVICE_GLOBAL_MEM_SIZE,
    CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_PLATFORM_NAME,
    CL_PLATFORM_VENDOR,
};
use rackloom_opencl_wire::BoardInfo;
use rackloom_registry_client::{DeviceSpec, ReconfigurationPolicy};

use crate::card::Sharing;

/// Most characters of a board's part of an id.
const LABEL_MAX: usize = 63;

/// Most bytes of a text that the registry accepts.
const TEXT_MAX: usize = 256;

/// Most bytes of memory that the registry accepts: a pebibyte.
const MEMORY_MAX: u64 = 1 << 50;

/// Describes a board, except for id, endpoints and URL.
pub(super) fn describe(info: &BoardInfo, reconfiguration: ReconfigurationPolicy, sharing: Sharing) -> DeviceSpec {
    let number = |name| number(value(&info.device, name));
    let kind = number(CL_DEVICE_TYPE);
    let extensions = text(value(&info.device, CL_DEVICE_EXTENSIONS));
    let capabilities = [
        ("accelerator", kind & CL_DEVICE_TYPE_ACCELERATOR != 0),
        ("compiler", number(CL_DEVICE_COMPILER_AVAILABLE) != 0),
        ("cpu", kind & CL_DEVICE_TYPE_CPU != 0),
        ("fp16", extensions.split(' ').any(|extension| extension == "cl_khr_fp16")),
        ("fp64", number(CL_DEVICE_DOUBLE_FP_CONFIG) != 0),
        ("gpu", kind & CL_DEVICE_TYPE_GPU != 0),
    ];
    DeviceSpec {
        vendor: short(&text(value(&info.platform, CL_PLATFORM_VENDOR))),
        platform: short(&text(value(&info.platform, CL_PLATFORM_NAME))),
        reconfiguration: reconfiguration.into(),
        capabilities: capabilities.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).to_owned()).collect(),
        instances_max: if sharing == Sharing::Exclusive { 1 } else { 0 },
        memory_bytes: number(CL_DEVICE_GLOBAL_MEM_SIZE).min(MEMORY_MAX),
        metrics_board: short(&info.name),
        ..DeviceSpec::default()
    }
}

/// A board's name as a part of an id: `[a-z0-9._-]`, with a letter or digit at both ends. Equal
/// labels get a number.
pub(super) fn label(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    let mut plain = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        let c = if is_inner(c) { c } else { '-' };
        if c != '-' || !plain.ends_with('-') {
            plain.push(c);
        }
    }
    let ends = ['.', '_', '-'];
    let plain = if plain.trim_matches(ends).is_empty() { "board" } else { plain.trim_matches(ends) };
    let cut = |most: usize| plain[..plain.len().min(most)].trim_end_matches(ends).to_owned();
    let mut label = cut(LABEL_MAX);
    for number in 2.. {
        if !is_taken(&label) {
            break;
        }
        let suffix = format!("-{number}");
        label = cut(LABEL_MAX - suffix.len()) + &suffix;
    }
    label
}

fn value(values: &[(u32, Vec<u8>)], name: u32) -> &[u8] {
    values.iter().find(|(known, _)| *known == name).map_or(&[], |(_, value)| value)
}

/// A number of up to 8 bytes; 0 if it is longer.
fn number(value: &[u8]) -> u64 {
    let mut wide = [0; 8];
    if value.len() > wide.len() {
        return 0;
    }
    wide[..value.len()].copy_from_slice(value);
    u64::from_le_bytes(wide)
}

fn text(value: &[u8]) -> String {
    let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).trim().to_owned()
}

/// A text as the registry accepts it: printable and not too long.
fn short(text: &str) -> String {
    let mut bytes = 0;
    let fits = |c: &char| {
        bytes += c.len_utf8();
        bytes <= TEXT_MAX
    };
    text.chars().filter(|c| !c.is_control()).take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_well_formed_and_unique() {
        let none = |_: &str| false;
        for (name, right) in [
            ("Rackloom card 0", "rackloom-card-0"),
            ("Rackloom card 02:00:00:00:00:07", "rackloom-card-02-00-00-00-00-07"),
            ("NVIDIA H100 80GB HBM3 #2", "nvidia-h100-80gb-hbm3-2"),
            ("cpu--haswell-Intel(R) Xeon(R) @ 2.5GHz ", "cpu-haswell-intel-r-xeon-r-2.5ghz"),
            ("(...)", "board"),
            ("", "board"),
            ("\u{fc}ber", "ber"),
        ] {
            assert_eq!(label(name, none), right);
        }
        let long = "x".repeat(62) + "-yz";
        assert_eq!(label(&long, none), "x".repeat(62));
        assert_eq!(label(&long, |taken| taken == "x".repeat(62)), "x".repeat(61) + "-2");
        let taken = ["a", "a-2", "a-3"];
        assert_eq!(label("A", |label| taken.contains(&label)), "a-4");
    }

    #[test]
    fn a_board_is_described() {
        let device = vec![
            (CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU.to_ne_bytes().to_vec()),
            (CL_DEVICE_GLOBAL_MEM_SIZE, 4096u64.to_ne_bytes().to_vec()),
            (CL_DEVICE_DOUBLE_FP_CONFIG, 63u64.to_ne_bytes().to_vec()),
            (CL_DEVICE_EXTENSIONS, b"cl_khr_fp16_other cl_khr_icd\0".to_vec()),
            (CL_DEVICE_COMPILER_AVAILABLE, 1u32.to_ne_bytes().to_vec()),
        ];
        let platform = vec![(CL_PLATFORM_VENDOR, b"Acme\0".to_vec()), (CL_PLATFORM_NAME, b"Acme OpenCL\0".to_vec())];
        let info = BoardInfo { name: "Acme 7".into(), device, platform, shares_memory: false, registers: false };
        let spec = describe(&info, ReconfigurationPolicy::Fixed, Sharing::Shared);
        assert_eq!((&*spec.vendor, &*spec.platform, spec.memory_bytes), ("Acme", "Acme OpenCL", 4096));
        assert_eq!(spec.capabilities, ["compiler", "fp64", "gpu"]);
        assert_eq!(spec.metrics_board, "Acme 7");
        assert_eq!((spec.reconfiguration(), spec.instances_max), (ReconfigurationPolicy::Fixed, 0));
        let card = describe(&info, ReconfigurationPolicy::OnRequest, Sharing::Exclusive);
        assert_eq!((card.reconfiguration(), card.instances_max), (ReconfigurationPolicy::OnRequest, 1));
        assert_eq!(short(&("\u{7}".to_owned() + &"\u{e9}".repeat(200))).len(), 256);
    }
}
