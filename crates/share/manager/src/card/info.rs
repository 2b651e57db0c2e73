//! The OpenCL device information of a card.

use opencl_sys::*;
use rackloom::CardInfo;
use rackloom_opencl_wire::BoardInfo;
use rackloom_wire::{LAUNCH_ARGS, ROLE_PRIVATE};

use super::memory::ALIGN;

/// Describes a card of this name as an accelerator of the embedded profile, without a compiler.
pub(super) fn board(card: &CardInfo, name: &str) -> BoardInfo {
    let text = |text: &str| [text.as_bytes(), b"\0"].concat();
    let version = format!("OpenCL 1.2 card {}", card.kind.name());
    let software = env!("CARGO_PKG_VERSION");
    let memory = card.memory.saturating_sub(ROLE_PRIVATE);
    let uint = |value: u32| value.to_ne_bytes().to_vec();
    let ulong = |value: u64| value.to_ne_bytes().to_vec();
    let device = vec![
        (CL_DEVICE_TYPE, ulong(CL_DEVICE_TYPE_ACCELERATOR)),
        (CL_DEVICE_NAME, text(name)),
        (CL_DEVICE_VENDOR, text("Rackloom")),
        (CL_DEVICE_VENDOR_ID, uint(card.vendor.into())),
        (CL_DRIVER_VERSION, text(software)),
        (CL_DEVICE_PROFILE, text("EMBEDDED_PROFILE")),
        (CL_DEVICE_VERSION, text(&version)),
        (CL_DEVICE_MAX_COMPUTE_UNITS, uint(1)),
        (CL_DEVICE_MAX_CLOCK_FREQUENCY, uint(card.clock_khz / 1000)),
        (CL_DEVICE_ADDRESS_BITS, uint(64)),
        (CL_DEVICE_GLOBAL_MEM_SIZE, ulong(memory)),
        (CL_DEVICE_MAX_MEM_ALLOC_SIZE, ulong(memory)),
        (CL_DEVICE_MEM_BASE_ADDR_ALIGN, uint(ALIGN as u32 * 8)),
        (CL_DEVICE_MAX_PARAMETER_SIZE, (LAUNCH_ARGS as usize * 8).to_ne_bytes().to_vec()),
        (CL_DEVICE_MAX_WORK_GROUP_SIZE, 1usize.to_ne_bytes().to_vec()),
        (CL_DEVICE_LOCAL_MEM_TYPE, uint(CL_GLOBAL)),
        (CL_DEVICE_ENDIAN_LITTLE, uint(1)),
        (CL_DEVICE_AVAILABLE, uint(1)),
        (CL_DEVICE_COMPILER_AVAILABLE, uint(0)),
        (CL_DEVICE_LINKER_AVAILABLE, uint(0)),
        (CL_DEVICE_HOST_UNIFIED_MEMORY, uint(0)),
    ];
    let platform = vec![
        (CL_PLATFORM_PROFILE, text("EMBEDDED_PROFILE")),
        (CL_PLATFORM_VERSION, text("OpenCL 1.2 Rackloom")),
        (CL_PLATFORM_NAME, text("Rackloom cards")),
        (CL_PLATFORM_VENDOR, text("Rackloom")),
    ];
    BoardInfo { name: name.to_owned(), device, platform, shares_memory: false, registers: false }
}
