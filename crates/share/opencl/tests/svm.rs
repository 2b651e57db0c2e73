//! Shared virtual memory: pointers mean the same to kernels and to the program, and bytes are where they were put.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::mpsc;

use common::{Bench, pattern, shared};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// Memory of a bench.
#[derive(Clone, Copy)]
struct Svm<'a> {
    bench: &'a Bench,
    at: *mut u8,
    len: usize,
}

impl<'a> Svm<'a> {
    fn new(bench: &'a Bench, len: usize) -> Self {
        let at = cl!(bench.cl, clSVMAlloc(bench.context, CL_MEM_READ_WRITE, len, 0)).cast();
        assert!(!<*mut u8>::is_null(at), "{len} bytes");
        Self { bench, at, len }
    }

    fn map(self, flags: u64) -> &'a mut [u8] {
        let (cl, queue, at) = (self.bench.cl, self.bench.queue(), self.at.cast());
        ok!(cl, clEnqueueSVMMap(queue, CL_TRUE, flags, at, self.len, 0, null(), null_mut()));
        unsafe { std::slice::from_raw_parts_mut(self.at, self.len) }
    }

    fn unmap(self) {
        ok!(self.bench.cl, clEnqueueSVMUnmap(self.bench.queue(), self.at.cast(), 0, null(), null_mut()));
    }

    fn put(self, bytes: &[u8]) {
        self.map(CL_MAP_WRITE_INVALIDATE_REGION).copy_from_slice(bytes);
        self.unmap();
    }

    fn get(self) -> Vec<u8> {
        let bytes = self.map(CL_MAP_READ).to_vec();
        self.unmap();
        bytes
    }

    fn free(self) {
        cl!(self.bench.cl, clSVMFree(self.bench.context, self.at.cast()));
    }
}

fn set_pointer<T>(bench: &Bench, kernel: cl_kernel, index: u32, at: *const T) {
    ok!(bench.cl, clSetKernelArgSVMPointer(kernel, index, at.cast()));
}

const WHERE: &str = "kernel void where(global ulong *v, global const uchar *from, global uchar *null_or_not) {
    v[0] = (ulong)v;
    v[1] = from[0];
    v[2] = null_or_not == 0;
}";

#[test]
fn a_pointer_means_the_same_to_kernels_and_to_the_program() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(WHERE, "where");
        for len in [64, 4096, 4097, 3 << 20] {
            let (to, from) = (Svm::new(&bench, 64), Svm::new(&bench, len));
            let bytes = pattern(len, 7);
            from.put(&bytes);
            set_pointer(&bench, kernel, 0, to.at.wrapping_add(8));
            set_pointer(&bench, kernel, 1, from.at.wrapping_add(len - 1));
            set_pointer(&bench, kernel, 2, null::<u8>());
            bench.launch(bench.queue(), kernel, 1, &[]);
            let got = to.get();
            let words: Vec<u64> = got[8..32].as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
            assert_eq!(words, [to.at.addr() as u64 + 8, bytes[len - 1].into(), 1]);
            assert_eq!(from.get(), bytes);
            // A part that is written does not change what is beside it.
            let (at, flags) = (from.at.wrapping_add(5), CL_MAP_READ | CL_MAP_WRITE);
            let (cl, queue) = (bench.cl, bench.queue());
            ok!(cl, clEnqueueSVMMap(queue, CL_TRUE, flags, at.cast(), 10, 0, null(), null_mut()));
            unsafe { at.add(3).write(!bytes[8]) };
            ok!(cl, clEnqueueSVMUnmap(queue, at.cast(), 0, null(), null_mut()));
            let mut wanted = bytes.clone();
            wanted[8] = !wanted[8];
            assert_eq!(from.get(), wanted);
            to.free();
            from.free();
        }
        ok!(bench.cl, clReleaseKernel(kernel));
    }
}

const WALK: &str = "typedef struct node { global struct node *next; int value; int seen; } node;
kernel void walk(global node *n, global int *sum) {
    int all = 0;
    for (; n; n = n->next) { all += n->value; n->seen = 1; }
    *sum = all;
}";

#[repr(C)]
#[derive(Clone, Copy)]
struct Node {
    next: *mut Self,
    value: i32,
    seen: i32,
}

#[test]
fn kernels_follow_pointers_from_one_memory_to_the_next() {
    for bench in Bench::each(0) {
        let kernel = bench.kernel(WALK, "walk");
        let copy = make!(bench.cl, clCloneKernel(kernel));
        let memories: Vec<Svm<'_>> = (1..=5).map(|n| Svm::new(&bench, n * 1000)).collect();
        let sum = bench.buffer(0, 4);
        let nodes: Vec<*mut Node> = memories.iter().map(|memory| memory.at.cast()).collect();
        for (n, memory) in memories.iter().enumerate() {
            let next = nodes.get(n + 1).copied().unwrap_or(null_mut());
            memory.map(CL_MAP_WRITE);
            unsafe { nodes[n].write(Node { next, value: 1 << n, seen: 0 }) };
            memory.unmap();
        }
        let reached: Vec<*const c_void> = nodes.iter().map(|at| at.cast_const().cast()).collect();
        let (size, at) = (size_of_val(&reached[..]), reached.as_ptr().cast());
        for kernel in [kernel, copy] {
            ok!(bench.cl, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, size, at));
            set_pointer(&bench, kernel, 0, nodes[0]);
            bench.set(kernel, 1, &sum);
            bench.launch(bench.queue(), kernel, 1, &[]);
            assert_eq!(bench.read(bench.queue(), sum, 4), 31i32.to_le_bytes());
            ok!(bench.cl, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, null()));
            let end = Node { next: null_mut(), value: 7, seen: 0 };
            memories[0].map(CL_MAP_READ | CL_MAP_WRITE);
            let first = unsafe { nodes[0].replace(end) };
            memories[0].unmap();
            bench.launch(bench.queue(), kernel, 1, &[]);
            assert_eq!(bench.read(bench.queue(), sum, 4), 7i32.to_le_bytes(), "it reaches its argument only");
            memories[0].map(CL_MAP_WRITE);
            unsafe { nodes[0].write(first) };
            memories[0].unmap();
        }
        for memory in &memories {
            memory.map(CL_MAP_READ);
            assert_eq!(unsafe { memory.at.cast::<Node>().read() }.seen, 1);
            memory.unmap();
        }
        memories.iter().for_each(|memory| memory.free());
        [kernel, copy].iter().for_each(|kernel| ok!(bench.cl, clReleaseKernel(*kernel)));
        ok!(bench.cl, clReleaseMemObject(sum));
    }
}

#[test]
fn bytes_are_copied_and_filled_between_all_kinds_of_memory() {
    for bench in Bench::each(0) {
        let (cl, queue, len) = (bench.cl, bench.queue(), 2_500_000);
        let (a, b) = (Svm::new(&bench, len), Svm::new(&bench, len));
        let (bytes, mut back) = (pattern(len, 3), vec![0; len]);
        let copy = |blocking, to: *mut u8, from: *const u8, len| {
            ok!(cl, clEnqueueSVMMemcpy(queue, blocking, to.cast(), from.cast(), len, 0, null(), null_mut()));
        };
        copy(CL_FALSE, a.at, bytes.as_ptr(), len);
        b.put(&vec![0; len]);
        copy(CL_FALSE, b.at.wrapping_add(1), a.at, len - 1);
        copy(CL_TRUE, back.as_mut_ptr(), b.at, len);
        assert_eq!(back[1..], bytes[..len - 1]);
        assert_eq!(back[0], 0);
        let mut again = vec![0; len];
        copy(CL_FALSE, again.as_mut_ptr(), back.as_ptr(), len);
        ok!(cl, clFinish(queue));
        assert_eq!(again, back, "between two places of the program's");
        let word = 0x0102_0304u32.to_le_bytes();
        let (at, pattern) = (a.at.wrapping_add(8).cast(), word.as_ptr().cast());
        ok!(cl, clEnqueueSVMMemFill(queue, at, pattern, 4, 400, 0, null(), null_mut()));
        let mut wanted = bytes.clone();
        wanted[8..408].copy_from_slice(&word.repeat(100));
        assert_eq!(a.get(), wanted);
        let (pointers, sizes) = ([a.at.cast_const().cast::<c_void>(), b.at.cast_const().cast()], [0, len]);
        let (pointers, sizes) = (pointers.as_ptr().cast_mut(), sizes.as_ptr());
        ok!(cl, clEnqueueSVMMigrateMem(queue, 2, pointers, sizes, 0, 0, null(), null_mut()));
        assert_eq!(a.get(), wanted);
        a.free();
        b.free();
    }
}

const FINE_GRAIN: u64 = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;

const MEET: &str = "kernel void meet(global volatile int *v, int rounds) {
    for (int n = 0; n < rounds; n++) {
        while (atomic_cmpxchg(v, 2 * n + 1, 2 * n + 2) != 2 * n + 1) {}
        v[1] += v[2];
    }
}";

#[test]
fn fine_grained_memory_is_seen_by_both_while_a_kernel_runs() {
    use std::sync::atomic::{AtomicI32, Ordering};
    let bench = &Bench::each(0)[0];
    let (cl, queue, rounds) = (bench.cl, bench.queue(), 50i32);
    let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    let at = cl!(cl, clSVMAlloc(bench.context, flags, 5000, 0)).cast::<AtomicI32>();
    assert!(!at.is_null());
    let words = unsafe { std::slice::from_raw_parts(at, 3) };
    words.iter().for_each(|word| word.store(0, Ordering::Relaxed)); // What is in new memory is not defined.
    let kernel = bench.kernel(MEET, "meet");
    set_pointer(bench, kernel, 0, at.cast_const());
    bench.set(kernel, 1, &rounds);
    let end = bench.launch(queue, kernel, 1, &[]);
    ok!(cl, clFlush(queue));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    for n in 0..rounds {
        words[2].store(n, Ordering::Relaxed);
        words[0].store(2 * n + 1, Ordering::Release);
        while words[0].load(Ordering::Acquire) != 2 * n + 2 {
            assert!(std::time::Instant::now() < until, "the kernel does not see round {n}");
            std::thread::yield_now();
        }
        // The kernel adds after its exchange, so the last sum may be under way.
        let sum = || words[1].load(Ordering::Acquire);
        while sum() != n * (n + 1) / 2 {
            assert!(std::time::Instant::now() < until, "{} after round {n}", sum());
        }
    }
    ok!(cl, clWaitForEvents(1, &raw const end));
    ok!(cl, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, at.cast(), 12, 0, null(), null_mut()));
    assert_eq!(words[1].load(Ordering::Relaxed), rounds * (rounds - 1) / 2);
    ok!(cl, clEnqueueSVMUnmap(queue, at.cast(), 0, null(), null_mut()));
    cl!(cl, clSVMFree(bench.context, at.cast()));
    ok!(cl, clReleaseKernel(kernel));
}

unsafe extern "C" fn freed(_: cl_command_queue, count: cl_uint, pointers: *mut *mut c_void, data: *mut c_void) {
    let tell = unsafe { Box::from_raw(data.cast::<mpsc::Sender<Vec<usize>>>()) };
    let pointers = unsafe { std::slice::from_raw_parts(pointers, count as usize) };
    tell.send(pointers.iter().map(|at| at.addr()).collect()).unwrap();
}

#[test]
fn memory_is_freed_in_the_order_of_the_queue() {
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        let kernel = bench.kernel(common::NEXT, "next");
        let (a, b) = (Svm::new(&bench, 1 << 20), Svm::new(&bench, 100));
        let start = bench.user_event();
        set_pointer(&bench, kernel, 0, a.at);
        bench.launch(queue, kernel, 1 << 20, &[start]);
        let mut own = [a.at.cast::<c_void>()];
        let mut end = null_mut();
        ok!(cl, clEnqueueSVMFree(queue, 1, own.as_mut_ptr(), None, null_mut(), 0, null(), &raw mut end));
        assert_eq!(bench.event_info::<u32>(end, CL_EVENT_COMMAND_TYPE), CL_COMMAND_SVM_FREE);
        set_pointer(&bench, kernel, 0, a.at); // It is there until the kernel has ended.
        ok!(cl, clSetUserEventStatus(start, 0));
        ok!(cl, clWaitForEvents(1, &raw const end));
        let gone = || cl!(cl, clSetKernelArgSVMPointer(kernel, 0, a.at.cast_const().cast()));
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while gone() == 0 && std::time::Instant::now() < until {
            std::thread::yield_now(); // The function that frees it runs beside us.
        }
        assert_eq!(gone(), CL_INVALID_ARG_VALUE);
        let (tell, told) = mpsc::channel::<Vec<usize>>();
        let (mut theirs, data) = ([b.at.cast::<c_void>()], Box::into_raw(Box::new(tell)).cast());
        ok!(cl, clEnqueueSVMFree(queue, 1, theirs.as_mut_ptr(), Some(freed), data, 0, null(), null_mut()));
        ok!(cl, clFinish(queue));
        assert_eq!(told.recv().unwrap(), [b.at.addr()]);
        b.free();
        // With the argument gone, the kernel cannot be launched.
        let (items, mut event) = (1, null_mut::<c_void>());
        let (items, to) = (&raw const items, &raw mut event);
        let launched = cl!(cl, clEnqueueNDRangeKernel(queue, kernel, 1, null(), items, null(), 0, null(), to));
        assert_eq!(launched, CL_INVALID_KERNEL_ARGS);
        ok!(cl, clReleaseKernel(kernel));
    }
}

#[test]
fn a_buffer_over_it_is_the_same_memory() {
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        let svm = Svm::new(&bench, 8192);
        let bytes = pattern(8192, 1);
        svm.put(&bytes);
        let flags = CL_MEM_USE_HOST_PTR;
        let buffer = make!(cl, clCreateBuffer(bench.context, flags, 4096, svm.at.wrapping_add(4096).cast()));
        assert_eq!(bench.mem_info::<u32>(buffer, CL_MEM_USES_SVM_POINTER), CL_TRUE);
        assert_eq!(bench.mem_info::<usize>(buffer, CL_MEM_HOST_PTR), svm.at.addr() + 4096);
        assert_eq!(bench.mem_info::<usize>(buffer, CL_MEM_ASSOCIATED_MEMOBJECT), 0);
        assert_eq!(bench.mem_info::<usize>(buffer, CL_MEM_OFFSET), 0);
        assert_eq!(bench.read(queue, buffer, 4096), bytes[4096..]);
        let region = cl_buffer_region { origin: 1024, size: 100 };
        let (kind, region) = (CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast());
        let part = make!(cl, clCreateSubBuffer(buffer, 0, kind, region));
        assert_eq!(bench.mem_info::<usize>(part, CL_MEM_ASSOCIATED_MEMOBJECT), buffer.addr());
        assert_eq!(bench.mem_info::<usize>(part, CL_MEM_OFFSET), 1024);
        assert_eq!(refused!(cl, clCreateSubBuffer(part, 0, kind, region)), CL_INVALID_MEM_OBJECT);
        let kernel = bench.kernel(common::NEXT, "next");
        bench.set(kernel, 0, &part);
        bench.launch(queue, kernel, 100, &[]);
        let mut wanted = bytes.clone();
        wanted[4096 + 1024..][..100].iter_mut().for_each(|b| *b = b.wrapping_add(1));
        assert_eq!(svm.get(), wanted);
        let mut code = 1;
        let args = (CL_TRUE, CL_MAP_READ, 3, 10);
        let (blocking, flags, offset, len) = args;
        let at = cl!(
            cl,
            clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, len, 0, null(), null_mut(), &raw mut code)
        );
        assert_eq!((code, at.addr()), (0, svm.at.addr() + 4096 + 3));
        ok!(cl, clEnqueueUnmapMemObject(queue, buffer, at, 0, null(), null_mut()));
        let at = svm.at.wrapping_add(4096).cast();
        assert_eq!(refused!(cl, clCreateBuffer(bench.context, CL_MEM_USE_HOST_PTR, 4097, at)), CL_INVALID_BUFFER_SIZE);
        // The buffer keeps what it is made of.
        svm.free();
        assert_eq!(bench.read(queue, buffer, 4096), wanted[4096..]);
        [part, buffer].iter().for_each(|mem| ok!(cl, clReleaseMemObject(*mem)));
        ok!(cl, clReleaseKernel(kernel));
    }
}

#[test]
fn an_address_that_the_program_uses_is_not_taken() {
    let (bench, len) = (&Bench::each(0)[0], 5000);
    let first = Svm::new(bench, len);
    // The next addresses that PoCL's allocator gives are behind the first; each piece takes three pages.
    let (from, pages) = (first.at.wrapping_add(8192), 30 * 4096);
    let own = unsafe { mmap(from.cast(), pages, 3, map_flags(), -1, 0).cast::<u8>() };
    assert_eq!(own, from);
    unsafe { own.write_bytes(9, pages) };
    let second: Vec<Svm<'_>> = (0..8).map(|_| Svm::new(bench, len)).collect();
    for memory in &second {
        memory.put(&vec![5; len]);
        assert_eq!(memory.get(), vec![5; len]);
    }
    let bytes = unsafe { std::slice::from_raw_parts(own, pages) };
    assert!(bytes.iter().all(|byte| *byte == 9), "the program's own memory was taken");
    unsafe { munmap(own.cast(), pages) };
    second.iter().for_each(|memory| memory.free());
    first.free();
}

unsafe extern "C" {
    fn mmap(at: *mut c_void, len: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, len: usize) -> i32;
}

/// `MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE`.
const fn map_flags() -> i32 {
    0x2 | 0x20 | 0x10_0000
}

#[test]
fn what_is_wrong_is_refused() {
    let cl = shared();
    let bench = &Bench::each(0)[0];
    let (context, queue) = (bench.context, bench.queue());
    let mut can: u64 = 0;
    let device = bench.devices[0];
    ok!(cl, clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, 8, (&raw mut can).cast(), null_mut()));
    assert_eq!(can, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | FINE_GRAIN, "PoCL works in shared memory");
    ok!(cl, clGetDeviceInfo(cl.devices()[1], CL_DEVICE_SVM_CAPABILITIES, 8, (&raw mut can).cast(), null_mut()));
    assert_eq!(can, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, "over TCP");
    let alloc = |flags, size, align| cl!(cl, clSVMAlloc(context, flags, size, align));
    assert!(alloc(CL_MEM_READ_WRITE, 0, 0).is_null());
    assert!(alloc(CL_MEM_READ_WRITE, usize::MAX, 0).is_null());
    assert!(alloc(CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, 0).is_null());
    assert!(alloc(CL_MEM_COPY_HOST_PTR, 64, 0).is_null());
    assert!(alloc(CL_MEM_SVM_ATOMICS, 64, 0).is_null());
    let distant = &Bench::each(0)[1];
    assert!(cl!(cl, clSVMAlloc(distant.context, CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0)).is_null());
    assert!(alloc(0, 64, 3).is_null() && alloc(0, 64, 1 << 20).is_null());
    let several = Bench::of(cl, &cl.devices(), 0);
    assert!(cl!(cl, clSVMAlloc(several.context, CL_MEM_READ_WRITE, 64, 0)).is_null());
    let kernel = bench.kernel(WHERE, "where");
    let plain = [0u8; 64];
    let set = |index, at: *const u8| cl!(cl, clSetKernelArgSVMPointer(kernel, index, at.cast()));
    assert_eq!(set(0, plain.as_ptr()), CL_INVALID_ARG_VALUE);
    assert_eq!(set(3, null()), CL_INVALID_ARG_INDEX);
    let svm = Svm::new(bench, 64);
    assert_eq!(set(0, svm.at.wrapping_add(64)), CL_INVALID_ARG_VALUE);
    let value = bench.kernel("kernel void k(ulong n) {}", "k");
    assert_eq!(cl!(cl, clSetKernelArgSVMPointer(value, 0, svm.at.cast())), CL_INVALID_ARG_VALUE);
    let at = svm.at.cast::<c_void>();
    let map = |flags, at, len| cl!(cl, clEnqueueSVMMap(queue, CL_TRUE, flags, at, len, 0, null(), null_mut()));
    assert_eq!(map(CL_MAP_READ, at, 65), CL_INVALID_VALUE);
    assert_eq!(map(CL_MAP_READ, at, 0), CL_INVALID_VALUE);
    assert_eq!(map(CL_MAP_READ, plain.as_ptr().cast_mut().cast(), 4), CL_INVALID_VALUE);
    assert_eq!(cl!(cl, clEnqueueSVMUnmap(queue, at, 0, null(), null_mut())), CL_INVALID_VALUE);
    let copy = |to, from, len| cl!(cl, clEnqueueSVMMemcpy(queue, CL_TRUE, to, from, len, 0, null(), null_mut()));
    assert_eq!(copy(at, null(), 4), CL_INVALID_VALUE);
    assert_eq!(copy(at, at.wrapping_byte_add(8), 16), CL_MEM_COPY_OVERLAP);
    let fill = |at, of: &[u8], len| {
        cl!(cl, clEnqueueSVMMemFill(queue, at, of.as_ptr().cast(), of.len(), len, 0, null(), null_mut()))
    };
    assert_eq!(fill(at, &[1, 2, 3], 6), CL_INVALID_VALUE);
    assert_eq!(fill(at.wrapping_byte_add(1), &[1, 2], 6), CL_INVALID_VALUE);
    assert_eq!(fill(at, &[1, 2], 66), CL_INVALID_VALUE);
    let info = |name, size, value: *const c_void| cl!(cl, clSetKernelExecInfo(kernel, name, size, value));
    let pointers = [plain.as_ptr()];
    assert_eq!(info(CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, pointers.as_ptr().cast()), CL_INVALID_VALUE);
    assert_eq!(info(CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, pointers.as_ptr().cast()), CL_INVALID_VALUE);
    let system = CL_TRUE;
    let system = (&raw const system).cast();
    assert_eq!(info(CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 4, system), CL_INVALID_OPERATION);
    svm.free();
    cl!(cl, clSVMFree(context, null_mut()));
    cl!(cl, clSVMFree(context, plain.as_ptr().cast_mut().cast()));
    [kernel, value].iter().for_each(|kernel| ok!(cl, clReleaseKernel(*kernel)));
}
