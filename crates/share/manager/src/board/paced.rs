//! A board whose operations take a fixed time on any machine, for measurements of sharing.
//!
//! Memory is real; kernels compute nothing. A launch takes the time configured for a kernel of that name, a transfer
//! its bytes at the board's rate. Operations follow one another on a clock of the board's own, so that a
//! late wake-up of this process delays an answer and not the next operation.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opencl_sys::{
    CL_BUILD_PROGRAM_FAILURE, CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_NAME, CL_INVALID_KERNEL_NAME, CL_INVALID_OPERATION, CL_INVALID_VALUE,
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_NONE, CL_SUCCESS,
};
use rackloom_ipc::Given;
use rackloom_opencl_wire::{BoardInfo, Build, Form, KernelInfo, Times, WorkGroup, now_ns};
use rackloom_sync::lock;

use crate::board::{Board, Headers, Operation, Sink, Source, Space};
use crate::code::Code;
use crate::quota::Charge;

/// Durations of operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    /// Duration of each launch, by the kernel's name.
    pub kernels: BTreeMap<String, Duration>,
    /// Rate of transfers and copies in bytes per second.
    pub rate: f64,
}

/// A paced board.
#[derive(Debug)]
pub struct PacedBoard {
    info: BoardInfo,
    pace: Arc<Pace>,
    /// When the last operation ends, in nanoseconds of our clock.
    free_at: Arc<Mutex<u64>>,
    is_behind_bus: bool,
}

impl PacedBoard {
    /// A board of this name that otherwise describes itself as `like` does.
    #[must_use]
    pub fn new(name: &str, pace: Pace, like: &BoardInfo) -> Self {
        let info = BoardInfo { name: name.to_owned(), shares_memory: false, registers: false, ..like.clone() };
        Self { info, pace: Arc::new(pace), free_at: Arc::default(), is_behind_bus: false }
    }

    /// The same behind a bus: it can be told of operations before those before them have ended.
    #[must_use]
    pub fn behind_bus(self) -> Self {
        Self { is_behind_bus: true, ..self }
    }

    /// An accelerator of this name, described as far as programs need.
    #[must_use]
    pub fn accelerator(name: &str, pace: Pace) -> Self {
        let device = vec![
            (CL_DEVICE_NAME, [name.as_bytes(), b"\0"].concat()),
            (CL_DEVICE_COMPILER_AVAILABLE, 1u32.to_ne_bytes().to_vec()),
            (CL_DEVICE_MAX_WORK_GROUP_SIZE, GROUP_MAX.to_ne_bytes().to_vec()),
            (CL_DEVICE_MAX_WORK_ITEM_SIZES, [GROUP_MAX; 3].map(usize::to_ne_bytes).concat()),
        ];
        let like =
            BoardInfo { name: String::new(), device, platform: Vec::new(), shares_memory: false, registers: false };
        Self::new(name, pace, &like)
    }
}

/// Most work-items of a group.
const GROUP_MAX: usize = 4096;

impl Board for PacedBoard {
    type Space = PacedSpace;

    fn info(&self) -> &BoardInfo {
        &self.info
    }

    fn open(&self, _: &str) -> Result<PacedSpace, Code> {
        let Self { pace, free_at, is_behind_bus, .. } = self;
        Ok(PacedSpace { pace: Arc::clone(pace), free_at: Arc::clone(free_at), is_behind_bus: *is_behind_bus })
    }
}

/// A tenant's space.
#[derive(Debug)]
pub struct PacedSpace {
    pace: Arc<Pace>,
    free_at: Arc<Mutex<u64>>,
    is_behind_bus: bool,
}

/// A buffer in the host's memory.
#[derive(Debug)]
pub struct PacedBuffer {
    bytes: Mutex<Vec<u8>>,
    _charge: Charge,
}

/// A program.
#[derive(Debug)]
pub struct PacedProgram {
    kernels: Kernels,
    charge: Arc<Charge>,
}

/// The names of the kernels in a source, and how many arguments they have.
type Kernels = BTreeMap<String, u32>;

/// A kernel, with the duration of its launches.
#[derive(Debug)]
pub struct PacedKernel {
    time: Duration,
    _charges: (Charge, Arc<Charge>),
}

impl Space for PacedSpace {
    type Buffer = PacedBuffer;
    type Program = PacedProgram;
    type Kernel = PacedKernel;
    type Sampler = Infallible;
    type Ticket = Times;

    fn buffer(&self, _: u64, size: u64, backing: Option<Given>, charge: Charge) -> Result<PacedBuffer, Code> {
        if backing.is_some() {
            return Err(Code(CL_INVALID_OPERATION));
        }
        Ok(PacedBuffer { bytes: Mutex::new(vec![0; size as usize]), _charge: charge })
    }

    fn size(buffer: &PacedBuffer) -> u64 {
        lock(&buffer.bytes).len() as u64
    }

    fn registers(&self) -> Option<u64> {
        self.is_behind_bus.then_some(self.pace.rate as u64)
    }

    fn sub_buffer(&self, _: &Arc<PacedBuffer>, _: u64, _: u64, _: u64, _: Charge) -> Result<PacedBuffer, Code> {
        Err(Code(CL_INVALID_OPERATION))
    }

    fn program(&self, form: Form, bytes: Vec<u8>, charge: Charge) -> Result<PacedProgram, Code> {
        match (form, String::from_utf8(bytes)) {
            (Form::Source, Ok(text)) => Ok(PacedProgram { kernels: kernels(&text), charge: Arc::new(charge) }),
            _ => Err(Code(CL_INVALID_VALUE)),
        }
    }

    fn binary_type(&self, _: &PacedProgram) -> u32 {
        CL_PROGRAM_BINARY_TYPE_NONE
    }

    fn build(&self, program: &PacedProgram, _: &str) -> Result<Build, Code> {
        let unknown: Vec<_> = program.kernels.keys().filter(|name| !self.pace.kernels.contains_key(*name)).collect();
        let log = unknown
            .iter()
            .map(|name| format!("this board has no duration configured for the kernel {name}\n"))
            .collect();
        Ok(Build {
            status: if unknown.is_empty() { CL_SUCCESS } else { CL_BUILD_PROGRAM_FAILURE },
            binary_type: CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            log,
            kernels: program.kernels.keys().cloned().collect(),
            global_variables: 0,
        })
    }

    fn compile(&self, _: &PacedProgram, _: &str, _: &Headers<Self>) -> Result<Build, Code> {
        Err(Code(CL_INVALID_OPERATION))
    }

    fn link(&self, _: &[Arc<PacedProgram>], _: &str, _: Charge) -> Result<(PacedProgram, Build), Code> {
        Err(Code(CL_INVALID_OPERATION))
    }

    fn binary_size(&self, _: &PacedProgram) -> Result<u64, Code> {
        Err(Code(CL_INVALID_OPERATION))
    }

    fn binary(&self, _: &PacedProgram, _: &Given) -> Result<(), Code> {
        Err(Code(CL_INVALID_OPERATION))
    }

    fn kernel_info(&self, program: &PacedProgram, name: &str) -> Result<KernelInfo, Code> {
        let argument_count = *program.kernels.get(name).ok_or(Code(CL_INVALID_KERNEL_NAME))?;
        let work_group = WorkGroup {
            size: GROUP_MAX as u64,
            compiled: [0; 3],
            local_memory: 0,
            preferred_multiple: 1,
            private_memory: 0,
        };
        Ok(KernelInfo { attributes: String::new(), argument_count, arguments: None, work_group })
    }

    fn kernel(&self, program: &PacedProgram, name: &str, charge: Charge) -> Result<PacedKernel, Code> {
        let time =
            program.kernels.get(name).and_then(|_| self.pace.kernels.get(name)).ok_or(Code(CL_INVALID_KERNEL_NAME))?;
        Ok(PacedKernel { time: *time, _charges: (charge, Arc::clone(&program.charge)) })
    }

    fn last_launch_ns(kernel: &PacedKernel) -> Option<u64> {
        Some(kernel.time.as_nanos() as u64)
    }

    fn start(&self, operation: &mut Operation<Self>, _: bool) -> Result<Times, Code> {
        let time = match operation {
            Operation::Launch { kernel, .. } => kernel.time,
            _ => Duration::from_secs_f64(operation.bytes() as f64 / self.pace.rate),
        };
        perform(operation)?;
        let submitted = now_ns();
        let mut free_at = lock(&self.free_at);
        let started = submitted.max(*free_at);
        let ended = started + time.as_nanos() as u64;
        *free_at = ended;
        Ok(Times { submitted, started, ended })
    }

    fn flush(&self) {}

    fn finish(&self, times: Times, _: &mut Operation<Self>) -> Result<Times, Code> {
        std::thread::sleep(Duration::from_nanos(times.ended.saturating_sub(now_ns())));
        Ok(times)
    }
}

/// Moves the bytes. Another tenant's cannot be reached: the objects were looked up in this session.
fn perform(operation: &mut Operation<PacedSpace>) -> Result<(), Code> {
    match operation {
        Operation::Write { buffer, offset, from } => {
            let mut bytes = lock(&buffer.bytes);
            let to = &mut bytes[*offset as usize..][..from.len()];
            match from {
                Source::Inline(from) => to.copy_from_slice(from),
                Source::Bulk(from) => from.read(0, to),
            }
        }
        Operation::Read { buffer, offset, into } => {
            let bytes = lock(&buffer.bytes);
            let from = &bytes[*offset as usize..][..into.len()];
            match into {
                Sink::Inline(to) => to.copy_from_slice(from),
                Sink::Bulk(to) => to.write(0, from),
            }
        }
        Operation::Copy { from, from_offset, to, to_offset, len } => {
            let bytes = lock(&from.bytes)[*from_offset as usize..][..*len as usize].to_vec();
            lock(&to.bytes)[*to_offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        Operation::Fill { buffer, offset, len, pattern } => {
            let mut bytes = lock(&buffer.bytes);
            bytes[*offset as usize..][..*len as usize]
                .chunks_exact_mut(pattern.len())
                .for_each(|to| to.copy_from_slice(pattern));
        }
        Operation::Launch { .. } | Operation::Marker => {}
        Operation::WriteRect { .. }
        | Operation::ReadRect { .. }
        | Operation::CopyRect { .. }
        | Operation::WriteImage { .. }
        | Operation::ReadImage { .. }
        | Operation::CopyImage { .. }
        | Operation::CopyImageToBuffer { .. }
        | Operation::CopyBufferToImage { .. }
        | Operation::FillImage { .. }
        | Operation::Map { .. }
        | Operation::Unmap { .. } => return Err(Code(CL_INVALID_OPERATION)),
    }
    Ok(())
}

/// The kernels of a source, if written as `kernel [__attribute__((...))] void NAME(ARGUMENTS)`.
fn kernels(text: &str) -> Kernels {
    let parse = |head: &str| {
        let head = without_attribute(head).strip_prefix("void")?;
        let (name, rest) = head.split_once('(')?;
        let arguments = rest.split_once(')')?.0;
        let count = if arguments.trim().is_empty() { 0 } else { arguments.split(',').count() as u32 };
        Some((name.trim().to_owned(), count))
    };
    text.split("kernel").skip(1).filter_map(parse).collect()
}

/// The text behind an attribute, if it begins with one.
fn without_attribute(text: &str) -> &str {
    let text = text.trim_start();
    let Some(attribute) = text.strip_prefix("__attribute__") else { return text };
    let mut depth = 0;
    let end = attribute.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ')' && depth == 0
    });
    end.map_or("", |end| attribute[end + 1..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_a_source() {
        let found = kernels(
            "// This kernel is one of many kernels.
            __kernel void a(global int *x, int y) {}\nkernel void none() {} kernel void b(int x){}
            __kernel __attribute__((reqd_work_group_size(32, 8, 1)))\nvoid c(int x, int y, int z) {}
            void helper(int x) {} __kernel __attribute__((",
        );
        let wanted = [("a", 2), ("b", 1), ("c", 3), ("none", 0)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(found, BTreeMap::from(wanted));
    }
}
