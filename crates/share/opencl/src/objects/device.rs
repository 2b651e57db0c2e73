//! Devices: boards as a program sees them.

use std::collections::HashMap;
use std::sync::Arc;

use opencl_sys::*;

use crate::error::Result;
use crate::handle::{Live, ObjectKind};
use crate::info::Out;
use crate::objects::device_info;
use crate::process::PerProcess;
use crate::session::board::Board;

/// A device. It is never released: it lives as long as the process.
pub struct Device {
    board: Arc<Board>,
    values: HashMap<cl_device_info, Vec<u8>>,
    /// Limits that calls are checked against.
    pub bounds: Bounds,
}

/// Bounds of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// `CL_DEVICE_MAX_MEM_ALLOC_SIZE`.
    pub allocation: u64,
    /// `CL_DEVICE_MEM_BASE_ADDR_ALIGN`, in bytes.
    pub align: u64,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES`.
    pub items: Vec<usize>,
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`.
    pub group: usize,
    /// `CL_DEVICE_LOCAL_MEM_SIZE`.
    pub local_memory: u64,
    /// `CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT`.
    pub uneven_groups: bool,
    /// `CL_DEVICE_ADDRESS_BITS`.
    pub address_bits: u32,
}

impl ObjectKind for Device {
    const INVALID: cl_int = CL_INVALID_DEVICE;

    fn live() -> &'static Live<Self> {
        static LIVE: PerProcess<Live<Device>> = PerProcess::new();
        LIVE.get()
    }
}

impl Device {
    /// A board as a device.
    pub fn new(board: Arc<Board>) -> Self {
        let values = device_info::values(&board.info, &board.session.limits(), board.shares_memory());
        let number = |name| number(&values, name);
        let sizes = values.get(&CL_DEVICE_MAX_WORK_ITEM_SIZES).map_or(&[][..], Vec::as_slice);
        let bounds = Bounds {
            allocation: number(CL_DEVICE_MAX_MEM_ALLOC_SIZE),
            align: (number(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8).max(1),
            items: sizes.as_chunks().0.iter().map(|b| usize::from_ne_bytes(*b)).collect(),
            group: number(CL_DEVICE_MAX_WORK_GROUP_SIZE) as usize,
            local_memory: number(CL_DEVICE_LOCAL_MEM_SIZE),
            uneven_groups: number(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) != 0,
            address_bits: number(CL_DEVICE_ADDRESS_BITS) as u32,
        };
        Self { board, values, bounds }
    }

    /// Its board.
    pub const fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// A value of up to 8 bytes; 0 if the parameter is unknown or longer.
    pub fn number(&self, name: cl_device_info) -> u64 {
        number(&self.values, name)
    }

    /// Whether it has images and samplers.
    pub fn has_images(&self) -> bool {
        self.number(CL_DEVICE_IMAGE_SUPPORT) != 0
    }

    /// `CL_DEVICE_SVM_CAPABILITIES`.
    pub fn svm(&self) -> u64 {
        self.number(CL_DEVICE_SVM_CAPABILITIES)
    }

    /// Whether it compiles OpenCL C.
    pub fn compiles(&self) -> bool {
        self.number(CL_DEVICE_COMPILER_AVAILABLE) != 0
    }

    /// Whether it links compiled programs.
    pub fn links(&self) -> bool {
        self.number(CL_DEVICE_LINKER_AVAILABLE) != 0
    }

    /// Whether it is of one of these types.
    pub fn is_of(&self, types: cl_device_type) -> bool {
        types == CL_DEVICE_TYPE_ALL && self.number(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CUSTOM == 0
            || types != CL_DEVICE_TYPE_ALL && self.number(CL_DEVICE_TYPE) & types != 0
    }

    /// `clGetDeviceInfo`, for what does not depend on other objects.
    pub fn info(&self, name: cl_device_info, out: Out) -> Result<()> {
        match name {
            CL_DEVICE_AVAILABLE => out.uint((!self.board.session.is_lost()).into()),
            _ => out.bytes(self.values.get(&name).ok_or(crate::error::Error(CL_INVALID_VALUE))?),
        }
    }
}

fn number(values: &HashMap<cl_device_info, Vec<u8>>, name: cl_device_info) -> u64 {
    let mut bytes = [0; 8];
    if let Some(value) = values.get(&name).filter(|v| v.len() <= 8) {
        bytes[..value.len()].copy_from_slice(value);
    }
    u64::from_le_bytes(bytes)
}
