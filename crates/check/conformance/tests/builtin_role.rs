//! A role that comes with Rackloom on a model card, in virtual time and live: the suite's cards run in virtual time
//! only.

use std::collections::BTreeMap;
use std::sync::Arc;

use rackloom_card::{Card, Config, Pace};
use rackloom_conformance::bench::{BASE, Bench, HOST, Out, config};
use rackloom_rack::Maker;
use rackloom_wire::{BULK_JUMBO, Counter, Done, ErrorCode, Kind};

const N: usize = 1000;

/// Loads `vadd` and adds two arrays with it.
fn add(pace: Pace, chunk: u16) {
    let config = Config { bulk: chunk, pace, fuel_max: 1 << 30, ..config() };
    let card = Card::new(config, Arc::clone(Maker::shared().sandbox())).unwrap();
    let mut bench = Bench::of(card);
    bench.bulk = chunk;
    bench.claim(HOST, 1);
    let image = rackloom_builtin_roles::image("vadd").unwrap();
    bench.begin(1, image, chunk);
    for i in 0..image.len().div_ceil(chunk.into()) {
        bench.chunk(image, chunk, i);
    }
    bench.pass_ms(1);
    bench.commit(2);
    bench.pass_ms(1);
    assert_eq!(bench.card.active_digest(), Some(*blake3::hash(image).as_bytes()));
    let (a, b, c) = (BASE, BASE + 4096, BASE + 8192);
    let floats = |f: fn(usize) -> f32| (0..N).flat_map(|i| f(i).to_le_bytes()).collect::<Vec<u8>>();
    let mut seq = 0;
    for (at, bytes) in [(a, floats(|i| i as f32)), (b, floats(|i| 0.5 * i as f32))] {
        for (i, piece) in bytes.chunks(chunk.into()).enumerate() {
            seq += 1;
            bench.write(seq, at + i as u64 * u64::from(chunk), piece);
        }
    }
    bench.drain();
    let manifest = rackloom_image::Image::parse(image.into()).unwrap().manifest().clone();
    let kernel = &manifest.kernels[0];
    let args: Vec<u64> = kernel
        .args
        .iter()
        .map(|arg| match arg.as_str() {
            "a" => a,
            "b" => b,
            "c" => c,
            _ => N as u64,
        })
        .collect();
    let length = 4 * N as u64;
    bench.launch_with(1, 0, &args, Out { addr: c, length, credit: 9, ..Out::default() });
    bench.pass_ms(1);
    let done = bench.take_all(Kind::ResultDone);
    assert_eq!(done[0].code(), ErrorCode::Ok);
    assert!(done[0].body::<Done>().cycles.get() > 0);
    let out: Vec<u8> = bench.take_all(Kind::ResultData).iter().flat_map(|d| d.payload.clone()).collect();
    assert_eq!(out, floats(|i| i as f32 + 0.5 * i as f32));
    // An address outside DDR traps; the next launch runs.
    bench.launch(2, 0, &[1 << 40; 4][..args.len()]);
    bench.launch(3, 0, &args);
    bench.pass_ms(1);
    // Nobody acknowledges: outcomes come more than once.
    let codes: BTreeMap<_, _> = bench.take_all(Kind::ResultDone).iter().map(|d| (d.head.seq, d.code())).collect();
    assert_eq!((codes[&2], codes[&3]), (ErrorCode::KernelTrap, ErrorCode::Ok));
    assert_eq!(bench.count(Counter::KernelsDone), 2);
}

#[test]
fn a_real_role_adds_in_virtual_time() {
    add(Pace::Virtual, 1472);
}

#[test]
fn a_real_role_adds_live_over_jumbo_frames() {
    add(Pace::Live, BULK_JUMBO);
}
