//! The answers of `clGetDeviceInfo`: those of the board's own runtime, as far as they hold for this library.

use std::collections::HashMap;

use opencl_sys::*;
use rackloom_opencl_wire::{BoardInfo, Limits};

/// Extensions that concern only kernels and the board, so that this library passes them on.
const EXTENSIONS: [&str; 26] = [
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_3d_image_writes",
    "cl_khr_depth_images",
    "cl_khr_image2d_from_buffer",
    "cl_khr_srgb_image_writes",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_select_fprounding_mode",
    "cl_khr_expect_assume",
    "cl_khr_extended_bit_ops",
    "cl_khr_initialize_memory",
    "cl_khr_integer_dot_product",
    "cl_khr_work_group_uniform_arithmetic",
    "cl_ext_float_atomics",
    "cl_intel_required_subgroup_size",
    "cl_nv_compiler_options",
    "cl_nv_copy_opts",
    "cl_nv_device_attribute_query",
    "cl_nv_pragma_unroll",
    "cles_khr_int64",
];

/// The extension that is the library's own, on all devices, and the version of it that the library speaks.
pub const COMMAND_BUFFERS: (&str, cl_version) = ("cl_khr_command_buffer", make_version(0, 9, 8));

/// Optional features of OpenCL C that need no support of this library.
const FEATURES: [&str; 12] = [
    "__opencl_c_images",
    "__opencl_c_3d_image_writes",
    "__opencl_c_read_write_images",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_int64",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_work_group_collective_functions",
];

/// The version of OpenCL that the library speaks.
pub const VERSION: cl_version = make_version(3, 0, 0);

/// What the library supports of a board's capabilities. Where the board works in the program's own memory, that is all
/// but memory that nobody has allocated.
const fn svm_capabilities(shares_memory: bool) -> u64 {
    let fine = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
    CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | if shares_memory { fine } else { 0 }
}

/// A version as OpenCL packs it.
pub const fn make_version(major: u32, minor: u32, patch: u32) -> cl_version {
    major << 22 | minor << 12 | patch
}

/// An element of lists such as `CL_DEVICE_EXTENSIONS_WITH_VERSION`.
pub fn name_version(name: &str, version: cl_version) -> Vec<u8> {
    let mut bytes = version.to_ne_bytes().to_vec();
    bytes.extend_from_slice(&name.as_bytes()[..name.len().min(CL_NAME_VERSION_MAX_NAME_SIZE - 1)]);
    bytes.resize(size_of::<cl_version>() + CL_NAME_VERSION_MAX_NAME_SIZE, 0);
    bytes
}

/// All values of a board.
///
/// `shares_memory` if the board works in the program's own memory.
pub fn values(board: &BoardInfo, limits: &Limits, shares_memory: bool) -> HashMap<cl_device_info, Vec<u8>> {
    let mut values = Values(board.device.iter().cloned().collect());
    values.defaults();
    values.ours(limits);
    let svm = values.number(CL_DEVICE_SVM_CAPABILITIES) & svm_capabilities(shares_memory);
    values.ulong(CL_DEVICE_SVM_CAPABILITIES, svm);
    values.0
}

struct Values(HashMap<cl_device_info, Vec<u8>>);

impl Values {
    fn set(&mut self, name: cl_device_info, value: impl AsRef<[u8]>) {
        self.0.insert(name, value.as_ref().to_vec());
    }

    fn uint(&mut self, name: cl_device_info, value: u32) {
        self.set(name, value.to_ne_bytes());
    }

    fn ulong(&mut self, name: cl_device_info, value: u64) {
        self.set(name, value.to_ne_bytes());
    }

    fn size(&mut self, name: cl_device_info, value: usize) {
        self.set(name, value.to_ne_bytes());
    }

    fn text(&mut self, name: cl_device_info, value: &str) {
        self.set(name, [value.as_bytes(), b"\0"].concat());
    }

    fn number(&self, name: cl_device_info) -> u64 {
        let mut bytes = [0; 8];
        if let Some(value) = self.0.get(&name).filter(|v| v.len() <= 8) {
            bytes[..value.len()].copy_from_slice(value);
        }
        u64::from_le_bytes(bytes)
    }

    fn string(&self, name: cl_device_info) -> String {
        let bytes = self.0.get(&name).map_or(&[][..], Vec::as_slice);
        String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
    }

    /// Defaults for parameters that the board's runtime does not answer.
    fn defaults(&mut self) {
        let before = self.0.clone();
        for name in [CL_DEVICE_TYPE, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE] {
            self.ulong(name, 0);
        }
        self.ulong(CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR);
        self.ulong(CL_DEVICE_GLOBAL_MEM_SIZE, 0);
        self.ulong(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0);
        self.ulong(CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_ROUND_TO_NEAREST);
        self.ulong(CL_DEVICE_DOUBLE_FP_CONFIG, 0);
        self.ulong(CL_DEVICE_EXECUTION_CAPABILITIES, CL_EXEC_KERNEL);
        self.ulong(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 0);
        let atomics = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
        self.ulong(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, atomics);
        let fences = atomics | CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
        self.ulong(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, fences);
        for (name, value) in [
            (CL_DEVICE_VENDOR_ID, 0),
            (CL_DEVICE_MAX_COMPUTE_UNITS, 1),
            (CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3),
            (CL_DEVICE_MAX_CLOCK_FREQUENCY, 0),
            (CL_DEVICE_ADDRESS_BITS, 64),
            (CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024),
            (CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 128),
            (CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_NONE),
            (CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 0),
            (CL_DEVICE_MAX_CONSTANT_ARGS, 8),
            (CL_DEVICE_LOCAL_MEM_TYPE, CL_LOCAL),
            (CL_DEVICE_ERROR_CORRECTION_SUPPORT, 0),
            (CL_DEVICE_ENDIAN_LITTLE, 1),
            (CL_DEVICE_COMPILER_AVAILABLE, 0),
            (CL_DEVICE_LINKER_AVAILABLE, 0),
            (CL_DEVICE_HOST_UNIFIED_MEMORY, 0),
            (CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 1),
            (CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 0),
            (CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 0),
            (CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 0),
            (CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, 0),
            (CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, 0),
            (CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, 0),
        ] {
            self.uint(name, value);
        }
        let widths = [CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR];
        // Of char, short, int, long and float; double and half are optional.
        widths.iter().for_each(|first| (0..5).for_each(|i| self.uint(first + i, 1)));
        let rare = [
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
            CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE,
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF,
            CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
        ];
        rare.iter().for_each(|name| self.uint(*name, 0));
        self.set(CL_DEVICE_MAX_WORK_ITEM_SIZES, [1usize; 3].map(usize::to_ne_bytes).concat());
        for (name, value) in [
            (CL_DEVICE_MAX_WORK_GROUP_SIZE, 1),
            (CL_DEVICE_MAX_PARAMETER_SIZE, 1024),
            (CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1),
            (CL_DEVICE_PRINTF_BUFFER_SIZE, 1 << 20),
            (CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, 0),
            (CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, 0),
            (CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 1),
        ] {
            self.size(name, value);
        }
        for (name, value) in [
            (CL_DEVICE_NAME, "board"),
            (CL_DEVICE_VENDOR, "unknown"),
            (CL_DRIVER_VERSION, "0.0"),
            (CL_DEVICE_PROFILE, "EMBEDDED_PROFILE"),
            (CL_DEVICE_VERSION, "OpenCL 1.0"),
            (CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2"),
            (CL_DEVICE_EXTENSIONS, ""),
            (CL_DEVICE_BUILT_IN_KERNELS, ""),
            (CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, ""),
        ] {
            self.text(name, value);
        }
        self.0.extend(before);
    }

    /// Parameters that this library decides.
    fn ours(&mut self, limits: &Limits) {
        self.memory(limits);
        self.versions();
        self.images();
        self.absent();
        let mut types = self.number(CL_DEVICE_TYPE) & !CL_DEVICE_TYPE_DEFAULT;
        if types == 0 {
            types = CL_DEVICE_TYPE_ACCELERATOR;
        }
        self.ulong(CL_DEVICE_TYPE, types);
        self.ulong(CL_DEVICE_EXECUTION_CAPABILITIES, CL_EXEC_KERNEL);
        // The library orders commands, whatever the board can do.
        let queues = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
        self.ulong(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, queues);
        self.ulong(CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR, queues);
        self.ulong(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, 0);
        let recorded = CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR;
        let recorded = recorded | CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR;
        self.ulong(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, recorded);
        // In the library's clock.
        self.size(CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1);
        self.text(CL_DEVICE_BUILT_IN_KERNELS, "");
        self.set(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, []);
        self.uint(CL_DEVICE_HOST_UNIFIED_MEMORY, 0);
    }

    fn memory(&mut self, limits: &Limits) {
        let board = self.number(CL_DEVICE_GLOBAL_MEM_SIZE);
        let all = if board == 0 { limits.memory } else { board.min(limits.memory) };
        self.ulong(CL_DEVICE_GLOBAL_MEM_SIZE, all);
        // Programs that take a buffer of the largest size tend to take another.
        let half = all / 2;
        let one = self.number(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
        self.ulong(CL_DEVICE_MAX_MEM_ALLOC_SIZE, if one == 0 { half } else { one.min(half) });
    }

    fn versions(&mut self) {
        let embedded =
            self.string(CL_DEVICE_PROFILE) != "FULL_PROFILE" || self.number(CL_DEVICE_COMPILER_AVAILABLE) == 0;
        let (text, number) = if embedded { ("1.2", make_version(1, 2, 0)) } else { ("3.0", VERSION) };
        let theirs = self.string(CL_DEVICE_VERSION);
        self.text(CL_DEVICE_PROFILE, if embedded { "EMBEDDED_PROFILE" } else { "FULL_PROFILE" });
        self.text(CL_DEVICE_VERSION, &format!("OpenCL {text} Rackloom ({})", theirs.trim()));
        self.uint(CL_DEVICE_NUMERIC_VERSION, number);

        let language = self.string(CL_DEVICE_OPENCL_C_VERSION);
        let (major, minor) = language_version(&language).unwrap_or((1, 2));
        self.text(CL_DEVICE_OPENCL_C_VERSION, &format!("OpenCL C {major}.{minor} "));
        if !self.0.contains_key(&CL_DEVICE_OPENCL_C_ALL_VERSIONS) {
            let known = [(1, 0), (1, 1), (1, 2), (2, 0), (3, 0)];
            // A compiler of 3.0 need not know 2.0.
            let spoken =
                known.into_iter().filter(|v| *v <= (major, minor) && (*v != (2, 0) || (major, minor) == (2, 0)));
            let list: Vec<u8> =
                spoken.flat_map(|(major, minor)| name_version("OpenCL C", make_version(major, minor, 0))).collect();
            self.set(CL_DEVICE_OPENCL_C_ALL_VERSIONS, list);
        }
        let features = self.0.get(&CL_DEVICE_OPENCL_C_FEATURES).cloned().unwrap_or_default();
        self.set(CL_DEVICE_OPENCL_C_FEATURES, keep_named(&features, &FEATURES));

        let theirs = self.string(CL_DEVICE_EXTENSIONS);
        let mut names: Vec<&str> = theirs.split_whitespace().filter(|e| EXTENSIONS.contains(e)).collect();
        let listed = self.0.get(&CL_DEVICE_EXTENSIONS_WITH_VERSION).cloned().unwrap_or_default();
        let mut with_version = keep_named(&listed, &names);
        if with_version.is_empty() {
            with_version = names.iter().flat_map(|name| name_version(name, make_version(1, 0, 0))).collect();
        }
        let (name, version) = COMMAND_BUFFERS;
        names.push(name);
        with_version.extend(name_version(name, version));
        self.text(CL_DEVICE_EXTENSIONS, &names.join(" "));
        self.set(CL_DEVICE_EXTENSIONS_WITH_VERSION, with_version);
    }

    /// Images are the board's, if it has any.
    fn images(&mut self) {
        let numbers = [
            CL_DEVICE_IMAGE_SUPPORT,
            CL_DEVICE_MAX_READ_IMAGE_ARGS,
            CL_DEVICE_MAX_WRITE_IMAGE_ARGS,
            CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS,
            CL_DEVICE_MAX_SAMPLERS,
            CL_DEVICE_IMAGE_PITCH_ALIGNMENT,
            CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT,
        ];
        let sizes = [
            CL_DEVICE_IMAGE2D_MAX_WIDTH,
            CL_DEVICE_IMAGE2D_MAX_HEIGHT,
            CL_DEVICE_IMAGE3D_MAX_WIDTH,
            CL_DEVICE_IMAGE3D_MAX_HEIGHT,
            CL_DEVICE_IMAGE3D_MAX_DEPTH,
            CL_DEVICE_IMAGE_MAX_BUFFER_SIZE,
            CL_DEVICE_IMAGE_MAX_ARRAY_SIZE,
        ];
        let has_none = self.number(CL_DEVICE_IMAGE_SUPPORT) == 0;
        for name in numbers {
            if has_none || !self.0.contains_key(&name) {
                self.uint(name, 0);
            }
        }
        for name in sizes {
            if has_none || !self.0.contains_key(&name) {
                self.size(name, 0);
            }
        }
    }

    /// Features that this library does not support, whatever the board can do.
    fn absent(&mut self) {
        for name in [
            CL_DEVICE_PARTITION_MAX_SUB_DEVICES,
            CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE,
            CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
            CL_DEVICE_MAX_ON_DEVICE_QUEUES,
            CL_DEVICE_MAX_ON_DEVICE_EVENTS,
            CL_DEVICE_MAX_PIPE_ARGS,
            CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS,
            CL_DEVICE_PIPE_MAX_PACKET_SIZE,
            CL_DEVICE_PIPE_SUPPORT,
            CL_DEVICE_MAX_NUM_SUB_GROUPS,
            CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS,
        ] {
            self.uint(name, 0);
        }
        for name in [
            CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES,
            CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES,
            CL_DEVICE_PARTITION_AFFINITY_DOMAIN,
        ] {
            self.ulong(name, 0);
        }
        // An empty list of properties is a single zero. A device that is not a partition has an empty type.
        self.size(CL_DEVICE_PARTITION_PROPERTIES, 0);
        self.set(CL_DEVICE_PARTITION_TYPE, []);
        self.size(CL_DEVICE_PARENT_DEVICE, 0);
        self.uint(CL_DEVICE_REFERENCE_COUNT, 1);
        self.text(CL_DEVICE_IL_VERSION, "");
        self.set(CL_DEVICE_ILS_WITH_VERSION, []);
    }
}

/// Elements of a list of names with versions whose name is among these.
fn keep_named(list: &[u8], names: &[&str]) -> Vec<u8> {
    let element = size_of::<cl_version>() + CL_NAME_VERSION_MAX_NAME_SIZE;
    let is_kept = |bytes: &&[u8]| {
        let name = bytes[size_of::<cl_version>()..].split(|b| *b == 0).next().unwrap_or_default();
        names.iter().any(|n| n.as_bytes() == name)
    };
    list.chunks_exact(element).filter(is_kept).collect::<Vec<_>>().concat()
}

/// `OpenCL C <major>.<minor> ...`
fn language_version(text: &str) -> Option<(u32, u32)> {
    let number = text.strip_prefix("OpenCL C ")?.split_whitespace().next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(device: Vec<(u32, Vec<u8>)>) -> BoardInfo {
        BoardInfo { name: "b".into(), device, platform: Vec::new(), shares_memory: false, registers: false }
    }

    const LIMITS: Limits = Limits { memory: 1000, objects: 10, operations: 10, program: 100 };

    #[test]
    fn every_parameter_of_the_version_has_a_value_even_if_the_board_says_nothing() {
        let values = values(&board(Vec::new()), &LIMITS, false);
        // The connection answers 0x1027 and the platform 0x1031; 0x1033 and 0x105F are not assigned.
        let own = [0x1027, 0x1031, 0x1033, 0x105f];
        // From 0x106A on they belong to extensions and later versions.
        let missing: Vec<u32> =
            (0x1000..0x106a).filter(|name| !own.contains(name) && !values.contains_key(name)).collect();
        assert!(missing.is_empty(), "{missing:x?}");
        assert!([0x106f, 0x1070, 0x1071, 0x1072].iter().all(|name| values.contains_key(name)));
    }

    #[test]
    fn what_a_board_can_and_this_library_cannot_is_not_told() {
        let feature = name_version("__opencl_c_pipes", VERSION);
        let other = name_version("__opencl_c_fp64", VERSION);
        let values = Values(values(
            &board(vec![
                (CL_DEVICE_PIPE_SUPPORT, 1u32.to_ne_bytes().into()),
                (CL_DEVICE_EXTENSIONS, b"cl_khr_fp64 cl_khr_gl_sharing cl_khr_spir\0".into()),
                (CL_DEVICE_OPENCL_C_FEATURES, [feature, other.clone()].concat()),
                (CL_DEVICE_GLOBAL_MEM_SIZE, 5000u64.to_ne_bytes().into()),
                (CL_DEVICE_MAX_MEM_ALLOC_SIZE, 600u64.to_ne_bytes().into()),
                (CL_DEVICE_PROFILE, b"FULL_PROFILE\0".into()),
                (CL_DEVICE_COMPILER_AVAILABLE, 1u32.to_ne_bytes().into()),
                (CL_DEVICE_VERSION, b"OpenCL 1.2 maker\0".into()),
            ]),
            &LIMITS,
            false,
        ));
        assert_eq!(values.number(CL_DEVICE_PIPE_SUPPORT), 0);
        assert_eq!(values.string(CL_DEVICE_EXTENSIONS), "cl_khr_fp64 cl_khr_command_buffer");
        assert_eq!(values.0[&CL_DEVICE_OPENCL_C_FEATURES], other);
        assert_eq!(
            (values.number(CL_DEVICE_GLOBAL_MEM_SIZE), values.number(CL_DEVICE_MAX_MEM_ALLOC_SIZE)),
            (1000, 500)
        );
        assert_eq!(values.string(CL_DEVICE_VERSION), "OpenCL 3.0 Rackloom (OpenCL 1.2 maker)");
    }
}
