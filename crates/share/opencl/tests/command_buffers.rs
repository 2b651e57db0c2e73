//! Command buffers: what is recorded once and enqueued again and again does what the same commands do one by one.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::CString;
use std::ptr::{null, null_mut};

use common::{ADD, Bench, Cl, NEXT, info, pattern, shared};
use opencl_sys::*;
use rackloom_node::Rng;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// A function of the extension, by its name.
macro_rules! extension {
    ($cl:expr, $name:ident: $type:ty) => {{
        let name = CString::new(stringify!($name)).unwrap();
        let found = cl!($cl, clGetExtensionFunctionAddressForPlatform($cl.platform, name.as_ptr()));
        unsafe { std::mem::transmute::<*mut std::ffi::c_void, $type>(found) }.expect(stringify!($name))
    }};
}

/// The end of the parameters of all calls that record: no sync points, no handle.
macro_rules! record {
    ($recorded:expr, $name:ident: $type:ty, ($($argument:expr),* $(,)?)) => {{
        let function = extension!($recorded.cl, $name: $type);
        let at = $recorded.handle;
        unsafe { function(at, null_mut(), null(), $($argument,)* 0, null(), null_mut(), null_mut()) }
    }};
}

/// A command buffer.
struct Recorded {
    cl: Cl,
    handle: cl_command_buffer_khr,
}

// SAFETY: all calls with a command buffer may be made by any thread.
unsafe impl Sync for Recorded {}

impl Recorded {
    fn new(cl: Cl, queue: cl_command_queue) -> Self {
        let create = extension!(cl, clCreateCommandBufferKHR: clCreateCommandBufferKHR_fn);
        let mut code = 1;
        let handle = unsafe { create(1, &raw const queue, null(), &raw mut code) };
        assert_eq!((code, handle.is_null()), (0, false));
        Self { cl, handle }
    }

    fn finalize(&self) -> cl_int {
        let finalize = extension!(self.cl, clFinalizeCommandBufferKHR: clFinalizeCommandBufferKHR_fn);
        unsafe { finalize(self.handle) }
    }

    fn launch(&self, kernel: cl_kernel, items: usize) -> cl_int {
        let items = &raw const items;
        record!(self, clCommandNDRangeKernelKHR: clCommandNDRangeKernelKHR_fn, (kernel, 1, null(), items, null()))
    }

    fn fill(&self, buffer: cl_mem, byte: u8, offset: usize, len: usize) -> cl_int {
        let pattern = (&raw const byte).cast();
        record!(self, clCommandFillBufferKHR: clCommandFillBufferKHR_fn, (buffer, pattern, 1, offset, len))
    }

    fn copy(&self, from: (cl_mem, usize), to: (cl_mem, usize), len: usize) -> cl_int {
        record!(self, clCommandCopyBufferKHR: clCommandCopyBufferKHR_fn, (from.0, to.0, from.1, to.1, len))
    }

    fn barrier(&self) -> cl_int {
        record!(self, clCommandBarrierWithWaitListKHR: clCommandBarrierWithWaitListKHR_fn, ())
    }

    fn enqueue_to(&self, queues: &[cl_command_queue], waits: &[cl_event]) -> Result<cl_event, cl_int> {
        let enqueue = extension!(self.cl, clEnqueueCommandBufferKHR: clEnqueueCommandBufferKHR_fn);
        let list = |empty: bool, at| if empty { null() } else { at };
        let mut queues = queues.to_vec();
        let at = if queues.is_empty() { null_mut() } else { queues.as_mut_ptr() };
        let waits_at = list(waits.is_empty(), waits.as_ptr());
        let mut event = null_mut();
        let (queue_count, count) = (queues.len() as u32, waits.len() as u32);
        match unsafe { enqueue(queue_count, at, self.handle, count, waits_at, &raw mut event) } {
            0 => Ok(event),
            code => Err(code),
        }
    }

    fn enqueue(&self, waits: &[cl_event]) -> cl_event {
        self.enqueue_to(&[], waits).unwrap()
    }

    /// Runs it, and waits for the end.
    fn run(&self) {
        let event = self.enqueue(&[]);
        ok!(self.cl, clWaitForEvents(1, &raw const event));
        ok!(self.cl, clReleaseEvent(event));
    }

    fn info(&self, name: cl_command_buffer_info_khr) -> Result<Vec<u8>, cl_int> {
        let get = extension!(self.cl, clGetCommandBufferInfoKHR: clGetCommandBufferInfoKHR_fn);
        info(|size, value, size_ret| unsafe { get(self.handle, name, size, value, size_ret) })
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let release = extension!(self.cl, clReleaseCommandBufferKHR: clReleaseCommandBufferKHR_fn);
        assert_eq!(unsafe { release(self.handle) }, 0);
    }
}

/// Bytes of the buffers of random commands.
const SIZE: usize = 5000;

/// A recorded command on three buffers.
enum Step {
    /// Adds one to each of the first bytes.
    Next {
        buffer: usize,
        len: usize,
    },
    Fill {
        buffer: usize,
        byte: u8,
        at: usize,
        len: usize,
    },
    Copy {
        from: (usize, usize),
        to: (usize, usize),
        len: usize,
    },
    Barrier,
}

impl Step {
    fn random(rng: &mut Rng) -> Self {
        let mut below = |n: usize| rng.below(n as u64) as usize;
        let (buffer, other, len) = (below(3), below(3), 1 + below(SIZE));
        let (from, to) = (below(SIZE - len + 1), below(SIZE - len + 1));
        match below(4) {
            0 => Self::Next { buffer, len },
            1 => Self::Fill { buffer, byte: below(256) as u8, at: from, len },
            2 if buffer != other || from.abs_diff(to) >= len => {
                Self::Copy { from: (buffer, from), to: (other, to), len }
            }
            _ => Self::Barrier,
        }
    }

    fn record(&self, bench: &Bench, recorded: &Recorded, kernel: cl_kernel, buffers: &[cl_mem]) {
        let code = match *self {
            Self::Next { buffer, len } => {
                bench.set(kernel, 0, &buffers[buffer]);
                recorded.launch(kernel, len)
            }
            Self::Fill { buffer, byte, at, len } => recorded.fill(buffers[buffer], byte, at, len),
            Self::Copy { from, to, len } => recorded.copy((buffers[from.0], from.1), (buffers[to.0], to.1), len),
            Self::Barrier => recorded.barrier(),
        };
        assert_eq!(code, 0);
    }

    /// What it does to the model.
    fn run(&self, all: &mut [Vec<u8>]) {
        match *self {
            Self::Next { buffer, len } => {
                all[buffer][..len].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            }
            Self::Fill { buffer, byte, at, len } => all[buffer][at..at + len].fill(byte),
            Self::Copy { from, to, len } => {
                let bytes = all[from.0][from.1..from.1 + len].to_vec();
                all[to.0][to.1..to.1 + len].copy_from_slice(&bytes);
            }
            Self::Barrier => {}
        }
    }
}

#[test]
fn recorded_commands_do_what_they_do_one_by_one_as_often_as_they_are_enqueued() {
    let benches = [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE].into_iter().flat_map(Bench::each);
    for bench in benches {
        for seed in 0..8 {
            let mut rng = Rng::new(seed);
            let mut model: Vec<Vec<u8>> = (0..3).map(|at| pattern(SIZE, at)).collect();
            let buffers: Vec<cl_mem> = model.iter().map(|bytes| bench.filled(bytes)).collect();
            let kernel = bench.kernel(NEXT, "next");
            let recorded = Recorded::new(bench.cl, bench.queue());
            let steps: Vec<Step> = (0..=rng.below(40)).map(|_| Step::random(&mut rng)).collect();
            steps.iter().for_each(|step| step.record(&bench, &recorded, kernel, &buffers));
            assert_eq!(recorded.finalize(), 0);
            let mut last = Vec::new();
            for _ in 0..4 {
                let event = recorded.enqueue(&last);
                last.drain(..).for_each(|event| ok!(bench.cl, clReleaseEvent(event)));
                last.push(event);
                steps.iter().for_each(|step| step.run(&mut model));
            }
            ok!(bench.cl, clWaitForEvents(1, last.as_ptr()));
            for (buffer, bytes) in buffers.iter().zip(&model) {
                assert!(bench.read(bench.queue(), *buffer, SIZE) == *bytes, "seed {seed}");
                ok!(bench.cl, clReleaseMemObject(*buffer));
            }
            ok!(bench.cl, clReleaseEvent(last[0]));
            ok!(bench.cl, clReleaseKernel(kernel));
        }
    }
}

#[test]
fn arguments_are_those_of_the_recording_and_objects_may_be_released() {
    for bench in Bench::each(0) {
        let buffer = bench.filled(&[0; 16]);
        let kernel = bench.kernel(ADD, "add");
        let recorded = Recorded::new(bench.cl, bench.queue());
        bench.set(kernel, 0, &buffer);
        for n in [1i32, 10, 100] {
            bench.set(kernel, 1, &n);
            assert_eq!(recorded.launch(kernel, 4), 0);
        }
        bench.set(kernel, 1, &1000i32);
        let event = bench.launch(bench.queue(), kernel, 4, &[]);
        ok!(bench.cl, clReleaseEvent(event));
        assert_eq!(recorded.finalize(), 0);
        ok!(bench.cl, clReleaseKernel(kernel));
        recorded.run();
        // While it is under way it needs nothing of the program's.
        let event = recorded.enqueue(&[]);
        drop(recorded);
        ok!(bench.cl, clWaitForEvents(1, &raw const event));
        assert_eq!(bench.read(bench.queue(), buffer, 16), [1222i32; 4].map(i32::to_ne_bytes).concat());
        assert_eq!(bench.event_info::<u32>(event, CL_EVENT_COMMAND_TYPE), CL_COMMAND_COMMAND_BUFFER_KHR);
        assert_eq!(bench.event_info::<usize>(event, CL_EVENT_COMMAND_QUEUE), bench.queue().addr());
        ok!(bench.cl, clReleaseEvent(event));
        ok!(bench.cl, clReleaseMemObject(buffer));
    }
}

#[test]
fn it_waits_for_events_and_fails_with_them() {
    for bench in Bench::each(CL_QUEUE_PROFILING_ENABLE) {
        let buffer = bench.filled(&[0; 16]);
        let recorded = Recorded::new(bench.cl, bench.queue());
        assert_eq!(recorded.fill(buffer, 7, 0, 16), 0);
        assert_eq!(recorded.fill(buffer, 9, 4, 4), 0);
        assert_eq!(recorded.finalize(), 0);
        for (outcome, expected) in [(-1, vec![0; 16]), (CL_COMPLETE, [[7; 4], [9; 4], [7; 4], [7; 4]].concat())] {
            let user = bench.user_event();
            let event = recorded.enqueue(&[user]);
            ok!(bench.cl, clFlush(bench.queue()));
            assert_eq!(bench.status(event), CL_QUEUED);
            ok!(bench.cl, clSetUserEventStatus(user, outcome));
            let code = cl!(bench.cl, clWaitForEvents(1, &raw const event));
            assert_eq!(code == 0, outcome == CL_COMPLETE, "{code}");
            assert_eq!(bench.status(event) < 0, outcome < 0);
            assert_eq!(bench.read(bench.queue(), buffer, 16), expected);
            [user, event].iter().for_each(|event| ok!(bench.cl, clReleaseEvent(*event)));
        }
        ok!(bench.cl, clReleaseMemObject(buffer));
    }
}

#[test]
fn it_may_be_longer_than_what_may_be_under_way_and_empty() {
    for bench in Bench::each(0) {
        let buffer = bench.filled(&[0; 4]);
        let kernel = bench.kernel(ADD, "add");
        bench.set(kernel, 0, &buffer);
        bench.set(kernel, 1, &1i32);
        let recorded = Recorded::new(bench.cl, bench.queue());
        (0..6000).for_each(|_| assert_eq!(recorded.launch(kernel, 1), 0));
        assert_eq!(recorded.finalize(), 0);
        recorded.run();
        assert_eq!(bench.read(bench.queue(), buffer, 4), 6000i32.to_ne_bytes());
        let nothing = Recorded::new(bench.cl, bench.queue());
        assert_eq!(nothing.finalize(), 0);
        nothing.run();
        ok!(bench.cl, clReleaseKernel(kernel));
        ok!(bench.cl, clReleaseMemObject(buffer));
    }
}

#[test]
fn shared_virtual_memory_is_copied_and_filled() {
    for bench in Bench::each(0) {
        let at: *mut u8 = cl!(bench.cl, clSVMAlloc(bench.context, CL_MEM_READ_WRITE, 64, 0)).cast();
        let (from, mut to, mut through) = (pattern(16, 5), [0u8; 64], [0u8; 8]);
        let recorded = Recorded::new(bench.cl, bench.queue());
        let copy = |to: *mut u8, from: *const u8, len: usize| {
            let (to, from) = (to.cast(), from.cast());
            assert_eq!(record!(recorded, clCommandSVMMemcpyKHR: clCommandSVMMemcpyKHR_fn, (to, from, len)), 0);
        };
        let byte = (&raw const from[0]).cast();
        let fill = record!(recorded, clCommandSVMMemFillKHR: clCommandSVMMemFillKHR_fn, (at.cast(), byte, 1, 64));
        assert_eq!(fill, 0);
        copy(at, from.as_ptr(), 16);
        copy(at.wrapping_add(32), at, 16);
        copy(to.as_mut_ptr(), at, 64);
        copy(through.as_mut_ptr(), from.as_ptr(), 8);
        assert_eq!(recorded.finalize(), 0);
        let expected = [&from[..], &[from[0]; 16], &from, &[from[0]; 16]].concat();
        for _ in 0..2 {
            to.fill(0);
            through.fill(0);
            recorded.run();
            assert_eq!(to[..], expected);
            assert_eq!(through, from[..8]);
        }
        cl!(bench.cl, clSVMFree(bench.context, at.cast()));
    }
}

#[test]
fn images_are_copied_and_filled() {
    for bench in Bench::each(0) {
        let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };
        let mut shape: cl_image_desc = unsafe { std::mem::zeroed() };
        shape.image_type = CL_MEM_OBJECT_IMAGE2D;
        (shape.image_width, shape.image_height) = (4, 4);
        let image = || {
            let (format, shape) = (&raw const format, &raw const shape);
            make!(bench.cl, clCreateImage(bench.context, CL_MEM_READ_WRITE, format, shape, null_mut()))
        };
        let (a, b) = (image(), image());
        let (bytes, out) = (bench.filled(&pattern(64, 1)), bench.buffer(CL_MEM_READ_WRITE, 64));
        let recorded = Recorded::new(bench.cl, bench.queue());
        let (origin, all, row) = ([0usize; 3], [4usize, 4, 1], [4usize, 1, 1]);
        let (origin, all, row) = (origin.as_ptr(), all.as_ptr(), row.as_ptr());
        let color = [1u32, 2, 3, 4];
        let color = color.as_ptr().cast();
        type ToImage = clCommandCopyBufferToImageKHR_fn;
        type ToBuffer = clCommandCopyImageToBufferKHR_fn;
        let codes = [
            record!(recorded, clCommandCopyBufferToImageKHR: ToImage, (bytes, a, 0, origin, all)),
            record!(recorded, clCommandFillImageKHR: clCommandFillImageKHR_fn, (a, color, origin, row)),
            record!(recorded, clCommandCopyImageKHR: clCommandCopyImageKHR_fn, (a, b, origin, origin, all)),
            record!(recorded, clCommandCopyImageToBufferKHR: ToBuffer, (b, out, origin, all, 0)),
        ];
        assert_eq!(codes, [0; 4]);
        assert_eq!(recorded.finalize(), 0);
        recorded.run();
        let expected = [&[1, 2, 3, 4].repeat(4)[..], &pattern(64, 1)[16..]].concat();
        assert_eq!(bench.read(bench.queue(), out, 64), expected);
        [a, b, bytes, out].iter().for_each(|mem| ok!(bench.cl, clReleaseMemObject(*mem)));
    }
}

#[test]
fn buffers_come_from_the_device_that_has_them() {
    let cl = shared();
    let bench = Bench::of(cl, &cl.devices(), 0);
    let (a, b) = (bench.filled(&[1; 64]), bench.filled(&[2; 64]));
    let recorded = Recorded::new(cl, bench.queues[1]);
    assert_eq!(recorded.copy((a, 0), (b, 32), 32), 0);
    assert_eq!(recorded.fill(a, 3, 0, 8), 0);
    assert_eq!(recorded.finalize(), 0);
    for byte in [10, 11] {
        bench.write(bench.queues[0], a, &[byte; 64]);
        bench.write(bench.queues[2], b, &[byte + 100; 16]);
        recorded.run();
        assert_eq!(bench.read(bench.queues[2], a, 64), [vec![3; 8], vec![byte; 56]].concat());
        assert_eq!(bench.read(bench.queues[0], b, 64), [vec![byte + 100; 16], vec![2; 16], vec![byte; 32]].concat());
    }
    let code = recorded.enqueue_to(&bench.queues[..1], &[]).unwrap_err();
    assert_eq!(code, CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, "another device");
    [a, b].iter().for_each(|mem| ok!(cl, clReleaseMemObject(*mem)));
}

#[test]
fn what_is_wrong_is_refused_and_recorded_nowhere() {
    for bench in Bench::each(0) {
        let cl = bench.cl;
        let buffer = bench.filled(&[0; 16]);
        let recorded = Recorded::new(cl, bench.queue());
        let barrier = extension!(cl, clCommandBarrierWithWaitListKHR: clCommandBarrierWithWaitListKHR_fn);
        let (mut point, mut handle, queue) = (0, null_mut(), bench.queue());
        let mut mark = |queue, properties: &[cl_command_properties_khr], points: &[u32], mutable| {
            let properties = if properties.is_empty() { null() } else { properties.as_ptr() };
            let list = if points.is_empty() { null() } else { points.as_ptr() };
            let mutable = if mutable { &raw mut handle } else { null_mut() };
            let count = points.len() as u32;
            unsafe { barrier(recorded.handle, queue, properties, count, list, &raw mut point, mutable) }
        };
        assert_eq!(mark(queue, &[], &[], false), CL_INVALID_COMMAND_QUEUE);
        assert_eq!(mark(null_mut(), &[1, 2, 0], &[], false), CL_INVALID_VALUE);
        assert_eq!(mark(null_mut(), &[], &[], true), CL_INVALID_VALUE);
        assert_eq!(mark(null_mut(), &[], &[1], false), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, "its own");
        assert_eq!(mark(null_mut(), &[0], &[], false), 0);
        assert_eq!(mark(null_mut(), &[], &[1], false), 0);
        assert_eq!(mark(null_mut(), &[], &[1, 2, 0], false), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
        assert_eq!(point, 2);
        assert_eq!(recorded.copy((buffer, 0), (buffer, 4), 8), CL_MEM_COPY_OVERLAP);
        assert_eq!(recorded.fill(buffer, 1, 10, 7), CL_INVALID_VALUE);
        assert_eq!(recorded.launch(null_mut(), 1), CL_INVALID_KERNEL);
        let kernel = bench.kernel(NEXT, "next");
        assert_eq!(recorded.launch(kernel, 1), CL_INVALID_KERNEL_ARGS);
        ok!(cl, clReleaseKernel(kernel));

        assert_eq!(recorded.enqueue_to(&[], &[]), Err(CL_INVALID_OPERATION), "still recorded");
        let executable = |is: u32| assert_eq!(recorded.info(CL_COMMAND_BUFFER_STATE_KHR), Ok(is.to_ne_bytes().into()));
        executable(CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
        assert_eq!(recorded.finalize(), 0);
        executable(CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
        assert_eq!(recorded.finalize(), CL_INVALID_OPERATION);
        assert_eq!(recorded.fill(buffer, 1, 0, 1), CL_INVALID_OPERATION);
        assert_eq!(recorded.enqueue_to(&[queue, queue], &[]), Err(CL_INVALID_VALUE));
        assert_eq!(recorded.enqueue_to(&[null_mut()], &[]), Err(CL_INVALID_COMMAND_QUEUE));
        let other = Bench::of(cl, &bench.devices, 0);
        assert_eq!(recorded.enqueue_to(&[other.queue()], &[]), Err(CL_INVALID_CONTEXT));
        let mine = make!(cl, clCreateCommandQueue(bench.context, bench.devices[0], 0));
        ok!(cl, clReleaseEvent(recorded.enqueue_to(&[mine], &[]).unwrap()));
        ok!(cl, clReleaseCommandQueue(mine));
        assert_eq!(bench.read(queue, buffer, 16), [0; 16]);
        assert_eq!(recorded.info(CL_COMMAND_BUFFER_QUEUES_KHR), Ok(queue.addr().to_ne_bytes().into()));
        assert_eq!(recorded.info(CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR), Ok(Vec::new()));
        assert_eq!(recorded.info(1), Err(CL_INVALID_VALUE));

        let create = extension!(cl, clCreateCommandBufferKHR: clCreateCommandBufferKHR_fn);
        let refused = |queues: &[cl_command_queue], properties: &[u64]| {
            let mut code = 0;
            let list = if queues.is_empty() { null() } else { queues.as_ptr() };
            let properties = if properties.is_empty() { null() } else { properties.as_ptr() };
            assert!(unsafe { create(queues.len() as u32, list, properties, &raw mut code) }.is_null());
            code
        };
        let flags = CL_COMMAND_BUFFER_FLAGS_KHR;
        assert_eq!(refused(&[], &[]), CL_INVALID_VALUE);
        assert_eq!(refused(&[queue, queue], &[]), CL_INVALID_VALUE);
        assert_eq!(refused(&[buffer], &[]), CL_INVALID_COMMAND_QUEUE);
        assert_eq!(refused(&[queue], &[flags, 1 << 40, 0]), CL_INVALID_VALUE);
        assert_eq!(refused(&[queue], &[flags, 0, flags, 0, 0]), CL_INVALID_VALUE);
        assert_eq!(refused(&[queue], &[flags, CL_COMMAND_BUFFER_MUTABLE_KHR, 0]), CL_INVALID_PROPERTY);
        let stranger = Recorded { cl, handle: buffer };
        assert_eq!(stranger.finalize(), CL_INVALID_COMMAND_BUFFER_KHR);
        std::mem::forget(stranger);
        ok!(cl, clReleaseMemObject(buffer));
    }
}

#[test]
fn threads_may_enqueue_the_same_kernels_in_any_order() {
    const TIMES: i32 = 300;
    for bench in Bench::each(0) {
        let buffers = [0, 1, 2].map(|_| bench.filled(&[0; 4]));
        let kernels = [bench.kernel(ADD, "add"), bench.kernel(ADD, "add")];
        let set = |kernel: usize, buffer: usize, n: i32| {
            bench.set(kernels[kernel], 0, &buffers[buffer]);
            bench.set(kernels[kernel], 1, &n);
        };
        let record = |order: [(usize, i32); 2], buffer: usize| {
            let recorded = Recorded::new(bench.cl, bench.queue());
            for (kernel, n) in order {
                set(kernel, buffer, n);
                assert_eq!(recorded.launch(kernels[kernel], 1), 0);
            }
            assert_eq!(recorded.finalize(), 0);
            recorded
        };
        let (one, other) = (record([(0, 1), (1, 10)], 0), record([(1, 100), (0, 1000)], 1));
        set(0, 2, 3);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..TIMES).for_each(|_| one.run()));
            scope.spawn(|| (0..TIMES).for_each(|_| other.run()));
            (0..TIMES).for_each(|_| {
                let event = bench.launch(bench.queue(), kernels[0], 1, &[]);
                ok!(bench.cl, clReleaseEvent(event));
            });
            ok!(bench.cl, clFinish(bench.queue()));
        });
        for (buffer, n) in buffers.iter().zip([11, 1100, 3]) {
            assert_eq!(bench.read(bench.queue(), *buffer, 4), (n * TIMES).to_ne_bytes());
            ok!(bench.cl, clReleaseMemObject(*buffer));
        }
        drop((one, other));
        kernels.iter().for_each(|kernel| ok!(bench.cl, clReleaseKernel(*kernel)));
    }
}
