//! A device of an OpenCL runtime as a board.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use anyhow::Context as _;
use opencl_sys::{
    CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_NAME, CL_DEVICE_PARENT_DEVICE, CL_DEVICE_PLATFORM, CL_DEVICE_TYPE,
    CL_DEVICE_TYPE_CPU, cl_device_id, cl_int, cl_uint,
};
use rackloom_opencl_wire::BoardInfo;

use super::coherence::is_coherent;
use super::contexts::Contexts;
use super::objects::NativeSpace;
use super::query;
use super::registration::{LEN as TRIED, Trial, try_out};
use super::runtime::{Device, Runtime, Table};
use crate::board::{Board, Owner};
use crate::code::Code;

/// A device of a runtime.
#[derive(Debug)]
pub struct NativeBoard {
    runtime: Runtime,
    device: Device,
    info: BoardInfo,
    is_processor: bool,
    /// If arenas are registered: bytes that it moves in a second from and to them.
    registers: Option<u64>,
    /// Those of clients that are served in this process.
    contexts: Arc<Contexts>,
}

/// Whether clients' arenas are registered with a board's runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Register {
    /// Where it pays, which is tried at the manager's start.
    #[default]
    Auto,
    /// On all boards, those included that work in clients' memory as it is: for tests.
    Always,
    /// On none.
    Never,
}

/// The parameters of `clGetDeviceInfo` up to OpenCL 3.1. A runtime refuses those that it does not know.
const DEVICE_PARAMETERS: std::ops::RangeInclusive<u32> = 0x1000..=0x1074;

/// The parameters of `clGetPlatformInfo`.
const PLATFORM_PARAMETERS: std::ops::RangeInclusive<u32> = 0x0900..=0x0908;

impl NativeBoard {
    /// All devices of a runtime.
    ///
    /// # Errors
    /// The runtime cannot list them.
    pub fn all(runtime: Runtime) -> anyhow::Result<Vec<Self>> {
        let devices = runtime.devices().context("the runtime cannot list its devices")?;
        devices.into_iter().map(|device| Self::new(runtime, device)).collect()
    }

    fn new(runtime: Runtime, device: cl_device_id) -> anyhow::Result<Self> {
        let table = runtime.table();
        let ask = |parameter, size, value, size_ret| ask_device(table, device, parameter, size, value, size_ret);
        let handles = [CL_DEVICE_PLATFORM, CL_DEVICE_PARENT_DEVICE];
        let parameters = DEVICE_PARAMETERS.filter(|parameter| !handles.contains(parameter));
        let platform = |parameter: cl_uint, size, value, size_ret| match table.clGetPlatformInfo {
            // SAFETY: the platform lives, and the query passes room for `size` bytes.
            Some(get) => unsafe { get(runtime.platform(), parameter, size, value, size_ret) },
            None => opencl_sys::CL_INVALID_OPERATION,
        };
        let is_processor = query::number(&ask, CL_DEVICE_TYPE).is_ok_and(|kind| kind & CL_DEVICE_TYPE_CPU != 0);
        let info = BoardInfo {
            name: query::text(&ask, CL_DEVICE_NAME).context("the runtime does not report a device's name")?,
            device: query::all(&ask, parameters),
            platform: query::all(&platform, PLATFORM_PARAMETERS),
            shares_memory: query::number(&ask, CL_DEVICE_HOST_UNIFIED_MEMORY) == Ok(1)
                && is_processor
                && NativeSpace::new(runtime, Device(device)).is_ok_and(|space| is_coherent(&space)),
            registers: false,
        };
        Ok(Self { runtime, device: Device(device), info, is_processor, registers: None, contexts: Arc::default() })
    }

    /// Whether it is a CPU.
    #[must_use]
    pub const fn is_processor(&self) -> bool {
        self.is_processor
    }

    /// Decides whether clients' arenas are registered; says why, for a person.
    pub fn decide(&mut self, how: Register) -> String {
        if how == Register::Never {
            return "arenas are not registered (--register never)".into();
        }
        if self.info.shares_memory && how == Register::Auto {
            return "it works in clients' memory as it is: nothing is moved".into();
        }
        let trial = NativeSpace::new(self.runtime, self.device).and_then(|space| try_out(&space));
        let trial = match trial {
            Ok(trial) => trial,
            Err(Code(code)) => return format!("arenas are not registered: its runtime cannot (code {code})"),
        };
        let is_used = how == Register::Always || trial.pays();
        if is_used {
            self.registers = Some(trial.rate());
            self.info.registers = true;
            self.info.shares_memory = false;
        }
        let verdict = if is_used { "are registered" } else { "are not registered: it does not pay" };
        let Trial { plain, registered } = trial;
        let (mib, plain, registered) = (TRIED >> 20, plain.as_micros(), registered.as_micros());
        format!(
            "arenas {verdict}; {mib} MiB there and back take {registered} us from registered memory, {plain} us from other"
        )
    }

    fn prepared(&self, space: NativeSpace) -> NativeSpace {
        let shares_memory = self.info.shares_memory && self.registers.is_none();
        space.sharing(shares_memory).registering(self.registers)
    }

    /// If arenas are registered: bytes that it moves in a second from and to them.
    #[must_use]
    pub const fn registers(&self) -> Option<u64> {
        self.registers
    }

    /// The same as was decided in another process.
    pub(crate) fn registering(self, registers: Option<u64>) -> Self {
        Self { registers, ..self }
    }

    /// Gives it a name that is unique among the manager's boards.
    pub fn rename(&mut self, name: String) {
        self.info.name = name;
    }
}

fn ask_device(
    table: Table,
    device: cl_device_id,
    parameter: cl_uint,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    match table.clGetDeviceInfo {
        // SAFETY: the device lives, and the query passes room for `size` bytes.
        Some(get) => unsafe { get(device, parameter, size, value, size_ret) },
        None => opencl_sys::CL_INVALID_OPERATION,
    }
}

impl Board for NativeBoard {
    type Space = NativeSpace;

    fn info(&self) -> &BoardInfo {
        &self.info
    }

    fn open(&self, _: &str) -> Result<NativeSpace, Code> {
        Ok(self.prepared(NativeSpace::new(self.runtime, self.device)?))
    }

    fn open_of(&self, _: &str, owner: &Owner) -> Result<NativeSpace, Code> {
        let lent = self.contexts.take(owner, || NativeSpace::lent(self.runtime, self.device))?;
        let space = NativeSpace::over(self.runtime, self.device, lent);
        Ok(self.prepared(space.returning(Arc::clone(&self.contexts), Arc::clone(owner))))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::board::{Operation, Space};
    use crate::native::runtime::installed;

    #[test]
    fn a_client_works_in_the_context_that_another_one_of_its_tenant_leaves() {
        let library = installed().into_iter().find(|l| l.to_string_lossy().contains("pocl"));
        let library = library.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
        let runtime = Runtime::open(&library).unwrap().remove(0);
        let board = NativeBoard::all(runtime).unwrap().remove(0);
        let (mine, other): (Owner, Owner) = (Arc::new(1), Arc::new(2));
        let first = board.open_of("", &mine).unwrap();
        let had = first.context.raw() as usize;
        let (makes, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
        // Nobody else makes one meanwhile.
        let slow = || {
            makes.store(true, Ordering::Release);
            while !is_done.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            Err(Code(opencl_sys::CL_OUT_OF_RESOURCES))
        };
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| board.contexts.take(&other, slow).is_err());
            while !makes.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let next = scope.spawn(|| {
                let space = board.open_of("", &mine).unwrap();
                let mut marker = Operation::Marker;
                let ticket = space.start(&mut marker, false).unwrap();
                space.finish(ticket, &mut marker).unwrap();
                space.context.raw() as usize
            });
            while board.contexts.waiting() < 2 {
                std::thread::yield_now();
            }
            drop(first);
            assert_eq!(next.join().unwrap(), had);
            is_done.store(true, Ordering::Release);
            assert!(slow.join().unwrap());
        });
    }
}
