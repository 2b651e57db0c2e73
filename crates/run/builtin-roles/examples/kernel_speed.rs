//! Measures how fast the sandbox runs each role on this machine: `cargo run --release --example kernel_speed`.

use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom_ddr::Ddr;
use rackloom_image::{Image, TARGET_MODEL};
use rackloom_role::{ROLE_PRIVATE, Sandbox, Step};
use rackloom_sandbox::WasmSandbox;

fn main() {
    let sandbox = WasmSandbox::default();
    println!("role    size             million/s  of         cycles  slices  longest slice");
    for (name, extents, work, unit) in [
        ("ptrans", &[512, 512][..], 512.0 * 512.0, "elements"),
        ("ptrans", &[2048, 2048], 2048.0 * 2048.0, "elements"),
        ("ptrans", &[4096, 4096], 4096.0 * 4096.0, "elements"),
        ("vadd", &[262_144], 262_144.0, "elements"),
        ("vadd", &[16 << 20], f64::from(16 << 20), "elements"),
        ("sobel", &[512, 512], 512.0 * 512.0, "pixels"),
        ("sobel", &[4096, 4096], 4096.0 * 4096.0, "pixels"),
        ("gemm", &[256, 256, 256], 256f64.powi(3), "MACs"),
        ("gemm", &[512, 512, 512], 512f64.powi(3), "MACs"),
    ] {
        let image =
            Image::parse(Bytes::from_static(rackloom_builtin_roles::image(name).expect("a role"))).expect("valid");
        let part = image.part(TARGET_MODEL).expect("every role has one");
        let ddr = Ddr::new(1 << 30).expect("address space");
        let mut role = sandbox
            .prepare(image.manifest(), &part, ddr.len())
            .and_then(|prepared| prepared.activate(&ddr.handle()))
            .expect("our own roles are valid");
        let arrays = image.manifest().kernels[0].arrays.len() as u64;
        let mut args: Vec<u64> = (0..arrays).map(|n| ROLE_PRIVATE + n * (64 << 20)).collect();
        args.extend_from_slice(extents);
        // Pages that were never written would all be the same page of zeros, which never leaves the cache.
        for addr in (ROLE_PRIVATE..ROLE_PRIVATE + arrays * (64 << 20)).step_by(1 << 20) {
            ddr.write(addr, &[0x3c; 1 << 20]).expect("inside DDR");
        }
        let mut best = Duration::MAX;
        let (mut cycles, mut slices, mut longest) = (0, 0, Duration::ZERO);
        for _ in 0..7 {
            role.start(0, &args, 0).expect("the arguments are right");
            slices = 0;
            longest = Duration::ZERO;
            let start = Instant::now();
            loop {
                let slice = Instant::now();
                let step = role.step();
                longest = longest.max(slice.elapsed());
                slices += 1;
                match step {
                    Step::Running => {}
                    Step::Done { cycles: took, .. } => {
                        cycles = took;
                        break;
                    }
                    other => panic!("{other:?}"),
                }
            }
            best = best.min(start.elapsed());
        }
        let size = extents.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
        let rate = work / best.as_secs_f64() / 1e6;
        println!("{name:<7} {size:<16} {rate:>9.0}  {unit:<8} {cycles:>8}  {slices:>6}  {longest:>10.1?}");
    }
}
