//! Images and samplers: what the program writes, copies, fills, maps and computes, against a model in its own memory.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ptr::{null, null_mut};

use common::{Bench, info, pattern, shared};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// An image, and its pixels without gaps.
struct Pixels {
    mem: cl_mem,
    kind: u32,
    /// Bytes of a pixel.
    pixel: usize,
    /// Pixels of a row, rows, slices.
    extent: [usize; 3],
    model: Vec<u8>,
}

const KINDS: [(u32, [usize; 3]); 5] = [
    (CL_MEM_OBJECT_IMAGE1D, [301, 1, 1]),
    (CL_MEM_OBJECT_IMAGE1D_ARRAY, [63, 5, 1]),
    (CL_MEM_OBJECT_IMAGE2D, [97, 33, 1]),
    (CL_MEM_OBJECT_IMAGE2D_ARRAY, [31, 17, 4]),
    (CL_MEM_OBJECT_IMAGE3D, [23, 12, 7]),
];

const RGBA8: cl_image_format =
    cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };
const R32F: cl_image_format = cl_image_format { image_channel_order: CL_R, image_channel_data_type: CL_FLOAT };

fn described(kind: u32, [width, rows, slices]: [usize; 3]) -> cl_image_desc {
    let (height, depth, layers) = match kind {
        CL_MEM_OBJECT_IMAGE1D_ARRAY => (0, 0, rows),
        CL_MEM_OBJECT_IMAGE2D => (rows, 0, 0),
        CL_MEM_OBJECT_IMAGE2D_ARRAY => (rows, 0, slices),
        CL_MEM_OBJECT_IMAGE3D => (rows, slices, 0),
        _ => (0, 0, 0),
    };
    cl_image_desc {
        image_type: kind,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: layers,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: null_mut(),
    }
}

fn made(bench: &Bench, flags: u64, kind: u32, extent: [usize; 3], seed: u32) -> Pixels {
    let pixel = 4;
    let mut model = pattern(extent.iter().product::<usize>() * pixel, seed);
    let (desc, at) = (described(kind, extent), model.as_mut_ptr().cast());
    let flags = flags | CL_MEM_COPY_HOST_PTR;
    let mem = make!(bench.cl, clCreateImage(bench.context, flags, &RGBA8, (&raw const desc).cast(), at));
    Pixels { mem, kind, pixel, extent, model }
}

impl Pixels {
    /// Where each row of an area lies in the model, in order.
    fn rows(&self, origin: [usize; 3], region: [usize; 3]) -> Vec<std::ops::Range<usize>> {
        let [width, rows, _] = self.extent;
        let slices = (0..region[2]).flat_map(|z| (0..region[1]).map(move |y| (y, z)));
        let row = |(y, z)| {
            let first = (((origin[2] + z) * rows + origin[1] + y) * width + origin[0]) * self.pixel;
            first..first + region[0] * self.pixel
        };
        slices.map(row).collect()
    }

    fn area(&self, origin: [usize; 3], region: [usize; 3]) -> Vec<u8> {
        self.rows(origin, region).into_iter().flat_map(|row| self.model[row].to_vec()).collect()
    }

    fn put(&mut self, origin: [usize; 3], region: [usize; 3], bytes: &[u8]) {
        for (row, from) in self.rows(origin, region).into_iter().zip(bytes.chunks(region[0] * self.pixel)) {
            self.model[row].copy_from_slice(from);
        }
    }

    fn read(&self, bench: &Bench, queue: cl_command_queue, origin: [usize; 3], region: [usize; 3]) -> Vec<u8> {
        let mut bytes = vec![0; region.iter().product::<usize>() * self.pixel];
        let (o, r, to) = (origin.as_ptr(), region.as_ptr(), bytes.as_mut_ptr().cast());
        ok!(bench.cl, clEnqueueReadImage(queue, self.mem, CL_TRUE, o, r, 0, 0, to, 0, null(), null_mut()));
        bytes
    }

    fn check(&self, bench: &Bench, queue: cl_command_queue) {
        assert!(self.read(bench, queue, [0; 3], self.extent) == self.model, "{:x} {:?}", self.kind, self.extent);
    }

    /// An area that is neither empty nor all of it where there is room for that.
    fn part(&self, seed: usize) -> ([usize; 3], [usize; 3]) {
        let origin = self.extent.map(|n| if n > 2 { (1 + seed) % (n / 2) } else { 0 });
        let region = std::array::from_fn(|at| (self.extent[at] - origin[at]).div_ceil(2));
        (origin, region)
    }
}

#[test]
fn areas_are_written_and_read_with_any_distances() {
    for bench in Bench::each(0) {
        for (seed, (kind, extent)) in KINDS.into_iter().enumerate() {
            let mut image = made(&bench, 0, kind, extent, seed as u32);
            image.check(&bench, bench.queue());
            let (origin, region) = image.part(seed);
            let line = region[0] * 4;
            // Rows with gaps, and slices with more.
            let (row_pitch, lines) = (line + 12, kind == CL_MEM_OBJECT_IMAGE1D_ARRAY);
            let slice_pitch = if lines { row_pitch * 2 } else { row_pitch * (region[1] + 2) };
            let has_slices = lines || region[2] > 1 || kind == CL_MEM_OBJECT_IMAGE3D;
            let distance = |y: usize, z: usize| if lines { y * slice_pitch } else { y * row_pitch + z * slice_pitch };
            let given = if has_slices { slice_pitch } else { 0 };
            let from = pattern(distance(region[1], region[2]) + line, 77);
            let (o, r, at) = (origin.as_ptr(), region.as_ptr(), from.as_ptr().cast());
            let (queue, mem) = (bench.queue(), image.mem);
            ok!(bench.cl, clEnqueueWriteImage(queue, mem, CL_TRUE, o, r, row_pitch, given, at, 0, null(), null_mut()));
            let rows = (0..region[2]).flat_map(|z| (0..region[1]).map(move |y| (y, z)));
            let packed: Vec<u8> = rows.clone().flat_map(|(y, z)| from[distance(y, z)..][..line].to_vec()).collect();
            image.put(origin, region, &packed);
            image.check(&bench, queue);
            let mut back = vec![0xAA; from.len()];
            let to = back.as_mut_ptr().cast();
            ok!(bench.cl, clEnqueueReadImage(queue, mem, CL_TRUE, o, r, row_pitch, given, to, 0, null(), null_mut()));
            for (y, z) in rows {
                let at = distance(y, z);
                assert_eq!(back[at..][..line], from[at..][..line]);
                assert!(back[at + line..][..8].iter().all(|b| *b == 0xAA), "a gap was written");
            }
            ok!(bench.cl, clReleaseMemObject(image.mem));
        }
    }
}

#[test]
fn a_large_image_goes_in_pieces() {
    for bench in Bench::each(0) {
        let image = made(&bench, 0, CL_MEM_OBJECT_IMAGE2D, [1500, 1201, 1], 5);
        image.check(&bench, bench.queue());
        let (origin, region) = ([1, 1, 0], [1499, 1200, 1]);
        assert!(image.read(&bench, bench.queue(), origin, region) == image.area(origin, region));
        ok!(bench.cl, clReleaseMemObject(image.mem));
    }
}

#[test]
fn images_are_copied_filled_and_become_bytes() {
    for bench in Bench::each(0) {
        let queue = bench.queue();
        for (seed, (kind, extent)) in KINDS.into_iter().enumerate() {
            let (from, mut to) = (made(&bench, 0, kind, extent, 1), made(&bench, 0, kind, extent, 2));
            let (origin, region) = from.part(seed);
            let (o, r, none) = (origin.as_ptr(), region.as_ptr(), [0usize; 3]);
            let len = region.iter().product::<usize>() * 4;
            ok!(bench.cl, clEnqueueCopyImage(queue, from.mem, to.mem, o, none.as_ptr(), r, 0, null(), null_mut()));
            to.put(none, region, &from.area(origin, region));
            to.check(&bench, queue);

            let color = [1u32, 2, 300, 4];
            ok!(bench.cl, clEnqueueFillImage(queue, to.mem, color.as_ptr().cast(), o, r, 0, null(), null_mut()));
            to.put(origin, region, &[1, 2, 255, 4].repeat(len / 4));
            to.check(&bench, queue);

            let bytes = bench.filled(&pattern(len + 100, 9));
            ok!(bench.cl, clEnqueueCopyImageToBuffer(queue, from.mem, bytes, o, r, 100, 0, null(), null_mut()));
            let read = bench.read(queue, bytes, len + 100);
            assert!(read[..100] == pattern(len + 100, 9)[..100] && read[100..] == from.area(origin, region));
            ok!(bench.cl, clEnqueueCopyBufferToImage(queue, bytes, to.mem, 4, o, r, 0, null(), null_mut()));
            to.put(origin, region, &read[4..][..len]);
            to.check(&bench, queue);
            [from.mem, to.mem, bytes].iter().for_each(|mem| ok!(bench.cl, clReleaseMemObject(*mem)));
        }
    }
}

const KERNELS: &str = "
    kernel void mirror(read_only image2d_t from, write_only image2d_t to, sampler_t s) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        write_imageui(to, (int2)(get_image_width(to) - 1 - at.x, at.y), read_imageui(from, s, at));
    }
    kernel void sample(read_only image2d_t from, sampler_t s, global float *to, float x, float y) {
        to[0] = read_imagef(from, s, (float2)(x, y)).x;
    }";

#[test]
fn kernels_read_and_write_images_through_samplers() {
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        let (address, nearest) = (CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST);
        let sampler = make!(cl, clCreateSampler(bench.context, CL_FALSE, address, nearest));
        let extent = [40, 30, 1];
        let (from, mut to) = (
            made(&bench, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, extent, 1),
            made(&bench, CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D, extent, 2),
        );
        let kernel = bench.kernel(KERNELS, "mirror");
        bench.set(kernel, 0, &from.mem);
        bench.set(kernel, 1, &to.mem);
        bench.set(kernel, 2, &sampler);
        // A kernel keeps its sampler.
        ok!(cl, clReleaseSampler(sampler));
        let global = [40usize, 30];
        let items = global.as_ptr();
        ok!(cl, clEnqueueNDRangeKernel(queue, kernel, 2, null(), items, null(), 0, null(), null_mut()));
        for y in 0..30 {
            for x in 0..40 {
                let pixel = from.area([x, y, 0], [1, 1, 1]);
                to.put([39 - x, y, 0], [1, 1, 1], &pixel);
            }
        }
        to.check(&bench, queue);

        let values = [1.0f32, 3.0];
        let (desc, at) = (described(CL_MEM_OBJECT_IMAGE2D, [2, 1, 1]), values.as_ptr().cast_mut().cast());
        let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
        let line = make!(cl, clCreateImage(bench.context, flags, &R32F, (&raw const desc).cast(), at));
        let properties = [
            u64::from(CL_SAMPLER_NORMALIZED_COORDS),
            u64::from(CL_TRUE),
            u64::from(CL_SAMPLER_ADDRESSING_MODE),
            u64::from(CL_ADDRESS_CLAMP_TO_EDGE),
            u64::from(CL_SAMPLER_FILTER_MODE),
            u64::from(CL_FILTER_LINEAR),
            0,
        ];
        let smooth = make!(cl, clCreateSamplerWithProperties(bench.context, properties.as_ptr()));
        let told = info(|size, to, len| cl!(cl, clGetSamplerInfo(smooth, CL_SAMPLER_FILTER_MODE, size, to, len)));
        assert_eq!(told, Ok(CL_FILTER_LINEAR.to_ne_bytes().to_vec()));
        let told = info(|size, to, len| cl!(cl, clGetSamplerInfo(smooth, CL_SAMPLER_PROPERTIES, size, to, len)));
        assert_eq!(told.map(|list| list.len()), Ok(size_of_val(&properties)));
        let sample = bench.kernel(KERNELS, "sample");
        let out = bench.buffer(0, 4);
        bench.set(sample, 0, &line);
        bench.set(sample, 1, &smooth);
        bench.set(sample, 2, &out);
        for (x, wanted) in [(0.0f32, 1.0f32), (0.25, 1.0), (0.5, 2.0), (0.75, 3.0), (2.0, 3.0)] {
            bench.set(sample, 3, &x);
            bench.set(sample, 4, &0.5f32);
            ok!(cl, clReleaseEvent(bench.launch(queue, sample, 1, &[])));
            let read = bench.read(queue, out, 4);
            assert_eq!(f32::from_ne_bytes(read.try_into().unwrap()), wanted, "at {x}");
        }
        ok!(cl, clReleaseSampler(smooth));
        [kernel, sample].iter().for_each(|kernel| ok!(cl, clReleaseKernel(*kernel)));
        [from.mem, to.mem, line, out].iter().for_each(|mem| ok!(cl, clReleaseMemObject(*mem)));
    }
}

#[test]
fn mapped_areas_show_the_pixels_and_take_new_ones() {
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        for (seed, (kind, extent)) in KINDS.into_iter().enumerate() {
            for own in [false, true] {
                let mut image = made(&bench, 0, kind, extent, 3);
                let mut memory = image.model.clone();
                if own {
                    ok!(cl, clReleaseMemObject(image.mem));
                    let (desc, at) = (described(kind, extent), memory.as_mut_ptr().cast());
                    let (flags, desc) = (CL_MEM_USE_HOST_PTR, (&raw const desc).cast());
                    image.mem = make!(cl, clCreateImage(bench.context, flags, &RGBA8, desc, at));
                }
                let (origin, region) = image.part(seed);
                let (o, r) = (origin.as_ptr(), region.as_ptr());
                let (mut row, mut slice) = (0, 0);
                let (flags, pitches) = (CL_MAP_READ | CL_MAP_WRITE, [&raw mut row, &raw mut slice]);
                let at = make!(
                    cl,
                    clEnqueueMapImage(
                        queue,
                        image.mem,
                        CL_TRUE,
                        flags,
                        o,
                        r,
                        pitches[0],
                        pitches[1],
                        0,
                        null(),
                        null_mut()
                    )
                );
                let lines = kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
                let rows = (0..region[2]).flat_map(|z| (0..region[1]).map(move |y| (y, z)));
                let place = |(y, z): (usize, usize)| {
                    let distance = if lines { y * slice } else { y * row + z * slice };
                    unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>().add(distance), region[0] * 4) }
                };
                let seen: Vec<u8> = rows.clone().flat_map(|at| place(at).to_vec()).collect();
                assert!(seen == image.area(origin, region), "{kind:x} {own}");
                if own {
                    let first = image.rows(origin, region)[0].start;
                    assert_eq!(
                        at.cast::<u8>(),
                        memory.as_mut_ptr().wrapping_add(first),
                        "it is in the program's memory"
                    );
                }
                rows.for_each(|at| place(at).iter_mut().for_each(|b| *b = !*b));
                ok!(cl, clEnqueueUnmapMemObject(queue, image.mem, at, 0, null(), null_mut()));
                image.put(origin, region, &seen.iter().map(|b| !b).collect::<Vec<_>>());
                image.check(&bench, queue);
                ok!(cl, clReleaseMemObject(image.mem));
            }
        }
    }
}

#[test]
fn a_buffer_is_seen_as_an_image() {
    const DESCRIPTOR: cl_int = CL_INVALID_IMAGE_DESCRIPTOR;
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        let bytes = bench.filled(&pattern(400, 4));
        let mut desc = described(CL_MEM_OBJECT_IMAGE1D_BUFFER, [90, 1, 1]);
        desc.buffer = bytes;
        let desc = (&raw const desc).cast();
        let mem = make!(cl, clCreateImage(bench.context, 0, &RGBA8, desc, null_mut()));
        let (kind, extent) = (CL_MEM_OBJECT_IMAGE1D_BUFFER, [90, 1, 1]);
        let mut image = Pixels { mem, kind, pixel: 4, extent, model: pattern(400, 4)[..360].to_vec() };
        image.check(&bench, queue);
        let (origin, region, new) = ([10, 0, 0], [5, 1, 1], [7; 20]);
        let (o, r, at) = (origin.as_ptr(), region.as_ptr(), new.as_ptr().cast());
        ok!(cl, clEnqueueWriteImage(queue, mem, CL_TRUE, o, r, 0, 0, at, 0, null(), null_mut()));
        image.put(origin, region, &new);
        assert!(bench.read(queue, bytes, 400)[..360] == image.model, "it is the buffer's memory");
        bench.write(queue, bytes, &[1; 100]);
        image.model[..100].fill(1);
        image.check(&bench, queue);
        assert_eq!(bench.mem_info::<usize>(mem, CL_MEM_ASSOCIATED_MEMOBJECT), bytes.addr());
        // There is one row: a pitch that could be one says nothing, and programs give one.
        for (pitch, code) in [(360, CL_SUCCESS), (400, CL_SUCCESS), (362, DESCRIPTOR), (356, DESCRIPTOR)] {
            let mut desc = described(CL_MEM_OBJECT_IMAGE1D_BUFFER, [90, 1, 1]);
            (desc.buffer, desc.image_row_pitch) = (bytes, pitch);
            let (desc, mut said) = ((&raw const desc).cast(), CL_SUCCESS);
            let mem = cl!(cl, clCreateImage(bench.context, 0, &RGBA8, desc, null_mut(), &raw mut said));
            assert_eq!(said, code, "a pitch of {pitch}");
            if code == CL_SUCCESS {
                image.mem = mem;
                image.check(&bench, queue);
                ok!(cl, clReleaseMemObject(mem));
            }
        }
        [mem, bytes].iter().for_each(|mem| ok!(cl, clReleaseMemObject(*mem)));
    }
}

#[test]
fn an_image_follows_the_commands_from_device_to_device() {
    let cl = shared();
    let bench = Bench::of(cl, &cl.devices(), 0);
    for (seed, (kind, extent)) in KINDS.into_iter().enumerate() {
        let mut image = made(&bench, 0, kind, extent, seed as u32);
        for turn in 0..4 {
            let (origin, region) = image.part(turn);
            let new = pattern(region.iter().product::<usize>() * 4, turn as u32 + 50);
            let (o, r, at) = (origin.as_ptr(), region.as_ptr(), new.as_ptr().cast());
            let queue = bench.queues[turn % 3];
            ok!(cl, clEnqueueWriteImage(queue, image.mem, CL_TRUE, o, r, 0, 0, at, 0, null(), null_mut()));
            image.put(origin, region, &new);
            image.check(&bench, bench.queues[(turn + 1) % 3]);
        }
        ok!(cl, clReleaseMemObject(image.mem));
    }
}

#[test]
fn what_an_image_is_is_told() {
    for bench in Bench::each(0) {
        let cl = bench.cl;
        let mut count = 0;
        let (flags, kind) = (CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D);
        ok!(cl, clGetSupportedImageFormats(bench.context, flags, kind, 0, null_mut(), &raw mut count));
        let mut formats = vec![RGBA8; count as usize];
        let list = formats.as_mut_ptr();
        ok!(cl, clGetSupportedImageFormats(bench.context, flags, kind, count, list, null_mut()));
        let is_ours = |f: &&cl_image_format| (f.image_channel_order, f.image_channel_data_type) == (CL_RGBA, CL_FLOAT);
        assert_eq!(formats.iter().filter(is_ours).count(), 1);
        for (kind, extent) in KINDS {
            let image = made(&bench, CL_MEM_READ_ONLY, kind, extent, 1);
            let told = |name| {
                let bytes = info(|size, to, len| cl!(cl, clGetImageInfo(image.mem, name, size, to, len))).unwrap();
                usize::from_ne_bytes(bytes.try_into().unwrap())
            };
            let desc = described(kind, extent);
            let size = [CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE].map(told);
            assert_eq!(size, [desc.image_width, desc.image_height, desc.image_depth, desc.image_array_size]);
            assert_eq!((told(CL_IMAGE_ELEMENT_SIZE), told(CL_IMAGE_ROW_PITCH)), (4, extent[0] * 4));
            assert_eq!(bench.mem_info::<u32>(image.mem, CL_MEM_TYPE), kind);
            assert_eq!(bench.mem_info::<usize>(image.mem, CL_MEM_SIZE), image.model.len());
            ok!(cl, clReleaseMemObject(image.mem));
        }
    }
}

#[test]
fn what_is_wrong_is_refused() {
    for bench in Bench::each(0) {
        let (cl, queue) = (bench.cl, bench.queue());
        let image = made(&bench, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, [20, 10, 1], 1);
        let buffer = bench.buffer(0, 4000);
        let mut bytes = [0u8; 4000];
        let at = bytes.as_mut_ptr().cast();
        let zero = [0usize; 3];
        let read = |mem, origin: [usize; 3], region: [usize; 3], row| {
            let (o, r) = (origin.as_ptr(), region.as_ptr());
            cl!(cl, clEnqueueReadImage(queue, mem, CL_TRUE, o, r, row, 0, at, 0, null(), null_mut()))
        };
        assert_eq!(read(buffer, zero, [1, 1, 1], 0), CL_INVALID_MEM_OBJECT);
        assert_eq!(read(image.mem, zero, [21, 1, 1], 0), CL_INVALID_VALUE);
        assert_eq!(read(image.mem, [0, 9, 0], [1, 2, 1], 0), CL_INVALID_VALUE);
        assert_eq!(read(image.mem, zero, [1, 1, 2], 0), CL_INVALID_VALUE);
        assert_eq!(read(image.mem, zero, [1, 0, 1], 0), CL_INVALID_VALUE);
        assert_eq!(read(image.mem, zero, [20, 1, 1], 79), CL_INVALID_VALUE);
        let linear = cl!(cl, clEnqueueReadBuffer(queue, image.mem, CL_TRUE, 0, 4, at, 0, null(), null_mut()));
        assert_eq!(linear, CL_INVALID_MEM_OBJECT, "an image is no buffer");
        let region = cl_buffer_region { origin: 0, size: 64 };
        let (kind, part) = (CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast());
        assert_eq!(refused!(cl, clCreateSubBuffer(image.mem, 0, kind, part)), CL_INVALID_MEM_OBJECT);

        let make = |format: cl_image_format, kind, extent| {
            let desc = described(kind, extent);
            refused!(cl, clCreateImage(bench.context, 0, &raw const format, (&raw const desc).cast(), null_mut()))
        };
        let wrong = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNORM_SHORT_565 + 100 };
        assert_eq!(make(wrong, CL_MEM_OBJECT_IMAGE2D, [1, 1, 1]), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
        assert_eq!(make(RGBA8, 7, [1, 1, 1]), CL_INVALID_IMAGE_DESCRIPTOR);
        assert_eq!(make(RGBA8, CL_MEM_OBJECT_IMAGE2D, [0, 1, 1]), CL_INVALID_IMAGE_SIZE);
        assert_eq!(make(RGBA8, CL_MEM_OBJECT_IMAGE2D, [1 << 40, 1, 1]), CL_INVALID_IMAGE_SIZE);
        assert_eq!(make(RGBA8, CL_MEM_OBJECT_IMAGE2D, [usize::MAX, usize::MAX, 1]), CL_INVALID_IMAGE_SIZE);
        assert_eq!(make(RGBA8, CL_MEM_OBJECT_IMAGE1D_BUFFER, [1, 1, 1]), CL_INVALID_IMAGE_DESCRIPTOR);

        let kernel = bench.kernel(KERNELS, "mirror");
        let set = |index, handle: *mut std::ffi::c_void| {
            cl!(cl, clSetKernelArg(kernel, index, size_of::<cl_mem>(), (&raw const handle).cast()))
        };
        assert_eq!(set(0, buffer), CL_INVALID_MEM_OBJECT);
        assert_eq!(set(0, null_mut()), CL_INVALID_MEM_OBJECT);
        assert_eq!(set(1, image.mem), CL_INVALID_ARG_VALUE, "the kernel writes it");
        assert_eq!(set(2, image.mem), CL_INVALID_SAMPLER);
        assert_eq!(set(0, image.mem), CL_SUCCESS);
        let sampler = cl!(cl, clCreateSampler(bench.context, CL_FALSE, 7, CL_FILTER_NEAREST, null_mut()));
        assert!(sampler.is_null());
        ok!(cl, clReleaseKernel(kernel));
        [image.mem, buffer].iter().for_each(|mem| ok!(cl, clReleaseMemObject(*mem)));
    }
}
