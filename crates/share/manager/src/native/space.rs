//! A tenant's space on a device: OpenCL calls in the tenant's own context.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS,
    CL_INVALID_VALUE, CL_LINK_PROGRAM_FAILURE, CL_MEM_USE_HOST_PTR, CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES,
    CL_PROGRAM_BINARY_TYPE, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_NONE,
    CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_KERNEL_NAMES,
    CL_QUEUE_PROFILING_ENABLE, CL_SUCCESS, cl_buffer_region, cl_int, cl_program, cl_uint,
};
use rackloom_ipc::{Given, Kept};
use rackloom_opencl_wire::{Build, Form, Image, ImageFormat, KernelInfo, LOG_MAX, Times};
use rackloom_sync::lock;

use super::build_queue::hash;
use super::handles::{Kernel, Memory, Program, Queue};
use super::mirror::Mirror;
use super::objects::{Kinds, NativeBuffer, NativeKernel, NativeProgram, NativeSampler, NativeSpace};
use super::output::Output;
use super::printing::Printing;
use super::query;
use super::registration::Registration;
use super::runtime::{call, make};
use super::work::Ticket;
use super::{arguments, image, svm, work};
use crate::board::{Headers, Operation, Printed, Space};
use crate::code::Code;
use crate::quota::Charge;

impl NativeSpace {
    /// `clGetProgramBuildInfo` of a live program.
    fn build_info(&self, program: cl_program) -> impl Fn(cl_uint, usize, *mut c_void, *mut usize) -> cl_int {
        move |parameter, size, value, size_ret| match self.table.clGetProgramBuildInfo {
            // SAFETY: the program is alive, and the query passes room for `size` bytes.
            Some(get) => unsafe { get(program, self.device.0, parameter, size, value, size_ret) },
            None => opencl_sys::CL_INVALID_OPERATION,
        }
    }

    /// The outcome of a build: status, log, kernels.
    fn built(&self, program: cl_program, status: cl_int) -> Build {
        let build_info = self.build_info(program);
        let info = |parameter: cl_uint, size, value: *mut c_void, size_ret| match self.table.clGetProgramInfo {
            // SAFETY: as above.
            Some(get) => unsafe { get(program, parameter, size, value, size_ret) },
            None => opencl_sys::CL_INVALID_OPERATION,
        };
        let mut log = query::text(&build_info, CL_PROGRAM_BUILD_LOG).unwrap_or_default();
        if log.len() > LOG_MAX {
            let end = (0..=LOG_MAX).rev().find(|at| log.is_char_boundary(*at)).unwrap_or(0);
            log.truncate(end);
        }
        let good = status == CL_SUCCESS;
        let binary_type = query::number(&build_info, CL_PROGRAM_BINARY_TYPE).unwrap_or_default() as u32;
        let names = if good && binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE {
            query::text(&info, CL_PROGRAM_KERNEL_NAMES).unwrap_or_default()
        } else {
            String::new()
        };
        Build {
            status,
            binary_type,
            log,
            kernels: names.split(';').filter(|name| !name.is_empty()).map(Into::into).collect(),
            global_variables: query::number(&build_info, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE)
                .unwrap_or_default(),
        }
    }

    fn make_kernel(&self, program: &NativeProgram, name: &str) -> Result<Kernel, Code> {
        let name = CString::new(name).map_err(|_| Code(opencl_sys::CL_INVALID_KERNEL_NAME))?;
        let kernel = make!(self.table, clCreateKernel(program.program.raw(), name.as_ptr()))?;
        Ok(Kernel::new(self.table, kernel))
    }
}

impl Space for NativeSpace {
    type Buffer = NativeBuffer;
    type Program = NativeProgram;
    type Kernel = NativeKernel;
    type Sampler = NativeSampler;
    type Ticket = Ticket;

    fn buffer(&self, flags: u64, size: u64, backing: Option<Given>, charge: Charge) -> Result<NativeBuffer, Code> {
        if backing.as_ref().is_some_and(|place| place.len() as u64 != size) {
            return Err(Code(CL_INVALID_VALUE));
        }
        // Where transfers from and to arenas are fast, the board's own memory is better than whatever the runtime makes
        // of memory that it is to use.
        let (backing, mirror) =
            if self.registers.is_some() { (None, backing.map(Mirror::new)) } else { (backing, None) };
        let (flags, host) = match &backing {
            Some(place) => (flags | CL_MEM_USE_HOST_PTR, place.as_mut_ptr().cast()),
            None => (flags, null_mut()),
        };
        let memory = make!(self.table, clCreateBuffer(self.context.raw(), flags, size as usize, host))?;
        let memory = Memory::new(self.table, memory);
        // The client's own memory needs no scrubbing.
        let unscrubbed = AtomicBool::new(backing.is_none() && !self.has_own_memory);
        let (svm, parent, image) = (None, None, None);
        Ok(NativeBuffer { memory, svm, backing, mirror, parent, size, image, unscrubbed, _charge: charge })
    }

    fn size(buffer: &NativeBuffer) -> u64 {
        buffer.size
    }

    fn backing(buffer: &NativeBuffer) -> Option<&Given> {
        buffer.mirror.as_ref().map(|mirror| &mirror.place)
    }

    fn registers(&self) -> Option<u64> {
        self.registers
    }

    fn register(&self, at: *mut u8, len: usize, charge: Charge) -> Option<Kept> {
        // A runtime that can pin no more still moves bytes, as it does for everybody else.
        Some(Box::new(Registration::new(self, at, len, Some(charge)).ok()?))
    }

    fn sub_buffer(
        &self,
        parent: &Arc<NativeBuffer>,
        flags: u64,
        offset: u64,
        size: u64,
        charge: Charge,
    ) -> Result<NativeBuffer, Code> {
        let within = offset.checked_add(size).is_some_and(|end| end <= parent.size);
        if !within || size == 0 || parent.parent.is_some() {
            return Err(Code(CL_INVALID_VALUE));
        }
        let region = cl_buffer_region { origin: offset as usize, size: size as usize };
        let region = (&raw const region).cast();
        let (table, of) = (self.table, parent.memory.raw());
        let memory = make!(table, clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, region))?;
        let (memory, unscrubbed) = (Memory::new(table, memory), AtomicBool::new(false));
        let (svm, backing, mirror, image) = (None, None, None, None);
        let parent = Some(Arc::clone(parent));
        Ok(NativeBuffer { memory, svm, backing, mirror, parent, size, image, unscrubbed, _charge: charge })
    }

    fn svm(&self, flags: u64, size: u64, backing: Option<Given>, charge: Charge) -> Result<(NativeBuffer, u64), Code> {
        svm::create(self, flags, size, backing, charge)
    }

    fn svm_cost(&self, size: u64) -> u64 {
        // What NVIDIA's runtime takes at least, and the pages of a processor's.
        let unit = if self.has_own_memory { svm::PAGE } else { 2 << 20 };
        svm::room(size).and_then(|room| room.checked_next_multiple_of(unit)).unwrap_or(u64::MAX)
    }

    fn image_formats(&self, flags: u64, kind: u32) -> Result<Vec<ImageFormat>, Code> {
        image::formats(self, flags, kind)
    }

    fn image(
        &self,
        flags: u64,
        description: &Image,
        of: Option<&Arc<NativeBuffer>>,
        charge: Charge,
    ) -> Result<NativeBuffer, Code> {
        image::create(self, flags, description, of, charge)
    }

    fn description(buffer: &NativeBuffer) -> Option<&Image> {
        buffer.image.as_ref()
    }

    fn sampler(&self, normalized: bool, addressing: u32, filter: u32, charge: Charge) -> Result<NativeSampler, Code> {
        image::sampler(self, normalized, addressing, filter, charge)
    }

    fn program(&self, form: Form, bytes: Vec<u8>, charge: Charge) -> Result<NativeProgram, Code> {
        let len = bytes.len();
        let printing = if form == Form::Source { Printing::default() } else { Printing::unknown() };
        printing.learn(&bytes);
        let source = (form == Form::Source).then(|| hash(&bytes));
        let program = match form {
            Form::Source => {
                let text = bytes.as_ptr().cast::<c_char>();
                make!(
                    self.table,
                    clCreateProgramWithSource(self.context.raw(), 1, [text].as_ptr().cast_mut(), &raw const len)
                )
            }
            Form::Binary => {
                let mut status = CL_SUCCESS;
                let binary = bytes.as_ptr();
                make!(
                    self.table,
                    clCreateProgramWithBinary(
                        self.context.raw(),
                        1,
                        &raw const self.device.0,
                        &raw const len,
                        [binary].as_ptr().cast_mut(),
                        &raw mut status,
                    )
                )
            }
        }?;
        let (program, charge) = (Program::new(self.table, program), Arc::new(charge));
        Ok(NativeProgram { program, busy: Mutex::default(), printing: Arc::new(printing), source, charge })
    }

    fn binary_type(&self, program: &NativeProgram) -> u32 {
        let _busy = lock(&program.busy);
        // OpenCL 1.1 runtimes support only executables, and do not know this query.
        let kind = query::number(&self.build_info(program.program.raw()), CL_PROGRAM_BINARY_TYPE);
        kind.map_or(CL_PROGRAM_BINARY_TYPE_NONE, |kind| kind as u32)
    }

    fn build(&self, program: &NativeProgram, options: &str) -> Result<Build, Code> {
        program.printing.learn(options.as_bytes());
        let turn = self.builds.as_ref().zip(program.source);
        turn.iter().for_each(|(queue, source)| queue.wait(hash(&(source, options))));
        let _busy = lock(&program.busy);
        let (raw, device) = (program.program.raw(), &raw const self.device.0);
        let built = with_info(options, CL_BUILD_PROGRAM_FAILURE, |options| {
            call!(self.table, clBuildProgram(raw, 1, device, options.as_ptr(), None, null_mut()))
        });
        turn.iter().for_each(|(queue, _)| queue.done());
        self.judge(raw, built, CL_BUILD_PROGRAM_FAILURE)
    }

    fn compile(&self, program: &NativeProgram, options: &str, headers: &Headers<Self>) -> Result<Build, Code> {
        let names = headers.iter().map(|(name, _)| CString::new(name.as_str()));
        let names = names.collect::<Result<Vec<_>, _>>().map_err(|_| Code(CL_INVALID_VALUE))?;
        let mut names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let programs: Vec<_> = headers.iter().map(|(_, header)| header.program.raw()).collect();
        let (names, programs) = if headers.is_empty() {
            (null_mut(), null()) // The standard requires null pointers for empty lists.
        } else {
            (names.as_mut_ptr(), programs.as_ptr())
        };
        let _busy = lock(&program.busy);
        let (raw, device, count) = (program.program.raw(), &raw const self.device.0, headers.len() as u32);
        let compiled = with_info(options, CL_COMPILE_PROGRAM_FAILURE, |options| {
            let options = options.as_ptr();
            call!(self.table, clCompileProgram(raw, 1, device, options, count, programs, names, None, null_mut()))
        });
        self.judge(raw, compiled, CL_COMPILE_PROGRAM_FAILURE)
    }

    fn link(
        &self,
        inputs: &[Arc<NativeProgram>],
        options: &str,
        charge: Charge,
    ) -> Result<(NativeProgram, Build), Code> {
        let options = CString::new(options).map_err(|_| Code(CL_INVALID_BUILD_OPTIONS))?;
        let programs: Vec<_> = inputs.iter().map(|input| input.program.raw()).collect();
        let Some(link) = self.table.clLinkProgram else { return Err(Code(opencl_sys::CL_INVALID_OPERATION)) };
        let mut status = CL_SUCCESS;
        // SAFETY: all handles are alive, and the lists have the lengths passed.
        let linked = unsafe {
            link(
                self.context.raw(),
                1,
                &raw const self.device.0,
                options.as_ptr(),
                programs.len() as u32,
                programs.as_ptr(),
                None,
                null_mut(),
                &raw mut status,
            )
        };
        if linked.is_null() {
            return Err(Code(if status == CL_SUCCESS { CL_LINK_PROGRAM_FAILURE } else { status }));
        }
        // A program with a log, even if linking failed.
        let (program, charge) = (Program::new(self.table, linked), Arc::new(charge));
        let printing = Arc::new(Printing::unknown()); // Its inputs may be binaries.
        let program = NativeProgram { program, busy: Mutex::default(), printing, source: None, charge };
        let build = self.built(linked, status);
        Ok((program, build))
    }

    fn binary_size(&self, program: &NativeProgram) -> Result<u64, Code> {
        let _busy = lock(&program.busy);
        let mut size = 0usize;
        let (raw, sizes) = (program.program.raw(), (&raw mut size).cast());
        call!(self.table, clGetProgramInfo(raw, CL_PROGRAM_BINARY_SIZES, size_of::<usize>(), sizes, null_mut()))?;
        Ok(size as u64)
    }

    fn binary(&self, program: &NativeProgram, into: &Given) -> Result<(), Code> {
        let size = self.binary_size(program)?;
        if size == 0 || size > into.len() as u64 {
            return Err(Code(CL_INVALID_VALUE));
        }
        let _busy = lock(&program.busy);
        let raw = program.program.raw();
        let mut place = into.as_mut_ptr();
        let places = (&raw mut place).cast();
        call!(self.table, clGetProgramInfo(raw, CL_PROGRAM_BINARIES, size_of::<*mut u8>(), places, null_mut()))
    }

    fn kernel_info(&self, program: &NativeProgram, name: &str) -> Result<KernelInfo, Code> {
        let kernel = self.make_kernel(program, name)?;
        arguments::describe(self.table, self.device.0, &kernel)
    }

    fn kernel(&self, program: &NativeProgram, name: &str, charge: Charge) -> Result<NativeKernel, Code> {
        let kernel = self.make_kernel(program, name)?;
        let kinds = Kinds::of(self.table, &kernel, || self.make_kernel(program, name))?;
        let held = (0..kinds.count()).map(|_| None).collect();
        let (held, _charges) = (Mutex::new(held), (charge, Arc::clone(&program.charge)));
        let (reaches, wrong) = (Mutex::default(), Mutex::default());
        let (last_ns, printing) = (AtomicU64::new(0), Arc::clone(&program.printing));
        Ok(NativeKernel { kernel, kinds, held, reaches, wrong, last_ns, printing, _charges })
    }

    fn last_launch_ns(kernel: &NativeKernel) -> Option<u64> {
        Some(kernel.last_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }

    fn profile(&self) {
        self.wants_times.store(true, Ordering::Release);
    }

    fn printed(&self, kernel: &NativeKernel, pass: &mut dyn FnMut(Printed<'_>)) {
        if kernel.printing.is_possible() {
            self.output.iter().for_each(|output| output.pass(pass));
        }
    }

    fn begin(&self) {
        self.output.iter().for_each(Output::begin);
        self.settled.0.store(0, Ordering::Relaxed);
        self.outcome.store(CL_SUCCESS, Ordering::Relaxed);
        let wants_times = self.wants_times.load(Ordering::Acquire);
        // Behind a bus an event costs up to a third of the operation, and the driver waits for all at once without.
        self.spares_events.store(!wants_times && self.registers.is_some(), Ordering::Relaxed);
        self.has_events.store(false, Ordering::Relaxed);
        if self.measures() || !wants_times {
            return;
        }
        // Without such a queue, the manager measures times itself.
        let properties = CL_QUEUE_PROFILING_ENABLE;
        if let Ok(queue) = make!(self.table, clCreateCommandQueue(self.context.raw(), self.device.0, properties)) {
            self.profiling.get_or_init(|| Queue::new(self.table, queue));
            self.measures.store(true, Ordering::Relaxed);
        }
    }

    fn is_to_begin(&self) -> bool {
        let wants_times = self.wants_times.load(Ordering::Acquire) && !self.measures();
        wants_times || self.output.as_ref().is_some_and(Output::is_used)
    }

    fn start(&self, operation: &mut Operation<Self>, closes: bool) -> Result<Ticket, Code> {
        let as_one = self.spares_events.load(Ordering::Relaxed) && !closes;
        self.as_one.store(as_one, Ordering::Relaxed);
        if !as_one {
            self.has_events.store(true, Ordering::Relaxed);
        }
        work::start(self, operation)
    }

    fn skip(&self, operation: &Operation<Self>) {
        if let Operation::Launch { kernel, arguments, reaches, .. } = operation {
            let _ = arguments::set_all(self.table, kernel, arguments); // What is wrong fails the next launch, too.
            let _ = svm::reach(self.table, kernel, reaches.as_deref());
        }
    }

    fn flush(&self) {
        if !self.has_events.load(Ordering::Relaxed) {
            return; // To wait for all flushes, too.
        }
        // An error shows again when the operations are waited for.
        let _ = call!(self.table, clFlush(self.queue().raw()));
    }

    fn finish(&self, ticket: Ticket, operation: &mut Operation<Self>) -> Result<Times, Code> {
        work::finish(self, ticket, operation)
    }

    fn settle(&self, last: &Ticket, count: usize) {
        work::settle(self, last, count);
    }
}

impl NativeSpace {
    /// A failed build with the status `wrong` is a result, with its log; other failures are errors.
    fn judge(&self, program: cl_program, done: Result<(), Code>, wrong: cl_int) -> Result<Build, Code> {
        match done {
            Ok(()) => Ok(self.built(program, CL_SUCCESS)),
            Err(Code(code)) if code == wrong => Ok(self.built(program, code)),
            Err(code) => Err(code),
        }
    }
}

/// Builds with the option that keeps information on kernels' arguments: it says which values are handles. If that gives
/// `wrong`, builds without: with the option, NVIDIA's compiler makes assembly that its own assembler refuses of
/// kernels that have no arguments.
fn with_info(options: &str, wrong: cl_int, build: impl Fn(&CStr) -> Result<(), Code>) -> Result<(), Code> {
    let text = |options: String| CString::new(options).map_err(|_| Code(CL_INVALID_BUILD_OPTIONS));
    match build(&text(format!("{options} -cl-kernel-arg-info"))?) {
        Err(Code(code)) if code == wrong => build(&text(options.to_owned())?),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::coherence::is_coherent;
    use crate::native::runtime::{Device, Runtime, installed};
    use rackloom_opencl_wire::now_ns;

    fn space() -> NativeSpace {
        let library = installed().into_iter().find(|l| l.to_string_lossy().contains("pocl"));
        let library = library.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
        let runtime = Runtime::open(&library).unwrap().remove(0);
        let device = Device(runtime.devices().unwrap()[0]);
        NativeSpace::new(runtime, device).unwrap()
    }

    #[test]
    fn what_is_waited_for_together_has_had_parts_of_the_time() {
        let space = space();
        space.begin();
        let mut operations = [const { Operation::<NativeSpace>::Marker }; 4];
        let tickets: Vec<_> = operations.iter_mut().map(|operation| space.start(operation, false).unwrap()).collect();
        space.settle(&tickets[3], 4);
        let settled = now_ns();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let finish = |(ticket, operation)| space.finish(ticket, operation).unwrap();
        let times: Vec<_> = tickets.into_iter().zip(&mut operations).map(finish).collect();
        assert!(times[3].ended <= settled, "{} ns later", times[3].ended - settled);
        assert!(times.iter().all(|times| times.started <= times.ended), "{times:?}");
        assert!(times.windows(2).all(|pair| pair[0].ended <= pair[1].started), "{times:?}");
        assert!(times[0].ended < times[3].ended, "the first has not had all of it: {times:?}");
        let ticket = space.start(&mut operations[0], false).unwrap();
        assert!(space.finish(ticket, &mut operations[0]).unwrap().ended > settled, "it was waited for alone");
    }

    #[test]
    fn profiling_starts_with_the_next_task_and_a_processor_shares_memory() {
        let space = space();
        let plain = space.queue().raw();
        space.begin();
        assert!(!space.measures() && space.queue().raw() == plain, "nobody has asked");
        space.profile();
        assert!(space.queue().raw() == plain, "a task keeps its queue");
        space.begin();
        assert!(space.measures() && space.queue().raw() != plain);
        assert!(is_coherent(&space));
    }
}
