//! Kernels that call the system: OpenCL C takes assembly.

use rackloom_opencl_wire::{Argument, Command};

use crate::common::Tenant;

/// `call(global long *x)` makes the call of number `x[0]` with the arguments `x[1..7]`, and puts the result into
/// `x[7]`. An argument whose bit is set in `x[8]` is an offset into the buffer.
pub const SOURCE: &str = "
    long sys(long number, long a, long b, long c, long d, long e, long f) {
        long result;
        __asm__ volatile(\"movq %5, %%r10; movq %6, %%r8; movq %7, %%r9; syscall\" : \"=a\"(result)
            : \"a\"(number), \"D\"(a), \"S\"(b), \"d\"(c), \"g\"(d), \"g\"(e), \"g\"(f)
            : \"rcx\", \"r8\", \"r9\", \"r10\", \"r11\", \"memory\");
        return result;
    }
    void spin() { volatile int x = 0; for (;;) x++; }
    kernel void call(global long *x) {
        long a[6];
        for (int i = 0; i < 6; i++) a[i] = x[1 + i] + (x[8] >> i & 1 ? (long)x : 0);
        x[7] = sys(x[0], a[0], a[1], a[2], a[3], a[4], a[5]);
    }
";

/// Bytes of the buffer.
pub const BYTES: u64 = 4096;

/// Builds a source that has a kernel of this name, as program and kernel 9, with buffer 9.
pub fn load(t: &Tenant, source: &str, name: &str) {
    let build = t.build(9, &format!("{SOURCE}{source}"));
    assert_eq!(build.status, 0, "{}", build.log);
    t.send(&Command::CreateKernel { kernel: 9, program: 9, name }, &[]);
    t.buffer(9, BYTES);
    assert_eq!(t.write(9, 0, &[0; BYTES as usize]).status, 0);
}

/// Launches it, and waits for nothing.
pub fn begin(t: &Tenant) {
    t.enqueue_after(Tenant::launch(9, 1, vec![(0, Argument::Buffer(Some(9)))]), &[], vec![], true);
}

/// Where there is room in the buffer for what a call points to.
pub const ROOM: i64 = 256;

/// Makes a call, with `room` in its place; bits of `pointers` are arguments that are offsets. Returns the result.
pub fn call(t: &Tenant, number: i64, arguments: [i64; 4], pointers: u8, room: &[u8]) -> i64 {
    let [a, b, c, d] = arguments;
    let words = [number, a, b, c, d, 0, 0, 0, pointers.into()].map(i64::to_le_bytes).concat();
    assert_eq!(t.write(9, 0, &words).status, 0);
    if !room.is_empty() {
        assert_eq!(t.write(9, ROOM as u64, room).status, 0);
    }
    assert_eq!(t.run(Tenant::launch(9, 1, vec![(0, Argument::Buffer(Some(9)))]), &[]).status, 0);
    i64::from_le_bytes(t.read(9, 56, 8).tail.try_into().unwrap())
}
