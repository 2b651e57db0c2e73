//! Two tenants that do random things to one card at the same time.

use std::ptr::{null, null_mut};

use opencl_sys::*;

use crate::common::Bench;
use crate::{floats, kernel, release, tenants};

/// A tenant that does this and that without waiting, and knows what must come of it.
struct Busy<'a> {
    bench: &'a Bench,
    vadd: cl_kernel,
    rng: rackloom_node::Rng,
    /// Buffers, and what is in them when all that was enqueued is done.
    buffers: Vec<(cl_mem, Vec<f32>)>,
    /// Where commands that may not have ended read from.
    sources: Vec<Vec<u8>>,
    /// What reads that may not have ended have to give, and where.
    reads: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Busy<'_> {
    fn fresh(&mut self) -> (cl_mem, Vec<f32>) {
        let most = if self.rng.below(4) == 0 { 60_000 } else { 3000 };
        let len = 1 + self.rng.below(most) as usize;
        (self.bench.buffer(0, 4 * len), vec![0.0; len])
    }

    fn pick(&mut self) -> usize {
        self.rng.below(self.buffers.len() as u64) as usize
    }

    /// A part that lies in both buffers: first element of each, and how many.
    fn part(&mut self, a: usize, b: usize) -> (usize, usize, usize) {
        let (long_a, long_b) = (self.buffers[a].1.len(), self.buffers[b].1.len());
        let len = 1 + self.rng.below(long_a.min(long_b) as u64) as usize;
        let mut at = |long: usize| self.rng.below((long - len + 1) as u64) as usize;
        (at(long_a), at(long_b), len)
    }

    fn act(&mut self) {
        let (cl, queue) = (self.bench.cl, self.bench.queue());
        let (a, b, c) = (self.pick(), self.pick(), self.pick());
        let (at, to, len) = self.part(a, b);
        match self.rng.below(15) {
            0..4 => {
                let values: Vec<f32> = (0..len).map(|_| self.rng.below(1000) as f32).collect();
                self.buffers[a].1[at..][..len].copy_from_slice(&values);
                self.sources.push(floats(values));
                let from = self.sources.last().unwrap().as_ptr().cast();
                let buffer = self.buffers[a].0;
                ok!(cl, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 4 * at, 4 * len, from, 0, null(), null_mut()));
            }
            4 => {
                let value = self.rng.below(1000) as f32;
                self.buffers[a].1[at..][..len].fill(value);
                let (buffer, from) = (self.buffers[a].0, (&raw const value).cast());
                ok!(cl, clEnqueueFillBuffer(queue, buffer, from, 4, 4 * at, 4 * len, 0, null(), null_mut()));
            }
            5..7 if a != b => {
                let moved = self.buffers[a].1[at..][..len].to_vec();
                self.buffers[b].1[to..][..len].copy_from_slice(&moved);
                let (from, into) = (self.buffers[a].0, self.buffers[b].0);
                ok!(cl, clEnqueueCopyBuffer(queue, from, into, 4 * at, 4 * to, 4 * len, 0, null(), null_mut()));
            }
            7..12 => {
                let n = [a, b, c].iter().map(|i| self.buffers[*i].1.len()).min().unwrap();
                let sums: Vec<f32> =
                    self.buffers[a].1.iter().zip(&self.buffers[b].1).take(n).map(|(x, y)| x + y).collect();
                self.buffers[c].1[..n].copy_from_slice(&sums);
                [a, b, c].iter().zip(0..).for_each(|(i, index)| self.bench.set(self.vadd, index, &self.buffers[*i].0));
                self.bench.set(self.vadd, 3, &(n as u64));
                ok!(cl, clEnqueueTask(queue, self.vadd, 0, null(), null_mut()));
            }
            12 => {
                let fresh = self.fresh();
                let (old, _) = std::mem::replace(&mut self.buffers[a], fresh);
                ok!(cl, clReleaseMemObject(old));
            }
            13 => {
                let expected = floats(self.buffers[a].1[at..][..len].iter().copied());
                self.reads.push((expected, vec![0; 4 * len]));
                let into = self.reads.last_mut().unwrap().1.as_mut_ptr().cast();
                let buffer = self.buffers[a].0;
                ok!(cl, clEnqueueReadBuffer(queue, buffer, CL_FALSE, 4 * at, 4 * len, into, 0, null(), null_mut()));
            }
            _ => {
                let (buffer, expected) = &self.buffers[a];
                let got = self.bench.read(queue, *buffer, 4 * expected.len());
                assert!(got == floats(expected.iter().copied()));
                // A queue in order: all that came before is done.
                self.sources.clear();
                assert!(self.reads.drain(..).all(|(expected, got)| got == expected));
            }
        }
    }
}

#[test]
fn tenants_at_the_same_time_do_not_disturb_each_other() {
    std::thread::scope(|threads| {
        for (seed, bench) in tenants(7).into_iter().enumerate() {
            threads.spawn(move || {
                let bench = &bench;
                let rng = rackloom_node::Rng::new(seed as u64);
                let vadd = kernel(bench, "vadd", "vadd");
                let mut busy = Busy { bench, vadd, rng, buffers: Vec::new(), sources: Vec::new(), reads: Vec::new() };
                for _ in 0..7 {
                    let fresh = busy.fresh();
                    busy.buffers.push(fresh);
                }
                (0..1500).for_each(|_| busy.act());
                ok!(bench.cl, clFinish(bench.queue()));
                let buffers: Vec<cl_mem> = busy.buffers.iter().map(|(buffer, _)| *buffer).collect();
                release(bench, &buffers, &[vadd]);
            });
        }
    });
}
