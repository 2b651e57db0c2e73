//! A program that moves bytes in random ways, and knows what must come of it.
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right")]

use std::ptr::{null, null_mut};

use opencl_sys::*;
use rackloom_node::Rng;

use crate::common::{Bench, NEXT, pattern};

/// Bytes of the buffers: from within a message to many pieces.
const SIZES: [usize; 5] = [10_000, 70_000, 600_001, (2 << 20) + 5, 7 << 20];

/// Steps of a program.
const STEPS: usize = 120;

struct Program<'a> {
    bench: &'a Bench,
    rng: Rng,
    kernel: cl_kernel,
    buffers: Vec<Content>,
    /// Memory of the program that commands under way read from.
    sources: Vec<Vec<u8>>,
    /// Where commands under way read to, and what is to be there.
    reads: Vec<(Vec<u8>, Vec<u8>)>,
    /// User events that hold commands back.
    gates: Vec<cl_event>,
}

struct Content {
    buffer: cl_mem,
    bytes: Vec<u8>,
    /// The last command that uses it.
    last: Option<cl_event>,
}

/// A box in rows of a program's or a buffer's memory.
struct Rows {
    row: usize,
    rows: usize,
    pitch: usize,
}

pub fn program(bench: &Bench, seed: u64) {
    let rng = Rng::new(seed);
    let kernel = bench.kernel(NEXT, "next");
    let buffers = SIZES.iter().zip([0, CL_MEM_ALLOC_HOST_PTR, 0, CL_MEM_ALLOC_HOST_PTR, 0]);
    let buffers = buffers.map(|(&len, flags)| {
        let bytes = pattern(len, len as u32);
        let buffer = bench.buffer(flags, len);
        bench.write(bench.queue(), buffer, &bytes);
        Content { buffer, bytes, last: None }
    });
    let buffers = buffers.collect();
    let (sources, reads, gates) = (Vec::new(), Vec::new(), Vec::new());
    let mut program = Program { bench, rng, kernel, buffers, sources, reads, gates };
    for step in 0..STEPS {
        program.step(step);
        if step % 15 == 14 {
            program.settle(seed, step);
        }
    }
    program.settle(seed, STEPS);
    for content in &program.buffers {
        let seen = bench.read(bench.queue(), content.buffer, content.bytes.len());
        assert!(seen == content.bytes, "seed {seed}: the end");
        ok!(bench.cl, clReleaseMemObject(content.buffer));
    }
    ok!(bench.cl, clReleaseKernel(kernel));
}

impl Program<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u64) as usize
    }

    fn pick(&mut self) -> usize {
        self.below(SIZES.len())
    }

    /// A part of a buffer: all of it, or some.
    fn part(&mut self, len: usize) -> (usize, usize) {
        if self.below(3) == 0 {
            return (0, len);
        }
        let some = 1 + self.below(len);
        (self.below(len - some + 1), some)
    }

    /// What a command has to wait for that uses these buffers; sometimes a user event as well.
    fn waits(&mut self, used: &[usize]) -> Vec<cl_event> {
        let mut waits: Vec<_> = used.iter().filter_map(|i| self.buffers[*i].last).collect();
        if self.below(8) == 0 {
            self.gates.push(self.bench.user_event());
        }
        if self.below(4) == 0 {
            waits.extend(self.gates.last());
        }
        waits
    }

    /// Notes that a command uses buffers.
    fn uses(&mut self, used: &[usize], event: cl_event) {
        for i in used {
            ok!(self.bench.cl, clRetainEvent(event));
            if let Some(before) = self.buffers[*i].last.replace(event) {
                ok!(self.bench.cl, clReleaseEvent(before));
            }
        }
        ok!(self.bench.cl, clReleaseEvent(event));
    }

    fn open_gates(&mut self) {
        for gate in std::mem::take(&mut self.gates) {
            ok!(self.bench.cl, clSetUserEventStatus(gate, CL_COMPLETE));
            ok!(self.bench.cl, clReleaseEvent(gate));
        }
    }

    /// Waits for all, and looks at what was read.
    fn settle(&mut self, seed: u64, step: usize) {
        self.open_gates();
        ok!(self.bench.cl, clFinish(self.bench.queue()));
        for (number, (seen, want)) in self.reads.drain(..).enumerate() {
            assert!(seen == want, "seed {seed}, read {number} before step {step}");
        }
        self.sources.clear();
    }

    fn step(&mut self, step: usize) {
        let a = self.pick();
        // A call that blocks must not wait for what only this thread lets go.
        let blocking = self.below(3) == 0;
        if blocking {
            self.open_gates();
        }
        match self.below(10) {
            0..3 => self.write(a, step, blocking),
            3..6 => self.read(a, blocking),
            6 => self.rows(a, step, blocking),
            7 => self.copy(a),
            8 => self.launch(a),
            _ => self.map(a, step),
        }
    }

    fn list(waits: &[cl_event]) -> (u32, *const cl_event) {
        (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() })
    }

    fn write(&mut self, a: usize, step: usize, blocking: bool) {
        let (at, len) = self.part(self.buffers[a].bytes.len());
        let waits = if blocking { self.buffers[a].last.into_iter().collect() } else { self.waits(&[a]) };
        let shift = self.below(70);
        let bytes = pattern(len + shift, step as u32);
        self.buffers[a].bytes[at..at + len].copy_from_slice(&bytes[shift..]);
        self.sources.push(bytes);
        let from = self.sources.last().unwrap()[shift..].as_ptr().cast();
        let (queue, buffer, mut event) = (self.bench.queue(), self.buffers[a].buffer, null_mut());
        let (count, list) = Self::list(&waits);
        let blocks = u32::from(blocking);
        ok!(self.bench.cl, clEnqueueWriteBuffer(queue, buffer, blocks, at, len, from, count, list, &raw mut event));
        self.uses(&[a], event);
    }

    fn read(&mut self, a: usize, blocking: bool) {
        let (at, len) = self.part(self.buffers[a].bytes.len());
        let waits = if blocking { self.buffers[a].last.into_iter().collect() } else { self.waits(&[a]) };
        let shift = self.below(70);
        let want = [&vec![0xEE; shift][..], &self.buffers[a].bytes[at..at + len], &[0xEE; 9]].concat();
        self.reads.push((vec![0xEE; want.len()], want));
        let to = self.reads.last_mut().unwrap().0[shift..].as_mut_ptr().cast();
        let (queue, buffer, mut event) = (self.bench.queue(), self.buffers[a].buffer, null_mut());
        let (count, list) = Self::list(&waits);
        let blocks = u32::from(blocking);
        ok!(self.bench.cl, clEnqueueReadBuffer(queue, buffer, blocks, at, len, to, count, list, &raw mut event));
        if blocking {
            let (seen, want) = self.reads.last().unwrap();
            assert!(seen == want, "it is there on return");
        }
        self.uses(&[a], event);
    }

    /// Rows with gaps, on both sides.
    fn rows(&mut self, a: usize, step: usize, blocking: bool) {
        let len = self.buffers[a].bytes.len();
        let there = Rows { row: 1 + self.below(len / 8), rows: 1 + self.below(7), pitch: len / 8 };
        let here = Rows { pitch: there.row + self.below(50), ..there };
        let waits = if blocking { self.buffers[a].last.into_iter().collect() } else { self.waits(&[a]) };
        let writes = self.below(2) == 0;
        let mut host = pattern(here.pitch * here.rows, step as u32);
        let mut want = host.clone();
        for y in 0..there.rows {
            let (from, to) = (y * there.pitch, y * here.pitch);
            if writes {
                self.buffers[a].bytes[from..from + there.row].copy_from_slice(&host[to..to + there.row]);
            } else {
                want[to..to + there.row].copy_from_slice(&self.buffers[a].bytes[from..from + there.row]);
            }
        }
        let at = host.as_mut_ptr();
        if writes {
            self.sources.push(host);
        } else {
            self.reads.push((host, want));
        }
        let (queue, buffer, mut event) = (self.bench.queue(), self.buffers[a].buffer, null_mut());
        let (count, list) = Self::list(&waits);
        let (zero, region, blocks) = ([0; 3], [there.row, there.rows, 1], u32::from(blocking));
        let (zero, region, to) = (zero.as_ptr(), region.as_ptr(), &raw mut event);
        if writes {
            ok!(
                self.bench.cl,
                clEnqueueWriteBufferRect(
                    queue,
                    buffer,
                    blocks,
                    zero,
                    zero,
                    region,
                    there.pitch,
                    0,
                    here.pitch,
                    0,
                    at.cast(),
                    count,
                    list,
                    to
                )
            );
        } else {
            ok!(
                self.bench.cl,
                clEnqueueReadBufferRect(
                    queue,
                    buffer,
                    blocks,
                    zero,
                    zero,
                    region,
                    there.pitch,
                    0,
                    here.pitch,
                    0,
                    at.cast(),
                    count,
                    list,
                    to
                )
            );
        }
        self.uses(&[a], event);
    }

    fn copy(&mut self, a: usize) {
        let b = (a + 1 + self.below(SIZES.len() - 1)) % SIZES.len();
        let len = 1 + self.below(self.buffers[a].bytes.len().min(self.buffers[b].bytes.len()));
        let waits = self.waits(&[a, b]);
        let bytes = self.buffers[a].bytes[..len].to_vec();
        self.buffers[b].bytes[..len].copy_from_slice(&bytes);
        let (queue, from, to) = (self.bench.queue(), self.buffers[a].buffer, self.buffers[b].buffer);
        let ((count, list), mut event) = (Self::list(&waits), null_mut());
        ok!(self.bench.cl, clEnqueueCopyBuffer(queue, from, to, 0, 0, len, count, list, &raw mut event));
        self.uses(&[a, b], event);
    }

    fn launch(&mut self, a: usize) {
        let waits = self.waits(&[a]);
        let len = 1 + self.below(self.buffers[a].bytes.len());
        self.buffers[a].bytes[..len].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        self.bench.set(self.kernel, 0, &self.buffers[a].buffer);
        let event = self.bench.launch(self.bench.queue(), self.kernel, len, &waits);
        self.uses(&[a], event);
    }

    fn map(&mut self, a: usize, step: usize) {
        self.open_gates();
        let (at, len) = self.part(self.buffers[a].bytes.len());
        let waits: Vec<_> = self.buffers[a].last.into_iter().collect();
        let ((count, list), mut event) = (Self::list(&waits), null_mut());
        let (cl, queue, buffer) = (self.bench.cl, self.bench.queue(), self.buffers[a].buffer);
        let flags = [CL_MAP_READ, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION][self.below(3)];
        let to = make!(cl, clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, at, len, count, list, null_mut()));
        let seen = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), len) };
        let model = &mut self.buffers[a].bytes[at..at + len];
        assert!(flags & CL_MAP_READ == 0 || seen == model, "mapped at step {step}");
        if flags != CL_MAP_READ {
            seen.copy_from_slice(&pattern(len, step as u32));
            model.copy_from_slice(seen);
        }
        self.move_in_place(a, at, seen, flags != CL_MAP_READ);
        ok!(cl, clEnqueueUnmapMemObject(queue, buffer, to, 0, null(), &raw mut event));
        self.uses(&[a], event);
    }

    /// Moves bytes between another buffer and where this one is mapped, where they need no copy on the way.
    fn move_in_place(&mut self, a: usize, at: usize, seen: &mut [u8], may_write: bool) {
        let b = (a + 1 + self.below(SIZES.len() - 1)) % SIZES.len();
        let len = 1 + self.below(seen.len().min(self.buffers[b].bytes.len()));
        let (here, there) = (self.below(seen.len() - len + 1), self.below(self.buffers[b].bytes.len() - len + 1));
        let waits: Vec<_> = self.buffers[b].last.into_iter().collect();
        let ((count, list), mut event) = (Self::list(&waits), null_mut());
        let (queue, buffer, place) = (self.bench.queue(), self.buffers[b].buffer, &mut seen[here..here + len]);
        let (from, to) = (place.as_mut_ptr().cast(), &raw mut event);
        if may_write && self.rng.below(2) == 0 {
            ok!(self.bench.cl, clEnqueueReadBuffer(queue, buffer, CL_TRUE, there, len, from, count, list, to));
            assert!(*place == self.buffers[b].bytes[there..there + len], "read to where a buffer is mapped");
            self.buffers[a].bytes[at + here..at + here + len].copy_from_slice(place);
        } else {
            ok!(self.bench.cl, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, there, len, from, count, list, to));
            self.buffers[b].bytes[there..there + len].copy_from_slice(place);
        }
        self.uses(&[b], event);
    }
}
