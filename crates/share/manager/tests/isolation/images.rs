//! Images: no other tenant's bytes are in them, nothing beyond them is reached, and nothing else becomes one.

use opencl_sys::*;
use rackloom_manager::scheduler::Policy;
use rackloom_opencl_wire::{Area, Argument, Command, Image, ImageFormat, Op, Payload};

use crate::common::{Daemon, Tenant};

/// An image of four bytes a pixel.
fn image(kind: u32, extent: [u64; 3]) -> Image {
    let format = ImageFormat { order: CL_RGBA, data_type: CL_UNSIGNED_INT8 };
    Image { kind, format, extent, row_pitch: 0 }
}

#[test]
fn images_pass_on_without_bytes() {
    let daemon = Daemon::start(Policy::Fair);
    let description = image(CL_MEM_OBJECT_IMAGE2D, [512, 512, 1]);
    let create = |image| Command::CreateImage { image, flags: 1, description, of: None };
    let whole = Area { origin: [0; 3], region: description.extent };
    for round in 0..8u8 {
        let first = daemon.client();
        for image in 0..8 {
            first.send(&create(image), &[]);
            let color = [0xa5 ^ round; 16];
            assert_eq!(first.run(Op::FillImage { image, area: whole, color }, &[]).status, 0);
        }
        drop(first);
        let second = daemon.client();
        let size = 512 * 512 * 4;
        for image in 0..8 {
            second.send(&create(image), &[]);
            let bulk = second.bulk(size);
            let into = bulk.expect(0, size).unwrap();
            if image % 2 == 0 {
                let area = Area { origin: [3, 4, 0], region: [1, 1, 1] };
                let op = Op::WriteImage { image, area, from: Payload::Inline };
                assert_eq!(second.run(op, &[0; 4]).status, 0);
            }
            let op = Op::ReadImage { image, area: whole, into: Some(into.into()) };
            assert_eq!(second.run(op, &[]).status, 0);
            let mut got = vec![1; size as usize];
            bulk.get(&into, 0, &mut got).unwrap();
            assert!(got.iter().all(|byte| *byte == 0), "bytes of somebody else in image {image}");
        }
    }
}

#[test]
fn areas_beyond_and_wrong_images_are_refused() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    let (plane, line) = (CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE1D);
    t.buffer(0, 64);
    let create = |image, description, of| t.send(&Command::CreateImage { image, flags: 1, description, of }, &[]);
    create(1, image(plane, [4, 4, 1]), None);
    let other = ImageFormat { order: CL_R, data_type: CL_FLOAT };
    create(2, Image { format: other, ..image(plane, [4, 4, 1]) }, None);
    let area = |origin, region| Area { origin, region };
    let all = area([0; 3], [4, 4, 1]);
    let bad = [
        Op::ReadImage { image: 1, area: area([0; 3], [5, 4, 1]), into: None },
        Op::ReadImage { image: 1, area: area([u64::MAX, 0, 0], [2, 1, 1]), into: None },
        Op::ReadImage { image: 1, area: area([0; 3], [4, 4, 2]), into: None },
        Op::ReadImage { image: 1, area: area([0; 3], [4, 0, 1]), into: None },
        Op::CopyImage { from: 1, source: all, to: 1, origin: [1, 0, 0] },
        Op::CopyImageToBuffer { from: 1, area: all, to: 0, offset: 1 },
        Op::CopyBufferToImage { from: 0, offset: u64::MAX, to: 1, area: all },
        Op::FillImage { image: 1, area: area([0, 0, 1], [4, 4, 1]), color: [0; 16] },
    ];
    for op in bad {
        assert_eq!(t.run(op.clone(), &[]).status, CL_INVALID_VALUE, "{op:?}");
    }
    let write = Op::WriteImage { image: 1, area: all, from: Payload::Inline };
    assert_eq!(t.run(write, &[0; 63]).status, CL_INVALID_VALUE, "fewer bytes than the area");
    let mixed = Op::CopyImage { from: 1, source: all, to: 2, origin: [0; 3] };
    assert_eq!(t.run(mixed, &[]).status, CL_IMAGE_FORMAT_MISMATCH);
    // Neither is the other.
    let confused = [
        Op::Read { buffer: 1, offset: 0, len: 4, into: None },
        Op::Fill { buffer: 1, offset: 0, len: 4, pattern: &[1] },
        Op::Copy { from: 1, from_offset: 0, to: 0, to_offset: 0, len: 4 },
        Op::Map { buffer: 1, flags: 1, offset: 0, len: 4 },
        Op::ReadImage { image: 0, area: all, into: None },
        Op::CopyImageToBuffer { from: 1, area: all, to: 2, offset: 0 },
        Op::CopyBufferToImage { from: 1, offset: 0, to: 2, area: all },
    ];
    for op in confused {
        assert_eq!(t.run(op.clone(), &[]).status, CL_INVALID_MEM_OBJECT, "{op:?}");
    }
    t.send(&Command::CreateSubBuffer { buffer: 9, parent: 1, flags: 0, offset: 0, size: 4 }, &[]);
    assert_eq!(t.read(9, 0, 1).status, CL_INVALID_MEM_OBJECT);
    let unknown = ImageFormat { order: 1, data_type: 2 };
    let wrong = [
        (image(line, [4, 4, 1]), None),
        (image(plane, [u64::MAX, u64::MAX, 1]), None),
        (image(plane, [1 << 14, 1 << 14, 1]), None),
        (image(0, [4, 4, 1]), None),
        (Image { format: unknown, ..image(plane, [4, 4, 1]) }, None),
        (Image { row_pitch: 1 << 40, ..image(plane, [4, 4, 1]) }, None),
        (Image { row_pitch: 8, ..image(plane, [4, 4, 1]) }, Some(0)),
        (image(CL_MEM_OBJECT_IMAGE1D_BUFFER, [17, 1, 1]), Some(0)),
        (image(CL_MEM_OBJECT_IMAGE1D_BUFFER, [1 << 62, 1, 1]), Some(0)),
        (image(CL_MEM_OBJECT_IMAGE1D_BUFFER, [4, 1, 1]), Some(1)),
        (image(CL_MEM_OBJECT_IMAGE1D_BUFFER, [4, 1, 1]), None),
    ];
    for (description, of) in wrong {
        create(10, description, of);
        let pixel = area([0; 3], [1, 1, 1]);
        assert_ne!(t.run(Op::ReadImage { image: 10, area: pixel, into: None }, &[]).status, 0, "{description:?}");
        t.send(&Command::ReleaseBuffer { buffer: 10 }, &[]);
    }
    assert_eq!(t.run(Op::ReadImage { image: 1, area: all, into: None }, &[]).tail, [0; 64], "nothing was written");
}

#[test]
fn no_image_becomes_a_buffer_nor_bytes_an_image() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    let source = "kernel void k(read_only image2d_t from, sampler_t s, global uint4 *to) {
        to[0] = read_imageui(from, s, (int2)(0, 0));
    }";
    t.build(0, source);
    t.send(&Command::CreateKernel { kernel: 0, program: 0, name: "k" }, &[]);
    t.buffer(0, 64);
    let plane = image(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]);
    t.send(&Command::CreateImage { image: 1, flags: 1, description: plane, of: None }, &[]);
    let line = image(CL_MEM_OBJECT_IMAGE1D, [4, 1, 1]);
    t.send(&Command::CreateImage { image: 2, flags: 1, description: line, of: None }, &[]);
    let (addressing, filter) = (CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
    t.send(&Command::CreateSampler { sampler: 0, normalized: false, addressing, filter }, &[]);
    t.send(&Command::CreateSampler { sampler: 1, normalized: false, addressing: 7, filter }, &[]);
    let color = [1u32, 2, 3, 4].map(u32::to_le_bytes).concat().try_into().unwrap();
    let area = Area { origin: [0; 3], region: [4, 4, 1] };
    assert_eq!(t.run(Op::FillImage { image: 1, area, color }, &[]).status, 0);
    let good = vec![(0, Argument::Buffer(Some(1))), (1, Argument::Sampler(0)), (2, Argument::Buffer(Some(0)))];
    let is_good = || {
        assert_eq!(t.run(Tenant::launch(0, 1, good.clone()), &[]).status, 0);
        assert_eq!(t.read(0, 0, 16).tail, color);
    };
    is_good();
    let eight = 0x5555_5555_0000u64.to_le_bytes();
    let bad = [
        (0, Argument::Buffer(Some(0))),
        (0, Argument::Buffer(None)),
        (0, Argument::Value(&eight[..])),
        (0, Argument::Sampler(0)),
        (0, Argument::Local(8)),
        (1, Argument::Value(&eight[..])),
        (1, Argument::Value(&[0; 8])),
        (1, Argument::Buffer(Some(1))),
        (1, Argument::Sampler(1)),
        (1, Argument::Sampler(9)),
        (2, Argument::Buffer(Some(1))),
        (2, Argument::Sampler(0)),
    ];
    for argument in bad {
        assert_ne!(t.run(Tenant::launch(0, 1, vec![argument.clone()]), &[]).status, 0, "{argument:?}");
        is_good();
    }
    // Released while the kernel still has them.
    t.send(&Command::ReleaseBuffer { buffer: 1 }, &[]);
    t.send(&Command::ReleaseSampler { sampler: 0 }, &[]);
    assert_eq!(t.run(Tenant::launch(0, 1, vec![]), &[]).status, 0);
    t.send(&Command::ReleaseSampler { sampler: 0 }, &[]);
    assert!(t.ended().is_some(), "a sampler that is not there");
}
